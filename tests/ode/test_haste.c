/* An island that misses the tolerance has less work in the next step, and all of it again once it is solved. */
#include "support/check.h"
#include "support/fake_island.h"
#include "support/game.h"
#include "support/scene_world.h"

#include <math.h>

#include "linalg/vec3.h"
#include "ode/work/haste.h"

enum { MOST = 6 };

static void mostContactsSay(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 4);
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 4);
    for (int k = 0; k < FAKE_JOINTS / 3; ++k)
        fake.joint[k].memory = -1; /* new ones say nothing */
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 4);
    for (int k = FAKE_JOINTS / 2; k < FAKE_JOINTS; ++k)
        fake.memory[k].haste = 0; /* a wall that is hit by what was in a hurry */
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 1);
    for (int k = 0; k < FAKE_JOINTS; ++k)
        fake.joint[k].memory = -1;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
}

static void whoSetsALimitIsNotHurried(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 4);
    fake.world.config.patient = 1;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
    fake.world.config.patient = 0;
    fake.world.config.time_limit = 0.01;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
    fake.world.config.time_limit = 0;
    fake.world.config.iteration_limit = 100;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
    fake.world.config.iteration_limit = 0;
    fake.world.config.solver = SPRAG_SOLVER_NEWTON;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
    fake.world.config.solver = SPRAG_SOLVER_AUTO;
    fake.island.contact_count = 100;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
}

static void aMissHalvesAnAnswerDoubles(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    for (int k = 1; k < MOST + 3; ++k) {
        fake.island.solve.residual = k % 2 ? NAN : 1e-3;
        fake.island.before.haste = spragHasteNext(&fake.world, &fake.island);
        assert_int_equal(fake.island.before.haste, k < MOST ? k : MOST);
    }
    for (int k = 1; k < MOST + 3; ++k) {
        fake.island.solve.residual = 1e-9;
        fake.island.before.haste = spragHasteNext(&fake.world, &fake.island);
        assert_int_equal(fake.island.before.haste, k < MOST ? MOST - k : 0);
    }
}

/* Two bodies of a heap that have sunk into each other are a miss; where all are pressed together it is none. */
static void aCatchIsAMiss(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.island.pile.flat = 0;
    fake.island.wedge.speed = 1;
    fake.island.wedge.rigid = 0.02;
    fake.island.body_count = 100;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 1);
    fake.island.body_count = 60;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 0);
}

/* With mu = infinity a conflict is a miss of what moves, and not of what holds: a row of boxes that two walls press
 * together must go on holding. */
static void aConflictHurriesWhatMoves(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.island.pile.sticks = 2;
    fake.island.wedge.speed = 1;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 1);
    fake.body[0].velocity[0] = 0.01;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 0);
}

/* An answer that took many of Newton's steps is worth less work in the next step; a few of them are not. */
static void aDearAnswerHalves(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.island.solve.residual = 1e-9;
    fake.island.solve.method_iterations[SPRAG_SOLVER_NEWTON] = 200;
    fake.island.before.haste = spragHasteNext(&fake.world, &fake.island);
    assert_int_equal(fake.island.before.haste, 1);
    fake.world.config.patient = 1;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 0);
    fake.world.config.patient = 0;
    fake.island.solve.method_iterations[SPRAG_SOLVER_NEWTON] = 5;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 0);
}

/* What lies flat and moves no faster than gravity makes it in a step may come to rest, and has a 16th of the work at
 * least. */
static void whatMayRestHasMore(void **state)
{
    (void)state;
    static Fake fake;
    for (int slow = 0; slow < 2; ++slow)
        for (int flat = 0; flat < 2; ++flat) {
            setFake(&fake, 0);
            fake.body[0].velocity[0] = fake.body[1].velocity[0] = 3; /* they travel */
            fake.body[0].velocity[1] = slow ? 0.1 : 1;
            for (int i = 2; i < FAKE_BODIES; ++i)
                fake.body[i] = fake.body[i % 2];
            fake.island.body_count = 120;
            fake.island.pile.flat = flat;
            fake.island.contact_count = 700;
            fake.island.solve.residual = 1e-3;
            for (int k = 0; k < MOST + 3; ++k)
                fake.island.before.haste = spragHasteNext(&fake.world, &fake.island);
            assert_int_equal(fake.island.before.haste, slow && flat ? 4 : MOST);
        }
}

