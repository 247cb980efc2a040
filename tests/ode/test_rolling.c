/* Rolling friction in islands: its moments are the next step's guess, and islands without blocks know it. */
#include <pthread.h>

#include "linalg/vec3.h"
#include "ode/islands/bare.h"
#include "ode/rows/rows.h"
#include "problem/residual.h"
#include "support/twin.h"

enum { BALLS = 8 };
static const double radius = 0.1, step_size = 0.005;

static dContact rollingContact(double x, double y, double z, double depth, double mu)
{
    dContact contact = planeContact(x, y, z, mu);
    contact.surface.mode |= dContactRolling;
    contact.surface.rho = 0.02;
    contact.geom.depth = depth;
    return contact;
}

/* A plate on balls, on ground that leans so that rolling friction holds them: by a fifth of rho / R. */
typedef struct Cart {
    Twin t;
    int count;
    double mu;
    dBodyID ball[BALLS];
} Cart;

/* count: 3 or BALLS */
static void makeCart(Cart *cart, int count, double tolerance, double leans)
{
    cart->count = count;
    cart->mu = 0.8;
    makeTwin(&cart->t, 1);
    spragConfig config = spragConfigDefault();
    config.tolerance = tolerance;
    assert_int_equal(spragWorldSetConfig(cart->t.sprag, &config), SPRAG_OK);
    dWorldSetGravity(cart->t.world, 9.81 * leans, 0.3 * 9.81 * leans, -9.81);
    addBox(&cart->t, 0, 0, 2 * radius + 0.2);
    for (int k = 0; k < count; ++k) {
        const int i = count < BALLS ? 3 * k : k;
        dMass mass;
        dMassSetSphereTotal(&mass, 1, radius);
        cart->ball[k] = dBodyCreate(cart->t.world);
        dBodySetMass(cart->ball[k], &mass);
        dBodySetPosition(cart->ball[k], 0.12 * (i - 3.5), i & 1 ? 0.3 : -0.25 - 0.02 * i, radius);
    }
}

static void stepCart(Cart *cart)
{
    for (int i = 0; i < cart->count; ++i) {
        const dReal *p = dBodyGetPosition(cart->ball[i]);
        const double above = dBodyGetPosition(cart->t.body[0])[2] - 0.2;
        const dContact below = rollingContact(p[0], p[1], p[2] - radius, radius - p[2], cart->mu),
                       top = rollingContact(p[0], p[1], p[2] + radius, p[2] + radius - above, cart->mu);
        addContact(&cart->t, &below, cart->ball[i], 0);
        addContact(&cart->t, &top, cart->t.body[0], cart->ball[i]);
    }
    step(&cart->t, step_size);
}

/* At rest the moments hold the plate, and a step that begins with them has nothing to do; of 12 blocks one step of
 * Newton's method, where it was 13. */
static void momentsAreTheGuess(void **state)
{
    (void)state;
    for (int few = 0; few < 2; ++few) {
        Cart cart;
        makeCart(&cart, few ? 3 : BALLS, 1e-8, 0.04);
        for (int k = 0; k < 60; ++k)
            stepCart(&cart);
        for (int k = 0; k < 5; ++k) {
            stepCart(&cart);
            assert_true(spragWorldGetStepInfo(cart.t.sprag).iterations <= few);
        }
        CHECK_NEAR(dBodyGetLinearVel(cart.t.body[0])[0], 0, 1e-9);
        CHECK_NEAR(dBodyGetPosition(cart.t.body[0])[0], 0, 1e-3);
        freeTwin(&cart.t);
    }
}

static void *stepTwenty(void *cart)
{
    for (int k = 0; k < 20; ++k)
        stepCart(cart);
    return cart;
}

