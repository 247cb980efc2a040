/* Newton in the unknowns that the modes of a guess leave free.
 *
 * At the point x = r - u / w, w = trace(W_kk) / 3, a block's law reads as a mode
 * (solve/newton/proximal.h), and a mode as equations:
 *
 *     stick     u = 0                        dr = any                              3 unknowns
 *     slip      u_n = 0,  d' . u_t = 0       dr = a (1, mu d) + b (0, d')          2, d = x_t / |x_t|, d' across it
 *     a row inside its bounds   u_i = 0      dr_i                                  1
 *     slip at a force limit     as slip, but dr = a (1, 0) + b (0, d'), or only b, d' where it parts
 *     open, or at a bound                                                          0, r is known
 *
 * Rolling friction is a disc (two rows) and a line (spin) whose bounds grow with a contact's r_n, so where they act the
 * unknown dr_n has their share of its column: dr = dr_n (mu d, +-mu_n) in the rows of the block.
 *
 * With R the rows of the equations and C the columns of the unknowns, a step solves
 *     (R (W + lambda w) C + S) (a, b) = -R u,
 * S = w (|x_t| - radius) / radius on the unknowns b, radius = mu x_n or the limit: a slipping contact turns the harder
 * the faster it is.  lambda makes hyperstatic contacts regular: the forces change as little as possible.
 *
 * Nothing here searches.  The answer is given only if the judge likes it and, where contacts slide, their normal
 * motions G (small_friction.h) do not run away.  G is what elimination of the held rows leaves of the rows u_n of
 * the slipping contacts, so the unknowns are ordered held, normal, across. */
#include "solve/search/warm.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/quad.h"
#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/newton/proximal.h"
#include "solve/search/small_friction.h"

/* A run that at STEPS_LOST is at LOST times its first residual ends: of 1289 such ones, of robots on wheels and legs,
 * 1236 ended in vain. */
enum { BLOCKS = SPRAG_WARM_ALL, STEPS = 14, STEPS_LOST = 3, STEPS_ASTRAY = 5 };
#define LOST 100
/* Where contacts hardly move. */
#define LAMBDA_SLOW 1e-10
/* From a guess within tolerance, whose rest self-stress may answer that moves next to nothing: with SPRAG_LAMBDA_WARM a
 * box that leaned on another went from 5e-10 m/s to 1e-4 in each step, and to the search.  (39 bins of 4 to 16 boxes
 * that come to rest: 0.77 of the steps of all methods, geometric mean; with 1e-3 and 1e-5 0.81.) */
#define LAMBDA_SOLVED 1e-4
/* Of rolling friction, whose moments no motion tells where a body touches at two places: with SPRAG_LAMBDA_WARM a
 * residual of 1e-9 m/s changed them by a hundredth, and the modes with them. */
#define LAMBDA_ROLLING 1e-5
#define STALLED 1e-2 /* above it a mode is wrong, if only by a little */

typedef enum Mode { OPEN, STICK, SLIP, FRICTIONLESS, BOUNDED } Mode;

typedef struct Warm {
    const spragProblem *problem;
    int rolling; /* blocks of rolling friction */
    double usual, lambda;
    double w[BLOCKS];
    double gain[BLOCKS]; /* mu where friction grows with the load, 0 at a force limit, and of rolling friction */
    Mode mode[BLOCKS];
    int rolls[BLOCKS];           /* a ROLLING block, whose local rows are spin, roll, roll */
    double share[BLOCKS][3];     /* of it: dr / dr_n of its contact, local rows */
    int parted[BLOCKS];          /* of a force limit: r_n = 0, whatever its friction does; spin at its bound */
    int inside[BLOCKS];          /* BOUNDED: bit i, row i is within its bounds */
    double direction[BLOCKS][2]; /* d of a slipping contact */
    double turning[BLOCKS];      /* S */
    int at[BLOCKS][3];           /* place of the block's unknowns, -1 none; SLIP: a, b */
    int held, slipping, count;   /* unknowns: held, a of slips that have a gain, all */
    int turns;                   /* unknowns b */
    int stride;                  /* count in whole quads */
    int regular;                 /* 0: a pivot is nothing */
    double *M;                   /* (count x stride), aligned, in the end U */
    double *L;                   /* (count x count), by columns: below the diagonal */
    double *G;                   /* (slipping x slipping) */
    double *x;                   /* (count) */
} Warm;

