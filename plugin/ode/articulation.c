#include "ode/articulation.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "linalg/ldlt.h"
#include "linalg/vec3.h"
#include "ode/island.h"
#include "ode/joint_rows.h"
#include "ode/surge.h"

/* ---------------------------------------------------------------- rows of one joint */

static int isEquality(const spragJointRowSet *rows, int k)
{
    return isinf(rows->lo[k]) && isinf(rows->hi[k]);
}

static void readEquality(const spragJointRowSet *rows, int k, double h, spragEqualityRow *row)
{
    memcpy(row->J[0], rows->J1[k], sizeof row->J[0]);
    memcpy(row->J[1], rows->J2[k], sizeof row->J[1]);
    row->rhs = row->asked = rows->rhs[k];
    row->compliance = rows->cfm[k] / h;
    row->lo = rows->lo[k] * h;
    row->hi = rows->hi[k] * h;
}

/* ---------------------------------------------------------------- limits and motors */

#define CLEAR 0.02 /* of what lies between the bounds */

spragLoadMemory *spragLoadOf(const struct spragWorld *world, int j, int number)
{
    const spragJointState *joint = &world->snapshot.joint[j];
    for (int k = joint->memory; k >= 0; k = world->load[k].next)
        if (world->load[k].number == number && world->load[k].serial == joint->serial)
            return &world->load[k];
    return NULL;
}

/* Did it hold in the last step, clear of its bounds?  Joint friction has its own way with the rows of its joint. */
static int held(const struct spragWorld *world, int j, int number, double lo, double hi)
{
    const spragLoadMemory *load = spragLoadOf(world, j, number);
    if (load == NULL || world->snapshot.joint[j].bearing != NULL)
        return 0;
    const double margin = isfinite(hi - lo) ? CLEAR * (hi - lo) : 0;
    return load->force > lo + margin && load->force < hi - margin;
}

int spragArticulationsUnhold(struct spragWorld *world, const spragIsland *island)
{
    int count = 0;
    for (int a = 0; a < island->articulation_count; ++a) {
        const struct spragArticulation *art = &island->articulation[a];
        for (int i = 0; i < art->row_count; ++i) {
            const spragEqualityRow *row = &island->row[art->row[i]];
            const int redundant = art->inverse_pivot[i] == 0; /* nobody asked whether it holds */
            if (row->number < 0 || (!redundant && row->impulse >= row->lo && row->impulse <= row->hi))
                continue;
            spragLoadOf(world, row->joint, row->number)->force =
                (row->impulse < row->lo || isinf(row->hi) ? row->lo : row->hi) / world->snapshot.step;
            ++count;
        }
    }
    return count;
}

/* ---------------------------------------------------------------- what a joint brings */

static void readBounded(const spragJointRowSet *rows, int k, double h, spragBlock *block, int at)
{
    memcpy(block->J[0][at], rows->J1[k], sizeof block->J[0][at]);
    memcpy(block->J[1][at], rows->J2[k], sizeof block->J[1][at]);
    block->rhs[at] = rows->rhs[k];
    block->compliance[at] = rows->cfm[k] / h;
    block->lo[at] = rows->lo[k] * h;
    block->hi[at] = rows->hi[k] * h;
    block->unused[at] = 0;
}

/* The motor of an axis at its stop is a force on the bodies, not a row. */
static void addMotorForce(spragSnapshot *s, const spragJointRowSet *rows, int k, const int body[2])
{
    for (int side = 0; side < 2 && rows->force[k] != 0; ++side)
        for (int i = 0; i < 6 && body[side] >= 0; ++i)
            s->body[body[side]].motor_force[i] += (side == 0 ? rows->J1[k][i] : rows->J2[k][i]) * rows->force[k];
}