/* 128 kB are what musl gives a thread. */
static void aThreadWithASmallStackSteps(void **state)
{
    (void)state;
    for (int few = 0; few < 2; ++few) {
        Cart cart;
        pthread_t thread;
        pthread_attr_t attributes;
        makeCart(&cart, few ? 3 : BALLS, 1e-8, 0.04);
        assert_int_equal(pthread_attr_init(&attributes), 0);
        assert_int_equal(pthread_attr_setstacksize(&attributes, 128 * 1024), 0);
        assert_int_equal(pthread_create(&thread, &attributes, stepTwenty, &cart), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(pthread_attr_destroy(&attributes), 0);
        assert_true(spragWorldGetStepInfo(cart.t.sprag).residual <= 1e-8);
        freeTwin(&cart.t);
    }
}

/* Without blocks: what is told of the answer is what the judge says of the problem with blocks, and its u are the
 * velocities that the bodies then have. */
static void bareIslandsKnowIt(void **state)
{
    (void)state;
    for (int which = 0; which < 4; ++which) {
        const int leans = which % 2; /* 1: it rolls down */
        Cart cart;
        makeCart(&cart, BALLS, 1e-5, leans ? 0.4 : 0.04);
        cart.mu = which / 2 ? dInfinity : cart.mu;
        for (int k = 0; k < 30; ++k) {
            stepCart(&cart);
            struct spragWorld *world = cart.t.sprag;
            spragIsland *island = &world->snapshot.island[0];
            assert_int_equal(world->snapshot.island_count, 1);
            assert_non_null(island->bare);
            const double told = island->solve.residual;
            assert_true(told <= 1e-5);
            assert_true(spragBareProblem(world, island));
            const spragProblem *p = &island->problem;
            assert_int_equal(p->contact_count, 4 * BALLS);
            CHECK_NEAR(spragProblemResidual(p, island->r), told, 1e-12);
            double u[12 * BALLS];
            spragProblemVelocity(p, island->r, u);
            const dReal *spin = dBodyGetAngularVel(cart.ball[0]);
            for (int b = 0; b < p->contact_count; ++b)
                if (spragKindOf(p, b) == SPRAG_BLOCK_ROLLING && island->block[b].joint == 0)
                    for (int row = 0; row < 3; ++row) {
                        const double w[3] = {spin[0], spin[1], spin[2]};
                        CHECK_NEAR(u[3 * b + row], spragDot3(island->block[b].J[0][row] + 3, w), 1e-9);
                    }
        }
        const double speed = dBodyGetLinearVel(cart.t.body[0])[0];
        assert_true(leans ? speed > 0.1 : fabs(speed) < 1e-4);
        freeTwin(&cart.t);
    }
}

/* What falls into a narrow pit. */
typedef struct Pit {
    Twin t;
    dSpaceID space;
    double mu, rho; /* rho: m */
} Pit;

static void touch(void *data, dGeomID a, dGeomID b)
{
    Pit *pit = data;
    dContactGeom geom[4];
    const int moves = dGeomGetBody(a) != NULL || dGeomGetBody(b) != NULL;
    const int count = moves ? dCollide(a, b, 4, geom, sizeof *geom) : 0;
    for (int k = 0; k < count; ++k) {
        dContact contact = rollingContact(0, 0, 0, 0, pit->mu);
        contact.surface.rho = pit->rho;
        contact.surface.mode &= pit->rho > 0 ? ~0 : ~dContactRolling;
        contact.geom = geom[k];
        addContact(&pit->t, &contact, dGeomGetBody(a), dGeomGetBody(b));
    }
}

static void addToPit(Pit *pit, int k, dBodyID body)
{
    dMass mass;
    dQuaternion q;
    const int round = k % 2;
    if (round)
        dMassSetSphereTotal(&mass, 1 + k % 3, radius);
    else
        dMassSetBoxTotal(&mass, 1 + k % 3, 0.2, 0.16, 0.12);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, 0.22 * (k % 3 - 1) + 0.001 * k, 0.22 * (k / 3 % 3 - 1) - 0.0007 * k, 0.2 + 0.03 * k);
    dQFromAxisAndAngle(q, 1, 0.3 * k, -0.2, k);
    dBodySetQuaternion(body, q);
    dGeomSetBody(round ? dCreateSphere(pit->space, radius) : dCreateBox(pit->space, 0.2, 0.16, 0.12), body);
}

/* Heaps with high or infinite friction are visited, also with rolling friction: they come to rest, and nothing is
 * thrown or sinks.  (The chain took 20 to 60 ms a step, left them at 1 to 100 m/s, and with mu = 50 half of the bodies
 * went through the walls.) */