/* Row of a block that is its local row i: of a disc behind a line, and of a line behind a disc. */
static int rowOf(const Warm *s, int k, int i)
{
    return s->rolls[k] ? (i + 2) % 3 : i;
}

/* Not of the stack, of which a thread may have less than these 150 kB. */
static int takeRoom(Warm *s, int blocks, spragArena *arena)
{
    const size_t m = (size_t)blocks, n = 3 * m, matrix = n * n, padded = matrix + n * (SPRAG_QUAD - 1), slopes = m * m;
    s->M = SPRAG_TAKE_RAW(arena, double, padded);
    s->L = SPRAG_TAKE_RAW(arena, double, matrix);
    s->G = SPRAG_TAKE_RAW(arena, double, slopes);
    s->x = SPRAG_TAKE_RAW(arena, double, n);
    return s->M != NULL && s->L != NULL && s->G != NULL && s->x != NULL;
}

static int begin(Warm *s, const spragProblem *p, spragArena *arena)
{
    s->rolling = 0;
    s->problem = p;
    for (int k = 0; k < p->contact_count; ++k) {
        const spragBlockKind kind = spragKindOf(p, k);
        const int diagonal = spragProblemDiagonal(p, k);
        s->rolls[k] = kind == SPRAG_BLOCK_ROLLING;
        s->rolling += s->rolls[k];
        if (diagonal < 0 || kind == SPRAG_BLOCK_TWO_SIDED || k - s->rolling >= SPRAG_WARM_BLOCKS)
            return 0;
        s->gain[k] = kind == SPRAG_BLOCK_CONTACT ? p->mu[k] : 0;
        s->parted[k] = 0;
        const double *W = p->W + 9 * (size_t)diagonal;
        s->w[k] = (W[0] + W[4] + W[8]) / 3;
        if (!(s->w[k] > 0))
            return 0;
    }
    return takeRoom(s, p->contact_count, arena);
}

/* ---------------------------------------------------------------- modes */

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Stick or slip of x_t against a disc; once the residual is within tolerance a contact keeps to what it did as long as
 * x_t is within a band (m/s) about the edge: that far is rounding. */
static Mode readDisc(Warm *s, int k, double band, double radius, const double x[3], double r[3])
{
    const double w = s->w[k], size = spragNorm2(x + 1);
    const double keep = band == 0 || s->mode[k] < STICK || s->mode[k] > SLIP ? 0 : s->mode[k] == STICK ? band : -band;
    if (w * (size - radius) <= keep)
        return STICK;
    for (int i = 0; i < 2; ++i) {
        s->direction[k][i] = x[1 + i] / size;
        r[1 + i] = radius * s->direction[k][i];
    }
    s->turning[k] = w * fmax(size - radius, 0) / radius;
    return SLIP;
}

/* Mode at x = r - u / w; r goes to what the mode says of it. */
static Mode readContact(Warm *s, int k, double band, double r[3], const double u[3])
{
    const double w = s->w[k], mu = s->problem->mu[k];
    const double x[3] = {r[0] - u[0] / w, r[1] - u[1] / w, r[2] - u[2] / w};
    const int limited = spragKindOf(s->problem, k) == SPRAG_BLOCK_FORCE_LIMIT;
    s->parted[k] = limited && x[0] <= 0;
    if (x[0] <= 0 && !limited) {
        r[0] = r[1] = r[2] = 0;
        return OPEN;
    }
    if (s->parted[k])
        r[0] = 0;
    if (mu == 0) {
        r[1] = r[2] = 0;
        return FRICTIONLESS;
    }
    return readDisc(s, k, band, limited ? mu : mu * x[0], x, r);
}

