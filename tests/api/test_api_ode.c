/* The plugin's functions on a world: everything they refuse is named, and leaves the world as it was. */
#include "support/refusal.h"
#include "support/twin.h"

static void badStepLeavesTheWorld(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dBodyID box = addBox(&t, 0, 0, 0.2), other = addBox(&t, 3, 0, 0.2);
    addCorners(&t, box, 0.5);
    dBodySetLinearVel(box, 1, 0, 0);
    const double step_sizes[] = {0, -1e-3, NAN, INFINITY, 1e300, 1e-320};
    const spragStatus expected[] = {SPRAG_ERROR_RANGE,      SPRAG_ERROR_RANGE, SPRAG_ERROR_NOT_FINITE,
                                    SPRAG_ERROR_NOT_FINITE, SPRAG_ERROR_RANGE, SPRAG_ERROR_RANGE};
    for (int k = 0; k < 6; ++k)
        CHECK_REFUSED(spragWorldStep(t.sprag, step_sizes[k]), expected[k], "stepsize");
    dBodySetLinearVel(other, 0, NAN, 0);
    CHECK_REFUSED(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "body 1");
    dBodySetLinearVel(other, 0, 0, 0);
    dBodySetAngularVel(other, 0, 1e200, 0); /* ODE would overflow and end the program */
    assert_int_equal(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE);
    dBodySetAngularVel(other, 0, 0, 0);
    dBodyAddTorque(other, 0, INFINITY, 0);
    assert_int_equal(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE);
    dBodySetTorque(other, 0, 0, 0);
    dBodySetPosition(other, NAN, 0, 0);
    assert_int_equal(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE);
    dBodySetPosition(other, 3, 0, 0);
    dBodySetLinearDamping(other, NAN);
    CHECK_REFUSED(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "body 1: damping nan");
    dBodySetDampingDefaults(other);
    CHECK_NEAR(dBodyGetPosition(box)[0], 0, 0);
    CHECK_NEAR(dBodyGetLinearVel(box)[0], 1, 0);
    CHECK_NEAR(spragWorldGetStepInfo(t.sprag).time, 0, 0);
    dWorldSetGravity(t.world, 0, NAN, 0);
    CHECK_REFUSED(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "gravity");
    dWorldSetGravity(t.world, 0, 0, -9.81);
    const double cfm = dWorldGetCFM(t.world);
    dWorldSetCFM(t.world, -1);
    assert_int_equal(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_RANGE);
    dWorldSetCFM(t.world, cfm);
    const double erp = dWorldGetERP(t.world);
    dWorldSetERP(t.world, 1e200); /* the residual was infinite */
    CHECK_REFUSED(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "ERP 1e+200");
    dWorldSetERP(t.world, erp);
    dWorldSetContactSurfaceLayer(t.world, NAN);
    CHECK_REFUSED(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "surface layer nan");
    dWorldSetContactSurfaceLayer(t.world, 0);
    dWorldSetContactMaxCorrectingVel(t.world, NAN);
    CHECK_REFUSED(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "correcting velocity nan");
    dWorldSetContactMaxCorrectingVel(t.world, INFINITY);
    /* Contacts that Sprag did not create. */
    dContact contact = planeContact(0, 0, 0, -0.5);
    const dJointID joint = dJointCreateContact(t.world, 0, &contact);
    dJointAttach(joint, box, 0);
    CHECK_REFUSED(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_RANGE, "mu = -0.5");
    dJointDestroy(joint);
    contact = planeContact(1e200, -1e200, 0, 0.5); /* ODE ended the program */
    const dJointID far = dJointCreateContact(t.world, 0, &contact);
    dJointAttach(far, box, 0);
    CHECK_REFUSED(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "pos[0] = 1e+200");
    dJointDestroy(far);
    contact = planeContact(0, NAN, 0, 0.5);
    dJointAttach(dJointCreateContact(t.world, t.group, &contact), box, 0);
    assert_int_equal(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE);
    CHECK_NEAR(dBodyGetLinearVel(box)[0], 1, 0);
    freeTwin(&t);
}

/* Sprag reads the rows of joints where there are contacts: a number that is
 * none would end the program in ODE's step. */