/* Why the joint's rows cannot be used, so that the island is ODE's; or NULL. */
static const char *readRows(const spragSnapshot *s, const spragJointState *joint, spragJointRowSet *rows)
{
    if (!spragJointRowsAvailable())
        return "the rows of its joints cannot be had from this libode";
    if (spragJointRows(joint->id, 1 / s->step, s->erp, s->cfm, rows) < 0)
        return "a joint of a type whose rows cannot be had";
    for (int k = 0; k < rows->m; ++k)
        if (rows->findex[k] >= 0)
            return "a joint row bounded by another";
    return NULL;
}

/* First row with a number that is none, or m.  Bounds and CFM may be infinite. */
static int firstAbsurdRow(const spragJointRowSet *rows)
{
    int k = 0;
    for (; k < rows->m; ++k) {
        double sum = rows->rhs[k];
        for (int i = 0; i < 6; ++i)
            sum += rows->J1[k][i] + rows->J2[k][i];
        if (!isfinite(sum) || isnan(rows->cfm[k]) || isnan(rows->lo[k]) || isnan(rows->hi[k]))
            break;
    }
    return k;
}

spragStatus spragJointBlocks(struct spragWorld *world, int j, spragIsland *island)
{
    spragSnapshot *s = &world->snapshot;
    const spragJointState *joint = &s->joint[j];
    if (joint->type == dJointTypeNull)
        return SPRAG_OK;
    spragJointRowSet rows;
    const double h = s->step;
    island->declined = readRows(s, joint, &rows);
    if (island->declined != NULL)
        return SPRAG_OK;
    const int absurd = firstAbsurdRow(&rows);
    if (absurd < rows.m)
        return spragFail(SPRAG_ERROR_NOT_FINITE,
                         "joint %d, of type %d: row %d of %d is not finite: see its anchor, axes, ERP, CFM and motor",
                         j, (int)joint->type, absurd, rows.m);
    const int *body = joint->body;
    int bounded = 0, limits = 0;
    for (int k = 0; k < rows.m; ++k) {
        const int equality = isEquality(&rows, k), number = equality ? -1 : limits++;
        if (equality || held(world, j, number, rows.lo[k], rows.hi[k])) {
            spragEqualityRow *row = &island->row[island->row_count++];
            *row = (spragEqualityRow){.joint = j, .body = {body[0], body[1]}, .number = number};
            readEquality(&rows, k, h, row);
        } else {
            spragBlock *block = &island->block[island->block_count + bounded / 3];
            if (bounded % 3 == 0)
                *block = (spragBlock){.kind = SPRAG_BLOCK_BOX,
                                      .part = SPRAG_PART_JOINT,
                                      .joint = j,
                                      .parent = -1,
                                      .body = {body[0], body[1]},
                                      .scale = 1,
                                      .unused = {1, 1, 1}};
            block->number[bounded % 3] = (unsigned char)number;
            readBounded(&rows, k, h, block, bounded++ % 3);
        }
        addMotorForce(s, &rows, k, body);
    }
    island->block_count += (bounded + 2) / 3;
    return SPRAG_OK;
}

/* ---------------------------------------------------------------- mechanisms */

static int isDynamic(const spragSnapshot *s, int body)
{
    return body >= 0 && !s->body[body].kinematic;
}

/* A dynamic body of the row: all of them are in one mechanism. */
static spragBodyState *dynamicBody(spragSnapshot *s, const spragEqualityRow *row)
{
    return isDynamic(s, row->body[0]) ? &s->body[row->body[0]] : &s->body[row->body[1]];
}

/* Sets of bodies joined by rows; each with a row becomes a mechanism, and every set a group of W's pattern. */
static int findMechanisms(struct spragWorld *world, spragIsland *island)
{
    spragSnapshot *s = &world->snapshot;
    int *parent = SPRAG_TAKE(&island->lane->arena, int, island->body_count);
    if (parent == NULL)
        return 0;
    for (int i = 0; i < island->body_count; ++i)
        parent[i] = i;
    for (int e = 0; e < island->row_count; ++e) {
        const int *body = island->row[e].body;
        if (isDynamic(s, body[0]) && isDynamic(s, body[1]))
            spragSetJoin(parent, s->body[body[0]].place, s->body[body[1]].place);
    }
    for (int i = 0; i < island->body_count; ++i)
        s->body[island->body[i]].place = spragSetFind(parent, i);
    for (int e = 0; e < island->row_count; ++e) {
        spragBodyState *root = &s->body[island->body[dynamicBody(s, &island->row[e])->place]];
        if (root->articulation < 0)
            root->articulation = island->articulation_count++;
    }
    for (int i = 0; i < island->body_count; ++i) {
        spragBodyState *body = &s->body[island->body[i]];
        body->articulation = s->body[island->body[body->place]].articulation;
    }
    return 1;
}

