#include "solve/newton/cones.h"

#include <math.h>
#include <string.h>

#include "problem/reaches.h"
#include "problem/residual.h"

/* ---------------------------------------------------------------- which */

static int rowIsFixed(const double *bound, int row)
{
    return bound[row] == bound[3 + row];
}

static int rowIsFree(const double *bound, int row)
{
    return isinf(bound[row]) && isinf(bound[3 + row]);
}

/* Cones that block k becomes, or -1. */
static int conesOf(const spragProblem *problem, int k)
{
    int count = 0;
    switch (spragKindOf(problem, k)) {
    case SPRAG_BLOCK_CONTACT:
    case SPRAG_BLOCK_TWO_SIDED:
        return 1;
    case SPRAG_BLOCK_FORCE_LIMIT:
        return 1 + (problem->mu[k] > 0);
    case SPRAG_BLOCK_ROLLING:
        return (problem->mu[k] > 0) + (spragMuMinusOf(problem, k) > 0);
    case SPRAG_BLOCK_BOX:
        for (int row = 0; row < 3; ++row) {
            if (rowIsFree(problem->bound + 6 * k, row))
                return -1;
            count += !rowIsFixed(problem->bound + 6 * k, row);
        }
        return count;
    default:
        return -1;
    }
}

int spragConesApplyToSides(const spragProblem *problem)
{
    int count = 0, own = 0;
    for (int k = 0; k < problem->contact_count && own >= 0; ++k)
        own = conesOf(problem, k), count += own;
    return own >= 0 && count > 0;
}

int spragConesApply(const spragProblem *problem)
{
    for (int k = 0; k < problem->contact_count; ++k)
        if (spragKindOf(problem, k) == SPRAG_BLOCK_TWO_SIDED)
            return 0;
    return spragConesApplyToSides(problem);
}

/* ---------------------------------------------------------------- the cones */

typedef struct Making {
    spragCones *cones;
    int *first; /* (nc of asked + 1) cones of each block */
    double *mu; /* (nc of problem) */
    int count;
} Making;

/* A cone of rows a, b, c of block k (-1: unused). */
static void addCone(Making *making, int k, int load, double limit, double mu, const int row[3])
{
    spragCones *cones = making->cones;
    const int n = making->count++;
    cones->load[n] = load;
    cones->limit[n] = limit;
    making->mu[n] = mu;
    for (int i = 0; i < 3; ++i) {
        cones->source[3 * n + i] = row[i] < 0 ? -1 : 3 * k + row[i];
        cones->sign[3 * n + i] = 1;
    }
}

static void addBoxRow(Making *making, int k, int row)
{
    spragCones *cones = making->cones;
    const double lo = cones->asked->bound[6 * k + row], hi = cones->asked->bound[6 * k + 3 + row];
    double *shift = &cones->shift[3 * k + row];
    if (lo == hi) {
        *shift = lo;
    } else if (isinf(lo) || isinf(hi)) {
        *shift = isinf(hi) ? lo : hi;
        addCone(making, k, SPRAG_CONE_CONTACT, 0, 1, (const int[3]){row, -1, -1});
        cones->sign[3 * (making->count - 1)] = isinf(hi) ? 1 : -1;
    } else {
        *shift = 0.5 * (lo + hi);
        addCone(making, k, SPRAG_CONE_DISC, 0.5 * (hi - lo), 1, (const int[3]){-1, row, -1});
    }
}

static void addBlock(Making *making, int k)
{
    const spragProblem *asked = making->cones->asked;
    const double mu = asked->mu[k], mu_minus = spragMuMinusOf(asked, k);
    making->first[k] = making->count;
    switch (spragKindOf(asked, k)) {
    case SPRAG_BLOCK_FORCE_LIMIT:
        addCone(making, k, SPRAG_CONE_CONTACT, 0, 1, (const int[3]){0, -1, -1});
        if (mu > 0)
            addCone(making, k, SPRAG_CONE_DISC, mu, 1, (const int[3]){-1, 1, 2});
        break;
    case SPRAG_BLOCK_ROLLING: /* load: the parent's block, until its cone is known */
        if (mu > 0)
            addCone(making, k, asked->parent[k], mu, 1, (const int[3]){-1, 0, 1});
        if (mu_minus > 0)
            addCone(making, k, asked->parent[k], mu_minus, 1, (const int[3]){-1, 2, -1});
        break;
    case SPRAG_BLOCK_BOX:
        for (int row = 0; row < 3; ++row)
            addBoxRow(making, k, row);
        break;
    default:
        addCone(making, k, SPRAG_CONE_CONTACT, 0, mu, (const int[3]){0, 1, 2});
    }
}

/* W of the cones: entry (s_i W s_j), and the mean of its diagonal where a row is unused. */
static void fillBlock(const spragCones *cones, int a, int b, const double *W, double *out)
{
    double trace = 0;
    int used = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const int from = cones->source[3 * a + i], to = cones->source[3 * b + j];
            out[3 * i + j] =
                from < 0 || to < 0 ? 0 : cones->sign[3 * a + i] * cones->sign[3 * b + j] * W[3 * (from % 3) + to % 3];
            if (a == b && i == j && from >= 0)
                trace += out[4 * i], ++used;
        }
    for (int i = 0; i < 3 && a == b; ++i)
        if (cones->source[3 * a + i] < 0)
            out[4 * i] = trace / used;
}

