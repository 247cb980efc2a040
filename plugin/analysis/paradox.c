/* All solutions of a contact state at acceleration level, w = A r + b.
 *
 * Every contact takes one of these:
 *
 *     open    r = 0,                        w_n >= 0          one-sided
 *     slide   r = N (i, -mu e),             w_n = 0           e = slip / |slip|
 *     hold    |r_t| <= mu_static i r_n,     w = 0             at rest
 *     start   r = N (i, -mu e), w_t = s e,  w_n = 0, s > 0    at rest, e unknown
 *
 * N >= 0 and i = +1; two-sided contacts also i = -1 (the variant index, docs/theory.md 3).  All combinations are tried.
 *
 * Without starts the unknowns enter linearly (analysis/combination.c).  If the system is rank-deficient (statically
 * indeterminate) its solutions form a family, of which one point inside the cones is returned.  With starts the
 * directions come first (analysis/starts.c). */
#include <math.h>
#include <string.h>

#include "analysis/combination.h"
#include "analysis/starts.h"
#include "base/alloc.h"
#include "base/floats.h"
#include "base/status.h"
#include "linalg/vec3.h"
#include "solve/contact/grow.h"
#include "solve/contact/policy.h"

static void solveCombination(Enumeration *en)
{
    int starts = 0;
    for (int k = 0; k < en->nc; ++k)
        starts += en->role[k] == START && en->state->mu[k] > 0;
    if (starts == 0) {
        spragCombinationSolve(en);
        return;
    }
    /* a start without friction has no direction to find: its force is that of a slide */
    Role kept[CONTACTS];
    memcpy(kept, en->role, sizeof kept);
    for (int k = 0; k < en->nc; ++k)
        if (en->role[k] == START && en->state->mu[k] == 0)
            en->role[k] = SLIDE;
    spragStartsSolve(en);
    memcpy(en->role, kept, sizeof kept);
}

static void combine(Enumeration *en, int k);

/* All combinations in which contact k has this role, and those before k what they have. */
static void combineWith(Enumeration *en, int k, Role role, int sign)
{
    const double *slip = en->state->slip + 2 * k, speed = spragNorm2(slip);
    en->role[k] = role;
    en->sign[k] = sign;
    for (int t = 0; t < 2; ++t)
        en->e[k][t] = role == SLIDE ? slip[t] / speed : 0;
    combine(en, k + 1);
}

