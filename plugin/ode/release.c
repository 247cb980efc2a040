#include "ode/release.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/solver.h"

enum { ROUNDS_WITH_RETURN = 4, ROUNDS_MAX = 8 };

#define CONFLICT 1e4   /* impulses against what stops the island */
#define SOFTENING 1e-6 /* share of W */
#define MISSED 1e-6    /* m/s: what misses by more is no answer */

static int isInfinite(const spragBlock *block)
{
    return block->part == SPRAG_PART_CONTACT && block->kind == SPRAG_BLOCK_BOX;
}

/* 1/kg, mean of the diagonal of W_kk */
static double scaleOf(const spragIsland *island, int k)
{
    const double *W = island->W + 9 * spragProblemDiagonal(&island->problem, k);
    return (W[0] + W[4] + W[8]) / 3;
}

static void setTangential(double *bound, const unsigned char unused[3], double limit)
{
    for (int row = 1; row < 3; ++row) {
        bound[row] = unused[row] ? 0 : -limit;
        bound[3 + row] = unused[row] ? 0 : limit;
    }
}

static int releaseParting(const spragIsland *island, int with_return)
{
    int changed = 0;
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        double *bound = island->bound + 6 * k, *r = island->r + 3 * k;
        if (!block->parts)
            continue;
        const int held = bound[4] > 0 || bound[5] > 0;
        if (held && r[0] <= 0 && spragNorm2(r + 1) > 0 && island->u[3 * k] > SPRAG_SLIP_TOLERANCE) {
            setTangential(bound, block->unused, 0);
            r[1] = r[2] = 0;
        } else if (!held && r[0] > 0 && with_return) {
            setTangential(bound, block->unused, INFINITY);
        } else {
            continue;
        }
        changed = 1;
    }
    return changed;
}

static int conflicts(const spragIsland *island)
{
    const spragProblem *p = &island->problem;
    double impulse = 0, free = 0; /* m/s */
    int infinite = 0;
    for (int k = 0; k < island->block_count && !infinite; ++k)
        infinite = isInfinite(&island->block[k]);
    for (int k = 0; k < island->block_count && infinite; ++k) {
        impulse = fmax(impulse, spragNorm3(island->r + 3 * k) * scaleOf(island, k));
        free = fmax(free, spragNorm3(p->q + 3 * k));
    }
    return infinite && impulse > CONFLICT * free;
}

static void soften(spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k) {
        if (!isInfinite(&island->block[k]))
            continue;
        double *W = island->W + 9 * spragProblemDiagonal(&island->problem, k);
        const double compliance = SOFTENING * scaleOf(island, k);
        for (int row = 0; row < 3; ++row)
            W[4 * row] += compliance;
    }
    memset(island->r, 0, 3 * (size_t)island->block_count * sizeof *island->r);
    island->softened = 1;
}

/* Friction that yields a little: a share of W on the tangential rows of every contact. */
static void ease(spragIsland *island, double share)
{
    for (int k = 0; k < island->block_count; ++k) {
        spragBlock *block = &island->block[k];
        double *W = island->W + 9 * spragProblemDiagonal(&island->problem, k);
        const double compliance = share * scaleOf(island, k);
        for (int row = 1; row < 3 && block->part == SPRAG_PART_CONTACT; ++row)
            if (!block->unused[row]) {
                W[4 * row] += compliance;
                block->compliance[row] += compliance;
            }
    }
    memset(island->r, 0, 3 * (size_t)island->block_count * sizeof *island->r);
}

int spragRelease(spragIsland *island, int round)
{
    static const double share[] = {1e-4, 1e-2}; /* of W */

    if (round < ROUNDS_MAX && releaseParting(island, round < ROUNDS_WITH_RETURN))
        return 1;
    if (!island->softened && conflicts(island)) {
        soften(island);
        return 1;
    }
    if (!(island->solve.residual > MISSED) || island->eased == sizeof share / sizeof *share)
        return 0;
    ease(island, share[island->eased++]);
    return 1;
}
