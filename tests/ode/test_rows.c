/* Every property of a dContact, under Sprag: equal to stock ODE where no friction
 * cone is involved, else to the formula. */
#include "support/twin.h"

#include <float.h>

static const double step_size = 1e-3, g = 9.81;

/* Contacts of one box with the ground, all with the given surface. */
static void addSurface(Twin *t, dBodyID box, const dSurfaceParameters *surface, double push_in, int reversed)
{
    for (int i = 0; i < 4; ++i) {
        dVector3 p;
        dBodyGetRelPointPos(box, i & 1 ? 0.5 : -0.5, i & 2 ? 0.4 : -0.4, -0.2, p);
        dContact contact = planeContact(p[0], p[1], p[2], 0);
        contact.surface = *surface;
        contact.geom.depth = push_in - p[2];
        contact.fdir1[0] = 0.6;
        contact.fdir1[1] = 0.8;
        if (reversed)
            contact.geom.normal[2] = -1;
        if (contact.geom.depth >= -1e-9)
            addContact(t, &contact, reversed ? 0 : box, reversed ? box : 0);
    }
}

/* Runs both worlds with one frictionless surface; greatest difference of the bodies. */
static double compare(const dSurfaceParameters *surface, double drop, double push_in, int reversed)
{
    Twin twin[2];
    for (int k = 0; k < 2; ++k) {
        makeTwin(&twin[k], k);
        dWorldSetContactMaxCorrectingVel(twin[k].world, 0.7);
        dWorldSetContactSurfaceLayer(twin[k].world, 1e-3);
        dBodyID box = addBox(&twin[k], 0, 0, 0.2 + drop);
        dBodySetLinearVel(box, 0.2, 0.1, 0);
        for (int i = 0; i < 400; ++i) {
            addSurface(&twin[k], box, surface, push_in, reversed);
            step(&twin[k], step_size);
        }
    }
    const double difference = bodyDifference(twin[0].body[0], twin[1].body[0]);
    freeTwin(&twin[0]);
    freeTwin(&twin[1]);
    return difference;
}

static void normalRowIsAsOde(void **state)
{
    (void)state;
    const dSurfaceParameters plain = {.mode = dContactApprox1},
                             bounce = {.mode = dContactBounce, .bounce = 0.6, .bounce_vel = 0.1},
                             soft = {.mode = dContactSoftERP | dContactSoftCFM, .soft_erp = 0.3, .soft_cfm = 1e-3},
                             motion = {.mode = dContactMotionN, .motionN = 0.05};
    const dSurfaceParameters *surface[] = {&plain, &bounce, &soft, &motion};
    for (int k = 0; k < 4; ++k)
        for (int reversed = 0; reversed < 2; ++reversed) {
            assert_true(compare(surface[k], 0.05, 0, reversed) < 1e-9);
            assert_true(compare(surface[k], 0, 0.02, reversed) < 1e-9); /* deep: greatest correcting velocity */
        }
}

/* A box that slides on one surface; its velocity after some steps. */
static void slide(const dSurfaceParameters *surface, double vx, double vy, int steps, int reversed, double v[3])
{
    Twin t;
    makeTwin(&t, 1);
    dBodyID box = addBox(&t, 0, 0, 0.2);
    dBodySetLinearVel(box, vx, vy, 0);
    for (int i = 0; i < steps; ++i) {
        addSurface(&t, box, surface, 0, reversed);
        step(&t, step_size);
        assert_int_equal(spragWorldGetStepInfo(t.sprag).declined, 0);
    }
    for (int i = 0; i < 3; ++i)
        v[i] = dBodyGetLinearVel(box)[i];
    freeTwin(&t);
}

/* Four contacts hold a box by mu_static; in the step in which it is pulled off friction is mu N already, and so it is
 * told. */
