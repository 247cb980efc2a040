/* W as the solvers are told of it: J M^-1 J^T of the island's bodies, but for compliance on its diagonal; and what
 * rests on such a solution does not creep.  Where joints hold bricks at rest, or many things lie on one, W is not
 * made. */
#include "support/check.h"
#include "support/scene_world.h"
#include "support/twin.h"

#include "ode/matrix/assemble.h"
#include "ode/world/world.h"
#include "problem/bodies.h"
#include "problem/residual.h"
#include "solve/newton/tangent.h"
#include "solve/solver.h"

static const spragIsland *largest(const SceneWorld *world)
{
    const spragSnapshot *s = &((const struct spragWorld *)world->sprag)->snapshot;
    const spragIsland *found = &s->island[0];
    for (int i = 1; i < s->island_count; ++i)
        found = s->island[i].block_count > found->block_count ? &s->island[i] : found;
    return found;
}

/* J_k M^-1 J_l^T (3x3) */
static void product(const spragBodies *bodies, int k, int l, double out[9])
{
    memset(out, 0, 9 * sizeof *out);
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) {
            const int body = bodies->of[2 * k + a];
            if (body < 0 || body != bodies->of[2 * l + b])
                continue;
            const spragMass *mass = &bodies->mass[body];
            const double *J = bodies->J + (size_t)k * bodies->stride + 18 * a,
                         *K = bodies->J + (size_t)l * bodies->stride + 18 * b;
            for (int i = 0; i < 9; ++i)
                for (int x = 0; x < 3; ++x) {
                    out[i] += mass->inverse_mass * J[6 * (i / 3) + x] * K[6 * (i % 3) + x];
                    for (int y = 0; y < 3; ++y)
                        out[i] += J[6 * (i / 3) + 3 + x] * mass->inverse_inertia[3 * x + y] * K[6 * (i % 3) + 3 + y];
                }
        }
}

static void bodiesMakeW(void **state)
{
    (void)state;
    static const char *const name[] = {"pyramid", "wall"};
    for (int scene = 0; scene < 2; ++scene) {
        SceneWorld *world = openScene(name[scene], NULL, SCENE_SPRAG);
        advance(world, 1e-3, 1); /* later ones begin with their answer, and form no W */
        const spragProblem *p = &largest(world)->problem;
        const spragBodies *bodies = p->bodies;
        assert_non_null(bodies);
        assert_true(bodies->count == world->body_count || scene > 0);
        for (int k = 0; k < p->contact_count; ++k)
            for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
                double own[9];
                product(bodies, k, p->column[e], own);
                const double *diagonal = p->W + 9 * spragProblemDiagonal(p, k);
                for (int i = 0; i < 9; ++i) /* the world's CFM is on the normal row */
                    CHECK_NEAR(p->W[9 * e + i], own[i],
                               (p->column[e] == k && i == 0 ? 1e-5 : 1e-12) * (diagonal[0] + diagonal[4]));
            }
        for (int i = 0; i < bodies->count; ++i)
            for (int a = 0; a < 9; ++a) {
                double unit = 0;
                for (int c = 0; c < 3; ++c)
                    unit += bodies->mass[i].inertia[3 * (a / 3) + c] * bodies->mass[i].inverse_inertia[3 * c + a % 3];
                CHECK_NEAR(unit, a % 4 == 0, 1e-12);
            }
        SceneDestroy(world);
    }
}

/* Contacts of a small mechanism are as cheap among themselves. */
static void smallMechanismsAreNotTold(void **state)
{
    (void)state;
    SceneWorld *world = openScene("quadruped", NULL, SCENE_SPRAG);
    advance(world, 1e-3, 600);
    assert_true(largest(world)->row_count > 0);
    assert_null(largest(world)->problem.bodies);
    assert_null(largest(world)->problem.linked);
    SceneDestroy(world);
}

