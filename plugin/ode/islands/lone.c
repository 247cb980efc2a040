#include "ode/islands/lone.h"

#include <math.h>
#include <string.h>

#include "base/prefetch.h"
#include "ode/islands/lone_group.h"
#include "ode/islands/lone_report.h"
#include "ode/islands/passing.h"
#include "ode/rows/face.h"
#include "ode/rows/contact_law.h"
#include "problem/residual.h"
#include "solve/contact/policy.h"

/* ---------------------------------------------------------------- who */

/* Then its friction acts at two heights (ode/rows/rows.c). */
static int rollsOnLine(const struct spragWorld *world, const spragIsland *island)
{
    spragFace face = {0};
    for (int k = 0; k < island->joint_count && island->joint_count > 1; ++k) {
        if (!spragFaceTurns(&world->snapshot, &world->snapshot.joint[island->joint[k]]))
            continue;
        spragFaceFind(world, island, k, &face);
        if (face.rolls)
            return 1;
    }
    return 0;
}

/* A cone; or an infinite coefficient, which holds what is pressed.  (Not an infinite force, which is glue.) */
static int hasLaw(const dContact *contact)
{
    const int coefficient = dContactApprox1_1 | dContactApprox1_2;
    return spragContactIsPlain(contact, 0) ||
           (spragContactSticks(contact, 0) && (contact->surface.mode & coefficient) == coefficient);
}

/* 1: nothing but finite radii: no static friction beyond mu, no springs. */
static int saysRadii(const spragSurface *surface, const dContact *contact)
{
    return spragConeOf(surface->mu_static) <= spragConeOf(contact->surface.mu) && !(surface->stiffness > 0) &&
           surface->curvature_radius[0] < (double)INFINITY && surface->curvature_radius[1] < (double)INFINITY;
}

/* driver: as of spragLoneDriver. */
static int isLone(const struct spragWorld *world, const spragPointerMap *surfaces, const spragIsland *island,
                  int *driver)
{
    const spragSnapshot *s = &world->snapshot;
    int others = 0, said = 0;
    if (island->declined != NULL || island->body_count != 1 || island->contact_count != island->joint_count ||
        island->joint_count > SPRAG_LONE_CONTACTS || s->body[island->body[0]].mass == 0)
        return 0;
    for (int k = 0; k < island->joint_count; ++k) {
        const spragJointState *joint = &s->joint[island->joint[k]];
        if (joint->contact == NULL || joint->listened || !hasLaw(joint->contact) ||
            (joint->contact->surface.mode & (dContactMotion1 | dContactMotion2)) != 0)
            return 0;
        const spragSurface *surface = spragLoneSurface(world, surfaces, joint);
        if (surface != NULL && !saysRadii(surface, joint->contact))
            return 0;
        said |= surface != NULL;
        others |= joint->body[1] >= 0;
    }
    *driver = others ? spragLoneDriver(s, island) : SPRAG_DRIVE_NONE;
    return !(said && others) && *driver != SPRAG_DRIVE_SEVERAL && !rollsOnLine(world, island);
}

/* ---------------------------------------------------------------- the answer */

/* What the judge says of one body. */
static double judge(const spragLoneBodies *b, int lane)
{
    double worst = 0;
    for (int k = 0; k < b->count; ++k) {
        const spragLoneContact *c = &b->contact[k];
        dVector3 n, t[2];
        double force[3] = {0}, velocity[3] = {0};
        for (int i = 0; i < 3; ++i)
            n[i] = (dReal)c->n[i][lane];
        dPlaneSpace(n, t[0], t[1]);
        for (int row = 0; row < 3; ++row)
            for (int i = 0; i < 3; ++i) {
                const double along = row == 0 ? n[i] : t[row - 1][i];
                force[row] += along * c->r[i][lane];
                velocity[row] += along * c->u[i][lane];
            }
        const double residual = c->mu[lane] >= SPRAG_COEFFICIENT_INFINITE
                                    ? spragStickResidual(0, force, velocity, c->w[lane])
                                    : spragContactResidual(c->mu[lane], force, velocity, c->w[lane]);
        if (c->w[lane] * spragNorm3(force) > SPRAG_IMPULSE_HUGE) /* which u says nothing of */
            return INFINITY;
        if (!(residual <= worst)) /* keeps a NaN */
            worst = residual;
    }
    return worst;
}

