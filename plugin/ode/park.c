#include "ode/park.h"

#include "base/alloc.h"
#include "base/status.h"
#include "ode/rows.h"

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

/* impulse of every body of the island: J^T r */
static void sumImpulses(spragSnapshot *s, const spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        for (int side = 0; side < 2; ++side)
            for (int row = 0; row < 3 && block->body[side] >= 0; ++row)
                for (int i = 0; i < 6; ++i)
                    s->body[block->body[side]].impulse[i] += block->J[side][row][i] * island->r[3 * k + row];
    }
}

/* Feedback as ODE fills it: on its first and second body, contact and rolling friction together. */
static void fillFeedback(const spragSnapshot *s, const spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        dJointFeedback *feedback = dJointGetFeedback(s->joint[block->joint].id);
        if (feedback == NULL)
            continue;
        const int continued = block->is_rolling;
        dReal *out[4] = {feedback->f1, feedback->t1, feedback->f2, feedback->t2};
        for (int part = 0; part < 4; ++part)
            for (int i = 0; i < 3; ++i) {
                double f = 0;
                for (int row = 0; row < 3; ++row)
                    f += block->J[part / 2][row][3 * (part % 2) + i] * island->r[3 * k + row] / s->step;
                out[part][i] = (dReal)f + (continued ? out[part][i] : 0);
            }
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
            f[j] = body->impulse[j] / s->step + (j >= 3 && body->own_gyroscopic ? body->gyroscopic[j - 3] : 0);
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
