/* All solutions of a contact state at acceleration level, w = A r + b.
 *
 * Every contact takes one of these:
 *
 *     open    r = 0,                        w_n >= 0          one-sided
 *     slide   r = N (i, -mu e),             w_n = 0           e = slip / |slip|
 *     hold    |r_t| <= mu_static i r_n,     w = 0             at rest
 *     start   r = N (i, -mu e), w_t = s e,  w_n = 0, s > 0    at rest, e unknown
 *
 * N >= 0 and i = +1; two-sided contacts also i = -1 (the variant index, theory/digest.md 5).  All combinations are tried.
 *
 * Without starts the unknowns enter linearly.  If the system is rank-deficient (statically indeterminate) its solutions
 * form a family, of which one point inside the cones is returned.
 *
 * With starts, the unknowns of the others are eliminated: w = A' R + b' over the s starting contacts.  For directions e
 * the normal rows M(e) N = -b_n' give N = adj(M) (-b_n') / det M; column j of M depends on e_j only.  Then
 *
 *     f_k = det M (e_k_perp . w_t,k) = 0,     g_k = det M (e_k . w_t,k)
 *
 * are polynomials in the cosines and sines, of degree two in theta_k and one in the others; all zeros with N >= 0 and
 * g_k / det M > 0 are found by subdivision with bounds (analysis/torus.c).  Where the bodies leave the starting contacts
 * one motion only (a planar one: w_t is a multiple of one vector d), the directions are +-d and all is linear.
 *
 * Stability (theory/policy.md 3.1, 3.4).  G = d w_n / d r_n over the loaded contacts, directions fixed and held points
 * held: normal_stable iff det G > 0 (the same as det D det D0 > 0), small_friction iff all principal minors are positive.
 * A starting slip turns with psi_k' = (e_k_perp . w_t,k) / |v_k|: direction_stable iff that linearisation is Hurwitz.
 */
#include <math.h>
#include <string.h>

#include "analysis/affine.h"
#include "analysis/torus.h"
#include "base/alloc.h"
#include "base/status.h"
#include "linalg/lu.h"
#include "linalg/vec3.h"
#include "solve/policy.h"

enum { CONTACTS = SPRAG_PARADOX_CONTACT_MAX, ROWS = 3 * CONTACTS };

/* An acceleration below this part of the terms it is the sum of is zero. */
#define ZERO 1e-10

typedef enum Role { OPEN, HOLD, SLIDE, START } Role;

typedef struct Enumeration {
    const spragContactState *state;
    int nc, n; /* n = 3 nc */
    double a_size, b_size;
    unsigned char dead[ROWS]; /* a row of zeros: no body moves along it */
    Role role[CONTACTS];
    int sign[CONTACTS]; /* i */
    double e[CONTACTS][2];
    int multiplicity, direction_stable;
    TorusSystem *torus;
    TorusZeros *zeros;
    spragSolutionSet *set;
    int out_of_memory;
} Enumeration;

/* ---------------------------------------------------------------- linear systems of a combination */

/* The unknowns of a combination: column j is the force pattern of unknown x_j, row i an acceleration that vanishes. */
typedef struct Unknowns {
    int columns, rows;
    double pattern[AFFINE_MAX][ROWS];
    int row[AFFINE_MAX];
    int normal[CONTACTS], tangent[CONTACTS][2]; /* index of the unknown, -1: none */
} Unknowns;

static int addColumn(Unknowns *u, int row, double value)
{
    u->pattern[u->columns][row] = value;
    return u->columns++;
}

