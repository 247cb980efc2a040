/* What a step reads of the world: bodies and joints in order of creation, each with a number of its own that lasts,
 * masses turned into world axes, joints as ODE keeps them; and by name what it cannot use. */
#include "support/refusal.h"
#include "support/twin.h"

#include "ode/look/snapshot.h"

static void take(Twin *t)
{
    spragArenaReset(&t->sprag->arena);
    assert_int_equal(spragSnapshotTake(t->sprag, 1e-3), SPRAG_OK);
}

/* I I^-1 = 1 and I w = R (I_body (R^T w)), for turned bodies of unlike moments with products of inertia. */
static void inertiaIsTurned(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dBodyID body = addBox(&t, 1, 2, 3);
    dMass mass;
    dMassSetParameters(&mass, 3, 0, 0, 0, 0.7, 0.9, 1.1, 0.1, -0.05, 0.2);
    dBodySetMass(body, &mass);
    const dQuaternion q = {0.5, -0.1, 0.7, 0.3};
    dBodySetQuaternion(body, q);
    take(&t);
    const spragBodyState *b = &t.sprag->snapshot.body[0];
    CHECK_NEAR(b->inverse_mass, 1.0 / 3, 1e-16);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            double product = 0;
            for (int k = 0; k < 3; ++k)
                product += b->inertia[3 * i + k] * b->inverse_inertia[3 * k + j];
            CHECK_NEAR(product, i == j, 1e-14);
        }
    const double w[3] = {0.3, -1, 2};
    dVector3 local, L, world;
    dBodyVectorFromWorld(body, w[0], w[1], w[2], local);
    for (int i = 0; i < 3; ++i)
        L[i] = mass.I[4 * i] * local[0] + mass.I[4 * i + 1] * local[1] + mass.I[4 * i + 2] * local[2];
    dBodyVectorToWorld(body, L[0], L[1], L[2], world);
    for (int i = 0; i < 3; ++i)
        CHECK_NEAR(b->inertia[3 * i] * w[0] + b->inertia[3 * i + 1] * w[1] + b->inertia[3 * i + 2] * w[2], world[i],
                   1e-14);
    assert_false(b->isotropic);
    freeTwin(&t);
}

static void numbersLast(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    int number[3];
    for (int i = 0; i < 3; ++i)
        addBox(&t, 3 * i, 0, 1);
    step(&t, 1e-3);
    for (int i = 0; i < 3; ++i) {
        assert_ptr_equal(t.sprag->snapshot.body[i].id, t.body[i]);
        number[i] = t.sprag->snapshot.body[i].serial;
        assert_true(i == 0 || number[i] != number[i - 1]);
    }
    for (int k = 0; k < 3; ++k) {
        step(&t, 1e-3);
        for (int i = 0; i < 3; ++i)
            assert_int_equal(t.sprag->snapshot.body[i].serial, number[i]);
    }
    dBodyDestroy(t.body[1]);
    const dBodyID old = t.body[1];
    dBodyID fresh = NULL;
    for (int i = 0; i < 3 && fresh != old; ++i) /* ODE gives the address away again */
        fresh = dBodyCreate(t.world);
    take(&t);
    const spragSnapshot *s = &t.sprag->snapshot;
    for (int i = 0; i < s->body_count; ++i)
        assert_int_equal(s->body[i].serial == number[0] || s->body[i].serial == number[2], i < 2);
    freeTwin(&t);
}

static void jointsAreAsOdeKeepsThem(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    addBox(&t, 0, 0, 1);
    addBox(&t, 1, 0, 1);
    dBodySetKinematic(t.body[1]);
    dContact contact = planeContact(0, 0, 0.8, 0.5);
    dJointID joint[5];
    joint[0] = addContact(&t, &contact, t.body[0], 0);
    joint[1] = addContact(&t, &contact, 0, t.body[0]);
    joint[2] = addContact(&t, &contact, t.body[1], t.body[0]);
    joint[3] = addContact(&t, &contact, t.body[1], 0); /* nothing that could move */
    joint[4] = spragJointCreateContact(t.sprag, t.group, &contact);
    take(&t);
    static const int body[5][2] = {{0, -1}, {0, -1}, {1, 0}, {1, -1}, {-1, -1}}, turned[5] = {0, 1, 0, 0, 0},
                     enabled[5] = {1, 1, 1, 0, 0};
    for (int j = 0; j < 5; ++j) {
        const spragJointState *found = &t.sprag->snapshot.joint[j];
        assert_ptr_equal(found->id, joint[j]);
        assert_int_equal(found->body[0], body[j][0]);
        assert_int_equal(found->body[1], body[j][1]);
        assert_int_equal(found->reversed, turned[j]);
        assert_int_equal(found->enabled, enabled[j]);
        assert_memory_equal(&found->contact->geom, &contact.geom, sizeof contact.geom);
    }
    freeTwin(&t);
}

static void whatIsOfNoUseIsNamed(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    addBox(&t, 0, 0, 1);
    dBodyID body = addBox(&t, 1, 0, 1);
    dBodySetLinearVel(body, 0, NAN, 0);
    CHECK_REFUSED(spragSnapshotTake(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "body 1: its velocity");
    dBodySetLinearVel(body, 0, 1e61, 0);
    CHECK_REFUSED(spragSnapshotTake(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "body 1: its velocity");
    dBodySetLinearVel(body, 0, 0, 0);
    dBodySetPosition(body, INFINITY, 0, 0);
    CHECK_REFUSED(spragSnapshotTake(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "body 1: its position");
    dBodySetPosition(body, 0, 0, 0);
    dBodySetForce(body, 0, 0, NAN);
    CHECK_REFUSED(spragSnapshotTake(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "body 1: the force");
    t.sprag->lenient = 1; /* its island alone is left to ODE */
    take(&t);
    assert_false(t.sprag->snapshot.body[0].absurd);
    assert_true(t.sprag->snapshot.body[1].absurd);
    t.sprag->lenient = 0;
    dBodySetForce(body, 0, 0, 0);
    dWorldSetGravity(t.world, 0, NAN, 0);
    CHECK_REFUSED(spragSnapshotTake(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "gravity (0, nan, 0)");
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(inertiaIsTurned), cmocka_unit_test(numbersLast),
                                       cmocka_unit_test(jointsAreAsOdeKeepsThem),
                                       cmocka_unit_test(whatIsOfNoUseIsNamed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
