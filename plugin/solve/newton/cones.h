/* A problem as one of second-order cones alone, for the interior methods (central.h).
 *
 * A CONTACT is one cone already, and a problem of contacts is its own.  The other laws are of two kinds:
 *
 *     half-line   r >= 0  _|_  u >= 0:           a contact without friction, its tangential rows unused;
 *     disc        |r_t| <= L, r_t against u_t:   x = (L, r_t) in the cone, x_0 = L in place of an equation for u_n.
 *
 * FORCE_LIMIT is a half-line and a disc; ROLLING two discs, L = mu times the parent's load; a row of a BOX is fixed,
 * a half-line, or (lo and hi finite) a disc of one row about the mean of lo and hi.  So r = c + s y, y the impulses of
 * the cones, c shifts and s = +-1.  What is not of this form: TWO_SIDED, and rows without either bound. */
#ifndef SPRAG_SOLVE_CONES_H
#define SPRAG_SOLVE_CONES_H

#include <sprag/sprag.h>

#include "base/arena.h"

typedef struct spragCones {
    const spragProblem *asked;
    const spragProblem *problem; /* of the cones: its kinds mean nothing; `asked` itself where all blocks are CONTACT */
    spragProblem own;
    /* What follows is NULL where problem == asked. */
    double *limit; /* (nc of problem) of a disc: L, or its gain; of a contact: not used */
    int *load; /* (nc of problem) cone whose r_n times `limit` is L; SPRAG_CONE_DISC: a constant; SPRAG_CONE_CONTACT */
    int *source;   /* (3 nc of problem) row of `asked`, or -1 */
    double *sign;  /* (3 nc of problem) */
    double *shift; /* (3 nc of asked) c */
    double *r, *u; /* (3 nc of asked) for the judge */
} spragCones;

enum { SPRAG_CONE_CONTACT = -2, SPRAG_CONE_DISC = -1 };

/* 1 if the problem has that form. */
int spragConesApply(const spragProblem *problem);
/* The same, but for its two-sided contacts: each is the cone of its + side then,
 * which is for spragConesContacts alone. */
int spragConesApplyToSides(const spragProblem *problem);
/* Memory from the arena; 0: none.  The cones keep pointers to themselves and to the problem: not to be copied. */
int spragConesInit(spragCones *cones, const spragProblem *asked, spragArena *arena);
/* y of r, and r of y. */
void spragConesFrom(const spragCones *cones, const double *r, double *y);
void spragConesTo(const spragCones *cones, const double *y, double *r);
/* The judge's word on y in the problem that was asked; u: of the cones, = own W y + q. */
double spragConesResidual(const spragCones *cones, const double *y, const double *u);

/* The cones of contacts and half-lines alone, for the question whether some motion parts them all: the force of a disc
 * with a constant limit cannot decide it.  Two-sided contacts are again what they were.  y (3 nc of `problem`) from r
 * (3 nc of `asked`): their impulses.
 * rolling: with the discs whose load is a one-sided contact's (spragConeRolls), in their place among the others.  What
 * friction and rolling friction lock together is a self-stress in |r_t| <= mu r_n, |m| <= rho r_n, which stands against
 * a motion with u_n > mu |u_t| + rho |w|.  That is one of cones, u_n - s > mu |u_t| and s > rho |w|, if s is a degree
 * of freedom more: the row of the disc's y_0, which is then r_n.  0: no memory. */
int spragConesContacts(const spragCones *cones, int rolling, const double *r, spragProblem *out, double *y,
                       spragArena *arena);

/* 1: cone k is such a disc. */
int spragConeRolls(const spragCones *cones, int k);

/* 1: cone k is a disc whose radius is bounded, by a constant or by another block's load. */
static inline int spragConeIsDisc(const spragCones *cones, int k)
{
    return cones->load != NULL && cones->load[k] != SPRAG_CONE_CONTACT;
}

#endif