static void fillMatrix(const Making *making, int *row_start, int *column, double *W)
{
    const spragCones *cones = making->cones;
    const spragProblem *asked = cones->asked;
    int entry = 0;
    for (int k = 0; k < asked->contact_count; ++k)
        for (int a = making->first[k]; a < making->first[k + 1]; ++a) {
            row_start[a] = entry;
            for (int e = asked->row_start[k]; e < asked->row_start[k + 1]; ++e)
                for (int b = making->first[asked->column[e]]; b < making->first[asked->column[e] + 1]; ++b) {
                    column[entry] = b;
                    fillBlock(cones, a, b, asked->W + 9 * (size_t)e, W + 9 * (size_t)entry);
                    ++entry;
                }
        }
    row_start[making->count] = entry;
}

/* q = s (q + W c) */
static void fillConstant(const spragCones *cones, int count, double *q)
{
    spragProblemVelocity(cones->asked, cones->shift, cones->u);
    for (int i = 0; i < 3 * count; ++i)
        q[i] = cones->source[i] < 0 ? 0 : cones->sign[i] * cones->u[cones->source[i]];
}

static size_t entriesOf(const spragProblem *asked, int *count)
{
    size_t entries = 0;
    *count = 0;
    for (int k = 0; k < asked->contact_count; ++k) {
        const int own = conesOf(asked, k);
        *count += own;
        for (int e = asked->row_start[k]; e < asked->row_start[k + 1]; ++e)
            entries += (size_t)own * (size_t)conesOf(asked, asked->column[e]);
    }
    return entries;
}

static int makeOwn(spragCones *cones, spragArena *arena)
{
    const spragProblem *asked = cones->asked;
    int count;
    const size_t entries = entriesOf(asked, &count), nc = (size_t)count, rows = 3 * (size_t)asked->contact_count;
    Making making = {
        .cones = cones, .first = SPRAG_TAKE(arena, int, asked->contact_count + 1), .mu = SPRAG_TAKE(arena, double, nc)};
    int *row_start = SPRAG_TAKE(arena, int, nc + 1), *column = SPRAG_TAKE(arena, int, entries);
    double *W = SPRAG_TAKE_RAW(arena, double, 9 * entries), *q = SPRAG_TAKE(arena, double, 3 * nc);
    cones->limit = SPRAG_TAKE(arena, double, nc), cones->load = SPRAG_TAKE(arena, int, nc);
    cones->source = SPRAG_TAKE(arena, int, 3 * nc), cones->sign = SPRAG_TAKE(arena, double, 3 * nc);
    cones->shift = SPRAG_TAKE(arena, double, rows), cones->r = SPRAG_TAKE(arena, double, rows);
    cones->u = SPRAG_TAKE(arena, double, rows);
    if (making.first == NULL || making.mu == NULL || row_start == NULL || column == NULL || W == NULL || q == NULL ||
        cones->limit == NULL || cones->load == NULL || cones->source == NULL || cones->sign == NULL ||
        cones->shift == NULL || cones->r == NULL || cones->u == NULL)
        return 0;
    for (int k = 0; k < asked->contact_count; ++k)
        addBlock(&making, k);
    making.first[asked->contact_count] = making.count;
    for (int n = 0; n < making.count; ++n)
        if (cones->load[n] >= 0)
            cones->load[n] = making.first[cones->load[n]];
    fillMatrix(&making, row_start, column, W);
    fillConstant(cones, making.count, q);
    cones->own = (spragProblem){.contact_count = making.count,
                                .block_count = row_start[making.count],
                                .row_start = row_start,
                                .column = column,
                                .W = W,
                                .q = q,
                                .mu = making.mu};
    return 1;
}

int spragConesInit(spragCones *cones, const spragProblem *asked, spragArena *arena)
{
    const int contacts = spragProblemIsPlain(asked);
    *cones = (spragCones){.asked = asked, .problem = contacts ? asked : &cones->own};
    return contacts || makeOwn(cones, arena);
}

/* ---------------------------------------------------------------- to and fro */

void spragConesFrom(const spragCones *cones, const double *r, double *y)
{
    const int n = 3 * cones->problem->contact_count;
    for (int i = 0; i < n; ++i)
        if (cones->source == NULL)
            y[i] = r[i];
        else
            y[i] = cones->source[i] < 0 ? 0 : cones->sign[i] * (r[cones->source[i]] - cones->shift[cones->source[i]]);
}

void spragConesTo(const spragCones *cones, const double *y, double *r)
{
    const int n = 3 * cones->problem->contact_count;
    if (cones->source == NULL) {
        memcpy(r, y, (size_t)n * sizeof *r);
        return;
    }
    memcpy(r, cones->shift, 3 * (size_t)cones->asked->contact_count * sizeof *r);
    for (int i = 0; i < n; ++i)
        if (cones->source[i] >= 0)
            r[cones->source[i]] += cones->sign[i] * y[i];
}

