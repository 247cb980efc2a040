/* Infinite friction in a step: what is pressed is held, what parts is free,
 * unless its force has no limit of its own. */
#include "support/check.h"

#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#define H 1e-3 /* s */
#define GRAVITY 9.81
#define PUSH 1.0 /* m/s along x */

/* A cube of 1 kg and 1 m at the origin, which moves: contacts below the middle of its front edge and at its two corners
 * behind.  v and omega after a step. */
static void stepCube(int mode, const double begin[3], double v[3], double omega[3])
{
    const dWorldID world = dWorldCreate();
    const dJointGroupID group = dJointGroupCreate(0);
    const dBodyID body = dBodyCreate(world);
    spragWorldID sprag;
    dMass mass;
    dWorldSetGravity(world, 0, 0, -GRAVITY);
    dMassSetBoxTotal(&mass, 1, 1, 1, 1);
    dBodySetMass(body, &mass);
    dBodySetLinearVel(body, begin[0], begin[1], begin[2]);
    assert_int_equal(spragWorldAttach(world, NULL, &sprag), SPRAG_OK);
    for (int k = 0; k < 3; ++k) {
        dContact contact;
        memset(&contact, 0, sizeof contact);
        contact.surface.mode = mode;
        contact.surface.mu = dInfinity;
        contact.geom.pos[0] = k == 0 ? 0.5 : -0.5;
        contact.geom.pos[1] = 0.5 * (k == 1) - 0.5 * (k == 2);
        contact.geom.pos[2] = -0.5;
        contact.geom.normal[2] = 1;
        dJointAttach(dJointCreateContact(world, group, &contact), body, NULL);
    }
    assert_int_equal(spragWorldStep(sprag, H), SPRAG_OK);
    assert_true(spragWorldGetStepInfo(sprag).residual <= 1e-8);
    assert_int_equal(spragWorldGetStepInfo(sprag).declined, 0);
    for (int i = 0; i < 3; ++i)
        v[i] = dBodyGetLinearVel(body)[i], omega[i] = dBodyGetAngularVel(body)[i];
    spragWorldDetach(sprag);
    dJointGroupDestroy(group);
    dWorldDestroy(world);
}

static void whatFliesIsFree(void **state)
{
    (void)state;
    double v[3], omega[3];
    stepCube(dContactApprox1, (double[3]){PUSH, 0, 1}, v, omega);
    CHECK_NEAR(v[0], PUSH, 1e-12);
    CHECK_NEAR(v[2], 1 - GRAVITY * H, 1e-12);
    CHECK_NEAR(omega[1], 0, 1e-12);
}

static void whatIsPressedIsHeld(void **state)
{
    (void)state;
    double v[3], omega[3];
    stepCube(dContactApprox1, (double[3]){-PUSH, 0, -1}, v, omega);
    for (int i = 0; i < 3; ++i) {
        CHECK_NEAR(v[i], 0, 1e-7);
        CHECK_NEAR(omega[i], 0, 1e-7);
    }
}

/* Pushed along x, and aside by w along y, it turns about the contact P in front.  Its momentum about P, with the centre
 * at (-1, 0, 1) / 2 from there, is (-w, v - g h, -w) m / 2; the inertia about P is 2 m / 3 for this axis.  The corners
 * behind part, and move along y as they do, which a force without limit does not let them. */
static void whatPartsIsFree(void **state)
{
    (void)state;
    const double w = 0.3, turn = 0.75 * (PUSH - GRAVITY * H), aside = 0.75 * w;
    double v[3], omega[3];
    stepCube(dContactApprox1, (double[3]){PUSH, w, 0}, v, omega);
    CHECK_NEAR(omega[0], -aside, 1e-6);
    CHECK_NEAR(omega[1], turn, 1e-6);
    CHECK_NEAR(omega[2], -aside, 1e-6);
    CHECK_NEAR(v[0], 0.5 * turn, 1e-6);
    CHECK_NEAR(v[1], aside, 1e-6);
    CHECK_NEAR(v[2], 0.5 * turn, 1e-6);
    stepCube(0, (double[3]){PUSH, w, 0}, v, omega);
    CHECK_NEAR(omega[2], 0, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatFliesIsFree), cmocka_unit_test(whatIsPressedIsHeld),
                                       cmocka_unit_test(whatPartsIsFree)};
    dInitODE2(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
