/* Critical friction: where the set of solutions of a contact state changes when friction grows.
 *
 * mu_k(t) = mu_k + t rate_k.  For loaded contacts S, sides i_k and slip directions e_k the normal rows are
 *
 *     M(t) N = -b_n,     column j of M:  A_n,j (i_j, -mu_j(t) e_j)        N >= 0,
 *
 * and the solutions come, go or meet where (docs/theory.md 2, 3, 7)
 *
 *     det M = 0        a solution passes through infinity: the fold of sliding contacts, the cusp of resting ones.  The
 *                      load has no part in it: beyond it some loads have several solutions, others none;
 *     N_k = 0          two variants meet: they go on into one another, or (opposite det) meet and vanish;
 *     e_k . w_t,k = 0  a contact at rest begins to slip, or can hold.
 *
 * det M, det M N_k and det M (e_k . w_t,k) are polynomials in t of degree at most |S| <= 3: between the zeros of their
 * derivatives they are monotone, and bisection finds every root.  The last two kinds are kept where the number of
 * solutions, counted on both sides by spragParadoxEnumerate, does change for the load given.
 *
 * At rest two directions in which contacts can begin to slip may also meet and vanish.  No polynomial of the above says
 * where: the number of solutions is counted between what was found, and bisection ends where it changes.
 *
 * Directions: a sliding contact's slip.  A contact at rest has none yet: a single one gets the direction in which
 * friction bears most on the normal, the worst case, (5.20) of Ivanov 2009, and for its hold that of its own friction
 * force; several get the way they would go without friction.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/affine.h"
#include "base/alloc.h"
#include "base/floats.h"
#include "base/status.h"
#include "linalg/vec3.h"
#include "solve/contact/policy.h"

enum { CONTACTS = SPRAG_PARADOX_CONTACT_MAX, CANDIDATES = 512 /* kept; with more the set is incomplete */ };

/* At rest solutions are counted at the ends and in the middle of each gap between candidates, and as many times more as
 * the gap is 64ths of the range (docs/research.md). */
enum { PIECES_OF_GAP = 2, PIECES_OF_RANGE = 64 };

/* Critical values closer than this part of the range are one. */
#define SAME 1e-10
#define GAP 1e-6    /* of the range: in less, between two candidates, no meeting of directions is looked for */
#define BESIDE 1e-4 /* of a gap: so near to its ends a change is theirs */

typedef struct Search {
    const spragContactState *state;
    const double *rate;
    double from, to;
    int n, rest;           /* n = 3 nc; a contact is at rest */
    double e[CONTACTS][2]; /* unit */
    int S, loaded[CONTACTS], side[CONTACTS];
    int count, overflow;
    spragCritical found[CANDIDATES];
} Search;

/* Which polynomial: det M, det M N_k, or det M (e_k . w_t,k); k counts within S. */
typedef struct Polynomial {
    spragCriticalKind kind;
    int k;
} Polynomial;

static double muAt(const Search *s, int contact, double t)
{
    return fmax(s->state->mu[contact] + t * s->rate[contact], 0);
}

/* A row of A times a unit normal force and its friction. */
static double along(const Search *s, int row, int j, double t)
{
    const int c = s->loaded[j];
    const double *A = s->state->A + s->n * row + 3 * c;
    return A[0] * s->side[j] - muAt(s, c, t) * (A[1] * s->e[c][0] + A[2] * s->e[c][1]);
}

static double determinant(int m, double M[CONTACTS][CONTACTS])
{
    if (m == 1)
        return M[0][0];
    if (m == 2)
        return M[0][0] * M[1][1] - M[0][1] * M[1][0];
    double c[3];
    spragCross3(c, M[1], M[2]);
    return spragDot3(M[0], c);
}

/* det M with column k replaced by -b_n; k < 0: none */
static double cramer(const Search *s, int k, double t)
{
    double M[CONTACTS][CONTACTS];
    for (int i = 0; i < s->S; ++i)
        for (int j = 0; j < s->S; ++j)
            M[i][j] = j == k ? -s->state->b[3 * s->loaded[i]] : along(s, 3 * s->loaded[i], j, t);
    return determinant(s->S, M);
}

