/* The judge (docs/architecture.md): for every block the natural map of its law, a velocity,
 *
 *     | r - P(r - v / w) | w,     w the mean of the diagonal of W_kk,
 *
 * with P the projection on what r may be, and v = u, or u + (mu |u_t|, 0, 0) for Coulomb's cone.  De Saxce's change of
 * variable makes the law one complementarity on the cone: r in K, v in K*, r . v = 0 (De Saxce and Feng 1991; Acary and
 * Cadoux 2013).  The map is 0 where the law is obeyed, and nowhere else. */
#include "problem/residual.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "base/floats.h"
#include "base/pool.h"
#include "linalg/fine.h"
#include "linalg/quad.h"
#include "linalg/vec3.h"
#include "problem/cone.h"
#include "problem/reaches.h"

int spragProblemBlock(const spragProblem *problem, int k, int j)
{
    int low = problem->row_start[k], high = problem->row_start[k + 1];
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (problem->column[middle] == j)
            return middle;
        if (problem->column[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

int spragProblemDiagonal(const spragProblem *problem, int k)
{
    return spragProblemBlock(problem, k, k);
}

/* u += W r, lanes are rows: the columns of W by two shuffles each.  The sums are those of spragMulAdd33, to the bit. */
SPRAG_QUAD_INLINE spragQuad addColumns(spragQuad u, const double W[9], const double r[3])
{
    const spragQuad a = *(const spragQuadLoose *)W, b = *(const spragQuadLoose *)(W + 4),
                    c = *(const spragQuadLoose *)(W + 5);
    const spragQuad first = SPRAG_QUAD_SHUFFLE(a, b, 0, 3, 6, 6), second = SPRAG_QUAD_SHUFFLE(a, b, 1, 4, 7, 7),
                    third = SPRAG_QUAD_SHUFFLE(a, c, 2, 4, 7, 7);
    return u + (first * r[0] + second * r[1] + third * r[2]);
}

/* (W r + q)_k; returns the index of its diagonal block, -1 if there is none. */
SPRAG_QUAD_INLINE int motionByColumns(const spragProblem *problem, int k, const double *r, double u[3])
{
    const double *q = problem->q + 3 * (size_t)k;
    spragQuad sum = {q[0], q[1], q[2], 0};
    int diagonal = -1;
    for (int e = problem->row_start[k]; e < problem->row_start[k + 1]; ++e) {
        sum = addColumns(sum, problem->W + 9 * (size_t)e, r + 3 * (size_t)problem->column[e]);
        diagonal = problem->column[e] == k ? e : diagonal;
    }
    for (int i = 0; i < 3; ++i)
        u[i] = sum[i];
    return diagonal;
}

SPRAG_QUAD_WIDE static int motionWide(const spragProblem *problem, int k, const double *r, double u[3])
{
    return motionByColumns(problem, k, r, u);
}

static int motionNarrow(const spragProblem *problem, int k, const double *r, double u[3])
{
    int diagonal = -1;
    memcpy(u, problem->q + 3 * (size_t)k, 3 * sizeof *u);
    for (int e = problem->row_start[k]; e < problem->row_start[k + 1]; ++e) {
        spragMulAdd33(u, problem->W + 9 * (size_t)e, r + 3 * (size_t)problem->column[e]);
        diagonal = problem->column[e] == k ? e : diagonal;
    }
    return diagonal;
}

static int rowMotion(const spragProblem *problem, int k, const double *r, double u[3])
{
    return spragQuadIsWide() ? motionWide(problem, k, r, u) : motionNarrow(problem, k, r, u);
}

typedef struct Velocity {
    const spragProblem *problem;
    const double *r;
    double *u;
} Velocity;

static void velocities(void *data, int range, int first, int end)
{
    (void)range;
    const Velocity *v = data;
    const spragProblem *problem = v->problem;
    for (int k = first; k < end; ++k) {
        double sum[3];
        rowMotion(problem, k, v->r, sum);
        memcpy(v->u + 3 * k, sum, sizeof sum);
    }
}

void spragProblemVelocity(const spragProblem *problem, const double *r, double *u)
{
    if (spragReachesOf(problem) == NULL) {
        spragRangesRun(problem->contact_count, velocities, &(Velocity){problem, r, u});
        return;
    }
    spragReachesProduct(problem, r, u);
    for (int i = 0; i < 3 * problem->contact_count; ++i)
        u[i] += problem->q[i];
}

/* x - P(x - step), P the projection on [low, high].  Where x - step lies inside it is `step` itself, unrounded. */
static double gap(double x, double step, double low, double high)
{
    return x - step < low ? x - low : x - step > high ? x - high : step;
}

/* |r_t - P_disc(r_t - u_t / w)| w */
static double discResidual(double radius, const double r[2], const double u[2], double w)
{
    const double x[2] = {r[0] - u[0] / w, r[1] - u[1] / w};
    double y[2];
    spragDiscProject(radius, x, y);
    const double difference[2] = {r[0] - y[0], r[1] - y[1]};
    return spragNorm2(difference) * w;
}

double spragContactResidual(double mu, const double r[3], const double u[3], double w)
{
    const double x[3] = {r[0] - (u[0] + mu * spragNorm2(u + 1)) / w, r[1] - u[1] / w, r[2] - u[2] / w};
    double y[3];
    spragConeProject(mu, x, y);
    const double difference[3] = {r[0] - y[0], r[1] - y[1], r[2] - y[2]};
    return spragNorm3(difference) * w;
}

int spragStickParts(const double r[3], const double u[3], double w)
{
    return r[0] <= 0 && spragNorm2(r + 1) * w < spragNorm2(u + 1);
}

double spragStickResidual(int glued, const double r[3], const double u[3], double w)
{
    const double normal = gap(r[0], u[0] / w, 0, INFINITY) * w;
    return hypot(normal, !glued && spragStickParts(r, u, w) ? spragNorm2(r + 1) * w : spragNorm2(u + 1));
}

/* w of a diagonal block.  Where nothing moves any positive w asks the same of r and u. */
static double scaleOf(const double W[9])
{
    const double trace = W[0] + W[4] + W[8];
    return trace > 0 ? trace / 3 : 1;
}

double spragRollingResidual(double mu, double mu_minus, double load, const double r[3], const double u[3], double w)
{
    const double carried = spragMax(0, load), spin = gap(r[2], u[2] / w, -mu_minus * carried, mu_minus * carried) * w;
    return hypot(spin, discResidual(mu * carried, r, u, w));
}

/* diagonal: index of block (block, block) in W, -1 if there is none. */
static double residualOf(const spragProblem *problem, int block, int diagonal, const double *r_all, const double u[3])
{
    const double *r = r_all + 3 * block;
    if (diagonal < 0)
        return NAN;
    const double w = scaleOf(problem->W + 9 * (size_t)diagonal);
    const double mu = problem->mu[block];
    const double mu_minus = spragMuMinusOf(problem, block);
    switch (spragKindOf(problem, block)) {
    case SPRAG_BLOCK_CONTACT:
        return spragContactResidual(mu, r, u, w);
    case SPRAG_BLOCK_TWO_SIDED:
        return hypot(u[0], discResidual((r[0] > 0 ? mu : mu_minus) * fabs(r[0]), r + 1, u + 1, w));
    case SPRAG_BLOCK_FORCE_LIMIT: {
        const double normal = gap(r[0], u[0] / w, 0, INFINITY) * w;
        return hypot(normal, discResidual(mu, r + 1, u + 1, w));
    }
    case SPRAG_BLOCK_BOX: {
        if (problem->bound == NULL)
            return NAN;
        double sum = 0;
        for (int i = 0; i < 3; ++i) {
            const double *bound = problem->bound + 6 * (size_t)block;
            const double d = gap(r[i], u[i] / w, bound[i], bound[3 + i]) * w;
            sum += d * d;
        }
        return sqrt(sum);
    }
    case SPRAG_BLOCK_ROLLING:
        if (problem->parent == NULL || problem->parent[block] < 0)
            return NAN;
        return spragRollingResidual(mu, mu_minus, r_all[3 * problem->parent[block]], r, u, w);
    default:
        return NAN;
    }
}

double spragBlockResidual(const spragProblem *problem, int block, const double *r_all, const double u[3])
{
    return residualOf(problem, block, spragProblemDiagonal(problem, block), r_all, u);
}

/* ---------------------------------------------------------------- huge impulses */

/* Where friction locks a wedge, impulses grow without bound along a self-stress, W r = 0, until rounding of
 * W r and of r - u / w hides what the contacts do: at |r| = 1e14 N s the map is 0 in double, whatever u is.
 * So from SPRAG_IMPULSE_HUGE on, where that begins to count, u and the map are evaluated in long double,
 * and what may be hidden even so is added; where W is not there (reaches.h) all that double may hide. */
static int isHuge(const spragProblem *problem, int k, int diagonal, const double *r)
{
    return diagonal >= 0 && scaleOf(problem->W + 9 * (size_t)diagonal) * spragNorm3(r + 3 * k) > SPRAG_IMPULSE_HUGE;
}

/* spragContactResidual, finer. */
static double contactResidualFine(double mu, const double r[3], const spragFine u[3], double w)
{
    const spragFine shift[3] = {(u[0] + mu * spragFineNorm2(u + 1)) / w, u[1] / w, u[2] / w};
    const spragFine x[3] = {r[0] - shift[0], r[1] - shift[1], r[2] - shift[2]};
    const spragFine tangential = spragFineNorm2(x + 1), normal = (x[0] + mu * tangential) / (1 + (spragFine)mu * mu);
    if (mu * tangential <= -x[0])
        return spragNorm3(r) * w;
    if (tangential <= mu * x[0])
        return (double)(spragFineNorm3(shift) * w);
    const spragFine scale = mu * normal / tangential;
    const spragFine difference[3] = {r[0] - normal, r[1] - scale * x[1], r[2] - scale * x[2]};
    return (double)(spragFineNorm3(difference) * w);
}

/* The judge's word on block k, and its u. */
static double residualFine(const spragProblem *problem, int k, const double *r, double u[3])
{
    spragFine fine[3] = {problem->q[3 * k], problem->q[3 * k + 1], problem->q[3 * k + 2]};
    double size = 0; /* of the products whose sum is u */
    int diagonal = -1;
    for (int e = problem->row_start[k]; e < problem->row_start[k + 1]; ++e) {
        const double *W = problem->W + 9 * (size_t)e, *s = r + 3 * problem->column[e];
        for (int i = 0; i < 9; ++i) {
            fine[i / 3] += (spragFine)W[i] * s[i % 3];
            size += fabs(W[i] * s[i % 3]);
        }
        diagonal = problem->column[e] == k ? e : diagonal;
    }
    for (int i = 0; i < 3; ++i)
        u[i] = (double)fine[i];
    if (diagonal < 0)
        return NAN;
    const double w = scaleOf(problem->W + 9 * (size_t)diagonal), hidden = SPRAG_ROUNDINGS * (double)LDBL_EPSILON * size;
    const spragBlockKind kind = spragKindOf(problem, k);
    if (kind == SPRAG_BLOCK_CONTACT)
        return hidden + contactResidualFine(problem->mu[k], r + 3 * k, fine, w);
    const double in_map = kind == SPRAG_BLOCK_BOX ? 0 : DBL_EPSILON * spragNorm3(r + 3 * k) * w; /* its discs */
    return hidden + in_map + residualOf(problem, k, diagonal, r, u);
}

double spragVelocityResidual(const spragProblem *problem, const double *r, const double *u)
{
    double worst = 0;
    for (int k = 0; k < problem->contact_count; ++k) {
        const double residual = spragBlockResidual(problem, k, r, u + 3 * k);
        if (!(residual <= worst)) /* keeps a NaN */
            worst = residual;
        if (isnan(worst))
            return NAN;
    }
    return worst;
}

/* The arrays are there.  The judge is asked too often to look at every number; that is spragProblemCheck's task. */
static int isComplete(const spragProblem *p)
{
    return p != NULL && (p->contact_count == 0 ||
                         (p->row_start != NULL && p->column != NULL && p->W != NULL && p->q != NULL && p->mu != NULL));
}

typedef struct Judgement {
    const spragProblem *problem;
    const double *r;
    const double *known; /* (3 nc) W r + q, where it is not read from W; or NULL */
    double *u;           /* or NULL */
    int fine;
    double worst[SPRAG_RANGES_MOST];
    unsigned char huge[SPRAG_RANGES_MOST]; /* 1: the range has a huge impulse */
} Judgement;

/* u of block k; returns the index of its diagonal block, -1 if there is none. */
static int motionOf(const Judgement *judgement, int k, double u[3])
{
    const spragProblem *problem = judgement->problem;
    if (judgement->known != NULL) {
        memcpy(u, judgement->known + 3 * k, 3 * sizeof *u);
        return spragProblemDiagonal(problem, k);
    }
    return rowMotion(problem, k, judgement->r, u);
}

/* The worst of a range; NaN where one is. */
static void judge(void *data, int range, int first, int end)
{
    Judgement *judgement = data;
    const spragProblem *problem = judgement->problem;
    const double *r = judgement->r;
    double worst = 0;
    int huge = 0;
    for (int k = first; k < end; ++k) {
        double u[3], residual;
        if (judgement->fine) {
            residual = residualFine(problem, k, r, u);
        } else {
            const int diagonal = motionOf(judgement, k, u);
            residual = residualOf(problem, k, diagonal, r, u);
            huge |= isHuge(problem, k, diagonal, r);
        }
        if (judgement->u != NULL)
            memcpy(judgement->u + 3 * k, u, sizeof u);
        if (!(residual <= worst) && !isnan(worst))
            worst = residual;
    }
    judgement->worst[range] = worst;
    judgement->huge[range] = (unsigned char)huge;
}

/* NaN where one is. */
static double worstOf(const Judgement *judgement, int ranges)
{
    double worst = 0;
    for (int k = 0; k < ranges && !isnan(worst); ++k)
        if (!(judgement->worst[k] <= worst))
            worst = judgement->worst[k];
    return worst;
}

/* known (3 nc): W r + q, or NULL; u: to be filled, or NULL. */
static double judgeAll(const spragProblem *problem, const double *r, const double *known, double *u)
{
    Judgement judgement = {.problem = problem, .r = r, .known = known, .u = u};
    const int ranges = spragRangeCount(problem->contact_count), lean = spragProblemIsLean(problem);
    spragRangesRun(problem->contact_count, judge, &judgement);
    for (int k = 0; k < ranges; ++k)
        judgement.fine |= judgement.huge[k];
    double worst = worstOf(&judgement, ranges);
    if (judgement.fine && !lean && !isnan(worst)) { /* x87 takes a hundred times as long with NaN */
        spragRangesRun(problem->contact_count, judge, &judgement);
        worst = worstOf(&judgement, ranges);
    }
    return judgement.fine && lean ? worst + spragReachesRounding(problem, r) : worst;
}

double spragProblemJudge(const spragProblem *problem, const double *r, double *u)
{
    double *known = spragReachesOf(problem) != NULL ? spragReachesOf(problem)->u : NULL;
    if (known != NULL)
        spragProblemVelocity(problem, r, known);
    return judgeAll(problem, r, known, u);
}

double spragProblemJudgeMotion(const spragProblem *problem, const double *r, const double *u)
{
    return judgeAll(problem, r, u, NULL);
}

double spragProblemRounding(const spragProblem *problem, const double *r)
{
    double worst = 0;
    if (spragProblemIsLean(problem))
        return spragReachesRounding(problem, r);
    for (int k = 0; k < problem->contact_count; ++k) {
        double sum = 0;
        for (int e = problem->row_start[k]; e < problem->row_start[k + 1]; ++e)
            sum += spragNorm3(problem->W + 9 * (size_t)e) * spragNorm3(r + 3 * (size_t)problem->column[e]);
        worst = fmax(worst, sum);
    }
    return SPRAG_ROUNDINGS * DBL_EPSILON * worst;
}

int spragProblemIsAtRounding(const spragProblem *problem, const double *r, double residual)
{
    /* |W_kj| <= the greatest trace where W is definite; of a file it need not be, hence so many times as much. */
    static const double far = 1e3;
    const int lean = spragProblemIsLean(problem);
    double most = 0, trace = 0;
    int longest = 0;
    for (int k = 0; k < problem->contact_count && !lean; ++k) {
        const int diagonal = spragProblemDiagonal(problem, k), row = problem->row_start[k + 1] - problem->row_start[k];
        trace = fmax(trace, diagonal < 0 ? INFINITY : 3 * scaleOf(problem->W + 9 * (size_t)diagonal));
        most = fmax(most, spragNorm3(r + 3 * k));
        longest = row > longest ? row : longest;
    }
    if (longest > 0 && residual > far * SPRAG_ROUNDINGS * DBL_EPSILON * trace * most * longest)
        return 0;
    return residual <= spragProblemRounding(problem, r);
}

int spragImpulsesAreHuge(const spragProblem *problem, const double *r)
{
    for (int k = 0; k < problem->contact_count; ++k)
        if (isHuge(problem, k, spragProblemDiagonal(problem, k), r))
            return 1;
    return 0;
}

double spragProblemResidual(const spragProblem *problem, const double *r)
{
    SPRAG_FLOATS;
    return isComplete(problem) && (r != NULL || problem->contact_count == 0) ? spragProblemJudge(problem, r, NULL)
                                                                             : (double)NAN;
}

int spragProblemIsPlain(const spragProblem *problem)
{
    for (int k = 0; k < problem->contact_count; ++k)
        if (spragKindOf(problem, k) != SPRAG_BLOCK_CONTACT)
            return 0;
    return 1;
}

int spragProblemIsGlued(const spragProblem *problem)
{
    for (int k = 0; k < problem->contact_count; ++k)
        if (spragKindOf(problem, k) != SPRAG_BLOCK_BOX)
            return 0;
    return 1;
}