/* Which mechanisms a block touches: one per side, once if both sides are of the same. */
static void touchMechanisms(const spragSnapshot *s, spragBlock *block)
{
    for (int side = 0; side < 2; ++side)
        block->articulation[side] = isDynamic(s, block->body[side]) ? s->body[block->body[side]].articulation : -1;
    if (block->articulation[0] == block->articulation[1])
        block->articulation[1] = -1;
}

static int takeLists(struct spragWorld *world, spragIsland *island)
{
    const spragSnapshot *s = &world->snapshot;
    for (int e = 0; e < island->row_count; ++e)
        ++island->articulation[dynamicBody((spragSnapshot *)s, &island->row[e])->articulation].row_count;
    for (int k = 0; k < island->block_count; ++k)
        for (int side = 0; side < 2; ++side)
            if (island->block[k].articulation[side] >= 0)
                ++island->articulation[island->block[k].articulation[side]].block_count;
    for (int a = 0; a < island->articulation_count; ++a) {
        struct spragArticulation *art = &island->articulation[a];
        const size_t m = (size_t)art->row_count, n = (size_t)art->block_count;
        art->row = SPRAG_TAKE(&island->lane->arena, int, m);
        art->block = SPRAG_TAKE(&island->lane->arena, int, n);
        art->L = SPRAG_TAKE_RAW(&island->lane->arena, double, m *m); /* nobody looks outside its envelope */
        art->inverse_pivot = SPRAG_TAKE(&island->lane->arena, double, m);
        art->y = spragArenaTakeRaw(&island->lane->arena, m, sizeof *art->y);
        art->Z = SPRAG_TAKE(&island->lane->arena, double, 3 * m * n);
        art->first = SPRAG_TAKE(&island->lane->arena, int, m);
        art->top = SPRAG_TAKE(&island->lane->arena, int, n);
        art->width = SPRAG_TAKE_RAW(&island->lane->arena, int, n);
        art->Y = spragArenaTake(&island->lane->arena, m, sizeof *art->Y);
        if (!art->row || !art->block || !art->L || !art->inverse_pivot || !art->y || !art->Z || !art->first ||
            !art->top || !art->width || !art->Y)
            return 0;
        art->row_count = art->block_count = 0;
    }
    return 1;
}

static void fillLists(spragSnapshot *s, spragIsland *island)
{
    for (int e = 0; e < island->row_count; ++e) {
        struct spragArticulation *art = &island->articulation[dynamicBody(s, &island->row[e])->articulation];
        art->row[art->row_count++] = e;
    }
    for (int k = 0; k < island->block_count; ++k)
        for (int side = 0; side < 2; ++side)
            if (island->block[k].articulation[side] >= 0) {
                struct spragArticulation *art = &island->articulation[island->block[k].articulation[side]];
                island->block[k].slot[side] = art->block_count;
                art->block[art->block_count++] = k;
            }
}

/* ---------------------------------------------------------------- factors */

/* out = M^-1 J^T of one row for one body */
static void respond(const spragBodyState *body, const double J[6], double out[6])
{
    for (int i = 0; i < 3; ++i)
        out[i] = body->inverse_mass * J[i];
    spragMul33(out + 3, body->inverse_inertia, J + 3);
}

/* In two parts, which the processor multiplies at once. */
static double dot6(const double a[6], const double b[6])
{
    typedef double Pair __attribute__((vector_size(16), aligned(8), may_alias));
    const Pair *x = (const Pair *)(const void *)a, *y = (const Pair *)(const void *)b;
    const Pair sum = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    return sum[0] + sum[1];
}