static void badJointLeavesTheWorld(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dBodyID box = addBox(&t, 0, 0, 0.2);
    dJointID hinge = dJointCreateHinge(t.world, 0), ball = dJointCreateBall(t.world, 0);
    dJointAttach(hinge, box, 0);
    dJointSetHingeAxis(hinge, 0, 1, 0);
    dJointSetHingeParam(hinge, dParamFMax, 1);
    dJointSetHingeParam(hinge, dParamVel, NAN);
    dJointAttach(ball, box, 0);
    addCorners(&t, box, 0.5);
    dBodySetLinearVel(box, 1, 0, 0);
    CHECK_REFUSED(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "joint 0, Hinge: row 5 of 6");
    dJointSetHingeParam(hinge, dParamVel, 1);
    dJointSetBallParam(ball, dParamERP, INFINITY);
    CHECK_REFUSED(spragWorldStep(t.sprag, 1e-3), SPRAG_ERROR_NOT_FINITE, "joint 1, Ball: row 0 of 3");
    CHECK_NEAR(dBodyGetLinearVel(box)[0], 1, 0);
    CHECK_NEAR(dBodyGetPosition(box)[0], 0, 0);
    assert_true(dJointIsEnabled(hinge));
    dJointSetBallParam(ball, dParamERP, 0.2);
    assert_int_equal(spragWorldStep(t.sprag, 1e-3), SPRAG_OK);
    freeTwin(&t);
}

static void refuseContact(Twin *t, const dContact *contact, const char *words)
{
    assert_null(spragJointCreateContact(t->sprag, t->group, contact));
    if (strstr(spragStatusDetail(), words) == NULL)
        fail_msg("'%s' does not say '%s'", spragStatusDetail(), words);
}

static void badContactsAreRefused(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    const dContact good = planeContact(0, 0, 0, 0.5);
    refuseContact(&t, NULL, "contact is NULL");
    assert_null(spragJointCreateContact(NULL, t.group, &good));
    dContact bad = good;
    bad.surface.mu = -1;
    refuseContact(&t, &bad, "mu = -1");
    bad = good, bad.surface.mu = NAN;
    refuseContact(&t, &bad, "mu is NaN");
    bad = good, bad.surface.mode |= dContactMu2, bad.surface.mu2 = -2;
    refuseContact(&t, &bad, "mu2 = -2");
    bad = good, bad.surface.mode |= dContactRolling, bad.surface.rho = -1;
    refuseContact(&t, &bad, "rho = -1");
    bad = good, bad.geom.depth = NAN;
    refuseContact(&t, &bad, "depth = nan");
    bad = good, bad.geom.pos[1] = INFINITY;
    refuseContact(&t, &bad, "pos[1] = inf");
    bad = good, bad.geom.pos[0] = 1e200;
    refuseContact(&t, &bad, "pos[0] = 1e+200");
    bad = good, bad.geom.depth = 1e200;
    refuseContact(&t, &bad, "depth = 1e+200");
    bad = good, bad.surface.mode |= dContactMotionN, bad.surface.motionN = -1e61;
    refuseContact(&t, &bad, "motionN = -1e+61");
    bad = good, bad.surface.mode |= dContactSoftERP, bad.surface.soft_erp = 1e200;
    refuseContact(&t, &bad, "soft_erp = 1e+200");
    bad = good, bad.geom.normal[2] = 0;
    refuseContact(&t, &bad, "normal has length 0");
    bad = good, bad.surface.mode |= dContactSlip1, bad.surface.slip1 = NAN;
    refuseContact(&t, &bad, "slip1 = nan");
    bad = good, bad.surface.mode |= dContactSoftCFM, bad.surface.soft_cfm = -1;
    refuseContact(&t, &bad, "soft_cfm = -1");
    bad = good, bad.surface.mode |= dContactSlip1, bad.surface.slip1 = -1;
    refuseContact(&t, &bad, "slip1 = -1");
    bad = good, bad.surface.mode |= dContactSlip2, bad.surface.slip2 = -1e-9;
    refuseContact(&t, &bad, "slip2 = -1e-09");
    bad = good, bad.surface.mode |= dContactRolling, bad.surface.rho = NAN;
    refuseContact(&t, &bad, "rho");
    bad = good, bad.surface.mode |= dContactFDir1, bad.fdir1[2] = NAN;
    refuseContact(&t, &bad, "fdir1[2] = nan");
    freeTwin(&t);
}

static void badSurfacesAreRefused(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    const dContact contact = planeContact(0, 0, 0, 0.5);
    const struct {
        size_t member;
        double value;
        const char *words;
    } table[] = {{offsetof(spragSurface, mu_static), NAN, "mu_static = nan"},
                 {offsetof(spragSurface, curvature_radius), NAN, "curvature_radius = nan"},
                 {offsetof(spragSurface, stiffness), -1, "stiffness = -1"},
                 {offsetof(spragSurface, stiffness), INFINITY, "stiffness = inf"},
                 {offsetof(spragSurface, damping), -2, "damping = -2"},
                 {offsetof(spragSurface, damping), NAN, "damping = nan"}};
    for (size_t k = 0; k < sizeof table / sizeof *table; ++k) {
        spragSurface surface = spragSurfaceDefault();
        memcpy((char *)&surface + table[k].member, &table[k].value, sizeof(double));
        assert_null(spragJointCreateContactSurface(t.sprag, t.group, &contact, &surface));
        if (strstr(spragStatusDetail(), table[k].words) == NULL)
            fail_msg("'%s' does not say '%s'", spragStatusDetail(), table[k].words);
    }
    assert_null(spragJointCreateContactSurface(t.sprag, t.group, &contact, NULL));
    freeTwin(&t);
}