static void restDoesNotCreep(void **state)
{
    (void)state;
    SceneWorld *world = openWith("stack", "count=20");
    spragConfig config;
    spragWorldGetConfig(world->sprag, &config);
    config.solver = SPRAG_SOLVER_NEWTON;
    config.tolerance = 1e-12; /* a guess within it would be the answer, and creep may come with what ODE rounds */
    assert_int_equal(spragWorldSetConfig(world->sprag, &config), SPRAG_OK);
    advance(world, 1e-3, 200);
    const spragIsland *island = largest(world);
    spragArena arena = {0};
    spragTangent tangent;
    assert_int_equal(spragTangentInit(&tangent, &island->problem, NULL, SPRAG_TANGENT_CHEAPER, INFINITY, &arena), 1);
    assert_non_null(tangent.bodies); /* the solution was found in their space */
    spragArenaFree(&arena);
    const spragProblem *p = &island->problem;
    const int count = p->contact_count;
    int held = 0;
    for (int k = 0; k < count; ++k) {
        const double *r = island->r + 3 * k, *u = island->u + 3 * k;
        if (r[0] > 0 && hypot(r[1], r[2]) < p->mu[k] * r[0] * (1 - 1e-6)) {
            ++held;
            CHECK_NEAR(hypot(u[1], u[2]), 0, 1e-14);
        }
    }
    assert_true(held > count / 2);
    SceneDestroy(world);
}

enum { BRICKS = 24, ROWS = 4, BRICKS_OF_ROW = BRICKS / ROWS };

/* Bricks above each other, each held by fixed joints to the one beside it and the one below. */
static void makeBricks(Twin *t, dBodyID brick[BRICKS])
{
    makeTwin(t, 1);
    for (int k = 0; k < BRICKS; ++k) {
        const int place = k % BRICKS_OF_ROW, row = k / BRICKS_OF_ROW;
        dMass mass;
        dMassSetBox(&mass, 1500, 0.5, 0.25, 0.3);
        brick[k] = dBodyCreate(t->world);
        dBodySetMass(brick[k], &mass);
        dBodySetPosition(brick[k], 0.5 * place, 0, 0.15 + 0.3 * row);
        for (int below = 0; below < 2; ++below) {
            if (below ? row == 0 : place == 0)
                continue;
            dJointID joint = dJointCreateFixed(t->world, 0);
            dJointAttach(joint, brick[k], brick[k - (below ? BRICKS_OF_ROW : 1)]);
            dJointSetFixed(joint);
        }
    }
}

static void addFeet(Twin *t, dBodyID body, const double half[3], dBodyID below, double mu)
{
    for (int corner = 0; corner < 4; ++corner) {
        dContact contact = planeContact(0, 0, 0, mu);
        dBodyGetRelPointPos(body, corner & 1 ? half[0] : -half[0], corner & 2 ? half[1] : -half[1], -half[2],
                            contact.geom.pos);
        addContact(t, &contact, body, below);
    }
}

static void addBricks(Twin *t, const dBodyID brick[BRICKS])
{
    const double half[3] = {0.25, 0.125, 0.15};
    for (int k = 0; k < BRICKS; ++k)
        addFeet(t, brick[k], half, k < BRICKS_OF_ROW ? 0 : brick[k - BRICKS_OF_ROW], 0.6);
}

/* Of an island that joints hold together W is not made once it rests: its guess is judged without. */
static void bricksAtRestHaveNoW(void **state)
{
    (void)state;
    enum { STEPS = 150, RESTS = 100 };
    Twin t;
    dBodyID brick[BRICKS];
    makeBricks(&t, brick);
    for (int step = 0; step < STEPS; ++step) {
        addBricks(&t, brick);
        if (step == RESTS / 2) /* a push, for which W is made */
            dBodyAddForce(brick[BRICKS - 1], 3000, 1500, 0);
        assert_int_equal(spragWorldStep(t.sprag, 1.0 / 60), SPRAG_OK);
        dJointGroupEmpty(t.group);
        const spragIsland *island = &((const struct spragWorld *)t.sprag)->snapshot.island[0];
        assert_int_equal(island->problem.contact_count, 4 * BRICKS);
        if (step == RESTS / 2)
            assert_true(island->problem.block_count > 4 * BRICKS);
        if (step < RESTS)
            continue;
        assert_int_equal(island->problem.block_count, 4 * BRICKS); /* the diagonal */
        assert_true(spragProblemResidual(&island->problem, island->r) <= spragConfigDefault().tolerance);
    }
    freeTwin(&t);
}

