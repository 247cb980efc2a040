#include "bench/settle.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void setKeys(const Scene *scene, const char *set, double *value)
{
    for (int k = 0; scene->keys[k].name != NULL; ++k) {
        const size_t length = strlen(scene->keys[k].name);
        value[k] = scene->keys[k].value;
        for (const char *at = set; (at = strstr(at, scene->keys[k].name)) != NULL; at += length)
            if (at[length] == '=' && (at == set || at[-1] == ' '))
                value[k] = atof(at + length + 1);
    }
}

SceneWorld *worldSettle(const WorldPlan *plan)
{
    char error[160] = "no such scene";
    double value[SCENE_KEY_MAX];
    const Scene *scene = SceneFind(plan->scene);
    SceneWorld *world = NULL;
    spragConfig config = spragConfigDefault();
    config.solver = SPRAG_SOLVER_STOCK;
    config.stepper = SPRAG_STEPPER_QUICKSTEP;
    if (scene != NULL) {
        setKeys(scene, plan->set, value);
        dRandSetSeed(1);
        world = SceneCreate(scene, value, SCENE_SPRAG, &config, error);
    }
    for (int k = 0; world != NULL && plan->settle_quick && k < plan->settle; ++k)
        if (SceneStep(world, plan->step_size) != SPRAG_OK) {
            snprintf(error, sizeof error, "%s", SceneDetail(world));
            SceneDestroy(world);
            world = NULL;
        }
    if (world == NULL)
        fprintf(stderr, "sprag-bench: %s %s: %s\n", plan->scene, plan->set, error);
    return world;
}

/* Of every body: what the world says is for bodies still to come. */
static void setDamping(const SceneWorld *world, double share)
{
    for (int i = 0; i < world->body_count; ++i) {
        dBodySetDamping(world->body[i], (dReal)share, (dReal)share);
        dBodySetLinearDampingThreshold(world->body[i], 0);
        dBodySetAngularDampingThreshold(world->body[i], 0);
    }
}

/* Two bodies in a thousand are slower to settle than all the others together: balls that are about to topple.  They
 * have to be slow all the same: a box that slid at 1 mm/s under a pile of 1000 cost each step seven times what rest
 * does. */
enum { ONE_IN = 500, SLOW = 1000, CALM = 10 };

/* 1: all bodies but one in ONE_IN are slower than that, m/s, and these slower than SLOW times that. */
static int isStill(const SceneWorld *world, double speed)
{
    int moving = 0;
    for (int i = 0; i < world->body_count; ++i) {
        const double now = dCalcVectorLength3(dBodyGetLinearVel(world->body[i]));
        if (!(now <= SLOW * speed))
            return 0;
        moving += now > speed;
    }
    return moving * ONE_IN <= world->body_count;
}

/* Steps until ten in a row are solved and still (m/s).  1: they were, within so many. */
static int runUntilStill(SceneWorld *world, const spragConfig *config, double step_size, double still, int steps)
{
    spragStatus status = spragWorldSetConfig(world->sprag, config);
    int calm = 0;
    for (; steps > 0 && calm < CALM && status == SPRAG_OK; --steps) {
        status = SceneStep(world, step_size);
        const int solved = spragWorldGetStepInfo(world->sprag).residual <= config->tolerance;
        calm = solved && isStill(world, still) ? calm + 1 : 0;
    }
    return calm >= CALM;
}

/* Sprag asks for no correction slower than a thousandth of what gravity gives in a step (docs/architecture.md, Rest),
 * so longer steps leave deeper overlaps.  Shorter ones would push them out, and the pile with them. */
static void allowOverlaps(const SceneWorld *world, double step_size)
{
    const double share = 1e-3;
    dVector3 g;
    dWorldGetGravity(world->world, g);
    const double slow = share * step_size * dCalcVectorLength3(g);
    const double left = slow * step_size / dWorldGetERP(world->world),
                 layer = dWorldGetContactSurfaceLayer(world->world);
    dWorldSetContactSurfaceLayer(world->world, (dReal)(layer + left));
}

/* As a game does it, by steps at 60 Hz; then by those that are measured.  Damping comes last, as balls would roll for
 * ever: it keeps what topples from falling.  (Before Sprag let heaps rest, `slop.h`, it took rough tolerances and
 * exact ones by turns, and brought no more than 1000 boxes to rest.) */
int worldCalm(SceneWorld *world, double step_size, double tolerance)
{
    const double game = 1.0 / 60, share = 0.05, slow = 1e-4, still = 1e-6;
    spragConfig config = spragConfigDefault();
    config.thread_count = 2;
    config.tolerance = tolerance;
    runUntilStill(world, &config, game, slow, 400);
    allowOverlaps(world, game);
    setDamping(world, share);
    const int calm = runUntilStill(world, &config, step_size, still, 1000);
    setDamping(world, 0);
    return calm;
}
