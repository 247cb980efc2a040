/* Problems of contacts, force limits, boxes and rolling friction as problems of second-order cones. */
#include "support/interior.h"

#include "problem/residual.h"
#include "solve/newton/cones.h"
#include "solve/newton/interior.h"
#include "solve/newton/path.h"

/* Contacts in every other block, the last two rolling on the first; bounds on two sides, on one, and none at all. */
static void mixedProblem(Random *random, unsigned long long seed)
{
    static const unsigned char kind[4] = {SPRAG_BLOCK_CONTACT, SPRAG_BLOCK_BOX, SPRAG_BLOCK_CONTACT,
                                          SPRAG_BLOCK_FORCE_LIMIT};
    randomProblem(random, seed, 0.7, N + 6);
    for (int k = 0; k < NC; ++k) {
        random->kind[k] = k < NC - 2 ? kind[k % 4] : SPRAG_BLOCK_ROLLING;
        random->parent[k] = random->kind[k] == SPRAG_BLOCK_ROLLING ? 2 * (k - NC + 2) : -1;
        if (random->kind[k] == SPRAG_BLOCK_FORCE_LIMIT)
            random->mu[k] = 0.01 * (k % 3);
    }
    random->bound[6 * 1 + 0] = -INFINITY, random->bound[6 * 1 + 3] = 0.01;
    random->bound[6 * 5 + 2] = random->bound[6 * 5 + 5] = 0.02;
}

static spragProblem *problemOf(Random *random)
{
    return &random->problem;
}

static void theConesAreTheProblem(void **state)
{
    (void)state;
    static Random random;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        mixedProblem(&random, seed);
        const spragProblem *asked = problemOf(&random);
        spragArena arena = {0};
        spragCones cones;
        assert_true(spragConesApply(asked));
        assert_true(spragConesInit(&cones, asked, &arena));
        assert_true(cones.problem != asked);
        const int n = 3 * cones.problem->contact_count;
        assert_true(n <= 9 * NC);
        double r[N], back[N], u[N], y[9 * NC], v[9 * NC];
        for (int i = 0; i < N; ++i)
            r[i] = 0.1 * uniform(&seed);
        r[3 * 5 + 2] = 0.02; /* the row that is fixed */
        for (int k = 0; k < NC; ++k) {
            if (random.kind[k] == SPRAG_BLOCK_FORCE_LIMIT && random.mu[k] == 0)
                r[3 * k + 1] = r[3 * k + 2] = 0;
        }
        spragConesFrom(&cones, r, y);
        spragConesTo(&cones, y, back);
        spragProblemVelocity(asked, r, u);
        spragProblemVelocity(cones.problem, y, v);
        for (int i = 0; i < N; ++i)
            CHECK_NEAR(back[i], r[i], 1e-15);
        for (int i = 0; i < n; ++i)
            if (cones.source[i] >= 0)
                CHECK_NEAR(v[i], cones.sign[i] * u[cones.source[i]], 1e-12);
        CHECK_NEAR(spragConesResidual(&cones, y, v), spragProblemResidual(asked, r), 1e-12);
        spragArenaFree(&arena);
    }
}

/* How many of `count` random problems a method solves from r = 0. */
static int solvedOf(int count, double tolerance, int with_path)
{
    static Random random;
    int solved = 0;
    for (int k = 0; k < count; ++k) {
        mixedProblem(&random, 1000 + (unsigned long long)k);
        const spragProblem *asked = problemOf(&random);
        static InteriorSetup setup;
        interiorSetup(&setup, asked, 3);
        if (with_path)
            spragPathGo(spragPathBegin(&setup.cones, 1, setup.r, &setup.arena), &(spragStop){tolerance, 0, 2000},
                        &setup.tangent, setup.r);
        else
            spragInteriorSolve(&setup.cones, &(spragStop){tolerance, 0, 1000}, &setup.tangent, &setup.arena, setup.r);
        solved += spragProblemResidual(asked, setup.r) <= tolerance;
        spragArenaFree(&setup.arena);
    }
    return solved;
}

static void interiorMethodsSolveThem(void **state)
{
    (void)state;
    /* the interior iteration ends at rounding, which small forces meet early; Newton goes on from there */
    assert_true(solvedOf(60, 1e-6, 0) >= 57);
    assert_true(solvedOf(60, 1e-9, 1) >= 52);
}

/* Two-sided contacts, and rows that hold without any bound, are no cones. */
static void whatHasNoCone(void **state)
{
    (void)state;
    static Random random;
    mixedProblem(&random, 5);
    random.kind[0] = SPRAG_BLOCK_TWO_SIDED;
    assert_false(spragConesApply(problemOf(&random)));
    assert_true(spragConesApplyToSides(problemOf(&random)));
    mixedProblem(&random, 5);
    random.bound[6 * 1 + 3] = INFINITY;
    assert_false(spragConesApply(problemOf(&random)));
    assert_false(spragConesApplyToSides(problemOf(&random)));
}

/* For the question whether all can part, what has a cone of its own is left: guides with both their sides. */
static void contactsAndGuidesAreLeft(void **state)
{
    (void)state;
    static Random random;
    mixedProblem(&random, 5);
    double mu_minus[NC], r[N], y[9 * NC];
    for (int k = 0; k < NC; ++k)
        mu_minus[k] = 0.01 * k;
    for (int i = 0; i < N; ++i)
        r[i] = i;
    random.kind[0] = SPRAG_BLOCK_TWO_SIDED;
    spragProblem asked = *problemOf(&random), left;
    asked.mu_minus = mu_minus;
    spragArena arena = {0};
    spragCones cones;
    assert_true(spragConesInit(&cones, &asked, &arena));
    assert_true(spragConesContacts(&cones, 0, r, &left, y, &arena));
    assert_true(left.contact_count < cones.problem->contact_count);
    int guides = 0;
    for (int k = 0; k < left.contact_count; ++k)
        if (left.kind[k] == SPRAG_BLOCK_TWO_SIDED) {
            ++guides;
            assert_true(left.mu[k] == asked.mu[0] && left.mu_minus[k] == mu_minus[0]);
            for (int i = 0; i < 3; ++i)
                assert_true(y[3 * k + i] == r[i]);
        } else {
            assert_true(left.mu_minus[k] == left.mu[k]);
        }
    assert_int_equal(guides, 1);
    spragArenaFree(&arena);
}

static void contactsAreTheirOwnCones(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 3, 0.7, N);
    spragArena arena = {0};
    spragCones cones;
    assert_true(spragConesInit(&cones, problemOf(&random), &arena));
    assert_true(cones.problem == problemOf(&random));
    assert_false(spragConeIsDisc(&cones, 0));
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(theConesAreTheProblem),
                                       cmocka_unit_test(interiorMethodsSolveThem), cmocka_unit_test(whatHasNoCone),
                                       cmocka_unit_test(contactsAndGuidesAreLeft),
                                       cmocka_unit_test(contactsAreTheirOwnCones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