/* Of the contacts in the given roles (bit mask); with a direction, START is a slide. */
static void collect(const Enumeration *en, unsigned roles, Unknowns *u)
{
    memset(u, 0, sizeof *u);
    for (int k = 0; k < en->nc; ++k) {
        u->normal[k] = u->tangent[k][0] = u->tangent[k][1] = -1;
        const Role role = en->role[k];
        if (!(roles >> role & 1) || role == OPEN)
            continue;
        u->row[u->rows++] = 3 * k;
        u->normal[k] = addColumn(u, 3 * k, role == HOLD ? 1 : en->sign[k]);
        for (int t = 0; t < 2; ++t) {
            const int row = 3 * k + 1 + t;
            if (role != HOLD) {
                u->pattern[u->normal[k]][row] = -en->state->mu[k] * en->e[k][t];
            } else if (!en->dead[row]) {
                u->row[u->rows++] = row;
                u->tangent[k][t] = addColumn(u, row, 1);
            }
        }
    }
}

static double acceleration(const Enumeration *en, int row, const double *r)
{
    double sum = 0;
    for (int j = 0; j < en->n; ++j)
        sum += en->state->A[en->n * row + j] * r[j];
    return sum;
}

static void systemOf(const Enumeration *en, const Unknowns *u, double *K)
{
    for (int i = 0; i < u->rows; ++i)
        for (int j = 0; j < u->columns; ++j)
            K[u->columns * i + j] = acceleration(en, u->row[i], u->pattern[j]);
}

/* What N >= 0 and the held cones ask of the unknowns. */
static int cones(const Enumeration *en, const Unknowns *u, AffineCone *cone)
{
    int count = 0;
    for (int k = 0; k < en->nc; ++k) {
        if (en->role[k] == OPEN)
            continue;
        const int sign = en->role[k] == HOLD ? en->sign[k] : 1; /* of a slide the pattern has the sign */
        cone[count++] = (AffineCone){u->normal[k], -1, -1, sign, 1};
        if (en->role[k] == HOLD)
            cone[count++] =
                (AffineCone){u->normal[k], u->tangent[k][0], u->tangent[k][1], sign, en->state->mu_static[k]};
    }
    return count;
}

/* ---------------------------------------------------------------- stability */

/* det of the rows and columns of G (n x n) in the mask, scale-free: columns divided by their norm; 0 below ZERO. */
static double minor(int n, const double *G, unsigned mask)
{
    double A[CONTACTS * CONTACTS], det = 1;
    int index[CONTACTS], pivot[CONTACTS], m = 0;
    for (int k = 0; k < n; ++k)
        if (mask >> k & 1)
            index[m++] = k;
    for (int j = 0; j < m; ++j) {
        double norm = 0;
        for (int i = 0; i < m; ++i)
            norm = fmax(norm, fabs(G[n * index[i] + index[j]]));
        for (int i = 0; i < m; ++i)
            A[m * i + j] = norm > 0 ? G[n * index[i] + index[j]] / norm : 0;
    }
    if (spragLuFactor(m, A, pivot, ZERO) < m)
        return 0;
    for (int k = 0; k < m; ++k)
        det *= A[m * k + k] * (pivot[k] == k ? 1 : -1);
    return det;
}

/* G (m x m) = d w_n / d r_n of the loaded contacts; returns m. */
static int normalOperator(const Enumeration *en, double *G)
{
    Unknowns all, held = {0};
    collect(en, 1u << HOLD | 1u << SLIDE | 1u << START, &all);
    int loaded[CONTACTS], m = 0;
    for (int k = 0; k < en->nc; ++k) {
        if (all.normal[k] >= 0)
            loaded[m++] = k;
        for (int t = 0; t < 2; ++t)
            if (all.tangent[k][t] >= 0) {
                held.row[held.rows++] = 3 * k + 1 + t;
                addColumn(&held, 3 * k + 1 + t, 1);
            }
    }
    double K[AFFINE_MAX * AFFINE_MAX];
    systemOf(en, &held, K);
    for (int j = 0; j < m; ++j) {
        const int k = loaded[j];
        double force[ROWS], c[AFFINE_MAX];
        for (int i = 0; i < en->n; ++i)
            force[i] = all.pattern[all.normal[k]][i] * (en->role[k] == HOLD ? 1 : en->sign[k]);
        for (int i = 0; i < held.rows; ++i)
            c[i] = -acceleration(en, held.row[i], force);
        AffineSet follow;
        affineSolve(held.rows, held.columns, K, c, INFINITY, &follow);
        for (int i = 0; i < held.columns; ++i)
            force[held.row[i]] += follow.point[i];
        for (int i = 0; i < m; ++i)
            G[m * i + j] = acceleration(en, 3 * loaded[i], force);
    }
    return m;
}

