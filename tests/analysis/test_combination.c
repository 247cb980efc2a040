/* One combination at a time, against closed forms: the rod and the bipod that
 * slide, hold or leave; families; verdicts. */
#include "support/combination.h"
#include "support/uniform.h"

#include "linalg/vec3.h"

static void freeSet(Combination *c)
{
    spragSolutionSetFree(&c->set);
}

static void accelerationsAreRowsOfA(void **state)
{
    (void)state;
    State s;
    Combination c;
    unsigned long long seed = 2;
    double r[ROWS];
    bipodState(&s, 1, 2, 3, 4, 5, 6, 7);
    combinationOf(&c, &s, HOLD);
    for (int i = 0; i < 6; ++i)
        r[i] = uniform(&seed);
    for (int row = 0; row < 6; ++row) {
        double sum = 0;
        for (int j = 0; j < 6; ++j)
            sum += s.A[6 * row + j] * r[j];
        CHECK_NEAR(spragCombinationAcceleration(&c.en, row, r), sum, 1e-14);
    }
}

/* A sliding contact has one unknown, a holding one three, or those that can move it. */
static void unknownsAreThoseOfTheRoles(void **state)
{
    (void)state;
    State s;
    Combination c;
    Unknowns u;
    double K[AFFINE_MAX * AFFINE_MAX];
    bipodState(&s, 1, 2, 3, 4, 5, 6, 0); /* planar: nothing moves along t2 */
    s.mu[0] = 0.3, s.mu[1] = 0.4;
    combinationOf(&c, &s, HOLD);
    c.en.role[0] = SLIDE, c.en.sign[0] = -1;
    spragCombinationCollect(&c.en, 1u << SLIDE | 1u << HOLD, &u);
    assert_int_equal(u.columns, 3);
    assert_int_equal(u.rows, 3);
    assert_int_equal(u.row[0], 0);
    assert_int_equal(u.row[2], 4);
    assert_int_equal(u.tangent[1][1], -1);
    CHECK_NEAR(u.pattern[0][0], -1, 0);
    CHECK_NEAR(u.pattern[0][1], -0.3, 0);
    spragCombinationSystem(&c.en, &u, K);
    CHECK_NEAR(K[3], -s.A[18] - 0.3 * s.A[19], 1e-15); /* w_n of the second for a unit force of the first */
    CHECK_NEAR(K[7], s.A[6 * 4 + 3], 0);
    spragCombinationCollect(&c.en, 1u << SLIDE, &u);
    assert_int_equal(u.columns, 1);
    c.en.role[0] = OPEN;
    spragCombinationCollect(&c.en, 1u << OPEN | 1u << SLIDE, &u);
    assert_int_equal(u.columns, 0);
}

/* N = -b / p where that is positive, of either side; the slope says whether it can last. */
static void rodSlides(void **state)
{
    (void)state;
    const double a = 0.4, h = 0.9, m = 2, J = 0.1;
    for (int direction = -1; direction <= 1; direction += 2)
        for (int side = -1; side <= 1; side += 2)
            for (double mu = 0; mu < 3; mu += 0.25)
                for (double b = -5; b < 6; b += 10) {
                    State s;
                    Combination c;
                    rodState(&s, a, h, m, J, 0);
                    s.mu[0] = mu, s.slip[0] = direction, s.b[0] = b;
                    const double p = s.A[0] - side * mu * direction * s.A[1], N = -b / (p * side);
                    combinationOf(&c, &s, SLIDE);
                    c.en.sign[0] = side;
                    spragCombinationSolve(&c.en);
                    assert_int_equal(c.set.count, N > 0);
                    if (N > 0) {
                        const spragParadoxSolution *one = c.set.solution;
                        CHECK_NEAR(one->r[0], side * N, 1e-12 * N);
                        CHECK_NEAR(one->r[1], -mu * N * direction, 1e-12 * N);
                        CHECK_NEAR(one->w[0], 0, 0);
                        CHECK_NEAR(one->w[1], s.A[3] * side * N + s.A[4] * one->r[1], 1e-9 * N);
                        CHECK_NEAR(one->slope, p, 1e-14);
                        assert_int_equal(one->normal_stable, p > 0);
                        assert_int_equal(one->small_friction, p > 0);
                        assert_int_equal(one->mode[0], SPRAG_MODE_SLIP);
                        assert_int_equal(one->variant[0], side);
                        assert_false(one->family);
                    }
                    freeSet(&c);
                }
}

