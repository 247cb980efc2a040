/* Lexicographic Lemke on the problem with polyhedral cones, then polished to the round ones.
 *
 * Replace the disc of block k by a polygon with FACETS directions d_j (the first along -u_t), r_t = sum_j beta_j d_j
 * (Stewart and Trinkle 1996; Anitescu and Potra 1997):
 *
 *     0 <= r_n     _|_  u_n >= 0
 *     0 <= beta_j  _|_  d_j . u_t + lambda >= 0
 *     0 <= lambda  _|_  mu r_n - sum_j beta_j >= 0
 *
 * a linear complementarity problem  0 <= z _|_ w = M z + b >= 0.  Bounds lo <= r <= hi are r = c + a_+ - a_-, each part
 * with a lambda for its bound; a constant limit (FORCE_LIMIT) or the parent's load (ROLLING) takes the place of mu r_n.
 * A two-sided contact is a pair of antipodal points, r_n = a_+ - a_-, with the limit mu a_+ + mu_minus a_-.
 *
 * Whatever the kinds, r the sum of the parts,  z' M z = r' W r + e |parts|^2 + sum lambda load >= 0,  e > 0 (SOFTNESS):
 * M is copositive.  Where it is 0 the parts are, so M z >= 0 leaves only multipliers, and b' z = sum lambda bound >= 0.
 * Then Lemke's method with the covering vector 1 ends in a solution (Cottle, Pang, Stone 1992, 4.4), ties broken by the
 * lexicographic rule.  e also keeps a_+ a_- = 0: both points of a pair in the basis would say e (a_+ + a_-) = 0.
 *
 * The answer is off by e and the corners of the polygon; Newton (proximal.h) takes it to the cone.  Where that fails,
 * once more with the polygons turned to the slip just found.  A ray comes of rounding: another e leads around it. */
#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/newton/proximal.h"
#include "solve/solver.h"

enum { FACETS = 8, SIZE_MAX_LCP = 3000, TURNS = 3, POLISH_STEPS = 60, PIVOTS_PER_ROW = 20 };
#define SOFTNESS 1e-8 /* e: hyperstatic contacts tie everywhere; the polish takes it away */
#define SOFTER 10     /* after a ray */
#define LAMBDA_POLISH 1e-4
#define Z0_LEAST 1e-12    /* relative to its first value: hyperstatic ties keep z_0 = 0 in the basis */
#define Z0_AT_RAY 1e-8    /* a ray that comes of rounding: close enough for the polish */
#define ENTRY_PRICE 0.25  /* 3x3 products a pivot, or a step of the polish, for each entry of M */
#define PIVOT_LEAST 1e-10 /* relative to the column's largest entry */

/* One complementary pair: an impulse `part` along d in block `block`, or (block < 0) a multiplier. */
typedef struct Part {
    int block;
    double d[3];
    int multiplier;     /* its lambda, or -1 */
    int load;           /* multiplier: block whose r_n feeds it, or -1 */
    double gain, minus; /* for r_n > 0, for r_n < 0 */
    double bound;       /* multiplier: slack = gain max(0, r_n) + minus max(0, -r_n) + bound - sum of its parts */
} Part;

typedef struct Lcp {
    const spragProblem *problem;
    int n;
    Part *part;      /* (n) */
    double *base;    /* (3 nc) c of r = c + parts */
    double *W_base;  /* (3 nc) q + W c */
    double scale;    /* parts are multiplied by it: velocities then, like the multipliers */
    double softness; /* e */
    double *tableau; /* (n x columns): w, z, z_0, right side */
    int *basic;      /* (n) column of each row */
} Lcp;

/* ---------------------------------------------------------------- building */

static int addMultiplier(Lcp *lcp, Part limit)
{
    limit.block = limit.multiplier = -1;
    lcp->part[lcp->n] = limit;
    return lcp->n++;
}

static void addPart(Lcp *lcp, int block, int row, double x, double y, int multiplier)
{
    Part *part = &lcp->part[lcp->n++];
    *part = (Part){.block = block, .multiplier = multiplier, .load = -1};
    part->d[row] = x;
    if (row < 2)
        part->d[row + 1] = y;
}