static void judgeNormal(const Enumeration *en, spragParadoxSolution *s)
{
    double G[CONTACTS * CONTACTS];
    const int m = normalOperator(en, G);
    int slips = 0;
    for (int k = 0; k < en->nc; ++k)
        slips |= en->role[k] == SLIDE || en->role[k] == START;
    s->normal_stable = s->small_friction = 1;
    if (m == 0)
        return;
    s->slope = m == 1 ? G[0] : minor(m, G, (1u << m) - 1);
    if (!slips)
        return; /* G is a Schur complement of A, positive semidefinite: redundant supports included */
    for (unsigned mask = 1; mask < 1u << m; ++mask) {
        const double value = minor(m, G, mask);
        const int positive = value > 0 || (s->family && value == 0);
        s->small_friction &= positive;
        if (mask == (1u << m) - 1)
            s->normal_stable = positive;
    }
}

/* All eigenvalues of J (n x n) in the left half plane, n <= 3: Routh and Hurwitz. */
static int isHurwitz(int n, const double *J)
{
    if (n == 1)
        return J[0] < 0;
    if (n == 2)
        return J[0] + J[3] < 0 && J[0] * J[3] - J[1] * J[2] > 0;
    const double trace = J[0] + J[4] + J[8];
    const double minors = J[0] * J[4] - J[1] * J[3] + J[0] * J[8] - J[2] * J[6] + J[4] * J[8] - J[5] * J[7];
    const double det =
        J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) + J[2] * (J[3] * J[7] - J[4] * J[6]);
    return trace < 0 && det < 0 && -trace * minors > -det;
}

/* ---------------------------------------------------------------- solutions */

static int known(const Enumeration *en, const spragParadoxSolution *s)
{
    for (int k = 0; k < en->set->count; ++k) {
        const spragParadoxSolution *other = &en->set->solution[k];
        double r = 0, w = 0, r_size = 0, w_size = 0;
        for (int i = 0; i < en->n; ++i) {
            r = fmax(r, fabs(s->r[i] - other->r[i])), r_size = fmax(r_size, fabs(s->r[i]));
            w = fmax(w, fabs(s->w[i] - other->w[i])), w_size = fmax(w_size, fabs(s->w[i]));
        }
        /* a family in several pieces (internal forces of either sign) is one motion, and counts once */
        const int same_family = s->family && other->family && memcmp(s->mode, other->mode, sizeof s->mode) == 0;
        if ((same_family || r <= 1e-9 * r_size) && w <= 1e-9 * w_size + ZERO * en->b_size)
            return 1;
    }
    return 0;
}

static void append(Enumeration *en, const spragParadoxSolution *s)
{
    size_t capacity = (size_t)en->set->capacity;
    void *array = en->set->solution;
    if (known(en, s))
        return;
    if (!spragGrow(&array, &capacity, (size_t)en->set->count + 1, sizeof *s)) {
        en->out_of_memory = 1;
        return;
    }
    en->set->solution = array;
    en->set->capacity = (int)capacity;
    en->set->solution[en->set->count++] = *s;
}

