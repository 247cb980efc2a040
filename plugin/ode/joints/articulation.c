#include "ode/joints/articulation.h"

#include <math.h>
#include <string.h>

#include "linalg/panel.h"
#include "linalg/vec3.h"
#include "ode/joints/mechanism.h"
#include "ode/joints/surge.h"

/* ---------------------------------------------------------------- rows */

/* Row c of joint i of a mechanism. */
static spragEqualityRow *rowOf(const spragIsland *island, const struct spragArticulation *art, int i, int c)
{
    return &island->row[art->row[art->first[i] + c]];
}

static double *inversePivot(const struct spragArticulation *art, int i, int c)
{
    return art->factor.inverse_pivot + SPRAG_JOINED_ROWS * i + c;
}

/* ---------------------------------------------------------------- limits and motors that are taken to hold */

/* Is it a limit or motor that is taken to hold, and does not?  A redundant one counts as not holding: it has no impulse
 * that would tell. */
static int isBroken(const spragEqualityRow *row, int redundant)
{
    return row->number >= 0 && (redundant || !(row->impulse >= row->lo && row->impulse <= row->hi));
}

int spragArticulationsUnhold(struct spragWorld *world, const spragIsland *island)
{
    int count = 0;
    for (int a = 0; a < island->articulation_count; ++a) {
        const struct spragArticulation *art = &island->articulation[a];
        for (int i = 0; i < art->joint_count; ++i)
            for (int c = 0; c < art->factor.size[i]; ++c) {
                const spragEqualityRow *row = rowOf(island, art, i, c);
                if (!isBroken(row, *inversePivot(art, i, c) == 0))
                    continue;
                spragLoadOf(world, row->joint, row->number)->force =
                    (row->impulse < row->lo || isinf(row->hi) ? row->lo : row->hi) / world->snapshot.step;
                ++count;
            }
    }
    return count;
}

/* ---------------------------------------------------------------- factors */

/* In two sums, which the processor can add at the same time. */
static double dot6(const double a[6], const double b[6])
{
    typedef double Pair __attribute__((vector_size(16), aligned(8), may_alias));
    const Pair *x = (const Pair *)(const void *)a, *y = (const Pair *)(const void *)b;
    const Pair sum = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    return sum[0] + sum[1];
}

typedef struct Mechanism {
    const spragSnapshot *s;
    const spragIsland *island;
    struct spragArticulation *art;
} Mechanism;

/* E^T and M^-1 E^T of joint i. */
SPRAG_QUAD_INLINE void respondJoint(const Mechanism *m, int i)
{
    static const double none[6] = {0};
    const struct spragArticulation *art = m->art;
    spragJointPanel *panel = &art->panel[i];
    const int rows = art->factor.size[i];
    for (int side = 0; side < 2; ++side) {
        spragQuad(*J)[2] = panel->J[side], (*Y)[2] = panel->Y[side];
        if (art->group[i][side] < 0) {
            memset(J, 0, sizeof panel->J[side]);
            memset(Y, 0, sizeof panel->Y[side]);
            continue;
        }
        const spragBodyState *body = &m->s->body[rowOf(m->island, art, i, 0)->body[side]];
        const double *row[2 * SPRAG_QUAD];
        for (int c = 0; c < 2 * SPRAG_QUAD; ++c)
            row[c] = c < rows ? rowOf(m->island, art, i, c)->J[side] : none;
        for (int k = 0; k < 6; ++k)
            for (int q = 0; q < 2; ++q) {
                const double *const *of = row + SPRAG_QUAD * q;
                J[k][q] = (spragQuad){of[0][k], of[1][k], of[2][k], of[3][k]};
            }
        for (int q = 0; q < 2; ++q) {
            for (int k = 0; k < 3; ++k)
                Y[k][q] = body->inverse_mass * J[k][q];
            for (int k = 0; k < 3; ++k) {
                const double *inverse = body->inverse_inertia + 3 * k;
                Y[3 + k][q] = inverse[0] * J[3][q] + inverse[1] * J[4][q] + inverse[2] * J[5][q];
            }
        }
    }
}

