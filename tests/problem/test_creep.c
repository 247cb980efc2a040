/* Creep: the speed of what holds, and of nothing else. */
#include "support/check.h"
#include "support/small_problem.h"

#include "problem/creep.h"
#include "problem/residual.h"

enum { KINDS = 5 };

/* Blocks of every kind that do not act on each other: W = 1. */
static void holdsOrMoves(void **state)
{
    (void)state;
    Small s;
    setSmall(&s, KINDS);
    const double mu[KINDS] = {0.5, 0.5, 1, 0, 0.1};
    for (int k = 0; k < KINDS; ++k)
        s.kind[k] = (unsigned char)k, s.mu[k] = s.mu_minus[k] = mu[k];
    s.mu_minus[SPRAG_BLOCK_ROLLING] = 0.2;
    s.parent[SPRAG_BLOCK_ROLLING] = SPRAG_BLOCK_CONTACT;
    for (int i = 0; i < 3; ++i)
        s.bound[6 * SPRAG_BLOCK_BOX + i] = -1, s.bound[6 * SPRAG_BLOCK_BOX + 3 + i] = 1;
    const struct {
        double r[3 * KINDS];
        int row;      /* that moves, */
        double creep; /* in 1e-3 m/s */
    } with[] = {{{1, 0.4, 0}, 1, 1},
                {{1, 0.5, 0}, 1, 0},
                {{1, 0.4, 0}, 0, 0},
                {{0}, 1, 0},
                {{0, 0, 0, -1, 0, 0.4}, 5, 1},
                {{0, 0, 0, -1, 0, 0.5}, 5, 0},
                {{[7] = 0.9}, 8, 1},
                {{[7] = 1}, 8, 0},
                {{[10] = 0.9}, 10, 1},
                {{[10] = 1}, 10, 0},
                {{1, [13] = 0.09}, 13, 1},
                {{1, [13] = 0.1}, 13, 0},
                {{1, [14] = -0.19}, 14, 1},
                {{1, [14] = -0.2}, 14, 0},
                {{[12] = 0}, 12, 0}};
    for (size_t c = 0; c < sizeof with / sizeof *with; ++c) {
        for (int i = 0; i < 3 * KINDS; ++i)
            s.q[i] = (i == with[c].row ? 1e-3 : 0) - with[c].r[i];
        double u[3 * KINDS];
        spragProblemVelocity(&s.problem, with[c].r, u);
        CHECK_NEAR(spragVelocityCreep(&s.problem, with[c].r, u), 1e-3 * with[c].creep, 1e-15);
    }
}

/* A contact that bears next to nothing, and slips, is right to what it bears. */
static void noFasterThanTheResidual(void **state)
{
    (void)state;
    const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu = 0.5, r[3] = {1e-6, 1e-7, 0}, q[3] = {0, 1e-3, 0};
    const int row_start[2] = {0, 1}, column = 0;
    const spragProblem problem = {
        .contact_count = 1, .block_count = 1, .row_start = row_start, .column = &column, .W = W, .q = q, .mu = &mu};
    double u[3];
    spragProblemVelocity(&problem, r, u);
    const double creep = spragVelocityCreep(&problem, r, u);
    assert_true(creep > 0 && creep <= 2e-6);
    CHECK_NEAR(creep, spragBlockResidual(&problem, 0, r, u), 1e-15);
    CHECK_NEAR(creep, spragContactCreep(mu, r, u, creep), 1e-15);
}

/* To a rough tolerance it is worth something only where all is still. */
static void matters(void **state)
{
    (void)state;
    double u[6] = {0, 5e-6, 0, -9e-6, 0, 1e-13};
    assert_true(spragCreepMatters(1e-6, u, 2));
    u[4] = -1e-3;
    assert_false(spragCreepMatters(1e-6, u, 2));
    assert_true(spragCreepMatters(1e-6, u, 1));
    assert_true(spragCreepMatters(1e-8, u, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(holdsOrMoves), cmocka_unit_test(noFasterThanTheResidual),
                                       cmocka_unit_test(matters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
