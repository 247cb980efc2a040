/* The linear equations of Newton-type methods on contact problems,
 *
 *     (A + B (W + soft)) x = g,
 *
 * A, B block diagonal, soft_k a multiple of the identity.  (A block whose bounds follow from another block's normal
 * impulse, as those of rolling friction do, has one column more, `load`, for that impulse.)  They are factorised in one
 * of two spaces, whichever costs less.
 *
 * Contacts: the matrix as it stands, 3 nc x 3 nc, in the pattern of W.  All contacts on a body are coupled, each with
 * each.
 *
 * Bodies, where W = J M^-1 J^T + C is known with its J and M (problem/bodies.h).  With the change v of the bodies'
 * velocities, M v = J^T x, and D = A + B (C + soft), block diagonal,
 *
 *     x = D^-1 (g - B J v),     (M + J^T S J) v = J^T D^-1 g,     S = D^-1 B,
 *
 * 6 n x 6 n in the pattern of which bodies touch.  For a wall with four contacts between two bricks that is a sixtieth
 * of the work.  Contacts that stick have S = 1 / (C + soft), so a rigid problem with little softness loses digits;
 * iterative refinement wins them back (Higham 2002, chapter 12).
 *
 * Joints between the bodies add rows E v - c lambda = 0 and terms E^T lambda: a saddle.  The pivot of a joint is safe
 * once one of its bodies has been eliminated that no other joint counts on.  So each joint comes right after a body of
 * its own (linalg/forest.h), and joints that close a loop come last.  The cost grows with the length of a chain of
 * links; among its contacts, all coupled, it would grow with the cube.  What refinement has left to do is found by a
 * product with W.
 *
 * Near the end of an interior method A of a contact that sticks is 1e-13 of W, and nothing else holds in W's null
 * space: pivoting inside blocks alone then gives noise.  The dense matrix with partial pivoting does not, for ten times
 * the work. */
#ifndef SPRAG_SOLVE_TANGENT_H
#define SPRAG_SOLVE_TANGENT_H

#include <sprag/sprag.h>

#include "base/arena.h"
#include "linalg/block_lu.h"
#include "problem/bodies.h"

/* Refinement ends where so much of |g| is left: for the last steps of a method, and for those on the way. */
#define SPRAG_TANGENT_REFINED 1e-12
#define SPRAG_TANGENT_ROUGH 1e-6

typedef struct spragTangent {
    const spragProblem *problem;
    const spragBodies *bodies; /* or NULL: in the space of contacts */
    double *A, *B;             /* (nc x 3 x 3) the caller's to fill */
    const int *parent;         /* (nc) block whose first number loads block k, or < 0; NULL: none does */
    double *load;              /* (nc x 3) A's column of that number, the caller's to fill; NULL without parents */
    double *soft;              /* (nc) the caller's to fill */
    double *matrix;            /* what is factorised, in the pattern of lu */
    spragBlockLu lu;
    double price;    /* of a factorisation, in products of 3x3 blocks */
    double *dense;   /* (3 nc x 3 nc) with partial pivoting, or NULL */
    int *pivot;      /* (3 nc) of dense */
    int refused;     /* how many solutions refinement has not brought near */
    double accuracy; /* SPRAG_TANGENT_REFINED, unless the caller is content with less */
    /* of bodies */
    int *entry;         /* (nc x 2 x 2) places in the matrix of the pairs of a contact's bodies, or -1 */
    int *link_entry;    /* (joints x 2 x 2) the same, of a joint: in the row of either body, and in its own */
    double *compliance; /* (nc x 3 x 3) C */
    double *inverse;    /* (nc x 3 x 3) D^-1 */
    double *gain;       /* (nc x 3 x 3) S */
    double *response;   /* (nc x 2 x 3 x 6) S J */
    int *first, *list;  /* (n + 1), (2 nc) of body i: list[first[i] .. first[i + 1] - 1], 2 contact + side, ascending */
    double *velocity;   /* (6 n) v, and lambda of joints */
    double *given;      /* (3 nc) g */
    double *left, *part;             /* (3 nc) g - (A + B (W + soft)) x; a correction */
    double worst[SPRAG_RANGES_MOST]; /* what each range of a loop found */
} spragTangent;

typedef enum spragTangentSpace {
    SPRAG_TANGENT_CONTACTS,
    SPRAG_TANGENT_BODIES,
    SPRAG_TANGENT_CHEAPER
} spragTangentSpace;

/* parent (nc) may be NULL; a block that has a parent is nobody's parent.  Memory from the arena.  1: done; 0: out of
 * memory; -1: a factorisation would cost more than `price_most`, or the bodies are not known. */
int spragTangentInit(spragTangent *tangent, const spragProblem *problem, const int *parent, spragTangentSpace space,
                     double price_most, spragArena *arena);
/* From now on by the threads of the pool (or NULL), if a factorisation is long enough for that: with the same bits.
 * The pool must last as long as they are made.  0: out of memory. */
int spragTangentShare(spragTangent *tangent, spragPool *pool, spragArena *arena);
/* From now on with partial pivoting, where the space is that of contacts.  0: out of memory. */
int spragTangentPivot(spragTangent *tangent, spragArena *arena);
/* With A, B, load and soft as they are.  1, or 0: singular. */
int spragTangentFactor(spragTangent *tangent);
/* 3x3 products of a step of Newton's method: such a factorisation, and the passes over W that it makes. */
enum { SPRAG_TANGENT_PASSES = 10 };
double spragTangentStep(const spragTangent *tangent);
/* The same with all that comes with a step (spragStepOverhead): what it is charged. */
double spragTangentCharge(const spragTangent *tangent);
/* Sign of the determinant of what is factorised: -1, +1, or 0: not known. */
int spragTangentSign(const spragTangent *tangent);
/* x (3 nc): in g, out the solution. */
void spragTangentSolve(spragTangent *tangent, double *x);

#endif