/* Envelope of A for the order of art->row; returns the size of it.  Two rows meet where they share a dynamic body. */
static int envelope(spragSnapshot *s, const spragIsland *island, struct spragArticulation *art)
{
    int size = 0;
    for (int i = 0; i < art->row_count; ++i)
        for (int a = 0; a < 2; ++a)
            if (isDynamic(s, island->row[art->row[i]].body[a]))
                s->body[island->row[art->row[i]].body[a]].first_row = art->row_count;
    for (int i = 0; i < art->row_count; ++i) {
        art->first[i] = i;
        for (int a = 0; a < 2; ++a) {
            const int body = island->row[art->row[i]].body[a];
            if (!isDynamic(s, body))
                continue;
            if (s->body[body].first_row > i)
                s->body[body].first_row = i;
            if (s->body[body].first_row < art->first[i])
                art->first[i] = s->body[body].first_row;
        }
        size += i - art->first[i];
    }
    return size;
}

static void reverse(int count, int *list)
{
    for (int i = 0; i < count / 2; ++i) {
        const int swap = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = swap;
    }
}

/* Joints as they were made, or the other way round: a robot that is built from its trunk outwards is eliminated from its
 * feet inwards, which keeps L narrow. */
static void orderRows(spragSnapshot *s, const spragIsland *island, struct spragArticulation *art)
{
    const int forward = envelope(s, island, art);
    reverse(art->row_count, art->row);
    if (envelope(s, island, art) < forward)
        return;
    reverse(art->row_count, art->row);
    envelope(s, island, art);
}

/* Bodies of two rows that are the same one: sides of e and of f. */
typedef struct Shared {
    int count, e[4], f[4];
} Shared;

static Shared findShared(const spragEqualityRow *e, const spragEqualityRow *f)
{
    Shared shared = {.count = 0};
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b)
            if (e->body[a] >= 0 && e->body[a] == f->body[b]) {
                shared.e[shared.count] = a;
                shared.f[shared.count++] = b;
            }
    return shared;
}

/* Row i of A.  Rows of one joint lie side by side and meet the same bodies. */
static void couplings(const spragIsland *island, const struct spragArticulation *art, int i, double *out)
{
    const spragEqualityRow *e = &island->row[art->row[i]];
    Shared shared = {.count = 0};
    for (int j = art->first[i], joint = -1; j <= i; ++j) {
        const spragEqualityRow *f = &island->row[art->row[j]];
        if (f->joint != joint)
            shared = findShared(e, f);
        joint = f->joint;
        double sum = 0;
        for (int k = 0; k < shared.count; ++k)
            sum += dot6(e->J[shared.e[k]], art->Y[j][shared.f[k]]);
        out[j] = sum;
    }
}

/* Ask for what can be had without haste: b <- A (A + C)^-1 b = b - C (A + C)^-1 b, b = rhs - E v of kinematic bodies, C = SPRAG_DAMPING diag A, of rows
 * that may surge (surge.h).  A in art->L, not factored yet.  0: no memory. */
static int damp(const spragSnapshot *s, spragIsland *island, const struct spragArticulation *art)
{
    const size_t m = (size_t)art->row_count;
    double *L = SPRAG_TAKE_RAW(&island->lane->scratch, double, m *m),
           *x = SPRAG_TAKE_RAW(&island->lane->scratch, double, m),
           *pivot = SPRAG_TAKE_RAW(&island->lane->scratch, double, m);
    if (L == NULL || x == NULL || pivot == NULL)
        return 0;
    memcpy(L, art->L, m * m * sizeof *L);
    for (size_t i = 0; i < m; ++i) {
        const spragEqualityRow *row = &island->row[art->row[i]];
        L[i * m + i] *= spragRowDrives(row) ? 1 : 1 + SPRAG_DAMPING;
        x[i] = row->rhs + spragSurgeGiven(s, row->body, row->J[0], row->J[1]);
    }
    spragLdltFactor(art->row_count, art->first, L, pivot);
    spragLdltForward(art->row_count, art->first, L, 1, 0, x);
    for (size_t i = 0; i < m; ++i)
        x[i] *= pivot[i];
    spragLdltBackward(art->row_count, art->first, L, x);
    for (size_t i = 0; i < m; ++i) {
        spragEqualityRow *row = &island->row[art->row[i]];
        row->rhs -= spragRowDrives(row) ? 0 : SPRAG_DAMPING * art->L[i * m + i] * x[i];
    }
    return 1;
}

