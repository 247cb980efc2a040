/* Constraint generation: the contacts that carry, found one at a time.
 *
 * Contacts left out have r = 0.  A solution of the problem of some contacts S,
 *
 *     u_S = W_SS r_S + q_S   with the law of each,        u_k = W_kS r_S + q_k   of the others,
 *
 * is one of all as soon as u_kn >= 0 of all others: r_k = 0 is then what the law asks of them.  So S begins without
 * contacts, and whenever it is solved the contact that the judge likes least joins it, until he likes all (as in a
 * working-set method of quadratic programming: Nocedal and Wright 2006, section 16.5).  Blocks that are no contacts,
 * and contacts that load another block, are in S from the start.  A contact that has joined stays, even if its impulse
 * falls to 0: S grows, so that the rounds end.
 *
 * What it is for: a wheel of mu = 340 that a collider gives four points within a micrometre of each other.  All of them
 * together make a W whose least eigenvalues are 1e-12 of its greatest, and ask for motions that differ by 1e-8 m/s:
 * Newton's method and the traced path lose their digits there.  Of points that all but repeat each other the first to
 * join holds the others open, by 1e-9 m/s, and W_SS stays regular.  And S is small: the mode search solves most of its
 * problems in some microseconds.  If the motion of existence.c parts all contacts it parts those of S: each of these
 * problems has a solution too.
 *
 * All of these problems together have the work and the time that one method has.  (A chain of 40 links that falls on
 * the ground has 80 of them in a row, each worth hundreds of factorisations: 4 s, and no answer.)
 *
 * Measured on islands of a car game, recorded where they took more than some milliseconds: the 226 that took longest,
 * 33 s by the chain without this, 3 s with it; of thirteen that were missed, by 1e-6 to 2e-4 m/s, two are, at 2e-6.
 * Those need impulses of 3e6 N s, whose rounding alone is 1e-6 m/s where mu is 340.  (Of larger islands: ODE's
 * demo_feedback has one of 107 contacts that the others miss, at 1.15e-6 m/s.)
 *
 * Again.  A car stands so for seconds, and what carried in the last step does so in this one, all but always.  Then S
 * begins with the contacts of the guess, if these are no more than half, and is solved no closer than asked: 209 such
 * steps took 0.5 s in place of 2.0.
 *
 * Tried and dropped: contacts leave S when their impulse is 0 (as fast, and where S is hard it goes to and fro); in
 * place of Newton from the guess (cheaper for the car, but loads on a box's corners then change from step to step). */
#include <string.h>

#include "base/clock.h"
#include "linalg/vec3.h"
#include "problem/part.h"
#include "problem/residual.h"
#include "solve/solver.h"

#define CLOSER 0.01 /* of the tolerance: S is solved so much closer, where that takes no more than some milliseconds */

/* In S from the start (in, nc, zeroed).  1: some block is not. */
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

/* 3x3 products: Newton's steps have a dense factorisation each and some passes over W, sweeps one. */
static double workOf(int count, const spragSolveInfo *info)
{
    const double n = count, sweeps = info->method_iterations[SPRAG_SOLVER_GAUSS_SEIDEL];
    return (info->iterations - sweeps) * (n * n * n / 3 + 10 * n * n) + sweeps * n * n;
}

/* r (3 nc) becomes a solution with the impulses of S alone, from those in it.  *info: of that alone. */
static spragStatus solveSet(const spragProblem *whole, const unsigned char *in, const spragSolveOptions *options,
                            spragArena *arena, double *r, spragSolveInfo *info, double *work)
{
    const int nc = whole->contact_count;
    spragProblem part;
    int count = 0, *block = SPRAG_TAKE_RAW(arena, int, nc);
    double *s = SPRAG_TAKE_RAW(arena, double, 3 * nc);
    if (block == NULL || s == NULL)
        return SPRAG_ERROR_MEMORY;
    for (int k = 0; k < nc; ++k)
        if (in[k]) {
            memcpy(s + 3 * count, r + 3 * k, 3 * sizeof *s);
            block[count++] = k;
        }
    if (!spragPartTake(whole, block, count, arena, &part))
        return SPRAG_ERROR_MEMORY;
    const spragStatus status = count > 0 ? spragChainWithin(&part, options, arena, s, NULL, info) : SPRAG_OK;
    *work += workOf(count, info);
    memset(r, 0, 3 * (size_t)nc * sizeof *r);
    for (int i = 0; i < count; ++i)
        memcpy(r + 3 * block[i], s + 3 * i, 3 * sizeof *r);
    return status;
}