static double value(const Search *s, Polynomial p, double t)
{
    if (p.kind == SPRAG_CRITICAL_FOLD || p.kind == SPRAG_CRITICAL_CUSP)
        return cramer(s, -1, t);
    if (p.kind == SPRAG_CRITICAL_BORDER)
        return cramer(s, p.k, t);
    double sum = 0, force[CONTACTS];
    const double det = cramer(s, -1, t);
    const int c = s->loaded[p.k];
    for (int j = 0; j < s->S; ++j)
        force[j] = cramer(s, j, t);
    for (int i = 0; i < 2; ++i) {
        const int row = 3 * c + 1 + i;
        double w = s->state->b[row] * det;
        for (int j = 0; j < s->S; ++j)
            w += along(s, row, j, t) * force[j];
        sum += s->e[c][i] * w;
    }
    return sum;
}

static void keep(Search *s, Polynomial p, double t)
{
    if (s->count == CANDIDATES) {
        s->overflow = 1;
        return;
    }
    spragCritical *new = &s->found[s->count++];
    *new = (spragCritical){.kind = p.kind, .t = t};
    for (int c = 0; c < s->state->contact_count; ++c)
        new->mu[c] = muAt(s, c, t);
    for (int j = 0; j < s->S; ++j)
        new->variant[s->loaded[j]] = (signed char)s->side[j];
}

/* Zeros, in (0, 1) and ascending, of the derivative of the cubic with the values y at x = 0, 1/3, 2/3, 1; returns how
 * many. */
static int turningPoints(const double y[4], double x[2])
{
    /* Newton's form in 3 x: y0 + d1 z + d2 z (z - 1) + d3 z (z - 1)(z - 2) */
    const double d1 = y[1] - y[0], d2 = 0.5 * (y[2] - 2 * y[1] + y[0]), d3 = (y[3] - 3 * y[2] + 3 * y[1] - y[0]) / 6;
    const double a = 3 * d3, b = 2 * d2 - 6 * d3, c = d1 - d2 + 2 * d3; /* a z^2 + b z + c */
    const double root = b * b - 4 * a * c;
    if (root < 0)
        return 0;
    const double q = -0.5 * (b + copysign(sqrt(root), b));
    const double z[2] = {q != 0 ? c / q : NAN, a != 0 ? q / a : NAN};
    int count = 0;
    for (int i = 0; i < 2; ++i)
        if (z[i] > 0 && z[i] < 3)
            x[count++] = z[i] / 3;
    if (count == 2 && x[0] > x[1]) {
        const double first = x[0];
        x[0] = x[1], x[1] = first;
    }
    return count;
}

static void roots(Search *s, Polynomial p)
{
    const double width = s->to - s->from;
    double y[4], end[4] = {0, 1, 1, 1};
    for (int i = 0; i < 4; ++i)
        y[i] = value(s, p, s->from + width * i / 3);
    const int turns = turningPoints(y, end + 1);
    end[1 + turns] = 1;
    for (int piece = 0; piece <= turns; ++piece) {
        double a = s->from + width * end[piece], b = s->from + width * end[piece + 1];
        const int rises = value(s, p, a) < 0;
        if ((value(s, p, b) < 0) == rises)
            continue;
        for (double middle = 0.5 * (a + b); middle > a && middle < b; middle = 0.5 * (a + b))
            *((value(s, p, middle) < 0) == rises ? &a : &b) = middle;
        keep(s, p, b);
    }
}

/* ---------------------------------------------------------------- directions, sides, subsets */

typedef enum Sought { BORDERS_ALONE, FOLDS_TOO } Sought;

static void searchSubset(Search *s, Sought sought)
{
    const Polynomial det = {s->rest ? SPRAG_CRITICAL_CUSP : SPRAG_CRITICAL_FOLD, -1};
    if (sought == FOLDS_TOO)
        roots(s, det);
    for (int k = 0; k < s->S; ++k) {
        roots(s, (Polynomial){SPRAG_CRITICAL_BORDER, k});
        if (spragNorm2(s->state->slip + 2 * s->loaded[k]) <= SPRAG_SLIP_TOLERANCE)
            roots(s, (Polynomial){SPRAG_CRITICAL_REST, k});
    }
}