/* 0: no memory. */
static int factor(spragSnapshot *s, spragIsland *island, struct spragArticulation *art)
{
    const int m = art->row_count;
    orderRows(s, island, art);
    for (int i = 0; i < m; ++i) {
        const spragEqualityRow *e = &island->row[art->row[i]];
        for (int a = 0; a < 2; ++a)
            if (isDynamic(s, e->body[a]))
                respond(&s->body[e->body[a]], e->J[a], art->Y[i][a]);
        couplings(island, art, i, art->L + (size_t)i * (size_t)m);
        art->L[i * m + i] += e->compliance;
    }
    if (island->surged && !damp(s, island, art))
        return 0;
    for (int i = 0; i < m; ++i) {
        const spragEqualityRow *e = &island->row[art->row[i]];
        double v = 0, w = 0;
        for (int a = 0; a < 2; ++a)
            if (e->body[a] >= 0) {
                v += dot6(e->J[a], s->body[e->body[a]].free_velocity);
                w += dot6(e->J[a], s->body[e->body[a]].velocity);
            }
        art->y[i][0] = v - e->rhs;
        art->y[i][1] = (v - w) / s->step;
    }
    spragLdltFactor(m, art->first, art->L, art->inverse_pivot);
    spragLdltForward(m, art->first, art->L, 2, 0, art->y[0]);
    return 1;
}

/* Z of one block: L^-1 E M^-1 J^T, onto zeros */
static void respondBlock(const spragSnapshot *s, const spragIsland *island, struct spragArticulation *art, int slot)
{
    const spragBlock *block = &island->block[art->block[slot]];
    double *Z = art->Z + (size_t)slot * 3 * (size_t)art->row_count;
    const int width = block->unused[2] ? block->unused[1] ? 1 : 2 : 3;
    art->width[slot] = width;
    art->top[slot] = art->row_count;
    for (int i = art->row_count - 1; i >= 0; --i) {
        const spragEqualityRow *e = &island->row[art->row[i]];
        for (int a = 0; a < 2; ++a)
            for (int b = 0; b < 2; ++b) {
                if (e->body[a] != block->body[b] || !isDynamic(s, e->body[a]))
                    continue;
                art->top[slot] = i;
                for (int c = 0; c < width; ++c)
                    Z[width * i + c] += dot6(e->J[a], island->Y[art->block[slot]][b][c]);
            }
    }
    spragLdltForward(art->row_count, art->first, art->L, width, art->top[slot], Z);
}

int spragArticulationsMake(struct spragWorld *world, spragIsland *island)
{
    spragSnapshot *s = &world->snapshot;
    if (island->row_count > 0 && !findMechanisms(world, island))
        return 0;
    for (int k = 0; k < island->block_count; ++k)
        touchMechanisms(s, &island->block[k]);
    if (island->row_count == 0)
        return 1;
    island->articulation = SPRAG_TAKE(&island->lane->arena, struct spragArticulation, island->articulation_count);
    if (island->articulation == NULL || !takeLists(world, island))
        return 0;
    fillLists(s, island);
    for (int a = 0; a < island->articulation_count; ++a) {
        struct spragArticulation *art = &island->articulation[a];
        if (!factor(s, island, art))
            return 0;
        for (int slot = 0; slot < art->block_count; ++slot)
            respondBlock(s, island, art, slot);
    }
    return 1;
}

