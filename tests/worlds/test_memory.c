/* Memory that runs out at any one place of a step, in worlds that take most ways through it: either the step is refused
 * (SPRAG_ERROR_MEMORY), the world is as it was, and the step made again is that of a world that was never refused; or
 * the step does without, and its answer is an answer. */
#include <stdlib.h>
#include <string.h>

#include "support/failing_takes.h"
#include "support/hull.h"
#include "support/paddle.h"
#include "support/scene_world.h"

spragStatus __real_spragWorldStep(spragWorldID sprag, double step);
spragStatus __wrap_spragWorldStep(spragWorldID sprag, double step);

/* ---------------------------------------------------------------- states */

enum { NUMBERS = 3 + 4 + 3 + 3 + 3 + 3 + 1 };

/* Position, quaternion, velocities, force and torque of each body, and how many of its joints are enabled. */
static double *stateOf(const SceneWorld *world)
{
    double *state = calloc((size_t)world->body_count, NUMBERS * sizeof *state);
    assert_non_null(state);
    for (int i = 0; i < world->body_count; ++i) {
        const dBodyID body = world->body[i];
        const dReal *part[] = {dBodyGetPosition(body),   dBodyGetQuaternion(body), dBodyGetLinearVel(body),
                               dBodyGetAngularVel(body), dBodyGetForce(body),      dBodyGetTorque(body)};
        double *to = state + NUMBERS * i;
        for (int p = 0; p < 6; ++p)
            for (int k = 0; k < (p == 1 ? 4 : 3); ++k)
                *to++ = part[p][k];
        for (int k = 0; k < dBodyGetNumJoints(body); ++k)
            *to += dJointIsEnabled(dBodyGetJoint(body, k));
    }
    return state;
}

/* The greatest difference; NaN where there is one. */
static double distance(const SceneWorld *world, const double *state)
{
    double *now = stateOf(world), most = 0;
    for (int i = 0; i < NUMBERS * world->body_count; ++i) {
        const double apart = fabs(now[i] - state[i]);
        most = apart <= most ? most : apart;
    }
    free(now);
    return most;
}

/* ---------------------------------------------------------------- the walk */

typedef struct Walk {
    SceneWorld *world;
    unsigned long next; /* to fail; 0: none, and steps are counted no more */
    int refused, without;
} Walk;

static Walk *walk;

/* Until a step is made: one fails, then the next. */
spragStatus __wrap_spragWorldStep(spragWorldID sprag, double step)
{
    if (walk == NULL)
        return __real_spragWorldStep(sprag, step);
    double *before = stateOf(walk->world);
    spragStatus status = SPRAG_ERROR_MEMORY;
    for (; status != SPRAG_OK; ++walk->next) {
        taken = 0, failing = walk->next;
        status = __real_spragWorldStep(sprag, step);
        failing = 0;
        if (status == SPRAG_OK)
            continue;
        ++walk->refused;
        if (status != SPRAG_ERROR_MEMORY)
            fail_msg("%s, %lu: %s", walk->world->scene->name, walk->next, spragStatusDetail());
        if (distance(walk->world, before) != 0)
            fail_msg("%s, %lu: refused, and the world is another", walk->world->scene->name, walk->next);
    }
    free(before);
    return status;
}

typedef struct Case {
    const char *scene, *set;
    double h;                          /* s */
    int before;                        /* steps that nothing fails in */
    void (*change)(SceneWorld *world); /* NULL: as it is */
    double time_limit;                 /* s */
} Case;

/* All bearings rub. */
static void rub(SceneWorld *world)
{
    spragJointFriction friction = spragJointFrictionDefault();
    friction.mu = 0.3, friction.radius = 0.05, friction.length = 0.2, friction.half_width = 0.05;
    for (int i = 0; i < world->body_count; ++i)
        for (int k = 0; k < dBodyGetNumJoints(world->body[i]); ++k)
            assert_int_equal(spragJointSetFriction(world->sprag, dBodyGetJoint(world->body[i], k), &friction),
                             SPRAG_OK);
}