/* Every field out of its range is refused by name, and the config stays what it was. */
static void badConfigsAreRefused(void **state)
{
    (void)state;
    const spragConfig good = spragConfigDefault();
    struct Case {
        spragConfig config;
        const char *words;
    } table[24];
    int count = 0;
#define BAD(member, value, text)                                                                                       \
    (table[count] = (struct Case){good, text}, table[count].config.member = (value), ++count)
    BAD(cookie, 5, "spragConfigDefault");
    BAD(solver, SPRAG_SOLVER_COUNT, "config.solver = 6");
    BAD(tolerance, 0, "config.tolerance = 0");
    BAD(tolerance, NAN, "config.tolerance = nan");
    BAD(enough, -1, "config.enough = -1");
    BAD(enough, NAN, "config.enough = nan");
    BAD(iteration_limit, -1, "config.iteration_limit = -1");
    BAD(time_limit, -1, "config.time_limit = -1");
    BAD(time_limit, NAN, "config.time_limit = nan");
    BAD(thread_count, -1, "thread_count = -1");
    BAD(thread_count, 100000, "thread_count = 100000");
    BAD(indeterminacy, SPRAG_INDETERMINACY_JAM + 1, "config.indeterminacy = 3");
    BAD(tangential_restitution, 1.5, "config.tangential_restitution = 1.5");
    BAD(tangential_restitution, NAN, "config.tangential_restitution = nan");
    BAD(analysis, SPRAG_ANALYSIS_JUDGE + 1, "config.analysis = 3");
    BAD(forgetful, 2, "config.forgetful = 2");
    BAD(event_capacity, -1, "config.event_capacity = -1");
    BAD(event_capacity, 0x7fffffff, "config.event_capacity = 2147483647");
    BAD(stepper, SPRAG_STEPPER_QUICKSTEP + 1, "stepper = 2");
    BAD(gyroscopic, SPRAG_GYROSCOPIC_CONTACTS + 1, "gyroscopic = 3");
#undef BAD
    Twin t;
    makeTwin(&t, 1);
    spragConfig before, kept; /* the bytes between members, too */
    memset(&before, 0, sizeof before);
    memset(&kept, 0, sizeof kept);
    assert_int_equal(spragWorldGetConfig(t.sprag, &before), SPRAG_OK);
    for (int k = 0; k < count; ++k) {
        CHECK_REFUSED(spragWorldSetConfig(t.sprag, &table[k].config), SPRAG_ERROR_RANGE, table[k].words);
        assert_int_equal(spragWorldGetConfig(t.sprag, &kept), SPRAG_OK);
        assert_memory_equal(&kept, &before, sizeof kept);
    }
    CHECK_REFUSED(spragWorldSetConfig(t.sprag, NULL), SPRAG_ERROR_NULL, "config is NULL");
    freeTwin(&t);
}

static void attachIsOnceAndDetachIsFinal(void **state)
{
    (void)state;
    dWorldID world = dWorldCreate();
    spragWorldID a = NULL, b = NULL;
    spragConfig config = spragConfigDefault();
    assert_int_equal(spragWorldAttach(NULL, NULL, &a), SPRAG_ERROR_NULL);
    assert_int_equal(spragWorldAttach(world, NULL, NULL), SPRAG_ERROR_NULL);
    memset(&config, 0x5a, sizeof config);
    assert_int_equal(spragWorldAttach(world, &config, &a), SPRAG_ERROR_RANGE);
    config = spragConfigDefault();
    config.tolerance = NAN;
    assert_int_equal(spragWorldAttach(world, &config, &a), SPRAG_ERROR_RANGE);
    config = spragConfigDefault();
    config.analysis = SPRAG_ANALYSIS_JUDGE + 1;
    assert_int_equal(spragWorldAttach(world, &config, &a), SPRAG_ERROR_RANGE);
    assert_null(a);
    assert_int_equal(spragWorldAttach(world, NULL, &a), SPRAG_OK);
    assert_int_equal(spragWorldAttach(world, NULL, &b), SPRAG_ERROR_ORDER);
    assert_ptr_equal(spragWorldFind(world), a);
    assert_int_equal(spragWorldGetConfig(a, NULL), SPRAG_ERROR_NULL);
    assert_int_equal(spragWorldDumpProblem(a, "/tmp/sprag-none"), SPRAG_ERROR_ORDER);
    spragWorldDetach(a);
    assert_null(spragWorldFind(world));
    assert_int_equal(spragWorldStep(a, 1e-3), SPRAG_ERROR_STALE);
    assert_int_equal(spragWorldGetContacts(a, NULL), 0);
    assert_int_equal(spragWorldSetConfig(a, &config), SPRAG_ERROR_STALE);
    spragWorldDetach(a);
    spragWorldDetach(NULL);
    dWorldDestroy(world);
}

