/* What is remembered of a contact, and what of that is told. */
#ifndef SPRAG_ODE_RECORD_H
#define SPRAG_ODE_RECORD_H

#include <math.h>

#include "ode/world/world.h"

#define SPRAG_OPEN_TOLERANCE 1e-12 /* m/s: a normal impulse that changes its contact's velocity by less holds nothing */

/* Is friction so far within its bound that the judge would have seen a slip?  w: mean of the diagonal of W_kk, 1/kg.
 * (The answer of a contact that slides may miss its bound by what the tolerance allows.) */
static inline int spragRecordIsWithin(double bound, double friction, double w, double residual)
{
    const double within = bound - friction;
    return within > 1e-9 * bound && w * within > 10 * residual;
}
/* The number of a body with this serial, for events; -1: the world. */
int spragRecordNumber(int serial);
/* Fills what a contact is recognised by: geoms, places, serials, arm. */
void spragRecordPlace(const struct spragWorld *world, const spragJointState *joint, spragContactMemory *memory);
/* What a contact's history has of its record of the last step, in the frame of these tangents. */
void spragRecordRecall(const spragContactMemory *old, const double t1[3], const double t2[3],
                       spragContactHistory *past);
/* The record as the user is told of it. */
spragContact spragRecordContact(const spragContactMemory *record);
/* What every event of a contact between these bodies of the snapshot says; of what was before, nothing yet. */
spragContactChange spragRecordChange(const struct spragWorld *world, const int body[2], const spragContact *contact);

/* A contact that cannot have a paradox, at the start of the step. */
typedef struct spragPlainMotion {
    double slip[3];      /* m/s; 0 where it rests */
    double approach;     /* m/s, normal velocity */
    double own;          /* 1/kg, its normal response to its own normal impulse */
    double p;            /* 1/kg */
    double acceleration; /* b, m/s^2 */
} spragPlainMotion;
/* 1: it goes on as it did and has no events; memory: its record as of now. */
int spragRecordIsQuiet(const struct spragWorld *world, const spragJointState *joint, const spragContactMemory *memory,
                       const double slip[3]);
/* The events of one that is not quiet. */
void spragRecordPlainEvents(struct spragWorld *world, const spragJointState *joint, const spragContactMemory *memory,
                            const spragPlainMotion *motion);

/* Asks for what the report will read of the joint soon. */
void spragRecordAsk(const struct spragWorld *world, int joint);

#endif