/* All subsets of the one-sided contacts with all two-sided ones, all sides, both senses of the resting directions. */
static void searchDirections(Search *s, Sought sought)
{
    const int nc = s->state->contact_count;
    const unsigned char *two_sided = s->state->two_sided;
    for (int sense = 0; sense <= s->rest; ++sense) {
        for (int c = 0; c < nc && sense == 1; ++c)
            if (spragNorm2(s->state->slip + 2 * c) <= SPRAG_SLIP_TOLERANCE)
                s->e[c][0] = -s->e[c][0], s->e[c][1] = -s->e[c][1];
        for (int variant = 0; variant < 1 << 2 * nc; ++variant) { /* bits: loaded, side */
            int possible = 1;
            s->S = 0;
            for (int c = 0; c < nc; ++c) {
                const int loaded = variant >> 2 * c & 1, minus = variant >> (2 * c + 1) & 1;
                const int two = two_sided != NULL && two_sided[c];
                possible &= two ? loaded : !minus;
                if (!loaded)
                    continue;
                s->loaded[s->S] = c;
                s->side[s->S++] = minus ? -1 : 1;
            }
            if (possible && s->S > 0)
                searchSubset(s, sought);
        }
    }
}

static void unit(double e[2])
{
    const double length = spragNorm2(e);
    for (int i = 0; i < 2; ++i)
        e[i] = length > 0 ? e[i] / length : 0;
}

/* Where the resting contacts would go without friction: A_nn N = -b_n, e_k along A_tn N + b_t. */
static void pulledDirections(Search *s)
{
    const spragContactState *state = s->state;
    const int nc = state->contact_count;
    double K[CONTACTS * CONTACTS] = {0}, c[CONTACTS] = {0}, size = 0;
    AffineSet normal;
    for (int i = 0; i < nc; ++i) {
        c[i] = -state->b[3 * i];
        size = fmax(size, fabs(c[i]));
        for (int j = 0; j < nc; ++j)
            K[nc * i + j] = state->A[s->n * 3 * i + 3 * j];
    }
    spragAffineSolve(nc, nc, K, c, size, &normal);
    for (int k = 0; k < nc; ++k) {
        if (spragNorm2(state->slip + 2 * k) > SPRAG_SLIP_TOLERANCE)
            continue;
        for (int t = 0; t < 2; ++t) {
            s->e[k][t] = state->b[3 * k + 1 + t];
            for (int j = 0; j < nc; ++j)
                s->e[k][t] += state->A[s->n * (3 * k + 1 + t) + 3 * j] * normal.point[j];
        }
        unit(s->e[k]);
    }
}

static void searchAll(Search *s)
{
    const spragContactState *state = s->state;
    for (int k = 0; k < state->contact_count; ++k) {
        memcpy(s->e[k], state->slip + 2 * k, sizeof s->e[k]);
        s->rest |= spragNorm2(s->e[k]) <= SPRAG_SLIP_TOLERANCE;
        unit(s->e[k]);
    }
    if (!s->rest || state->contact_count > 1) {
        pulledDirections(s);
        searchDirections(s, FOLDS_TOO);
        return;
    }
    s->e[0][0] = state->A[1], s->e[0][1] = state->A[2];
    unit(s->e[0]);
    searchDirections(s, FOLDS_TOO);
    AffineSet hold;
    const double c[3] = {-state->b[0], -state->b[1], -state->b[2]};
    spragAffineSolve(3, 3, state->A, c, spragNorm3(c), &hold);
    s->e[0][0] = -hold.point[1], s->e[0][1] = -hold.point[2];
    unit(s->e[0]);
    searchDirections(s, BORDERS_ALONE);
}

/* ---------------------------------------------------------------- counting */

static int ascending(const void *a, const void *b)
{
    const spragCritical *x = a, *y = b;
    return (x->t > y->t) - (x->t < y->t);
}

/* Of several at one place: by kind, then the + sides first, not as rounding has it. */
static int byKind(const void *a, const void *b)
{
    const spragCritical *x = a, *y = b;
    if (x->kind != y->kind)
        return (int)x->kind - (int)y->kind;
    for (int c = 0; c < CONTACTS; ++c)
        if (x->variant[c] != y->variant[c])
            return y->variant[c] - x->variant[c];
    return 0;
}

