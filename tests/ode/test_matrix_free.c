/* An island solved without W, against a dense W = J M^-1 J^T + C made here of its rows: the diagonal blocks,
 * u = W r + q, the residual that is told, and the impulses of the bodies. */
#include "linalg/vec3.h"
#include "ode/matrix/matrix_free.h"
#include "ode/rows/rows.h"
#include "ode/world/world.h"
#include "problem/residual.h"
#include "support/twin.h"
#include "support/uniform.h"

enum { BOXES = 4, BLOCKS_MOST = 4 * BOXES, SEEDS = 12, STEPS = 6 };

static const double rough = 1e-4; /* m/s: a tolerance that asks for no W */

/* Boxes in a tower that slides and turns.  Feedback keeps it from being written without blocks. */
static void makeTower(Twin *t, dJointFeedback *feedback, unsigned long long *seed)
{
    makeTwin(t, 1);
    spragConfig config = spragConfigDefault();
    config.tolerance = rough;
    assert_int_equal(spragWorldSetConfig(t->sprag, &config), SPRAG_OK);
    for (int i = 0; i < BOXES; ++i) {
        const dBodyID box = addBox(t, 0.1 * uniform(seed), 0.1 * uniform(seed), 0.2 + 0.4 * i);
        dBodySetLinearVel(box, uniform(seed), uniform(seed), 0.1 * uniform(seed));
        dBodySetAngularVel(box, 0.1 * uniform(seed), 0.1 * uniform(seed), uniform(seed));
    }
    *feedback = (dJointFeedback){0};
}

static void addTowerContacts(Twin *t, dJointFeedback *feedback)
{
    for (int i = 0; i < BOXES; ++i)
        for (int k = 0; k < 4; ++k) {
            dVector3 p;
            dBodyGetRelPointPos(t->body[i], k & 1 ? 0.4 : -0.4, k & 2 ? 0.3 : -0.3, -0.2, p);
            dContact contact = planeContact(p[0], p[1], p[2], 0.4);
            contact.geom.depth = 1e-4;
            const dJointID joint = addContact(t, &contact, t->body[i], i > 0 ? t->body[i - 1] : 0);
            if (i == 0 && k == 0)
                dJointSetFeedback(joint, feedback);
        }
}

/* Y (6) = M^-1 J^T of one row of a block on one of its bodies; 0: it is the world. */
static int respond(const spragSnapshot *s, const spragBlock *block, int side, int row, double Y[6])
{
    if (block->body[side] < 0)
        return 0;
    const spragBodyState *body = &s->body[block->body[side]];
    for (int i = 0; i < 3; ++i) {
        Y[i] = body->inverse_mass * block->J[side][row][i];
        Y[3 + i] = 0;
        for (int j = 0; j < 3; ++j)
            Y[3 + i] += body->inverse_inertia[3 * i + j] * block->J[side][row][3 + j];
    }
    return 1;
}

/* (n x n) blocks of 3 x 3 */
static void makeDense(const spragSnapshot *s, const spragIsland *island, double *W)
{
    const int n = island->block_count;
    memset(W, 0, 9 * (size_t)(n * n) * sizeof *W);
    for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l)
            for (int a = 0; a < 2; ++a)
                for (int b = 0; b < 2; ++b)
                    for (int i = 0; i < 9 && island->block[k].body[a] == island->block[l].body[b]; ++i) {
                        double Y[6];
                        for (int c = 0; c < 6 && respond(s, &island->block[l], b, i % 3, Y); ++c)
                            W[9 * (n * k + l) + i] += island->block[k].J[a][i / 3][c] * Y[c];
                    }
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < 3; ++i)
            W[9 * (n + 1) * k + 4 * i] += island->block[k].compliance[i];
}

