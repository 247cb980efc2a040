/* What ODE's own joint brings to an island: its rows (joint_rows.h), without bounds as equality rows
 *     J v + c lambda = rhs,   c = cfm / h,
 * that its mechanism eliminates (articulation.h); limits and motors, lo h <= lambda <= hi h, as BOX blocks of three.
 * One that held in the last step, clear of its bounds, is taken for an equality row. */
#ifndef SPRAG_ODE_JOINT_BLOCKS_H
#define SPRAG_ODE_JOINT_BLOCKS_H

#include <math.h>

#include "ode/rows/rows.h"

typedef struct spragEqualityRow spragEqualityRow;

struct spragEqualityRow {
    int joint;      /* in the snapshot */
    int body[2];    /* in the snapshot, -1 = the world */
    double J[2][6]; /* linear, angular */
    double rhs;     /* m/s */
    double asked;   /* m/s, rhs as the joint has it, where surge.h takes some of it off */
    double compliance;
    double impulse; /* lambda, N s; the result */
    int number;     /* of a limit or motor that is taken to hold: which of the joint's; else -1 */
    double lo, hi;  /* its bounds, N s */
};

/* Is it a motor with a greatest force? */
static inline int spragRowDrives(const spragEqualityRow *row)
{
    return isfinite(row->lo) && isfinite(row->hi);
}

enum { SPRAG_JOINT_BLOCK_MAX = 2 }; /* of one joint */
/* Adds the rows and blocks that one joint brings to an island with room for them.  If ODE's rows cannot be had the
 * island is declined.  NOT_FINITE: one of them is not finite. */
spragStatus spragJointBlocks(struct spragWorld *world, int joint, spragIsland *island);

/* The record of a joint's limit or motor, or NULL. */
spragLoadMemory *spragLoadOf(const struct spragWorld *world, int joint, int number);

#endif
