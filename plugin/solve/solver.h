/* What a solver is.  Each method has one file; the chain picks methods (chain_links.c), runs and judges them (chain.c).
 *
 * A method reads the problem, improves r in place from the guess it is given, and never judges itself: its claim of
 * success is only a reason to ask the residual.  It takes all memory from the arena and leaves none taken. */
#ifndef SPRAG_SOLVE_SOLVER_H
#define SPRAG_SOLVE_SOLVER_H

#include <sprag/sprag.h>

#include "base/arena.h"

typedef struct spragSolver {
    spragSolverKind kind;   /* as the user calls it */
    unsigned char in_parts; /* 1: its steps count as they are (those of parts, or with sparse factors) */
    unsigned char sweeps;   /* 1: it sweeps until that pays no more, and leaves creep */
    unsigned char final;    /* 1: nothing slides in its answer: it is no fallback, and no mode search comes after it */
    /* r (3 nc) in/out; info->iterations, ->several, ->none are the method's to add to.  Status OK: the method believes
     * r is within tolerance.  NOT_CONVERGED, LIMIT: r is its best iterate.  ERROR_MEMORY: r untouched. */
    spragStatus (*solve)(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info);
} spragSolver;

/* Those that the user can ask for by name (spragSolverKind), from the guess that they are given. */
extern const spragSolver spragSolverVariant;     /* search over modes (search/variant.c) */
extern const spragSolver spragSolverLemke;       /* pivots on polyhedral cones (search/lemke.c) */
extern const spragSolver spragSolverGaussSeidel; /* sweeps to the tolerance (sweep/gauss_seidel.c) */
extern const spragSolver spragSolverNewton;      /* sweeps, proximal points, interior point, path (newton/newton.c) */

/* Gauss-Seidel, as the chain uses it: */
extern const spragSolver spragSolverSweeps;        /* until the residual falls no more */
extern const spragSolver spragSolverSweepsNear;    /* until Newton's method may end what is left (spragNear) */
extern const spragSolver spragSolverSweepsCounted; /* options->iteration_limit sweeps, whatever the residual */
extern const spragSolver spragSolverSweepsCalm;    /* a few from an answer: creep falls from step to step of a world */

/* Newton's method, as the chain uses it: */
extern const spragSolver spragSolverNewtonWarm; /* from a warm guess, where a factorisation costs no more than sweeps */
extern const spragSolver spragSolverNewtonNear; /* from where spragSolverSweepsNear ended, as long as it gains */
extern const spragSolver spragSolverNewtonFewest; /* from there too, in the few steps that the work limit pays for */
extern const spragSolver
    spragSolverNewtonResumed;                     /* from where spragSolverNewton ended before, with part of the work */
extern const spragSolver spragSolverNewtonPoints; /* of a small part of a large island: work is limited, as if it were
                                                      large */
extern const spragSolver spragSolverNewtonStraight; /* some sweeps, and along the path at once: friction is high */
extern const spragSolver spragSolverNewtonPolish;   /* from an answer to rounding, at the price of NewtonWarm */

/* For problems of one form: */
extern const spragSolver spragSolverDisturbed; /* large, and the guess is wrong in places only (spragDisturbedSuits) */
extern const spragSolver spragSolverGlue;      /* every contact holds by a force without bound (spragGlueSuits) */
extern const spragSolver spragSolverPivots;    /* small, and nothing slides (spragPivotsSuit) */
extern const spragSolver spragSolverFreeRows;  /* small, with rows that nothing bounds: the chain on what is left */
extern const spragSolver spragSolverTrace;     /* contacts, from a good guess: a path, event by event */
extern const spragSolver spragSolverTurns;     /* contacts, without a work limit: sweeps and that path by turns */
/* Constraint generation, for up to SPRAG_GENERATION_MOST blocks: the chain on the contacts that carry, one more at a
 * time. */
extern const spragSolver spragSolverGeneration;

enum { SPRAG_CHAIN_SMALL = 60 }; /* blocks, measured: beyond it the mode search costs more than it saves */
enum { SPRAG_GENERATION_MOST = 120 };
/* 1: work is limited, and there are more blocks than generation takes on.  (Of fewer proximal points have no more than
 * their share: of demo_feedback's 1800 steps 32 were missed where they had.) */
static inline int spragIsCrowd(const spragProblem *problem, const spragSolveOptions *options)
{
    return options->work_limit > 0 && problem->contact_count > SPRAG_GENERATION_MOST;
}

/* m/s, a part of the largest |q|: from here the modes all but fit, and Newton's method with the least lambda ends.
 * (Heaps of twenty ragdolls, |q| some 2 m/s: from 3e-3 m/s in 4 steps, 85 of 89 times; from 1e-2 in 5 or 6, two
 * times in three; from 0.1 one time in five.  With a lambda of 1e-5 or 1e-3 it takes twice as many.) */
double spragNear(const spragProblem *problem);
/* 1: spragSolverDisturbed may be asked: a step, without a time limit, of contacts that no joints couple. */
int spragDisturbedSuits(const spragProblem *problem, const spragSolveOptions *options);
/* 1: heaps of mechanisms, whose W is there: sweeps only come near the answer, from where Newton's method ends it.  To
 * 1e-8 m/s they would take a hundred sweeps, ten steps' time. */
int spragChainApproaches(const spragProblem *problem, const spragSolveOptions *options);
/* 1: it is small, but not so small that the modes of its guess are likely to fit: the mode search does better where
 * sweeps have ended.  Or it is a large mechanism. */
