/* Joints as the solvers are told of them: Newton's equations among bodies and joints have the solution of those among
 * contacts, for chains, trees and loops, anchored or free, rigid or not, at a fraction of the price; and products by
 * what blocks reach are those with W, which is not made where a step has no time for it. */
#include "support/check.h"
#include "support/twin.h"
#include "support/uniform.h"

#include "ode/matrix/assemble.h"
#include "ode/world/world.h"
#include "problem/bodies.h"
#include "problem/reaches.h"
#include "problem/residual.h"
#include "solve/newton/existence.h"
#include "solve/newton/tangent.h"

enum { LINKS = 60, LINKS_MANY = 110, BLOCKS_MOST = 300 };
#define PLENTY 4e9 /* price of a factorisation */

typedef enum Shape { CHAIN, ANCHORED, TREE, LOOP, SHAPES, FIXED = SHAPES } Shape;

static dJointID join(Twin *t, int type, dBodyID a, dBodyID b, const dReal *at)
{
    dJointID joint = type == 0   ? dJointCreateBall(t->world, 0)
                     : type == 1 ? dJointCreateHinge(t->world, 0)
                                 : dJointCreateUniversal(t->world, 0);
    dJointAttach(joint, a, b);
    if (type == 0)
        dJointSetBallAnchor(joint, at[0], at[1], at[2]);
    else if (type == 1)
        dJointSetHingeAnchor(joint, at[0], at[1], at[2]), dJointSetHingeAxis(joint, 0, 1, 0.3);
    else
        dJointSetUniversalAnchor(joint, at[0], at[1], at[2]);
    return joint;
}

/* Bars on the floor, not quite straight, of all three joints by turns; a contact at each of their ends, and one bar
 * that nothing holds on top of the first. */
static void makeWorld(Twin *t, Shape shape, int links, double cfm)
{
    dBodyID bar[LINKS_MANY + 1];
    unsigned long long seed = 3;
    makeTwin(t, 1);
    dWorldSetCFM(t->world, cfm);
    for (int k = 0; k <= links; ++k) {
        dMass mass;
        bar[k] = dBodyCreate(t->world);
        dMassSetBox(&mass, 1000, 0.2, 0.05, 0.05);
        dBodySetMass(bar[k], &mass);
        dBodySetPosition(bar[k], k < links ? 0.2 * k : 0.03, 0.02 * uniform(&seed), k < links ? 0.025 : 0.075);
    }
    t->body[0] = bar[0];
    for (int k = shape == ANCHORED ? 0 : 1; k < links; ++k) {
        const dReal *at = dBodyGetPosition(bar[k]);
        dBodyID before = k == 0 ? NULL : bar[shape == TREE ? (k - 1) / 2 : k - 1];
        join(t, k % 3, bar[k], before, (dReal[3]){at[0] - 0.1, at[1], at[2]});
    }
    if (shape == FIXED) { /* no force moves the contacts of one bar */
        dJointID joint = dJointCreateFixed(t->world, 0);
        dJointAttach(joint, bar[links / 2], 0);
        dJointSetFixed(joint);
    }
    if (shape == LOOP)
        join(t, 0, bar[links - 1], bar[0], dBodyGetPosition(bar[links / 2]));
    for (int k = 0; k < 2 * links + 2; ++k) {
        dContact contact = planeContact(0, 0, 0, 0.5);
        dBodyGetRelPointPos(bar[k / 2], k % 2 ? 0.1 : -0.1, 0, -0.025, contact.geom.pos);
        addContact(t, &contact, bar[k / 2], k < 2 * links ? 0 : bar[0]);
    }
}

/* Of the island of the last step, with W, whether the step has made it or not. */
static const spragProblem *wholeProblem(const Twin *t)
{
    struct spragWorld *world = (struct spragWorld *)t->sprag;
    spragIsland *island = &world->snapshot.island[0];
    if (spragProblemIsLean(&island->problem))
        assert_int_equal(spragAssembleCouple(world, island), 1);
    return &island->problem;
}