static void staticFrictionEndsWithTheFirstSlip(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dBodyID box = addBox(&t, 0, 0, 0.2);
    spragSurface surface = spragSurfaceDefault();
    surface.mu_static = 0.6;
    for (int i = 0; i < 10; ++i) {
        for (int k = 0; k < 4; ++k) {
            dContact contact = planeContact(k & 1 ? 0.5 : -0.5, k & 2 ? 0.4 : -0.4, 0, 0);
            contact.surface.mu = 0.3;
            dJointAttach(spragJointCreateContactSurface(t.sprag, t.group, &contact, &surface), box, 0);
        }
        dBodyAddForceAtPos(box, (i < 5 ? 0.59 : 0.61) * 2 * g, 0, 0, 0, 0, 0);
        step(&t, step_size);
        CHECK_NEAR(dBodyGetLinearVel(box)[0], i < 5 ? 0 : 0.31 * g * step_size * (i - 4), 1e-8);
    }
    const spragContact *contact;
    assert_int_equal(spragWorldGetContacts(t.sprag, &contact), 4);
    for (int k = 0; k < 4; ++k) {
        assert_int_equal(contact[k].mode, SPRAG_MODE_SLIP);
        CHECK_NEAR(-contact[k].friction[0], 0.3 * contact[k].normal_force, 1e-8);
    }
    freeTwin(&t);
}

static void conveyorCarriesAlong(void **state)
{
    (void)state;
    /* Belt along fdir1 = (0.6, 0.8): J v = motion1 where it sticks. */
    const dSurfaceParameters belt = {
        .mode = dContactApprox1 | dContactFDir1 | dContactMotion1, .mu = 0.5, .motion1 = 0.3};
    double v[3];
    slide(&belt, 0, 0, 300, 0, v);
    CHECK_NEAR(v[0], 0.18, 1e-9);
    CHECK_NEAR(v[1], 0.24, 1e-9);
    /* While it slides the belt pulls with mu m g. */
    slide(&belt, 0, 0, 20, 0, v);
    CHECK_NEAR(sqrt(v[0] * v[0] + v[1] * v[1]), 0.5 * g * 20 * step_size, 1e-6);
}

static void slipIsProportionalToForce(void **state)
{
    (void)state;
    /* Pulled down an incline: slips with v = slip1 * force per contact. */
    const dSurfaceParameters surface = {
        .mode = dContactApprox1 | dContactFDir1 | dContactSlip1 | dContactSlip2, .mu = 5, .slip1 = 0.02, .slip2 = 0.02};
    Twin t;
    makeTwin(&t, 1);
    dWorldSetGravity(t.world, 1, 0, -g);
    dBodyID box = addBox(&t, 0, 0, 0.2);
    for (int i = 0; i < 300; ++i) {
        addSurface(&t, box, &surface, 0, 0);
        step(&t, step_size);
    }
    CHECK_NEAR(dBodyGetLinearVel(box)[0], 0.02 * 2 * 1 / 4, 1e-6);
    freeTwin(&t);
}

static void infiniteMuHolds(void **state)
{
    (void)state;
    const dSurfaceParameters surface = {.mode = dContactApprox1, .mu = dInfinity};
    Twin t;
    makeTwin(&t, 1);
    dWorldSetGravity(t.world, 20, 10, -g);
    dBodyID box = addBox(&t, 0, 0, 0.2);
    addSurface(&t, box, &surface, 0, 0);
    step(&t, step_size);
    CHECK_NEAR(dBodyGetLinearVel(box)[0], 0, 2e-2); /* it tips about its edge, it does not slide */
    dVector3 edge;
    dBodyGetRelPointVel(box, 0.5, 0, -0.2, edge);
    CHECK_NEAR(edge[0], 0, 1e-9);
    CHECK_NEAR(edge[1], 0, 1e-9);
    freeTwin(&t);
}

/* What parts is not held: an infinite coefficient is no glue.  An infinite force is, as in ODE. */
/* Programs write DBL_MAX or FLT_MAX for infinity; and what is all but 0 is 0. */
static void greatAndSmallNumbersAreTheirLimits(void **state)
{
    (void)state;
    static const double great[] = {INFINITY, DBL_MAX, 1e300, FLT_MAX}, small[] = {0, 1e-40, 1e-300, DBL_MIN};
    for (int two = 0; two < 2; ++two) {
        double held[3], along[3];
        for (int k = 0; k < 4; ++k) {
            dSurfaceParameters surface = {.mode = dContactApprox1 | (two ? dContactMu2 | dContactFDir1 : 0)};
            double v[3];
            surface.mu = (dReal)great[k], surface.mu2 = (dReal)great[(k + 1) % 4];
            slide(&surface, 1, 0.5, 5, 0, k == 0 ? held : v);
            for (int i = 0; i < 3 && k > 0; ++i)
                CHECK_NEAR(v[i], held[i], 1e-12);
            surface.mu2 = (dReal)small[k];
            slide(&surface, 0.6, 0.8, 5, 0, k == 0 ? along : v);
            for (int i = 0; i < 3 && k > 0; ++i)
                CHECK_NEAR(v[i], along[i], 1e-12);
            surface.mu = (dReal)small[k];
            slide(&surface, 1, 0.5, 5, 0, v);
            CHECK_NEAR(v[0], 1, 1e-12);
            CHECK_NEAR(v[1], 0.5, 1e-12);
        }
    }
}

