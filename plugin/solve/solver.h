/* What a solver is.  Each method has one file; the chain (chain.c) picks, judges by spragProblemResidual, hands over.
 *
 * A method reads the problem, improves r in place from the guess it is given, and never judges itself: its claim of
 * success is only a reason to ask the residual.  It takes all memory from the arena and leaves none taken. */
#ifndef SPRAG_SOLVE_SOLVER_H
#define SPRAG_SOLVE_SOLVER_H

#include <sprag/sprag.h>

#include "base/arena.h"
#include "solve/policy.h"

typedef struct spragSolver {
    spragSolverKind kind;
    const char *name;
    /* r (3 nc) in/out; info->iterations, ->several, ->none are the method's to add to.  Status OK: the method believes
     * r is within tolerance.  NOT_CONVERGED, LIMIT: r is its best iterate.  ERROR_MEMORY: r untouched. */
    spragStatus (*solve)(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info);
} spragSolver;

extern const spragSolver spragSolverVariant;
extern const spragSolver spragSolverLemke;
extern const spragSolver spragSolverGaussSeidel;
extern const spragSolver spragSolverSweeps; /* Gauss-Seidel as a start: ends where the residual falls no more */
extern const spragSolver spragSolverNewton;
extern const spragSolver spragSolverAtOnce; /* Newton from a warm guess, where a factorisation costs little */
extern const spragSolver spragSolverPolish; /* Newton from an answer to rounding, at the same price */
extern const spragSolver spragSolverCalm;   /* some sweeps from an answer: from step to step they come to rounding */
extern const spragSolver spragSolverTrace;  /* of contacts alone, from a good guess: for the last that is left */

/* The modes of the guess, verified, where that is all a small island needs (warm.h): 1, with r (3 nc) and u (3 nc, or NULL)
 * = W r + q, and info->residual; 0: r as it was. */
int spragVariantWarm(const spragProblem *problem, const spragSolveOptions *options, double *r, double *u,
                     spragSolveInfo *info);

/* 1: nothing slides, and the guess holds: to rounding, so that the search would return it, or to a hundredth of the tolerance
 * with no contact that creeps.  u (3 nc) = W r + q, and info->residual.  What a stack at rest needs, whose loads follow the
 * last of ERP's corrections for some dozen steps whenever a collider finds another point. */
int spragVariantRests(const spragProblem *problem, const spragSolveOptions *options, const double *r, double *u,
                      spragSolveInfo *info);

/* The chain on an arena: spragProblemSolve without checks, without malloc in the steady state, and without info->seconds. */
spragStatus spragChainSolve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                            double *u, spragSolveInfo *info);

/* 1: options->enough makes haste, as it does in a small island. */
int spragChainHastens(const spragProblem *problem, const spragSolveOptions *options);
/* Its first links alone, some milliseconds then: before anybody asks whether there is a solution at all. */
spragStatus spragChainBegin(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                            double *u, spragSolveInfo *info);

/* One block in isolation, exactly: u = W r + q with the block's own 3x3 W and everything else fixed.  Used by
 * Gauss-Seidel and by islands of one contact.  r in: guess (start of the search for direction), out: solution.
 * Lists every solution where there are several; `spragLocalPick` chooses by history and policy. */
enum { SPRAG_LOCAL_MAX = 10 }; /* open, stick, four slips for each sign of the normal force */
typedef struct spragLocalSolution {
    double r[3], u[3];
    spragMode mode;
    int normal_stable;    /* slope of the normal branch > 0 */
    int direction_stable; /* slip direction attracts */
} spragLocalSolution;
int spragLocalEnumerate(spragBlockKind kind, const double W[9], const double q[3], double mu, double mu_minus,
                        spragLocalSolution solution[SPRAG_LOCAL_MAX]); /* returns the count */
/* One CONTACT where that is provably the only solution: W_nn > mu |W_nt| and a positive tangential part (local.c).
 * 1 and r, or 0: ask spragLocalEnumerate. */
int spragLocalRegular(const double W[9], const double q[3], double mu, double r[3]);
int spragLocalPick(int count, const spragLocalSolution *solution, double mu, const double W[9],
                   const spragContactHistory *history, double step, spragIndeterminacy policy, spragSolveInfo *info);
/* The same of a two-sided contact: the slide that goes on if it is realisable, else stick. */
int spragLocalPickTwoSided(int count, const spragLocalSolution *solution, const spragIndicator *indicator,
                           const spragContactHistory *history, spragSolveInfo *info);

#endif
