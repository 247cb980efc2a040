/* Variants: m two-sided contacts as pairs of antipodal points, one of each pair loaded.
 *
 * Variant i in {-1, +1}^m.  Column k of D^i is column k of D for i_k = +1 and column m + k for i_k = -1:
 *
 *     D^i N = b,   N >= 0 on the loaded points.
 *
 * A variant repels if N >= 0; it has small friction if det D^i has the sign it has without friction, det D0^i
 * (docs/theory.md 4: otherwise it is a separatrix).  Realised: both.  (Nikolsky and Smirnov 1990, sections 8 to 10.)
 *
 * Search.  Flip i_k where N_k < 0 and solve again, all at once: fast, but for m >= 3 it can cycle for ever even where
 * the solution is unique (docs/theory.md 3, cycle3).  When a variant comes back, or their number has not fallen for
 * some rounds (Judice and Pires 1994), only the least index with N_k < 0 is flipped from then on; for a P-matrix that
 * ends (Murty 1974), which is the case under small friction in all variants.  2^m flips bound the rest.
 *
 * Zero test, free of scale: a pivot below 1e-12 after columns and rows were divided by their largest entries, so that
 * neither the units of forces nor those of coordinates matter.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/floats.h"
#include "base/status.h"
#include "linalg/lu.h"
#include "solve/contact/grow.h"

#define ZERO_PIVOT 1e-12 /* of the largest entry: the matrix is singular */
/* N_k below this part of the largest |N| counts as zero: at a threshold nothing is switched by rounding. */
#define HYSTERESIS 1e-9
#define SHARE_SHORTEST 1e-9 /* of friction that grows: one flip in it */

enum { CLASS_MAX = 6 }; /* pairs up to which a successful search also tells the class: 64 factorisations */

typedef signed char Variant[SPRAG_VARIANT_MAX];

typedef struct Factor {
    double A[SPRAG_VARIANT_MAX * SPRAG_VARIANT_MAX];          /* (m x m) */
    double row[SPRAG_VARIANT_MAX], column[SPRAG_VARIANT_MAX]; /* what rows and columns were divided by */
    int pivot[SPRAG_VARIANT_MAX];
    int sign;   /* of the determinant, 0: singular */
    double det; /* may overflow */
} Factor;

static void factor(int m, const double *D, const signed char *variant, Factor *f)
{
    int column[SPRAG_VARIANT_MAX];
    for (int k = 0; k < m; ++k)
        column[k] = variant[k] > 0 ? k : m + k;
    for (int r = 0; r < m; ++r)
        for (int k = 0; k < m; ++k)
            f->A[m * r + k] = D[2 * m * r + column[k]];
    spragLuEquilibrate(m, f->A, f->row, f->column);
    const int rank = spragLuFactor(m, f->A, f->pivot, ZERO_PIVOT);
    f->sign = rank == m ? spragLuSign(m, f->A, f->pivot) : 0;
    f->det = 1;
    for (int k = 0; k < m; ++k)
        f->det *= f->A[m * k + k] * f->row[k] * f->column[k] * (f->pivot[k] == k ? 1 : -1);
}

/* N of a variant that is not singular. */
static void reactions(int m, const Factor *f, const double *b, double *N)
{
    memcpy(N, b, (size_t)m * sizeof *N);
    spragLuSolveScaled(m, f->A, f->pivot, f->row, f->column, N);
}

static double zeroOf(int m, const double *N)
{
    double largest = 0;
    for (int k = 0; k < m; ++k)
        if (fabs(N[k]) > largest)
            largest = fabs(N[k]);
    return -HYSTERESIS * largest;
}

static int repels(int m, const double *N)
{
    const double zero = zeroOf(m, N);
    for (int k = 0; k < m; ++k)
        if (N[k] < zero)
            return 0;
    return 1;
}

/* ---------------------------------------------------------------- arguments */

