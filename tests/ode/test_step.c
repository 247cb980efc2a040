/* Single contacts with known motion, beside stock ODE where ODE is right. */
#include "support/twin.h"
#include "support/uniform.h"

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

/* Contacts at the lower corners of a flat box, on another one or the ground, which are level. */
static void addCornersOn(Twin *t, dBodyID box, dBodyID lower, double mu)
{
    const double top = lower != NULL ? dBodyGetPosition(lower)[2] + 0.2 : 0;
    for (int i = 0; i < 4; ++i) {
        dVector3 p;
        dBodyGetRelPointPos(box, i & 1 ? 0.4 : -0.4, i & 2 ? 0.3 : -0.3, -0.2, p);
        dContact contact = planeContact(p[0], p[1], p[2], mu);
        contact.geom.depth = fmax(0, top - p[2]);
        addContact(t, &contact, box, lower);
    }
}

/* m/s, the fastest slip of a contact of the last step that sticks. */
static double creepOf(spragWorldID sprag)
{
    const spragContact *contact;
    double fastest = 0;
    for (int k = spragWorldGetContacts(sprag, &contact) - 1; k >= 0; --k)
        if (contact[k].mode == SPRAG_MODE_STICK)
            fastest = fmax(fastest, hypot(contact[k].slip[0], contact[k].slip[1]));
    return fastest;
}

/* The fastest creep of so many boxes on each other after the first three of 100 steps, on a slope with friction `ratio`
 * times what it has to be. */
static double creepOfTower(int count, double angle, double heading, double ratio, unsigned long long *seed)
{
    const double mu = tan(angle) * ratio, g = 9.81, down = g * sin(angle);
    double fastest = 0;
    Twin t;
    makeTwin(&t, 1);
    dWorldSetCFM(t.world, 0);
    dWorldSetGravity(t.world, down * cos(heading), down * sin(heading), -g * cos(angle));
    for (int i = 0; i < count; ++i) {
        dMatrix3 R;
        dRFromAxisAndAngle(R, 0, 0, 1, 0.3 * uniform(seed));
        dBodySetRotation(addBox(&t, 0, 0, 0.2 + 0.4 * i), R);
    }
    for (int i = 0; i < 100; ++i) {
        for (int j = 0; j < count; ++j)
            addCornersOn(&t, t.body[j], j > 0 ? t.body[j - 1] : NULL, mu);
        step(&t, 5e-3);
        if (i > 2)
            fastest = fmax(fastest, creepOf(t.sprag));
    }
    freeTwin(&t);
    return fastest;
}

/* Boxes turned by chance, on slopes of any heading.  Corners that share the load in many ways are at the edges of their
 * cones, of a lone box that holds by a hair all of them, and stick all the same: to 1e-12 m/s, but for a tower or two.
 * (Answers let them slip, and every step a little faster: of lone boxes that hold by a hair 20 of 30 crept, at up to
 * 1e-9 m/s, of 60 towers 20.) */
static void cornersAtTheEdgeDoNotCreep(void **state)
{
    (void)state;
    static const double ratio[] = {1.0001, 1.01, 1.3};
    unsigned long long seed = 1;
    int crept = 0;
    for (int k = 0; k < 150; ++k) {
        const int lone = k < 90;
        const double angle = lone ? 0.3 + 0.2 * uniform(&seed) : 0.1 + 0.05 * uniform(&seed),
                     heading = M_PI * uniform(&seed),
                     creep = creepOfTower(lone ? 1 : 5, angle, heading, ratio[lone ? k % 3 : 1 + k % 2], &seed);
        if (lone && !(creep <= 1e-12))
            fail_msg("lone box %d creeps at %g m/s", k, creep);
        assert_true(creep <= 1e-11);
        crept += creep > 1e-12;
    }
    assert_in_range(crept, 0, 3);
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
        cmocka_unit_test(cornersAtTheEdgeDoNotCreep), cmocka_unit_test(roomForJobsIsMadeOnce),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
