/* With starts, the unknowns of the others are eliminated: w = A' R + b' over the s starting contacts.  For directions e
 * the normal rows M(e) N = -b_n' give N = adj(M) (-b_n') / det M; column j of M depends on e_j only.  Then
 *
 *     f_k = det M (e_k_perp . w_t,k) = 0,     g_k = det M (e_k . w_t,k)
 *
 * are polynomials in the cosines and sines, of degree two in theta_k and one in the others; all zeros with N >= 0 and
 * g_k / det M > 0 are found by subdivision with bounds (analysis/torus.c).  Where det M and adj(M) b_n' vanish
 * together, on curves if s = 3, the f_k vanish for no reason of mechanics; there the linear programs of the contacts
 * themselves exclude boxes (analysis/program.c).  Where the bodies leave the starting contacts one motion only (a
 * planar one: w_t is a multiple of one vector d), the directions are +-d and all is linear.
 *
 * A starting slip turns with psi_k' = (e_k_perp . w_t,k) / |v_k|:
 * direction_stable iff that linearisation is Hurwitz. */
#include "analysis/starts.h"

#include <math.h>
#include <string.h>

#include "analysis/program.h"
#include "linalg/lu.h"
#include "linalg/vec3.h"

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
    spragCombinationCollect(en, 1u << HOLD | 1u << SLIDE, &others);
    spragCombinationSystem(en, &others, K);
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
            c[i] = -(j < n ? spragCombinationAcceleration(en, others.row[i], force) : en->state->b[others.row[i]]);
        AffineSet follow;
        spragAffineSolve(others.rows, others.columns, K, c, j < n ? en->a_size : en->b_size, &follow);
        if (!follow.consistent)
            return j < n ? -1 : 0;
        for (int i = 0; i < others.columns; ++i)
            for (int row = 0; row < en->n; ++row)
                force[row] += others.pattern[i][row] * follow.point[i];
        for (int i = 0; i < n; ++i) {
            const int row = 3 * red->contact[i / 3] + i % 3;
            w[i] = spragCombinationAcceleration(en, row, force) + (j < n ? 0 : en->state->b[row]);
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
        spragAffineSolve(s, s, Ann, c, size, &normal);
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
    if (sqrt(best) <= COMBINATION_ZERO)
        return 0;
    for (int i = 0; i < 2 * s; ++i)
        d[i] = column[widest][i] / sqrt(best);
    for (int j = 0; j <= 2 * s; ++j) {
        double along = 0;
        for (int i = 0; i < 2 * s; ++i)
            along += column[j][i] * d[i];
        for (int i = 0; i < 2 * s; ++i)
            if (fabs(column[j][i] - along * d[i]) > COMBINATION_ZERO)
                return nulls > 0 ? -1 : 2;
    }
    return 1;
}

/* The polynomials at certain directions. */
typedef struct Values {
    double det, adj[CONTACTS]; /* det M, adj(M)(-b_n) */
    double f[CONTACTS], g[CONTACTS];
} Values;

static Values valuesAt(const Enumeration *en, const Reduced *red, double e[CONTACTS][2])
{
    Values at = {0};
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
    at.det = spragDot3(M[0], c12);
    memcpy(rc, (double[3]){spragDot3(right, c12), spragDot3(right, c20), spragDot3(right, c01)}, sizeof rc);
    for (int k = 0; k < s; ++k) {
        double w[2];
        at.adj[k] = rc[k];
        for (int t = 0; t < 2; ++t) {
            const int row = 3 * k + 1 + t;
            w[t] = red->b[row] * at.det;
            for (int j = 0; j < s; ++j)
                w[t] += spragDot3(red->A + n * row + 3 * j, pattern[j]) * rc[j];
        }
        at.f[k] = -e[k][1] * w[0] + e[k][0] * w[1];
        at.g[k] = e[k][0] * w[0] + e[k][1] * w[1];
    }
    return at;
}