static void checkImpulses(const spragSnapshot *s, const spragIsland *island)
{
    double largest = 0;
    for (int i = 0; i < 3 * island->block_count; ++i)
        largest = fmax(largest, fabs(island->r[i]));
    assert_true(largest > 0);
    for (int b = 0; b < island->body_count; ++b) {
        double impulse[6] = {0};
        for (int k = 0; k < island->block_count; ++k)
            for (int side = 0; side < 2; ++side)
                for (int i = 0; i < 18 && island->block[k].body[side] == island->body[b]; ++i)
                    impulse[i % 6] += island->block[k].J[side][i / 6][i % 6] * island->r[3 * k + i / 6];
        for (int i = 0; i < 6; ++i)
            CHECK_NEAR(s->body[island->body[b]].impulse[i], impulse[i], 1e-11 * largest);
    }
}

static void checkIsland(const spragSnapshot *s, const spragIsland *island)
{
    static double W[9 * BLOCKS_MOST * BLOCKS_MOST];
    int row_start[BLOCKS_MOST + 1] = {0}, column[BLOCKS_MOST * BLOCKS_MOST];
    const int n = island->block_count;
    makeDense(s, island, W);
    for (int k = 0; k < n; ++k) {
        row_start[k + 1] = n * (k + 1);
        for (int l = 0; l < n; ++l)
            column[n * k + l] = l;
    }
    const spragProblem dense = {.contact_count = n,
                                .block_count = n * n,
                                .row_start = row_start,
                                .column = column,
                                .W = W,
                                .q = island->problem.q,
                                .mu = island->problem.mu};
    for (int k = 0; k < n; ++k) {
        const spragProblem *p = &island->problem;
        const double *own = W + 9 * (n + 1) * k;
        assert_int_equal(p->row_start[k + 1] - p->row_start[k], 1); /* no other block of W was made */
        for (int i = 0; i < 9; ++i)
            CHECK_NEAR(p->W[9 * k + i], own[i], 1e-12 * (own[0] + own[4] + own[8]));
        double u[3];
        memcpy(u, p->q + 3 * k, sizeof u);
        for (int l = 0; l < n; ++l)
            spragMulAdd33(u, W + 9 * (n * k + l), island->r + 3 * l);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(island->u[3 * k + i], u[i], 1e-12);
    }
    const double residual = spragProblemResidual(&dense, island->r);
    assert_true(residual <= rough);
    CHECK_NEAR(island->solve.residual, residual, 1e-12);
    checkImpulses(s, island);
}

static void answersAreThoseOfDenseEquations(void **state)
{
    (void)state;
    int checked = 0;
    for (unsigned long long seed = 1; seed <= SEEDS; ++seed) {
        unsigned long long draw = seed;
        dJointFeedback feedback;
        Twin t;
        makeTower(&t, &feedback, &draw);
        for (int n = 0; n < STEPS; ++n) {
            addTowerContacts(&t, &feedback);
            step(&t, 0.005);
            const spragIsland *island = &t.sprag->snapshot.island[0];
            if (island->greedy == NULL) /* W was worth its price */
                continue;
            assert_int_equal(island->block_count, BLOCKS_MOST);
            checkIsland(&t.sprag->snapshot, island);
            ++checked;
        }
        freeTwin(&t);
    }
    assert_in_range(checked, SEEDS * STEPS / 2, SEEDS * STEPS);
}

/* An island whose W was made before is told of no bodies once it has none. */
static void bodiesGoWithW(void **state)
{
    (void)state;
    unsigned long long seed = 3;
    Twin t;
    dJointFeedback feedback;
    makeTower(&t, &feedback, &seed);
    addTowerContacts(&t, &feedback);
    step(&t, 0.005);
    spragIsland *island = &t.sprag->snapshot.island[0];
    island->problem.bodies = island->problem.linked = &island->bodies;
    assert_int_equal(spragMatrixFreeDiagonal(&t.sprag->snapshot, island), 1);
    assert_null(island->problem.bodies);
    assert_null(island->problem.linked);
    freeTwin(&t);
}

