#include "ode/joints/guide.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "linalg/vec3.h"
#include "ode/shape/curvature.h"
#include "ode/world/layout.h"

/* Whoever destroys a guide looks for it in all worlds, which other threads may be giving guides. */
static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;

/* ---------------------------------------------------------------- life */

/* out = R^T x, or x without a body */
static void toBody(dBodyID body, const double x[3], double out[3])
{
    dVector3 local = {(dReal)x[0], (dReal)x[1], (dReal)x[2], 0};
    if (body != NULL)
        dBodyVectorFromWorld(body, (dReal)x[0], (dReal)x[1], (dReal)x[2], local);
    for (int i = 0; i < 3; ++i)
        out[i] = local[i];
}

/* The same of a point. */
static void pointToBody(dBodyID body, const double x[3], double out[3])
{
    double arm[3] = {x[0], x[1], x[2]};
    for (int i = 0; body != NULL && i < 3; ++i)
        arm[i] -= dBodyGetPosition(body)[i];
    toBody(body, arm, out);
}

static void placeGuide(struct spragGuide *guide, const spragGuideDef *def)
{
    const double point[3] = {def->point[0], def->point[1], def->point[2]};
    dVector3 tangent[2];
    dPlaneSpace(def->normal, tangent[0], tangent[1]);
    const double n[3] = {def->normal[0], def->normal[1], def->normal[2]}, length = spragNorm3(n);
    const double unit[3] = {n[0] / length, n[1] / length, n[2] / length};
    pointToBody(def->body, point, guide->point);
    pointToBody(def->guide, point, guide->origin);
    toBody(def->guide, unit, guide->normal);
    for (int k = 0; k < 2; ++k) {
        const double t[3] = {tangent[k][0], tangent[k][1], tangent[k][2]};
        toBody(def->guide, t, guide->tangent[k]);
    }
}

static int reserve(struct spragWorld *world)
{
    pthread_mutex_lock(&lists);
    const int memory =
        spragGrow((void **)&world->guide, &world->guide_capacity, (size_t)world->guide_count + 1, sizeof *world->guide);
    pthread_mutex_unlock(&lists);
    return memory;
}

static void list(struct spragWorld *world, struct spragGuide *guide)
{
    pthread_mutex_lock(&lists);
    world->guide[world->guide_count++] = guide;
    pthread_mutex_unlock(&lists);
}

static void unlist(struct spragWorld *world, const struct spragGuide *guide)
{
    int kept = 0;
    pthread_mutex_lock(&lists);
    for (int k = 0; k < world->guide_count; ++k)
        if (world->guide[k] != guide)
            world->guide[kept++] = world->guide[k];
    world->guide_count = kept;
    pthread_mutex_unlock(&lists);
}

int spragGuideIsOf(const struct spragWorld *world, spragGuideID guide)
{
    int found = 0;
    pthread_mutex_lock(&lists);
    for (int k = 0; k < world->guide_count && !found; ++k)
        found = world->guide[k] == guide;
    pthread_mutex_unlock(&lists);
    return found;
}

spragStatus spragGuideMake(struct spragWorld *world, const spragGuideDef *def, spragGuideID *out)
{
    struct spragGuide *guide = spragAlloc(1, sizeof *guide);
    dJointID joint = NULL;
    if (guide == NULL || !reserve(world) || (joint = dJointCreateNull(world->world, 0)) == NULL) {
        spragFree(guide);
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for a guide");
    }
    dJointAttach(joint, def->body, def->guide);
    dJointSetData(joint, guide);
    *guide = (struct spragGuide){.world = world,
                                 .joint = joint,
                                 .id = ++world->next_id,
                                 .mu = {def->mu[0], def->mu[1]},
                                 .clearance = def->clearance,
                                 .surface = {def->surface[0], def->surface[1]},
                                 .memory = -1};
    placeGuide(guide, def);
    list(world, guide);
    *out = guide;
    return SPRAG_OK;
}

static int carries(dJointID joint, const struct spragGuide *guide)
{
    return joint == guide->joint && dJointGetType(joint) == dJointTypeNull && dJointGetData(joint) == guide;
}

