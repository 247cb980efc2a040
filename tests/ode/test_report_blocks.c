/* The report of islands with blocks, against forces known by hand: either side of guides, with and without play; mu =
 * infinity; a coefficient along one tangent and a force along the other; rolling friction; what limits and motors
 * bore. */
#include "support/twin.h"

#include "linalg/vec3.h"
#include "ode/world/world.h"

#define STEP 1e-3 /* s */
#define MASS 2.0  /* kg, of the boxes of a twin */
#define G 9.81

/* A box whose islands have blocks, without gravity. */
static dBodyID openBox(Twin *t)
{
    makeTwin(t, 1);
    spragConfig config = spragConfigDefault();
    config.solver = SPRAG_SOLVER_VARIANT;
    assert_int_equal(spragWorldSetConfig(t->sprag, &config), SPRAG_OK);
    dWorldSetGravity(t->world, 0, 0, 0);
    dWorldSetCFM(t->world, 0);
    return addBox(t, 0, 0, 0);
}

/* A step in which the box is pushed by this force. */
static const spragContact *pushed(Twin *t, int contacts, double x, double y, double z)
{
    dBodyAddForce(t->body[0], x, y, z);
    step(t, STEP);
    assert_null(t->sprag->snapshot.island[0].lone);
    assert_null(t->sprag->snapshot.island[0].bare);
    return lastContacts(t, contacts);
}

/* A guide through the centre of mass, normal z: its force goes along its own normal, with a sign; unloaded it keeps its
 * side; it is never open. */
static void guidesHaveTwoSides(void **state)
{
    (void)state;
    Twin t;
    spragGuideDef def = spragGuideDefDefault();
    spragGuideID guide;
    def.body = openBox(&t);
    def.normal[2] = 1;
    def.mu[0] = 0.25, def.mu[1] = 0.5;
    assert_int_equal(spragGuideCreate(t.sprag, &def, &guide), SPRAG_OK);
    const spragContact *contact = pushed(&t, 1, 0, 0, 0);
    assert_true(contact->variant == 0 && contact->mode == SPRAG_MODE_STICK && contact->normal_force == 0);
    assert_null(contact->joint);
    contact = pushed(&t, 1, 1, 0, -8);
    assert_true(contact->variant == 1 && contact->mode == SPRAG_MODE_STICK);
    CHECK_NEAR(contact->normal[2], 1, 0);
    CHECK_NEAR(contact->normal_force, 8, 1e-9);
    CHECK_NEAR(contact->friction[0], -1, 1e-9);
    contact = pushed(&t, 1, 8, 0, -8); /* mu 0.25 on this side */
    assert_int_equal(contact->mode, SPRAG_MODE_SLIP);
    assert_int_equal(countEvents(&t, SPRAG_EVENT_SLIP), 1);
    CHECK_NEAR(contact->friction[0], -2, 1e-9);
    CHECK_NEAR(contact->slip[0], 6 * STEP / MASS, 1e-12);
    contact = pushed(&t, 1, 8, 0, 8); /* 0.5 on the other */
    assert_int_equal(contact->variant, -1);
    assert_int_equal(countEvents(&t, SPRAG_EVENT_VARIANT), 1);
    CHECK_NEAR(contact->normal[2], 1, 0);
    CHECK_NEAR(contact->normal_force, -8, 1e-9);
    CHECK_NEAR(contact->friction[0], -4, 1e-9);
    contact = pushed(&t, 1, 0, 0, 0);
    assert_int_equal(contact->variant, -1);
    assert_int_equal(contact->mode, SPRAG_MODE_SLIP); /* it goes on, without force */
    CHECK_NEAR(spragNorm3(contact->friction), 0, 1e-9);
    freeTwin(&t);
}

/* With play there is a contact on either side, and one is reported: which bears load, or did last. */
static void ofAGuideWithPlayTheLoadedSideIsTold(void **state)
{
    (void)state;
    Twin t;
    spragGuideDef def = spragGuideDefDefault();
    spragGuideID guide;
    def.body = openBox(&t);
    def.normal[2] = 1;
    def.clearance = 1e-7; /* less than a step's way under these forces */
    assert_int_equal(spragGuideCreate(t.sprag, &def, &guide), SPRAG_OK);
    for (int side = 1; side >= -1; side -= 2) {
        const spragContact *contact = NULL;
        for (int k = 0; k < 3; ++k)
            contact = pushed(&t, 1, 0, 0, -8 * side);
        assert_int_equal(contact->variant, side);
        assert_int_equal(contact->mode, SPRAG_MODE_STICK);
        CHECK_NEAR(contact->normal[2], 1, 0);
        CHECK_NEAR(contact->normal_force, 8 * side, 1e-6);
        contact = pushed(&t, 1, 0, 0, 8 * side * 1e-6); /* away from it, by less than it takes to the other side */
        assert_int_equal(contact->mode, SPRAG_MODE_OPEN);
        assert_int_equal(contact->variant, 0);
        CHECK_NEAR(contact->normal_force, 0, 0);
    }
    freeTwin(&t);
}