double spragConesResidual(const spragCones *cones, const double *y, const double *u)
{
    if (cones->source == NULL)
        return spragVelocityResidual(cones->asked, y, u);
    spragConesTo(cones, y, cones->r);
    return spragProblemResidual(cones->asked, cones->r);
}

/* The entry of W in row k, column l, or -1. */
static int entryOf(const spragProblem *problem, int k, int l)
{
    for (int e = problem->row_start[k]; e < problem->row_start[k + 1]; ++e)
        if (problem->column[e] == l)
            return e;
    return -1;
}

int spragConeRolls(const spragCones *cones, int k)
{
    const int load = cones->load != NULL ? cones->load[k] : -1;
    if (load < 0 || spragConeIsDisc(cones, load) || cones->source[3 * load] < 0 || cones->sign[3 * load] < 0)
        return 0;
    return entryOf(cones->problem, k, load) >= 0 &&
           spragKindOf(cones->asked, cones->source[3 * load] / 3) != SPRAG_BLOCK_TWO_SIDED;
}

/* A disc shares the motion that its contact opens by: s of it, against which the bodies' turning counts, is taken off
 * u_n.  As a degree of freedom of its own, of which the cones have made W_00 of the disc. */
static void shareOpening(const spragProblem *problem, double *W, int disc, int contact)
{
    const double mobility = W[9 * (size_t)entryOf(problem, disc, disc)];
    W[9 * (size_t)entryOf(problem, contact, contact)] += mobility;
    W[9 * (size_t)entryOf(problem, contact, disc)] -= mobility;
    W[9 * (size_t)entryOf(problem, disc, contact)] -= mobility;
}

int spragConesContacts(const spragCones *cones, int rolling, const double *r, spragProblem *out, double *y,
                       spragArena *arena)
{
    const spragProblem *all = cones->problem, *asked = cones->asked;
    const int count = all->contact_count;
    int *index = SPRAG_TAKE_RAW(arena, int, count), *row_start = SPRAG_TAKE(arena, int, count + 1);
    int *column = SPRAG_TAKE_RAW(arena, int, all->block_count), contacts = 0, entry = 0;
    double *W = SPRAG_TAKE_RAW(arena, double, 9 * (size_t)all->block_count);
    double *q = SPRAG_TAKE_RAW(arena, double, 3 * (size_t)count), *mu = SPRAG_TAKE_RAW(arena, double, count);
    double *mu_minus = SPRAG_TAKE_RAW(arena, double, count);
    unsigned char *kind = SPRAG_TAKE(arena, unsigned char, count);
    if (index == NULL || row_start == NULL || column == NULL || W == NULL || q == NULL || mu == NULL ||
        mu_minus == NULL || kind == NULL)
        return 0;
    spragConesFrom(cones, r, y);
    for (int k = 0; k < count; ++k)
        index[k] = spragConeIsDisc(cones, k) && !(rolling && spragConeRolls(cones, k)) ? -1 : contacts++;
    for (int k = 0; k < count; ++k) {
        const int to = index[k], block = cones->source == NULL ? k : cones->source[3 * k] / 3;
        if (to < 0)
            continue;
        memcpy(q + 3 * to, all->q + 3 * k, 3 * sizeof *q);
        memmove(y + 3 * to, y + 3 * k, 3 * sizeof *y);
        mu[to] = mu_minus[to] = spragConeIsDisc(cones, k) ? cones->limit[k] : all->mu[k];
        kind[to] = SPRAG_BLOCK_CONTACT;
        if (!spragConeIsDisc(cones, k) && spragKindOf(asked, block) == SPRAG_BLOCK_TWO_SIDED) {
            kind[to] = SPRAG_BLOCK_TWO_SIDED;
            mu_minus[to] = spragMuMinusOf(asked, block);
        }
        for (int e = all->row_start[k]; e < all->row_start[k + 1]; ++e)
            if (index[all->column[e]] >= 0) {
                memcpy(W + 9 * (size_t)entry, all->W + 9 * (size_t)e, 9 * sizeof *W);
                column[entry++] = index[all->column[e]];
            }
        row_start[to + 1] = entry;
    }
    *out = (spragProblem){.contact_count = contacts,
                          .block_count = entry,
                          .row_start = row_start,
                          .column = column,
                          .W = W,
                          .q = q,
                          .mu = mu,
                          .mu_minus = mu_minus,
                          .kind = kind};
    if (contacts == asked->contact_count && cones->source == NULL && !spragProblemIsLean(asked)) /* W is theirs */
        out->bodies = asked->bodies, out->linked = asked->linked;
    for (int k = 0; k < count; ++k)
        if (spragConeIsDisc(cones, k) && index[k] >= 0)
            shareOpening(out, W, index[k], index[cones->load[k]]);
    return 1;
}