int spragGuideFree(spragGuideID guide)
{
    struct spragWorld *world = guide->world;
    dJointID joint = world->world != NULL ? spragLayoutFirstJoint(world->world) : NULL;
    while (joint != NULL && !carries(joint, guide)) /* the user may have destroyed it with a body's joints */
        joint = spragLayoutNextJoint(joint);
    const int alive = joint != NULL && dJointGetBody(joint, 0) != NULL; /* with a body ODE takes both */
    if (joint != NULL)
        dJointDestroy(joint);
    unlist(world, guide);
    spragFree(guide);
    return alive;
}

int spragGuidesFind(struct spragWorld *world)
{
    spragSnapshot *s = &world->snapshot;
    spragPointerMap map;
    if (world->guide_count == 0)
        return 1;
    if (!spragPointerMapMake(&map, &world->arena, world->guide_count))
        return 0;
    for (int k = 0; k < world->guide_count; ++k)
        spragPointerMapPut(&map, world->guide[k]->joint, k);
    for (int j = 0; j < s->joint_count; ++j) {
        const int k = s->joint[j].type == dJointTypeNull ? spragPointerMapGet(&map, s->joint[j].id) : -1;
        if (k >= 0 && carries(s->joint[j].id, world->guide[k]))
            s->joint[j].guide = world->guide[k];
    }
    return 1;
}

