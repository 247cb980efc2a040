#include "ode/rows/joint_blocks.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "ode/rows/joint_rows.h"

/* ---------------------------------------------------------------- limits and motors */

#define CLEAR 0.02 /* of the distance between the bounds: as far from both a force is clear of them */

spragLoadMemory *spragLoadOf(const struct spragWorld *world, int j, int number)
{
    const spragJointState *joint = &world->snapshot.joint[j];
    for (int k = joint->memory; k >= 0; k = world->load[k].next)
        if (world->load[k].number == number && world->load[k].serial == joint->serial)
            return &world->load[k];
    return NULL;
}

/* Did the limit or motor hold in the last step, clear of its bounds?  Never of a joint with friction, which changes the
 * joint's rows itself. */
static int held(const struct spragWorld *world, int j, int number, double lo, double hi)
{
    const spragLoadMemory *load = spragLoadOf(world, j, number);
    if (load == NULL || world->snapshot.joint[j].bearing != NULL)
        return 0;
    const double margin = isfinite(hi - lo) ? CLEAR * (hi - lo) : 0;
    return load->force > lo + margin && load->force < hi - margin;
}

/* ---------------------------------------------------------------- rows */

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

/* Is it a row of angular velocities alone? */
static int turns(const spragJointRowSet *rows, int k)
{
    for (int i = 0; i < 3; ++i)
        if (rows->J1[k][i] != 0 || rows->J2[k][i] != 0)
            return 0;
    return 1;
}

/* L J v + L^2 c lambda / L = L rhs, lo / L <= lambda / L <= hi / L: in m/s also where it turns. */
static void readBounded(const spragSnapshot *s, const spragJointRowSet *rows, int k, spragBlock *block, int at)
{
    const double h = s->step, L = turns(rows, k) ? spragLengthOf(s, block->body) : 1;
    for (int i = 0; i < 6; ++i) {
        block->J[0][at][i] = L * rows->J1[k][i];
        block->J[1][at][i] = L * rows->J2[k][i];
    }
    block->rhs[at] = L * rows->rhs[k];
    block->compliance[at] = L * L * rows->cfm[k] / h;
    block->lo[at] = rows->lo[k] * h / L;
    block->hi[at] = rows->hi[k] * h / L;
    block->length[at] = L;
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
                         "joint %d, %s: row %d of %d is not finite: see its anchor, axes, ERP, CFM and motor", j,
                         spragJointTypeName(joint->type), absurd, rows.m);
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
            readBounded(s, &rows, k, block, bounded++ % 3);
        }
        addMotorForce(s, &rows, k, body);
    }
    island->block_count += (bounded + 2) / 3;
    return SPRAG_OK;
}
