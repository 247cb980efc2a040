/* Argument checks of the ODE-free API, then one call down. */
#include <limits.h>
#include <math.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/floats.h"
#include "base/pool.h"
#include "base/status.h"
#include "problem/problem.h"
#include "problem/residual.h"
#include "solve/chain/components.h"
#include "solve/newton/existence.h"

enum { THREADS_PAY = 500 /* blocks */ };

static spragStatus checkOptions(const spragSolveOptions *o)
{
    if ((unsigned)o->solver >= SPRAG_SOLVER_COUNT)
        return spragFail(SPRAG_ERROR_RANGE, "solver = %d, expected 0 .. %d", (int)o->solver, SPRAG_SOLVER_COUNT - 1);
    if (o->solver == SPRAG_SOLVER_STOCK)
        return spragFail(SPRAG_ERROR_RANGE, "solver %s cannot solve a problem without ODE", spragSolverName(o->solver));
    if (!(o->tolerance >= 0) || isinf(o->tolerance))
        return spragFail(SPRAG_ERROR_RANGE, "tolerance = %g, expected >= 0", o->tolerance);
    if (!(o->enough >= 0) || isinf(o->enough))
        return spragFail(SPRAG_ERROR_RANGE, "enough = %g m/s, expected >= 0", o->enough);
    if (!(o->time_limit >= 0) || !(o->work_limit >= 0) || !(o->work_total >= 0))
        return spragFail(SPRAG_ERROR_RANGE, "time_limit = %g s, work_limit = %g, work_total = %g, expected >= 0",
                         o->time_limit, o->work_limit, o->work_total);
    if (o->iteration_limit < 0 || o->thread_count < 0 || o->thread_count > SPRAG_THREADS_MOST)
        return spragFail(SPRAG_ERROR_RANGE, "iteration_limit = %d, thread_count = %d, expected >= 0 and 0 .. %d",
                         o->iteration_limit, o->thread_count, SPRAG_THREADS_MOST);
    if ((unsigned)o->indeterminacy > SPRAG_INDETERMINACY_JAM)
        return spragFail(SPRAG_ERROR_RANGE, "indeterminacy = %d, expected 0 to %d", (int)o->indeterminacy,
                         SPRAG_INDETERMINACY_JAM);
    return SPRAG_OK;
}

typedef struct Call {
    const spragProblem *problem;
    const spragSolveOptions *options;
    spragArena *arena;
    double *r, *u;
    spragSolveInfo *info;
    spragStatus status;
} Call;

static void solve(void *data, int worker, int piece)
{
    (void)worker, (void)piece;
    Call *call = data;
    call->status = spragComponentsSolve(call->problem, call->options, call->arena, call->r, call->u, call->info);
}

static spragStatus checkArguments(const spragProblem *problem, const spragSolveOptions *options, const double *r)
{
    spragStatus status = spragProblemCheckQuick(problem);
    if (status != SPRAG_OK)
        return status;
    if (r == NULL && problem->contact_count > 0)
        return spragFail(SPRAG_ERROR_NULL, "r is NULL");
    status = checkOptions(options);
    if (status != SPRAG_OK)
        return status;
    for (int i = 0; i < 3 * problem->contact_count; ++i)
        if (!isfinite(r[i]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "the guess r[%d] is not finite", i);
    return SPRAG_OK;
}

spragStatus spragProblemSolve(const spragProblem *problem, const spragSolveOptions *options, double *r, double *u,
                              spragSolveInfo *info)
{
    SPRAG_FLOATS;
    const spragSolveOptions chosen = options != NULL ? *options : spragSolveOptionsDefault();
    spragArena arena = {0};
    spragSolveInfo own;
    info = info != NULL ? info : &own;
    info->status = checkArguments(problem, &chosen, r);
    if (info->status != SPRAG_OK)
        return info->status;
    *info = (spragSolveInfo){.solver = chosen.solver};
    if (problem->contact_count == 0)
        return SPRAG_OK;
    const double begin = spragSeconds();
    spragProblem alone = *problem;
    alone.bodies = alone.linked = NULL;
    alone.driven = 0;
    const int threads = problem->contact_count >= THREADS_PAY ? chosen.thread_count : 1;
    spragPool *pool = threads > 1 ? spragPoolMake(threads) : NULL; /* without memory for one: on this thread */
    Call call = {&alone, &chosen, &arena, r, u, info, SPRAG_OK};
    spragPoolRun(pool, solve, &call, 1);
    spragPoolFree(pool);
    info->seconds = spragSeconds() - begin;
    spragArenaFree(&arena);
    return call.status;
}

spragStatus spragProblemExistence(const spragProblem *problem, double *r, spragExistence *existence)
{
    SPRAG_FLOATS;
    const spragStatus status = spragProblemCheckQuick(problem);
    if (status != SPRAG_OK)
        return status;
    if (existence == NULL)
        return spragFail(SPRAG_ERROR_NULL, "existence is NULL");
    int two_sided = 0;
    for (int k = 0; k < problem->contact_count; ++k) {
        if (spragKindOf(problem, k) > SPRAG_BLOCK_TWO_SIDED)
            return spragFail(SPRAG_ERROR_RANGE, "the criterion is for contacts, and block %d is none", k);
        two_sided += spragKindOf(problem, k) == SPRAG_BLOCK_TWO_SIDED;
    }
    if (two_sided > SPRAG_ENUMERATE_MAX)
        return spragFail(SPRAG_ERROR_RANGE, "%d two-sided contacts have too many variants: at most %d", two_sided,
                         SPRAG_ENUMERATE_MAX);
    if (problem->contact_count == 0) {
        *existence = (spragExistence){.assured = 1, .margin = INFINITY};
        return SPRAG_OK;
    }
    spragArena arena = {0};
    const spragExistenceAsk all = {.variants = INT_MAX, .closing = INFINITY};
    const spragStatus found = spragExistenceFind(problem, &all, &arena, r, existence);
    spragArenaFree(&arena);
    return found == SPRAG_OK ? found : spragFail(found, "no memory for %d contacts", problem->contact_count);
}