/* At rest it holds with r = -A^-1 b iff that is inside the static cone; open it leaves iff b > 0. */
static void rodHoldsOrLeaves(void **state)
{
    (void)state;
    unsigned long long seed = 11;
    int held = 0, left = 0;
    for (int round = 0; round < 500; ++round) {
        State s;
        Combination c;
        rodState(&s, uniform(&seed), 1 + uniform(&seed), 1, 0.3, 2);
        double mu_static = 1 + uniform(&seed), load[3];
        for (int i = 0; i < 3; ++i)
            load[i] = uniform(&seed);
        s.state.mu_static = &mu_static;
        for (int i = 0; i < 3; ++i)
            s.b[i] = -spragDot3(s.A + 3 * i, load); /* so that r = load */
        combinationOf(&c, &s, HOLD);
        spragCombinationSolve(&c.en);
        const int holds = load[0] > 0 && spragNorm2(load + 1) <= mu_static * load[0];
        assert_int_equal(c.set.count, holds);
        for (int i = 0; i < 3 && holds; ++i) {
            CHECK_NEAR(c.set.solution[0].r[i], load[i], 1e-12);
            CHECK_NEAR(c.set.solution[0].w[i], 0, 0);
        }
        freeSet(&c);
        combinationOf(&c, &s, OPEN);
        spragCombinationSolve(&c.en);
        assert_int_equal(c.set.count, s.b[0] >= 0);
        for (int i = 0; i < 3 && c.set.count; ++i)
            CHECK_NEAR(c.set.solution[0].w[i], s.b[i], 0);
        held += holds, left += c.set.count;
        freeSet(&c);
    }
    assert_true(held > 50 && left > 50);
}

/* Two feet, mu each, sliding right: N_1 + N_2 = P, a (N_2 - N_1) = H (F - m w) = H sum mu_k N_k, both feet pressed; and
 * the feet exchanged: the same solution, exchanged. */
static void bipodSlides(void **state)
{
    (void)state;
    const double a = 0.7, H = 0.5, m = 2, J = 0.3, P = 20, F = 9, mu[2] = {0.3, 0.5};
    for (int swap = 0; swap < 2; ++swap) {
        State s;
        Combination c;
        bipodState(&s, a, H, m, J, P, F, 0);
        if (swap) { /* contact k is the other foot */
            State other = s;
            for (int i = 0; i < 36; ++i)
                s.A[i] = other.A[6 * ((i / 6 + 3) % 6) + (i % 6 + 3) % 6];
            for (int i = 0; i < 6; ++i)
                s.b[i] = other.b[(i + 3) % 6];
        }
        for (int k = 0; k < 2; ++k)
            s.mu[k] = mu[swap ? 1 - k : k], s.slip[2 * k] = 1;
        combinationOf(&c, &s, SLIDE);
        spragCombinationSolve(&c.en);
        assert_int_equal(c.set.count, 1);
        /* a (N_2 - N_1) = H (mu_1 N_1 + mu_2 N_2) */
        const double N1 = P * (a - H * mu[1]) / (2 * a + H * (mu[0] - mu[1])), N[2] = {N1, P - N1};
        for (int k = 0; k < 2; ++k) {
            CHECK_NEAR(c.set.solution[0].r[3 * k], N[swap ? 1 - k : k], 1e-12);
            CHECK_NEAR(c.set.solution[0].w[3 * k + 1], (F - mu[0] * N[0] - mu[1] * N[1]) / m, 1e-12);
        }
        assert_true(c.set.solution[0].normal_stable && c.set.solution[0].small_friction);
        spragCombinationSolve(&c.en); /* the same again is no second one */
        assert_int_equal(c.set.count, 1);
        freeSet(&c);
    }
}

