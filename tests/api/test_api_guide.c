/* Guides and joint friction: everything that is refused is named, and nothing is made. */
#include "support/refusal.h"
#include "support/twin.h"

static void expectRefusal(Twin *t, const spragGuideDef *def, spragStatus status, const char *word)
{
    spragGuideID guide = NULL;
    const int joints = dBodyGetNumJoints(t->body[0]);
    CHECK_REFUSED(spragGuideCreate(t->sprag, def, &guide), status, word);
    assert_null(guide);
    assert_int_equal(dBodyGetNumJoints(t->body[0]), joints);
}

static void badGuidesAreRefused(void **state)
{
    (void)state;
    Twin t, other;
    makeTwin(&t, 1);
    makeTwin(&other, 0);
    dBodyID body = addBox(&t, 0, 0, 0), foreign = addBox(&other, 0, 0, 0);
    spragGuideDef good = spragGuideDefDefault(), def;
    good.body = body;
    good.normal[2] = 1;
    spragGuideID guide;
    expectRefusal(&t, NULL, SPRAG_ERROR_NULL, "def");
    assert_int_equal(spragGuideCreate(t.sprag, &good, NULL), SPRAG_ERROR_NULL);
    assert_int_equal(spragGuideCreate(NULL, &good, &guide), SPRAG_ERROR_NULL);
    memset(&def, 0x5a, sizeof def);
    expectRefusal(&t, &def, SPRAG_ERROR_RANGE, "spragGuideDefDefault");
    memset(&def, 0, sizeof def); /* zero means zero: no body */
    expectRefusal(&t, &def, SPRAG_ERROR_NULL, "body");
    def = good, def.body = NULL;
    expectRefusal(&t, &def, SPRAG_ERROR_NULL, "body");
    def = good, def.guide = body;
    expectRefusal(&t, &def, SPRAG_ERROR_RANGE, "same body");
    def = good, def.guide = foreign;
    expectRefusal(&t, &def, SPRAG_ERROR_RANGE, "another world");
    def = good, def.body = foreign;
    expectRefusal(&t, &def, SPRAG_ERROR_RANGE, "another world");
    def = good, def.point[1] = NAN;
    expectRefusal(&t, &def, SPRAG_ERROR_NOT_FINITE, "point[1]");
    def = good, def.normal[2] = 2;
    expectRefusal(&t, &def, SPRAG_ERROR_RANGE, "length 2");
    def = good, def.mu[1] = -0.5;
    expectRefusal(&t, &def, SPRAG_ERROR_RANGE, "-0.5");
    def = good, def.mu[0] = INFINITY;
    expectRefusal(&t, &def, SPRAG_ERROR_NOT_FINITE, "mu");
    def = good, def.clearance = -1e-3;
    expectRefusal(&t, &def, SPRAG_ERROR_RANGE, "clearance");
    def = good, def.clearance = NAN;
    expectRefusal(&t, &def, SPRAG_ERROR_NOT_FINITE, "clearance = nan");
    def = good, def.surface[1].stiffness = -1;
    expectRefusal(&t, &def, SPRAG_ERROR_RANGE, "stiffness");
    def = good, def.surface[0].mu_static = INFINITY;
    expectRefusal(&t, &def, SPRAG_ERROR_NOT_FINITE, "surface[0].mu_static");
    assert_int_equal(spragGuideCreate(t.sprag, &good, &guide), SPRAG_OK);
    spragGuideDestroy(guide);
    spragGuideDestroy(guide);
    assert_non_null(strstr(spragStatusDetail(), "destroyed"));
    spragGuideDestroy(NULL);
    freeTwin(&other);
    freeTwin(&t);
}

static void badFrictionIsRefused(void **state)
{
    (void)state;
    Twin t, other;
    makeTwin(&t, 1);
    makeTwin(&other, 0);
    dJointID hinge = dJointCreateHinge(t.world, 0), slider = dJointCreateSlider(t.world, 0),
             fixed = dJointCreateFixed(t.world, 0), foreign = dJointCreateHinge(other.world, 0);
    const dJointID motor = dJointCreateAMotor(t.world, 0),
                   contact = dJointCreateContact(t.world, 0, &(dContact){.geom.normal[2] = 1});
    spragJointFriction f = {.mu = 0.5, .mu_static = -1, .radius = 0.1, .length = 1};
    CHECK_REFUSED(spragJointSetFriction(t.sprag, NULL, &f), SPRAG_ERROR_NULL, "dJointID");
    CHECK_REFUSED(spragJointSetFriction(t.sprag, hinge, NULL), SPRAG_ERROR_NULL, "friction");
    CHECK_REFUSED(spragJointSetFriction(t.sprag, foreign, &f), SPRAG_ERROR_RANGE, "no such joint");
    CHECK_REFUSED(spragJointSetFriction(t.sprag, fixed, &f), SPRAG_ERROR_UNSUPPORTED,
                  "a joint of type Fixed; expected hinge");
    CHECK_REFUSED(spragJointSetFriction(t.sprag, motor, &f), SPRAG_ERROR_UNSUPPORTED, "a joint of type AMotor;");
    CHECK_REFUSED(spragJointSetFriction(t.sprag, contact, &f), SPRAG_ERROR_UNSUPPORTED, "a joint of type Contact;");
    f.mu = -1;
    CHECK_REFUSED(spragJointSetFriction(t.sprag, hinge, &f), SPRAG_ERROR_RANGE, "mu = -1");
    f.mu = NAN;
    CHECK_REFUSED(spragJointSetFriction(t.sprag, hinge, &f), SPRAG_ERROR_NOT_FINITE, "mu");
    f.mu = 0.5, f.length = 0;
    CHECK_REFUSED(spragJointSetFriction(t.sprag, slider, &f), SPRAG_ERROR_RANGE, "length");
    f.length = 1, f.half_width = -0.1;
    CHECK_REFUSED(spragJointSetFriction(t.sprag, slider, &f), SPRAG_ERROR_RANGE, "half_width");
    freeTwin(&other);
    freeTwin(&t);
}

int main(void)
{
    dInitODE();
    const struct CMUnitTest tests[] = {cmocka_unit_test(badGuidesAreRefused), cmocka_unit_test(badFrictionIsRefused)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
