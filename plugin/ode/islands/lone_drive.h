/* What a lone body touches, if that moves as it likes.
 *
 * Kinematic bodies that its contacts are with, and the world, may move as one rigid body: it is one body, or none of
 * them turns and all have one velocity.  Against that motion V the contacts of the lone body have
 *
 *     u = J (v - V) + h Jdot v,      V taken at its centre of mass, as J V is that of the points of what moves rigidly,
 *
 * so that but for Jdot v its problem is that of a body on the ground, with v - V for v.  Jdot v is as for all contacts
 * (spragFaceProduct): half of it as the turntable sees it. */
#ifndef SPRAG_ODE_LONE_DRIVE_H
#define SPRAG_ODE_LONE_DRIVE_H

#include "ode/world/world.h"

enum { SPRAG_DRIVE_NONE = -1, SPRAG_DRIVE_SEVERAL = -2 };

/* The kinematic body that moves as all do that the only body of the island touches; NONE: it touches the world alone;
 * SEVERAL: they move against each other, or one is dynamic. */
int spragLoneDriver(const spragSnapshot *snapshot, const spragIsland *island);

/* 1 if the body of the island is the contact's first, into which its normal points; else -1. */
static inline double spragLoneSign(const spragIsland *island, const spragJointState *joint)
{
    return joint->body[0] == island->body[0] ? 1 : -1;
}

/* Velocity of the driver's point at the centre of the body, and its turning, m/s and rad/s. */
void spragLoneGiven(const spragBodyState *driver, const spragBodyState *body, double given[6]);

/* Of a contact of the island: m/s^2, world axes, of the lone body against what it touches. */
typedef struct spragLoneDrive {
    double product[3]; /* Jdot v, as a step has it */
    double rest[3];    /* what that leaves out, across n; 0 of what is seen for the first time */
} spragLoneDrive;

/* middle: of its face, or NULL where it is the only contact. */
void spragLoneDriveFind(const spragSnapshot *snapshot, const spragIsland *island, const spragJointState *joint,
                        const double *middle, spragLoneDrive *drive);

#endif
