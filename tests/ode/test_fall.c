/* Piles that fall, heaps of mechanisms that tumble, and what may come to rest. */
#include "support/check.h"
#include "support/fake_island.h"
#include "support/scene_world.h"

#include <ode/ode.h>

#include "ode/work/fall.h"

/* No faster than twice what gravity gives in a step, 0.0981 m/s, root mean square about their mean; and flat. */
static void theSlowMayRest(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.body[0].velocity[0] = 3 + 0.19; /* about their mean of 3 m/s */
    fake.body[1].velocity[0] = 3 - 0.19;
    assert_true(spragIslandMayRest(&fake.world.snapshot, &fake.island));
    assert_true(spragIslandIsSlow(&fake.world.snapshot, &fake.island, 2));
    assert_false(spragIslandIsSlow(&fake.world.snapshot, &fake.island, 1.9));
    fake.island.pile.flat = 0;
    assert_false(spragIslandMayRest(&fake.world.snapshot, &fake.island));
    fake.island.pile.flat = 1;
    fake.body[1].velocity[2] = 0.2;
    assert_false(spragIslandMayRest(&fake.world.snapshot, &fake.island));
    fake.island.body_count = 1; /* a body alone is its own mean */
    assert_true(spragIslandMayRest(&fake.world.snapshot, &fake.island));
}

static void onlyWhatMovesApartFalls(void **state)
{
    (void)state;
    static Fake fake;
    setFall(&fake);
    assert_true(spragIslandFalls(&fake.world, &fake.island));
    for (int k = 0; k < 60; ++k) /* dominoes: some fall, the others stand */
        memset(fake.body[k].velocity, 0, sizeof fake.body[k].velocity);
    assert_false(spragIslandFalls(&fake.world, &fake.island));
    setFall(&fake);
    for (int k = 0; k < FAKE_BODIES; ++k)
        fake.body[k].velocity[0] = 3; /* they travel */
    assert_false(spragIslandFalls(&fake.world, &fake.island));
    for (int column = 0; column < 2; ++column) { /* on a turntable; and in a line, as a ship rolls */
        setFall(&fake);
        for (int k = 0; k < FAKE_BODIES; ++k) {
            spragBodyState *body = &fake.body[k];
            const double x = column ? 0 : k % 10, y = k / 10, z = column ? 0.5 * k : k % 3;
            memcpy(body->position, (double[]){x, column ? 0 : y, z}, sizeof body->position);
            memcpy(body->velocity, (double[]){column ? z - 1 : 1 - y, column ? 0 : x, 0}, 3 * sizeof(double));
        }
        assert_false(spragIslandFalls(&fake.world, &fake.island));
        for (int k = 0; k < FAKE_BODIES; ++k)
            fake.body[k].velocity[2] = k % 2 ? 0.1 : -0.1; /* and falls apart */
        assert_true(spragIslandFalls(&fake.world, &fake.island));
    }
    setFall(&fake);
    fake.world.snapshot.active_count = 390;
    assert_false(spragIslandFalls(&fake.world, &fake.island));
    setFall(&fake);
    fake.island.joint_count = 320; /* ragdolls */
    assert_false(spragIslandFalls(&fake.world, &fake.island));
    setFall(&fake);
    fake.island.pile.flat = 1;
    assert_false(spragIslandFalls(&fake.world, &fake.island));
    setFall(&fake);
    fake.island.joint_count = fake.island.contact_count = 100;
    assert_false(spragIslandFalls(&fake.world, &fake.island));
    setFall(&fake);
    fake.world.config.patient = 1;
    assert_false(spragIslandFalls(&fake.world, &fake.island));
}