static spragStatus solutionsAt(const Search *s, double t, spragSolutionSet *set)
{
    double mu[CONTACTS], mu_static[CONTACTS];
    spragContactState state = *s->state;
    for (int k = 0; k < state.contact_count; ++k) {
        mu[k] = muAt(s, k, t);
        mu_static[k] = fmax(state.mu_static[k] + t * s->rate[k], mu[k]);
    }
    state.mu = mu, state.mu_static = mu_static;
    return spragParadoxEnumerate(&state, set);
}

static spragStatus countAt(const Search *s, double t, int *count)
{
    spragSolutionSet set;
    const spragStatus status = solutionsAt(s, t, &set);
    *count = status == SPRAG_OK ? set.count : 0;
    spragSolutionSetFree(&set);
    return status;
}

/* ---------------------------------------------------------------- at rest: where directions of slip meet */

/* A place, and the solutions there. */
typedef struct Place {
    double t;
    spragSolutionSet set;
} Place;

/* Of a continuum some points stand for all, so their number says nothing. */
static int isCounted(const spragSolutionSet *set)
{
    int counted = !set->incomplete;
    for (int k = 0; k < set->count; ++k)
        counted &= !set->solution[k].family;
    return counted;
}

/* The solution of `many` that is farthest from all of `few`: the one that vanishes between two places that all but
 * coincide. */
static const spragParadoxSolution *vanishing(const Search *s, const spragSolutionSet *many, const spragSolutionSet *few)
{
    const spragParadoxSolution *farthest = NULL;
    double most = -1;
    for (int i = 0; i < many->count; ++i) {
        double nearest = INFINITY;
        for (int j = 0; j < few->count; ++j) {
            double distance2 = 0;
            for (int c = 0; c < s->state->contact_count; ++c)
                distance2 += spragDistanceSquared3(many->solution[i].r + 3 * c, few->solution[j].r + 3 * c);
            nearest = fmin(nearest, distance2);
        }
        if (nearest > most)
            most = nearest, farthest = &many->solution[i];
    }
    return farthest;
}

static spragStatus searchBetween(Search *s, const Place *a, const Place *b)
{
    if (!isCounted(&a->set) || !isCounted(&b->set) || a->set.count == b->set.count)
        return SPRAG_OK;
    Place middle = {.t = 0.5 * (a->t + b->t)};
    if (b->t - a->t <= SAME * (s->to - s->from) || !(a->t < middle.t && middle.t < b->t)) {
        const int fewer = a->set.count < b->set.count;
        s->S = 0;
        keep(s, (Polynomial){SPRAG_CRITICAL_REST, -1}, middle.t);
        if (!s->overflow)
            memcpy(s->found[s->count - 1].variant,
                   vanishing(s, fewer ? &b->set : &a->set, fewer ? &a->set : &b->set)->variant, CONTACTS);
        return SPRAG_OK;
    }
    spragStatus status = solutionsAt(s, middle.t, &middle.set);
    if (status == SPRAG_OK)
        status = searchBetween(s, a, &middle);
    if (status == SPRAG_OK)
        status = searchBetween(s, &middle, b);
    spragSolutionSetFree(&middle.set);
    return status;
}

static spragStatus searchGap(Search *s, double from, double to)
{
    const double range = s->to - s->from, gap = to - from;
    if (gap < GAP * range)
        return SPRAG_OK;
    const int pieces = PIECES_OF_GAP + (int)(PIECES_OF_RANGE * gap / range);
    Place last = {.t = from + BESIDE * gap};
    spragStatus status = solutionsAt(s, last.t, &last.set);
    for (int i = 1; i <= pieces && status == SPRAG_OK; ++i) {
        Place next = {.t = i < pieces ? from + gap * i / pieces : to - BESIDE * gap};
        status = solutionsAt(s, next.t, &next.set);
        if (status == SPRAG_OK)
            status = searchBetween(s, &last, &next);
        spragSolutionSetFree(&last.set);
        last = next;
    }
    spragSolutionSetFree(&last.set);
    return status;
}

/* Between the candidates found so far.  What it adds stands behind them. */
static spragStatus searchGaps(Search *s)
{
    const int known = s->count;
    spragStatus status = SPRAG_OK;
    qsort(s->found, (size_t)known, sizeof *s->found, ascending);
    for (int i = 0; i <= known && status == SPRAG_OK; ++i)
        status = searchGap(s, i == 0 ? s->from : s->found[i - 1].t, i == known ? s->to : s->found[i].t);
    return status;
}