/* w = A r + b, and what is asked of it.  Accelerations that vanish by construction are set to 0. */
static int accelerationsAgree(const Enumeration *en, spragParadoxSolution *s)
{
    for (int k = 0; k < en->nc; ++k) {
        double size[3];
        for (int i = 0; i < 3; ++i) {
            const int row = 3 * k + i;
            size[i] = fabs(en->state->b[row]);
            for (int j = 0; j < en->n; ++j)
                size[i] += fabs(en->state->A[en->n * row + j] * s->r[j]);
            s->w[row] = acceleration(en, row, s->r) + en->state->b[row];
        }
        double *w = s->w + 3 * k;
        const double tangential = ZERO * fmax(size[1], size[2]), along = w[1] * en->e[k][0] + w[2] * en->e[k][1];
        switch (en->role[k]) {
        case OPEN:
            if (w[0] < -ZERO * size[0])
                return 0;
            w[0] = fmax(w[0], 0);
            break;
        case HOLD:
            if (spragNorm2(w + 1) > 10 * tangential)
                return 0;
            w[0] = w[1] = w[2] = 0;
            break;
        case START:
            /* without friction the direction is whatever the acceleration is */
            if (en->state->mu[k] == 0 ? spragNorm2(w + 1) <= tangential : along <= tangential)
                return 0;
            if (en->state->mu[k] > 0 && fabs(w[1] * en->e[k][1] - w[2] * en->e[k][0]) > 1e-7 * along + tangential)
                return 0;
            w[0] = 0;
            break;
        default:
            w[0] = 0;
        }
    }
    return 1;
}

/* The combination with all directions known. */
static void solveLinear(Enumeration *en)
{
    static const unsigned char mode[] = {SPRAG_MODE_OPEN, SPRAG_MODE_STICK, SPRAG_MODE_SLIP, SPRAG_MODE_SLIP};
    Unknowns u;
    AffineCone cone[2 * CONTACTS];
    AffineSet affine;
    double K[AFFINE_MAX * AFFINE_MAX], c[AFFINE_MAX], x[AFFINE_MAX];
    const double force = en->a_size > 0 ? en->b_size / en->a_size : 0;
    collect(en, 1u << HOLD | 1u << SLIDE | 1u << START, &u);
    systemOf(en, &u, K);
    for (int i = 0; i < u.rows; ++i)
        c[i] = -en->state->b[u.row[i]];
    affineSolve(u.rows, u.columns, K, c, en->b_size, &affine);
    if (!affine.consistent || !affineFeasible(&affine, cones(en, &u, cone), cone, force, x))
        return;
    spragParadoxSolution s = {
        .multiplicity = en->multiplicity, .family = affine.nulls > 0, .direction_stable = en->direction_stable};
    for (int j = 0; j < u.columns; ++j)
        for (int i = 0; i < en->n; ++i)
            s.r[i] += u.pattern[j][i] * x[j];
    for (int k = 0; k < en->nc; ++k) {
        s.mode[k] = mode[en->role[k]];
        s.variant[k] = (signed char)((s.r[3 * k] > 0) - (s.r[3 * k] < 0));
    }
    if (!accelerationsAgree(en, &s))
        return;
    judgeNormal(en, &s);
    append(en, &s);
}

/* ---------------------------------------------------------------- starting slips */

/* The contacts that start, alone: w = A R + b over their 3 s rows. */
typedef struct Reduced {
    int s, contact[CONTACTS];
    double A[ROWS * ROWS], b[ROWS]; /* stride 3 s */
} Reduced;