static void infiniteMuLetsGo(void **state)
{
    (void)state;
    for (int glue = 0; glue < 2; ++glue) {
        const dSurfaceParameters surface = {.mode = glue ? 0 : dContactApprox1, .mu = dInfinity};
        Twin t;
        makeTwin(&t, 1);
        dBodyID box = addBox(&t, 0, 0, 0.2);
        dBodySetLinearVel(box, 1, 0, 1);
        addSurface(&t, box, &surface, 0, 0);
        step(&t, step_size);
        CHECK_NEAR(dBodyGetLinearVel(box)[0], glue ? 0.25 : 1,
                   glue ? 0.25 : 1e-9); /* glue: it turns about its corners */
        freeTwin(&t);
    }
}

/* A box between the ground, which holds it, and a wall that comes in: no motion obeys both, and none explodes. */
static void infiniteMuInConflict(void **state)
{
    (void)state;
    const dSurfaceParameters surface = {.mode = dContactApprox1, .mu = dInfinity};
    Twin t;
    makeTwin(&t, 1);
    dBodyID box = addBox(&t, 0, 0, 0.2);
    addSurface(&t, box, &surface, 0.01, 0);
    for (int i = 0; i < 4; ++i) {
        dContact wall = planeContact(0.5, i & 1 ? 0.4 : -0.4, i & 2 ? 0.3 : 0.1, 0);
        wall.surface = surface;
        wall.geom.normal[0] = -1, wall.geom.normal[2] = 0;
        wall.surface.mode |= dContactMotionN, wall.surface.motionN = 2; /* m/s, in place of an overlap's correction */
        addContact(&t, &wall, box, 0);
    }
    step(&t, step_size);
    const dReal *v = dBodyGetLinearVel(box);
    assert_true(sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) < 3); /* ERP asks for 2 m/s */
    const spragStepInfo info = spragWorldGetStepInfo(t.sprag);
    assert_true(info.residual_rigid > 0.1); /* the conflict is told of, not only the softer problem */
    assert_true(info.residual <= 1e-6);
    assert_int_equal(info.wedged, 1);
    assert_int_equal(info.fallbacks, 1);
    freeTwin(&t);
}

/* dContactApprox1 off: mu is a force, here 0.7 N at each of four corners, whatever the load. */
static void forceLimitIsADisc(void **state)
{
    (void)state;
    const dSurfaceParameters surface = {.mode = 0, .mu = 0.7};
    for (int k = 0; k < 8; ++k) {
        const double heading = 0.2 + k * 0.7853981633974483;
        double v[3];
        slide(&surface, 2 * cos(heading), 2 * sin(heading), 100, 0, v);
        CHECK_NEAR(sqrt(v[0] * v[0] + v[1] * v[1]), 2 - 4 * 0.7 / 2 * 100 * step_size, 1e-6);
    }
}

/* mu2 != mu: the friction force is on the ellipse, and it is the one that dissipates most. */
static void secondCoefficientMakesAnEllipse(void **state)
{
    (void)state;
    const double mu1 = 0.6, mu2 = 0.2;
    const dSurfaceParameters surface = {.mode = dContactApprox1 | dContactFDir1 | dContactMu2, .mu = mu1, .mu2 = mu2};
    /* Along the axes t1 = (0.6, 0.8), t2 = n x t1 = (-0.8, 0.6): the coefficient itself. */
    double v[3];
    slide(&surface, 0.6 * 2, 0.8 * 2, 100, 0, v);
    CHECK_NEAR(sqrt(v[0] * v[0] + v[1] * v[1]), 2 - mu1 * g * 100 * step_size, 1e-5);
    slide(&surface, -0.8 * 2, 0.6 * 2, 100, 0, v);
    CHECK_NEAR(sqrt(v[0] * v[0] + v[1] * v[1]), 2 - mu2 * g * 100 * step_size, 1e-5);
    /* In between: T = -N (mu1^2 e1, mu2^2 e2) / sqrt(mu1^2 e1^2 + mu2^2 e2^2). */
    slide(&surface, 2, 0, 1, 0, v);
    const double e1 = 0.6, e2 = -0.8, length = sqrt(mu1 * mu1 * e1 * e1 + mu2 * mu2 * e2 * e2);
    const double a1 = -mu1 * mu1 * e1 / length * g, a2 = -mu2 * mu2 * e2 / length * g;
    CHECK_NEAR((v[0] - 2) / step_size, 0.6 * a1 - 0.8 * a2, 2e-2);
    CHECK_NEAR(v[1] / step_size, 0.8 * a1 + 0.6 * a2, 2e-2);
}