static spragStatus check(int m, int most, const double *D, const double *D0, const double *b)
{
    if (D == NULL || D0 == NULL || b == NULL)
        return spragFail(SPRAG_ERROR_NULL, "D, D0 or b is NULL");
    if (m < 1 || m > most)
        return spragFail(SPRAG_ERROR_RANGE, "m = %d pairs, expected 1 to %d", m, most);
    double zero = 0; /* 0 x is NaN where x is not finite: one addition instead of two branches */
    for (int i = 0; i < 2 * m * m; ++i)
        zero += 0 * D[i] + 0 * D0[i];
    for (int i = 0; i < 2 * m * m && zero != 0; ++i)
        if (!isfinite(D[i]) || !isfinite(D0[i]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "row %d of D or D0 is not finite", i / (2 * m));
    for (int i = 0; i < m; ++i)
        if (!isfinite(b[i]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "b[%d] is not finite", i);
    return SPRAG_OK;
}

/* All principal minors of P (m x m, destroyed) positive: P-matrix, by the recursion P_11 > 0, P without row and column
 * 1, and the Schur complement of P_11 are such (Tsatsomeros and Li 2000). */
static int isPMatrix(int m, const double *P)
{
    double without[CLASS_MAX * CLASS_MAX], schur[CLASS_MAX * CLASS_MAX];
    if (!(P[0] > ZERO_PIVOT))
        return 0;
    if (m == 1)
        return 1;
    for (int i = 1; i < m; ++i)
        for (int j = 1; j < m; ++j) {
            const int at = (m - 1) * (i - 1) + j - 1;
            without[at] = P[m * i + j];
            schur[at] = P[m * i + j] - P[m * i] * P[j] / P[0];
        }
    return isPMatrix(m - 1, without) && isPMatrix(m - 1, schur);
}

/* Is side A^-1 D^(side i) a P-matrix, A the matrix factored? */
static int dividedIsP(int m, const double *D, const Factor *f, const signed char *variant, int side)
{
    double P[CLASS_MAX * CLASS_MAX] = {0};
    if (f->sign == 0)
        return 0;
    for (int k = 0; k < m; ++k) {
        double column[CLASS_MAX], N[CLASS_MAX];
        for (int r = 0; r < m; ++r)
            column[r] = side * D[2 * m * r + (side * variant[k] > 0 ? k : m + k)];
        reactions(m, f, column, N);
        for (int r = 0; r < m; ++r)
            P[m * r + k] = N[r];
    }
    return isPMatrix(m, P);
}

/* The principal minors of (D0^i)^-1 D^i are det with friction in a subset of the pairs over det without any. */
static int minorsAreSmall(int m, const double *D, const Factor *frictionless, const signed char *variant)
{
    return dividedIsP(m, D, frictionless, variant, 1);
}

/* If -(D^i)^-1 D^-i is a P-matrix, exactly one variant has N >= 0, whatever b (Samelson, Thrall and Wesler 1958). */
static int isAlone(int m, const double *D, const Factor *f, const signed char *variant)
{
    return dividedIsP(m, D, f, variant, -1);
}

/* ---------------------------------------------------------------- search */

/* Since the last factorisation columns k_1, k_2, ... were replaced: D^i = A E_1 E_2 ..., E_e the
 * identity with column k_e replaced by y_e = (A ... E_e-1)^-1 (new column) (the product form of the
 * inverse, Dantzig and Orchard-Hays 1954). */
enum { CHANGES_MAX = 16, CHANGES_AT_ONCE = 4, PATIENCE = 6 };

typedef struct Search {
    int m;
    const double *D, *b;
    Factor factor;
    double N[SPRAG_VARIANT_MAX];
    Variant variant;
    int flips, single;
    int least, stale; /* fewest N_k < 0 so far; rounds since */
    int changes, column[CHANGES_MAX];
    double y[CHANGES_MAX][SPRAG_VARIANT_MAX];
} Search;

/* x := E^-1 x */
static void replace(int m, int k, const double *y, double *x)
{
    const double t = x[k] / y[k];
    for (int i = 0; i < m; ++i)
        x[i] -= y[i] * t;
    x[k] = t;
}

/* N of the variant, from the factors; 0: singular. */
static int solveAnew(Search *s)
{
    factor(s->m, s->D, s->variant, &s->factor);
    s->changes = 0;
    if (s->factor.sign == 0)
        return 0;
    reactions(s->m, &s->factor, s->b, s->N);
    return 1;
}

/* N after i_k was flipped; 0: the pivot is too small for that. */
static int solveFlipped(Search *s, int k)
{
    const int m = s->m, from = s->variant[k] > 0 ? k : m + k;
    double column[SPRAG_VARIANT_MAX], *y = s->y[s->changes], largest = 0;
    for (int r = 0; r < m; ++r)
        column[r] = s->D[2 * m * r + from];
    reactions(m, &s->factor, column, y);
    for (int e = 0; e < s->changes; ++e)
        replace(m, s->column[e], s->y[e], y);
    for (int i = 0; i < m; ++i)
        largest = fmax(largest, fabs(y[i]));
    if (!(fabs(y[k]) > 1e-6 * largest))
        return 0;
    s->column[s->changes++] = k;
    replace(m, k, y, s->N);
    return 1;
}

/* Flips what is wrong and solves; 0: nothing is wrong, or the variant is singular (factor.sign 0). */
static int flip(Search *s)
{
    const double zero = zeroOf(s->m, s->N);
    int wrong[SPRAG_VARIANT_MAX], count = 0;
    for (int k = 0; k < s->m && !(s->single && count); ++k)
        if (s->N[k] < zero)
            wrong[count++] = k;
    if (count == 0)
        return 0;
    s->stale = count < s->least ? 0 : s->stale + 1;
    s->least = count < s->least ? count : s->least;
    int follow = count <= CHANGES_AT_ONCE && s->changes + count <= CHANGES_MAX;
    for (int j = 0; j < count; ++j) {
        s->variant[wrong[j]] = (signed char)-s->variant[wrong[j]];
        follow = follow && solveFlipped(s, wrong[j]);
    }
    ++s->flips;
    return follow || solveAnew(s);
}

/* Brent's cycle test on the sequence of variants: keeps one of them, renewed at every power of two. */
static void runSearch(Search *s)
{
    Variant kept;
    memset(s->N, 0, (size_t)s->m * sizeof *s->N);
    s->least = s->m + 1, s->stale = 0;
    long power = 1, since = 0;
    const long most = s->m < 20 ? 4L << s->m : 4L << 20;
    memcpy(kept, s->variant, sizeof kept);
    if (!solveAnew(s))
        return; /* the caller reports it */
    for (long round = 0; round < most; ++round) {
        if (!flip(s)) {
            if (s->changes == 0 || !solveAnew(s))
                return;
            continue; /* with all digits */
        }
        const int came_back = memcmp(kept, s->variant, (size_t)s->m) == 0;
        if (came_back && s->single) {
            solveAnew(s);
            return; /* no P-matrix: some variant lacks small friction */
        }
        const int change = !s->single && (came_back || s->stale > PATIENCE);
        s->single |= change;
        if (change || ++since == power) {
            memcpy(kept, s->variant, sizeof kept);
            power = change ? 1 : 2 * power;
            since = 0;
        }
    }
    solveAnew(s);
}

/* A variant, with its factors, into the result: all but its class and the search. */
static void tellVariant(int m, const double *D, const Factor *f, const Factor *frictionless, const signed char *variant,
                        const double *N, spragVariantResult *out)
{
    memcpy(out->variant, variant, (size_t)m);
    memcpy(out->N, N, (size_t)m * sizeof *N);
    out->det = f->det, out->det0 = frictionless->det;
    out->det_sign = f->sign, out->det0_sign = frictionless->sign;
    out->singular = f->sign == 0;
    out->small_friction = f->sign != 0 && f->sign == frictionless->sign;
    out->realised = !out->singular && repels(m, N) && out->small_friction;
    out->minors = m <= CLASS_MAX ? minorsAreSmall(m, D, frictionless, variant) : -1;
}

/* Small systems are enumerated: the class is known, and a realised variant is found where the search found none.  Of
 * several it is the one of the moment before, else the one that friction leads to, not what a search comes upon. */
static spragStatus selectByClass(int m, const double *D, const double *D0, const double *b, const int *history,
                                 spragVariantResult *out)
{
    spragVariantSet set;
    const spragStatus status = spragVariantEnumerate(m, D, D0, b, &set);
    if (status != SPRAG_OK)
        return status;
    out->paradox_class = set.paradox_class;
    int kept = out->realised;
    for (int k = 0; k < m && set.paradox_class == 4; ++k)
        kept &= history != NULL && history[k] == out->variant[k];
    if (!kept && set.selected >= 0) {
        const spragVariantMember *member = &set.member[set.selected];
        Factor f, frictionless;
        factor(m, D, member->variant, &f);
        factor(m, D0, member->variant, &frictionless);
        tellVariant(m, D, &f, &frictionless, member->variant, member->N, out);
    }
    spragVariantSetFree(&set);
    return out->realised
               ? SPRAG_OK
               : spragFail(SPRAG_NO_SOLUTION, "no variant is realised: paradox of class %d", out->paradox_class);
}

spragStatus spragVariantSolve(int m, const double *D, const double *D0, const double *b, const int *history,
                              spragVariantResult *out)
{
    SPRAG_FLOATS;
    spragDetailClear();
    const spragStatus status = check(m, SPRAG_VARIANT_MAX, D, D0, b);
    if (status != SPRAG_OK)
        return status;
    if (out == NULL)
        return spragFail(SPRAG_ERROR_NULL, "out is NULL");
    Search s; /* 42 kB: not cleared */
    s.m = m, s.D = D, s.b = b;
    s.flips = s.single = 0;
    for (int k = 0; k < m; ++k) {
        if (history != NULL && history[k] != 1 && history[k] != -1)
            return spragFail(SPRAG_ERROR_RANGE, "history[%d] = %d, expected 1 or -1", k, history[k]);
        s.variant[k] = (signed char)(history != NULL ? history[k] : 1);
    }
    runSearch(&s);
    Factor frictionless;
    factor(m, D0, s.variant, &frictionless);
    *out = (spragVariantResult){.m = m, .paradox_class = -1, .flips = s.flips, .fallback = s.single};
    tellVariant(m, D, &s.factor, &frictionless, s.variant, s.N, out);
    if (out->realised && m <= CLASS_MAX && isAlone(m, D, &s.factor, s.variant))
        out->paradox_class = 0;
    if (out->realised && (m > CLASS_MAX || out->paradox_class == 0))
        return SPRAG_OK;
    if (m > SPRAG_ENUMERATE_MAX)
        return spragFail(SPRAG_NO_SOLUTION, "the search found no realised variant; %d pairs are too many to enumerate",
                         m);
    return selectByClass(m, D, D0, b, history, out);
}

/* ---------------------------------------------------------------- enumeration */

/* Does the variant repel, with small friction? */
static int isRealised(int m, const double *D, const double *D0, const double *b, const signed char *variant)
{
    Factor f, f0;
    double N[SPRAG_VARIANT_MAX];
    factor(m, D, variant, &f);
    factor(m, D0, variant, &f0);
    if (f.sign == 0 || f.sign != f0.sign)
        return 0;
    reactions(m, &f, b, N);
    return repels(m, N);
}

/* Of the realised variants the first with the fewest flips from this one. */
static int nearestRealised(const spragVariantSet *set, const signed char *variant)
{
    int nearest = -1, fewest = set->m + 1;
    for (int v = 0; v < set->count; ++v) {
        int flips = 0;
        for (int k = 0; k < set->m; ++k)
            flips += set->member[v].variant[k] != variant[k];
        if (set->member[v].accepted && set->member[v].small_friction && flips < fewest)
            fewest = flips, nearest = v;
    }
    return nearest;
}

typedef struct Growth {
    const double *D, *D0, *b;
    double *mixed; /* (m x 2m) D(t) = D0 + t (D - D0) */
    Search *search;
    int lost; /* 1: the search goes on, from where the path was lost */
} Growth;

static int grow(void *data, double t, int last)
{
    Growth *growth = data;
    Search *s = growth->search;
    const int m = s->m;
    for (int i = 0; i < 2 * m * m; ++i)
        growth->mixed[i] = growth->D0[i] + (growth->D[i] - growth->D0[i]) * t;
    if (isRealised(m, growth->mixed, growth->D0, growth->b, s->variant)) {
        growth->lost = 0;
        return 1;
    }
    if (!growth->lost && !last)
        return 0;
    s->single = 0;
    runSearch(s);
    growth->lost = !isRealised(m, growth->mixed, growth->D0, growth->b, s->variant);
    return 1;
}

/* Class 4: selects the variant that the frictionless solution becomes.  N is continuous in t, through flips too
 * (docs/theory.md 3), until the solution turns back in t or runs to infinity: then a search goes on from there, and
 * what is nearest to its end is selected.  0: no memory. */
static int continueFriction(int m, const double *D, const double *D0, const double *b, spragVariantSet *set)
{
    double *mixed = spragAlloc(2 * (size_t)(m * m), sizeof *mixed);
    Search *s = spragAlloc(1, sizeof *s);
    const int ready = mixed != NULL && s != NULL;
    if (ready) {
        *s = (Search){.m = m, .D = D0, .b = b};
        memset(s->variant, 1, sizeof s->variant);
        runSearch(s);
        s->D = mixed;
        spragFrictionGrow(SHARE_SHORTEST, grow, &(Growth){.D = D, .D0 = D0, .b = b, .mixed = mixed, .search = s});
        set->selected = nearestRealised(set, s->variant);
    }
    spragFree(mixed);
    spragFree(s);
    return ready;
}

/* Where N_k = 0 variants with any i_k have the same reactions.  They are one motion, told of once: by the first of them
 * with small friction, else by the first. */
static int isRepeated(const spragVariantSet *set, int v)
{
    const spragVariantMember *member = &set->member[v];
    const double zero = fabs(zeroOf(set->m, member->N));
    int unloaded = 0;
    for (int k = 0; k < set->m; ++k)
        unloaded |= (fabs(member->N[k]) <= zero) << k;
    for (int flips = -unloaded & unloaded; flips > 0; flips = (flips - unloaded) & unloaded) { /* ascending */
        const spragVariantMember *other = &set->member[v ^ flips];
        const int better = other->small_friction - member->small_friction;
        if (other->accepted && (better > 0 || (better == 0 && (v ^ flips) < v)))
            return 1;
    }
    return 0;
}

static int classOf(const spragVariantSet *set)
{
    int motions = 0, realisable = 0;
    for (int v = 0; v < set->count; ++v)
        if (set->member[v].accepted && !isRepeated(set, v)) {
            ++motions;
            realisable += set->member[v].small_friction;
        }
    if (motions == 0 || realisable == 0)
        return motions == 0 ? 1 : 2;
    return realisable > 1 ? 4 : motions > 1 ? 3 : 0;
}

spragStatus spragVariantEnumerate(int m, const double *D, const double *D0, const double *b, spragVariantSet *out)
{
    SPRAG_FLOATS;
    spragDetailClear();
    const spragStatus status = check(m, SPRAG_ENUMERATE_MAX, D, D0, b);
    if (status != SPRAG_OK)
        return status;
    if (out == NULL)
        return spragFail(SPRAG_ERROR_NULL, "out is NULL");
    spragVariantSet set = {.m = m, .count = 1 << m, .selected = -1};
    set.member = spragAlloc((size_t)set.count, sizeof *set.member);
    if (set.member == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for %d variants", set.count);
    for (int v = 0; v < set.count; ++v) {
        spragVariantMember *member = &set.member[v];
        Factor f, f0;
        for (int k = 0; k < m; ++k)
            member->variant[k] = (v >> k & 1) ? -1 : 1;
        factor(m, D, member->variant, &f);
        factor(m, D0, member->variant, &f0);
        member->det = f.det, member->det0 = f0.det;
        member->singular = f.sign == 0;
        member->small_friction = f.sign != 0 && f.sign == f0.sign;
        if (!member->singular)
            reactions(m, &f, b, member->N);
        member->accepted = !member->singular && repels(m, member->N);
        set.accepted_count += member->accepted;
        set.realised_count += member->accepted && member->small_friction;
    }
    set.paradox_class = classOf(&set);
    for (int v = 0; v < set.count && (set.paradox_class == 0 || set.paradox_class == 3); ++v)
        if (set.member[v].accepted && set.member[v].small_friction)
            set.selected = v;
    if (set.paradox_class == 4 && !continueFriction(m, D, D0, b, &set)) {
        spragVariantSetFree(&set);
        return spragFail(SPRAG_ERROR_MEMORY, "no memory to let friction grow");
    }
    *out = set;
    return SPRAG_OK;
}

void spragVariantSetFree(spragVariantSet *set)
{
    if (set == NULL)
        return;
    spragFree(set->member);
    *set = (spragVariantSet){0};
}