/* A_ij^T = E_j M^-1 E_i^T */
SPRAG_QUAD_INLINE void coupleJoints(const struct spragArticulation *art, int quads, int i, int j, double *A)
{
    const int *e = art->group[i], *f = art->group[j];
    memset(A, 0, SPRAG_JOINED_BLOCK * sizeof *A);
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b)
            if (e[a] >= 0 && e[a] == f[b]) {
                const spragPanelMatrix YT = {(const double *)art->panel[j].Y[b], art->factor.size[j], 6, 1,
                                             SPRAG_JOINED_STRIDE};
                spragPanelAdd(1, YT, quads, 2, art->panel[i].J[a][0], (spragQuad *)(void *)A);
            }
}

SPRAG_QUAD_INLINE void assembleRow(const Mechanism *m, int quads, int i)
{
    const struct spragArticulation *art = m->art;
    const spragBlockLdlt *f = &art->factor;
    double *own = f->diagonal + SPRAG_JOINED_BLOCK * (size_t)i;
    respondJoint(m, i);
    for (int e = f->start[i]; e < f->start[i + 1]; ++e)
        coupleJoints(art, quads, i, f->column[e], f->L + SPRAG_JOINED_BLOCK * (size_t)e);
    coupleJoints(art, quads, i, i, own);
    for (int c = 0; c < f->size[i]; ++c)
        own[(SPRAG_JOINED_STRIDE + 1) * c] += rowOf(m->island, art, i, c)->compliance;
}

SPRAG_QUAD_INLINE void assembleRows(const Mechanism *m)
{
    for (int i = 0; i < m->art->joint_count; ++i)
        if (m->art->factor.size[i] <= SPRAG_QUAD)
            assembleRow(m, 1, i);
        else
            assembleRow(m, 2, i);
}

SPRAG_QUAD_CLONES(assemble, assembleRows, const Mechanism)

/* Damps what the rows of a mechanism that has surged (surge.h) ask for: b <- A (A + C)^-1 b = b - C (A + C)^-1 b, with
 * b = rhs - E v of kinematic bodies, and C = SPRAG_DAMPING diag A, 0 for motors.  A is not factored yet.  0: no
 * memory. */
static int damp(const spragSnapshot *s, spragIsland *island, const struct spragArticulation *art)
{
    spragBlockLdlt f = art->factor;
    const size_t n = (size_t)f.n, blocks = (size_t)f.start[f.n] + n;
    f.L = SPRAG_TAKE_RAW(&island->lane->scratch, double, (SPRAG_JOINED_BLOCK * blocks) + SPRAG_JOINED_ROWS * n);
    double(*x)[SPRAG_QUAD] = spragArenaTake(&island->lane->scratch, SPRAG_JOINED_ROWS * n, sizeof *x);
    double *lambda = SPRAG_TAKE_RAW(&island->lane->scratch, double, SPRAG_JOINED_ROWS *n);
    if (f.L == NULL || x == NULL || lambda == NULL)
        return 0;
    memcpy(f.L, art->factor.L, SPRAG_JOINED_BLOCK * blocks * sizeof *f.L);
    f.diagonal = f.L + (art->factor.diagonal - art->factor.L);
    f.inverse_pivot = f.L + SPRAG_JOINED_BLOCK * blocks;
    for (int i = 0; i < f.n; ++i)
        for (int c = 0; c < f.size[i]; ++c) {
            const spragEqualityRow *row = rowOf(island, art, i, c);
            f.diagonal[SPRAG_JOINED_BLOCK * i + (SPRAG_JOINED_STRIDE + 1) * c] *=
                spragRowDrives(row) ? 1 : 1 + SPRAG_DAMPING;
            x[SPRAG_JOINED_ROWS * i + c][0] = row->rhs + spragSurgeGiven(s, row->body, row->J[0], row->J[1]);
        }
    spragBlockLdltFactor(&f);
    spragBlockLdltForward(&f, f.n, NULL, x[0]);
    for (int i = 0; i < f.n; ++i)
        for (int c = 0; c < f.size[i]; ++c) {
            const int at = SPRAG_JOINED_ROWS * i + c;
            lambda[at] = x[at][0] * f.inverse_pivot[at];
        }
    spragBlockLdltBackward(&f, lambda);
    for (int i = 0; i < f.n; ++i)
        for (int c = 0; c < f.size[i]; ++c) {
            spragEqualityRow *row = rowOf(island, art, i, c);
            const double own = art->factor.diagonal[SPRAG_JOINED_BLOCK * i + (SPRAG_JOINED_STRIDE + 1) * c];
            row->rhs -= spragRowDrives(row) ? 0 : SPRAG_DAMPING * own * lambda[SPRAG_JOINED_ROWS * i + c];
        }
    return 1;
}

