/* Where the normal forces do not follow from the directions (three supports on a line) the polynomials vanish and the
 * solutions, if any, form a continuum.  Boxes of directions are then excluded by their programs only; in those left a
 * point of the continuum is sought by damped least squares in all unknowns, three to a contact:
 *
 *     HOLD  r        SLIDE  N >= 0        START  N >= 0, s >= 0, theta
 *
 * in units of b_size / a_size and b_size.  One such point stands for all of a combination. */
#include <math.h>
#include <string.h>

#include "analysis/program.h"
#include "analysis/starts.h"
#include "linalg/lu.h"
#include "linalg/vec3.h"

enum {
    LEVELS = 9,  /* times that boxes are halved */
    FINE = 5,    /* levels after which a box where nothing slips is not halved any more */
    BOXES = 1024 /* of one level, that may be left; more: the set is incomplete */
};

static void forcesOf(Enumeration *en, const double *x, double *r)
{
    const double unit = en->b_size / en->a_size;
    memset(r, 0, ROWS * sizeof *r);
    for (int k = 0; k < en->nc; ++k) {
        if (en->role[k] == START)
            en->e[k][0] = cos(x[3 * k + 2]), en->e[k][1] = sin(x[3 * k + 2]);
        if (en->role[k] == HOLD)
            for (int t = 0; t < 3; ++t)
                r[3 * k + t] = unit * x[3 * k + t];
        else if (en->role[k] != OPEN)
            for (int t = 0; t < 3; ++t)
                r[3 * k + t] = unit * x[3 * k] * (t == 0 ? en->sign[k] : -en->state->mu[k] * en->e[k][t - 1]);
    }
}

/* F (rows): what the rows of the program lack, in units of b_size. */
static double lacking(Enumeration *en, const Program *p, const double *x, double *F)
{
    double r[ROWS], sum = 0;
    forcesOf(en, x, r);
    for (int i = 0; i < p->rows; ++i) {
        const int row = p->row[i], k = row / 3;
        F[i] = (spragCombinationAcceleration(en, row, r) + en->state->b[row]) / en->b_size;
        if (en->role[k] == START && row % 3 > 0)
            F[i] -= x[3 * k + 1] * en->e[k][row % 3 - 1];
        if (en->role[k] == OPEN)
            F[i] = fmin(0, F[i]);
        sum += F[i] * F[i];
    }
    return sum;
}

/* A solution near x; its forces r.  Gauss and Newton's steps, the shortest ones, derivatives by differences. */
static int approach(Enumeration *en, const Program *p, double *x, double *r)
{
    double F[SIMPLEX_ROWS], J[SIMPLEX_ROWS][ROWS], changed[SIMPLEX_ROWS];
    const int n = en->n;
    for (int round = 0; round < 60; ++round) {
        double M[ROWS * ROWS] = {0}, step[ROWS] = {0}, trace = 0;
        int pivot[ROWS];
        if (lacking(en, p, x, F) < 1e-28) {
            forcesOf(en, x, r);
            return 1;
        }
        for (int j = 0; j < n; ++j) {
            const double kept = x[j], difference = 1e-7 * fmax(1, fabs(kept));
            x[j] += difference;
            lacking(en, p, x, changed);
            x[j] = kept;
            for (int i = 0; i < p->rows; ++i) {
                J[i][j] = (changed[i] - F[i]) / difference;
                step[j] -= J[i][j] * F[i];
                trace += J[i][j] * J[i][j];
            }
        }
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                M[n * i + j] = i == j ? 1e-12 * trace : 0;
                for (int q = 0; q < p->rows; ++q)
                    M[n * i + j] += J[q][i] * J[q][j];
            }
        if (spragLuFactor(n, M, pivot, 0) < n)
            return 0;
        spragLuSolve(n, M, pivot, step);
        for (int i = 0; i < n; ++i) {
            const Role role = en->role[i / 3];
            x[i] += role == START && i % 3 == 2 ? fmax(-0.3, fmin(0.3, step[i])) : step[i];
            if (role == SLIDE || (role == START && i % 3 < 2))
                x[i] = fmax(0, x[i]);
        }
    }
    return 0;
}

