/* Local disturbances: the part of a large island in which its guess is wrong, solved for itself.
 *
 * Where one domino of hundreds falls upon the next the last step's impulses hold nearly everywhere: of 350 contacts
 * some 15 are off by 1e-3 m/s and 50 by 1e-5.  Sweeps spread that over all of them, and each step of Newton's method
 * factorises them all, though the others' modes stay.  So, with S the contacts whose residual is above PART of the
 * worst one, and all that share a body with these,
 *
 *     u_S = W_SS r_S + (W_SR r_R + q_S),   the law of each in S,   r_R held,
 *
 * is solved by the chain, and then those of the others that are disturbed by it join S, with their neighbours.  What S
 * does to the others falls by a factor of 100 to 1000 from round to round, so that three rounds end it, of 30 to 80
 * contacts.  (A nonlinear Schwarz method with one subdomain, chosen by the residual.)
 *
 * It is no method for piles that move, where more than a third of all contacts are wrong: these are left to the other
 * links at once, at the price of one judgement.  Nor for mechanisms, whose joints couple all of their contacts. */
#include <math.h>
#include <string.h>

#include "problem/part.h"
#include "problem/reaches.h"
#include "problem/residual.h"
#include "solve/solver.h"

#define PART 1e-3       /* of the worst residual: who joins S */
#define CLOSER 0.1      /* of the tolerance: S is solved so much closer at the end, */
#define ENDS 1e-4       /* and in each round to this part of what it begins with */
#define SHARE_FIRST 0.5 /* of all contacts: more of them are no local disturbance, */
#define SHARE_MOST 0.6  /* and here S ends */
#define WORK 0.1        /* of the work limit: each round's */

enum { ROUNDS_MOST = 10 };

typedef struct Disturbed {
    const spragProblem *problem;
    spragArena *arena;
    unsigned char *in; /* (nc) 1: in S */
    int *block, count; /* S, ascending */
    int *place;        /* (nc) for spragPartTakeBy */
    double *u;         /* (3 nc) W r + q */
} Disturbed;

int spragDisturbedSuits(const spragProblem *problem, const spragSolveOptions *options)
{
    return options->work_limit > 0 && !(options->time_limit > 0) && options->iteration_limit == 0 &&
           options->solver == SPRAG_SOLVER_AUTO && problem->parent == NULL && problem->linked == NULL &&
           !spragProblemIsLean(problem);
}

/* Those with a residual above `least` m/s join S, with their neighbours.  1: some have. */
static int join(Disturbed *d, const double *r, double least)
{
    const spragProblem *p = d->problem;
    const int before = d->count;
    for (int k = 0; k < p->contact_count; ++k)
        if (spragBlockResidual(p, k, r, d->u + 3 * k) > least)
            for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
                d->in[p->column[e]] = 1;
    d->count = 0;
    for (int k = 0; k < p->contact_count; ++k)
        if (d->in[k])
            d->block[d->count++] = k;
    return d->count > before;
}

/* r of S becomes a solution, the others' impulses held.  info: of S alone. */
static spragStatus solveSet(Disturbed *d, const spragSolveOptions *options, double *r, spragSolveInfo *info)
{
    const int n = d->count;
    spragProblem part;
    double *s = SPRAG_TAKE_RAW(d->arena, double, 3 * n), *u = SPRAG_TAKE_RAW(d->arena, double, 3 * n),
           *q = SPRAG_TAKE(d->arena, double, 3 * n);
    if (s == NULL || u == NULL || q == NULL || !spragPartTakeBy(d->problem, d->block, n, d->place, d->arena, &part))
        return SPRAG_ERROR_MEMORY;
    for (int i = 0; i < n; ++i)
        memcpy(s + 3 * i, r + 3 * d->block[i], 3 * sizeof *s);
    part.q = q;
    spragProblemVelocity(&part, s, u);
    for (int i = 0; i < 3 * n; ++i)
        q[i] = d->u[3 * d->block[i / 3] + i % 3] - u[i];
    const spragStatus status = spragChainSolvePart(SPRAG_CHAIN_LOCAL, &part, options, d->arena, s, NULL, info);
    for (int i = 0; i < n && status != SPRAG_ERROR_MEMORY; ++i)
        memcpy(r + 3 * d->block[i], s + 3 * i, 3 * sizeof *s);
    return status;
}

/* Newton's steps of a round, in those of the whole. */
static int stepsOf(const Disturbed *d, const spragSolveInfo *info)
{
    const double steps = info->iterations - info->method_iterations[SPRAG_SOLVER_GAUSS_SEIDEL];
    return (int)ceil(steps * d->count / d->problem->contact_count);
}

static spragStatus grow(Disturbed *d, const spragSolveOptions *options, double *r, spragSolveInfo *all)
{
    const double before = all->work;
    for (int round = 0; round < ROUNDS_MOST; ++round) {
        spragProblemVelocity(d->problem, r, d->u);
        const double residual = spragVelocityResidual(d->problem, r, d->u);
        if (residual <= options->tolerance)
            return SPRAG_OK;
        const int grown = join(d, r, fmax(options->tolerance, PART * residual));
        if (!grown || d->count > (round == 0 ? SHARE_FIRST : SHARE_MOST) * d->problem->contact_count)
            break;
        spragSolveOptions own = *options;
        own.work_total -= options->work_total > 0 ? all->work - before : 0;
        if (options->work_total > 0 && !(own.work_total > 0))
            break;
        own.tolerance = fmax(CLOSER * options->tolerance, ENDS * residual);
        own.enough = fmax(own.tolerance, options->tolerance);
        own.work_limit = WORK * options->work_limit;
        const spragArenaMark mark = spragArenaMarkGet(d->arena);
        spragSolveInfo info = {0};
        const spragStatus status = solveSet(d, &own, r, &info);
        spragArenaRelease(d->arena, mark);
        all->iterations += stepsOf(d, &info);
        all->work += info.work;
        if (status == SPRAG_ERROR_MEMORY)
            return status;
        if (!(info.residual <= own.enough))
            break;
    }
    return SPRAG_NOT_CONVERGED;
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    const int nc = problem->contact_count;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    Disturbed d = {.problem = problem, .arena = arena};
    d.in = SPRAG_TAKE(arena, unsigned char, nc);
    d.block = SPRAG_TAKE_RAW(arena, int, 2 * (size_t)nc);
    d.u = SPRAG_TAKE_RAW(arena, double, 3 * (size_t)nc);
    double *x = SPRAG_TAKE_RAW(arena, double, 3 * (size_t)nc);
    const int ready = d.in != NULL && d.block != NULL && d.u != NULL && x != NULL;
    spragStatus status = SPRAG_ERROR_MEMORY;
    if (ready) {
        d.place = d.block + nc;
        for (int k = 0; k < nc; ++k)
            d.place[k] = -1;
        memcpy(x, r, 3 * (size_t)nc * sizeof *x);
        status = grow(&d, options, x, info);
        if (status != SPRAG_ERROR_MEMORY)
            memcpy(r, x, 3 * (size_t)nc * sizeof *x);
    }
    spragArenaRelease(arena, mark);
    return status;
}

const spragSolver spragSolverDisturbed = {.kind = SPRAG_SOLVER_NEWTON, .solve = solve};
