/* Sliding friction: the two ends of a bearing as pairs of two-sided contacts, turned along their reactions
 * (ode/joints/bearing.h). */
#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/joints/bearing_parts.h"
#include "problem/residual.h"
#include "solve/contact/policy.h"

#define NEARER 0.8 /* ends are turned again only if the last turn brought `off` down to this part */

typedef enum RowSort { ABOUT, ALONG } RowSort;

/* The part about or along an axis of what all rows of the joint ask for (rhs). */
static double rhsOf(const spragEqualityRow *row, int count, RowSort sort, const double axis[3])
{
    const int linear = sort == ALONG;
    double sum = 0;
    for (int e = 0; e < count; ++e)
        if ((spragNorm3(row[e].J[0]) > 0) == linear)
            sum += spragDot3(row[e].J[0] + (linear ? 0 : 3), axis) * row[e].rhs;
    return sum;
}

/* The joint's two rows across its axis d, a unit vector. */
static void rowsAcross(const spragEqualityRow *row, int count, const spragEqualityRow *across[2], double d[3])
{
    for (int e = 0, found = 0; e < count && found < 2; ++e)
        if (spragNorm3(row[e].J[0]) > 0)
            across[found++] = &row[e];
    spragCross3(d, across[0]->J[0], across[1]->J[0]);
}

/* Where the joint's rows act, from the first body's centre:  with d = p x q and moments (c x p), (c x q),
 * c = ((c x q).d) p - ((c x p).d) q + ((c x p).q) d. */
static void centreOf(const spragEqualityRow *p, const spragEqualityRow *q, const double d[3], double c[3])
{
    const double a = spragDot3(q->J[0] + 3, d), b = -spragDot3(p->J[0] + 3, d), e = spragDot3(p->J[0] + 3, q->J[0]);
    for (int i = 0; i < 3; ++i)
        c[i] = a * p->J[0][i] + b * q->J[0][i] + e * d[i];
}

/* n across d, nearest to the end's reaction of the last step. */
static void endNormal(const spragBodyState *bearer, const double known[3], const double d[3], const double p[3],
                      double n[3])
{
    memcpy(n, known, 3 * sizeof *n);
    if (bearer != NULL)
        spragMul33(n, bearer->rotation, known);
    const double along = spragDot3(n, d);
    for (int i = 0; i < 3; ++i)
        n[i] -= along * d[i];
    const double length = spragNorm3(n);
    for (int i = 0; i < 3; ++i)
        n[i] = length > 0.5 ? n[i] / length : p[i];
}

/* One end of a sliding bearing. */
typedef struct End {
    const struct spragWorld *world;
    struct spragBearing *bearing; /* NULL: it is none */
    int number;                   /* 0 or 1 */
} End;

static void endFriction(const End *end, spragBlock *block)
{
    const spragJointFriction *law = &end->bearing->law;
    const int m = end->bearing->memory[end->number];
    block->mu = block->mu_minus = law->mu;
    if (law->mu_static > law->mu)
        spragBlockHold(block, law->mu_static, law->mu_static,
                       spragBlockRested(&end->world->snapshot, block, m >= 0 ? &end->world->memory[m] : NULL));
}

/* Block across: one two-sided row without friction.  Once the end is turned along its reaction this row bears nothing;
 * before that, friction on it could brace itself against the friction of the other block, and hold more than mu N. */
static void holdAcross(spragBlock *block)
{
    block->kind = SPRAG_BLOCK_BOX;
    block->mu = block->mu_minus = 0;
    block->unused[1] = block->unused[2] = 1;
    block->lo[0] = -INFINITY;
    block->hi[0] = INFINITY;
}

/* One block of a pair: rows along n, d, n x d at the point; friction acts at the face that was loaded. */
static void endBlock(const End *end, const double point[3], const double n[3], const double d[3], spragBlock *block)
{
    const spragSnapshot *s = &end->world->snapshot;
    const struct spragBearing *bearing = end->bearing;
    block->kind = SPRAG_BLOCK_TWO_SIDED;
    block->memory = bearing->memory[end->number];
    memcpy(block->n, n, sizeof block->n);
    memcpy(block->t1, d, sizeof block->t1);
    spragCross3(block->t2, n, d);
    memcpy(block->position, point, sizeof block->position);
    spragBlockRow(s, block, 0, block->n);
    for (int i = 0; i < 3; ++i)
        block->position[i] -= bearing->side[end->number] * bearing->law.half_width * n[i];
    spragBlockRow(s, block, 1, block->t1);
    spragBlockRow(s, block, 2, block->t2);
    block->unused[2] = bearing->type == dJointTypeSlider || bearing->law.half_width == 0;
    block->approach = spragBlockVelocity(s, block, 0);
    if (block->part == SPRAG_PART_ACROSS)
        holdAcross(block);
    else
        endFriction(end, block);
}