/* mu along one axis only. */
static void oneCoefficientMayBeZero(void **state)
{
    (void)state;
    const dSurfaceParameters surface = {.mode = dContactApprox1 | dContactFDir1 | dContactMu2, .mu = 0, .mu2 = 0.3};
    double v[3];
    slide(&surface, 1.2, 1.6, 200, 0, v); /* along t1: no friction */
    CHECK_NEAR(v[0], 1.2, 1e-9);
    CHECK_NEAR(v[1], 1.6, 1e-9);
    slide(&surface, -0.8, 0.6, 100, 0, v); /* along t2 */
    CHECK_NEAR(sqrt(v[0] * v[0] + v[1] * v[1]), 1 - 0.3 * g * 100 * step_size, 1e-6);
}

/* A coefficient along t1 = (0.6, 0.8), a force along t2 = (-0.8, 0.6), or the other way round: each by itself. */
static void coefficientBesideForce(void **state)
{
    (void)state;
    for (int swapped = 0; swapped < 2; ++swapped) {
        const double mu = 0.4, force = 0.8; /* N on each contact */
        const dSurfaceParameters surface = {.mode = dContactFDir1 | dContactMu2 |
                                                    (swapped ? dContactApprox1_2 : dContactApprox1_1),
                                            .mu = swapped ? force : mu,
                                            .mu2 = swapped ? mu : force};
        double before[3], v[3];
        slide(&surface, 2, 0, 0, 0, before);
        const double fast[2] = {0.6 * 2, -0.8 * 2}; /* along t1, t2 */
        const int steps = 60;
        slide(&surface, 2, 0, steps, 0, v);
        const double time = steps * step_size, by_force = 4 * force / 2 * time, by_mu = mu * g * time;
        const double slow1 = swapped ? by_force : by_mu, slow2 = swapped ? by_mu : by_force;
        CHECK_NEAR(0.6 * v[0] + 0.8 * v[1], fast[0] - slow1, 1e-6);
        CHECK_NEAR(-0.8 * v[0] + 0.6 * v[1], fast[1] + slow2, 1e-6);
    }
}

/* Infinite along one tangent, a coefficient along the other. */
static void infiniteBesideFinite(void **state)
{
    (void)state;
    for (int swapped = 0; swapped < 2; ++swapped) {
        const dSurfaceParameters surface = {.mode = dContactFDir1 | dContactMu2 | dContactApprox1,
                                            .mu = swapped ? dInfinity : 0.3,
                                            .mu2 = swapped ? 0.3 : dInfinity};
        /* Nearly along the finite tangent: stopping the rest at once would tip the box. */
        const double free = 1.2, held = 1e-3, lost = 0.3 * g * 60 * step_size;
        double v[3];
        slide(&surface, swapped ? -0.8 * free + 0.6 * held : 0.6 * free - 0.8 * held,
              swapped ? 0.6 * free + 0.8 * held : 0.8 * free + 0.6 * held, 60, 0, v);
        const double t1 = 0.6 * v[0] + 0.8 * v[1], t2 = -0.8 * v[0] + 0.6 * v[1];
        CHECK_NEAR(swapped ? t2 : t1, free - lost, 1e-4);
        CHECK_NEAR(swapped ? t1 : t2, 0, 1e-9);
    }
}

static void reversedContactIsTheSame(void **state)
{
    (void)state;
    const dSurfaceParameters surface = {.mode = dContactApprox1, .mu = 0.3};
    double a[3], b[3];
    slide(&surface, 2, 1, 200, 0, a);
    slide(&surface, 2, 1, 200, 1, b);
    for (int i = 0; i < 3; ++i)
        CHECK_NEAR(a[i], b[i], 1e-9);
}