/* The system on the torus: f, and as side conditions det, N_k, s_k. */
static void interpolate(const Enumeration *en, const Reduced *red, TorusSystem *system)
{
    const int s = red->s;
    const double fifth = 2 * M_PI / TORUS_SIDE;
    double value[3 * CONTACTS + 1][TORUS_SIZE];
    for (int at = 0; at < TORUS_SIZE; ++at) {
        const int index[3] = {at / 25, at / 5 % 5, at % 5};
        double e[CONTACTS][2];
        for (int k = 0; k < s; ++k)
            e[k][0] = cos(fifth * index[k]), e[k][1] = sin(fifth * index[k]);
        const Values values = valuesAt(en, red, e);
        value[0][at] = values.det;
        for (int k = 0; k < s; ++k) {
            value[1 + k][at] = values.adj[k];
            value[1 + s + k][at] = values.g[k];
            value[1 + 2 * s + k][at] = values.f[k];
        }
    }
    system->angles = s;
    system->sign_count = 1 + 2 * s;
    for (int k = 0; k < 1 + 2 * s; ++k)
        spragTorusInterpolate(&system->sign[k], value[k]);
    for (int k = 0; k < s; ++k)
        spragTorusInterpolate(&system->f[k], value[1 + 2 * s + k]);
    double forces = 0;
    for (int k = 0; k < s; ++k)
        forces += system->sign[1 + k].size;
    system->least[0] = 0;
    for (int k = 0; k < s; ++k) { /* N = 0 belongs to it; s = 0, up to rounding, does not: there the contact holds */
        system->least[1 + k] = -1e-12 * en->b_size * pow(en->a_size, s - 1);
        system->least[1 + s + k] = 1e-15 * (en->b_size * system->sign[0].size + en->a_size * forces);
    }
}

/* Newton's steps with f from the contacts themselves: the coefficients of the polynomials are larger than their values
 * near a fold or where the slips begin from nothing. */
static void polish(const Enumeration *en, const Reduced *red, TorusZero *zero)
{
    const int s = red->s;
    double best = INFINITY, kept[TORUS_DIMENSION];
    for (int round = 0; round < 6; ++round) {
        double e[CONTACTS][2], J[CONTACTS * CONTACTS], size = 0;
        int pivot[CONTACTS];
        for (int k = 0; k < s; ++k)
            e[k][0] = cos(zero->angle[k]), e[k][1] = sin(zero->angle[k]);
        Values at = valuesAt(en, red, e);
        for (int k = 0; k < s; ++k) {
            double gradient[TORUS_DIMENSION];
            spragTorusValue(&en->torus->f[k], zero->angle, gradient);
            memcpy(J + s * k, gradient, (size_t)s * sizeof *J);
            size = fmax(size, fabs(at.f[k]));
        }
        if (size >= best) {
            memcpy(zero->angle, kept, sizeof kept);
            return;
        }
        best = size;
        memcpy(kept, zero->angle, sizeof kept);
        if (spragLuFactor(s, J, pivot, 1e-14) < s)
            return;
        spragLuSolve(s, J, pivot, at.f);
        for (int k = 0; k < s; ++k)
            zero->angle[k] -= at.f[k];
    }
    memcpy(zero->angle, kept, sizeof kept);
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

/* d psi_k' / d psi_j, each row divided by the growing speed: f_k,j / g_k, as det cancels. */
static int directionsAttract(const TorusSystem *system, const TorusZero *zero)
{
    const int s = system->angles;
    double J[CONTACTS * CONTACTS];
    for (int k = 0; k < s; ++k) {
        double gradient[TORUS_DIMENSION];
        const double g = spragTorusValue(&system->sign[1 + s + k], zero->angle, NULL);
        spragTorusValue(&system->f[k], zero->angle, gradient);
        for (int j = 0; j < s; ++j)
            J[s * k + j] = gradient[j] / g;
    }
    return isHurwitz(s, J);
}

void spragStartsSolve(Enumeration *en)
{
    Reduced red;
    double d[2 * CONTACTS];
    const int reduced = eliminateOthers(en, &red);
    const int motions = reduced > 0 ? motionsLeft(en, &red, d) : reduced;
    if (motions < 0)
        spragIndeterminateSolve(en);
    for (int sign = 1; sign >= -1 && motions == 1; sign -= 2) {
        int moves = 1;
        for (int k = 0; k < red.s; ++k) {
            const double length = spragNorm2(d + 2 * k);
            moves &= length > 1e-9;
            for (int t = 0; t < 2; ++t)
                en->e[red.contact[k]][t] = length > 0 ? sign * d[2 * k + t] / length : 0;
        }
        if (moves)
            spragCombinationSolve(en);
    }
    if (motions < 2)
        return;
    interpolate(en, &red, en->torus);
    en->torus->possible = spragProgramAllows;
    en->torus->context = en;
    spragTorusSolve(en->torus, en->zeros);
    en->set->incomplete |= en->zeros->incomplete;
    for (int z = 0; z < en->zeros->count; ++z) {
        TorusZero *zero = &en->zeros->zero[z];
        polish(en, &red, zero);
        for (int k = 0; k < red.s; ++k)
            en->e[red.contact[k]][0] = cos(zero->angle[k]), en->e[red.contact[k]][1] = sin(zero->angle[k]);
        en->multiplicity = zero->curve ? 1 : zero->multiplicity;
        en->continuum = zero->curve;
        en->direction_stable = directionsAttract(en->torus, zero);
        spragCombinationSolve(en);
    }
    en->multiplicity = en->direction_stable = 1;
    en->continuum = 0;
}