/* 1: fine, 0: no solution, -1: the others are indeterminate in a way that matters here. */
static int eliminateOthers(const Enumeration *en, Reduced *red)
{
    Unknowns others;
    double K[AFFINE_MAX * AFFINE_MAX];
    collect(en, 1u << HOLD | 1u << SLIDE, &others);
    systemOf(en, &others, K);
    red->s = 0;
    for (int k = 0; k < en->nc; ++k)
        if (en->role[k] == START)
            red->contact[red->s++] = k;
    const int n = 3 * red->s;
    for (int j = 0; j <= n; ++j) { /* a unit force at each row; the last column is b alone */
        double force[ROWS] = {0}, c[AFFINE_MAX], w[ROWS];
        if (j < n)
            force[3 * red->contact[j / 3] + j % 3] = 1;
        for (int i = 0; i < others.rows; ++i)
            c[i] = -(j < n ? acceleration(en, others.row[i], force) : en->state->b[others.row[i]]);
        AffineSet follow;
        affineSolve(others.rows, others.columns, K, c, j < n ? en->a_size : en->b_size, &follow);
        if (!follow.consistent)
            return j < n ? -1 : 0;
        for (int i = 0; i < others.columns; ++i)
            for (int row = 0; row < en->n; ++row)
                force[row] += others.pattern[i][row] * follow.point[i];
        for (int i = 0; i < n; ++i) {
            const int row = 3 * red->contact[i / 3] + i % 3;
            w[i] = acceleration(en, row, force) + (j < n ? 0 : en->state->b[row]);
            *(j < n ? &red->A[n * i + j] : &red->b[i]) = w[i];
        }
    }
    return 1;
}

/* Tangential accelerations that are possible with w_n = 0 lie in the span of the columns of [A'' b'']; 1 and the unit
 * vector d (2 s) if that is one line, 0 if it is a point, 2 otherwise; -1: the normal forces are indeterminate. */
static int motionsLeft(const Enumeration *en, const Reduced *red, double *d)
{
    const int s = red->s, n = 3 * s;
    double Ann[CONTACTS * CONTACTS], column[2 * CONTACTS + 1][2 * CONTACTS], best = 0;
    int widest = 0, nulls = 0;
    for (int i = 0; i < s; ++i)
        for (int j = 0; j < s; ++j)
            Ann[s * i + j] = red->A[n * 3 * i + 3 * j];
    for (int j = 0; j <= 2 * s; ++j) {
        const int from = j < 2 * s ? 3 * (j / 2) + 1 + j % 2 : -1;
        const double size = from >= 0 ? en->a_size : en->b_size;
        double c[CONTACTS], length = 0;
        for (int i = 0; i < s; ++i)
            c[i] = -(from >= 0 ? red->A[n * 3 * i + from] : red->b[3 * i]);
        AffineSet normal;
        affineSolve(s, s, Ann, c, size, &normal);
        nulls = normal.nulls;
        if (!normal.consistent)
            return -1;
        for (int i = 0; i < 2 * s; ++i) {
            const int row = 3 * (i / 2) + 1 + i % 2;
            double w = from >= 0 ? red->A[n * row + from] : red->b[row];
            for (int k = 0; k < s; ++k)
                w += red->A[n * row + 3 * k] * normal.point[k];
            column[j][i] = size > 0 ? w / size : 0;
            length += column[j][i] * column[j][i];
        }
        if (length > best)
            best = length, widest = j;
    }
    if (sqrt(best) <= ZERO)
        return 0;
    for (int i = 0; i < 2 * s; ++i)
        d[i] = column[widest][i] / sqrt(best);
    for (int j = 0; j <= 2 * s; ++j) {
        double along = 0;
        for (int i = 0; i < 2 * s; ++i)
            along += column[j][i] * d[i];
        for (int i = 0; i < 2 * s; ++i)
            if (fabs(column[j][i] - along * d[i]) > ZERO)
                return nulls > 0 ? -1 : 2;
    }
    return 1;
}