void spragSlidingBlocks(const struct spragWorld *world, struct spragBearing *bearing, const spragBlock *like,
                        const spragEqualityRow *row, int count, spragBlock *block)
{
    const spragEqualityRow *across[2];
    const spragBodyState *a = &world->snapshot.body[like->body[0]],
                         *b = like->body[1] < 0 ? NULL : &world->snapshot.body[like->body[1]];
    double d[3], c[3] = {0, 0, 0}, apart[3] = {0, 0, 0};
    rowsAcross(row, count, across, d);
    if (bearing->type == dJointTypePiston)
        centreOf(across[0], across[1], d, c);
    for (int i = 0; i < 3 && b != NULL && bearing->type == dJointTypeSlider; ++i)
        apart[i] =
            0.5 * (b->position[i] - a->position[i]); /* ODE's rows act half-way between the bodies, ours at the first */
    for (int end = 0; end < SPRAG_BEARING_ENDS; ++end) {
        const double half = (end == 0 ? -0.5 : 0.5) * bearing->law.length;
        const int m = bearing->memory[end];
        double n[2][3], point[3];
        bearing->side[end] = m >= 0 && world->memory[m].variant < 0 ? -1 : 1;
        endNormal(b, bearing->normal[end], d, across[0]->J[0], n[0]);
        spragCross3(n[1], d, n[0]);
        for (int i = 0; i < 3; ++i)
            point[i] = a->position[i] + c[i] + half * d[i];
        for (int k = 0; k < 2; ++k) {
            spragBlock *to = &block[2 * end + k];
            double turn[3], shift[3];
            *to = *like;
            to->part = k == 0 ? SPRAG_PART_GUIDE : SPRAG_PART_ACROSS;
            to->id = bearing->id + (unsigned)end;
            endBlock(&(End){world, bearing, end}, point, n[k], d, to);
            spragCross3(turn, d, n[k]);
            spragCross3(shift, apart, n[k]);
            for (int i = 0; i < 3; ++i)
                turn[i] = half * turn[i] - shift[i];
            to->rhs[0] = rhsOf(row, count, ALONG, n[k]) + rhsOf(row, count, ABOUT, turn);
            to->correction = to->rhs[0];
            to->compliance[0] = across[0]->compliance;
        }
    }
}

int spragSlidingKeepRoll(spragEqualityRow *row, int count)
{
    double d[3];
    const spragEqualityRow *across[2];
    rowsAcross(row, count, across, d);
    spragEqualityRow roll = row[0];
    roll.rhs = roll.asked = rhsOf(row, count, ABOUT, d);
    memset(roll.J, 0, sizeof roll.J);
    for (int i = 0; i < 3; ++i) {
        roll.J[0][3 + i] = d[i];
        roll.J[1][3 + i] = roll.body[1] >= 0 ? -d[i] : 0;
    }
    row[0] = roll;
    return 1;
}

/* ---------------------------------------------------------------- ends that turn */

/* The end's reaction across the axis, N s.  While the end slips, that of the two normals, so that the block across
 * comes to bear nothing; while it sticks, with friction, since equilibrium gives the sum alone, not how friction and
 * normals share it. */
static void endReaction(const spragIsland *island, int k, double sum[3])
{
    const spragBlock *one = &island->block[k];
    const int sticks = spragNorm2(island->u + 3 * k + 1) <= SPRAG_SLIP_TOLERANCE;
    memset(sum, 0, 3 * sizeof *sum);
    for (int b = 0; b < 2; ++b)
        for (int i = 0; i < 3; ++i)
            sum[i] += island->r[3 * (k + b)] * one[b].n[i] + (sticks ? island->r[3 * (k + b) + 2] * one[b].t2[i] : 0);
}

/* Unit vector n along the end's reaction, with the sign nearer to the old n, of which a part `old` is added first. */
static void endDirection(const spragIsland *island, int k, double old, double n[3])
{
    const spragBlock *one = &island->block[k];
    double sum[3];
    endReaction(island, k, sum);
    const double size = spragNorm3(sum), sign = spragDot3(sum, one->n) < 0 ? -1 : 1;
    for (int i = 0; i < 3; ++i)
        n[i] = size > 0 ? sign * sum[i] / size + old * one->n[i] : one->n[i];
    const double length = spragNorm3(n);
    for (int i = 0; i < 3; ++i)
        n[i] /= length;
}

/* Turns the two blocks of an end about the axis to the normal n, and puts friction on the face `side`.  rhs and
 * impulses of the two normals are vectors of the plane across the axis: they stay what they were, in new components. */