/* y before it is eliminated */
static void fillVelocities(const Mechanism *m)
{
    const struct spragArticulation *art = m->art;
    for (int i = 0; i < art->joint_count; ++i)
        for (int c = 0; c < art->factor.size[i]; ++c) {
            const spragEqualityRow *e = rowOf(m->island, art, i, c);
            double v = 0, w = 0;
            for (int a = 0; a < 2; ++a)
                if (e->body[a] >= 0) {
                    v += dot6(e->J[a], m->s->body[e->body[a]].free_velocity);
                    w += dot6(e->J[a], m->s->body[e->body[a]].velocity);
                }
            art->y[SPRAG_JOINED_ROWS * i + c][0] = v - e->rhs;
            art->y[SPRAG_JOINED_ROWS * i + c][1] = (v - w) / m->s->step;
        }
}

/* 0: no memory. */
static int factor(spragSnapshot *s, spragIsland *island, struct spragArticulation *art)
{
    const Mechanism m = {s, island, art};
    if (!spragMechanismOrder(s, island, art))
        return 0;
    assemble(&m);
    if (island->surged && !damp(s, island, art))
        return 0;
    fillVelocities(&m);
    spragBlockLdltFactor(&art->factor);
    spragBlockLdltForward(&art->factor, art->joint_count, NULL, (double *)art->y);
    return 1;
}

/* ---------------------------------------------------------------- blocks */

typedef struct BlockPanel {
    const struct spragArticulation *art;
    const spragReach *reach;
    int group[2];
    spragQuad Y[2][6]; /* M^-1 J^T, of bodies of the mechanism */
} BlockPanel;

/* E M^-1 J^T */
SPRAG_QUAD_INLINE void coupleBlock(const BlockPanel *b)
{
    const struct spragArticulation *art = b->art;
    for (int p = 0; p < b->reach->count; ++p) {
        const int i = b->reach->joint[p];
        spragQuad *Z = b->reach->Z + SPRAG_JOINED_ROWS * p;
        memset(Z, 0, SPRAG_JOINED_ROWS * sizeof *Z);
        for (int a = 0; a < 2; ++a)
            for (int side = 0; side < 2; ++side)
                if (b->group[side] >= 0 && b->group[side] == art->group[i][a]) {
                    const spragPanelMatrix JT = {(const double *)art->panel[i].J[a], art->factor.size[i], 6, 1,
                                                 SPRAG_JOINED_STRIDE};
                    spragPanelAdd(1, JT, 1, 1, b->Y[side], Z);
                }
    }
}

SPRAG_QUAD_CLONES(coupleBlockPanel, coupleBlock, const BlockPanel)

SPRAG_QUAD_INLINE void scaleBlock(const BlockPanel *b)
{
    for (int p = 0; p < b->reach->count; ++p) {
        const int i = b->reach->joint[p];
        for (int c = 0; c < b->art->factor.size[i]; ++c)
            b->reach->D_Z[SPRAG_JOINED_ROWS * p + c] =
                *inversePivot(b->art, i, c) * b->reach->Z[SPRAG_JOINED_ROWS * p + c];
    }
}

