/* A combination with all directions known is linear in the forces:
 * the accelerations that vanish are as many as unknowns.
 *
 * Stability (docs/theory.md 4, 6).  G = d w_n / d r_n over the loaded contacts, directions fixed and held points held:
 * normal_stable iff det G > 0 (the same as det D det D0 > 0), small_friction iff all principal minors are positive. */
#include "analysis/combination.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/lu.h"
#include "linalg/vec3.h"

static int addColumn(Unknowns *u, int row, double value)
{
    u->pattern[u->columns][row] = value;
    return u->columns++;
}

void spragCombinationCollect(const Enumeration *en, unsigned roles, Unknowns *u)
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

double spragCombinationAcceleration(const Enumeration *en, int row, const double *r)
{
    double sum = 0;
    for (int j = 0; j < en->n; ++j)
        sum += en->state->A[en->n * row + j] * r[j];
    return sum;
}

void spragCombinationSystem(const Enumeration *en, const Unknowns *u, double *K)
{
    for (int i = 0; i < u->rows; ++i)
        for (int j = 0; j < u->columns; ++j)
            K[u->columns * i + j] = spragCombinationAcceleration(en, u->row[i], u->pattern[j]);
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

/* det of the rows and columns of G (n x n) in the mask, scale-free: columns divided by their norm; 0 below
 * COMBINATION_ZERO. */
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
    if (spragLuFactor(m, A, pivot, COMBINATION_ZERO) < m)
        return 0;
    for (int k = 0; k < m; ++k)
        det *= A[m * k + k] * (pivot[k] == k ? 1 : -1);
    return det;
}

/* G (m x m) = d w_n / d r_n of the loaded contacts; returns m. */
static int normalOperator(const Enumeration *en, double *G)
{
    Unknowns all, held = {0};
    spragCombinationCollect(en, 1u << HOLD | 1u << SLIDE | 1u << START, &all);
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
    spragCombinationSystem(en, &held, K);
    for (int j = 0; j < m; ++j) {
        const int k = loaded[j];
        double force[ROWS], c[AFFINE_MAX];
        for (int i = 0; i < en->n; ++i)
            force[i] = all.pattern[all.normal[k]][i] * (en->role[k] == HOLD ? 1 : en->sign[k]);
        for (int i = 0; i < held.rows; ++i)
            c[i] = -spragCombinationAcceleration(en, held.row[i], force);
        AffineSet follow;
        spragAffineSolve(held.rows, held.columns, K, c, INFINITY, &follow);
        for (int i = 0; i < held.columns; ++i)
            force[held.row[i]] += follow.point[i];
        for (int i = 0; i < m; ++i)
            G[m * i + j] = spragCombinationAcceleration(en, 3 * loaded[i], force);
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
        /* internal forces of either sign give a family in several pieces: one motion, recorded once */
        const int same_family = s->family && other->family && memcmp(s->mode, other->mode, sizeof s->mode) == 0;
        if (same_family && en->continuum && memcmp(s->variant, other->variant, sizeof s->variant) == 0)
            return 1;
        if ((same_family || r <= 1e-9 * r_size) && w <= 1e-9 * w_size + COMBINATION_ZERO * en->b_size)
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
            s->w[row] = spragCombinationAcceleration(en, row, s->r) + en->state->b[row];
        }
        double *w = s->w + 3 * k;
        const double tangential = COMBINATION_ZERO * fmax(size[1], size[2]),
                     along = w[1] * en->e[k][0] + w[2] * en->e[k][1];
        switch (en->role[k]) {
        case OPEN:
            if (w[0] < -COMBINATION_ZERO * size[0])
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

int spragCombinationRecord(Enumeration *en, const double *r, int family)
{
    static const unsigned char mode[] = {SPRAG_MODE_OPEN, SPRAG_MODE_STICK, SPRAG_MODE_SLIP, SPRAG_MODE_SLIP};
    spragParadoxSolution s = {
        .multiplicity = en->multiplicity, .family = family, .direction_stable = en->direction_stable};
    memcpy(s.r, r, (size_t)en->n * sizeof *r);
    for (int k = 0; k < en->nc; ++k) {
        s.mode[k] = mode[en->role[k]];
        s.variant[k] = (signed char)((s.r[3 * k] > 0) - (s.r[3 * k] < 0));
    }
    if (!accelerationsAgree(en, &s))
        return 0;
    judgeNormal(en, &s);
    append(en, &s);
    return 1;
}

/* A continuum of forces that contains 0: there its one-sided contacts are about to open, and the combination in which
 * they are open records that.  Here another point of the continuum is recorded, to tell one from the other. */
static void leaveOpening(const Enumeration *en, const AffineSet *affine, int cone_count, const AffineCone *cone,
                         double force, double *x)
{
    int unloaded = affine->nulls > 0, opens = 0;
    for (int j = 0; j < affine->columns; ++j)
        unloaded &= x[j] == 0;
    for (int k = 0; k < en->nc; ++k)
        opens |= en->role[k] != OPEN && (en->state->two_sided == NULL || !en->state->two_sided[k]);
    if (unloaded && opens)
        spragAffineOffApex(affine, cone_count, cone, force > 0 ? force : 1, x);
}

void spragCombinationSolve(Enumeration *en)
{
    Unknowns u;
    AffineCone cone[2 * CONTACTS];
    AffineSet affine;
    double K[AFFINE_MAX * AFFINE_MAX], c[AFFINE_MAX], x[AFFINE_MAX];
    const double force = en->a_size > 0 ? en->b_size / en->a_size : 0;
    spragCombinationCollect(en, 1u << HOLD | 1u << SLIDE | 1u << START, &u);
    spragCombinationSystem(en, &u, K);
    for (int i = 0; i < u.rows; ++i)
        c[i] = -en->state->b[u.row[i]];
    spragAffineSolve(u.rows, u.columns, K, c, en->b_size, &affine);
    const int cone_count = cones(en, &u, cone);
    if (!affine.consistent || !spragAffineFeasible(&affine, cone_count, cone, force, x))
        return;
    leaveOpening(en, &affine, cone_count, cone, force, x);
    double r[ROWS] = {0};
    for (int j = 0; j < u.columns; ++j)
        for (int i = 0; i < en->n; ++i)
            r[i] += u.pattern[j][i] * x[j];
    spragCombinationRecord(en, r, affine.nulls > 0 || en->continuum);
}
