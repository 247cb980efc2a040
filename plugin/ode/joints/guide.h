/* Two-sided contacts: a point x of body a on a plane through o with normal n, both fixed in body b (or in the world).
 *
 * Without clearance  g = n.(x - o) = 0 : one TWO_SIDED block, r_n of either sign.  With clearance c  |g| <= c / 2 : two
 * CONTACT blocks, one per side, each kept from crossing within the step by  u_n >= -(what is left) / h.
 *     g'' = n.(a_a - a_b) + product,   both bodies' points taken where x is now; the product holds the turning of n.
 *
 * A null joint of ODE between the bodies carries the guide: islands, sleeping, waking and the
 * death of a body are then those of any joint.  ODE's own solver knows nothing of it: in an island
 * that Sprag declines the guide does not act. */
#ifndef SPRAG_ODE_GUIDE_H
#define SPRAG_ODE_GUIDE_H

#include "ode/rows/rows.h"

struct spragGuide {
    struct spragWorld *world;
    dJointID joint;                  /* the null joint; its data is the guide */
    unsigned long long id;           /* of the contact */
    double point[3];                 /* m, in the frame of the body */
    double origin[3];                /* m, in the frame of the guide's body, or of the world */
    double normal[3], tangent[2][3]; /* in the same frame */
    double mu[2];                    /* guide pushes along +normal, -normal */
    double clearance;                /* m */
    spragSurface surface[2];
    int memory; /* index of its record of the last step, or -1 */
};

/* The definition has been checked.  ERROR_MEMORY or OK. */
spragStatus spragGuideMake(struct spragWorld *world, const spragGuideDef *def, spragGuideID *out);
/* Takes it out of its world, with its joint if that is alive.  0: it had ended, with one of its bodies or its world. */
int spragGuideFree(spragGuideID guide);
/* 1: a guide of this world, which another thread may be using; the pointer is not followed. */
int spragGuideIsOf(const struct spragWorld *world, spragGuideID guide);

/* Marks the joints of the snapshot that carry guides.  0: no memory. */
int spragGuidesFind(struct spragWorld *world);
/* The guide with this id, or NULL. */
spragGuideID spragGuideById(const struct spragWorld *world, unsigned long long id);

/* 1, or 2 with clearance. */
int spragGuideBlockCount(const struct spragGuide *guide);
void spragGuideBlocks(const struct spragWorld *world, int joint, spragBlock *block);

#endif