/* All combinations of contacts k, k + 1, ... with what those before k do. */
static void combine(Enumeration *en, int k)
{
    if (k == en->nc || k >= CONTACTS) {
        solveCombination(en);
        return;
    }
    const int sliding = spragNorm2(en->state->slip + 2 * k) > SPRAG_SLIP_TOLERANCE;
    const int two_sided = en->state->two_sided != NULL && en->state->two_sided[k];
    if (!two_sided)
        combineWith(en, k, OPEN, 1);
    for (int sign = 1; sign >= (two_sided ? -1 : 1); sign -= 2)
        if (sliding) {
            combineWith(en, k, SLIDE, sign);
        } else {
            combineWith(en, k, HOLD, sign);
            combineWith(en, k, START, sign);
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

/* All solutions of a state that has been checked. */
static spragStatus enumerate(const spragContactState *state, spragSolutionSet *out)
{
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
    *out = set;
    return SPRAG_OK;
}

/* ---------------------------------------------------------------- what a step takes */

/* Contacts in which two solutions do other things. */
static int differences(int nc, const spragParadoxSolution *a, const spragParadoxSolution *b)
{
    int count = 0;
    for (int k = 0; k < nc; ++k)
        count += a->mode[k] != b->mode[k] || a->variant[k] != b->variant[k];
    return count;
}

/* The first stable solution that differs from `from` in no more than so many contacts, or -1. */
static int nearTo(int nc, const spragSolutionSet *set, const spragParadoxSolution *from, int most)
{
    for (int k = 0; k < set->count; ++k)
        if (set->solution[k].normal_stable && differences(nc, &set->solution[k], from) <= most)
            return k;
    return -1;
}

/* Contacts that all slide, while friction grows. */
typedef struct Growth {
    const spragContactState *state;
    const spragSolutionSet *set; /* at all of it */
    spragParadoxSolution at;
} Growth;

static int grow(void *data, double share, int last)
{
    Growth *growth = data;
    const int nc = growth->state->contact_count;
    double mu[CONTACTS];
    spragContactState part = *growth->state;
    spragSolutionSet found = {0};
    for (int k = 0; k < nc; ++k)
        mu[k] = share * part.mu[k];
    part.mu = mu;
    if (share < 1 && enumerate(&part, &found) != SPRAG_OK)
        return 0;
    const spragSolutionSet *set = share < 1 ? &found : growth->set;
    int k = nearTo(nc, set, &growth->at, 0);
    if (k < 0 && last)
        k = nearTo(nc, set, &growth->at, 1);
    if (k >= 0)
        growth->at = set->solution[k];
    spragSolutionSetFree(&found);
    return k >= 0;
}

/* The solution that the frictionless one becomes; -1: it turns back or runs to infinity, or no memory. */
static int followFriction(const spragContactState *state, const spragSolutionSet *set)
{
    const double shortest = 1e-6, mu[CONTACTS] = {0};
    spragContactState frictionless = *state;
    spragSolutionSet first;
    frictionless.mu = mu;
    if (enumerate(&frictionless, &first) != SPRAG_OK)
        return -1;
    Growth growth = {.state = state, .set = set};
    const int begins = first.count > 0;
    if (begins)
        growth.at = first.solution[0];
    spragSolutionSetFree(&first);
    return begins && spragFrictionGrow(shortest, grow, &growth) ? nearTo(state->contact_count, set, &growth.at, 0) : -1;
}

/* Of fresh contacts: the more of them open, and then hold, the better.  -1: a separatrix, which no step takes. */
static int scoreOf(int nc, const spragParadoxSolution *s)
{
    int score = s->direction_stable;
    for (int k = 0; k < nc; ++k)
        score += s->mode[k] == SPRAG_MODE_OPEN ? 64 : s->mode[k] == SPRAG_MODE_STICK ? 8 : 0;
    return s->small_friction ? score : -1;
}

/* Solutions in which bodies move alike: w is the same, and so (a - b) A (a - b) = 0, no body feels a - b. */
static int areAlike(const spragContactState *state, const spragParadoxSolution *a, const spragParadoxSolution *b)
{
    const double rounding = 1e-9;
    const int n = 3 * state->contact_count;
    for (int i = 0; i < n; ++i) {
        double size = fabs(state->b[i]);
        for (int j = 0; j < n; ++j)
            size += fabs(state->A[n * i + j]) * fmax(fabs(a->r[j]), fabs(b->r[j]));
        if (fabs(a->w[i] - b->w[i]) > rounding * size)
            return 0;
    }
    return 1;
}

static int isRealisable(const spragParadoxSolution *s)
{
    return s->small_friction && s->direction_stable;
}

/* The number of different motions: contacts that repeat each other share a load in many ways, which are one motion.
 * *realisable: of those with a realisable solution. */
static int countMotions(const spragContactState *state, const spragSolutionSet *set, int *realisable)
{
    int motions = 0;
    *realisable = 0;
    for (int k = 0; k < set->count; ++k) {
        int first = 1, realised = 0; /* 1: solution k is the first of its motion; one before it is realisable */
        for (int j = 0; j < k; ++j)
            if (areAlike(state, &set->solution[j], &set->solution[k])) {
                first = 0;
                realised |= isRealisable(&set->solution[j]);
            }
        motions += first;
        *realisable += isRealisable(&set->solution[k]) && !realised;
    }
    return motions;
}

static void classify(const spragContactState *state, spragSolutionSet *set)
{
    const int nc = state->contact_count;
    int realisable, taken = -1, best = -1, tied = 0;
    const int motions = countMotions(state, set, &realisable);
    for (int k = 0; k < set->count; ++k) {
        const spragParadoxSolution *s = &set->solution[k];
        const int score = scoreOf(nc, s);
        if (score < 0 || score < best)
            continue;
        tied = score == best;
        taken = tied ? taken : k;
        best = score;
    }
    for (int k = 0; k < nc; ++k)
        tied = tied && spragNorm2(state->slip + 2 * k) > SPRAG_SLIP_TOLERANCE;
    const int grown = tied ? followFriction(state, set) : -1;
    if (grown >= 0 && scoreOf(nc, &set->solution[grown]) == best)
        taken = grown;
    if (taken >= 0)
        set->solution[taken].taken = 1;
    set->inconsistent = motions == 0;
    set->indeterminate = motions > 1;
    set->paradox_class = motions == 0 ? 1 : realisable == 0 ? 2 : realisable > 1 ? 4 : motions > 1 ? 3 : 0;
}

spragStatus spragParadoxEnumerate(const spragContactState *state, spragSolutionSet *out)
{
    SPRAG_FLOATS;
    spragDetailClear();
    spragStatus status = check(state, out);
    if (status != SPRAG_OK)
        return status;
    spragSolutionSet set;
    if ((status = enumerate(state, &set)) != SPRAG_OK)
        return status;
    classify(state, &set);
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
