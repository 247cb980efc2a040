/* Where visits suffice, and where W is made after all: near a solution, and for a wedge. */
#include "support/check.h"
#include "support/fake_island.h"
#include "support/scene_world.h"

#include <math.h>

#include <ode/ode.h>

#include "linalg/vec3.h"
#include "ode/islands/bare.h"
#include "ode/work/visits_end.h"

enum { MOST = 6 };

/* In the most haste W comes only where they are near a solution; to a rough tolerance, of a heap, in any haste. */
static void inTheMostHasteVisitsSuffice(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.island.before.haste = MOST;
    fake.island.solve.residual = 1e-3;
    assert_true(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
    fake.island.solve.residual = 1e-6;
    assert_false(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
    fake.island.solve.residual = 1e-2;
    fake.island.before.haste = MOST - 1;
    assert_false(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
    fake.world.config.tolerance = 1e-3; /* a solved step halves the haste of a heap that is not at rest yet */
    assert_false(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
    fake.island.pile.flat = 0;
    assert_true(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
    fake.island.before.haste = 0;
    assert_false(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
    fake.world.config.time_limit = 0.01;
    assert_false(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
    fake.island.pile.sticks = 2; /* what comes after W leads astray */
    assert_true(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
}

/* W of thousands of contacts is not made in haste where the pile may rest and visits gain. */
static void largePilesAreVisitedWhileThatGains(void **state)
{
    (void)state;
    static Fake fake;
    spragGreedy greedy = {.begun = 1e-4};
    setFake(&fake, 0);
    fake.body[0].velocity[0] = 0;
    fake.island.contact_count = 4000;
    fake.island.before.haste = 1;
    fake.island.greedy = &greedy;
    fake.island.solve.residual = 1e-5;
    assert_true(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
    fake.island.solve.residual = 5e-5;
    assert_false(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
    fake.island.solve.residual = 1e-5;
    fake.island.before.haste = 0;
    assert_false(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
    fake.island.before.haste = 1;
    fake.island.contact_count = 2000;
    assert_false(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
    fake.island.contact_count = 4000;
    fake.body[0].velocity[0] = 1;
    assert_false(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
}

/* Where a whole pile of up to 600 contacts is pressed together: it lies flat, or is a heap of many contacts a body or
 * thrown by more than 5 m/s.  Of others two bodies are caught in each other. */
static void whatIsFarOffMayBeWedged(void **state)
{
    (void)state;
    static Fake fake;
    setFake(&fake, 0);
    fake.island.body_count = 61;
    fake.island.wedge.speed = 1;
    fake.island.solve.residual = fake.island.wedge.rigid = 0.02;
    assert_true(spragVisitsMayBeWedged(&fake.world, &fake.island));
    assert_false(spragIslandIsCaught(&fake.world, &fake.island));
    fake.island.before.haste = MOST; /* W is made for it whatever the haste */
    assert_false(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
    fake.island.solve.residual = 0.009;
    assert_false(spragVisitsMayBeWedged(&fake.world, &fake.island));
    assert_true(spragVisitsSuffice(&fake.world, &fake.island, fake.island.greedy));
    fake.island.solve.residual = 0.02;
    fake.island.pile.flat = 0;
    assert_false(spragVisitsMayBeWedged(&fake.world, &fake.island));
    assert_true(spragIslandIsCaught(&fake.world, &fake.island));
    fake.island.body_count = 60;
    assert_true(spragVisitsMayBeWedged(&fake.world, &fake.island));
    assert_false(spragIslandIsCaught(&fake.world, &fake.island));
    fake.island.body_count = 61;
    fake.island.solve.residual = fake.island.wedge.rigid = 6;
    assert_true(spragVisitsMayBeWedged(&fake.world, &fake.island));
    assert_false(spragIslandIsCaught(&fake.world, &fake.island));
    fake.island.contact_count = 601;
    assert_false(spragVisitsMayBeWedged(&fake.world, &fake.island));
    fake.island.wedge.rigid = 0.02;
    fake.island.wedge.speed = 0; /* what has no wedge is caught nowhere */
    assert_false(spragIslandIsCaught(&fake.world, &fake.island));
}

/* Contacts that squeeze a body between two walls, which both push it out. */
static void squeeze(const SceneWorld *world, dJointGroupID group, dBodyID body)
{
    const dReal *x = dBodyGetPosition(body);
    for (int k = 0; k < 8; ++k) {
        dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5}, .geom = {.depth = 0.03}};
        const double side = k < 4 ? 0.1 : -0.1;
        contact.geom.pos[0] = x[0] + side;
        contact.geom.pos[1] = x[1] + (k & 1 ? 0.1 : -0.1);
        contact.geom.pos[2] = x[2] + (k & 2 ? 0.1 : -0.1);
        contact.geom.normal[0] = k < 4 ? -cos(0.02) : cos(0.02); /* not a slot */
        contact.geom.normal[1] = sin(0.02);
        dJointAttach(spragJointCreateContact(world->sprag, group, &contact), body, NULL);
    }
}

/* One of its bodies that is squeezed is left to visits, which solve the rest of the heap: 60 steps of 60 had W, 40 ms
 * each.  (What is squeezed stirs its neighbours by either, in some steps by 0.1 m/s in the mean; but most bodies do not
 * fall, by 0.16 m/s in each step.) */
static void whatIsSqueezedStirsNoHeap(void **state)
{
    (void)state;
    enum { REST = 240, STEPS = 60, MOST = 15 };
    SceneWorld *world = openWith("pile", "count=120 boxes=1 tumble=1");
    const dJointGroupID group = dJointGroupCreate(0);
    for (int step = 0; step < REST; ++step)
        assert_int_equal(SceneStep(world, 1.0 / 60), SPRAG_OK);
    int with_W = 0, fast = 0;
    for (int step = 0; step < STEPS; ++step) {
        squeeze(world, group, world->body[0]);
        assert_int_equal(SceneStep(world, 1.0 / 60), SPRAG_OK);
        dJointGroupEmpty(group);
        with_W += world->sprag->largest->bare == NULL && world->sprag->largest->greedy == NULL;
    }
    for (int i = 0; i < world->body_count; ++i)
        fast += spragNorm3(dBodyGetLinearVel(world->body[i])) > 0.05;
    print_message("%d steps with W, %d bodies are fast\n", with_W, fast);
    assert_true(with_W <= MOST);
    assert_true(2 * fast < world->body_count);
    dJointGroupDestroy(group);
    SceneDestroy(world);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest test[] = {
        cmocka_unit_test(inTheMostHasteVisitsSuffice),
        cmocka_unit_test(largePilesAreVisitedWhileThatGains),
        cmocka_unit_test(whatIsFarOffMayBeWedged),
        cmocka_unit_test(whatIsSqueezedStirsNoHeap),
    };
    const int failed = cmocka_run_group_tests(test, NULL, NULL);
    dCloseODE();
    return failed;
}