/* The contact outside S that the judge likes least, and his word on all; -1: he likes what is left. */
static int worstOutside(const spragProblem *p, const unsigned char *in, const double *r, double *u, double *all)
{
    int worst = -1;
    double outside = 0;
    *all = 0;
    spragProblemVelocity(p, r, u);
    for (int k = 0; k < p->contact_count; ++k) {
        const double residual = spragBlockResidual(p, k, r, u + 3 * k);
        *all = residual > *all ? residual : *all;
        if (!in[k] && residual > outside)
            outside = residual, worst = k;
    }
    return worst;
}

/* In S (in, nc) and x (3 nc) are the contacts that carry in r, if they are no more than half. */
static void beginAgain(const spragProblem *p, const double *r, unsigned char *in, double *x)
{
    int carry = 0;
    for (int k = 0; k < p->contact_count; ++k)
        carry += spragNorm3(r + 3 * k) > 0;
    for (int k = 0; k < p->contact_count && 2 * carry <= p->contact_count; ++k)
        if (spragNorm3(r + 3 * k) > 0) {
            in[k] = 1;
            memcpy(x + 3 * k, r + 3 * k, 3 * sizeof *x);
        }
}

static spragStatus generate(const spragProblem *problem, const spragSolveOptions *options, int again, spragArena *arena,
                            double *r, spragSolveInfo *info)
{
    const int nc = problem->contact_count;
    const double begun = spragSeconds();
    double work = 0;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    spragSolveOptions closer = *options;
    closer.solver = SPRAG_SOLVER_AUTO;
    closer.tolerance = (again ? 1 : CLOSER) * options->tolerance, closer.enough = options->tolerance;
    unsigned char *in = SPRAG_TAKE(arena, unsigned char, nc);
    double *x = SPRAG_TAKE(arena, double, 3 * nc), *u = SPRAG_TAKE_RAW(arena, double, 3 * nc);
    spragStatus status = in != NULL && x != NULL && u != NULL ? SPRAG_NOT_CONVERGED : SPRAG_ERROR_MEMORY;
    const int begins = status != SPRAG_ERROR_MEMORY && nc <= SPRAG_GENERATION_MOST && begin(problem, in);
    if (begins && again)
        beginAgain(problem, r, in, x);
    for (int grows = begins; grows;) {
        const spragArenaMark round = spragArenaMarkGet(arena);
        spragSolveInfo own = {0};
        double all;
        status = solveSet(problem, in, &closer, arena, x, &own, &work);
        info->iterations += own.iterations;
        spragArenaRelease(arena, round);
        const int worst = worstOutside(problem, in, x, u, &all);
        closer.time_limit = options->time_limit > 0 ? options->time_limit - (spragSeconds() - begun) : 0;
        closer.work_limit = options->work_limit > 0 ? options->work_limit - work : 0;
        const int late =
            (options->time_limit > 0 && closer.time_limit <= 0) || (options->work_limit > 0 && closer.work_limit <= 0);
        if (status != SPRAG_ERROR_MEMORY)
            status = all <= options->tolerance ? SPRAG_OK : late ? SPRAG_LIMIT : SPRAG_NOT_CONVERGED;
        grows = status == SPRAG_NOT_CONVERGED && own.residual <= options->tolerance && worst >= 0;
        if (grows)
            in[worst] = 1;
    }
    if (begins && status != SPRAG_ERROR_MEMORY)
        memcpy(r, x, 3 * (size_t)nc * sizeof *r);
    spragArenaRelease(arena, mark);
    return status;
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    return generate(problem, options, 0, arena, r, info);
}

static spragStatus solveAgain(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                              double *r, spragSolveInfo *info)
{
    return generate(problem, options, 1, arena, r, info);
}

const spragSolver spragSolverGeneration = {SPRAG_SOLVER_NEWTON, "newton", solve};
const spragSolver spragSolverAgain = {SPRAG_SOLVER_NEWTON, "newton", solveAgain};
