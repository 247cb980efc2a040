/* Which contact continues which: its id lasts as long as it does, through sleep, through a step of ODE's, and whatever
 * order its bodies are named in; what was put elsewhere, and what took the address of another, begins anew. */
#include "support/twin.h"

#include "ode/world/world.h"

#define STEP 1e-2 /* s */

static void stepOnCorners(Twin *t, dBodyID box, double mu)
{
    addCorners(t, box, mu);
    step(t, STEP);
}

static void readIds(const Twin *t, unsigned long long id[4])
{
    const spragContact *contact = lastContacts(t, 4);
    for (int k = 0; k < 4; ++k)
        id[k] = contact[k].id;
}

static int sameIds(const Twin *t, const unsigned long long id[4])
{
    unsigned long long now[4];
    readIds(t, now);
    return memcmp(now, id, sizeof now) == 0;
}

/* A box that has rested for a step, and the ids of its four contacts. */
static dBodyID restingBox(Twin *t, unsigned long long id[4])
{
    makeTwin(t, 1);
    dBodyID box = addBox(t, 0, 0, 0.2);
    stepOnCorners(t, box, 0.5);
    readIds(t, id);
    return box;
}

/* Another step on them: none of the contacts is new. */
static void expectTheSame(Twin *t, dBodyID box, const unsigned long long id[4])
{
    stepOnCorners(t, box, 0.5);
    assert_true(sameIds(t, id));
    assert_int_equal(countEvents(t, SPRAG_EVENT_TOUCH), 0);
}

/* ---------------------------------------------------------------- what goes on */

static void idsLastWhileItSlides(void **state)
{
    (void)state;
    Twin t;
    unsigned long long id[4];
    dBodyID box = restingBox(&t, id);
    assert_int_equal(countEvents(&t, SPRAG_EVENT_TOUCH), 4);
    dBodySetLinearVel(box, 3, 0, 0);
    for (int k = 0; k < 200; ++k) {
        expectTheSame(&t, box, id);
        assert_int_equal(countEvents(&t, SPRAG_EVENT_DETACH), 0);
    }
    freeTwin(&t);
}

/* A program that collides sleepers too makes their contacts anew in every step. */
static void idsLastThroughSleep(void **state)
{
    (void)state;
    for (int collides = 0; collides < 2; ++collides) {
        Twin t;
        unsigned long long id[4];
        dBodyID box = restingBox(&t, id);
        dBodySetAutoDisableFlag(box, 1);
        while (dBodyIsEnabled(box))
            stepOnCorners(&t, box, 0.5);
        for (int k = 0; k < 5; ++k) {
            if (collides)
                addCorners(&t, box, 0.5);
            step(&t, STEP);
            lastContacts(&t, 0);
            assert_int_equal(countEvents(&t, SPRAG_EVENT_DETACH), 0);
        }
        dBodyEnable(box);
        expectTheSame(&t, box, id);
        freeTwin(&t);
    }
}

/* An island that ODE solves for a step keeps what it was known by. */
static void idsLastThroughADeclinedStep(void **state)
{
    (void)state;
    Twin t;
    unsigned long long id[4];
    dBodyID box = restingBox(&t, id);
    addCorners(&t, box, 0.5);
    dContact absurd = planeContact(0, 0, 0, 0.5);
    absurd.surface.mu = NAN;
    absurd.surface.mode |= dContactSoftCFM;
    absurd.surface.soft_cfm = 1;
    dJointAttach(dJointCreateContact(t.world, t.group, &absurd), box, 0);
    t.sprag->lenient = 1;
    step(&t, STEP);
    t.sprag->lenient = 0;
    assert_int_equal(spragWorldGetStepInfo(t.sprag).declined, 1);
    assert_int_equal(countEvents(&t, SPRAG_EVENT_DETACH), 0);
    expectTheSame(&t, box, id);
    freeTwin(&t);
}

/* Two bodies named in either order: the contact is told as it was made, and is the same. */
static void idsLastWhenBodiesChangePlaces(void **state)
{
    (void)state;
    Twin t;
    unsigned long long first = 0;
    makeTwin(&t, 1);
    dWorldSetGravity(t.world, 0, 0, 0);
    dBodyID low = addBox(&t, 0, 0, 0), high = addBox(&t, 0, 0, 0.4);
    for (int k = 0; k < 6; ++k) {
        dContact contact = planeContact(0, 0, 0.2, 0.5);
        contact.geom.normal[2] = k % 2 ? -1 : 1;
        addContact(&t, &contact, k % 2 ? low : high, k % 2 ? high : low);
        dBodyAddForce(high, 1, 0, -10);
        dBodyAddForce(low, -1, 0, 10);
        step(&t, STEP);
        const spragContact *told = lastContacts(&t, 1);
        first = k == 0 ? told->id : first;
        assert_int_equal(told->id, first);
        assert_ptr_equal(told->body[0], k % 2 ? low : high);
        CHECK_NEAR(told->normal[2], k % 2 ? -1 : 1, 0);
        assert_true(told->normal_force > 1 && (k % 2 ? told->friction[0] > 0.1 : told->friction[0] < -0.1));
    }
    freeTwin(&t);
}