/* Two feet on one line can be braced: their tangential forces are open, what they do is not. */
static void bracedFeetAreAFamily(void **state)
{
    (void)state;
    State s;
    Combination c;
    bipodState(&s, 1, 0.5, 2, 0.3, 20, 3, 0);
    s.mu[0] = s.mu[1] = 0.4;
    combinationOf(&c, &s, HOLD);
    spragCombinationSolve(&c.en);
    assert_int_equal(c.set.count, 1);
    const spragParadoxSolution *one = c.set.solution;
    assert_true(one->family && one->small_friction);
    CHECK_NEAR(one->r[0] + one->r[3], 20, 1e-12);
    CHECK_NEAR(one->r[1] + one->r[4], -3, 1e-12);
    CHECK_NEAR(1 * (one->r[3] - one->r[0]), 0.5 * 3, 1e-12); /* the pull's moment about the feet's height */
    for (int k = 0; k < 2; ++k)
        assert_true(fabs(one->r[3 * k + 1]) <= 0.4 * one->r[3 * k] * (1 + 1e-9));
    freeSet(&c);
}

/* A start whose acceleration is not along its direction, or not at all, is none. */
static void startsFollowTheirAcceleration(void **state)
{
    (void)state;
    State s;
    const double angle = 0.6, unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int turn = 0; turn < 8; ++turn)
        for (int strong = 0; strong < 2; ++strong) {
            Combination c;
            begin(&s, 1);
            memcpy(s.A, unit, sizeof unit);
            s.mu[0] = 0.5, s.b[0] = -1;
            s.b[1] = (strong ? 0.7 : 0.3) * cos(angle), s.b[2] = (strong ? 0.7 : 0.3) * sin(angle);
            combinationOf(&c, &s, START);
            c.en.e[0][0] = cos(angle + turn * M_PI / 4), c.en.e[0][1] = sin(angle + turn * M_PI / 4);
            spragCombinationSolve(&c.en);
            assert_int_equal(c.set.count, turn == 0 && strong);
            if (c.set.count > 0)
                CHECK_NEAR(spragNorm2(c.set.solution[0].w + 1), 0.2, 1e-12);
            freeSet(&c);
        }
}

/* p = 0 and b_n = 0: the rod leaves with no force, or slides under any; the motions differ along the slip. */
static void aForceThatNothingSetsIsAFamily(void **state)
{
    (void)state;
    State s;
    spragSolutionSet set;
    rodState(&s, 1, 1, 1, 1, 1); /* p = 2 - mu */
    s.slip[0] = -1, s.mu[0] = 2;
    for (int along = 0; along < 2; ++along) {
        s.b[1] = along;
        assert_int_equal(spragParadoxEnumerate(&s.state, &set), SPRAG_OK);
        assert_int_equal(set.count, 2);
        assert_int_equal(set.solution[0].mode[0], SPRAG_MODE_OPEN);
        assert_true(set.solution[0].taken && !set.solution[0].family);
        const spragParadoxSolution *slides = &set.solution[1];
        assert_true(slides->mode[0] == SPRAG_MODE_SLIP && slides->family && slides->r[0] > 0);
        CHECK_NEAR(slides->r[1], 2 * slides->r[0], 1e-12); /* mu N */
        CHECK_NEAR(slides->w[0], 0, 0);
        CHECK_NEAR(slides->w[1], along - slides->r[0] + 2 * slides->r[1], 1e-12);
        spragSolutionSetFree(&set);
    }
    s.mu[0] = 1.9;
    assert_int_equal(spragParadoxEnumerate(&s.state, &set), SPRAG_OK);
    assert_int_equal(set.count, 1);
    spragSolutionSetFree(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerationsAreRowsOfA),    cmocka_unit_test(aForceThatNothingSetsIsAFamily),
        cmocka_unit_test(unknownsAreThoseOfTheRoles), cmocka_unit_test(rodSlides),
        cmocka_unit_test(rodHoldsOrLeaves),           cmocka_unit_test(bipodSlides),
        cmocka_unit_test(bracedFeetAreAFamily),       cmocka_unit_test(startsFollowTheirAcceleration)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
