/* The linear programs of boxes of directions: what has a solution is never excluded, what has none is in the end. */
#include "support/combination.h"
#include "support/uniform.h"

#include "analysis/program.h"

/* A contact on a body in space: A = J M^-1 J^T of a random 3 x 6 J, b random; friction mu. */
static void randomContact(State *s, unsigned long long *seed, double mu)
{
    double J[3][6];
    begin(s, 1);
    for (int i = 0; i < 18; ++i)
        J[i / 6][i % 6] = uniform(seed);
    for (int i = 0; i < 9; ++i)
        for (int c = 0; c < 6; ++c)
            s->A[i] += J[i / 3][c] * J[i % 3][c];
    for (int i = 0; i < 3; ++i)
        s->b[i] = uniform(seed);
    s->mu[0] = mu;
}

/* Boxes of every size that contain the direction of a motion out of rest allow it, also where it is at their edge, and
 * whatever the units. */
static void whatHasASolutionIsAllowed(void **state)
{
    (void)state;
    unsigned long long seed = 31;
    int asked = 0;
    for (int round = 0; round < 300; ++round) {
        State s;
        Combination c;
        spragSolutionSet set;
        randomContact(&s, &seed, 0.2 + 0.8 * fabs(uniform(&seed)));
        assert_int_equal(spragParadoxEnumerate(&s.state, &set), SPRAG_OK);
        for (int k = 0; k < set.count; ++k) {
            const spragParadoxSolution *one = &set.solution[k];
            if (one->mode[0] != SPRAG_MODE_SLIP)
                continue;
            const double theta = atan2(one->w[2], one->w[1]);
            for (int i = 0; i < 9; ++i)
                s.A[i] *= round % 3 == 0 ? 1e-9 : 1;
            for (int i = 0; i < 3; ++i)
                s.b[i] *= round % 3 == 1 ? 1e7 : 1;
            combinationOf(&c, &s, START);
            for (double h = M_PI / 4; h > 1e-6; h *= 0.25)
                for (double at = -1; at <= 1; at += 0.5) {
                    const double middle = theta + 0.999 * at * h;
                    assert_true(spragProgramAllows(&c.en, &middle, h));
                }
            ++asked;
        }
        spragSolutionSetFree(&set);
    }
    assert_true(asked > 50);
}

/* Two feet pulled to the right by more than their friction: both start that way, and no other. */
static void twoStartTogether(void **state)
{
    (void)state;
    const double right[2] = {0, 0}, left[2] = {M_PI, M_PI}, apart[2] = {0, M_PI};
    State s;
    Combination c;
    bipodState(&s, 0.7, 0.5, 2, 0.3, 20, 9, 1);
    s.mu[0] = 0.3, s.mu[1] = 0.4;
    combinationOf(&c, &s, START);
    for (double h = M_PI / 4; h > 1e-6; h *= 0.25) {
        assert_true(spragProgramAllows(&c.en, right, h));
        assert_false(spragProgramAllows(&c.en, left, h));
        assert_false(spragProgramAllows(&c.en, apart, h));
    }
    s.b[1] = s.b[4] = 0.1; /* held */
    assert_false(spragProgramAllows(&c.en, right, 1e-3));
}

/* Away from all motions small boxes allow nothing; a contact that leaves allows no start pressed against it. */
static void whatHasNoneIsExcluded(void **state)
{
    (void)state;
    unsigned long long seed = 32;
    for (int round = 0; round < 200; ++round) {
        State s;
        Combination c;
        spragSolutionSet set;
        randomContact(&s, &seed, 0.3);
        assert_int_equal(spragParadoxEnumerate(&s.state, &set), SPRAG_OK);
        combinationOf(&c, &s, START);
        for (int i = 0; i < 64; ++i) {
            const double middle = 2 * M_PI * i / 64, h = 1e-3;
            double nearest = M_PI;
            for (int k = 0; k < set.count; ++k)
                if (set.solution[k].mode[0] == SPRAG_MODE_SLIP) {
                    const double *w = set.solution[k].w;
                    nearest = fmin(nearest, fabs(remainder(atan2(w[2], w[1]) - middle, 2 * M_PI)));
                }
            /* the program is a relaxation: s = 0 is allowed too, so a contact that can hold may stay */
            if (nearest > 0.05 && set.count > 0 && set.solution[0].mode[0] != SPRAG_MODE_STICK)
                assert_false(spragProgramAllows(&c.en, &middle, h));
        }
        spragSolutionSetFree(&set);
    }
}

/* Roles without directions, as programs: hold, slide and open are allowed where they are solutions, and HOLD's polygon
 * is around its circle, wider than it by at most 1 / cos(pi / 8). */
static void rolesAreThoseOfTheMechanics(void **state)
{
    (void)state;
    const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu = 0.5;
    for (double angle = 0; angle < 6; angle += 0.37)
        for (double pull = 0.1; pull < 1; pull += 0.1) {
            State s;
            Combination c;
            begin(&s, 1);
            memcpy(s.A, unit, sizeof unit);
            s.mu[0] = mu;
            s.b[0] = -1, s.b[1] = pull * cos(angle), s.b[2] = pull * sin(angle);
            combinationOf(&c, &s, HOLD);
            const int allowed = spragProgramAllows(&c.en, NULL, 0);
            if (pull <= mu)
                assert_true(allowed);
            if (pull > mu / cos(M_PI / 8))
                assert_false(allowed);
            combinationOf(&c, &s, OPEN);
            assert_false(spragProgramAllows(&c.en, NULL, 0));
            combinationOf(&c, &s, SLIDE);
            assert_true(spragProgramAllows(&c.en, NULL, 0));
            s.b[0] = 1;
            assert_false(spragProgramAllows(&c.en, NULL, 0)); /* no N >= 0 */
            combinationOf(&c, &s, OPEN);
            assert_true(spragProgramAllows(&c.en, NULL, 0));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatHasASolutionIsAllowed),
                                       cmocka_unit_test(whatHasNoneIsExcluded), cmocka_unit_test(twoStartTogether),
                                       cmocka_unit_test(rolesAreThoseOfTheMechanics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