void spragArticulationsRespond(const spragSnapshot *s, spragIsland *island)
{
    for (int a = 0; a < island->articulation_count; ++a) {
        struct spragArticulation *art = &island->articulation[a];
        memset(art->Z, 0, 3 * (size_t)art->block_count * (size_t)art->row_count * sizeof *art->Z);
        for (int slot = 0; slot < art->block_count; ++slot)
            respondBlock(s, island, art, slot);
    }
}

/* ---------------------------------------------------------------- elimination */

static const double *blockZ(const struct spragArticulation *art, int slot)
{
    return art->Z + (size_t)slot * 3 * (size_t)art->row_count;
}

/* W -= Z_k^T D^-1 Z_l from row top on; the widths known to the compiler. */
static inline void couple(const struct spragArticulation *art, int top, const double *Zk, int wk, const double *Zl,
                          int wl, double W[9])
{
    double sum[9] = {0};
    for (int i = top; i < art->row_count; ++i)
        for (int r = 0; r < wk; ++r) {
            const double z = Zk[wk * i + r] * art->inverse_pivot[i];
            for (int c = 0; c < wl; ++c)
                sum[3 * r + c] += z * Zl[wl * i + c];
        }
    for (int i = 0; i < 9; ++i)
        W[i] -= sum[i];
}

void spragArticulationCouple(const spragIsland *island, int k, int l, double W[9])
{
    const spragBlock *p = &island->block[k], *q = &island->block[l];
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) {
            if (p->articulation[a] < 0 || p->articulation[a] != q->articulation[b])
                continue;
            const struct spragArticulation *art = &island->articulation[p->articulation[a]];
            const int sk = p->slot[a], sl = q->slot[b], wk = art->width[sk], wl = art->width[sl];
            const double *Zk = blockZ(art, sk), *Zl = blockZ(art, sl);
            const int top = art->top[sk] > art->top[sl] ? art->top[sk] : art->top[sl];
            if (wk == 3 && wl == 3)
                couple(art, top, Zk, 3, Zl, 3, W);
            else if (wk == 1 && wl == 1)
                couple(art, top, Zk, 1, Zl, 1, W);
            else
                couple(art, top, Zk, wk, Zl, wl, W);
        }
}

void spragArticulationShift(const spragIsland *island, int k, double q[3], double *free_acceleration)
{
    const spragBlock *block = &island->block[k];
    for (int side = 0; side < 2; ++side) {
        if (block->articulation[side] < 0)
            continue;
        const struct spragArticulation *art = &island->articulation[block->articulation[side]];
        const double *Z = blockZ(art, block->slot[side]);
        const int width = art->width[block->slot[side]];
        for (int i = art->top[block->slot[side]]; i < art->row_count; ++i) {
            for (int c = 0; c < width; ++c)
                q[c] -= Z[width * i + c] * art->inverse_pivot[i] * art->y[i][0];
            *free_acceleration -= Z[width * i] * art->inverse_pivot[i] * art->y[i][1];
        }
    }
}

int spragArticulationsSolve(spragIsland *island)
{
    for (int a = 0; a < island->articulation_count; ++a) {
        const struct spragArticulation *art = &island->articulation[a];
        double *x = SPRAG_TAKE(&island->lane->arena, double, art->row_count);
        if (x == NULL)
            return 0;
        for (int i = 0; i < art->row_count; ++i)
            x[i] = art->y[i][0];
        for (int slot = 0; slot < art->block_count; ++slot)
            for (int i = art->top[slot]; i < art->row_count; ++i)
                for (int c = 0; c < art->width[slot]; ++c)
                    x[i] += blockZ(art, slot)[art->width[slot] * i + c] * island->r[3 * art->block[slot] + c];
        for (int i = 0; i < art->row_count; ++i)
            x[i] *= -art->inverse_pivot[i];
        spragLdltBackward(art->row_count, art->first, art->L, x);
        for (int i = 0; i < art->row_count; ++i)
            island->row[art->row[i]].impulse = x[i];
    }
    return 1;
}