/* A ball that rolls on one contact for 200 steps.  v: along x; w: about y, z. */
static void roll(const dSurfaceParameters *surface, double radius, double *v, double w[2])
{
    Twin t;
    makeTwin(&t, 1);
    dMass mass;
    dMassSetSphereTotal(&mass, 3, radius);
    dBodyID ball = dBodyCreate(t.world);
    dBodySetMass(ball, &mass);
    dBodySetPosition(ball, 0, 0, radius);
    dBodySetLinearVel(ball, *v, 0, 0);
    dBodySetAngularVel(ball, 0, w[0], w[1]);
    dGeomID geom = dCreateSphere(0, radius);
    dGeomSetBody(geom, ball);
    for (int i = 0; i < 200; ++i) {
        const dReal *p = dBodyGetPosition(ball);
        dContact contact = planeContact(p[0], p[1], 0, 0);
        contact.surface = *surface;
        contact.geom.g1 = geom;
        addContact(&t, &contact, ball, 0);
        step(&t, step_size);
        assert_int_equal(spragWorldGetStepInfo(t.sprag).declined, 0);
    }
    *v = dBodyGetLinearVel(ball)[0];
    w[0] = dBodyGetAngularVel(ball)[1];
    w[1] = dBodyGetAngularVel(ball)[2];
    dGeomDestroy(geom);
    freeTwin(&t);
}

/* Rolling friction rho = 2 cm: the rolling moment is rho N, (7/5) m a R = -rho m g.  However large mu is. */
static void rollingFrictionSlowsABall(void **state)
{
    (void)state;
    for (int infinite = 0; infinite < 2; ++infinite) {
        const double radius = 0.5, rho = 0.02, speed = 1;
        const dSurfaceParameters surface = {
            .mode = dContactApprox1 | dContactRolling, .mu = infinite ? dInfinity : 0.8, .rho = rho};
        double v = speed, w[2] = {speed / radius, 0};
        roll(&surface, radius, &v, w);
        CHECK_NEAR(v, speed - rho * g / (1.4 * radius) * 200 * step_size, 1e-6);
        CHECK_NEAR(w[0] * radius, v, 1e-8); /* the solver's tolerance */
    }
}

/* Rolling in proportion to the normal force, spinning against a moment: (2/5) m R^2 dw/dt = -rhoN. */
static void rollingFrictionIsMixed(void **state)
{
    (void)state;
    const double radius = 0.5, rho = 0.02, moment = 0.05, speed = 1, spin = 3;
    const dSurfaceParameters surface = {.mode =
                                            dContactApprox1_1 | dContactApprox1_2 | dContactRolling | dContactAxisDep,
                                        .mu = 0.8,
                                        .mu2 = 0.8, /* dContactAxisDep is dContactMu2 */
                                        .rho = rho,
                                        .rho2 = rho,
                                        .rhoN = moment};
    double v = speed, w[2] = {speed / radius, spin};
    roll(&surface, radius, &v, w);
    CHECK_NEAR(v, speed - rho * g / (1.4 * radius) * 200 * step_size, 1e-6);
    CHECK_NEAR(w[1], spin - moment / (0.4 * 3 * radius * radius) * 200 * step_size, 1e-6);
}

/* As ODE's, rolling friction needs no sliding friction: (2/5) m R^2 dw/dt = -rho N about any axis. */
static void rollingFrictionWithoutSliding(void **state)
{
    (void)state;
    const double radius = 0.5, rho = 0.02, speed = 1, roll_rate = 3, spin = 4;
    const dSurfaceParameters surface = {.mode = dContactApprox1 | dContactRolling, .rho = rho};
    double v = speed, w[2] = {roll_rate, spin};
    roll(&surface, radius, &v, w);
    const double lost = rho * g / (0.4 * radius * radius) * 200 * step_size;
    CHECK_NEAR(v, speed, 1e-12);
    CHECK_NEAR(w[0], roll_rate - lost, 1e-6);
    CHECK_NEAR(w[1], spin - lost, 1e-6);
}

/* A box that slides, spins and rolls on its corners, where the shares of the corners are not unique:
 * metres or units 1024 times as small give the same numbers.  x: m, m/s, rad/s. */
