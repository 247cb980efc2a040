#include "problem/creep.h"

#include <math.h>

#include "base/pool.h"
#include "linalg/vec3.h"
#include "problem/residual.h"

#define STILL 10 /* tolerances: a speed up to which a row counts as at rest */

int spragCreepMatters(double tolerance, const double *u, int contact_count)
{
    double most = 0;
    for (int i = 0; i < 3 * contact_count; ++i)
        most = spragMax(most, fabs(u[i]));
    return tolerance <= SPRAG_CREEP_MATTERS || most <= STILL * tolerance;
}

/* Speed of rows a, a+1 where |r| is inside the disc. */
static double discCreep(double radius, const double *r, const double *u, int a)
{
    return spragNorm2(r + a) < SPRAG_CREEP_INSIDE * radius ? spragNorm2(u + a) : 0;
}

static double blockCreep(const spragProblem *problem, int k, const double *r_all, const double u[3])
{
    const double *r = r_all + 3 * k, mu = problem->mu[k], mu_minus = spragMuMinusOf(problem, k);
    switch (spragKindOf(problem, k)) {
    case SPRAG_BLOCK_TWO_SIDED:
        return discCreep((r[0] > 0 ? mu : mu_minus) * fabs(r[0]), r, u, 1);
    case SPRAG_BLOCK_FORCE_LIMIT:
        return discCreep(mu, r, u, 1);
    case SPRAG_BLOCK_BOX: {
        double worst = 0;
        for (int i = 0; i < 3; ++i) {
            const double lo = problem->bound[6 * (size_t)k + (size_t)i],
                         hi = problem->bound[6 * (size_t)k + 3 + (size_t)i];
            if (r[i] > lo && r[i] < hi)
                worst = fmax(worst, fabs(u[i]));
        }
        return worst;
    }
    case SPRAG_BLOCK_ROLLING:
        return spragRollingCreep(mu, mu_minus, r_all[3 * problem->parent[k]], r, u);
    default:
        return discCreep(mu * r[0], r, u, 1);
    }
}

typedef struct Search {
    const spragProblem *problem;
    const double *r, *u;
    double worst[SPRAG_RANGES_MOST];
} Search;

static void searchRange(void *data, int range, int first, int end)
{
    Search *search = data;
    double worst = 0;
    for (int k = first; k < end; ++k) {
        const double *u = search->u + 3 * k, creep = blockCreep(search->problem, k, search->r, u);
        if (creep > worst)
            worst = fmax(worst, fmin(creep, spragBlockResidual(search->problem, k, search->r, u)));
    }
    search->worst[range] = worst;
}

double spragVelocityCreep(const spragProblem *problem, const double *r, const double *u)
{
    Search search = {.problem = problem, .r = r, .u = u};
    spragRangesRun(problem->contact_count, searchRange, &search);
    double worst = 0;
    for (int k = 0; k < spragRangeCount(problem->contact_count); ++k)
        worst = fmax(worst, search.worst[k]);
    return worst;
}
