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

/* One body in a thousand is slower to settle than all the others together: a ball that is about to topple.  It has to
 * be slow all the same: a box that slid at 1 mm/s under a pile of 1000 cost each step seven times what rest does. */
enum { ONE_IN = 1000, SLOW = 100 };

/* 1: all bodies but one in a thousand are slower than that, m/s, and these slower than SLOW times that. */
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

/* A stage of coming to rest. */
typedef struct Stage {
    double step_size;        /* s */
    double tolerance, still; /* m/s */
    int sweeps;              /* at most, 0: any */
    int in_a_row;            /* steps that are solved and still: then it is done */
    int missed;              /* steps in a row that are not solved: then it is given up */
    int steps;               /* at most */
} Stage;

/* 1: it is done.  Takes what it needs from *steps. */
static int runStage(SceneWorld *world, const Stage *stage, int *steps)
{
    spragConfig config = spragConfigDefault();
    config.thread_count = 2;
    config.tolerance = stage->tolerance;
    config.iteration_limit = stage->sweeps;
    spragStatus status = spragWorldSetConfig(world->sprag, &config);
    const int last = *steps > stage->steps ? *steps - stage->steps : 0;
    int calm = 0, missed = 0;
    while (*steps > last && calm < stage->in_a_row && missed < stage->missed && status == SPRAG_OK) {
        --*steps;
        status = SceneStep(world, stage->step_size);
        const int solved = spragWorldGetStepInfo(world->sprag).residual <= stage->tolerance;
        missed = solved ? 0 : missed + 1;
        calm = solved && isStill(world, stage->still) ? calm + 1 : 0;
    }
    return calm >= stage->in_a_row;
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

/* Most of the way in longer steps: what topples takes its time, however many steps that is. */
static void hastenCalm(SceneWorld *world, const Stage *rough, const Stage *exact, double longer, int *steps)
{
    Stage first = *rough, second = *exact;
    first.step_size *= longer, second.step_size *= longer;
    first.still *= longer, second.still *= longer;
    first.steps = 300, second.steps = 100;
    second.missed = second.steps;
    runStage(world, &first, steps);
    runStage(world, &second, steps);
    allowOverlaps(world, first.step_size);
}

/* Roughly, in the velocities of bodies (30 sweeps a step are too few for boxes, which never end so), then exactly; if
 * that fails, as something fell once more, roughly again. */
int worldCalm(SceneWorld *world, double step_size, double longer, double tolerance)
{
    const double share = 0.05;
    const Stage rough = {step_size,       1e-5, .still = 1e-4, .sweeps = 100, .in_a_row = 20, .missed = INT_MAX,
                         .steps = INT_MAX},
                exact = {step_size, tolerance, .still = 1e-6, .in_a_row = 10, .missed = 1, .steps = INT_MAX};
    int steps = 8000, calm = 0;
    setDamping(world, share);
    if (longer > 1) {
        hastenCalm(world, &rough, &exact, longer, &steps);
        calm = runStage(world, &exact, &steps);
    }
    while (steps > 0 && !calm) {
        runStage(world, &rough, &steps);
        calm = runStage(world, &exact, &steps);
    }
    setDamping(world, 0);
    return calm;
}
