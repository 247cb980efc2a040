/* The chain: cheapest method first, each answer judged by the residual, the best iterate handed over warm. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/solver.h"

enum { SMALL = 40 }; /* contacts up to which the dense mode search wins over sweeps (measured) */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* An island of one contact: all solutions, and the policy's choice among them. */
static void solveSingle(const spragProblem *problem, const spragSolveOptions *options, double *r, spragSolveInfo *info)
{
    spragLocalSolution solution[SPRAG_LOCAL_MAX];
    const spragBlockKind kind = problem->kind != NULL ? (spragBlockKind)problem->kind[0] : SPRAG_BLOCK_CONTACT;
    const double mu = problem->mu[0], mu_minus = problem->mu_minus != NULL ? problem->mu_minus[0] : mu;
    const int count = spragLocalEnumerate(kind, problem->W, problem->q, mu, mu_minus, solution);
    if (count == 0)
        return;
    const int pick =
        spragLocalPick(count, solution, mu, problem->W, problem->history, problem->step, options->indeterminacy, info);
    if (pick >= 0)
        memcpy(r, solution[pick].r, 3 * sizeof *r);
    ++info->iterations;
}

/* Runs one method from the best answer so far; keeps what it found only if the judge likes it better. */
static spragStatus tryMethod(const spragSolver *method, const spragProblem *problem, const spragSolveOptions *options,
                             spragArena *arena, double *r, double *candidate, spragSolveInfo *info)
{
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const size_t bytes = (size_t)(3 * problem->contact_count) * sizeof *r;
    memcpy(candidate, r, bytes);
    const int before = info->iterations;
    const spragStatus status = method->solve(problem, options, arena, candidate, info);
    spragArenaRelease(arena, mark);
    info->method_iterations[method->kind] += info->iterations - before;
    if (status == SPRAG_ERROR_MEMORY)
        return status;
    const double residual = spragProblemResidual(problem, candidate);
    if (residual < info->residual || isnan(info->residual)) {
        memcpy(r, candidate, bytes);
        info->residual = residual;
        info->solver = method->kind;
    }
    return SPRAG_OK;
}

static int isSingle(const spragProblem *problem)
{
    return problem->contact_count == 1 && (problem->kind == NULL || problem->kind[0] <= SPRAG_BLOCK_TWO_SIDED);
}

spragStatus spragChainSolve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                            double *u, spragSolveInfo *info)
{
    const double begin = now();
    *info = (spragSolveInfo){.residual = NAN, .solver = SPRAG_SOLVER_VARIANT};
    const spragSolver *chain[4];
    int links = 0;
    switch (options->solver) {
    case SPRAG_SOLVER_VARIANT:
        chain[links++] = &spragSolverVariant;
        break;
    case SPRAG_SOLVER_GAUSS_SEIDEL:
        chain[links++] = &spragSolverGaussSeidel;
        break;
    case SPRAG_SOLVER_NEWTON:
        chain[links++] = &spragSolverNewton;
        break;
    default: /* Newton begins with sweeps of Gauss-Seidel, which alone end the easy ones */
        if (problem->contact_count <= SMALL)
            chain[links++] = &spragSolverVariant;
        chain[links++] = &spragSolverNewton;
        chain[links++] = &spragSolverGaussSeidel;
        break;
    }
    spragStatus status = SPRAG_OK;
    if (isSingle(problem)) {
        solveSingle(problem, options, r, info);
        info->method_iterations[SPRAG_SOLVER_VARIANT] += info->iterations;
    }
    info->residual = spragProblemResidual(problem, r);
    if (!isSingle(problem) || !(info->residual <= options->tolerance)) {
        double *candidate = SPRAG_TAKE(arena, double, 3 * (size_t)problem->contact_count);
        if (candidate == NULL)
            return info->status = SPRAG_ERROR_MEMORY;
        for (int k = 0; k < links && status == SPRAG_OK; ++k) {
            if (k > 0)
                info->fallback = 1;
            status = tryMethod(chain[k], problem, options, arena, r, candidate, info);
            if (info->residual <= options->tolerance)
                break;
            if (options->time_limit > 0 && now() - begin > options->time_limit)
                status = SPRAG_LIMIT;
        }
    }
    if (u != NULL)
        spragProblemVelocity(problem, r, u);
    info->seconds = now() - begin;
    if (info->residual <= options->tolerance)
        status = SPRAG_OK;
    else if (status == SPRAG_OK)
        status = SPRAG_NOT_CONVERGED;
    return info->status = status;
}
