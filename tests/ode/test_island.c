/* Islands: who hangs together, by which joints, in which order; who is left out. */
#include "support/twin.h"

#include "ode/look/island.h"

static const spragBodyState *stateOf(const Twin *t, int body)
{
    const spragSnapshot *s = &t->sprag->snapshot;
    return &s->body[spragPointerMapGet(&s->body_index, t->body[body])];
}

static void tie(Twin *t, int a, int b, dJointID (*create)(dWorldID, dJointGroupID))
{
    dJointAttach(create(t->world, 0), t->body[a], b < 0 ? NULL : t->body[b]);
}

static void touch(Twin *t, int a, int b)
{
    dContact contact = planeContact(a, 0, 0, 0.5);
    addContact(t, &contact, t->body[a], b < 0 ? NULL : t->body[b]);
}

/* 0-1 touch, 2 is moved by its program and touches 1 and 3, 4-5 are hinged and free, 6 sleeps beside 7 that touches it
 * not, 3 stands on the ground. */
static void islandsAreWhatHangsTogether(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    for (int i = 0; i < 8; ++i)
        addBox(&t, i, 0, 0.2);
    dBodySetKinematic(t.body[2]);
    dBodyDisable(t.body[6]);
    tie(&t, 4, 5, dJointCreateHinge);
    touch(&t, 3, -1);
    touch(&t, 3, 2);
    touch(&t, 1, 2);
    touch(&t, 0, 1);
    touch(&t, 6, -1);
    dContact off = planeContact(5, 0, 0, 0.5);
    dJointDisable(addContact(&t, &off, t.body[5], 0));
    touch(&t, 7, -1);
    step(&t, 1e-3);
    const spragSnapshot *s = &t.sprag->snapshot;
    static const int island[8] = {0, 0, -1, 1, -1, -1, -1, 2};
    assert_int_equal(s->island_count, 3);
    for (int i = 0; i < 8; ++i)
        assert_int_equal(stateOf(&t, i)->island, island[i]);
    static const int bodies[3] = {2, 1, 1}, joints[3] = {2, 2, 1};
    for (int k = 0; k < 3; ++k) {
        const spragIsland *found = &s->island[k];
        assert_int_equal(found->body_count, bodies[k]);
        assert_int_equal(found->joint_count, joints[k]);
        assert_int_equal(found->contact_count, joints[k]);
        for (int i = 0; i < found->body_count; ++i) {
            assert_true(i == 0 || found->body[i] > found->body[i - 1]);
            assert_int_equal(s->body[found->body[i]].island, k);
        }
        for (int j = 0; j < found->joint_count; ++j) {
            assert_true(j == 0 || found->joint[j] > found->joint[j - 1]);
            assert_int_equal(s->joint[found->joint[j]].island, k);
        }
    }
    assert_false(dBodyIsEnabled(t.body[6]));
    assert_int_equal(spragWorldGetStepInfo(t.sprag).contacts, 5);
    freeTwin(&t);
}

/* One that is awake wakes all that hang on it, through a hinge, a sleeper, a null joint; not through what is kinematic
 * only, and not through a joint the program disabled. */
static void oneThatIsAwakeWakesItsIsland(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    for (int i = 0; i < 6; ++i) {
        addBox(&t, i, 0, 0.2);
        if (i > 0)
            dBodyDisable(t.body[i]);
    }
    touch(&t, 0, 1);
    tie(&t, 1, 2, dJointCreateHinge);
    tie(&t, 2, 3, dJointCreateNull);
    dJointID off = dJointCreateHinge(t.world, 0);
    dJointAttach(off, t.body[3], t.body[4]);
    dJointDisable(off);
    step(&t, 1e-3);
    for (int i = 0; i < 6; ++i) {
        assert_int_equal(dBodyIsEnabled(t.body[i]) != 0, i <= 3);
        assert_int_equal(stateOf(&t, i)->island, i <= 3 ? 0 : -1);
    }
    freeTwin(&t);
}

/* The order is that in which things were made, whatever order they are tied in. */
static void orderIsThatOfCreation(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    for (int i = 0; i < 6; ++i)
        addBox(&t, i, 0, 0.2);
    static const int pair[3][2] = {{5, 1}, {4, 0}, {3, 2}};
    for (int k = 0; k < 3; ++k)
        touch(&t, pair[k][0], pair[k][1]);
    step(&t, 1e-3);
    static const int island[6] = {0, 1, 2, 2, 0, 1};
    for (int i = 0; i < 6; ++i) {
        assert_int_equal(stateOf(&t, i)->island, island[i]);
        assert_ptr_equal(t.sprag->snapshot.body[i].id, t.body[i]);
    }
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(islandsAreWhatHangsTogether),
                                       cmocka_unit_test(oneThatIsAwakeWakesItsIsland),
                                       cmocka_unit_test(orderIsThatOfCreation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