static int heldInside(const Enumeration *en, const double *r)
{
    for (int k = 0; k < en->nc; ++k)
        if (en->role[k] == HOLD && spragNorm2(r + 3 * k + 1) > en->state->mu_static[k] * en->sign[k] * r[3 * k] +
                                                                   COMBINATION_ZERO * spragNorm3(r + 3 * k))
            return 0;
    return 1;
}

/* What a box of directions holds: NOTHING; a solution, which was recorded (FOUND); forces at the limit of friction
 * under which a start does not slip (REST); or UNKNOWN. */
typedef enum Look { NOTHING, FOUND, REST, UNKNOWN } Look;

static Look lookInto(Enumeration *en, const double *middle, double h)
{
    Program p;
    double y[SIMPLEX_COLUMNS], x[ROWS] = {0}, r[ROWS], w[ROWS];
    const double unit = en->b_size / en->a_size;
    spragProgramBuild(en, middle, h, &p);
    if (!spragSimplexFeasible(p.rows, p.columns, p.C, p.c, y))
        return NOTHING;
    memset(r, 0, sizeof r);
    for (int j = 0; j < p.columns; ++j)
        for (int t = 0; t < 3 && p.force[j][0] != 0; ++t)
            r[3 * p.contact[j] + t] += y[j] * p.force[j][t];
    for (int row = 0; row < en->n; ++row)
        w[row] = spragCombinationAcceleration(en, row, r) + en->state->b[row];
    for (int k = 0, start = 0; k < en->nc; ++k) {
        for (int t = 0; t < 3 && en->role[k] == HOLD; ++t)
            x[3 * k + t] = r[3 * k + t] / unit;
        if (en->role[k] == SLIDE || en->role[k] == START)
            x[3 * k] = fabs(r[3 * k]) / unit;
        if (en->role[k] == START)
            x[3 * k + 1] = spragNorm2(w + 3 * k + 1) / en->b_size, x[3 * k + 2] = middle[start++];
    }
    if (approach(en, &p, x, r) && heldInside(en, r) && spragCombinationRecord(en, r, 1))
        return FOUND;
    double F[SIMPLEX_ROWS];
    int rest = 0; /* towards s = 0 the steps shrink slowly */
    if (lacking(en, &p, x, F) > 1e-10)
        return UNKNOWN;
    for (int k = 0, start = 0; k < en->nc; ++k)
        if (en->role[k] == START) {
            rest |= x[3 * k + 1] <= 1e-4;
            if (fabs(x[3 * k + 2] - middle[start++]) > 4 * h)
                return UNKNOWN;
        }
    return rest ? REST : UNKNOWN;
}

void spragIndeterminateSolve(Enumeration *en)
{
    TorusBox *list = en->zeros->list[0], *next = en->zeros->list[1];
    int n = 0, count = 1;
    double h = M_PI;
    if (en->b_size == 0)
        return; /* nothing to move it */
    for (int k = 0; k < en->nc; ++k)
        n += en->role[k] == START;
    list[0] = (TorusBox){{0.1234567, 0.1691356, 0.2148145}};
    for (int level = 0; level < LEVELS && count > 0; ++level) {
        int kept = 0;
        h *= 0.5;
        for (int k = 0; k < count << n; ++k) {
            TorusBox box = list[k >> n];
            for (int i = 0; i < n; ++i)
                box.c[i] += (k >> i & 1) ? h : -h;
            /* a box of half a turn has no program: the tangents at its ends (program.c) are parallel */
            const Look look = level == 0 ? UNKNOWN : lookInto(en, box.c, h);
            if (look == FOUND)
                return;
            if (look == NOTHING || (look == REST && level >= FINE))
                continue;
            if (kept == BOXES) {
                en->set->incomplete = 1;
                return;
            }
            next[kept++] = box;
        }
        TorusBox *const swap = list;
        list = next, next = swap;
        count = kept;
    }
    en->set->incomplete |= count > 0;
}