/* In a large world what is new, or moves, begins with haste, and sooner where the program plays; what may come to rest
 * only if it is large itself. */
static void largeWorldsBeginWithHaste(void **state)
{
    (void)state;
    static Fake fake;
    static const struct {
        int joints, plays, known, moves, haste;
    } of[] = {{190, 0, 0, 1, 0}, {900, 0, 0, 1, 4},     {900, 0, 0, 0, 4}, {900, 0, 1, 0, 0},
              {900, 0, 1, 1, 4}, {9000, 0, 1, 1, MOST}, {190, 1, 0, 1, 0}, {900, 1, 0, 1, 4}};
    for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
        setFake(&fake, 0);
        fake.world.snapshot.active_count = of[i].joints;
        fake.world.config.enough = of[i].plays ? 1e-6 : 0;
        fake.island.body_count = FAKE_BODIES;
        fake.island.pile.flat = 0;
        for (int k = 0; k < FAKE_BODIES; ++k)
            /* about their mean, of 0.098 m/s a step: they travel */
            fake.body[k].velocity[0] = 3 + (k % 2 ? 1 : -1) * (of[i].moves ? 3e-3 : 1e-3);
        for (int k = 0; k < FAKE_JOINTS && !of[i].known; ++k)
            fake.joint[k].memory = k % 3 == 0 ? k : -1;
        assert_int_equal(spragHasteOf(&fake.world, &fake.island), of[i].haste);
        fake.island.pile.flat = 1; /* its own 600 contacts count */
        assert_int_equal(spragHasteOf(&fake.world, &fake.island), of[i].plays ? 3 : 0);
        fake.world.config.tolerance = 1e-3; /* no less: W would freeze the program as well */
        fake.island.pile.flat = 0;
        assert_int_equal(spragHasteOf(&fake.world, &fake.island), of[i].haste);
        fake.world.config.tolerance = 1e-8;
        fake.world.config.patient = 1;
        assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
    }
}

/* What lies flat, and is hit, goes by the joints of the world, and has more than a heap. */
static void aWallThatIsHitHasMoreThanAHeap(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.world.snapshot.active_count = 1800;
    fake.island.body_count = FAKE_BODIES / 2;
    for (int k = 0; k < FAKE_BODIES; ++k)
        fake.body[k].velocity[0] = k % 2 ? 0.3 : -0.3;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 2);
    fake.island.pile.flat = 0;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), MOST);
}

/* Who plays has less patience, and is hurried from fewer contacts on. */
static void whoPlaysIsHurriedSooner(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.island.contact_count = 300;
    fake.island.solve.residual = 1e-9;
    fake.island.solve.method_iterations[SPRAG_SOLVER_NEWTON] = 30;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 0);
    fake.world.config.enough = 1e-6;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 1);
}

/* A heap, whose bodies do not lie flat, has less: 10 ms. */
static void heapsAreDearSooner(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.island.solve.residual = 1e-9;
    fake.island.solve.method_iterations[SPRAG_SOLVER_NEWTON] = 30; /* 18000 of 600 contacts */
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 0);
    fake.island.pile.flat = 0;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 1);
    fake.island.solve.method_iterations[SPRAG_SOLVER_NEWTON] = 15;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 0);
}