/* Every third block open, the others stick. */
static void fillModes(spragTangent *t, double lambda)
{
    const spragProblem *p = t->problem;
    for (int k = 0; k < p->contact_count; ++k) {
        const double *W = p->W + 9 * spragProblemDiagonal(p, k), w = (W[0] + W[4] + W[8]) / 3;
        for (int i = 0; i < 9; ++i) {
            t->A[9 * k + i] = i % 4 == 0 && k % 3 == 0 ? w : 0;
            t->B[9 * k + i] = i % 4 == 0 && k % 3 != 0;
        }
        t->soft[k] = lambda * w;
    }
}

static double missOf(const spragTangent *t, const double *g, const double *x)
{
    const spragProblem *p = t->problem;
    double worst = 0;
    for (int k = 0; k < p->contact_count; ++k)
        for (int i = 0; i < 3; ++i) {
            double u = t->soft[k] * x[3 * k + i];
            for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
                for (int j = 0; j < 3; ++j)
                    u += p->W[9 * e + 3 * i + j] * x[3 * p->column[e] + j];
            worst = fmax(worst, fabs(g[3 * k + i] - t->A[9 * k + 4 * i] * x[3 * k + i] - t->B[9 * k + 4 * i] * u));
        }
    return worst;
}

static void checkSpaces(const spragProblem *p, double lambda)
{
    static double g[3 * BLOCKS_MOST], x[3 * BLOCKS_MOST], y[3 * BLOCKS_MOST];
    const int n = 3 * p->contact_count;
    unsigned long long seed = 11;
    spragArena arena = {0};
    spragTangent contacts, bodies;
    assert_int_equal(spragTangentInit(&contacts, p, NULL, SPRAG_TANGENT_CONTACTS, PLENTY, &arena), 1);
    assert_int_equal(spragTangentInit(&bodies, p, NULL, SPRAG_TANGENT_CHEAPER, PLENTY, &arena), 1);
    assert_null(contacts.bodies);
    assert_ptr_equal(bodies.bodies, p->linked);
    assert_true(bodies.price < 0.1 * contacts.price);
    fillModes(&contacts, lambda), fillModes(&bodies, lambda);
    for (int i = 0; i < n; ++i)
        x[i] = y[i] = g[i] = uniform(&seed);
    assert_int_equal(spragTangentFactor(&contacts), 1);
    assert_int_equal(spragTangentFactor(&bodies), 1);
    spragTangentSolve(&contacts, x);
    spragTangentSolve(&bodies, y);
    assert_int_equal(bodies.refused, 0);
    double size = 0; /* refinement by reaches rounds with the bodies' own mobility, of which joints leave a part */
    for (int i = 0; i < n; ++i)
        size = fmax(size, fabs(y[i]));
    assert_true(missOf(&bodies, g, y) <= fmax(2 * missOf(&contacts, g, x), fmax(1e-11, 1e-14 * size)));
    spragArenaFree(&arena);
}

static void equationsAgree(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; ++shape)
        for (int soft = 0; soft < 2; ++soft) {
            Twin t;
            makeWorld(&t, (Shape)shape, LINKS, soft ? 1e-5 : 0);
            step(&t, 1e-3);
            const spragProblem *p = wholeProblem(&t);
            assert_in_range(p->contact_count, 2 * LINKS, BLOCKS_MOST);
            assert_null(p->bodies); /* W is more than the bodies' alone */
            assert_non_null(p->linked);
            checkSpaces(p, 1e-2);
            checkSpaces(p, 1e-6);
            freeTwin(&t);
        }
}

/* W x, of all that is stored. */
static void multiply(const spragProblem *p, const double *x, double *u)
{
    for (int k = 0; k < p->contact_count; ++k) {
        u[3 * k] = u[3 * k + 1] = u[3 * k + 2] = 0;
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
            spragMulAdd33(u + 3 * k, p->W + 9 * (size_t)e, x + 3 * p->column[e]);
    }
}

