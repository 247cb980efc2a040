/* The mode search where the motion of the instant is known: it is taken, and none of the jams besides it. */
#include "support/check.h"
#include "support/uniform.h"

#include <sprag/sprag.h>

/* Three contacts, some at rest, some one-sided, in a step so short that its solution is the motion of the instant,
 * where there is but one: none of the jams that a step's impulses allow besides. */
static void motionGoesBeforeJam(void **state)
{
    (void)state;
    enum { NC = 3, ROWS = 3 * NC, FREEDOMS = 9, STATES = 9000 };
    static const double h = 1e-6;
    static const int row_start[] = {0, 3, 6, 9}, column[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    unsigned long long random = 7;
    int unique = 0, other = 0;
    for (int sample = 0; sample < STATES; ++sample) {
        double J[ROWS][FREEDOMS], A[ROWS * ROWS], W[ROWS * ROWS], b[ROWS], q[ROWS], slip[2 * NC] = {0}, mu[NC];
        unsigned char two_sided[NC], kind[NC];
        spragContactHistory history[NC] = {0};
        for (int i = 0; i < ROWS; ++i)
            for (int c = 0; c < FREEDOMS; ++c)
                J[i][c] = uniform(&random);
        for (int i = 0; i < ROWS * ROWS; ++i) {
            A[i] = 0;
            for (int c = 0; c < FREEDOMS; ++c)
                A[i] += J[i / ROWS][c] * J[i % ROWS][c];
            W[9 * (NC * (i / ROWS / 3) + i % ROWS / 3) + 3 * (i / ROWS % 3) + i % ROWS % 3] = A[i];
        }
        for (int i = 0; i < ROWS; ++i)
            b[i] = 10 * uniform(&random);
        for (int k = 0; k < NC; ++k) {
            mu[k] = 2 * fabs(uniform(&random));
            two_sided[k] = uniform(&random) < -0.3;
            kind[k] = two_sided[k] ? SPRAG_BLOCK_TWO_SIDED : SPRAG_BLOCK_CONTACT;
            const int slides = uniform(&random) < 0.3;
            for (int t = 0; t < 2; ++t)
                history[k].slip[t] = slip[2 * k + t] = slides ? uniform(&random) : 0;
            history[k].fresh = 1;
            history[k].free_acceleration = b[3 * k];
            for (int row = 0; row < 3; ++row)
                q[3 * k + row] = h * b[3 * k + row] + (row > 0 ? slip[2 * k + row - 1] : 0);
        }
        const spragContactState instant = {NC, A, b, slip, mu, mu, two_sided};
        spragSolutionSet set;
        assert_int_equal(spragParadoxEnumerate(&instant, &set), SPRAG_OK);
        double r[ROWS] = {0}, most = 0;
        for (int k = 0; k < NC && set.count == 1; ++k)
            most = fmax(most, fabs(set.solution[0].r[3 * k]));
        if (set.count == 1 && set.solution[0].taken && !set.solution[0].family && most > 0 && most < 50) {
            const spragProblem problem = {.contact_count = NC,
                                          .block_count = NC * NC,
                                          .row_start = row_start,
                                          .column = column,
                                          .W = W,
                                          .q = q,
                                          .mu = mu,
                                          .kind = kind,
                                          .history = history,
                                          .step = h};
            const spragSolveOptions options = {.solver = SPRAG_SOLVER_VARIANT, .tolerance = 1e-10};
            spragSolveInfo info;
            assert_int_equal(spragProblemSolve(&problem, &options, r, NULL, &info), SPRAG_OK);
            int off = 0;
            for (int k = 0; k < NC; ++k)
                off |= fabs(r[3 * k] / h - set.solution[0].r[3 * k]) > 0.1 * most;
            ++unique;
            other += off;
        }
        spragSolutionSetFree(&set);
    }
    print_message("%d states of one motion, %d others\n", unique, other);
    assert_true(unique > STATES / 2);
    assert_true(other <= 2); /* whose motion no start leads to; six where a jam was as good as a guide that starts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(motionGoesBeforeJam)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