/* det M, adj(M)(-b_n), f and g at the directions e. */
static void polynomials(const Enumeration *en, const Reduced *red, double e[CONTACTS][2], double *det, double *adj,
                        double *f, double *g)
{
    const int s = red->s, n = 3 * s;
    double M[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, right[3] = {0};
    double pattern[CONTACTS][3];
    for (int j = 0; j < s; ++j) {
        const double mu = en->state->mu[red->contact[j]];
        memcpy(pattern[j], (double[3]){en->sign[red->contact[j]], -mu * e[j][0], -mu * e[j][1]}, sizeof pattern[j]);
        for (int i = 0; i < s; ++i)
            M[j][i] = spragDot3(red->A + n * 3 * i + 3 * j, pattern[j]); /* M[j] is column j */
        right[j] = -red->b[3 * j];
    }
    double c12[3], c20[3], c01[3], rc[3];
    spragCross3(c12, M[1], M[2]), spragCross3(c20, M[2], M[0]), spragCross3(c01, M[0], M[1]);
    *det = spragDot3(M[0], c12);
    memcpy(rc, (double[3]){spragDot3(right, c12), spragDot3(right, c20), spragDot3(right, c01)}, sizeof rc);
    for (int k = 0; k < s; ++k) {
        double w[2];
        adj[k] = rc[k];
        for (int t = 0; t < 2; ++t) {
            const int row = 3 * k + 1 + t;
            w[t] = red->b[row] * *det;
            for (int j = 0; j < s; ++j)
                w[t] += spragDot3(red->A + n * row + 3 * j, pattern[j]) * rc[j];
        }
        f[k] = -e[k][1] * w[0] + e[k][0] * w[1];
        g[k] = e[k][0] * w[0] + e[k][1] * w[1];
    }
}

/* The system on the torus: f, and as side conditions det, N_k, s_k. */
static void interpolate(const Enumeration *en, const Reduced *red, TorusSystem *system)
{
    const int s = red->s;
    static const double fifth = 6.283185307179586477 / TORUS_SIDE;
    double value[3 * CONTACTS + 1][TORUS_SIZE];
    for (int at = 0; at < TORUS_SIZE; ++at) {
        const int index[3] = {at / 25, at / 5 % 5, at % 5};
        double e[CONTACTS][2], det, adj[CONTACTS], f[CONTACTS], g[CONTACTS];
        for (int k = 0; k < s; ++k)
            e[k][0] = cos(fifth * index[k]), e[k][1] = sin(fifth * index[k]);
        polynomials(en, red, e, &det, adj, f, g);
        value[0][at] = det;
        for (int k = 0; k < s; ++k)
            value[1 + k][at] = adj[k], value[1 + s + k][at] = g[k], value[1 + 2 * s + k][at] = f[k];
    }
    system->angles = s;
    system->sign_count = 1 + 2 * s;
    for (int k = 0; k < 1 + 2 * s; ++k)
        torusInterpolate(&system->sign[k], value[k]);
    for (int k = 0; k < s; ++k)
        torusInterpolate(&system->f[k], value[1 + 2 * s + k]);
    double forces = 0;
    for (int k = 0; k < s; ++k)
        forces += system->sign[1 + k].size;
    system->least[0] = 0;
    for (int k = 0; k < s; ++k) { /* N = 0 belongs to it; s = 0, up to rounding, does not: there the contact holds */
        system->least[1 + k] = -1e-12 * en->b_size * pow(en->a_size, s - 1);
        system->least[1 + s + k] = 1e-12 * (en->b_size * system->sign[0].size + en->a_size * forces);
    }
}

/* d psi_k' / d psi_j, each row divided by the growing speed: f_k,j / g_k, as det cancels. */
static int directionsAttract(const TorusSystem *system, const TorusZero *zero)
{
    const int s = system->angles;
    double J[CONTACTS * CONTACTS];
    for (int k = 0; k < s; ++k) {
        double gradient[TORUS_DIMENSION];
        const double g = torusValue(&system->sign[1 + s + k], zero->angle, NULL);
        torusValue(&system->f[k], zero->angle, gradient);
        for (int j = 0; j < s; ++j)
            J[s * k + j] = gradient[j] / g;
    }
    return isHurwitz(s, J);
}

static void solveStarts(Enumeration *en)
{
    Reduced red;
    double d[2 * CONTACTS];
    const int reduced = eliminateOthers(en, &red);
    const int motions = reduced > 0 ? motionsLeft(en, &red, d) : reduced;
    if (motions < 0)
        en->set->incomplete = 1;
    for (int sign = 1; sign >= -1 && motions == 1; sign -= 2) {
        int moves = 1;
        for (int k = 0; k < red.s; ++k) {
            const double length = spragNorm2(d + 2 * k);
            moves &= length > 1e-9;
            for (int t = 0; t < 2; ++t)
                en->e[red.contact[k]][t] = length > 0 ? sign * d[2 * k + t] / length : 0;
        }
        if (moves)
            solveLinear(en);
    }
    if (motions < 2)
        return;
    interpolate(en, &red, en->torus);
    torusSolve(en->torus, en->zeros);
    en->set->incomplete |= en->zeros->incomplete;
    for (int z = 0; z < en->zeros->count; ++z) {
        const TorusZero *zero = &en->zeros->zero[z];
        for (int k = 0; k < red.s; ++k)
            en->e[red.contact[k]][0] = cos(zero->angle[k]), en->e[red.contact[k]][1] = sin(zero->angle[k]);
        en->multiplicity = zero->multiplicity;
        en->direction_stable = directionsAttract(en->torus, zero);
        solveLinear(en);
    }
    en->multiplicity = en->direction_stable = 1;
}

/* ---------------------------------------------------------------- enumeration */

static void solveCombination(Enumeration *en)
{
    int starts = 0;
    for (int k = 0; k < en->nc; ++k)
        starts += en->role[k] == START && en->state->mu[k] > 0;
    if (starts == 0) {
        solveLinear(en);
        return;
    }
    /* a start without friction has no direction to find: its force is that of a slide */
    Role kept[CONTACTS];
    memcpy(kept, en->role, sizeof kept);
    for (int k = 0; k < en->nc; ++k)
        if (en->role[k] == START && en->state->mu[k] == 0)
            en->role[k] = SLIDE;
    solveStarts(en);
    memcpy(en->role, kept, sizeof kept);
}

static void combine(Enumeration *en, int k)
{
    if (k == en->nc || k >= CONTACTS) {
        solveCombination(en);
        return;
    }
    const double *slip = en->state->slip + 2 * k, speed = spragNorm2(slip);
    const int sliding = speed > SPRAG_SLIP_TOLERANCE;
    const int two_sided = en->state->two_sided != NULL && en->state->two_sided[k];
    if (!two_sided) {
        en->role[k] = OPEN;
        combine(en, k + 1);
    }
    for (int sign = 1; sign >= (two_sided ? -1 : 1); sign -= 2)
        for (Role role = sliding ? SLIDE : HOLD; role <= START; role = role == HOLD ? START : START + 1) {
            en->role[k] = role;
            en->sign[k] = sign;
            for (int t = 0; t < 2; ++t)
                en->e[k][t] = role == SLIDE ? slip[t] / speed : 0;
            combine(en, k + 1);
            if (role == SLIDE)
                break;
        }
}

static spragStatus check(const spragContactState *state, const spragSolutionSet *out)
{
    if (state == NULL || out == NULL || state->A == NULL || state->b == NULL || state->slip == NULL ||
        state->mu == NULL || state->mu_static == NULL)
        return spragFail(SPRAG_ERROR_NULL, "state, its A, b, slip, mu, mu_static, or out is NULL");
    if (state->contact_count < 1 || state->contact_count > CONTACTS)
        return spragFail(SPRAG_ERROR_RANGE, "contact_count = %d, expected 1 to %d", state->contact_count, CONTACTS);
    const int n = 3 * state->contact_count;
    double largest = 0;
    for (int i = 0; i < n * n; ++i)
        largest = fmax(largest, fabs(state->A[i]));
    for (int i = 0; i < n; ++i) {
        if (!isfinite(state->b[i]) || !isfinite(state->slip[2 * (i / 3) + i % 2]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "b[%d] or slip of contact %d is not finite", i, i / 3);
        for (int j = 0; j < n; ++j) {
            const double a = state->A[n * i + j];
            if (!isfinite(a))
                return spragFail(SPRAG_ERROR_NOT_FINITE, "A[%d][%d] is not finite", i, j);
            if (fabs(a - state->A[n * j + i]) > 1e-9 * largest)
                return spragFail(SPRAG_ERROR_NOT_SYMMETRIC, "A[%d][%d] = %g, A[%d][%d] = %g", i, j, a, j, i,
                                 state->A[n * j + i]);
        }
        if (state->A[n * i + i] < 0 || (i % 3 == 0 && state->A[n * i + i] == 0))
            return spragFail(SPRAG_ERROR_INDEFINITE, "A[%d][%d] = %g", i, i, state->A[n * i + i]);
    }
    for (int k = 0; k < state->contact_count; ++k)
        if (!(state->mu[k] >= 0 && state->mu_static[k] >= state->mu[k] && isfinite(state->mu_static[k])))
            return spragFail(SPRAG_ERROR_RANGE, "contact %d: mu = %g, mu_static = %g, expected 0 <= mu <= mu_static", k,
                             state->mu[k], state->mu_static[k]);
    return SPRAG_OK;
}

/* For fresh contacts: open before hold before slip (policy 3.2 d, 3.4); separatrices never. */
static void classify(int nc, spragSolutionSet *set)
{
    int realisable = 0, taken = -1, best = -1;
    for (int k = 0; k < set->count; ++k) {
        const spragParadoxSolution *s = &set->solution[k];
        int score = s->direction_stable;
        if (!s->small_friction)
            continue;
        realisable += s->direction_stable;
        for (int c = 0; c < nc; ++c)
            score += s->mode[c] == SPRAG_MODE_OPEN ? 64 : s->mode[c] == SPRAG_MODE_STICK ? 8 : 0;
        if (score > best)
            best = score, taken = k;
    }
    if (taken >= 0)
        set->solution[taken].taken = 1;
    set->inconsistent = set->count == 0;
    set->indeterminate = set->count > 1;
    set->paradox_class = set->count == 0 ? 1 : realisable == 0 ? 2 : realisable > 1 ? 4 : set->count > 1 ? 3 : 0;
}

spragStatus spragParadoxEnumerate(const spragContactState *state, spragSolutionSet *out)
{
    spragDetailClear();
    const spragStatus status = check(state, out);
    if (status != SPRAG_OK)
        return status;
    spragSolutionSet set = {0};
    Enumeration en = {.state = state,
                      .nc = state->contact_count,
                      .n = 3 * state->contact_count,
                      .set = &set,
                      .multiplicity = 1,
                      .direction_stable = 1};
    for (int i = 0; i < en.n; ++i) {
        en.dead[i] = state->b[i] == 0;
        en.b_size = fmax(en.b_size, fabs(state->b[i]));
        for (int j = 0; j < en.n; ++j) {
            en.a_size = fmax(en.a_size, fabs(state->A[en.n * i + j]));
            en.dead[i] &= state->A[en.n * i + j] == 0 && state->A[en.n * j + i] == 0;
        }
    }
    en.torus = spragAlloc(1, sizeof *en.torus);
    en.zeros = spragAlloc(1, sizeof *en.zeros);
    en.out_of_memory = en.torus == NULL || en.zeros == NULL;
    if (!en.out_of_memory)
        combine(&en, 0);
    spragFree(en.torus);
    spragFree(en.zeros);
    if (en.out_of_memory) {
        spragSolutionSetFree(&set);
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the solutions");
    }
    classify(en.nc, &set);
    *out = set;
    return SPRAG_OK;
}

void spragSolutionSetFree(spragSolutionSet *set)
{
    if (set == NULL)
        return;
    spragFree(set->solution);
    *set = (spragSolutionSet){0};
}