/* A step that is refused has found the contact in the other order, and leaves what is told of the step before it. */
static void aRefusedStepLeavesWhatIsTold(void **state)
{
    (void)state;
    spragContact told[2];
    for (int refuses = 0; refuses < 2; ++refuses) {
        Twin t;
        makeTwin(&t, 1);
        dBodyID low = addBox(&t, 0, 0, 0), high = addBox(&t, 0, 0, 0.4);
        dContact contact = planeContact(0, 0, 0.2, 0.5);
        dWorldSetGravity(t.world, 0, 0, 0);
        dBodyAddForce(high, 1, 0, -10);
        dBodyAddForce(low, -1, 0, 10);
        addContact(&t, &contact, high, low);
        step(&t, STEP);
        if (refuses) {
            contact.geom.normal[2] = -1;
            addContact(&t, &contact, low, high);
            dBodyAddForce(high, NAN, 0, 0);
            assert_int_equal(spragWorldStep(t.sprag, STEP), SPRAG_ERROR_NOT_FINITE);
            dBodySetForce(high, 0, 0, 0);
            contact.surface.mu = NAN;
            dJointAttach(dJointCreateContact(t.world, t.group, &contact), low, high);
            assert_int_equal(spragWorldStep(t.sprag, STEP), SPRAG_ERROR_NOT_FINITE);
        }
        told[refuses] = lastContacts(&t, 1)[0];
        assert_ptr_equal(told[refuses].body[0], high);
        assert_ptr_equal(told[refuses].body[1], low);
        freeTwin(&t);
    }
    assert_true(told[1].normal_force > 1 && told[1].friction[0] < -0.1);
    CHECK_NEAR(told[1].normal_force, told[0].normal_force, 0);
    for (int i = 0; i < 3; ++i) {
        CHECK_NEAR(told[1].normal[i], told[0].normal[i], 0);
        CHECK_NEAR(told[1].friction[i], told[0].friction[i], 0);
        CHECK_NEAR(told[1].slip[i], told[0].slip[i], 0);
    }
}

/* ---------------------------------------------------------------- what begins anew */

/* The program takes a body somewhere else: what it touches there, it touches for the first time. */
static void aBodyPutElsewhereBeginsAnew(void **state)
{
    (void)state;
    for (int near = 0; near < 2; ++near) {
        Twin t;
        unsigned long long id[4];
        dBodyID box = restingBox(&t, id);
        dBodySetPosition(box, near ? 1e-2 : 50, 0, 0.2);
        stepOnCorners(&t, box, 0.5);
        assert_int_equal(sameIds(&t, id), near); /* a nudge is none */
        assert_int_equal(countEvents(&t, SPRAG_EVENT_TOUCH), near ? 0 : 4);
        assert_int_equal(countEvents(&t, SPRAG_EVENT_DETACH), near ? 0 : 4);
        freeTwin(&t);
    }
}

/* Bodies that travel together, fast or put elsewhere, still touch. */
static void contactsTravelWithTheirBodies(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dWorldSetGravity(t.world, 0, 0, 0);
    dBodyID low = addBox(&t, 0, 0, 0), high = addBox(&t, 0, 0, 0.4);
    dBodySetLinearVel(low, 300, 0, 0);
    dBodySetLinearVel(high, 300, 0, 0);
    unsigned long long first = 0;
    for (int k = 0; k < 4; ++k) {
        const dReal *p = dBodyGetPosition(low);
        dContact contact = planeContact(p[0], p[1], p[2] + 0.2, 0.5);
        addContact(&t, &contact, high, low);
        step(&t, STEP);
        first = k == 0 ? lastContacts(&t, 1)->id : first;
        assert_int_equal(lastContacts(&t, 1)->id, first);
        if (k == 1)
            for (int b = 0; b < 2; ++b) {
                const dReal *x = dBodyGetPosition(t.body[b]);
                dBodySetPosition(t.body[b], x[0], x[1] + 100, x[2]);
            }
    }
    freeTwin(&t);
}

static dJointID hinge;
static dBodyID hinged[2];
static int replaced;

static dJointID addHinge(dWorldID world)
{
    dJointID joint = dJointCreateHinge(world, 0);
    dJointAttach(joint, hinged[0], hinged[1]);
    dJointSetHingeAnchor(joint, 0, 0, 0);
    dJointSetHingeAxis(joint, 0, 1, 0);
    return joint;
}

/* A joint that breaks where ODE says that its body has moved; another takes its place, and its address. */
static void onMoved(dBodyID body)
{
    (void)body;
    if (replaced)
        return;
    dWorldID world = dBodyGetWorld(body);
    const dJointID before = hinge;
    dJointDestroy(hinge);
    hinge = addHinge(world);
    replaced = hinge == before ? 2 : 1;
}

