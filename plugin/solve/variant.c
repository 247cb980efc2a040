/* Search over modes: which contacts are open, stick or slip, on which side a two-sided contact is loaded, which limits
 * act; with Newton on the slip directions.
 *
 * For fixed modes the equations are linear but for the directions.  A round solves them linearised and reads the modes
 * anew (solve/proximal.h): it flips exactly the blocks whose conditions fail, as section 10 of theory document 004 flips
 * variants.  Simultaneous flips can cycle; a round that does not end is followed by proximal points, whose modes differ
 * less from their neighbours', and at last by other starts.
 *
 * Which start comes first is the policy's (solve/policy.h).  A solution that fails the small-friction test is a
 * separatrix (theory/policy.md 3.1) and is only kept if no start finds another. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/policy.h"
#include "solve/proximal.h"
#include "solve/solver.h"

enum { ROUNDS_FIRST = 60, ROUNDS_OTHER = 30, STARTS_MAX = 8 };
#define LAMBDA_COLD 1e-3
#define LAMBDA_SIGN 1e-8 /* a hyperstatic G has zero eigenvalues: they count as positive */

static spragBlockKind kindOf(const spragProblem *problem, int k)
{
    return problem->kind != NULL ? (spragBlockKind)problem->kind[k] : SPRAG_BLOCK_CONTACT;
}

static int isFrictional(const spragProblem *problem, int k)
{
    return kindOf(problem, k) <= SPRAG_BLOCK_TWO_SIDED;
}

/* ---------------------------------------------------------------- small friction */

/* Row `a` of block row k of the matrix := r_a = gain r_n. */
static void tieRow(spragProximal *s, int k, int a, double gain)
{
    const spragProblem *p = s->problem;
    for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
        double *row = s->matrix + 9 * (size_t)e + 3 * a;
        row[0] = row[1] = row[2] = 0;
        if (p->column[e] == k) {
            row[0] = a == 0 ? 0 : -s->w[k] * gain;
            row[a] = s->w[k];
        }
    }
}

/* With G = dw_n / dN of the loaded contacts, friction included where they slip, tangential velocities held where they
 * stick, det G keeps the sign it has without friction: positive.  Otherwise the fast motion of the contacts runs away
 * (theory/policy.md 3.1, 3.5).  u (3 nc) at r. */
static int hasSmallFriction(spragProximal *s, const double *r, const double *u)
{
    const spragProblem *p = s->problem;
    int sliding = 0;
    for (int k = 0; k < p->contact_count && !sliding; ++k)
        sliding =
            isFrictional(p, k) && r[3 * k] != 0 && p->mu[k] > 0 && spragNorm2(u + 3 * k + 1) > SPRAG_SLIP_TOLERANCE;
    if (!sliding)
        return 1;
    memcpy(s->matrix, p->W, 9 * (size_t)p->block_count * sizeof(double));
    for (int k = 0; k < p->contact_count; ++k) {
        double *D = s->matrix + 9 * (size_t)spragProblemDiagonal(p, k);
        for (int a = 0; a < 3; ++a)
            D[4 * a] += LAMBDA_SIGN * s->w[k];
        const double *rk = r + 3 * k, *uk = u + 3 * k;
        if (!isFrictional(p, k)) { /* rows that move do not hold, whatever limits them */
            for (int a = 0; a < 3; ++a)
                if (fabs(uk[a]) > SPRAG_SLIP_TOLERANCE || rk[a] == 0)
                    tieRow(s, k, a, 0);
        } else if (rk[0] == 0) {
            for (int a = 0; a < 3; ++a)
                tieRow(s, k, a, 0);
        } else if (spragNorm2(uk + 1) > SPRAG_SLIP_TOLERANCE) {
            for (int a = 1; a < 3; ++a)
                tieRow(s, k, a, rk[a] / rk[0]);
        }
    }
    return spragBlockLuFactor(&s->lu, s->matrix) && spragBlockLuSign(&s->lu) > 0;
}

/* ---------------------------------------------------------------- starts */

/* Contacts that slide towards a jam or a lift start where the policy ends. */
static void policyStart(const spragProximal *s, spragIndeterminacy policy, double *r)
{
    const spragProblem *p = s->problem;
    if (p->history == NULL)
        return;
    for (int k = 0; k < p->contact_count; ++k) {
        if (kindOf(p, k) != SPRAG_BLOCK_CONTACT || p->mu[k] == 0)
            continue;
        const double *W = p->W + 9 * (size_t)spragProblemDiagonal(p, k);
        const spragIndicator indicator = spragIndicatorOf(W, p->mu[k], &p->history[k], policy);
        if (indicator.quadrant == SPRAG_QUADRANT_INDETERMINATE && indicator.lifts)
            r[3 * k] = r[3 * k + 1] = r[3 * k + 2] = 0;
        else if (indicator.quadrant >= SPRAG_QUADRANT_INDETERMINATE)
            r[3 * k] = fmax(r[3 * k], spragNorm2(p->history[k].slip) / s->w[k]);
    }
}