/* Two boxes in a hinge lie on such a wall, and what its motor is taken to hold lets go: then W is made for an island
 * that waited, whose other mechanism is as it was. */
static void motorsLetGoOnBricks(void **state)
{
    (void)state;
    enum { STEPS = 60, EVERY = 10 };
    const double half[3] = {0.1, 0.1, 0.1}, top = 0.3 * ROWS + half[2];
    Twin t;
    dBodyID brick[BRICKS], box[2];
    makeBricks(&t, brick);
    for (int i = 0; i < 2; ++i) {
        dMass mass;
        dMassSetBox(&mass, 1500, 0.2, 0.2, 0.2);
        box[i] = dBodyCreate(t.world);
        dBodySetMass(box[i], &mass);
        dBodySetPosition(box[i], 1 + 0.5 * i, 0, top);
    }
    dJointID hinge = dJointCreateHinge(t.world, 0);
    dJointAttach(hinge, box[0], box[1]);
    dJointSetHingeAnchor(hinge, 1.25, 0, top);
    dJointSetHingeAxis(hinge, 0, 1, 0);
    dJointSetHingeParam(hinge, dParamFMax, 5);
    int waited = 0;
    for (int step = 0; step < STEPS; ++step) {
        addBricks(&t, brick);
        for (int i = 0; i < 2; ++i)
            addFeet(&t, box[i], half, brick[BRICKS - BRICKS_OF_ROW + 2 + i], 0.6);
        dJointSetHingeParam(hinge, dParamVel, step % EVERY == EVERY - 1 ? 20 : 0);
        assert_int_equal(spragWorldStep(t.sprag, 1.0 / 60), SPRAG_OK);
        dJointGroupEmpty(t.group);
        const spragIsland *island = &((const struct spragWorld *)t.sprag)->snapshot.island[0];
        assert_true(spragProblemResidual(&island->problem, island->r) <= spragConfigDefault().tolerance);
        waited += island->matrix.waits == SPRAG_WAITS_FOR_GUESS;
    }
    assert_true(waited > 0);
    freeTwin(&t);
}

/* Boxes on one board, which lies on the ground: W is dense, though each contact has two bodies. */
enum { MEN = 25, MEN_OF_ROW = 5 };

static void makeBoard(Twin *t, dBodyID *board, dBodyID man[MEN])
{
    dMass mass;
    makeTwin(t, 1);
    *board = dBodyCreate(t->world);
    dMassSetBox(&mass, 700, 1, 1, 0.04);
    dBodySetMass(*board, &mass);
    dBodySetPosition(*board, 0, 0, 0.02);
    for (int k = 0; k < MEN; ++k) {
        man[k] = dBodyCreate(t->world);
        dMassSetBox(&mass, 900, 0.06, 0.06, 0.1);
        dBodySetMass(man[k], &mass);
        dBodySetPosition(man[k], 0.2 * (k % MEN_OF_ROW - 2), 0.2 * (k / MEN_OF_ROW - 2), 0.09);
    }
}

static const spragIsland *stepBoard(Twin *t, dBodyID board, const dBodyID man[MEN], double mu, double squeeze)
{
    const double flat[3] = {0.5, 0.5, 0.02}, half[3] = {0.03, 0.03, 0.05};
    addFeet(t, board, flat, 0, mu);
    for (int k = 0; k < MEN; ++k)
        addFeet(t, man[k], half, board, mu);
    for (int side = -1; side <= 1 && squeeze > 0; side += 2) {
        dContact contact = planeContact(0, 0, 0, 0.6);
        dBodyGetRelPointPos(man[0], 0.03 * side, 0, 0, contact.geom.pos);
        contact.geom.depth = squeeze, contact.geom.normal[0] = -side, contact.geom.normal[2] = 0;
        addContact(t, &contact, man[0], 0);
    }
    assert_int_equal(spragWorldStep(t->sprag, 1.0 / 60), SPRAG_OK);
    dJointGroupEmpty(t->group);
    return &((const struct spragWorld *)t->sprag)->snapshot.island[0];
}