static void rollOnCorners(double unit, int seed, double rho, double x[9])
{
    Twin t;
    makeTwin(&t, 1);
    spragConfig config = spragConfigDefault();
    config.tolerance *= unit;
    assert_int_equal(spragWorldSetConfig(t.sprag, &config), SPRAG_OK);
    dWorldSetGravity(t.world, 0, 0, -g * unit);
    dMass mass;
    dMassSetBoxTotal(&mass, 2, unit, 0.8 * unit, 0.4 * unit);
    dBodyID box = dBodyCreate(t.world);
    dBodySetMass(box, &mass);
    dBodySetPosition(box, 0, 0, 0.2 * unit);
    dBodySetLinearVel(box, (1 + 0.1 * seed) * unit, -0.5 * unit, 0);
    dBodySetAngularVel(box, 0, 0, 3 - seed);
    for (int i = 0; i < 20; ++i) {
        for (int k = 0; k < 4; ++k) {
            dVector3 p;
            dBodyGetRelPointPos(box, (k & 1 ? 0.5 : -0.5) * unit, (k & 2 ? 0.4 : -0.4) * unit, -0.2 * unit, p);
            dContact contact = planeContact(p[0], p[1], p[2], 0.4);
            contact.surface.mode |= dContactRolling;
            contact.surface.rho = rho * unit;
            contact.geom.depth = fmax(0, -p[2]);
            addContact(&t, &contact, box, 0);
        }
        step(&t, 0.005);
        assert_true(spragWorldGetStepInfo(t.sprag).residual <= config.tolerance);
    }
    const dReal *of[3] = {dBodyGetPosition(box), dBodyGetLinearVel(box), dBodyGetAngularVel(box)};
    for (int i = 0; i < 9; ++i)
        x[i] = of[i / 3][i % 3] / (i < 6 ? unit : 1);
    freeTwin(&t);
}

/* A slip of 1e-9 m/s is one in any units: some boxes differ by that, and by what their corners make of it. */
static void rollingFrictionHasNoUnit(void **state)
{
    (void)state;
    int same = 0;
    for (int seed = 0; seed < 8; ++seed) {
        double metres[9], small[9], off = 0;
        rollOnCorners(1, seed, 0.02 * (1 + seed), metres);
        rollOnCorners(1024, seed, 0.02 * (1 + seed), small);
        for (int i = 0; i < 9; ++i)
            off = fmax(off, fabs(small[i] - metres[i]));
        CHECK_NEAR(off, 0, 5e-4);
        same += off < 1e-9;
    }
    assert_in_range(same, 5, 8);
}

/* A body that parts from its contact while it turns and slips.  Infinite: a force (moment) holds all the same, a
 * coefficient holds nothing, along and about each tangent by itself. */
static void infiniteAlongEachAxis(void **state)
{
    (void)state;
    for (int approx = 0; approx < 8; ++approx) {
        const int bit[3] = {dContactApprox1_1, dContactApprox1_2, dContactApprox1_N};
        dSurfaceParameters surface = {.mode = dContactFDir1 | dContactRolling, .mu = dInfinity, .rho = dInfinity};
        for (int k = 0; k < 3; ++k)
            surface.mode |= approx >> k & 1 ? bit[k] : 0;
        Twin t;
        makeTwin(&t, 1);
        dWorldSetGravity(t.world, 0, 0, 0);
        dBodyID ball = addBox(&t, 0, 0, 0);
        dMass mass;
        dMassSetSphereTotal(&mass, 3, 0.5);
        dBodySetMass(ball, &mass);
        dBodySetLinearVel(ball, 1, 1, 1);
        dBodySetAngularVel(ball, 1, 1, 1);
        dContact contact = planeContact(0, 0, 0, 0); /* at its centre: no two rows meet */
        contact.surface = surface;
        contact.fdir1[0] = 1;
        addContact(&t, &contact, ball, 0);
        step(&t, step_size);
        assert_int_equal(spragWorldGetStepInfo(t.sprag).declined, 0);
        for (int k = 0; k < 3; ++k) {
            const int free = approx >> k & 1;
            CHECK_NEAR(dBodyGetLinearVel(ball)[k], k == 2 || free ? 1 : 0, 1e-8);
            CHECK_NEAR(dBodyGetAngularVel(ball)[k], free ? 1 : 0, 1e-8);
        }
        freeTwin(&t);
    }
}

