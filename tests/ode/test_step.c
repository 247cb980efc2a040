/* Single contacts with known motion, beside stock ODE where ODE is right. */
#include "support/twin.h"

/* ---------------------------------------------------------------- tests */

static void frictionlessContactIsAsOde(void **state)
{
    (void)state;
    Twin twin[2];
    for (int k = 0; k < 2; ++k) {
        makeTwin(&twin[k], k);
        addBox(&twin[k], 0, 0, 0.25);
        dBodySetLinearVel(twin[k].body[0], 1, 0.5, 0);
        dBodySetAngularVel(twin[k].body[0], 0, 0, 0.3);
        for (int i = 0; i < 500; ++i) {
            addCorners(&twin[k], twin[k].body[0], 0);
            step(&twin[k], 1e-3);
        }
    }
    assert_true(bodyDifference(twin[0].body[0], twin[1].body[0]) < 1e-9);
    freeTwin(&twin[0]);
    freeTwin(&twin[1]);
}

static void contactFreeIslandIsBitEqual(void **state)
{
    (void)state;
    Twin twin[2];
    for (int k = 0; k < 2; ++k) {
        makeTwin(&twin[k], k);
        addBox(&twin[k], 0, 0, 0.2);
        dBodyID a = addBox(&twin[k], 5, 0, 3), b = addBox(&twin[k], 6, 0, 3);
        dJointID hinge = dJointCreateHinge(twin[k].world, 0);
        dJointAttach(hinge, a, b);
        dJointSetHingeAnchor(hinge, 5.5, 0.1, 3);
        dJointSetHingeAxis(hinge, 0, 1, 0);
        dBodySetAngularVel(a, 1, 2, 3);
        for (int i = 0; i < 200; ++i) {
            addCorners(&twin[k], twin[k].body[0], 0.5);
            step(&twin[k], 1e-3);
        }
    }
    for (int i = 1; i < 3; ++i) {
        assert_memory_equal(dBodyGetPosition(twin[0].body[i]), dBodyGetPosition(twin[1].body[i]), 3 * sizeof(dReal));
        assert_memory_equal(dBodyGetAngularVel(twin[0].body[i]), dBodyGetAngularVel(twin[1].body[i]),
                            3 * sizeof(dReal));
    }
    freeTwin(&twin[0]);
    freeTwin(&twin[1]);
}

/* A flat block sliding at any heading decelerates by mu g: its tipping moment is carried by the corners. */
static void frictionIsIsotropic(void **state)
{
    (void)state;
    const double mu = 0.3, h = 1e-3, g = 9.81;
    for (int k = 0; k < 16; ++k) {
        Twin t;
        makeTwin(&t, 1);
        const double heading = 0.1 + k * 0.3926990816987241;
        dBodyID box = addBox(&t, 0, 0, 0.2);
        dBodySetLinearVel(box, 3 * cos(heading), 3 * sin(heading), 0);
        for (int i = 0; i < 200; ++i) {
            addCorners(&t, box, mu);
            step(&t, h);
        }
        const dReal *v = dBodyGetLinearVel(box);
        const double speed = sqrt(v[0] * v[0] + v[1] * v[1]);
        CHECK_NEAR((3 - speed) / (200 * h) / (mu * g), 1, 1e-6);
        CHECK_NEAR(atan2(v[1] * cos(heading) - v[0] * sin(heading), v[0] * cos(heading) + v[1] * sin(heading)), 0,
                   1e-6);
        freeTwin(&t);
    }
}

/* Gravity turned by the angle of an incline towards heading 45 degrees: holds below mu, and does not creep. */
static void inclineHoldsBelowMu(void **state)
{
    (void)state;
    for (int k = 0; k < 2; ++k) {
        Twin t;
        makeTwin(&t, 1);
        const double mu = 0.4, ratio = k == 0 ? 0.99 : 1.01, angle = atan(mu * ratio), g = 9.81;
        dWorldSetGravity(t.world, g * sin(angle) * sqrt(0.5), g * sin(angle) * sqrt(0.5), -g * cos(angle));
        dBodyID box = addBox(&t, 0, 0, 0.2);
        double half[2] = {0, 0}; /* m, where it is after half a second */
        for (int i = 0; i < 1000; ++i) {
            addCorners(&t, box, mu);
            step(&t, 1e-3);
            for (int j = 0; j < 2 && i == 499; ++j)
                half[j] = dBodyGetPosition(box)[j];
        }
        const dReal *v = dBodyGetLinearVel(box), *x = dBodyGetPosition(box);
        const double speed = sqrt(v[0] * v[0] + v[1] * v[1]);
        if (k == 0) {
            const double creep = hypot(x[0] - half[0], x[1] - half[1]) / 0.5;
            if (!(creep <= 1e-12) || !(speed <= 1e-10))
                fail_msg("it creeps: %g m/s in the mean, %g at the end", creep, speed);
        } else
            CHECK_NEAR(speed, g * (sin(angle) - mu * cos(angle)), 1e-6);
        freeTwin(&t);
    }
}

/* ---------------------------------------------------------------- threads of ODE's own */

static ddependencycount_t first_asked, most_asked;
static dThreadingImplResourcesForCallsPreallocateFunction *preallocate;

static unsigned twoThreads(dThreadingImplementationID own)
{
    (void)own;
    return 2;
}

static int countJobs(dThreadingImplementationID own, ddependencycount_t count)
{
    if (first_asked == 0)
        first_asked = count;
    most_asked = count > most_asked ? count : most_asked;
    return preallocate(own, count);
}

/* ODE makes room for jobs while its threads may still be at those of the step before: all of it in the first step. */
static void roomForJobsIsMadeOnce(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dThreadingImplementationID own = dThreadingAllocateSelfThreadedImplementation();
    dThreadingFunctionsInfo functions = *dThreadingImplementationGetFunctions(own);
    preallocate = functions.preallocate_resources_for_calls;
    functions.preallocate_resources_for_calls = countJobs;
    functions.retrieve_thread_count = twoThreads;
    dWorldSetStepThreadingImplementation(t.world, &functions, own);
    addBox(&t, 0, 0, 0.25);
    dBodyID a = addBox(&t, 5, 0, 3), b = addBox(&t, 6, 0, 3);
    spragConfig config;
    assert_int_equal(spragWorldGetConfig(t.sprag, &config), SPRAG_OK);
    for (int i = 0; i < 4; ++i) {
        config.stepper = i % 2 ? SPRAG_STEPPER_QUICKSTEP : SPRAG_STEPPER_STEP;
        assert_int_equal(spragWorldSetConfig(t.sprag, &config), SPRAG_OK);
        addCorners(&t, t.body[0], 0.5);
        dJointID hinge = i < 2 ? NULL : dJointCreateHinge(t.world, 0); /* ODE's own work: not one thread's then */
        if (hinge != NULL)
            dJointAttach(hinge, a, b);
        step(&t, 1e-3);
    }
    assert_true(first_asked > 0);
    assert_int_equal(most_asked, first_asked);
    dWorldSetStepThreadingImplementation(t.world, NULL, NULL);
    freeTwin(&t);
    dThreadingFreeImplementation(own);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frictionlessContactIsAsOde), cmocka_unit_test(contactFreeIslandIsBitEqual),
        cmocka_unit_test(frictionIsIsotropic),        cmocka_unit_test(inclineHoldsBelowMu),
        cmocka_unit_test(roomForJobsIsMadeOnce),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