/* Sliding had no solution where the indicator says so and the slip has ended. */
static int endedInconsistent(const spragProblem *p, const double *r, const double *u)
{
    if (p->history == NULL)
        return 0;
    for (int k = 0; k < p->contact_count; ++k) {
        if (kindOf(p, k) != SPRAG_BLOCK_CONTACT || r[3 * k] == 0 || spragNorm2(u + 3 * k + 1) > SPRAG_SLIP_TOLERANCE)
            continue;
        const double *W = p->W + 9 * (size_t)spragProblemDiagonal(p, k);
        if (spragIndicatorOf(W, p->mu[k], &p->history[k], SPRAG_INDETERMINACY_HISTORY).quadrant ==
            SPRAG_QUADRANT_INCONSISTENT)
            return 1;
    }
    return 0;
}

enum { START_GUESS, START_OPEN, START_PRESSED, START_COUNT };

static double startFrom(const spragProximal *s, int start, const double *guess, spragIndeterminacy policy, double *r)
{
    const spragProblem *p = s->problem;
    const int n = 3 * p->contact_count;
    double largest = 0;
    memset(r, 0, (size_t)n * sizeof *r);
    if (start == START_GUESS) {
        memcpy(r, guess, (size_t)n * sizeof *r);
        policyStart(s, policy, r);
    } else if (start == START_PRESSED) {
        for (int k = 0; k < p->contact_count; ++k)
            if (kindOf(p, k) == SPRAG_BLOCK_CONTACT)
                r[3 * k] = spragNorm3(p->q + 3 * k) / s->w[k];
    }
    for (int i = 0; i < n; ++i)
        largest = fmax(largest, fabs(r[i]));
    return start == START_GUESS && largest > 0 ? SPRAG_LAMBDA_WARM : LAMBDA_COLD;
}

/* ---------------------------------------------------------------- the search */

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    spragProximal s;
    const size_t n = 3 * (size_t)problem->contact_count, bytes = n * sizeof(double);
    const double deadline = options->time_limit > 0 ? spragSeconds() + options->time_limit : 0;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    double *trial = SPRAG_TAKE(arena, double, n), *guess = SPRAG_TAKE(arena, double, n);
    double *u = SPRAG_TAKE(arena, double, n);
    if (trial == NULL || guess == NULL || u == NULL || !spragProximalInit(&s, problem, arena)) {
        spragArenaRelease(arena, mark);
        return SPRAG_ERROR_MEMORY;
    }
    memcpy(guess, r, bytes);
    double kept = INFINITY; /* residual of r */
    spragStatus status = SPRAG_NOT_CONVERGED;
    const int starts = problem->contact_count <= STARTS_MAX ? START_COUNT : START_OPEN;
    for (int start = START_GUESS, good = 0; start < START_COUNT && !good && status != SPRAG_LIMIT; ++start) {
        if (status != SPRAG_OK && start >= starts)
            break; /* a large island that does not converge is not a matter of starts */
        const int rounds = options->iteration_limit > 0 ? options->iteration_limit
                           : start == START_GUESS       ? ROUNDS_FIRST
                                                        : ROUNDS_OTHER;
        const double lambda = startFrom(&s, start, guess, options->indeterminacy, trial);
        spragProximalReset(&s, trial);
        const spragStatus reached =
            spragProximalPoints(&s, lambda, options->tolerance, deadline, rounds, trial, &info->iterations);
        memcpy(trial, s.best, bytes);
        double residual = s.best_residual;
        if (reached == SPRAG_OK) {
            residual = spragProximalPolish(&s, options->tolerance, residual, trial, &info->iterations);
            spragProblemVelocity(problem, trial, u);
            good = hasSmallFriction(&s, trial, u);
            info->several |= !good;
            info->none |= good && endedInconsistent(problem, trial, u);
        }
        if (status != SPRAG_OK) /* the first solution is kept until one with small friction comes */
            status = reached;
        else if (!good)
            continue;
        if (good || residual < kept) {
            memcpy(r, trial, bytes);
            kept = residual;
        }
    }
    spragArenaRelease(arena, mark);
    return status;
}

const spragSolver spragSolverVariant = {SPRAG_SOLVER_VARIANT, "variant", solve};
