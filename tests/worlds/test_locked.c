/* Bodies whose joints leave a contact no way to move (world CFM 0): stock ODE divides by zero there.  What cannot be
 * done is not done, with forces that mean something and a residual that says so. */
#include "support/check.h"
#include "support/uniform.h"

#include "linalg/vec3.h"

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

/* ---------------------------------------------------------------- friction in joints that others hold */

enum { SEEDS = 200, STEPS = 12, ITERATIONS = 120000 };

static double between(unsigned long long *seed, double a, double b)
{
    return a + (b - a) * 0.5 * (1 + uniform(seed));
}

static dJointID makeHinge(dWorldID world, const double x[3], const double d[3], dBodyID a, dBodyID b)
{
    const dJointID hinge = dJointCreateHinge(world, 0);
    dJointAttach(hinge, a, b);
    dJointSetHingeAnchor(hinge, x[0], x[1], x[2]);
    dJointSetHingeAxis(hinge, d[0], d[1], d[2]);
    return hinge;
}

static dJointID makeUniversal(dWorldID world, const double x[3], const double d[3], const double e[3], dBodyID a)
{
    const dJointID universal = dJointCreateUniversal(world, 0);
    dJointAttach(universal, a, 0);
    dJointSetUniversalAnchor(universal, x[0], x[1], x[2]);
    dJointSetUniversalAxis1(universal, d[0], d[1], d[2]);
    dJointSetUniversalAxis2(universal, e[0], e[1], e[2]);
    return universal;
}

/* Two boxes on the floor, 1 mm in it; three hinges of any axes and a hinge or a universal joint, between them and the
 * world, leave them no motion.  Friction: mu up to 1 at a radius up to half a metre, more than joints are apart. */
static void buildHeld(Held *h, unsigned long long seed, int friction, dBodyID body[2])
{
    const double cfm[3] = {0, 1e-10, 1e-5};
    h->world = dWorldCreate();
    dWorldSetGravity(h->world, 0, 0, -9.81);
    dWorldSetCFM(h->world, cfm[seed % 3]);
    dWorldSetERP(h->world, seed & 1 ? 0.2 : 0.8);
    h->group = dJointGroupCreate(0);
    assert_int_equal(spragWorldAttach(h->world, NULL, &h->sprag), SPRAG_OK);
    for (int b = 0; b < 2; ++b) {
        dMass mass;
        body[b] = dBodyCreate(h->world);
        dMassSetBoxTotal(&mass, exp(between(&seed, -1, 5)), 1, 1, 1);
        dBodySetMass(body[b], &mass);
        dBodySetPosition(body[b], 1.5 * b, 0, 0.499);
    }
    for (int k = 0; k < 4; ++k) {
        double x[3], d[3], e[3], t[3];
        for (int i = 0; i < 3; ++i)
            x[i] = between(&seed, -0.4, 0.4), d[i] = between(&seed, -1, 1), t[i] = between(&seed, -1, 1);
        x[0] += 0.75, x[2] += 0.5;
        spragCross3(e, d, t);
        const dJointID joint = k == 3 && uniform(&seed) > 0
                                   ? makeUniversal(h->world, x, d, e, body[1])
                                   : makeHinge(h->world, x, d, body[k & 1], k == 1 ? body[0] : NULL);
        const spragJointFriction law = {.mu = between(&seed, 0, 1), .radius = between(&seed, 0.01, 0.5)};
        if (friction)
            assert_int_equal(spragJointSetFriction(h->sprag, joint, &law), SPRAG_OK);
    }
}

/* m/s, of a point of the boxes at most. */
static double fastest(const dBodyID body[2])
{
    double most = 0;
    for (int b = 0; b < 2; ++b) {
        const dReal *v = dBodyGetLinearVel(body[b]), *w = dBodyGetAngularVel(body[b]);
        most = fmax(most, hypot(hypot(v[0], v[1]), v[2]) + hypot(hypot(w[0], w[1]), w[2]));
    }
    return most;
}