static Mode readBounds(Warm *s, int k, double r[3], const double u[3])
{
    const double *lo = s->problem->bound + 6 * (size_t)k, *hi = lo + 3;
    s->inside[k] = 0;
    for (int i = 0; i < 3; ++i) {
        const double x = r[i] - u[i] / s->w[k];
        if (x >= lo[i] && x <= hi[i] && lo[i] < hi[i])
            s->inside[k] |= 1 << i;
        else
            r[i] = clamp(x, lo[i], hi[i]);
    }
    return BOUNDED;
}

/* The same of rolling friction, whose bounds r_n of its contact tells. */
static Mode readRolling(Warm *s, int k, double band, double *r, const double *u)
{
    const spragProblem *p = s->problem;
    const double w = s->w[k], load = fmax(0, r[3 * p->parent[k]]), limit = spragMuMinusOf(p, k) * load;
    const double keep = band == 0 ? 0 : s->mode[k] != OPEN && !s->parted[k] ? band : -band;
    double x[3], local[3];
    memset(s->share[k], 0, sizeof s->share[k]);
    for (int i = 0; i < 3; ++i) {
        local[i] = r[3 * k + rowOf(s, k, i)];
        x[i] = local[i] - u[3 * k + rowOf(s, k, i)] / w;
    }
    Mode mode = FRICTIONLESS;
    s->parted[k] = !(w * (fabs(x[0]) - limit) <= keep) || limit == 0;
    if (s->parted[k]) {
        s->share[k][0] = copysign(spragMuMinusOf(p, k), x[0]);
        local[0] = copysign(limit, x[0]);
    }
    if (load == 0 || p->mu[k] == 0)
        local[1] = local[2] = 0;
    else
        mode = readDisc(s, k, band, p->mu[k] * load, x, local);
    for (int i = 0; i < 2 && mode == SLIP; ++i)
        s->share[k][1 + i] = p->mu[k] * s->direction[k][i];
    for (int i = 0; i < 3; ++i)
        r[3 * k + rowOf(s, k, i)] = local[i];
    return load > 0 ? mode : OPEN;
}

/* 1: some r had to follow its mode, u is no longer W r + q. */
static int readModes(Warm *s, double band, double *r, const double *u)
{
    int moved = 0;
    for (int rolling = 0; rolling < 2; ++rolling) /* which goes by its contact's r */
        for (int k = 0; k < s->problem->contact_count; ++k) {
            if (s->rolls[k] != rolling)
                continue;
            double *const rk = r + 3 * k, before[3] = {rk[0], rk[1], rk[2]};
            s->mode[k] = rolling                                         ? readRolling(s, k, band, r, u)
                         : spragKindOf(s->problem, k) == SPRAG_BLOCK_BOX ? readBounds(s, k, rk, u + 3 * k)
                                                                         : readContact(s, k, band, rk, u + 3 * k);
            moved |= rk[0] != before[0] || rk[1] != before[1] || rk[2] != before[2];
        }
    return moved;
}

/* Places of the unknowns: held first, then a, then b of the slipping contacts. */
static void placeUnknowns(Warm *s)
{
    const int n = s->problem->contact_count;
    s->held = s->slipping = s->turns = 0;
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < 3; ++i) {
            const int slips = s->mode[k] == SLIP, coupled = slips && s->gain[k] > 0;
            const int has_load = s->mode[k] == FRICTIONLESS || (slips && !coupled);
            const int is_held = ((s->mode[k] == STICK || (has_load && i == 0)) && (i > 0 || !s->parted[k])) ||
                                (s->mode[k] == BOUNDED && (s->inside[k] >> i & 1));
            s->at[k][i] = is_held ? s->held++ : -1;
            s->slipping += coupled && i == 0;
            s->turns += slips && i == 0;
        }
    int a = s->held, b = s->held + s->slipping;
    for (int k = 0; k < n; ++k)
        if (s->mode[k] == SLIP) {
            s->at[k][0] = s->gain[k] > 0 ? a++ : s->at[k][0];
            s->at[k][1] = b++;
        }
    s->count = b;
    s->stride = (b + SPRAG_QUAD - 1) / SPRAG_QUAD * SPRAG_QUAD;
}