/* Small islands come last: however late it is, each contact is visited as often as QuickStep would. */
static void theLateAreVisitedAllTheSame(void **state)
{
    (void)state;
    enum { VISITS = 20 };
    unsigned long long seed = 3;
    Twin t;
    dJointFeedback feedback;
    makeTower(&t, &feedback, &seed);
    spragConfig config = spragConfigDefault();
    config.time_limit = 1e-9;
    config.tolerance = 1e-14;
    assert_int_equal(spragWorldSetConfig(t.sprag, &config), SPRAG_OK);
    addTowerContacts(&t, &feedback);
    assert_int_equal(spragWorldStep(t.sprag, 0.01), SPRAG_OK);
    assert_true(spragWorldGetStepInfo(t.sprag).iterations >= VISITS);
    freeTwin(&t);
}

/* At 100 steps a second gravity gives 0.0981 m/s: what is slower than 1e-5 stirs nothing, than 1e-3 moves not. */
static void restHasDegrees(void **state)
{
    (void)state;
    enum { BODIES = 300 };
    static struct spragWorld world;
    static spragBodyState body[BODIES];
    static int number[BODIES];
    spragIsland island = {.body = number, .body_count = BODIES, .contact_count = BODIES};
    world = (struct spragWorld){.config = spragConfigDefault()};
    world.snapshot.body = body;
    world.snapshot.step = 0.01;
    world.snapshot.gravity[2] = -9.81;
    for (int i = 0; i < BODIES; ++i) {
        number[i] = i;
        body[i].velocity[0] = 1; /* on a belt */
    }
    assert_int_equal(spragMatrixFreeRests(&world, &island), SPRAG_REST_FULL);
    body[100].velocity[2] = 0.9e-5;
    assert_int_equal(spragMatrixFreeRests(&world, &island), SPRAG_REST_FULL);
    body[100].velocity[2] = 1.1e-5;
    assert_int_equal(spragMatrixFreeRests(&world, &island), SPRAG_REST_SLOW);
    body[100].velocity[2] = 1.1e-3;
    assert_int_equal(spragMatrixFreeRests(&world, &island), SPRAG_REST_MOST);
    for (int i = 0; i < 30; ++i)
        body[10 * i].velocity[2] = 1;
    assert_int_equal(spragMatrixFreeRests(&world, &island), SPRAG_REST_NONE);
}

/* Under a time limit that leaves room for W, what rests is not visited, which would disturb it; what moves is, and what
 * would be late. */
static void restIsLeftAlone(void **state)
{
    (void)state;
    enum { BODIES = 100, CASES = 3 };
    static const struct {
        double speed, limit; /* m/s, s */
        int visited;
    } of[CASES] = {{0, 1, 0}, {1, 1, 1}, {0, 1e-6, 1}};
    static struct spragWorld world;
    static spragBodyState body[BODIES];
    static spragBlock block[BODIES];
    static int number[BODIES];
    static spragLane lane;
    for (int k = 0; k < CASES; ++k) {
        world = (struct spragWorld){.config = spragConfigDefault()};
        world.config.time_limit = of[k].limit;
        world.snapshot.body = body;
        world.snapshot.step = 0.01;
        world.snapshot.gravity[2] = -9.81;
        world.snapshot.active_count = BODIES;
        for (int i = 0; i < BODIES; ++i) {
            number[i] = i;
            body[i] = (spragBodyState){.inverse_mass = 1, .place = i, .velocity = {i % 2 * of[k].speed}};
            block[i] = (spragBlock){.kind = SPRAG_BLOCK_CONTACT, .part = SPRAG_PART_CONTACT, .body = {i, -1}};
        }
        spragIsland island = {.body = number, .body_count = BODIES, .contact_count = BODIES, .lane = &lane};
        island.block = block;
        island.block_count = island.block_total = BODIES;
        assert_int_equal(spragMatrixFreeChoose(&world, &island), 1);
        assert_int_equal(island.greedy != NULL, of[k].visited);
    }
    spragArenaFree(&lane.arena);
}

int main(void)
{
    dInitODE();
    const struct CMUnitTest tests[] = {cmocka_unit_test(restHasDegrees),
                                       cmocka_unit_test(answersAreThoseOfDenseEquations),
                                       cmocka_unit_test(bodiesGoWithW), cmocka_unit_test(theLateAreVisitedAllTheSame),
                                       cmocka_unit_test(restIsLeftAlone)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