SPRAG_QUAD_CLONES(scaleBlockPanel, scaleBlock, const BlockPanel)

/* The block's bodies by their number in this mechanism, or -1. */
static void groupsOf(const spragSnapshot *s, const spragIsland *island, const struct spragArticulation *art, int k,
                     int group[2])
{
    for (int side = 0; side < 2; ++side) {
        const int body = island->block[k].body[side];
        const int here = spragIsDynamic(s, body) && &island->articulation[s->body[body].articulation] == art;
        group[side] = here ? s->body[body].group : -1;
    }
}

/* 0: no memory. */
static int makeReach(const spragSnapshot *s, const spragIsland *island, struct spragArticulation *art, int slot)
{
    spragReach *reach = &art->reach[slot];
    int group[2];
    reach->joint = SPRAG_TAKE_RAW(&island->lane->arena, int, art->joint_count);
    if (reach->joint == NULL)
        return 0;
    groupsOf(s, island, art, art->block[slot], group);
    reach->count = spragBlockLdltReach(&art->factor, group, reach->joint);
    reach->is_path = group[0] < 0 || group[1] < 0 || group[0] == group[1];
    reach->Z = SPRAG_TAKE_RAW(&island->lane->arena, spragQuad, 2 * SPRAG_JOINED_ROWS * reach->count);
    reach->D_Z = reach->Z + SPRAG_JOINED_ROWS * reach->count;
    return reach->Z != NULL;
}

/* Z of one block: L^-1 E M^-1 J^T */
static void respondBlock(const spragSnapshot *s, const spragIsland *island, struct spragArticulation *art, int slot)
{
    const int k = art->block[slot];
    const spragReach *reach = &art->reach[slot];
    BlockPanel panel = {.art = art, .reach = reach};
    groupsOf(s, island, art, k, panel.group);
    for (int side = 0; side < 2; ++side)
        if (panel.group[side] >= 0)
            memcpy(panel.Y[side], island->Y[k][side], sizeof panel.Y[side]);
    coupleBlockPanel(&panel);
    spragBlockLdltForward(&art->factor, reach->count, reach->joint, (double *)reach->Z);
    scaleBlockPanel(&panel);
}

/* ---------------------------------------------------------------- all of it */

int spragArticulationsMake(struct spragWorld *world, spragIsland *island)
{
    spragSnapshot *s = &world->snapshot;
    if (!spragMechanismsFind(s, island))
        return 0;
    for (int a = 0; a < island->articulation_count; ++a) {
        struct spragArticulation *art = &island->articulation[a];
        if (!factor(s, island, art))
            return 0;
        for (int slot = 0; slot < art->block_count; ++slot) {
            if (!makeReach(s, island, art, slot))
                return 0;
            respondBlock(s, island, art, slot);
        }
    }
    return 1;
}

int spragArticulationsMakeOther(struct spragWorld *world, spragIsland *other)
{
    spragBodyState *body = world->snapshot.body;
    int(*known)[3] = spragArenaTakeRaw(&other->lane->arena, (size_t)other->body_count, sizeof *known);
    if (known == NULL)
        return 0;
    for (int i = 0; i < other->body_count; ++i) {
        spragBodyState *b = &body[other->body[i]];
        known[i][0] = b->place, known[i][1] = b->articulation, known[i][2] = b->group;
        b->place = i, b->articulation = -1;
    }
    other->articulation_count = 0;
    other->surged = 0; /* rhs of its rows is not used */
    const int made = spragArticulationsMake(world, other);
    for (int i = 0; i < other->body_count; ++i) {
        spragBodyState *b = &body[other->body[i]];
        b->place = known[i][0], b->articulation = known[i][1], b->group = known[i][2];
    }
    return made;
}

void spragArticulationsRespond(const spragSnapshot *s, spragIsland *island)
{
    for (int a = 0; a < island->articulation_count; ++a)
        for (int slot = 0; slot < island->articulation[a].block_count; ++slot)
            respondBlock(s, island, &island->articulation[a], slot);
}

/* ---------------------------------------------------------------- elimination */

