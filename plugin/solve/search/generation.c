/* Constraint generation: the contacts that carry, found one at a time.
 *
 * Contacts left out have r = 0.  A solution of the problem of some contacts S,
 *
 *     u_S = W_SS r_S + q_S   with the law of each,        u_k = W_kS r_S + q_k   of the others,
 *
 * is one of all as soon as u_kn >= 0 of all others, since their law then asks for r_k = 0.  So S begins without
 * contacts, and whenever it is solved the contact with the largest residual joins it, until all obey their law (as in a
 * working-set method of quadratic programming: Nocedal and Wright 2006, section 16.5).  Blocks that are no contacts,
 * and contacts that load another block, are in S from the start.  A contact that has joined stays, even if its impulse
 * falls to 0: S grows, so that the rounds end.
 *
 * What it is for: a wheel of mu = 340 that a collider gives four points within a micrometre of each other.  All of them
 * together make a W whose least eigenvalues are 1e-12 of its greatest, and ask for motions that differ by 1e-8 m/s:
 * Newton's method and the traced path lose their digits there.  Of points that all but repeat each other the first to
 * join holds the others open, by 1e-9 m/s, and W_SS stays regular.  And S is small: the mode search solves most of its
 * problems in some microseconds.  If a motion opens all contacts (existence.c) it opens those of S, so each of these
 * problems has a solution too.
 *
 * All of these problems together have the work and the time of one method (each of theirs had it, and nothing was left
 * for the methods after this one: a car's step ended at 0.05 m/s.  A chain of 40 links that falls on the ground has 80
 * of them in a row, each worth hundreds of factorisations: 4 s, and no answer.)
 *
 * Measured on islands of a car game that took more than some milliseconds: the 226 slowest took 33 s by the chain
 * without this, and take 3 s with it; of the thirteen that ended above the tolerance, at 1e-6 to 2e-4 m/s, two still
 * do, at 2e-6.  Those need impulses of 3e6 N s, whose rounding alone is 1e-6 m/s where mu is 340.  (Of larger islands
 * ODE's demo_feedback has one, of 107 contacts, that the other methods miss at 1.15e-6 m/s.) */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "problem/part.h"
#include "problem/residual.h"
#include "solve/solver.h"

#define CLOSER 0.01 /* of the tolerance: S is solved so much closer, where that takes no more than some milliseconds */

/* Marks the blocks that are in S from the start (in, nc, zeroed).  1: some block is not. */
static int begin(const spragProblem *p, unsigned char *in)
{
    int out = 0;
    for (int k = 0; k < p->contact_count; ++k) {
        in[k] |= spragKindOf(p, k) != SPRAG_BLOCK_CONTACT;
        if (p->parent != NULL && p->parent[k] >= 0)
            in[p->parent[k]] = 1;
    }
    for (int k = 0; k < p->contact_count; ++k)
        out |= !in[k];
    return out;
}

/* S, its solution, and what it may still cost. */
typedef struct Generation {
    const spragProblem *problem; /* of all contacts */
    spragSolveOptions left;      /* what S is asked for, with what is left of the time and the work */
    double begin, work;          /* s, when it began; 3x3 products spent */
    unsigned char *in;           /* (nc) 1: in S */
    double *x, *u;               /* (3 nc) impulses, 0 outside S; W x + q */
    double residual;             /* m/s, of all contacts */
    int worst;                   /* the contact outside S with the largest residual, or -1: all have r = 0 rightly */
    spragArena *arena;
} Generation;

/* x becomes a solution with the impulses of S alone, from those in it.  *info: of that alone. */
static spragStatus solveSet(Generation *g, spragSolveInfo *info)
{
    const int nc = g->problem->contact_count;
    spragProblem part;
    int count = 0, *block = SPRAG_TAKE_RAW(g->arena, int, nc);
    double *s = SPRAG_TAKE_RAW(g->arena, double, 3 * nc);
    if (block == NULL || s == NULL)
        return SPRAG_ERROR_MEMORY;
    for (int k = 0; k < nc; ++k)
        if (g->in[k]) {
            memcpy(s + 3 * count, g->x + 3 * k, 3 * sizeof *s);
            block[count++] = k;
        }
    if (!spragPartTake(g->problem, block, count, g->arena, &part))
        return SPRAG_ERROR_MEMORY;
    const spragStatus status =
        count > 0 ? spragChainSolvePart(SPRAG_CHAIN_WITHIN, &part, &g->left, g->arena, s, NULL, info) : SPRAG_OK;
    g->work += info->work;
    memset(g->x, 0, 3 * (size_t)nc * sizeof *g->x);
    for (int i = 0; i < count; ++i)
        memcpy(g->x + 3 * block[i], s + 3 * i, 3 * sizeof *s);
    return status;
}