/* Rows a, a + 1 in a polygon, its first corner against the slip. */
static void addDisc(Lcp *lcp, int k, int a, const double slip[2], Part limit)
{
    const int multiplier = addMultiplier(lcp, limit);
    const double angle = atan2(-slip[1], -slip[0]);
    for (int j = 0; j < FACETS; ++j) {
        const double x = angle + 2 * M_PI * j / FACETS;
        addPart(lcp, k, a, cos(x), sin(x), multiplier);
    }
}

/* lo <= r_row <= hi */
static void addInterval(Lcp *lcp, int k, int row, double lo, double hi)
{
    const double c = fmin(fmax(0, lo), hi);
    lcp->base[3 * k + row] = c;
    const int up = isinf(hi) ? -1 : addMultiplier(lcp, (Part){.load = -1, .bound = hi - c});
    addPart(lcp, k, row, 1, 0, up);
    const int down = isinf(lo) ? -1 : addMultiplier(lcp, (Part){.load = -1, .bound = c - lo});
    addPart(lcp, k, row, -1, 0, down);
}

static void addBlock(Lcp *lcp, int k, const double *u)
{
    const spragProblem *p = lcp->problem;
    const double mu = p->mu[k], mu_minus = spragMuMinusOf(p, k);
    switch (spragKindOf(p, k)) {
    case SPRAG_BLOCK_TWO_SIDED:
        addPart(lcp, k, 0, 1, 0, -1);
        addPart(lcp, k, 0, -1, 0, -1);
        addDisc(lcp, k, 1, u + 1, (Part){.load = k, .gain = mu, .minus = mu_minus});
        break;
    case SPRAG_BLOCK_FORCE_LIMIT:
        addPart(lcp, k, 0, 1, 0, -1);
        addDisc(lcp, k, 1, u + 1, (Part){.load = -1, .bound = mu});
        break;
    case SPRAG_BLOCK_BOX:
        for (int a = 0; a < 3; ++a)
            addInterval(lcp, k, a, p->bound[6 * k + a], p->bound[6 * k + 3 + a]);
        break;
    case SPRAG_BLOCK_ROLLING:
        addDisc(lcp, k, 0, u, (Part){.load = p->parent[k], .gain = mu});
        for (int side = 1; side >= -1; side -= 2)
            addPart(lcp, k, 2, side, 0, addMultiplier(lcp, (Part){.load = p->parent[k], .gain = mu_minus}));
        break;
    default:
        addPart(lcp, k, 0, 1, 0, -1);
        if (mu > 0)
            addDisc(lcp, k, 1, u + 1, (Part){.load = k, .gain = mu});
    }
}

/* What r_n of the block that feeds it adds to a multiplier's slack. */
static double loadOf(const Part *multiplier, double r_n)
{
    return r_n > 0 ? multiplier->gain * r_n : -multiplier->minus * r_n;
}

/* Entry (i, j) of M, in scaled variables. */
static double entry(const Lcp *lcp, int i, int j)
{
    const Part *a = &lcp->part[i], *b = &lcp->part[j];
    if (a->block < 0) /* slack of a multiplier */
        return b->block < 0 ? 0 : (b->block == a->load ? loadOf(a, b->d[0]) : 0) - (b->multiplier == i);
    if (b->block < 0)
        return a->multiplier == j ? 1 : 0;
    const int coupling = spragProblemBlock(lcp->problem, a->block, b->block);
    double Wd[3];
    if (coupling < 0)
        return 0;
    spragMul33(Wd, lcp->problem->W + 9 * (size_t)coupling, b->d);
    return spragDot3(a->d, Wd) / lcp->scale + (i == j ? lcp->softness : 0);
}

static double rightSide(const Lcp *lcp, int i)
{
    const Part *a = &lcp->part[i];
    if (a->block >= 0)
        return spragDot3(a->d, lcp->W_base + 3 * a->block);
    return lcp->scale * (a->bound + (a->load >= 0 ? loadOf(a, lcp->base[3 * a->load]) : 0));
}

/* w - M z - 1 z_0 = b */
static void buildTableau(Lcp *lcp)
{
    const int n = lcp->n;
    const size_t columns = 2 * (size_t)n + 2;
    spragProblemVelocity(lcp->problem, lcp->base, lcp->W_base);
    for (int i = 0; i < n; ++i) {
        double *row = lcp->tableau + (size_t)i * columns;
        memset(row, 0, columns * sizeof *row);
        row[i] = 1;
        for (int j = 0; j < n; ++j)
            row[n + j] = -entry(lcp, i, j);
        row[2 * n] = -1;
        row[2 * n + 1] = rightSide(lcp, i);
        lcp->basic[i] = i;
    }
}

