/* One island from contacts to impulses: the solvers' options, what is absurd, limits and motors that are taken to hold
 * and do not, and what goes on with W where visits are not enough; and under a time limit that nothing can keep. */
#include "support/scene_world.h"
#include "support/twin.h"

#include "linalg/vec3.h"
#include "ode/islands/island_solve.h"

#define STEP 1e-3 /* s */
#define MASS 2.0  /* kg, of the boxes of a twin */

static void optionsAreTheWorlds(void **state)
{
    (void)state;
    spragConfig config = spragConfigDefault();
    config.solver = SPRAG_SOLVER_NEWTON;
    config.tolerance = 1e-5, config.enough = 1e-3;
    config.iteration_limit = 7, config.thread_count = 3;
    config.time_limit = 5; /* of the step: the island has its share */
    config.indeterminacy = SPRAG_INDETERMINACY_LIFT;
    const spragSolveOptions options = spragIslandSolveOptions(&config, 0.25);
    assert_int_equal(options.solver, SPRAG_SOLVER_NEWTON);
    assert_true(options.tolerance == 1e-5 && options.enough == 1e-3 && options.time_limit == 0.25);
    assert_true(options.iteration_limit == 7 && options.thread_count == 3);
    assert_int_equal(options.indeterminacy, SPRAG_INDETERMINACY_LIFT);
    assert_true(options.work_limit > 0); /* no step waits for the last digit */
}

static spragIsland *islandOf(const Twin *t, int number)
{
    assert_true(number < t->sprag->snapshot.island_count);
    return &t->sprag->snapshot.island[number];
}

static void configure(Twin *t, double tolerance, double time_limit)
{
    spragConfig config = spragConfigDefault();
    config.tolerance = tolerance, config.time_limit = time_limit;
    assert_int_equal(spragWorldSetConfig(t->sprag, &config), SPRAG_OK);
}

/* A box that a motor along x brakes with 5 N, pressed by 4 N onto a contact with a mu of 0.5: 7 N hold.  A motor that
 * held is taken to hold in the next step, as a row of its joint; where it does not it becomes a block again, and the
 * island is solved once more.  Under a time limit sweeps look for it before. */
static void motorsHoldUntilTheyDoNot(void **state)
{
    (void)state;
    static const int push[] = {3, 3, 8}, rows[] = {0, 1, 0}; /* N */
    for (int limited = 0; limited < 2; ++limited) {
        Twin t;
        makeTwin(&t, 1);
        configure(&t, 1e-8, limited ? 10 : 0);
        dWorldSetGravity(t.world, 0, 0, 0);
        dWorldSetCFM(t.world, 0);
        const dBodyID box = addBox(&t, 0, 0, 0);
        const dJointID motor = dJointCreateLMotor(t.world, 0);
        dJointAttach(motor, box, 0);
        dJointSetLMotorNumAxes(motor, 1);
        dJointSetLMotorAxis(motor, 0, 0, 1, 0, 0);
        dJointSetLMotorParam(motor, dParamFMax, 5);
        for (int k = 0; k < 3; ++k) {
            const dContact contact = planeContact(0, 0, 0, 0.5);
            addContact(&t, &contact, box, 0);
            dBodyAddForce(box, push[k], 0, -4);
            step(&t, STEP);
            const spragIsland *island = islandOf(&t, 0);
            assert_int_equal(island->row_count, rows[k]);
            assert_int_equal(island->block_count, 2 - rows[k]);
            assert_true(spragWorldGetStepInfo(t.sprag).residual <= 1e-8);
            CHECK_NEAR(dBodyGetLinearVel(box)[0], fmax(push[k] - 7, 0) * STEP / MASS, 1e-12);
            CHECK_NEAR(lastContacts(&t, 1)->normal_force, 4, 1e-9);
            /* the impulse that contact and motor give the box */
            CHECK_NEAR(t.sprag->snapshot.body[0].impulse[0], -fmin(push[k], 7) * STEP, 1e-12);
            CHECK_NEAR(t.sprag->snapshot.body[0].impulse[2], 4 * STEP, 1e-12);
        }
        CHECK_NEAR(lastContacts(&t, 1)->friction[0], -2, 1e-9);
        CHECK_NEAR(t.sprag->load[0].force, -5, 1e-9);
        freeTwin(&t);
    }
}