/* 0: no memory. */
static int keepDrives(spragArena *arena, spragIsland *island, const spragLoneGroup *group, int lane)
{
    island->drive = SPRAG_TAKE_RAW(arena, spragLoneDrive, island->joint_count);
    for (int k = 0; k < island->joint_count && island->drive != NULL; ++k) {
        spragLoneVector(island->drive[k].product, group->row[k].product, lane);
        spragLoneVector(island->drive[k].rest, group->row[k].rest, lane);
    }
    return island->drive != NULL;
}

/* In memory of the arena, or NULL; of contact k. */
static const spragRim *keepRim(spragArena *arena, const spragLoneGroup *group, int k, int lane)
{
    spragRim *rim = SPRAG_TAKE_RAW(arena, spragRim, 1);
    if (rim == NULL)
        return NULL;
    spragLoneVector(rim->axis, group->rim[k].axis, lane);
    rim->radius = group->rim[k].radius[lane];
    rim->share = group->rim[k].share[lane];
    return rim;
}

/* 0: no memory. */
static int keepLaws(spragArena *arena, spragIsland *island, const spragLoneGroup *group, int lane)
{
    island->lone = SPRAG_TAKE_RAW(arena, spragLoneLaw, island->joint_count);
    for (int k = 0; k < island->joint_count && island->lone != NULL; ++k) {
        const spragLoneContact *c = &group->bodies.contact[k];
        island->lone[k] = (spragLoneLaw){.mu = c->mu[lane],
                                         .compliance = c->compliance[lane],
                                         .target = group->row[k].target[lane],
                                         .radius = group->driven ? 0 : group->row[k].radius[lane],
                                         .face = group->face[k][lane]};
        if (group->has_rims && group->rim[k].share[lane] > 0 &&
            (island->lone[k].rim = keepRim(arena, group, k, lane)) == NULL)
            return 0;
    }
    return island->lone != NULL && (!group->driven || keepDrives(arena, island, group, lane));
}

/* A slip of it ends, and forces may bring it back: whether they do is asked of its blocks (ode/islands/passing.h). */
static int mayPass(const struct spragWorld *world, const spragLoneGroup *group, int lane)
{
    const spragIsland *island = group->island[lane];
    for (int k = 0; k < island->joint_count && !(world->config.time_limit > 0); ++k) {
        const int memory = world->snapshot.joint[island->joint[k]].memory;
        const spragLoneContact *c = &group->bodies.contact[k];
        const double held = c->mu[lane] * spragQuadDot3(c->r, c->n)[lane] * c->w[lane];
        if (memory >= 0 && world->memory[memory].mode == SPRAG_MODE_SLIP &&
            (int)group->row[k].mode[lane] == SPRAG_MODE_STICK && group->row[k].drive[lane] > SPRAG_PASSING_SHARE * held)
            return 1;
    }
    return 0;
}

/* A contact alone, with an infinite coefficient, departs and may hold as well, or the other way round: which of both,
 * its block knows (parting.h). */
static int mayHaveOther(const struct spragWorld *world, const spragLoneGroup *group, int lane)
{
    const spragIndeterminacy policy = world->config.indeterminacy;
    const spragLoneContact *c = group->bodies.contact;
    if (group->bodies.count > 1 || !(c->mu[lane] >= SPRAG_COEFFICIENT_INFINITE))
        return 0;
    const int memory = world->snapshot.joint[group->island[lane]->joint[0]].memory,
              open = (int)group->row[0].mode[lane] == SPRAG_MODE_OPEN;
    if (policy == SPRAG_INDETERMINACY_LIFT)
        return !open && spragQuadDot3(c->q, c->n)[lane] >= 0;
    return open && spragQuadDot3(c->u, c->n)[lane] > SPRAG_SLIP_TOLERANCE &&
           (policy == SPRAG_INDETERMINACY_JAM || (memory >= 0 && world->memory[memory].normal_force > 0));
}