/* Ragdolls that land on each other: what is answered to 1e-8 m/s in one step is another problem in the next. */
static void heapsOfMechanismsTumble(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.island.body_count = FAKE_BODIES;
    fake.island.joint_count = 560;
    fake.island.contact_count = 400; /* pairs of boxes, which lie on four points each */
    fake.island.articulation_count = 4;
    assert_false(spragIslandTumbles(&fake.world, &fake.island));
    fake.island.contact_count = 200;
    assert_true(spragIslandTumbles(&fake.world, &fake.island));
    fake.island.articulation_count = 3; /* two robots and what they carry */
    assert_false(spragIslandTumbles(&fake.world, &fake.island));
    fake.island.articulation_count = 4;
    for (int i = 0; i < FAKE_BODIES / 8; ++i)
        fake.body[i].articulation = -1; /* a wall among them */
    assert_false(spragIslandTumbles(&fake.world, &fake.island));
    for (int i = 0; i < FAKE_BODIES / 8; ++i)
        fake.body[i].articulation = 0;
    fake.body[0].velocity[0] = 0.1; /* they rest */
    assert_false(spragIslandTumbles(&fake.world, &fake.island));
    fake.body[0].velocity[0] = 1;
    fake.island.contact_count = 100;
    assert_false(spragIslandTumbles(&fake.world, &fake.island));
    fake.island.contact_count = 200;
    fake.world.config.patient = 1;
    assert_false(spragIslandTumbles(&fake.world, &fake.island));
}

/* Contacts that squeeze a body of a heap that tumbles yield, and the rest is solved: it stayed at 1 m/s as long. */
static void whatIsSqueezedInATumblingHeapYields(void **state)
{
    (void)state;
    enum { FALL = 75, STEPS = 15 };
    SceneWorld *world = openWith("ragdolls", "count=20");
    const dJointGroupID plates = dJointGroupCreate(0);
    int tumbling = 0, far = 0;
    for (int step = 0; step < FALL + STEPS; ++step) {
        const dReal *at = dBodyGetPosition(world->body[0]);
        for (int side = -1; side <= 1 && step >= FALL; side += 2) { /* a floor and a ceiling, 0.1 m too near */
            dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5}};
            contact.geom.depth = 0.05;
            contact.geom.normal[2] = side;
            for (int i = 0; i < 3; ++i)
                contact.geom.pos[i] = at[i];
            dJointAttach(spragJointCreateContact(world->sprag, plates, &contact), world->body[0], NULL);
        }
        assert_int_equal(SceneStep(world, 1.0 / 60), SPRAG_OK);
        dJointGroupEmpty(plates);
        if (step < FALL || !world->sprag->largest->pile.tumbles)
            continue;
        ++tumbling;
        far += !(spragWorldGetStepInfo(world->sprag).residual <= 1e-2);
    }
    print_message("%d of %d steps far off\n", far, tumbling);
    assert_true(tumbling >= STEPS / 2);
    assert_true(far <= tumbling / 5);
    dJointGroupDestroy(plates);
    SceneDestroy(world);
}

/* 300 boxes that fall into a bin: islands of 100 to 400 contacts are visited, and few of them have W. */
static void aPileThatStrikesIsVisited(void **state)
{
    (void)state;
    enum { STEPS = 40, FEWEST = 10 };
    SceneWorld *world = openWith("pile", "count=300 boxes=1 tumble=1");
    int parts = 0, visited = 0;
    for (int step = 0; step < STEPS; ++step) {
        assert_int_equal(SceneStep(world, 1.0 / 60), SPRAG_OK);
        assert_true(spragWorldGetStepInfo(world->sprag).residual < 0.1);
        const spragSnapshot *s = &world->sprag->snapshot;
        for (int i = 0; i < s->island_count; ++i) {
            const spragIsland *island = &s->island[i];
            if (island->lone != NULL || island->contact_count <= 100 || island->contact_count > 400)
                continue;
            ++parts;
            visited += island->bare != NULL;
        }
    }
    assert_true(parts >= FEWEST);
    assert_true(2 * visited > parts);
    SceneDestroy(world);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest test[] = {
        cmocka_unit_test(theSlowMayRest),
        cmocka_unit_test(onlyWhatMovesApartFalls),
        cmocka_unit_test(heapsOfMechanismsTumble),
        cmocka_unit_test(whatIsSqueezedInATumblingHeapYields),
        cmocka_unit_test(aPileThatStrikesIsVisited),
    };
    const int failed = cmocka_run_group_tests(test, NULL, NULL);
    dCloseODE();
    return failed;
}
