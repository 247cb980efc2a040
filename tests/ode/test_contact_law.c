/* What a dContact says: frames, bounds along each tangent, which contacts are plain, and what is refused. */
#include "support/check.h"

#include <string.h>

#include "linalg/vec3.h"
#include "ode/rows/contact_law.h"

static dContact contactOf(int mode, double mu)
{
    dContact contact;
    memset(&contact, 0, sizeof contact);
    contact.surface.mode = mode;
    contact.surface.mu = mu;
    contact.geom.normal[0] = 0.6, contact.geom.normal[2] = 0.8;
    contact.geom.depth = 1e-3;
    return contact;
}

/* Orthonormal and right-handed; t1 is what of fdir1 is tangential, where there is such. */
static void framesAreOrthonormal(void **state)
{
    (void)state;
    const double n[3] = {0.6, 0, 0.8};
    for (int given = 0; given < 3; ++given) {
        dContact contact = contactOf(given ? dContactFDir1 : 0, 1);
        contact.fdir1[0] = given == 1 ? 1 : 0.6, contact.fdir1[1] = given == 1 ? 2 : 0;
        contact.fdir1[2] = given == 1 ? 0 : 0.8;
        double t1[3], t2[3], cross[3];
        assert_int_equal(spragContactFrame(&contact, n, t1, t2), given != 1);
        spragCross3(cross, n, t1);
        CHECK_NEAR(spragNorm3(t1), 1, 1e-15);
        CHECK_NEAR(spragDot3(t1, n), 0, 1e-15);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(t2[i], cross[i], 1e-15);
        if (given == 1)
            CHECK_NEAR(t1[1] * 0.64, 2 * t1[0], 1e-14);
    }
}

static void boundsAreCoefficientsOrForces(void **state)
{
    (void)state;
    const int both = dContactApprox1_1 | dContactApprox1_2;
    dContact c = contactOf(both | dContactMu2, 0.5);
    c.surface.mu2 = 2e3; /* as good as infinite, as a coefficient alone */
    assert_true(spragTangentLawOf(&c.surface, 0).limit == 0.5 && spragTangentLawOf(&c.surface, 0).proportional);
    assert_true(isinf(spragTangentLawOf(&c.surface, 1).limit));
    c.surface.mode = dContactApprox1_1 | dContactMu2;
    assert_true(spragTangentLawOf(&c.surface, 1).limit == 2e3 && !spragTangentLawOf(&c.surface, 1).proportional);
    assert_true(spragHasSecondLaw(&c.surface));
    assert_int_equal(spragContactBlockCount(&c), 2);
    /* rolling friction: without dContactApprox1_N that about n is bounded by a moment in N m, and has its own block */
    c.surface.rho = 0.01;
    for (int all = 0; all < 2; ++all) {
        c.surface.mode = (all ? dContactApprox1 : both) | dContactRolling;
        assert_int_equal(spragContactBlockCount(&c), all ? 2 : 3);
        assert_int_equal(spragHasRolling(&c.surface, 0), !all);
        assert_int_equal(spragContactIsRoller(&c, 0), all);
        assert_false(spragContactIsPlain(&c, 0));
    }
}

static void plainOnesAndThoseThatStick(void **state)
{
    (void)state;
    const int both = dContactApprox1_1 | dContactApprox1_2;
    dContact c = contactOf(both, 0.5);
    assert_true(spragContactIsPlain(&c, 0) && !spragContactSticks(&c, 0));
    c.surface.mu = dInfinity;
    assert_true(!spragContactIsPlain(&c, 0) && spragContactSticks(&c, 0));
    c = contactOf(both | dContactSlip1, 0.5);
    c.surface.slip1 = 0.1;
    assert_true(!spragContactIsPlain(&c, 0) && spragContactIsPlain(&c, 1));
    c = contactOf(both, 0.5);
    c.geom.pos[1] = NAN;
    assert_false(spragContactIsPlain(&c, 0));
}

/* Whatever number is absurd, or yields too much or the wrong way, it is left to blocks, which say what is wrong; one
 * that its mode does not ask for is not looked at. */
static void plainOnesHaveUsableNumbers(void **state)
{
    (void)state;
    enum { NUMBERS = 7, MODE = dContactApprox1_1 | dContactApprox1_2 };
    dContact c = contactOf(0, 0.5);
    const struct {
        int mode;
        dReal *number;
        double good, bad;
    } of[NUMBERS] = {{dContactSoftERP, &c.surface.soft_erp, 0.2, NAN}, {dContactSoftCFM, &c.surface.soft_cfm, 1e-5, -1},
                     {dContactBounce, &c.surface.bounce, 0.5, NAN},    {dContactMotion1, &c.surface.motion1, -1, NAN},
                     {dContactMotion2, &c.surface.motion2, -1, NAN},   {dContactSlip1, &c.surface.slip1, 0.1, -0.1},
                     {dContactSlip2, &c.surface.slip2, 0.1, 1e13}};
    for (int k = 0; k < NUMBERS; ++k) {
        c = contactOf(MODE | of[k].mode, 0.5);
        *of[k].number = (dReal)of[k].good;
        assert_true(spragContactIsPlain(&c, 1));
        *of[k].number = (dReal)of[k].bad;
        assert_false(spragContactIsPlain(&c, 1));
        c.surface.mode = MODE;
        assert_true(spragContactIsPlain(&c, 1));
    }
}

static void refusalsNameTheNumber(void **state)
{
    (void)state;
    dContact c = contactOf(dContactBounce, 1);
    assert_int_equal(spragContactCheck(&c, 0), SPRAG_OK);
    c.surface.bounce = NAN;
    assert_int_equal(spragContactCheck(&c, 0), SPRAG_ERROR_NOT_FINITE);
    assert_non_null(strstr(spragStatusDetail(), "bounce"));
    c = contactOf(0, -1);
    assert_int_equal(spragContactCheck(&c, 0), SPRAG_ERROR_RANGE);
    assert_int_equal(spragContactCheck(&c, 1), SPRAG_OK);
    c = contactOf(0, 1);
    c.geom.normal[0] = c.geom.normal[2] = 0;
    assert_int_equal(spragContactCheck(&c, 0), SPRAG_ERROR_RANGE);
    assert_non_null(strstr(spragStatusDetail(), "normal"));
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(framesAreOrthonormal), cmocka_unit_test(boundsAreCoefficientsOrForces),
        cmocka_unit_test(plainOnesAndThoseThatStick), cmocka_unit_test(plainOnesHaveUsableNumbers),
        cmocka_unit_test(refusalsNameTheNumber)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