typedef struct Pair {
    const spragIsland *island;
    int k, l;
    double *W; /* (3 x 3) */
} Pair;

SPRAG_QUAD_INLINE void couplePair(const Pair *pair)
{
    spragQuad W[3] = {{0}};
    for (int i = 0; i < 9; ++i)
        W[i / 3][i % 3] = pair->W[i];
    spragArticulationCoupleQuads(pair->island, pair->k, pair->l, W);
    for (int i = 0; i < 9; ++i)
        pair->W[i] = W[i / 3][i % 3];
}

SPRAG_QUAD_CLONES(couple, couplePair, const Pair)

void spragArticulationCouple(const spragIsland *island, int k, int l, double W[9])
{
    couple(&(Pair){island, k, l, W});
}

void spragArticulationShift(const spragIsland *island, int k, double q[3], double *free_acceleration)
{
    const spragBlock *block = &island->block[k];
    for (int side = 0; side < 2; ++side) {
        if (block->articulation[side] < 0)
            continue;
        const struct spragArticulation *art = &island->articulation[block->articulation[side]];
        const spragReach *reach = &art->reach[block->slot[side]];
        for (int p = 0; p < reach->count; ++p) {
            const int i = reach->joint[p];
            for (int c = 0; c < art->factor.size[i]; ++c) {
                const double *y = (const double *)&art->y[SPRAG_JOINED_ROWS * i + c];
                const double *Z = (const double *)&reach->Z[SPRAG_JOINED_ROWS * p + c];
                const double inverse = *inversePivot(art, i, c), force = inverse * y[0];
                for (int row = 0; row < 3; ++row)
                    q[row] -= Z[row] * force;
                *free_acceleration -= Z[0] * inverse * y[1];
            }
        }
    }
}

typedef struct Loading {
    const spragIsland *island;
    const struct spragArticulation *art;
    double *x; /* (joint_count x 6) */
} Loading;

/* x += Z r of all blocks */
SPRAG_QUAD_INLINE void loadReaches(const Loading *loading)
{
    const struct spragArticulation *art = loading->art;
    for (int slot = 0; slot < art->block_count; ++slot) {
        const spragReach *reach = &art->reach[slot];
        const double *r = loading->island->r + 3 * art->block[slot];
        for (int p = 0; p < reach->count && (r[0] != 0 || r[1] != 0 || r[2] != 0); ++p) {
            const int i = reach->joint[p], rows = art->factor.size[i];
            const double *Z = (const double *)(reach->Z + SPRAG_JOINED_ROWS * p);
            double *x = loading->x + SPRAG_JOINED_ROWS * i;
            for (int c = 0; c < rows; ++c, Z += SPRAG_QUAD)
                x[c] += Z[0] * r[0] + Z[1] * r[1] + Z[2] * r[2];
        }
    }
}

SPRAG_QUAD_CLONES(load, loadReaches, const Loading)

int spragArticulationsSolve(spragIsland *island)
{
    for (int a = 0; a < island->articulation_count; ++a) {
        const struct spragArticulation *art = &island->articulation[a];
        const int rows = SPRAG_JOINED_ROWS * art->joint_count;
        double *x = SPRAG_TAKE_RAW(&island->lane->arena, double, rows);
        if (x == NULL)
            return 0;
        for (int i = 0; i < rows; ++i)
            x[i] = art->y[i][0];
        load(&(Loading){island, art, x});
        for (int i = 0; i < art->joint_count; ++i)
            for (int c = 0; c < art->factor.size[i]; ++c)
                x[SPRAG_JOINED_ROWS * i + c] *= -*inversePivot(art, i, c);
        spragBlockLdltBackward(&art->factor, x);
        for (int i = 0; i < art->joint_count; ++i) {
            spragEqualityRow *row = rowOf(island, art, i, 0);
            for (int c = 0; c < art->factor.size[i]; ++c)
                row[c].impulse = x[SPRAG_JOINED_ROWS * i + c];
        }
    }
    return 1;
}
