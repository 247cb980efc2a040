/* One visit of block k, the others held:
 *
 *     q_k = q + sum_{j != k} W_kj r_j,   r_k <- the block's law at (W_kk, q_k).
 *
 * The sum is what costs: a packed column of W_kj times one number of r_j is one vector operation, and three independent
 * sums, one per column, hide the latency of addition.  The same source is compiled for AVX2 too and chosen when it runs;
 * without fused multiply-add both give the same bits. */
#include "solve/sweep.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "problem/residual.h"

typedef double Vector4 __attribute__((vector_size(32)));

enum { PACKED = 12 };

static void pack(double *out, const double W[9])
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out[4 * j + i] = W[3 * i + j];
}

static void blockSolve(spragSweeper *sweeper, int k, const double q[3], const double *r_all, double r[3])
{
    const spragProblem *problem = sweeper->problem;
    switch ((spragBlockKind)problem->kind[k]) {
    case SPRAG_BLOCK_TWO_SIDED:
        spragConeBlockSolveTwoSided(&sweeper->block[k], q, r);
        break;
    case SPRAG_BLOCK_FORCE_LIMIT:
        spragDiscBlockSolve(sweeper->diagonal[k], q, 0, 0, INFINITY, problem->mu[k], r);
        break;
    case SPRAG_BLOCK_BOX:
        spragBoxBlockSolve(sweeper->diagonal[k], q, problem->bound + 6 * (size_t)k, problem->bound + 6 * (size_t)k + 3,
                           r);
        break;
    case SPRAG_BLOCK_ROLLING: {
        const double load = fmax(0, r_all[3 * problem->parent[k]]);
        const double spin = sweeper->block[k].mu_minus * load;
        spragDiscBlockSolve(sweeper->diagonal[k], q, 2, -spin, spin, problem->mu[k] * load, r);
        break;
    }
    default:
        spragConeBlockSolve(&sweeper->block[k], q, r);
    }
}

/* Returns the largest (|dr_k| w_k)^2. */
static inline __attribute__((always_inline)) double sweepBlocks(spragSweeper *sweeper, double *r)
{
    const spragProblem *problem = sweeper->problem;
    const int nc = problem->contact_count, *column = sweeper->column;
    double largest = 0;
    for (int k = 0; k < nc; ++k) {
        const double *free_velocity = problem->q + 3 * k;
        Vector4 n = {free_velocity[0], free_velocity[1], free_velocity[2], 0}, t1 = {0, 0, 0, 0}, t2 = {0, 0, 0, 0};
        const int end = sweeper->start[k + 1];
        for (int e = sweeper->start[k]; e < end; ++e) {
            const Vector4 *W = (const Vector4 *)(const void *)(sweeper->packed + PACKED * (size_t)e);
            const double *x = r + 3 * column[e];
            n += W[0] * x[0];
            t1 += W[1] * x[1];
            t2 += W[2] * x[2];
        }
        const Vector4 total = n + (t1 + t2);
        const double q[3] = {total[0], total[1], total[2]};
        double fresh[3], *old = r + 3 * k;
        if (problem->kind == NULL || problem->kind[k] == SPRAG_BLOCK_CONTACT)
            spragConeBlockSolve(&sweeper->block[k], q, fresh);
        else
            blockSolve(sweeper, k, q, r, fresh);
        const double change[3] = {fresh[0] - old[0], fresh[1] - old[1], fresh[2] - old[2]};
        const double w = sweeper->w[k], size = spragDot3(change, change) * (w * w);
        largest = size > largest ? size : largest;
        memcpy(old, fresh, sizeof fresh);
    }
    return largest;
}

static double sweepPlain(spragSweeper *sweeper, double *r)
{
    return sweepBlocks(sweeper, r);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static double sweepAvx2(spragSweeper *sweeper, double *r)
{
    return sweepBlocks(sweeper, r);
}

static int hasAvx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define sweepAvx2 sweepPlain
static int hasAvx2(void)
{
    return 0;
}
#endif

int spragSweeperInit(spragSweeper *sweeper, const spragProblem *problem, spragArena *arena)
{
    const int nc = problem->contact_count, blocks = problem->block_count - nc;
    *sweeper = (spragSweeper){.problem = problem,
                              .block = SPRAG_TAKE(arena, spragConeBlock, nc),
                              .diagonal = SPRAG_TAKE(arena, const double *, nc),
                              .w = SPRAG_TAKE(arena, double, nc),
                              .start = SPRAG_TAKE(arena, int, nc + 1),
                              .column = SPRAG_TAKE(arena, int, blocks),
                              .packed = SPRAG_TAKE(arena, double, PACKED *(size_t)blocks),
                              .sweep = hasAvx2() ? sweepAvx2 : sweepPlain};
    if (sweeper->block == NULL || sweeper->diagonal == NULL || sweeper->w == NULL || sweeper->start == NULL ||
        sweeper->column == NULL || sweeper->packed == NULL)
        return 0;
    int count = 0;
    for (int k = 0; k < nc; ++k) {
        for (int e = problem->row_start[k]; e < problem->row_start[k + 1]; ++e) {
            const double *W = problem->W + 9 * (size_t)e;
            if (problem->column[e] == k) {
                sweeper->diagonal[k] = W;
                sweeper->w[k] = (W[0] + W[4] + W[8]) / 3;
                spragConeBlockInit(&sweeper->block[k], W, problem->mu[k],
                                   problem->mu_minus != NULL ? problem->mu_minus[k] : problem->mu[k]);
                continue;
            }
            sweeper->column[count] = problem->column[e];
            pack(sweeper->packed + PACKED * (size_t)count++, W);
        }
        sweeper->start[k + 1] = count;
    }
    return 1;
}

double spragSweep(spragSweeper *sweeper, double *r)
{
    return sqrt(sweeper->sweep(sweeper, r));
}