static void touchFloor(const Held *h, dBodyID body)
{
    for (int k = 0; k < CORNERS; ++k) {
        dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5}};
        dVector3 p;
        dBodyGetRelPointPos(body, k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, -0.5, p);
        if (p[2] > 0)
            continue;
        contact.geom.pos[0] = p[0], contact.geom.pos[1] = p[1];
        contact.geom.normal[2] = 1;
        contact.geom.depth = -p[2];
        dJointAttach(spragJointCreateContact(h->sprag, h->group, &contact), body, 0);
    }
}

/* The fastest that its boxes become, m/s. */
static double runHeld(unsigned long long seed, int friction)
{
    Held h;
    dBodyID body[2];
    double most = 0;
    buildHeld(&h, seed, friction, body);
    for (int n = 0; n < STEPS; ++n) {
        touchFloor(&h, body[0]);
        touchFloor(&h, body[1]);
        assert_int_equal(spragWorldStep(h.sprag, 0.01), SPRAG_OK);
        const spragStepInfo info = spragWorldGetStepInfo(h.sprag);
        assert_int_equal(info.declined, 0);
        assert_true(info.iterations <= ITERATIONS); /* one had 196 000, in a minute, from starts that were NaN */
        most = fmax(most, fastest(body));
        dJointGroupEmpty(h.group);
    }
    destroy(&h);
    return most;
}

/* ERP asks for 0.8 * 1 mm / 10 ms, or for a fourth of it, and shakes what is all but held.  Torques of friction that
 * made their own loads threw these boxes at 1e8 m/s. */
static void frictionOfHeldJointsThrowsNobody(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= SEEDS; ++seed)
        assert_true(runHeld(seed, 1) <= 10 * fmax(runHeld(seed, 0), 0.08));
}

/* ---------------------------------------------------------------- guides that leave no motion */

enum { GUIDED_MOST = 3 };

typedef struct Guided {
    dWorldID world;
    spragWorldID sprag;
    dJointGroupID group;
    int bodies;
    dBodyID body[GUIDED_MOST];
    double half[GUIDED_MOST][3], mu; /* m */
} Guided;

static void drawThree(unsigned long long *state, double x[3])
{
    for (int i = 0; i < 3; ++i)
        x[i] = uniform(state);
}

/* A point of body i on a plane through it, of the world or of another body. */
static void addRandomGuide(Guided *g, int i, unsigned long long *state)
{
    spragGuideDef def = spragGuideDefDefault();
    spragGuideID guide;
    double at[3], normal[3];
    const int other = (int)(0.5 * (g->bodies + 1) * (1 + uniform(state)));
    drawThree(state, at);
    drawThree(state, normal);
    def.body = g->body[i];
    def.guide = other < g->bodies && other != i ? g->body[other] : NULL;
    for (int a = 0; a < 3; ++a) {
        def.point[a] = dBodyGetPosition(def.body)[a] + g->half[i][a] * at[a];
        def.normal[a] = normal[a] / spragNorm3(normal);
    }
    def.mu[0] = def.mu[1] = g->mu;
    assert_int_equal(spragGuideCreate(g->sprag, &def, &guide), SPRAG_OK);
}