/* Counts the solutions between neighbouring candidates.  Of candidates at one place (SAME) one of each kind stays;
 * borders and rests stay only where the number of solutions changes. */
static spragStatus countAndMerge(Search *s)
{
    const double same = SAME * (s->to - s->from);
    qsort(s->found, (size_t)s->count, sizeof *s->found, ascending);
    int kept = 0, before = 0, after = 0;
    double last = s->from;
    for (int i = 0, j = 0; i < s->count; i = j) {
        for (j = i; j < s->count && s->found[j].t - s->found[i].t <= same; ++j)
            ;
        const double next = j < s->count ? s->found[j].t : s->to;
        spragStatus status = i == 0 ? countAt(s, 0.5 * (last + s->found[i].t), &before) : SPRAG_OK;
        if (status == SPRAG_OK)
            status = countAt(s, 0.5 * (s->found[j - 1].t + next), &after);
        if (status != SPRAG_OK)
            return status;
        qsort(s->found + i, (size_t)(j - i), sizeof *s->found, byKind);
        unsigned kinds = 0;
        for (int k = i; k < j; ++k) {
            spragCritical critical = s->found[k];
            const int always = critical.kind == SPRAG_CRITICAL_FOLD || critical.kind == SPRAG_CRITICAL_CUSP;
            if (kinds >> critical.kind & 1 || (!always && before == after))
                continue;
            kinds |= 1u << critical.kind;
            critical.before = before, critical.after = after;
            s->found[kept++] = critical;
        }
        before = after;
        last = next;
    }
    s->count = kept;
    return SPRAG_OK;
}

static spragStatus check(const spragContactState *state, const double *rate, double from, double to)
{
    if (rate == NULL)
        return spragFail(SPRAG_ERROR_NULL, "rate is NULL");
    if (!(from < to) || !isfinite(from) || !isfinite(to))
        return spragFail(SPRAG_ERROR_RANGE, "from = %g, to = %g, expected from < to", from, to);
    for (int k = 0; k < state->contact_count; ++k) {
        if (!isfinite(rate[k]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "rate[%d] = %g", k, rate[k]);
        if (!(state->mu[k] + fmin(rate[k] * from, rate[k] * to) >= 0))
            return spragFail(SPRAG_ERROR_RANGE, "contact %d: mu = %g + t %g is negative between t = %g and %g", k,
                             state->mu[k], rate[k], from, to);
    }
    return SPRAG_OK;
}

spragStatus spragCriticalEnumerate(const spragContactState *state, const double *rate, double from, double to,
                                   spragCriticalSet *out)
{
    SPRAG_FLOATS;
    spragSolutionSet probe; /* checks the state as it checks any */
    spragStatus status = spragParadoxEnumerate(state, &probe);
    if (status != SPRAG_OK)
        return status;
    spragSolutionSetFree(&probe);
    if (out == NULL)
        return spragFail(SPRAG_ERROR_NULL, "out is NULL");
    status = check(state, rate, from, to);
    if (status != SPRAG_OK)
        return status;
    Search *s = spragAlloc(1, sizeof *s);
    if (s == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the search");
    s->state = state, s->rate = rate;
    s->from = from, s->to = to;
    s->n = 3 * state->contact_count;
    searchAll(s);
    status = s->rest ? searchGaps(s) : SPRAG_OK;
    if (status == SPRAG_OK)
        status = countAndMerge(s);
    spragCriticalSet set = {.count = s->count, .incomplete = s->overflow};
    if (status == SPRAG_OK && s->count > 0) {
        set.critical = spragAlloc((size_t)s->count, sizeof *set.critical);
        if (set.critical == NULL)
            status = spragFail(SPRAG_ERROR_MEMORY, "no memory for %d critical values", s->count);
        else
            memcpy(set.critical, s->found, (size_t)s->count * sizeof *set.critical);
    }
    spragFree(s);
    if (status == SPRAG_OK)
        *out = set;
    return status;
}

void spragCriticalSetFree(spragCriticalSet *set)
{
    if (set == NULL)
        return;
    spragFree(set->critical);
    *set = (spragCriticalSet){0};
}