/* Fewer contacts hurry after a dear step alone, to half of the work, until a step is solved, and with W. */
static void fewHurryWhereTheyAreDear(void **state)
{
    (void)state;
    enum { MOST_FEW = 1 };
    static Fake fake;
    setFake(&fake, 0);
    fake.island.contact_count = 300;
    fake.island.solve.residual = 1e-3;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 0);
    fake.island.solve.residual = 1e-9;
    fake.island.solve.method_iterations[SPRAG_SOLVER_NEWTON] = 300;
    for (int k = 1; k < MOST + 3; ++k) {
        fake.island.before.haste = spragHasteNext(&fake.world, &fake.island);
        assert_int_equal(fake.island.before.haste, k < MOST_FEW ? k : MOST_FEW);
        assert_false(spragHasteSkips(&fake.world, &fake.island));
    }
    fake.island.solve.method_iterations[SPRAG_SOLVER_NEWTON] = 30;
    fake.island.solve.residual = 1e-3;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), MOST_FEW);
    fake.island.solve.residual = 1e-7;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), MOST_FEW - 1);
    setFake(&fake, MOST);
    fake.island.contact_count = 300;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), MOST_FEW);
    fake.world.config.patient = 1;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
}

/* A part of a pile that falls counts as large, and has the most haste at once. */
static void partsOfAFallHurry(void **state)
{
    (void)state;
    static Fake fake;
    enum { HEAP = 4 }; /* of any heap in such a world */
    setFall(&fake);
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), HEAP);
    fake.island.pile.falls = 1;
    fake.island.before.haste = spragHasteOf(&fake.world, &fake.island);
    assert_int_equal(fake.island.before.haste, MOST);
    assert_true(spragHasteSkips(&fake.world, &fake.island));
    fake.island.solve.residual = 1e-3;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), MOST);
    fake.island.pile.falls = 0; /* it has come to lie, flat: half of the work, and W */
    fake.island.pile.flat = 1;
    assert_int_equal(spragHasteOf(&fake.world, &fake.island), 0);
    for (int k = 0; k < FAKE_JOINTS; ++k)
        fake.memory[k].haste = MOST;
    fake.island.before.haste = spragHasteOf(&fake.world, &fake.island);
    assert_int_equal(fake.island.before.haste, 1);
    assert_false(spragHasteSkips(&fake.world, &fake.island));
}

/* And so does one that tumbles: what it leaves is no miss. */
static void aHeapThatIsStirredKeepsItsHaste(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.island.pile.stirred = 1;
    fake.island.before.haste = 4;
    fake.island.solve.residual = 1e-4;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 4);
    fake.island.solve.residual = 1e-9; /* it is solved */
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 3);
    fake.island.pile.tumbles = 1;
    fake.island.solve.residual = 1e-3;
    assert_int_equal(spragHasteNext(&fake.world, &fake.island), 4);
}

/* Sixteen boxes in a row, pressed by 1 mm between two walls: in conflict in each step, they hold.  (Visits let them
 * fall, once some of them had been stirred.) */
static void aRowBetweenWallsHolds(void **state)
{
    (void)state;
    enum { BOXES = 16, STEPS = 100 };
    static const double size[3] = {0.2, 0.2, 0.2}, part = 0.2 - 1e-3;
    Game game;
    openGame(&game, NULL);
    game.mu = dInfinity;
    dWorldSetCFM(game.world, 0);
    dBodyID body[BOXES];
    for (int k = 0; k < BOXES; ++k)
        body[k] = addBox(&game, part * (k + 0.5), 0, 1, size, 1000);
    dCreatePlane(game.space, 1, 0, 0, 0);
    dCreatePlane(game.space, -1, 0, 0, -part * BOXES);
    for (int step = 0; step < STEPS; ++step)
        stepGame(&game, 1.0 / 60);
    for (int k = 0; k < BOXES; ++k)
        CHECK_NEAR(dBodyGetPosition(body[k])[2], 1, 5e-3);
    freeGame(&game);
}

/* 120 boxes dropped into a bin come to rest exactly, and no step is dear on the way: 21 ms in the mean for 1.0, and up
 * to 110 for 30, when they were solved to the tolerance as they fell. */
