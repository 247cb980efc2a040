/* What must hold in an ODE of either precision: the tolerances are its rounding.  tests/single builds it against a
 * dSINGLE ODE; in CI it runs in double. */
#include "support/check.h"

#include <float.h>

#include <sprag/sprag_ode.h>

static const double rounding = sizeof(dReal) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON;
static const dReal step_size = (dReal)0.001;

typedef struct World {
    dWorldID id;
    spragWorldID sprag; /* NULL: stock */
    dJointGroupID group;
} World;

static World makeWorld(int use_sprag)
{
    World w = {.id = dWorldCreate(), .group = dJointGroupCreate(0)};
    dWorldSetGravity(w.id, 0, 0, -10);
    dWorldSetCFM(w.id, 0); /* a rigid normal */
    if (use_sprag && spragWorldAttach(w.id, NULL, &w.sprag) != SPRAG_OK)
        fail_msg("%s", spragStatusDetail());
    return w;
}

static void freeWorld(World *w)
{
    spragWorldDetach(w->sprag);
    dJointGroupDestroy(w->group);
    dWorldDestroy(w->id);
}

static dBodyID addBox(const World *w, double z)
{
    dMass mass;
    dMassSetBoxTotal(&mass, 1, 1, 1, 1);
    const dBodyID body = dBodyCreate(w->id);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, 0, 0, (dReal)z);
    return body;
}

/* Four corners of a unit box on the plane below it, or on a box below it. */
static void support(const World *w, dBodyID body, dBodyID below, double mu)
{
    for (int corner = 0; corner < 4; ++corner) {
        dContact contact = {.surface = {.mode = dContactApprox1, .mu = (dReal)mu}, .geom = {.normal = {0, 0, 1}}};
        dBodyGetRelPointPos(body, (dReal)(corner & 1 ? 0.5 : -0.5), (dReal)(corner & 2 ? 0.5 : -0.5), (dReal)-0.5,
                            contact.geom.pos);
        dJointAttach(w->sprag != NULL ? spragJointCreateContact(w->sprag, w->group, &contact)
                                      : dJointCreateContact(w->id, w->group, &contact),
                     body, below);
    }
}

static void step(const World *w)
{
    if (w->sprag == NULL)
        assert_true(dWorldStep(w->id, step_size));
    else
        assert_int_equal(spragWorldStep(w->sprag, step_size), SPRAG_OK);
    dJointGroupEmpty(w->group);
}

static void frictionIsRound(void **state)
{
    (void)state;
    World w = makeWorld(1);
    const dBodyID box = addBox(&w, 0.5);
    dBodySetLinearVel(box, 3, 4, 0);
    for (int k = 0; k < 100; ++k) {
        support(&w, box, 0, 0.5);
        step(&w);
    }
    assert_int_equal(spragWorldGetStepInfo(w.sprag).declined, 0);
    const dReal *v = dBodyGetLinearVel(box);
    CHECK_NEAR(v[0], 0.6 * (5 - 0.1 * 5), 1e3 * rounding);
    CHECK_NEAR(v[1], 0.8 * (5 - 0.1 * 5), 1e3 * rounding);
    freeWorld(&w);
}

/* A frictionless box that hangs on a hinge, with a motor: stock ODE's answer is right there. */
static void jointsWithContactsAreAsOde(void **state)
{
    (void)state;
    dReal end[2][3];
    for (int use_sprag = 0; use_sprag < 2; ++use_sprag) {
        World w = makeWorld(use_sprag);
        const dBodyID box = addBox(&w, 0.5), arm = addBox(&w, 1.5);
        const dJointID hinge = dJointCreateHinge(w.id, 0);
        dJointAttach(hinge, arm, box);
        dJointSetHingeAnchor(hinge, 0, (dReal)0.25, 1);
        dJointSetHingeAxis(hinge, 1, 0, 0);
        dJointSetHingeParam(hinge, dParamVel, (dReal)0.5);
        dJointSetHingeParam(hinge, dParamFMax, 2);
        for (int k = 0; k < 100; ++k) {
            dContact contact = {.surface = {.mode = 0, .mu = 0}, .geom = {.normal = {0, 0, 1}}};
            dBodyGetRelPointPos(box, 0, 0, (dReal)-0.5, contact.geom.pos);
            dJointAttach(use_sprag ? spragJointCreateContact(w.sprag, w.group, &contact)
                                   : dJointCreateContact(w.id, w.group, &contact),
                         box, 0);
            step(&w);
        }
        if (use_sprag)
            assert_int_equal(spragWorldGetStepInfo(w.sprag).declined, 0);
        for (int i = 0; i < 3; ++i)
            end[use_sprag][i] = dBodyGetPosition(arm)[i];
        freeWorld(&w);
    }
    for (int i = 0; i < 3; ++i)
        CHECK_NEAR(end[1][i], end[0][i], 1e3 * rounding);
}

/* The rod at mu 2 (docs/theory.md 6): an impulse ends its slip. */
static void theRodJams(void **state)
{
    (void)state;
    const double angle = 2 * M_PI / 3;
    World w = makeWorld(1);
    dMass mass;
    dMassSetParameters(&mass, 1, 0, 0, 0, (dReal)(1.0 / 3), (dReal)(1.0 / 3), (dReal)(1.0 / 3), 0, 0, 0);
    const dBodyID rod = dBodyCreate(w.id);
    dBodySetMass(rod, &mass);
    dBodySetPosition(rod, (dReal)cos(angle), 0, (dReal)sin(angle));
    dBodySetLinearVel(rod, 1, 0, 0);
    dContact contact = {.surface = {.mode = dContactApprox1, .mu = 2}, .geom = {.normal = {0, 0, 1}}};
    dJointAttach(spragJointCreateContact(w.sprag, w.group, &contact), rod, 0);
    step(&w);
    const spragContact *found = NULL;
    assert_int_equal(spragWorldGetContacts(w.sprag, &found), 1);
    assert_int_equal(found->mode, SPRAG_MODE_STICK);
    CHECK_NEAR(found->painleve_p, 1 + 3 * cos(angle) * (cos(angle) + 2 * sin(angle)), 1e2 * rounding);
    CHECK_NEAR(found->slip[0], 0, 1e-12);
    const spragEvent *event = NULL;
    int jams = 0;
    for (int k = spragWorldGetEvents(w.sprag, &event) - 1; k >= 0; --k)
        jams += event[k].type == SPRAG_EVENT_JAM;
    assert_int_equal(jams, 1);
    freeWorld(&w);
}

static void aTowerStands(void **state)
{
    (void)state;
    enum { BOXES = 5 };
    World w = makeWorld(1);
    dBodyID box[BOXES];
    for (int i = 0; i < BOXES; ++i)
        box[i] = addBox(&w, 0.5 + i);
    for (int k = 0; k < 1000; ++k) {
        for (int i = 0; i < BOXES; ++i)
            support(&w, box[i], i > 0 ? box[i - 1] : 0, 0.5);
        step(&w);
        assert_true(spragWorldGetStepInfo(w.sprag).residual <= 1e-8);
    }
    const dReal *p = dBodyGetPosition(box[BOXES - 1]);
    CHECK_NEAR(p[0], 0, 1e4 * rounding);
    CHECK_NEAR(p[2], BOXES - 0.5, 1e4 * rounding);
    freeWorld(&w);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frictionIsRound),
        cmocka_unit_test(jointsWithContactsAreAsOde),
        cmocka_unit_test(theRodJams),
        cmocka_unit_test(aTowerStands),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