static void productsAgree(void **state)
{
    (void)state;
    static double x[3 * BLOCKS_MOST], u[3 * BLOCKS_MOST], by_W[3 * BLOCKS_MOST];
    unsigned long long seed = 5;
    int locked = 0;
    for (int shape = 0; shape <= FIXED; ++shape)
        for (int soft = 0; soft < 2; ++soft) {
            Twin t;
            makeWorld(&t, (Shape)shape, LINKS, soft ? 1e-5 : 0);
            step(&t, 1e-3);
            const spragProblem *p = wholeProblem(&t);
            const spragReaches *reaches = spragReachesOf(p);
            assert_non_null(reaches);
            assert_true(2 * reaches->price < p->block_count);
            assert_false(spragProblemIsLean(p));
            for (int i = 0; i < 3 * p->contact_count; ++i)
                x[i] = uniform(&seed);
            spragReachesProduct(p, x, u);
            multiply(p, x, by_W);
            for (int i = 0; i < 3 * p->contact_count; ++i) {
                CHECK_NEAR(u[i], by_W[i], 1e-12);
                locked += reaches->locked[i / 3] >> i % 3 & 1;
            }
            freeTwin(&t);
        }
    assert_true(locked > 0);
}

/* A slab on the floor with bars upon it, four contacts each: all of them meet on the slab.  They fall at 1 m/s.
 * jammed: there is a ceiling 1 cm inside of the slab. */
static void makeTray(Twin *t, int bars, int jammed)
{
    dBodyID slab = NULL;
    makeTwin(t, 1);
    for (int k = 0; k <= bars; ++k) {
        dMass mass;
        const dBodyID body = dBodyCreate(t->world);
        dMassSetBox(&mass, 1000, k == 0 ? 0.2 * bars : 0.1, 0.1, 0.1);
        dBodySetMass(body, &mass);
        dBodySetPosition(body, 0.2 * k, 0.01 * (k % 3), k == 0 ? 0.05 : 0.15);
        dBodySetLinearVel(body, 0.1 * (k % 5), 0, -1);
        slab = k == 0 ? body : slab;
        for (int i = 0; i < 4; ++i) {
            dContact contact = planeContact(0, 0, 0, 0.5);
            dBodyGetRelPointPos(body, i % 2 ? 0.05 : -0.05, i / 2 ? 0.05 : -0.05, -0.05, contact.geom.pos);
            addContact(t, &contact, body, k == 0 ? 0 : slab);
        }
    }
    if (jammed) {
        dContact contact = planeContact(0, 0, 0.1, 0.5);
        contact.geom.normal[2] = -1, contact.geom.depth = 0.01;
        addContact(t, &contact, slab, 0);
    }
}

/* Where one body touches all others W is as dense as joints make it, and products go without it, too. */
static void productsAgreeOnATray(void **state)
{
    (void)state;
    enum { BARS = 50, CONTACTS = 4 * BARS + 4 };
    static double x[3 * CONTACTS], u[3 * CONTACTS], by_W[3 * CONTACTS];
    unsigned long long seed = 5;
    Twin t;
    makeTray(&t, BARS, 0);
    step(&t, 1e-3);
    const spragProblem *p = wholeProblem(&t);
    assert_int_equal(p->contact_count, CONTACTS);
    assert_null(p->linked);
    assert_non_null(spragReachesOf(p));
    for (int i = 0; i < 3 * CONTACTS; ++i)
        x[i] = uniform(&seed);
    spragReachesProduct(p, x, u);
    multiply(p, x, by_W);
    for (int i = 0; i < 3 * CONTACTS; ++i)
        CHECK_NEAR(u[i], by_W[i], 1e-12);
    freeTwin(&t);
}

/* Is there a solution?  The same verdict with the bodies and without, in a tenth of the memory: without them its
 * equations are dense. */