/* Fills u, residual and worst. */
static void judge(Generation *g)
{
    const spragProblem *p = g->problem;
    double outside = 0;
    g->worst = -1;
    spragProblemVelocity(p, g->x, g->u);
    g->residual = spragVelocityResidual(p, g->x, g->u);
    for (int k = 0; k < p->contact_count; ++k) {
        const double residual = g->in[k] ? 0 : spragBlockResidual(p, k, g->x, g->u + 3 * k);
        if (residual > outside)
            outside = residual, g->worst = k;
    }
}

/* Takes what was spent off the limits.  1: nothing is left of one of them. */
static int isSpent(Generation *g, const spragSolveOptions *given)
{
    const int timed = given->time_limit > 0, limited = given->work_limit > 0, counted = given->work_total > 0;
    if (timed)
        g->left.time_limit = given->time_limit - (spragSeconds() - g->begin);
    if (limited)
        g->left.work_limit = given->work_limit - g->work;
    if (counted)
        g->left.work_total = given->work_total - g->work;
    return (timed && g->left.time_limit <= 0) || (limited && g->left.work_limit <= 0) ||
           (counted && g->left.work_total <= 0);
}

/* Solves S, and lets the worst contact outside join it, until all obey their law or S has no solution. */
static spragStatus grow(Generation *g, const spragSolveOptions *given, int *iterations)
{
    for (;;) {
        const spragArenaMark mark = spragArenaMarkGet(g->arena);
        spragSolveInfo own = {0};
        const spragStatus status = solveSet(g, &own);
        spragArenaRelease(g->arena, mark);
        *iterations += own.iterations;
        if (status == SPRAG_ERROR_MEMORY)
            return status;
        judge(g);
        if (g->residual <= given->tolerance)
            return SPRAG_OK;
        if (isSpent(g, given))
            return SPRAG_LIMIT;
        if (!(own.residual <= given->tolerance) || g->worst < 0)
            return SPRAG_NOT_CONVERGED;
        g->in[g->worst] = 1;
    }
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    const int nc = problem->contact_count;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    spragSolveOptions given = *options;
    if (given.work_limit > 0) /* of all of them together */
        given.work_total = given.work_total > 0 ? fmin(given.work_total, given.work_limit) : given.work_limit;
    Generation g = {.problem = problem, .left = given, .begin = spragSeconds(), .arena = arena};
    g.left.solver = SPRAG_SOLVER_AUTO;
    g.left.tolerance = CLOSER * options->tolerance;
    g.left.enough = options->tolerance; /* above g.left.tolerance: methods are kept short */
    g.in = SPRAG_TAKE(arena, unsigned char, nc);
    g.x = SPRAG_TAKE(arena, double, 3 * nc);
    g.u = SPRAG_TAKE_RAW(arena, double, 3 * nc);
    const int ready = g.in != NULL && g.x != NULL && g.u != NULL;
    spragStatus status = ready ? SPRAG_NOT_CONVERGED : SPRAG_ERROR_MEMORY;
    if (ready && nc <= SPRAG_GENERATION_MOST && begin(problem, g.in)) {
        status = grow(&g, &given, &info->iterations);
        info->work += g.work;
        if (status != SPRAG_ERROR_MEMORY)
            memcpy(r, g.x, 3 * (size_t)nc * sizeof *r);
    }
    spragArenaRelease(arena, mark);
    return status;
}

const spragSolver spragSolverGeneration = {.kind = SPRAG_SOLVER_NEWTON, .solve = solve, .in_parts = 1};
