#include "ode/park.h"

#include "base/alloc.h"
#include "base/status.h"
#include "ode/articulation.h"

static int isParked(const spragSnapshot *s, int island)
{
    return island >= 0 && s->island[island].declined == NULL;
}

/* ---------------------------------------------------------------- links */

/* Which of ODE's islands need their bodies tied?  Marked at the component's first body. */
static int *findComponents(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    int *tied = SPRAG_TAKE(&world->arena, int, s->body_count);
    enum { PARKED = 1, MAY_SLEEP = 2 };
    for (int i = 0; tied != NULL && i < s->body_count; ++i) {
        const spragBodyState *body = &s->body[i];
        if (isParked(s, body->island))
            tied[body->component] |= PARKED;
        if (body->awake && (!body->enabled || dBodyGetAutoDisableFlag(body->id)))
            tied[body->component] |= MAY_SLEEP;
    }
    for (int i = 0; tied != NULL && i < s->body_count; ++i)
        tied[i] = tied[i] == (PARKED | MAY_SLEEP);
    return tied;
}

static int growPool(struct spragWorld *world, int count)
{
    if (!spragGrow((void **)&world->link, &world->link_capacity, (size_t)count, sizeof *world->link))
        return 0;
    while (world->link_count < count) {
        dJointID link = dJointCreateNull(world->world, 0);
        if (link == NULL)
            return 0;
        world->link[world->link_count++] = link;
    }
    return 1;
}

spragStatus spragParkPrepare(struct spragWorld *world)
{
    spragSnapshot *s = &world->snapshot;
    const int *tied = findComponents(world);
    int *hub = SPRAG_TAKE(&world->arena, int, s->body_count);
    world->link_used = 0;
    int count = 0;
    for (int i = 0; tied != NULL && i < s->body_count; ++i)
        count += tied[s->body[i].component];
    if (tied == NULL || hub == NULL || !growPool(world, count))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory to tie %d bodies", count);
    /* A star around a dynamic body: ODE ignores a joint between two kinematic ones. */
    for (int i = s->body_count - 1; i >= 0; --i)
        if (!s->body[i].kinematic)
            hub[s->body[i].component] = i;
    for (int i = 0; i < s->body_count; ++i) {
        const int component = s->body[i].component;
        if (tied[component] && hub[component] != i)
            s->body[i].link = hub[component] + 1;
    }
    return SPRAG_OK;
}

static void tie(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    for (int i = 0; i < s->body_count; ++i)
        if (s->body[i].link > 0)
            dJointAttach(world->link[world->link_used++], s->body[s->body[i].link - 1].id, s->body[i].id);
}

static void untie(struct spragWorld *world)
{
    while (world->link_used > 0)
        dJointAttach(world->link[--world->link_used], 0, 0);
}

/* ---------------------------------------------------------------- forces */

/* impulse of every body of the island: J^T r + E^T lambda */
static void sumImpulses(spragSnapshot *s, const spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        for (int side = 0; side < 2; ++side)
            for (int row = 0; row < 3 && block->body[side] >= 0; ++row)
                for (int i = 0; i < 6; ++i)
                    s->body[block->body[side]].impulse[i] += block->J[side][row][i] * island->r[3 * k + row];
    }
    for (int e = 0; e < island->row_count; ++e) {
        const spragEqualityRow *row = &island->row[e];
        for (int side = 0; side < 2; ++side)
            for (int i = 0; i < 6 && row->body[side] >= 0; ++i)
                s->body[row->body[side]].impulse[i] += row->J[side][i] * row->impulse;
    }
}

/* feedback += force J on ODE's first and second body */
static void addFeedback(dJointFeedback *feedback, int side, const double J[6], double force)
{
    dReal *f = side == 0 ? feedback->f1 : feedback->f2, *t = side == 0 ? feedback->t1 : feedback->t2;
    for (int i = 0; i < 3; ++i) {
        f[i] += (dReal)(J[i] * force);
        t[i] += (dReal)(J[3 + i] * force);
    }
}

static void clearFeedback(dJointFeedback *feedback)
{
    for (int c = 0; c < 3 && feedback != NULL; ++c)
        feedback->f1[c] = feedback->t1[c] = feedback->f2[c] = feedback->t2[c] = 0;
}

/* As in ODE, a joint that has no row in this step keeps what was there. */
static void fillFeedback(const spragSnapshot *s, const spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k)
        clearFeedback(dJointGetFeedback(s->joint[island->block[k].joint].id));
    for (int e = 0; e < island->row_count; ++e)
        clearFeedback(dJointGetFeedback(s->joint[island->row[e].joint].id));
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        dJointFeedback *feedback = dJointGetFeedback(s->joint[block->joint].id);
        for (int n = 0; n < 6 && feedback != NULL; ++n)
            addFeedback(feedback, n / 3, block->J[n / 3][n % 3], island->r[3 * k + n % 3] / s->step);
    }
    for (int e = 0; e < island->row_count; ++e) {
        const spragEqualityRow *row = &island->row[e];
        dJointFeedback *feedback = dJointGetFeedback(s->joint[row->joint].id);
        for (int side = 0; side < 2 && feedback != NULL; ++side)
            addFeedback(feedback, side, row->J[side], row->impulse / s->step);
    }
}

static void setAccumulators(dBodyID body, const double f[6])
{
    dBodySetForce(body, (dReal)f[0], (dReal)f[1], (dReal)f[2]);
    dBodySetTorque(body, (dReal)f[3], (dReal)f[4], (dReal)f[5]);
}

void spragPark(struct spragWorld *world)
{
    spragSnapshot *s = &world->snapshot;
    for (int k = 0; k < s->island_count; ++k)
        if (isParked(s, k))
            sumImpulses(s, &s->island[k]);
    for (int i = 0; i < s->body_count; ++i) {
        spragBodyState *body = &s->body[i];
        if (!isParked(s, body->island))
            continue;
        double f[6];
        for (int j = 0; j < 6; ++j)
            f[j] = body->impulse[j] / s->step + body->motor_force[j] +
                   (j >= 3 && body->own_gyroscopic ? body->gyroscopic[j - 3] : 0);
        dBodyAddForce(body->id, (dReal)f[0], (dReal)f[1], (dReal)f[2]);
        dBodyAddTorque(body->id, (dReal)f[3], (dReal)f[4], (dReal)f[5]);
        if (body->own_gyroscopic)
            dBodySetGyroscopicMode(body->id, 0);
    }
    for (int j = 0; j < s->joint_count; ++j)
        if (isParked(s, s->joint[j].island))
            dJointDisable(s->joint[j].id);
    tie(world);
}

void spragUnpark(struct spragWorld *world, int stepped)
{
    spragSnapshot *s = &world->snapshot;
    untie(world);
    for (int j = 0; j < s->joint_count; ++j)
        if (isParked(s, s->joint[j].island))
            dJointEnable(s->joint[j].id);
    for (int i = 0; i < s->body_count; ++i) {
        const spragBodyState *body = &s->body[i];
        if (!isParked(s, body->island))
            continue;
        if (body->own_gyroscopic)
            dBodySetGyroscopicMode(body->id, 1);
        if (!stepped || !dBodyIsEnabled(body->id))
            setAccumulators(body->id, body->force);
    }
    for (int k = 0; stepped && k < s->island_count; ++k)
        if (isParked(s, k))
            fillFeedback(s, &s->island[k]);
}