static void aHeapThatSticksRests(void **state)
{
    (void)state;
    enum { HEAP = 50, STEPS = 300 };
    static const double friction[][2] = {{dInfinity, 0.01}, {50, 0}, {50, 0.01}, {500, 0}};
    for (int f = 0; f < 4; ++f) {
        Pit pit = {.mu = friction[f][0], .rho = friction[f][1]};
        dBodyID body[HEAP];
        int islands = 0, visited = 0;
        makeTwin(&pit.t, 1);
        pit.space = dHashSpaceCreate(NULL);
        dCreatePlane(pit.space, 0.1, 0.05, 1, 0);
        for (int k = 0; k < 4; ++k)
            dCreatePlane(pit.space, k < 2 ? 1 - 2 * k : 0, k < 2 ? 0 : 5 - 2 * k, 0.2, -0.35);
        for (int k = 0; k < HEAP; ++k)
            addToPit(&pit, k, body[k] = dBodyCreate(pit.t.world));
        double fastest = 0;
        for (int k = 0; k < STEPS; ++k) {
            dSpaceCollide(pit.space, &pit, touch);
            step(&pit.t, 1.0 / 60);
            const struct spragWorld *world = pit.t.sprag;
            for (int i = 0; i < world->snapshot.island_count; ++i) {
                const spragIsland *island = &world->snapshot.island[i];
                islands += island->contact_count > 30;
                visited += island->contact_count > 30 && island->bare != NULL;
            }
            for (int b = 0; b < HEAP; ++b) {
                const dReal *v = dBodyGetLinearVel(body[b]), *p = dBodyGetPosition(body[b]);
                fastest = fmax(fastest, spragNorm3((double[3]){v[0], v[1], v[2]}));
                assert_true(fabs(p[0]) < 1.5 && fabs(p[1]) < 1.5 && p[2] > -0.2);
            }
        }
        assert_true(4 * visited > islands); /* what rests is solved with W */
        assert_true(fastest < 6);           /* they fall by 1 m */
        for (int b = 0; b < HEAP; ++b) {
            const dReal *v = dBodyGetLinearVel(body[b]);
            assert_true(spragNorm3((double[3]){v[0], v[1], v[2]}) < 0.1);
        }
        dSpaceDestroy(pit.space);
        freeTwin(&pit.t);
    }
}

/* A rod (1 m, 1 kg) out of a ball (2 cm, 50 g), on the ground by the ball alone: rolling friction without bound holds
 * it level.  (30 of the ball's own lengths let it sink by 60 degrees.) */
static void withoutBoundItHolds(void **state)
{
    (void)state;
    const double R = 0.02;
    Twin t;
    makeTwin(&t, 1);
    dWorldSetGravity(t.world, 0, 0, -9.81);
    dBodyID ball = dBodyCreate(t.world), rod = dBodyCreate(t.world);
    dMass mass;
    dMassSetSphereTotal(&mass, 0.05, R);
    dBodySetMass(ball, &mass);
    dBodySetPosition(ball, 0, 0, R);
    dMassSetBoxTotal(&mass, 1, 1, 0.05, 0.05);
    dBodySetMass(rod, &mass);
    dBodySetPosition(rod, 0.5, 0, R);
    dJointID joint = dJointCreateFixed(t.world, 0);
    dJointAttach(joint, ball, rod);
    dJointSetFixed(joint);
    for (int k = 0; k < 120; ++k) {
        const dReal *p = dBodyGetPosition(ball);
        dContact contact = rollingContact(p[0], p[1], p[2] - R, R - p[2], 0.8);
        contact.surface.rho = dInfinity;
        addContact(&t, &contact, ball, 0);
        step(&t, 1.0 / 60);
        assert_true(spragWorldGetStepInfo(t.sprag).residual <= 1e-8);
    }
    CHECK_NEAR(dBodyGetPosition(rod)[2], R, 1e-5);
    CHECK_NEAR(dBodyGetPosition(ball)[0], 0, 1e-6);
    freeTwin(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(momentsAreTheGuess),
                                       cmocka_unit_test(aThreadWithASmallStackSteps),
                                       cmocka_unit_test(bareIslandsKnowIt), cmocka_unit_test(aHeapThatSticksRests),
                                       cmocka_unit_test(withoutBoundItHolds)};
    dInitODE2(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