int spragChainSearches(const spragProblem *problem, const spragSolveOptions *options);

/* 1: a step of Newton's method in the velocities of bodies costs no more than some sweeps.  To ask costs an analysis of
 * their graph. */
int spragNewtonIsCheap(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena);

/* 1: some row of a box has no bounds, as the tangential ones of a contact with mu = infinity. */
int spragProblemHasFreeRows(const spragProblem *problem);
/* 1: few blocks, all rows without bounds, or r >= 0, or r = 0 (pivots.c). */
int spragPivotsSuit(const spragProblem *problem);
/* What is left of up to SPRAG_FREE_ROWS_MOST blocks when those rows are eliminated (free_rows.c), where they are fixed
 * at 0 and uncoupled.  contradiction, m/s: the part of their velocities that no impulses can give, where rows that
 * depend on each other ask for different ones.  0: no memory. */
enum { SPRAG_FREE_ROWS_MOST = 60 };
int spragFreeRowsEliminate(const spragProblem *problem, spragArena *arena, spragProblem *rest, double *contradiction);

/* The modes of the guess, verified, where that is all a small island needs (warm.h): 1, with r (3 nc) and u (3 nc, or
 * NULL) = W r + q, and info->residual; 0: r as it was. */
int spragVariantWarm(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                     double *u, spragSolveInfo *info);

/* 1: nothing slides or creeps, and the guess holds: to rounding, so that the search would return it, or to a hundredth
 * of the tolerance.  u (3 nc) = W r + q, and info->residual.  What a stack at rest needs, whose loads follow the last
 * of ERP's corrections for some dozen steps whenever a collider finds another point. */
int spragVariantRests(const spragProblem *problem, const spragSolveOptions *options, const double *r, double *u,
                      spragSolveInfo *info);

/* The chain, or a part of it (its links: chain_links.c).  Between parts the caller may ask whether there is a solution
 * at all (ode/islands/release.c):
 *
 *                 modes, sweeps | Newton's method | one by one | Newton's method with all of the work, pivots
 *     WHOLE       --------------------------------------------------------------------------------------------------
 *     BEGINNING   -------------------------------
 *     REST                                        ------------------------------------------------------------------
 *     DESPITE                                     ------------
 *     SOON        -------------
 *     BEGUN                       ---------------
 *     LATER                       ----------------------------------------------------------------------------------
 *     DOUBTED                     ------ (some steps) --------
 *
 * "One by one" is generation.c, after the path (spragSolverNewtonStraight) where friction is high and `enough` is asked
 * for.  In a chain that is glued, or under no limit, some columns are empty. */
typedef enum spragChainPart {
    SPRAG_CHAIN_WHOLE,
    SPRAG_CHAIN_BEGINNING, /* where spragChainIsPrompt some milliseconds of work */
    SPRAG_CHAIN_REST,      /* Newton's method has had a part of its work, and has the rest */
    SPRAG_CHAIN_DESPITE,   /* what may find a solution although a wedge stands against it (existence.h) */
    SPRAG_CHAIN_SOON,
    SPRAG_CHAIN_BEGUN,
    SPRAG_CHAIN_LATER,
    SPRAG_CHAIN_DOUBTED, /* against a wedge */
    /* Sweeps alone: options->iteration_limit of them, fewer if the time ends. */
    SPRAG_CHAIN_SWEPT,
    /* Sweeps alone until spragNear, or an answer. */
    SPRAG_CHAIN_NEAR,
    /* For heaps of mechanisms that tumble (haste.h): sweeps, and the few steps of Newton's method that the work
     * pays for. */
    SPRAG_CHAIN_TUMBLING,
    /* For the problems that generation.c makes: all methods but generation. */
    SPRAG_CHAIN_WITHIN,
    /* For the parts that disturbed.c makes: the mode search of a small one, else sweeps, then Newton's method. */
    SPRAG_CHAIN_LOCAL
} spragChainPart;

/* 1: the part begins where the links of SPRAG_CHAIN_SOON have ended. */
int spragChainGoesOn(const spragProblem *problem, const spragSolveOptions *options, spragChainPart part);

/* The chain on an arena: spragProblemSolve without checks, without malloc in the steady state, and without
 * info->seconds. */
spragStatus spragChainSolve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                            double *u, spragSolveInfo *info);
spragStatus spragChainSolvePart(spragChainPart part, const spragProblem *problem, const spragSolveOptions *options,
                                spragArena *arena, double *r, double *u, spragSolveInfo *info);

/* Work on a small problem, in products of 3x3 blocks, before options->enough is enough: some 5 ms.  (A car with mu = 50
 * stands on forty contacts that all but repeat each other: slips of 1e-7 m/s oppose each other, and 1e-8 takes a
 * second, if it is found at all.) */
#define SPRAG_WORK_PROMPT 1e6
/* What a step, a pivot or a sweep of a small problem takes besides its equations and products with W, in the same unit:
 * laws, judgement, calls.  (Of 1 and 2 blocks it is nearly all, of 60 a tenth.  The limits of larger problems were
 * measured without it: charged there, it leaves heaps of dolls that tumble with up to three times the residual.) */
static inline double spragStepOverhead(int block_count)
{
    return block_count <= SPRAG_CHAIN_SMALL ? 150 + 20.0 * block_count : 0;
}
/* 1: the problem is small, and a residual of options->enough will do: the first methods are then kept short. */
int spragChainIsPrompt(const spragProblem *problem, const spragSolveOptions *options);

#endif