static void checkHasW(const spragIsland *island)
{
    assert_int_equal(island->matrix.waits, SPRAG_WAITS_NOT);
    assert_true(island->problem.block_count > 25 * island->problem.contact_count);
}

static void menOnABoardHaveNoW(void **state)
{
    (void)state;
    enum { STEPS = 40, EVERY = 4 };
    Twin t;
    dBodyID board, man[MEN];
    makeBoard(&t, &board, man);
    int moved = 0;
    for (int step = 0; step < STEPS; ++step) {
        if (step % EVERY == 0) /* a jolt */
            dBodyAddForce(board, step % (2 * EVERY) ? 1500 : -1500, 700, 0);
        spragIsland island = *stepBoard(&t, board, man, 0.6, 0);
        const double tolerance = spragConfigDefault().tolerance;
        assert_int_equal(island.problem.contact_count, 4 * (MEN + 1));
        assert_true(island.solve.residual <= tolerance);
        if (island.greedy != NULL || island.bare != NULL) /* visited, or at rest */
            continue;
        assert_int_equal(island.matrix.waits, SPRAG_WAITS_FOR_TRY);
        assert_int_equal(island.problem.block_count, island.problem.contact_count); /* the diagonal */
        const spragSolveOptions options = {.solver = SPRAG_SOLVER_AUTO, .tolerance = tolerance, .work_limit = 1e7};
        assert_int_equal(spragDisturbedSuits(&island.problem, &options), 0); /* neighbours are known by W alone */
        const double without = spragProblemResidual(&island.problem, island.r);
        assert_int_equal(spragAssembleCouple(t.sprag, &island), 1);
        checkHasW(&island);
        CHECK_NEAR(spragProblemResidual(&island.problem, island.r), without, 1e-12);
        ++moved;
    }
    assert_true(moved >= STEPS / EVERY);
    freeTwin(&t);
}

/* What no method without W solves gets its W. */
static void squeezedMenHaveW(void **state)
{
    (void)state;
    Twin t;
    dBodyID board, man[MEN];
    makeBoard(&t, &board, man);
    for (int step = 0; step < 4; ++step)
        stepBoard(&t, board, man, 0.6, 0);
    for (int step = 0; step < 2; ++step) {
        dBodyAddForce(board, 1500, 700, 0);
        const spragIsland *island = stepBoard(&t, board, man, 0.6, 1e-3);
        assert_true(island->wedge.speed > 0);
        checkHasW(island);
    }
    freeTwin(&t);
}

/* Where friction is infinite W is made at once: without it men that stick were left in conflict, and yielded. */
static void stickingMenHaveW(void **state)
{
    (void)state;
    Twin t;
    dBodyID board, man[MEN];
    makeBoard(&t, &board, man);
    for (int step = 0; step < 10; ++step) {
        dBodyAddForce(board, step % 2 ? 1500 : -1500, 700, 0);
        const spragIsland *island = stepBoard(&t, board, man, dInfinity, 0);
        if (island->greedy == NULL && island->bare == NULL)
            checkHasW(island);
    }
    freeTwin(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodiesMakeW),         cmocka_unit_test(smallMechanismsAreNotTold),
        cmocka_unit_test(restDoesNotCreep),    cmocka_unit_test(bricksAtRestHaveNoW),
        cmocka_unit_test(motorsLetGoOnBricks), cmocka_unit_test(menOnABoardHaveNoW),
        cmocka_unit_test(squeezedMenHaveW),    cmocka_unit_test(stickingMenHaveW)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