/* What touches holds. */
static void hold(SceneWorld *world)
{
    world->surface.mu = dInfinity;
}

/* Boxes are hulls. */
static void harden(SceneWorld *world)
{
    static Hull hull[2];
    assert_true(world->body_count >= 2);
    for (int i = 0, count = 0; i < world->body_count; ++i) {
        const dGeomID geom = dBodyGetFirstGeom(world->body[i]);
        dVector3 sides;
        if (dGeomGetClass(geom) != dBoxClass)
            continue;
        assert_true(count < 2);
        dGeomBoxGetLengths(geom, sides);
        hull[count] = hullBlock(0.5 * sides[0], 0.5 * sides[1], 0.5 * sides[2]);
        dGeomSetBody(hullGeom(dGeomGetSpace(geom), &hull[count++]), world->body[i]);
        dGeomDestroy(geom);
    }
}

static SceneWorld *open(const Case *c)
{
    spragConfig config = spragConfigDefault();
    config.time_limit = c->time_limit;
    SceneWorld *world = openUnder(SCENE_SPRAG, &config, c->scene, "%s", c->set);
    if (c->change != NULL)
        c->change(world);
    for (int k = 0; k < c->before; ++k)
        assert_int_equal(SceneStep(world, c->h), SPRAG_OK);
    return world;
}

/* A step that did without is an answer, but its bits are others': the walk goes on in a new world. */
static void walkThrough(const Case *c, int counted[2])
{
    Walk own = {.next = 1};
    for (int through = 0; !through;) {
        own.world = open(c);
        walk = &own;
        assert_int_equal(SceneStep(own.world, c->h), SPRAG_OK);
        walk = NULL;
        double *after = stateOf(own.world);
        through = taken < own.next - 1;
        own.without += !through;
        for (int i = 0; i < NUMBERS * own.world->body_count; ++i)
            assert_true(isfinite(after[i]));
        if (through) {
            SceneWorld *reference = open(c);
            assert_int_equal(SceneStep(reference, c->h), SPRAG_OK);
            CHECK_NEAR(distance(reference, after), 0,
                       1e-9); /* which limits did not hold may be remembered as a guess */
            SceneDestroy(reference);
        }
        free(after);
        SceneDestroy(own.world);
    }
    print_message("%-14s %4d refused, %4d without\n", c->scene, own.refused, own.without);
    counted[0] += own.refused, counted[1] += own.without;
}