static void turnEnd(const End *end, const double n[3], int side, spragBlock *pair, double *r)
{
    int *loaded = &end->bearing->side[end->number];
    const spragBlock before[2] = {pair[0], pair[1]};
    const double c = spragDot3(n, before[0].n), s = spragDot3(n, before[1].n);
    const double turn[2][2] = {{c, s}, {-s, c}}, d[3] = {pair[0].t1[0], pair[0].t1[1], pair[0].t1[2]};
    const double N[2] = {r[0], r[3]}, depth = *loaded * end->bearing->law.half_width;
    const double around = side == *loaded ? fmax(c, 0) * r[2] : 0;
    double normal[3], point[3];
    *loaded = side;
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < 3; ++i) {
            normal[i] = turn[k][0] * before[0].n[i] + turn[k][1] * before[1].n[i];
            point[i] = before[k].position[i] + depth * before[k].n[i];
        }
        endBlock(end, point, normal, d, &pair[k]);
        pair[k].rhs[0] = turn[k][0] * before[0].rhs[0] + turn[k][1] * before[1].rhs[0];
        pair[k].correction = pair[k].rhs[0];
        r[3 * k] = turn[k][0] * N[0] + turn[k][1] * N[1];
        r[3 * k + 2] = k == 0 ? around : 0;
    }
}

/* The end that has blocks k and k + 1; its bearing is NULL where these blocks are none. */
static End endOf(const struct spragWorld *world, const spragIsland *island, int k)
{
    const int is = k + 1 < island->block_count && island->block[k].part == SPRAG_PART_GUIDE &&
                   island->block[k + 1].part == SPRAG_PART_ACROSS;
    struct spragBearing *bearing = is ? world->snapshot.joint[island->block[k].joint].bearing : NULL;
    return (End){world, bearing, is ? (int)(island->block[k].id - bearing->id) : 0};
}

/* m/s, what friction of a normal impulse `force` (N s) at the end can change. */
static double worthOf(const spragIsland *island, int k, double force)
{
    const double *W = island->problem.W + 9 * (size_t)spragProblemDiagonal(&island->problem, k);
    return island->block[k].mu * W[4] * force;
}

/* m/s, what it is worth that the end is not turned along its reaction: the impulse across would rub too, and in a wide
 * bearing at another place. */
static double endOff(const spragIsland *island, const struct spragBearing *bearing, int k)
{
    double sum[3];
    endReaction(island, k, sum);
    const double N = fabs(island->r[3 * k]), across = fabs(spragDot3(sum, island->block[k + 1].n));
    return worthOf(island, k, bearing->law.half_width > 0 ? across : hypot(N, across) - N);
}

int spragBearingsTurn(const struct spragWorld *world, spragIsland *island, int round, double *off)
{
    enum {
        FACES_MAX = 3,   /* rounds in which ends change their faces: these changes need not end (docs/theory.md 3) */
        ROUNDS_WHOLE = 4 /* that turn ends all the way; later ones half-way, since friction turns reactions too */
    };
    const double enough = world->config.tolerance, before = *off;
    int turned = 0, anew = 0;
    *off = 0;
    for (int k = 0; k < island->block_count; ++k) {
        const struct spragBearing *bearing = endOf(world, island, k).bearing;
        *off = bearing != NULL ? fmax(*off, endOff(island, bearing, k)) : *off;
    }
    for (int k = 0; k < island->block_count; ++k) {
        if (island->block[k].part == SPRAG_PART_TURNING)
            anew |= spragBallTurn(world, island, k, round);
        const End end = endOf(world, island, k);
        const struct spragBearing *bearing = end.bearing;
        if (bearing == NULL)
            continue;
        const double r = island->r[3 * k];
        const int side = bearing->side[end.number];
        const int other =
            bearing->law.half_width > 0 && round < FACES_MAX && side * r < 0 && worthOf(island, k, fabs(r)) > enough;
        if (!other && !((*off <= NEARER * before || round == ROUNDS_WHOLE) && endOff(island, bearing, k) > enough))
            continue;
        double n[3];
        endDirection(island, k, round < ROUNDS_WHOLE ? 0 : 1, n);
        turnEnd(&end, n, other ? -side : side, &island->block[k], island->r + 3 * k);
        turned = 1;
        anew |= other;
    }
    *off = anew ? INFINITY : *off;
    return turned || anew;
}

void spragSlidingRemember(const struct spragWorld *world, const spragIsland *island, int k, double known[3])
{
    static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int bearer = island->block[k].body[1];
    const double *R = bearer < 0 ? unit : world->snapshot.body[bearer].rotation;
    double n[3];
    endDirection(island, k, 0, n);
    for (int i = 0; i < 3; ++i)
        known[i] = R[i] * n[0] + R[3 + i] * n[1] + R[6 + i] * n[2];
}