/* ---------------------------------------------------------------- pivoting */

static void pivot(Lcp *lcp, int row, int column)
{
    const size_t columns = 2 * (size_t)lcp->n + 2;
    double *P = lcp->tableau + (size_t)row * columns;
    const double inverse = 1 / P[column];
    for (size_t j = 0; j < columns; ++j)
        P[j] *= inverse;
    P[column] = 1;
    for (int i = 0; i < lcp->n; ++i) {
        double *R = lcp->tableau + (size_t)i * columns;
        const double factor = R[column];
        if (i == row || factor == 0)
            continue;
        for (size_t j = 0; j < columns; ++j)
            R[j] -= factor * P[j];
        R[column] = 0;
    }
    lcp->basic[row] = column;
}

/* -1, 0, +1: row i / x_i against row j / x_j, the right side first, then the columns of w. */
static int compareRows(const Lcp *lcp, int i, double x_i, int j, double x_j)
{
    const int n = lcp->n;
    const size_t columns = 2 * (size_t)n + 2;
    const double *a = lcp->tableau + (size_t)i * columns, *b = lcp->tableau + (size_t)j * columns;
    for (int c = -1; c < n; ++c) {
        const int column = c < 0 ? 2 * n + 1 : c;
        const double left = a[column] / x_i, right = b[column] / x_j;
        if (fabs(left - right) > 1e-13 * (fabs(left) + fabs(right)))
            return left < right ? -1 : 1;
    }
    return 0;
}

/* The row that leaves for `column`: lexicographically least ratio.  -1: a ray. */
static int leavingRow(const Lcp *lcp, int column)
{
    const size_t columns = 2 * (size_t)lcp->n + 2;
    double largest = 0;
    for (int i = 0; i < lcp->n; ++i)
        largest = fmax(largest, fabs(lcp->tableau[(size_t)i * columns + (size_t)column]));
    int best = -1;
    for (int i = 0; i < lcp->n; ++i) {
        const double x = lcp->tableau[(size_t)i * columns + (size_t)column];
        if (x <= PIVOT_LEAST * largest)
            continue;
        if (best < 0 || compareRows(lcp, i, x, best, lcp->tableau[(size_t)best * columns + (size_t)column]) < 0)
            best = i;
    }
    return best;
}

/* 1: solved, 0: a ray, -1: a limit. */
static int pivots(Lcp *lcp, const spragStop *stop, int *iterations)
{
    const int n = lcp->n, artificial = 2 * n, limit = stop->limit > 0 ? stop->limit : PIVOTS_PER_ROW * n;
    const size_t columns = 2 * (size_t)n + 2;
    int row = -1;
    for (int i = 0; i < n; ++i) { /* lexicographic: of equal right sides the last e_i is the least */
        const double b = lcp->tableau[(size_t)i * columns + columns - 1];
        if (b < 0 && (row < 0 || b <= lcp->tableau[(size_t)row * columns + columns - 1]))
            row = i;
    }
    if (row < 0)
        return 1;
    const double first = fabs(lcp->tableau[(size_t)row * columns + columns - 1]);
    int entering = artificial, artificial_row = row;
    for (int count = 0; count < limit; ++count) {
        if (spragIsLate(stop->deadline))
            return -1;
        const int leaving = lcp->basic[row];
        pivot(lcp, row, entering);
        ++*iterations;
        if (leaving == artificial || lcp->tableau[(size_t)artificial_row * columns + columns - 1] <= Z0_LEAST * first)
            return 1;
        entering = leaving < n ? leaving + n : leaving - n; /* the complement */
        row = leavingRow(lcp, entering);
        if (row < 0)
            return lcp->tableau[(size_t)artificial_row * columns + columns - 1] <= Z0_AT_RAY * first;
    }
    return -1;
}

/* ---------------------------------------------------------------- the method */