/* ---------------------------------------------------------------- calls from callbacks */

typedef struct Guest {
    Twin *t;
    int told;
} Guest;

/* Everything a callback can get wrong, and what it may do. */
static void onEvent(const spragEvent *event, void *user)
{
    Guest *guest = user;
    (void)event;
    CHECK_REFUSED(spragWorldStep(guest->t->sprag, 1e-3), SPRAG_ERROR_ORDER, "within a step");
    spragWorldDetach(guest->t->sprag);
    assert_non_null(strstr(spragStatusDetail(), "callback"));
    spragConfig config = spragConfigDefault();
    config.event_capacity = guest->told % 2 ? 7 : 4000;
    assert_int_equal(spragWorldSetConfig(guest->t->sprag, &config), SPRAG_OK);
    if (guest->told == 0)
        addBox(guest->t, 5, 0, 1);
    ++guest->told;
}

static Twin *moving;
static spragGuideID moving_guide;
static dJointID moving_hinge;

static void onMoved(dBodyID body)
{
    const spragConfig config = spragConfigDefault();
    (void)body;
    CHECK_REFUSED(spragWorldStep(moving->sprag, 1e-3), SPRAG_ERROR_ORDER, "within a step");
    CHECK_REFUSED(spragWorldSetConfig(moving->sprag, &config), SPRAG_ERROR_ORDER, "within a step");
    spragWorldDetach(moving->sprag);
    assert_ptr_equal(spragWorldFind(moving->world), moving->sprag);
    spragGuideDef def = spragGuideDefDefault();
    spragGuideID guide;
    def.body = body, def.normal[2] = 1;
    CHECK_REFUSED(spragGuideCreate(moving->sprag, &def, &guide), SPRAG_ERROR_ORDER, "within a step");
    spragGuideDestroy(moving_guide);
    assert_non_null(strstr(spragStatusDetail(), "within a step"));
    const spragJointFriction law = {.mu = 0.1, .radius = 0.1};
    CHECK_REFUSED(spragJointSetFriction(moving->sprag, moving_hinge, &law), SPRAG_ERROR_ORDER, "within a step");
    CHECK_REFUSED(spragWorldDumpProblem(moving->sprag, "never-written.problem"), SPRAG_ERROR_ORDER, "within a step");
}

static void callbacksCannotStepOrDetach(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    Guest guest = {.t = &t};
    const dBodyID box = addBox(&t, 0, 0, 0.2);
    spragWorldSetEventCallback(t.sprag, onEvent, &guest);
    addCorners(&t, box, 0.5);
    step(&t, 1e-3);
    assert_string_equal(spragStatusDetail(), ""); /* the step's, which is well */
    assert_int_equal(guest.told, 4);
    const spragEvent *events;
    assert_int_equal(spragWorldGetEvents(t.sprag, &events), 4);
    spragConfig config = spragConfigDefault();
    config.event_capacity = 1; /* events handed out stay until the next step */
    assert_int_equal(spragWorldSetConfig(t.sprag, &config), SPRAG_OK);
    for (int k = 0; k < 4; ++k)
        assert_int_equal(events[k].type, SPRAG_EVENT_TOUCH);
    spragWorldSetEventCallback(t.sprag, NULL, NULL);
    moving = &t;
    spragGuideDef def = spragGuideDefDefault();
    def.body = box, def.normal[1] = 1;
    assert_int_equal(spragGuideCreate(t.sprag, &def, &moving_guide), SPRAG_OK);
    moving_hinge = dJointCreateHinge(t.world, 0);
    dBodySetMovedCallback(box, onMoved);
    addCorners(&t, box, 0.5);
    step(&t, 1e-3);
    dBodySetMovedCallback(box, NULL);
    spragGuideDestroy(moving_guide);
    dBodySetPosition(box, 0, 0, 1);
    step(&t, 1e-3); /* four corners and the guide detach */
    assert_int_equal(spragWorldGetEvents(t.sprag, &events), 1);
    assert_int_equal(spragWorldGetStepInfo(t.sprag).events_lost, 4);
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(badStepLeavesTheWorld),      cmocka_unit_test(badJointLeavesTheWorld),
        cmocka_unit_test(badContactsAreRefused),      cmocka_unit_test(badSurfacesAreRefused),
        cmocka_unit_test(badConfigsAreRefused),       cmocka_unit_test(attachIsOnceAndDetachIsFinal),
        cmocka_unit_test(callbacksCannotStepOrDetach)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