static void memoryRunsOut(void **state)
{
    (void)state;
    static const Case list[] = {
        {"rod", "mu=2 angle=120", 1e-3, 0, NULL, 0},
        {"rod", "mu=0.5", 1e-3, 5, NULL, 0},
        {"top", "", 1e-3, 2, NULL, 0},
        {"stack", "", 1e-3, 0, NULL, 0},
        {"stack", "", 1e-3, 5, NULL, 0},
        {"slider", "", 1e-3, 3, NULL, 0},
        {"belt", "", 1e-3, 3, NULL, 0},
        {"wheel", "", 1e-3, 3, NULL, 0},
        {"arch", "", 1e-3, 3, NULL, 0},
        {"card-house", "", 1e-3, 3, NULL, 0},
        {"pile", "count=40", 1e-2, 20, NULL, 0},
        {"pile", "count=20 boxes=1 tumble=1", 1e-2, 20, NULL, 0},
        {"pile", "count=20 boxes=0.5 rolling=0.01", 1e-2, 20, NULL, 0},
        {"chain", "", 1e-3, 3, NULL, 0},
        {"ragdolls", "count=2", 1e-2, 60, NULL, 0},
        {"quadruped", "", 1e-3, 30, NULL, 0},
        {"islands", "count=20", 1e-3, 3, NULL, 0},
        {"islands", "count=20 boxes=0", 1e-3, 3, NULL, 0},
        {"bipod", "", 1e-3, 0, NULL, 0},
        {"painleve-klein", "", 1e-3, 2, NULL, 0},
        {"wall", "courses=5", 1e-2, 3, NULL, 0},
        {"pyramid", "rows=4 square=1", 1e-2, 3, NULL, 0},
        {"logs", "rows=4", 1e-2, 60, NULL, 0},
        {"logs", "rows=4", 1e-2, 60, harden, 0},
        {"rod-guide", "", 1e-3, 2, NULL, 0},
        {"drawer", "", 1e-3, 2, NULL, 0},
        {"drawer", "mu=2", 1e-3, 2, NULL, 0},
        {"slot", "", 1e-3, 2, NULL, 0},
        {"peg", "", 1e-3, 2, NULL, 0},
        {"quadruped", "", 1e-3, 5, rub, 0},
        {"ragdolls", "count=1", 1e-2, 60, rub, 0},
        {"ragdolls", "count=2", 1e-2, 60, hold, 0},
        {"ragdolls", "count=2", 1e-2, 60, NULL, 10},
        {"chain", "", 1e-3, 3, hold, 0},
        {"stack", "", 1e-3, 3, hold, 0},
        {"arch", "", 1e-3, 3, hold, 0},
        {"card-house", "", 1e-3, 3, hold, 0},
        {"wall", "courses=5", 1e-2, 3, hold, 0},
        {"pile", "count=20 boxes=1 tumble=1", 1e-2, 20, hold, 0},
        {"pile", "count=20 boxes=1 tumble=1", 1e-2, 20, NULL, 10},
        {"peg", "mu=5", 1e-3, 5, NULL, 0},
    };
    int counted[2] = {0};
    for (size_t k = 0; k < sizeof list / sizeof *list; ++k)
        walkThrough(&list[k], counted);
    assert_true(counted[0] > 1000 && counted[1] > 300);
}

/* An answer that throws a body, and is solved again. */
static void memoryRunsOutOfASurge(void **state)
{
    (void)state;
    int refused = 0, made = 0, last = 0;
    for (unsigned long n = 1; taken >= n - 1; ++n) {
        const dWorldID world = dWorldCreate();
        const dJointGroupID group = dJointGroupCreate(0);
        spragWorldID sprag;
        dWorldSetGravity(world, 0, 0, -9.81);
        assert_int_equal(spragWorldAttach(world, NULL, &sprag), SPRAG_OK);
        const dBodyID capsule = pressedCapsule(world, group, PADDLE_TURNS);
        const dReal before = dBodyGetPosition(capsule)[2];
        taken = 0, failing = n;
        const spragStatus status = spragWorldStep(sprag, PADDLE_STEP);
        failing = 0;
        if (status == SPRAG_OK) {
            const spragStepInfo info = spragWorldGetStepInfo(sprag);
            const double speed = fabs(dBodyGetLinearVel(capsule)[1]);
            assert_true(isfinite(speed) && (info.fallbacks == 0 || info.declined == 1 || speed < 5));
            ++made, last = info.fallbacks;
        } else {
            assert_int_equal(status, SPRAG_ERROR_MEMORY);
            assert_true(dBodyGetPosition(capsule)[2] == before);
            ++refused;
        }
        spragWorldDetach(sprag);
        dJointGroupDestroy(group);
        dWorldDestroy(world);
    }
    print_message("%d refused, %d without\n", refused, made);
    assert_true(refused > 10 && made > 5 && last == 1);
}

static void ignore(int number, const char *text, va_list arguments)
{
    (void)number, (void)text, (void)arguments;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memoryRunsOut), cmocka_unit_test(memoryRunsOutOfASurge)};
    dInitODE2(0);
    dSetMessageHandler(ignore); /* of islands that are left to ODE */
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