static void checkExistence(int jammed)
{
    enum { BARS = 50 };
    const spragExistenceAsk ask = {.variants = 1, .closing = INFINITY};
    spragArena arena[2] = {{0}};
    spragExistence found[2];
    Twin t;
    makeTray(&t, BARS, jammed);
    step(&t, 1e-3);
    spragProblem p = *wholeProblem(&t);
    for (int alone = 0; alone < 2; ++alone) {
        p.bodies = alone ? NULL : p.bodies;
        assert_int_equal(spragExistenceFind(&p, &ask, &arena[alone], NULL, &found[alone]), SPRAG_OK);
        assert_int_equal(found[alone].assured, !jammed);
    }
    CHECK_NEAR(found[0].margin / found[1].margin, 1, 1e-3);
    assert_true(10 * arena[0].high_water < arena[1].high_water);
    spragArenaFree(&arena[0]);
    spragArenaFree(&arena[1]);
    freeTwin(&t);
}

static void existenceIsAskedAmongBodies(void **state)
{
    (void)state;
    checkExistence(0);
    checkExistence(1);
}

/* The island of a step, solved without W: its residual is that of the problem with it. */
static void checkLean(Twin *t)
{
    static double r[3 * BLOCKS_MOST];
    struct spragWorld *world = (struct spragWorld *)t->sprag;
    spragIsland *island = &world->snapshot.island[0];
    const int n = island->block_count;
    assert_true(spragProblemIsLean(&island->problem));
    assert_int_equal(island->problem.block_count, n);
    memcpy(r, island->r, 3 * (size_t)n * sizeof *r);
    assert_int_equal(spragAssembleCouple(world, island), 1);
    assert_false(spragProblemIsLean(&island->problem));
    assert_true(island->problem.block_count > n * n / 2);
    CHECK_NEAR(island->solve.residual, spragProblemResidual(&island->problem, r), 1e-11);
}

static void limitGoesWithoutW(void **state)
{
    (void)state;
    for (int shape = 0; shape < FIXED; ++shape) {
        Twin t;
        makeWorld(&t, (Shape)shape, LINKS, 0);
        spragConfig config = spragConfigDefault();
        config.time_limit = 1e-3;
        assert_int_equal(spragWorldSetConfig(t.sprag, &config), SPRAG_OK);
        step(&t, 1e-3);
        checkLean(&t);
        freeTwin(&t);
    }
}

static void largeMechanismsGoWithoutW(void **state)
{
    (void)state;
    for (int shape = 0; shape < FIXED; ++shape) {
        Twin t;
        makeWorld(&t, (Shape)shape, LINKS_MANY, 0);
        step(&t, 1e-3);
        assert_true(spragWorldGetStepInfo(t.sprag).residual <= 1e-8);
        checkLean(&t);
        freeTwin(&t);
    }
}

/* Between a floor and a ceiling that both push no method ends: those that read W are asked as well, and the wedge. */
static void wIsMadeAfterAll(void **state)
{
    (void)state;
    Twin t;
    makeWorld(&t, CHAIN, LINKS_MANY, 0);
    const dBodyID bar = t.body[0];
    for (int side = -1; side <= 1; side += 2) {
        const dReal *at = dBodyGetPosition(bar);
        dContact contact = planeContact(at[0], at[1], at[2] + 0.025 * side, 0.5);
        contact.geom.normal[2] = -side;
        contact.geom.depth = 0.01;
        addContact(&t, &contact, bar, 0);
    }
    step(&t, 1e-3);
    const spragIsland *island = &((const struct spragWorld *)t.sprag)->snapshot.island[0];
    assert_true(island->wedge.speed > 0 && island->wedge.rigid > 1e-6);
    assert_false(spragProblemIsLean(&island->problem));
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equationsAgree),       cmocka_unit_test(productsAgree),
        cmocka_unit_test(productsAgreeOnATray), cmocka_unit_test(existenceIsAskedAmongBodies),
        cmocka_unit_test(limitGoesWithoutW),    cmocka_unit_test(largeMechanismsGoWithoutW),
        cmocka_unit_test(wIsMadeAfterAll)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