/* Feedback on both bodies, and on a kinematic one: forces balance, and carry the weight. */
static void feedbackIsFilled(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dBodyID table = addBox(&t, 0, 0, -0.2), box = addBox(&t, 0, 0, 0.2);
    dBodySetKinematic(table);
    dBodySetLinearVel(table, 0.1, 0, 0);
    double weight = 0;
    for (int i = 0; i < 200; ++i) {
        dJointFeedback feedback[4];
        memset(feedback, 0xff, sizeof feedback);
        weight = 0;
        for (int c = 0; c < 4; ++c) {
            dVector3 p;
            dBodyGetRelPointPos(box, c & 1 ? 0.5 : -0.5, c & 2 ? 0.4 : -0.4, -0.2, p);
            dContact contact = planeContact(p[0], p[1], p[2], 0.5);
            contact.geom.depth = -p[2];
            dJointSetFeedback(addContact(&t, &contact, box, table), &feedback[c]);
        }
        step(&t, step_size);
        for (int c = 0; c < 4; ++c) {
            weight += feedback[c].f1[2];
            for (int k = 0; k < 3; ++k)
                CHECK_NEAR(feedback[c].f1[k] + feedback[c].f2[k], 0, 1e-12);
        }
    }
    CHECK_NEAR(weight, 2 * g, 1e-6);
    CHECK_NEAR(dBodyGetLinearVel(box)[0], 0.1, 1e-9); /* carried along */
    CHECK_NEAR(dBodyGetLinearVel(table)[0], 0.1, 0);
    freeTwin(&t);
}

/* m/s: what a step makes of a box that overlaps the ground on 4 rounds contacts, where ERP asks for `correction`. */
static double corrected(double correction, int rounds)
{
    const dSurfaceParameters plain = {.mode = dContactApprox1};
    Twin t;
    makeTwin(&t, 1);
    dBodyID box = addBox(&t, 0, 0, 0.2);
    for (int i = 0; i < rounds; ++i)
        addSurface(&t, box, &plain, correction * step_size / dWorldGetERP(t.world), 0);
    step(&t, step_size);
    const double speed = dBodyGetLinearVel(box)[2];
    freeTwin(&t);
    return speed;
}

static void manyContactsLeaveSlowCorrectionsOut(void **state)
{
    (void)state;
    const double least = 1e-3 * g * step_size;
    CHECK_NEAR(corrected(0.9 * least, 1), 0.9 * least, 1e-9);
    CHECK_NEAR(corrected(1.1 * least, 16), 1.1 * least, 1e-9);
    CHECK_NEAR(corrected(0.9 * least, 16), 0, 1e-9);
}

/* Contacts among many that only just touch sink (spragSlopLeave), but not where they rebound. */
static void reboundsOfManyContactsAreWhole(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    const dBodyID lower = addBox(&t, 0, 0, 0.2), upper = addBox(&t, 0, 0, 0.6);
    dBodySetLinearVel(lower, 0, 0, -1);
    dBodySetLinearVel(upper, 0, 0, -1);
    for (int k = 0; k < 20; ++k) {
        const double level = k < 16 ? 0 : 0.4;
        dContact contact = planeContact(k & 1 ? 0.5 : -0.5, k & 2 ? 0.4 : -0.4, level, 0);
        contact.surface.mode |= level > 0 ? 0 : dContactBounce;
        contact.surface.bounce = 0.5;
        addContact(&t, &contact, level > 0 ? upper : lower, level > 0 ? lower : 0);
    }
    step(&t, step_size);
    CHECK_NEAR(dBodyGetLinearVel(lower)[2], 0.5, 1e-9);
    freeTwin(&t);
}