spragGuideID spragGuideById(const struct spragWorld *world, unsigned long long id)
{
    int low = 0, high = world->guide_count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (world->guide[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < world->guide_count && world->guide[low]->id == id ? world->guide[low] : NULL;
}

/* ---------------------------------------------------------------- blocks */

/* Has the guide play?  Not if a step crosses it at a speed that the solver cannot tell from 0. */
static int hasPlay(const struct spragGuide *guide)
{
    return guide->clearance > 100 * guide->world->config.tolerance * guide->world->snapshot.step;
}

int spragGuideBlockCount(const struct spragGuide *guide)
{
    return hasPlay(guide) ? 2 : 1;
}

/* Fills the block's position and frame.  Returns g, m. */
static double locate(const spragSnapshot *s, const struct spragGuide *guide, spragBlock *block)
{
    const spragBodyState *a = &s->body[block->body[0]], *b = block->body[1] < 0 ? NULL : &s->body[block->body[1]];
    double origin[3];
    memcpy(block->n, guide->normal, sizeof block->n);
    memcpy(block->t1, guide->tangent[0], sizeof block->t1);
    memcpy(block->t2, guide->tangent[1], sizeof block->t2);
    memcpy(origin, guide->origin, sizeof origin);
    spragMul33(block->position, a->rotation, guide->point);
    if (b != NULL) {
        spragMul33(block->n, b->rotation, guide->normal);
        spragMul33(block->t1, b->rotation, guide->tangent[0]);
        spragMul33(block->t2, b->rotation, guide->tangent[1]);
        spragMul33(origin, b->rotation, guide->origin);
    }
    double g = 0;
    for (int i = 0; i < 3; ++i) {
        block->position[i] += a->position[i];
        g += block->n[i] * (block->position[i] - origin[i] - (b != NULL ? b->position[i] : 0));
    }
    return g;
}

static void fillRows(const spragSnapshot *s, spragBlock *block)
{
    const spragBodyState *const body[2] = {&s->body[block->body[0]],
                                           block->body[1] < 0 ? NULL : &s->body[block->body[1]]};
    spragBlockRow(s, block, 0, block->n);
    spragBlockRow(s, block, 1, block->t1);
    spragBlockRow(s, block, 2, block->t2);
    block->curved = 1;
    block->curvature.radius[0] = 0, block->curvature.radius[1] = SPRAG_CURVATURE_FLAT;
    spragBlockProduct(s, block, body, block->product, block->carried);
    if (block->memory < 0)
        memset(block->carried, 0, sizeof block->carried);
    block->approach = spragBlockVelocity(s, block, 0);
}

/* Fills the block's coefficients of friction, at rest and sliding, on its + and - side. */
static void friction(const struct spragWorld *world, const struct spragGuide *guide, int plus, int minus,
                     spragBlock *block)
{
    const spragContactMemory *record = guide->memory >= 0 ? &world->memory[guide->memory] : NULL;
    const double mu = spragConeOf(fmax(guide->mu[plus], guide->surface[plus].mu_static)),
                 mu_minus = spragConeOf(fmax(guide->mu[minus], guide->surface[minus].mu_static));
    block->mu = spragConeOf(guide->mu[plus]);
    block->mu_minus = spragConeOf(guide->mu[minus]);
    if (mu > block->mu || mu_minus > block->mu_minus)
        spragBlockHold(block, mu, mu_minus, spragBlockRested(&world->snapshot, block, record));
}

/* m, what no correction of this side (+1, -1; 0: of both) sees of the gap yet. */
static double lagOf(const struct spragWorld *world, const struct spragGuide *guide, int side)
{
    const spragContactMemory *record = guide->memory >= 0 ? &world->memory[guide->memory] : NULL;
    return record != NULL && (side == 0 || record->variant == side) ? record->lag : 0;
}

static void twoSided(const struct spragWorld *world, const struct spragGuide *guide, spragBlock *block)
{
    const double h = world->snapshot.step, most = world->snapshot.greatest_correction;
    const int side = guide->memory >= 0 && world->memory[guide->memory].variant < 0;
    double erp = world->snapshot.erp, cfm = world->snapshot.cfm;
    spragSurfaceSpring(&guide->surface[side], h, &erp, &cfm);
    block->kind = SPRAG_BLOCK_TWO_SIDED;
    block->lag = lagOf(world, guide, 0);
    friction(world, guide, 0, 1, block);
    block->rhs[0] = fmax(-most, fmin(most, -erp * (block->gap - block->lag) / h));
    block->correction = block->rhs[0];
    block->compliance[0] = cfm / h;
}

/* One side of a guide with clearance; block->gap is what is left to it. */
static void oneSide(const struct spragWorld *world, const struct spragGuide *guide, int side, spragBlock *block)
{
    const double h = world->snapshot.step;
    double erp = world->snapshot.erp, cfm = world->snapshot.cfm;
    spragSurfaceSpring(&guide->surface[side], h, &erp, &cfm);
    block->kind = SPRAG_BLOCK_CONTACT;
    block->lag = lagOf(world, guide, side == 0 ? 1 : -1);
    const double gap = block->gap - block->lag;
    friction(world, guide, side, side, block);
    block->rhs[0] = gap > 0 ? -gap / h : fmin(-erp * gap / h, world->snapshot.greatest_correction);
    block->correction = fmax(block->rhs[0], 0);
    block->compliance[0] = cfm / h;
}

void spragGuideBlocks(const struct spragWorld *world, int j, spragBlock *block)
{
    const spragSnapshot *s = &world->snapshot;
    const struct spragGuide *guide = s->joint[j].guide;
    *block = (spragBlock){.joint = j,
                          .part = SPRAG_PART_GUIDE,
                          .parent = -1,
                          .scale = 1,
                          .id = guide->id,
                          .memory = guide->memory,
                          .body = {s->joint[j].body[0], s->joint[j].body[1]}};
    const double g = locate(s, guide, block);
    if (!hasPlay(guide)) {
        block->gap = g;
        fillRows(s, block);
        twoSided(world, guide, block);
        return;
    }
    spragBlock *opposite = block + 1;
    *opposite = *block;
    opposite->part = SPRAG_PART_OPPOSITE;
    for (int i = 0; i < 3; ++i) {
        opposite->n[i] = -block->n[i];
        opposite->t2[i] = -block->t2[i];
    }
    block->gap = 0.5 * guide->clearance + g;
    opposite->gap = 0.5 * guide->clearance - g;
    for (int side = 0; side < 2; ++side) {
        fillRows(s, block + side);
        oneSide(world, guide, side, block + side);
    }
}