/* mu = infinity, as a coefficient: it holds what pushes, and parts from what pulls. */
static void infiniteFrictionHolds(void **state)
{
    (void)state;
    Twin t;
    openBox(&t);
    for (int pulls = 0; pulls < 2; ++pulls) {
        const dContact contact = planeContact(0, 0, 0, dInfinity);
        addContact(&t, &contact, t.body[0], 0);
        const spragContact *told = pushed(&t, 1, 100, 0, pulls ? 1 : -1);
        assert_int_equal(told->mode, pulls ? SPRAG_MODE_OPEN : SPRAG_MODE_STICK);
        CHECK_NEAR(told->normal_force, pulls ? 0 : 1, 1e-9);
        CHECK_NEAR(told->friction[0], pulls ? 0 : -100, 1e-7);
    }
    assert_int_equal(countEvents(&t, SPRAG_EVENT_DETACH), 1);
    freeTwin(&t);
}

/* Along x a coefficient of 0.5, along y a force of 3 N: two blocks, one contact. */
static void twoLawsAreOneContact(void **state)
{
    (void)state;
    static const double force[3][2] = {{3, 2}, {3, 5}, {7, 2}}; /* N along x and y, which 8 N press */
    for (int k = 0; k < 3; ++k) {
        Twin t;
        openBox(&t);
        dContact contact = planeContact(0, 0, 0, 0.5);
        contact.surface.mode = dContactMu2 | dContactFDir1 | dContactApprox1_1;
        contact.surface.mu2 = 3;
        contact.fdir1[0] = 1;
        addContact(&t, &contact, t.body[0], 0);
        const spragContact *told = pushed(&t, 1, force[k][0], force[k][1], -8);
        assert_true(t.sprag->snapshot.island[0].block_count == 2 && t.sprag->snapshot.island[0].reported == 1);
        assert_int_equal(told->mode, k == 0 ? SPRAG_MODE_STICK : SPRAG_MODE_SLIP);
        CHECK_NEAR(told->friction[0], -fmin(force[k][0], 4), 1e-9);
        CHECK_NEAR(told->friction[1], -fmin(force[k][1], 3), 1e-9);
        CHECK_NEAR(told->slip[0], fmax(force[k][0] - 4, 0) * STEP / MASS, 1e-12);
        CHECK_NEAR(told->slip[1], fmax(force[k][1] - 3, 0) * STEP / MASS, 1e-12);
        freeTwin(&t);
    }
}

/* Rolling friction of 0.1 m under 8 N bears up to 0.8 N m about an axis that lies, and the record has it. */
static void momentsAreKept(void **state)
{
    (void)state;
    for (int rolls = 0; rolls < 2; ++rolls) {
        Twin t;
        const dBodyID box = openBox(&t);
        const double torque = rolls ? 2 : 0.5;
        dContact contact = planeContact(0, 0, 0, 0.5);
        contact.surface.mode |= dContactRolling;
        contact.surface.rho = contact.surface.rho2 = contact.surface.rhoN = 0.1;
        addContact(&t, &contact, box, 0);
        dBodyAddTorque(box, torque, 0, 0);
        const spragContact *told = pushed(&t, 1, 0, 0, -8);
        CHECK_NEAR(told->normal_force, 8, 1e-9);
        const double *moment = t.sprag->memory[0].moment;
        CHECK_NEAR(moment[0], -fmin(torque, 0.8), 1e-6);
        CHECK_NEAR(moment[1], 0, 1e-6);
        CHECK_NEAR(moment[2], 0, 1e-6);
        freeTwin(&t);
    }
}

/* A slider's motor that holds the box against 8 N, or slips at its 5 N, beside a contact that bears what it is pressed
 * with. */
static void whatMotorsBoreIsKept(void **state)
{
    (void)state;
    for (int slips = 0; slips < 2; ++slips) {
        Twin t;
        const dBodyID box = openBox(&t);
        const double most = slips ? 5 : 20;
        const dJointID slider = dJointCreateSlider(t.world, 0);
        dJointAttach(slider, box, 0);
        dJointSetSliderAxis(slider, 1, 0, 0);
        dJointSetSliderParam(slider, dParamFMax, most);
        const dContact contact = planeContact(0, 0, 0, 0);
        addContact(&t, &contact, box, 0);
        pushed(&t, 1, 8, 0, 0);
        assert_int_equal(t.sprag->load_count, 1);
        assert_ptr_equal(t.sprag->load[0].joint, slider);
        CHECK_NEAR(fabs(t.sprag->load[0].force), fmin(8, most), 1e-9);
        CHECK_NEAR(dBodyGetLinearVel(box)[0], slips ? 3 * STEP / MASS : 0, 1e-12);
        freeTwin(&t);
    }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guidesHaveTwoSides),    cmocka_unit_test(ofAGuideWithPlayTheLoadedSideIsTold),
        cmocka_unit_test(infiniteFrictionHolds), cmocka_unit_test(twoLawsAreOneContact),
        cmocka_unit_test(momentsAreKept),        cmocka_unit_test(whatMotorsBoreIsKept)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