static void aSmallHeapIsHurriedToo(void **state)
{
    (void)state;
    enum { STEPS = 240, MOST_DEAR = 8 };
    SceneWorld *world = openWith("pile", "count=120 boxes=1 tumble=1");
    int dear = 0;
    for (int step = 0; step < STEPS; ++step) {
        assert_int_equal(SceneStep(world, 1.0 / 60), SPRAG_OK);
        const spragIsland *largest = world->sprag->largest;
        dear += largest != NULL && largest->contact_count > 100 &&
                largest->contact_count * largest->solve.method_iterations[SPRAG_SOLVER_NEWTON] > 10000;
    }
    print_message("%d dear steps\n", dear);
    assert_true(dear <= MOST_DEAR);
    for (int i = 0; i < world->body_count; ++i)
        assert_true(spragNorm3(dBodyGetLinearVel(world->body[i])) < 1e-6);
    assert_true(spragWorldGetStepInfo(world->sprag).residual <= 1e-8);
    SceneDestroy(world);
}

static int hasteIn(const SceneWorld *world)
{
    int most = 0;
    for (int k = 0; k < world->sprag->memory_count; ++k)
        most = world->sprag->memory[k].haste > most ? world->sprag->memory[k].haste : most;
    return most;
}

/* 700 balls that fall onto each other have no answer in the work of a step; without weight they have. */
static void aPileHurriesWhileItFalls(void **state)
{
    (void)state;
    enum { FALL = 400, HURRY = 10, FLOAT = 100 };
    SceneWorld *world = openWith("pile", "count=700");
    spragConfig config = spragConfigDefault();
    config.solver = SPRAG_SOLVER_STOCK;
    config.stepper = SPRAG_STEPPER_QUICKSTEP;
    assert_int_equal(spragWorldSetConfig(world->sprag, &config), SPRAG_OK);
    for (int k = 0; k < FALL; ++k)
        assert_int_equal(SceneStep(world, 1.0 / 240), SPRAG_OK);
    config = spragConfigDefault();
    assert_int_equal(spragWorldSetConfig(world->sprag, &config), SPRAG_OK);
    int hurried = 0;
    for (int k = 0; k < HURRY; ++k) {
        assert_int_equal(SceneStep(world, 1.0 / 240), SPRAG_OK);
        const spragStepInfo info = spragWorldGetStepInfo(world->sprag);
        assert_int_equal(info.declined, 0);
        assert_true(info.residual < 2e-2);
        hurried = hasteIn(world) > hurried ? hasteIn(world) : hurried;
    }
    assert_true(hurried >= 3);
    dWorldSetGravity(world->world, 0, 0, 0);
    int steps = 0;
    for (; steps < FLOAT && hasteIn(world) > 0; ++steps) {
        for (int i = 0; i < world->body_count; ++i) {
            dBodySetLinearVel(world->body[i], 0, 0, 0);
            dBodySetAngularVel(world->body[i], 0, 0, 0);
        }
        assert_int_equal(SceneStep(world, 1.0 / 240), SPRAG_OK);
    }
    assert_true(steps < FLOAT);
    assert_true(spragWorldGetStepInfo(world->sprag).residual <= 1e-6);
    SceneDestroy(world);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest test[] = {
        cmocka_unit_test(mostContactsSay),
        cmocka_unit_test(whoSetsALimitIsNotHurried),
        cmocka_unit_test(aMissHalvesAnAnswerDoubles),
        cmocka_unit_test(aCatchIsAMiss),
        cmocka_unit_test(aConflictHurriesWhatMoves),
        cmocka_unit_test(aDearAnswerHalves),
        cmocka_unit_test(whatMayRestHasMore),
        cmocka_unit_test(largeWorldsBeginWithHaste),
        cmocka_unit_test(aWallThatIsHitHasMoreThanAHeap),
        cmocka_unit_test(whoPlaysIsHurriedSooner),
        cmocka_unit_test(heapsAreDearSooner),
        cmocka_unit_test(fewHurryWhereTheyAreDear),
        cmocka_unit_test(partsOfAFallHurry),
        cmocka_unit_test(aHeapThatIsStirredKeepsItsHaste),
        cmocka_unit_test(aRowBetweenWallsHolds),
        cmocka_unit_test(aSmallHeapIsHurriedToo),
        cmocka_unit_test(aPileHurriesWhileItFalls),
    };
    const int failed = cmocka_run_group_tests(test, NULL, NULL);
    dCloseODE();
    return failed;
}
