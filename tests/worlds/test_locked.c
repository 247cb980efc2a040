/* Bodies whose joints leave a contact no way to move (world CFM 0): stock ODE divides by zero there.  What cannot be
 * done is not done, with forces that mean something and a residual that says so. */
#include "support/check.h"

#include <sprag/sprag_ode.h>

enum { CORNERS = 4 };

/* A ton, held by a joint, its corners 1 mm in the ground. */
typedef struct Held {
    dWorldID world;
    spragWorldID sprag;
    dBodyID body;
    dJointFeedback feedback;
    dJointGroupID group;
} Held;

typedef enum Hold { FIXED, ALONG_THE_GROUND, UP_AND_DOWN } Hold;

static void build(Held *h, Hold hold)
{
    dMass mass;
    h->world = dWorldCreate();
    dWorldSetGravity(h->world, 0, 0, -9.81);
    dWorldSetCFM(h->world, 0);
    h->body = dBodyCreate(h->world);
    dMassSetBoxTotal(&mass, 1000, 1, 1, 1);
    dBodySetMass(h->body, &mass);
    dBodySetPosition(h->body, 0, 0, 0.499);
    dJointID joint = hold == FIXED ? dJointCreateFixed(h->world, 0) : dJointCreateSlider(h->world, 0);
    dJointAttach(joint, h->body, 0);
    if (hold == FIXED)
        dJointSetFixed(joint);
    else
        dJointSetSliderAxis(joint, hold == ALONG_THE_GROUND, 0, hold == UP_AND_DOWN);
    dJointSetFeedback(joint, &h->feedback);
    h->group = dJointGroupCreate(0);
    assert_int_equal(spragWorldAttach(h->world, NULL, &h->sprag), SPRAG_OK);
}

static spragStepInfo step(Held *h, int rolling)
{
    for (int k = 0; k < CORNERS; ++k) {
        dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5}};
        if (rolling) {
            contact.surface.mode |= dContactRolling;
            contact.surface.rho = contact.surface.rho2 = contact.surface.rhoN = 0.1;
        }
        contact.geom.pos[0] = k & 1 ? 0.5 : -0.5, contact.geom.pos[1] = k & 2 ? 0.5 : -0.5;
        contact.geom.normal[2] = 1;
        contact.geom.depth = 1e-3;
        dJointAttach(spragJointCreateContact(h->sprag, h->group, &contact), h->body, 0);
    }
    assert_int_equal(spragWorldStep(h->sprag, 0.01), SPRAG_OK);
    return spragWorldGetStepInfo(h->sprag);
}

static void destroy(Held *h)
{
    spragWorldDetach(h->sprag);
    dJointGroupDestroy(h->group);
    dWorldDestroy(h->world);
}

/* ERP asks the corners to leave at 0.2 * 1 mm / 10 ms = 2 cm/s, the joint holds:
 * it bears the weight, the corners nothing. */
static void whatJointsHoldBearsNothing(void **state)
{
    (void)state;
    for (Hold hold = FIXED; hold <= ALONG_THE_GROUND; ++hold)
        for (int rolling = 0; rolling < 2; ++rolling) {
            Held h;
            build(&h, hold);
            for (int k = 0; k < 5; ++k) {
                const spragStepInfo info = step(&h, rolling);
                const spragContact *contacts;
                CHECK_NEAR(info.residual, 0.02, 1e-9);
                assert_int_equal(info.fallbacks, 1);
                assert_int_equal(info.declined, 0);
                CHECK_NEAR(h.feedback.f1[2], 9810, 1e-6);
                assert_int_equal(spragWorldGetContacts(h.sprag, &contacts), CORNERS);
                for (int c = 0; c < CORNERS; ++c)
                    CHECK_NEAR(contacts[c].normal_force, 0, 0);
                dJointGroupEmpty(h.group);
                for (int i = 0; i < 3; ++i)
                    CHECK_NEAR(dBodyGetLinearVel(h.body)[i], 0, 1e-12);
            }
            destroy(&h);
        }
}

/* Free along the normal the corners lift it at 2 cm/s; the turnings that rolling friction would oppose are held. */
static void whatIsFreeIsSolved(void **state)
{
    (void)state;
    for (int rolling = 0; rolling < 2; ++rolling) {
        Held h;
        build(&h, UP_AND_DOWN);
        for (int k = 0; k < 5; ++k) {
            const spragStepInfo info = step(&h, rolling);
            const spragContact *contacts;
            double sum = 0;
            assert_true(info.residual <= 1e-10);
            assert_int_equal(info.fallbacks, 0);
            for (int c = 0; c < spragWorldGetContacts(h.sprag, &contacts); ++c) {
                assert_true(contacts[c].normal_force >= 0);
                sum += contacts[c].normal_force;
            }
            CHECK_NEAR(sum, 9810 + (k == 0 ? 1000 * 0.02 / 0.01 : 0), 1e-6);
            CHECK_NEAR(dBodyGetLinearVel(h.body)[2], 0.02, 1e-12);
            dJointGroupEmpty(h.group);
        }
        destroy(&h);
    }
}

/* A point of the ground below the axis of a hinge: friction in the hinge is found in rounds, and none of them does what
 * cannot be done. */
static void roundsDoNotHideIt(void **state)
{
    (void)state;
    Held h;
    build(&h, UP_AND_DOWN);
    dJointDestroy(dBodyGetJoint(h.body, 0));
    const dJointID hinge = dJointCreateHinge(h.world, 0);
    dJointAttach(hinge, h.body, 0);
    dJointSetHingeAnchor(hinge, 0, 0, 0.499);
    dJointSetHingeAxis(hinge, 0, 1, 0);
    const spragJointFriction law = {.mu = 0.2, .radius = 0.05};
    assert_int_equal(spragJointSetFriction(h.sprag, hinge, &law), SPRAG_OK);
    for (int k = 0; k < 3; ++k) {
        dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5}};
        contact.geom.normal[2] = 1;
        contact.geom.depth = 1e-3;
        dJointAttach(spragJointCreateContact(h.sprag, h.group, &contact), h.body, 0);
        assert_int_equal(spragWorldStep(h.sprag, 0.01), SPRAG_OK);
        CHECK_NEAR(spragWorldGetStepInfo(h.sprag).residual, 0.02, 1e-9);
        assert_int_equal(spragWorldGetStepInfo(h.sprag).fallbacks, 1);
        dJointGroupEmpty(h.group);
    }
    destroy(&h);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatJointsHoldBearsNothing),
                                       cmocka_unit_test(roundsDoNotHideIt), cmocka_unit_test(whatIsFreeIsSolved)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