/* ---------------------------------------------------------------- equations */

/* W of two blocks in their local rows. */
static void localBlock(const Warm *s, int k, int l, const double W[9], double out[9])
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            out[3 * i + j] = W[3 * rowOf(s, k, i) + rowOf(s, l, j)];
}

/* R W C of two blocks; row and column i of a block are the unit vectors but for those of a slipping contact. */
static void coupleModes(Warm *s, int k, int l, const double given[9])
{
    const int slips_k = s->mode[k] == SLIP, slips_l = s->mode[l] == SLIP;
    const double *d = s->direction[k], *e = s->direction[l], mu = s->gain[l], *W = given;
    double WC[9], RWC[9], local[9];
    if (s->rolls[k] || s->rolls[l]) {
        localBlock(s, k, l, given, local);
        W = local;
    }
    if (slips_l) {
        for (int i = 0; i < 3; ++i) {
            WC[3 * i] = W[3 * i] + mu * (W[3 * i + 1] * e[0] + W[3 * i + 2] * e[1]);
            WC[3 * i + 1] = W[3 * i + 2] * e[0] - W[3 * i + 1] * e[1];
            WC[3 * i + 2] = 0;
        }
        W = WC;
    }
    if (slips_k) {
        for (int j = 0; j < 3; ++j) {
            RWC[j] = W[j];
            RWC[3 + j] = W[6 + j] * d[0] - W[3 + j] * d[1];
            RWC[6 + j] = 0;
        }
        W = RWC;
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (s->at[k][i] >= 0 && s->at[l][j] >= 0)
                s->M[s->at[k][i] * s->stride + s->at[l][j]] = W[3 * i + j];
}

/* What block l of rolling friction adds to the column of its contact's load, in the rows of block k. */
static void coupleShare(Warm *s, int k, int l, const double given[9])
{
    const int load = s->at[s->problem->parent[l]][0];
    const double *d = s->direction[k], *share = s->share[l];
    double W[9], v[3];
    localBlock(s, k, l, given, W);
    for (int i = 0; i < 3; ++i)
        v[i] = spragDot3(W + 3 * i, share);
    if (s->mode[k] == SLIP)
        v[1] = v[2] * d[0] - v[1] * d[1];
    for (int i = 0; i < 3; ++i)
        if (s->at[k][i] >= 0)
            s->M[s->at[k][i] * s->stride + load] += v[i];
}

/* 1: its moments grow with an unknown load. */
static int isShared(const Warm *s, int l)
{
    return s->rolls[l] && s->mode[l] != OPEN && s->at[s->problem->parent[l]][0] >= 0 &&
           (s->share[l][0] != 0 || s->share[l][1] != 0 || s->share[l][2] != 0);
}

static void makeEquations(Warm *s)
{
    const spragProblem *p = s->problem;
    memset(s->M, 0, (size_t)(s->count * s->stride) * sizeof *s->M);
    for (int k = 0; k < p->contact_count; ++k) {
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
            coupleModes(s, k, p->column[e], p->W + 9 * (size_t)e);
        for (int i = 0; i < 3; ++i)
            if (s->at[k][i] >= 0)
                s->M[s->at[k][i] * (s->stride + 1)] += s->lambda * s->w[k];
        if (s->mode[k] == SLIP)
            s->M[s->at[k][1] * (s->stride + 1)] += s->turning[k];
    }
    for (int k = 0; k < p->contact_count && s->rolling > 0; ++k)
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
            if (isShared(s, p->column[e]))
                coupleShare(s, k, p->column[e], p->W + 9 * (size_t)e);
}

/* M = L U without pivoting; G on the way.  Rows go by whole quads: what that leaves below the diagonal nobody reads. */
SPRAG_QUAD_INLINE void eliminateRows(Warm *s)
{
    const int n = s->count, quads = s->stride / SPRAG_QUAD;
    spragQuad *const M = (spragQuad *)(void *)s->M;
    double *const L = s->L;
    s->regular = 0;
    for (int k = 0; k < n; ++k) {
        if (k == s->held)
            for (int i = 0; i < s->slipping; ++i)
                memcpy(s->G + i * s->slipping, s->M + (k + i) * s->stride + k, (size_t)s->slipping * sizeof *s->G);
        const double pivot = s->M[k * (s->stride + 1)];
        if (!(fabs(pivot) > 0))
            return;
        const double inverse = 1 / pivot;
        for (int i = k + 1; i < n; ++i) {
            const double factor = L[n * k + i] = s->M[i * s->stride + k] * inverse;
            for (int q = k / SPRAG_QUAD; q < quads; ++q)
                M[i * quads + q] -= factor * M[k * quads + q];
        }
    }
    s->regular = 1;
}

SPRAG_QUAD_CLONES(eliminate, eliminateRows, Warm)

/* x := M^-1 x, by columns: the terms of a column are independent of each other. */
static void substitute(const Warm *s, double *x)
{
    const int n = s->count;
    for (int j = 0; j < n; ++j)
        for (int i = j + 1; i < n; ++i)
            x[i] -= s->L[n * j + i] * x[j];
    for (int j = n - 1; j >= 0; --j) {
        x[j] /= s->M[j * (s->stride + 1)];
        for (int i = 0; i < j; ++i)
            x[i] -= s->M[i * s->stride + j] * x[j];
    }
}

static double stepOf(const Warm *s, int k, int i)
{
    return s->at[k][i] >= 0 ? s->x[s->at[k][i]] : 0;
}

/* r_k += C_k x */
static void addStep(const Warm *s, int k, double *r)
{
    const double *d = s->direction[k], a = stepOf(s, k, 0);
    double dr[3] = {a, stepOf(s, k, 1), stepOf(s, k, 2)};
    if (s->mode[k] == SLIP) {
        const double b = dr[1];
        dr[1] = s->gain[k] * a * d[0] - b * d[1];
        dr[2] = s->gain[k] * a * d[1] + b * d[0];
    }
    if (s->rolls[k] && isShared(s, k))
        for (int i = 0; i < 3; ++i)
            dr[i] += s->share[k][i] * stepOf(s, s->problem->parent[k], 0);
    for (int i = 0; i < 3; ++i)
        r[3 * k + rowOf(s, k, i)] += dr[i];
}

static void takeStep(Warm *s, double *r, const double *u)
{
    const int n = s->problem->contact_count;
    for (int k = 0; k < n; ++k) {
        const double *uk = u + 3 * k, *d = s->direction[k],
                     local[3] = {uk[rowOf(s, k, 0)], uk[rowOf(s, k, 1)], uk[rowOf(s, k, 2)]};
        const int slips = s->mode[k] == SLIP;
        for (int i = 0; i < 3; ++i)
            if (s->at[k][i] >= 0)
                s->x[s->at[k][i]] = slips && i == 1 ? local[1] * d[1] - local[2] * d[0] : -local[i];
    }
    substitute(s, s->x);
    for (int k = 0; k < n; ++k)
        addStep(s, k, r);
}

/* ---------------------------------------------------------------- the answer */

/* By factors of the usual lambda at most: with a greater one rows that barely hold yield, and G is that of others. */
static int isRealisable(Warm *s)
{
    double w[SPRAG_WARM_BLOCKS];
    int m = 0;
    for (int k = 0; k < s->problem->contact_count; ++k)
        if (s->mode[k] == SLIP && s->gain[k] > 0)
            w[m++] = s->w[k];
    if (m > 0 && s->lambda > s->usual) {
        s->lambda = s->usual;
        makeEquations(s);
        eliminate(s);
    }
    return m == 0 || (s->regular && spragSlopesAreStable(m, w, s->G));
}

/* Reads the modes and factors their equations.  exact (m/s): the guess is the answer if r as its modes have it leaves
 * no more; 0: it is none.  0: nothing to solve, r is the answer; -1: singular, or not realisable. */
static int linearise(Warm *s, double band, int softer, double exact, double *r, double *u, spragSolveInfo *info)
{
    if (band > 0 && s->turns == 0 && !softer)
        return 1; /* the factors at hand are exact */
    const int moved = readModes(s, band, r, u);
    placeUnknowns(s);
    if (moved)
        spragProblemVelocity(s->problem, r, u);
    if (moved && exact > 0)
        info->residual = spragVelocityResidual(s->problem, r, u);
    const int answers = exact > 0 && info->residual <= exact;
    if (answers && s->turns == 0)
        return 0;
    s->lambda = answers ? s->usual : s->lambda;
    makeEquations(s);
    eliminate(s);
    if (answers)
        return isRealisable(s) ? 0 : -1;
    return s->regular ? 1 : -1;
}

/* Newton until the residual is within tolerance, then with the modes it has to rounding. */
static int iterate(Warm *s, double tolerance, double deadline, double *r, double *u, spragSolveInfo *info)
{
    double before = INFINITY, first = INFINITY;
    const int rolls = s->rolling > 0;
    s->usual = rolls ? LAMBDA_ROLLING : SPRAG_LAMBDA_WARM;
    spragProblemVelocity(s->problem, r, u);
    for (int step = 0; step <= STEPS; ++step) {
        info->residual = spragVelocityResidual(s->problem, r, u);
        const double enough = SPRAG_EXACT * tolerance;
        const int exact = info->residual <= enough, solved = step > 0 && info->residual <= tolerance;
        const int slow = solved && !(info->residual < 0.5 * before);
        if (exact && solved) /* the factors are those of these modes */
            return isRealisable(s);
        const int near = rolls && info->residual <= STALLED * tolerance;
        if (slow && (s->lambda < s->usual || near)) /* at rounding, or at what the modes allow */
            return info->residual <= STALLED * tolerance && isRealisable(s);
        if (slow)
            s->lambda = LAMBDA_SLOW;
        if (step == 0) {
            first = info->residual;
            s->lambda = first <= tolerance ? LAMBDA_SOLVED : s->usual;
        }
        const int lost = (step == STEPS_LOST && !(info->residual < LOST * first)) ||
                         (step == STEPS_ASTRAY && !(info->residual < first));
        if (lost && !solved)
            return 0;
        if (spragIsLate(deadline))
            return 0;
        const int left = linearise(s, solved ? tolerance : 0, slow, exact ? enough : 0, r, u, info);
        if (left <= 0)
            return left == 0;
        before = info->residual;
        takeStep(s, r, u);
        spragProblemVelocity(s->problem, r, u);
        ++info->iterations;
    }
    return 0;
}

int spragWarmSolve(const spragProblem *problem, double tolerance, double deadline, spragArena *arena, double *r,
                   double *u, spragSolveInfo *info)
{
    Warm s;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const int found = problem->contact_count <= SPRAG_WARM_ALL && begin(&s, problem, arena) &&
                      iterate(&s, tolerance, deadline, r, u, info);
    spragArenaRelease(arena, mark);
    if (found && spragImpulsesAreHuge(problem, r))
        info->residual = spragProblemJudge(problem, r, u);
    return found && info->residual <= STALLED * tolerance;
}