/* Sets the body's impulse, if the judge agrees, and reports while the contacts are at hand; else it begins again, as an
 * island like any other: 0. */
static int takeIsland(struct spragWorld *world, spragArena *arena, const spragLoneGroup *group, int lane)
{
    spragIsland *island = group->island[lane];
    spragBodyState *body = &world->snapshot.body[island->body[0]];
    const int claimed = group->regular[lane] && group->bodies.solved[lane] && !mayPass(world, group, lane) &&
                        !mayHaveOther(world, group, lane);
    const double residual = claimed ? judge(&group->bodies, lane) : INFINITY;
    if (!(residual <= world->config.tolerance) || !keepLaws(arena, island, group, lane) ||
        !spragLoneReport(world, arena, island, group, lane)) {
        memcpy(body->free_velocity, body->velocity, sizeof body->velocity);
        island->lone = NULL;
        return 0;
    }
    for (int i = 0; i < 6; ++i)
        body->impulse[i] = group->bodies.impulse[i][lane];
    island->solve = (spragSolveInfo){
        .solver = SPRAG_SOLVER_VARIANT, .iterations = (int)group->bodies.iterations[lane], .residual = residual};
    return 1;
}

/* Returns how many it has solved. */
static int solveGroup(struct spragWorld *world, spragArena *arena, spragLoneGroup *group)
{
    int solved = 0;
    spragLoneRows(group);
    if (spragQuadAny(group->regular)) {
        spragLoneSolve(&group->bodies);
        spragLoneRead(group);
    }
    for (int lane = 0; lane < group->filled; ++lane)
        solved += takeIsland(world, arena, group, lane);
    group->filled = 0;
    group->has_rims = 0;
    return solved;
}

/* What will be read of the island soon. */
static void askFor(const spragSnapshot *s, const spragIsland *island)
{
    for (int k = 0; k < island->joint_count && k < SPRAG_LONE_CONTACTS; ++k)
        if (s->joint[island->joint[k]].contact != NULL)
            spragPrefetch(s->joint[island->joint[k]].contact, sizeof(dContact));
}

int spragLonesSolve(struct spragWorld *world, const spragPointerMap *surfaces, spragLane *lane, int first, int end)
{
    enum { KINDS = 2 * (SPRAG_LONE_CONTACTS + 1) }; /* by the number of contacts, driven or not */
    spragLoneGroup *groups[KINDS] = {NULL};         /* a full one is emptied */
    int solved = 0;
    if (world->config.solver != SPRAG_SOLVER_AUTO || world->config.iteration_limit > 0)
        return 0;
    const spragArenaMark mark = spragArenaMarkGet(&lane->scratch);
    for (int k = first; k < end; ++k) {
        spragIsland *island = &world->snapshot.island[k];
        const int count = island->joint_count;
        if (k + 1 < world->snapshot.island_count)
            askFor(&world->snapshot, &island[1]);
        int driver;
        if (!isLone(world, surfaces, island, &driver))
            continue;
        const int driven = driver != SPRAG_DRIVE_NONE;
        spragLoneGroup **group = &groups[driven * (SPRAG_LONE_CONTACTS + 1) + count];
        if (*group == NULL && (*group = spragLoneGroupMake(world, &lane->scratch, count, driven)) == NULL)
            break; /* no memory: nor will there be for those that are left, and they say so */
        spragLonePut(world, surfaces, island, driver, *group);
        if ((*group)->filled == SPRAG_QUAD)
            solved += solveGroup(world, &lane->arena, *group);
    }
    for (int k = 0; k < KINDS; ++k)
        if (groups[k] != NULL && groups[k]->filled > 0)
            solved += solveGroup(world, &lane->arena, groups[k]);
    spragArenaRelease(&lane->scratch, mark);
    return solved;
}