/* What is absurd is ODE's, island by island, where the program asked for ODE's step; else the step is refused. */
static void whatIsAbsurdIsDeclined(void **state)
{
    (void)state;
    for (int lenient = 0; lenient < 2; ++lenient) {
        Twin t;
        makeTwin(&t, 1);
        const dBodyID good = addBox(&t, 0, 0, 0.2), bad = addBox(&t, 5, 0, 0.2);
        addCorners(&t, good, 0.5);
        dContact contact = planeContact(5, 0, 0, 0.5);
        contact.surface.mode |= dContactSoftCFM;
        contact.surface.soft_cfm = -1e-14;
        dJointAttach(dJointCreateContact(t.world, t.group, &contact), bad, 0); /* Sprag would not make it */
        t.sprag->lenient = lenient;
        const spragStatus status = spragWorldStep(t.sprag, STEP);
        assert_int_equal(status, lenient ? SPRAG_OK : SPRAG_ERROR_RANGE);
        CHECK_NEAR(dBodyGetPosition(good)[2], 0.2, 1e-12);
        if (lenient) {
            assert_null(islandOf(&t, 0)->declined);
            assert_ptr_equal(islandOf(&t, 1)->declined, spragAbsurdity);
            assert_false(islandOf(&t, 1)->failed); /* it is not that there was no answer */
            assert_int_equal(countEvents(&t, SPRAG_EVENT_DECLINED), 1);
            CHECK_NEAR(dBodyGetLinearVel(good)[2], 0, 1e-9);
        }
        freeTwin(&t);
    }
}

/* Of a tower that nobody knows yet visits leave more than 1e-5 m/s: what they leave is solved with W.  In the next step
 * they are enough. */
static void whereVisitsAreNotEnoughThereIsW(void **state)
{
    (void)state;
    SceneWorld *world = openScene("stack", NULL, SCENE_SPRAG);
    spragConfig config = spragConfigDefault();
    config.tolerance = 1e-5;
    assert_int_equal(spragWorldSetConfig(world->sprag, &config), SPRAG_OK);
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(SceneStep(world, STEP), SPRAG_OK);
        const spragIsland *island = &world->sprag->snapshot.island[0];
        assert_int_equal(island->matrix.visited, k == 0);
        assert_int_equal(island->bare != NULL, k == 1);
        assert_true(spragWorldGetStepInfo(world->sprag).residual <= 1e-5);
    }
    SceneDestroy(world);
}

/* In no time the guess is the answer, or what is nearer: it is told how far off that is, nothing is left to ODE, and no
 * impulse is thrown away. */
static void inNoTimeTheBestSoFarIsTaken(void **state)
{
    (void)state;
    SceneWorld *world = openWith("pile", "count=60 boxes=1 tumble=1");
    for (int step = 0; step < 60; ++step)
        assert_int_equal(SceneStep(world, 1.0 / 60), SPRAG_OK);
    spragConfig config = spragConfigDefault();
    config.time_limit = 1e-9;
    assert_int_equal(spragWorldSetConfig(world->sprag, &config), SPRAG_OK);
    for (int step = 0; step < 5; ++step) {
        assert_int_equal(SceneStep(world, 1.0 / 60), SPRAG_OK);
        const spragStepInfo info = spragWorldGetStepInfo(world->sprag);
        assert_int_equal(info.declined, 0);
        assert_true(isfinite(info.residual) && info.residual < 10);
    }
    for (int i = 0; i < world->body_count; ++i)
        assert_true(spragNorm3(dBodyGetLinearVel(world->body[i])) < 10);
    SceneDestroy(world);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optionsAreTheWorlds), cmocka_unit_test(motorsHoldUntilTheyDoNot),
        cmocka_unit_test(whatIsAbsurdIsDeclined), cmocka_unit_test(whereVisitsAreNotEnoughThereIsW),
        cmocka_unit_test(inNoTimeTheBestSoFarIsTaken)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