/* One to three boxes that fall about on a floor, on two to four guides in any direction. */
static void makeGuided(Guided *g, unsigned long long seed)
{
    unsigned long long state = 977 * seed + 31;
    for (int k = 0; k < 10; ++k)
        uniform(&state);
    *g = (Guided){.world = dWorldCreate(), .group = dJointGroupCreate(0)};
    dWorldSetGravity(g->world, 0, 0, -9.81);
    dWorldSetCFM(g->world, 0);
    assert_int_equal(spragWorldAttach(g->world, NULL, &g->sprag), SPRAG_OK);
    g->bodies = 1 + (int)(1.5 * (1 + uniform(&state)));
    g->mu = 0.8 + 0.7 * uniform(&state);
    for (int i = 0; i < g->bodies; ++i) {
        dMass mass;
        double size[3], v[3], w[3];
        drawThree(&state, size);
        drawThree(&state, v);
        drawThree(&state, w);
        for (int a = 0; a < 3; ++a)
            g->half[i][a] = 0.15 + 0.1 * size[a];
        dMassSetBoxTotal(&mass, 1 + 0.8 * uniform(&state), 2 * g->half[i][0], 2 * g->half[i][1], 2 * g->half[i][2]);
        g->body[i] = dBodyCreate(g->world);
        dBodySetMass(g->body[i], &mass);
        dBodySetPosition(g->body[i], 0.4 * i, 0.1 * v[0], i == 0 ? g->half[i][2] : 0.3 + 0.1 * w[0]);
        dBodySetLinearVel(g->body[i], v[0], v[1], v[2]);
        dBodySetAngularVel(g->body[i], 2 * w[0], 2 * w[1], 2 * w[2]);
    }
    const int guides = 2 + (int)(1.5 * (1 + uniform(&state)));
    for (int k = 0; k < guides; ++k)
        addRandomGuide(g, k % g->bodies, &state);
}

static spragStepInfo stepGuided(Guided *g)
{
    for (int i = 0; i < 8 * g->bodies; ++i) {
        const double *half = g->half[i / 8];
        dVector3 p;
        dBodyGetRelPointPos(g->body[i / 8], i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1],
                            i & 4 ? half[2] : -half[2], p);
        const dContact contact = {.surface = {.mode = dContactApprox1, .mu = g->mu},
                                  .geom = {.pos = {p[0], p[1], p[2]}, .normal = {0, 0, 1}, .depth = -p[2]}};
        if (p[2] <= 0)
            dJointAttach(spragJointCreateContact(g->sprag, g->group, &contact), g->body[i / 8], 0);
    }
    assert_int_equal(spragWorldStep(g->sprag, 0.01), SPRAG_OK);
    dJointGroupEmpty(g->group);
    return spragWorldGetStepInfo(g->sprag);
}

static void freeGuided(Guided *g)
{
    spragWorldDetach(g->sprag);
    dJointGroupDestroy(g->group);
    dWorldDestroy(g->world);
}

/* 1: every island that needed a later method, and is missed all the same, has a reason. */
static int hasReasons(spragWorldID sprag)
{
    const spragEvent *events;
    for (int k = spragWorldGetEvents(sprag, &events) - 1; k >= 0; --k)
        if (events[k].type == SPRAG_EVENT_FALLBACK && events[k].reason == NULL)
            return 0;
    return 1;
}

/* What friction locks between guides stays locked from step to step, and they yield from the first of its solutions on.
 * (Three solutions in which contacts alone yield were tried in vain in every step: 49 000 iterations.) */
static void lockedGuidesYieldAtOnce(void **state)
{
    (void)state;
    static const unsigned long long seeds[2] = {35, 50};
    for (int s = 0; s < 2; ++s) {
        Guided g;
        makeGuided(&g, seeds[s]);
        for (int k = 0; k < 40; ++k) {
            const spragStepInfo info = stepGuided(&g);
            assert_true(info.residual <= 1e-8);
            assert_true(k < 20 || (info.wedged == 1 && info.iterations <= 2000));
        }
        freeGuided(&g);
    }
}

/* A wedge that closes too slowly to be called one (spragWedgeFind): what no method answers is told of with a reason. */
static void whatIsMissedHasAReason(void **state)
{
    (void)state;
    int missed = 0;
    Guided g;
    makeGuided(&g, 219);
    for (int k = 0; k < 60; ++k)
        if (stepGuided(&g).residual > 1e-8) {
            assert_true(hasReasons(g.sprag));
            ++missed;
        }
    assert_true(missed > 10);
    freeGuided(&g);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lockedGuidesYieldAtOnce),    cmocka_unit_test(whatIsMissedHasAReason),
        cmocka_unit_test(whatJointsHoldBearsNothing), cmocka_unit_test(roundsDoNotHideIt),
        cmocka_unit_test(whatIsFreeIsSolved),         cmocka_unit_test(frictionOfHeldJointsThrowsNobody)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