/* Two boxes on each other, or one alone, slide on the ground; the velocities of the upper after some steps. */
static void slideWithNormal(const dSurfaceParameters *surface, double length, int boxes, double tolerance, int reversed,
                            double v[6])
{
    Twin t;
    makeTwin(&t, 1);
    spragConfig config = spragConfigDefault();
    config.tolerance = tolerance;
    assert_int_equal(spragWorldSetConfig(t.sprag, &config), SPRAG_OK);
    for (int k = 0; k < boxes; ++k)
        dBodySetLinearVel(addBox(&t, 0, 0, 0.199 + 0.399 * k), 0.3 * (1 + k), 0.4, 0);
    for (int i = 0; i < 40; ++i) {
        for (int k = 0; k < 4 * boxes; ++k) {
            dVector3 p;
            const dBodyID box = t.body[k / 4], under = k / 4 > 0 ? t.body[k / 4 - 1] : 0;
            dBodyGetRelPointPos(box, k & 1 ? 0.4 : -0.4, k & 2 ? 0.3 : -0.3, -0.2, p);
            dContact contact = planeContact(p[0], p[1], p[2], 0);
            contact.surface = *surface;
            contact.geom.depth = 1e-3;
            contact.geom.normal[2] = reversed ? -length : length;
            addContact(&t, &contact, reversed ? under : box, reversed ? box : under);
        }
        step(&t, step_size);
        assert_int_equal(spragWorldGetStepInfo(t.sprag).declined, 0);
        CHECK_NEAR(lastContacts(&t, 4 * boxes)[0].normal[2], 1, 1e-12);
    }
    for (int i = 0; i < 6; ++i)
        v[i] = i < 3 ? dBodyGetLinearVel(t.body[boxes - 1])[i] : dBodyGetAngularVel(t.body[boxes - 1])[i - 3];
    freeTwin(&t);
}

/* Programs that make contacts of meshes themselves do not always normalise: in islands of one body, without blocks (a
 * rough tolerance) and with them (rolling friction as a moment). */
static void onlyTheDirectionOfANormalCounts(void **state)
{
    (void)state;
    const dSurfaceParameters plain = {.mode = dContactApprox1 | dContactBounce, .mu = 0.5, .bounce = 0.1},
                             rolling = {.mode = dContactApprox1_1 | dContactApprox1_2 | dContactRolling,
                                        .mu = 0.5,
                                        .rho = 0.01};
    const struct {
        const dSurfaceParameters *surface;
        int boxes;
        double tolerance;
    } scene[] = {{&plain, 1, 1e-8}, {&plain, 3, 1e-4}, {&plain, 2, 1e-8}, {&rolling, 2, 1e-8}};
    const double length[] = {1 + 2e-4, 1 + 6e-4, 0.99, 1.01, 0.1, 3, 1e-20, 1e20};
    for (size_t k = 0; k < sizeof scene / sizeof *scene; ++k)
        for (int reversed = 0; reversed < 2; ++reversed) {
            double unit[6], v[6];
            slideWithNormal(scene[k].surface, 1, scene[k].boxes, scene[k].tolerance, reversed, unit);
            for (size_t i = 0; i < sizeof length / sizeof *length; ++i) {
                slideWithNormal(scene[k].surface, length[i], scene[k].boxes, scene[k].tolerance, reversed, v);
                for (int a = 0; a < 6; ++a)
                    CHECK_NEAR(v[a], unit[a], 1e-10);
            }
        }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalRowIsAsOde),
        cmocka_unit_test(onlyTheDirectionOfANormalCounts),
        cmocka_unit_test(staticFrictionEndsWithTheFirstSlip),
        cmocka_unit_test(conveyorCarriesAlong),
        cmocka_unit_test(slipIsProportionalToForce),
        cmocka_unit_test(infiniteMuHolds),
        cmocka_unit_test(infiniteMuLetsGo),
        cmocka_unit_test(infiniteMuInConflict),
        cmocka_unit_test(forceLimitIsADisc),
        cmocka_unit_test(secondCoefficientMakesAnEllipse),
        cmocka_unit_test(oneCoefficientMayBeZero),
        cmocka_unit_test(reversedContactIsTheSame),
        cmocka_unit_test(coefficientBesideForce),
        cmocka_unit_test(infiniteBesideFinite),
        cmocka_unit_test(rollingFrictionHasNoUnit),
        cmocka_unit_test(rollingFrictionIsMixed),
        cmocka_unit_test(rollingFrictionSlowsABall),
        cmocka_unit_test(rollingFrictionWithoutSliding),
        cmocka_unit_test(infiniteAlongEachAxis),
        cmocka_unit_test(feedbackIsFilled),
        cmocka_unit_test(manyContactsLeaveSlowCorrectionsOut),
        cmocka_unit_test(reboundsOfManyContactsAreWhole),
        cmocka_unit_test(greatAndSmallNumbersAreTheirLimits),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