static int lcpCreate(Lcp *lcp, const spragProblem *problem, spragArena *arena)
{
    const size_t nc = (size_t)problem->contact_count;
    double trace = 0;
    for (int k = 0; k < problem->contact_count; ++k) {
        const double *W = problem->W + 9 * (size_t)spragProblemDiagonal(problem, k);
        trace += W[0] + W[4] + W[8];
    }
    *lcp = (Lcp){.problem = problem,
                 .softness = SOFTNESS,
                 .scale = trace > 0 ? trace / (3 * (double)nc) : 1,
                 .part = SPRAG_TAKE(arena, Part, nc * (FACETS + 5)),
                 .base = SPRAG_TAKE(arena, double, 3 * nc),
                 .W_base = SPRAG_TAKE(arena, double, 3 * nc)};
    return lcp->part != NULL && lcp->base != NULL && lcp->W_base != NULL;
}

/* Polygons along the slip u; the LCP's answer to r.  1: solved, 0: ray, -1: limit, -2: out of memory. */
static int solvePolygonal(Lcp *lcp, const spragStop *stop, spragArena *arena, const double *u, double *r,
                          int *iterations)
{
    const spragProblem *p = lcp->problem;
    lcp->n = 0;
    memset(lcp->base, 0, 3 * (size_t)p->contact_count * sizeof(double));
    for (int k = 0; k < p->contact_count; ++k)
        addBlock(lcp, k, u + 3 * k);
    const size_t n = (size_t)lcp->n;
    lcp->tableau = SPRAG_TAKE(arena, double, n *(2 * n + 2));
    lcp->basic = SPRAG_TAKE(arena, int, n);
    if (lcp->tableau == NULL || lcp->basic == NULL)
        return -2;
    buildTableau(lcp);
    const int outcome = pivots(lcp, stop, iterations);
    if (outcome != 1)
        return outcome;
    memcpy(r, lcp->base, 3 * (size_t)p->contact_count * sizeof *r);
    for (int i = 0; i < lcp->n; ++i) {
        const int part = lcp->basic[i] - lcp->n;
        if (part < 0 || part >= lcp->n || lcp->part[part].block < 0)
            continue;
        const double size = fmax(0, lcp->tableau[(size_t)i * (2 * n + 2) + 2 * n + 1]) / lcp->scale;
        for (int a = 0; a < 3; ++a)
            r[3 * lcp->part[part].block + a] += size * lcp->part[part].d[a];
    }
    return 1;
}

static spragStatus solve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                         spragSolveInfo *info)
{
    if (problem->contact_count > SIZE_MAX_LCP / (FACETS + 2))
        return SPRAG_NOT_CONVERGED; /* a dense tableau of gigabytes is no fallback */
    const spragStop stop = spragStopOf(options, 0), last = {stop.tolerance, stop.deadline, POLISH_STEPS};
    const size_t n = 3 * (size_t)problem->contact_count;
    const int before = info->iterations;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    Lcp lcp;
    spragProximal newton;
    double *u = SPRAG_TAKE(arena, double, n), *trial = SPRAG_TAKE(arena, double, n);
    spragStatus status = SPRAG_NOT_CONVERGED;
    if (u == NULL || trial == NULL || !lcpCreate(&lcp, problem, arena) || !spragProximalInit(&newton, problem, arena)) {
        spragArenaRelease(arena, mark);
        return SPRAG_ERROR_MEMORY;
    }
    memcpy(trial, r, n * sizeof *r);
    spragProximalReset(&newton, r);
    for (int turn = 0; turn < TURNS && status == SPRAG_NOT_CONVERGED; ++turn) {
        const spragArenaMark built = spragArenaMarkGet(arena);
        spragProblemVelocity(problem, trial, u);
        const int outcome = solvePolygonal(&lcp, &stop, arena, u, trial, &info->iterations);
        spragArenaRelease(arena, built);
        if (outcome == -2)
            status = SPRAG_ERROR_MEMORY;
        else if (outcome == -1)
            status = SPRAG_LIMIT;
        else if (outcome == 0)
            lcp.softness *= SOFTER;
        else
            status = spragProximalPoints(&newton, LAMBDA_POLISH, &last, trial, &info->iterations);
    }
    if (status != SPRAG_ERROR_MEMORY) {
        memcpy(r, newton.best, n * sizeof *r);
        if (status == SPRAG_OK)
            spragProximalPolish(&newton, options->tolerance, newton.best_residual, r, &info->iterations);
    }
    info->work +=
        (info->iterations - before) * (ENTRY_PRICE * lcp.n * lcp.n + spragStepOverhead(problem->contact_count));
    spragArenaRelease(arena, mark);
    return status;
}

const spragSolver spragSolverLemke = {.kind = SPRAG_SOLVER_LEMKE, .solve = solve};