static void aJointMadeWithinAStepHasNoPast(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dWorldSetGravity(t.world, 0, 0, 0);
    hinged[0] = addBox(&t, 0, 0, 0);
    hinged[1] = addBox(&t, 1, 0, 0);
    hinge = addHinge(t.world);
    replaced = 0;
    spragJointFriction law = spragJointFrictionDefault();
    law.mu = 0.5, law.radius = 0.1;
    assert_int_equal(spragJointSetFriction(t.sprag, hinge, &law), SPRAG_OK);
    step(&t, STEP);
    assert_int_equal(t.sprag->bearing_count, 1);
    dBodySetMovedCallback(hinged[0], onMoved);
    step(&t, STEP);
    assert_true(replaced > 0);
    if (replaced == 1)
        print_message("the address was not used again: the test sees less\n");
    step(&t, STEP);
    assert_int_equal(t.sprag->bearing_count, 0);
    freeTwin(&t);
}

/* ---------------------------------------------------------------- a step without a past */

/* A box that slides and turns on four corners shares its load as it likes, and moves accordingly. */
static void turnFrom(Twin *t, double x, double spin, double out[6])
{
    dBodyID box = t->body[0];
    const dQuaternion upright = {1, 0, 0, 0};
    dBodySetPosition(box, x, 0, 0.2);
    dBodySetQuaternion(box, upright);
    dBodySetLinearVel(box, 1, 0.2, 0);
    dBodySetAngularVel(box, 0, 0, spin);
    addCorners(t, box, 0.5);
    step(t, 1e-2);
    memcpy(out, dBodyGetLinearVel(box), 3 * sizeof(double));
    memcpy(out + 3, dBodyGetAngularVel(box), 3 * sizeof(double));
}

/* A planner comes back to a state, and expects the same step. */
static void aForgetfulStepDependsOnTheStateAlone(void **state)
{
    (void)state;
    for (int forgetful = 0; forgetful < 2; ++forgetful) {
        Twin t;
        makeTwin(&t, 1);
        addBox(&t, 0, 0, 0.2);
        spragConfig config = spragConfigDefault();
        config.forgetful = forgetful;
        assert_int_equal(spragWorldSetConfig(t.sprag, &config), SPRAG_OK);
        double first[6], again[6], other[6];
        turnFrom(&t, 0, 8, first);
        for (int k = 0; k < 20; ++k)
            turnFrom(&t, 0.01 * k, -6 + k, other);
        turnFrom(&t, 0, 8, again);
        const int same = memcmp(first, again, sizeof first) == 0;
        assert_int_equal(same, forgetful);
        assert_int_equal(countEvents(&t, SPRAG_EVENT_TOUCH), forgetful ? 4 : 0);
        freeTwin(&t);
    }
}

/* ---------------------------------------------------------------- surfaces */

static dJointID addSticky(Twin *t, dBodyID box, double mu_static)
{
    spragSurface surface = spragSurfaceDefault();
    surface.mu_static = mu_static;
    dContact contact = planeContact(0, 0, 0, 0.1);
    dJointID joint = spragJointCreateContactSurface(t->sprag, t->group, &contact, &surface);
    assert_non_null(joint);
    dJointAttach(joint, box, 0);
    return joint;
}

/* Surfaces of contacts that stay are kept from step to step; of 100 that go, none is. */
static void surfacesLiveAsLongAsTheirContacts(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dBodyID box = addBox(&t, 0, 0, 0.2);
    addSticky(&t, box, 0.9);
    for (int k = 0; k < 100; ++k) { /* held by mu_static against 0.8 of the weight */
        dBodyAddForceAtPos(box, 0.8 * 2 * 9.81, 0, 0, 0, 0, 0);
        assert_int_equal(spragWorldStep(t.sprag, 1e-3), SPRAG_OK);
        assert_int_equal(t.sprag->surface_count, 1);
    }
    CHECK_NEAR(dBodyGetLinearVel(box)[0], 0, 1e-9);
    dJointGroupEmpty(t.group);
    for (int k = 0; k < 100; ++k) {
        addSticky(&t, box, 0.9);
        dJointGroupEmpty(t.group);
    }
    dContact plain = planeContact(0, 0, 0, 0.1); /* at the address of one that had a surface */
    addContact(&t, &plain, box, 0);
    dBodyAddForceAtPos(box, 0.8 * 2 * 9.81, 0, 0, 0, 0, 0);
    step(&t, 1e-3);
    assert_int_equal(t.sprag->surface_count, 0);
    assert_true(dBodyGetLinearVel(box)[0] > 1e-3 * 0.6 * 9.81);
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idsLastWhileItSlides),
        cmocka_unit_test(idsLastThroughSleep),
        cmocka_unit_test(idsLastThroughADeclinedStep),
        cmocka_unit_test(idsLastWhenBodiesChangePlaces),
        cmocka_unit_test(aRefusedStepLeavesWhatIsTold),
        cmocka_unit_test(aBodyPutElsewhereBeginsAnew),
        cmocka_unit_test(contactsTravelWithTheirBodies),
        cmocka_unit_test(aJointMadeWithinAStepHasNoPast),
        cmocka_unit_test(surfacesLiveAsLongAsTheirContacts),
        cmocka_unit_test(aForgetfulStepDependsOnTheStateAlone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
