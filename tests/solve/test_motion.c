/* The mode search where the motion of the instant is known: it is taken, and none of the jams besides it. */
#include "support/check.h"
#include "support/uniform.h"

#include <sprag/sprag.h>

enum { NC = 3, ROWS = 3 * NC, FREEDOMS = 9, STATES = 9000 };
static const double H = 1e-6; /* s, so short that the solution of the step is the motion of the instant */

/* Three contacts, some at rest, some two-sided: the instant, w = A r + b, and the step, u = W r + q. */
typedef struct Instant {
    double A[ROWS * ROWS], W[ROWS * ROWS], b[ROWS], q[ROWS], slip[2 * NC], mu[NC];
    unsigned char two_sided[NC], kind[NC];
    spragContactHistory history[NC];
} Instant;

static void randomInstant(Instant *s, unsigned long long *random)
{
    double J[ROWS][FREEDOMS];
    *s = (Instant){0};
    for (int i = 0; i < ROWS; ++i)
        for (int c = 0; c < FREEDOMS; ++c)
            J[i][c] = uniform(random);
    for (int i = 0; i < ROWS * ROWS; ++i) {
        for (int c = 0; c < FREEDOMS; ++c)
            s->A[i] += J[i / ROWS][c] * J[i % ROWS][c];
        s->W[9 * (NC * (i / ROWS / 3) + i % ROWS / 3) + 3 * (i / ROWS % 3) + i % ROWS % 3] = s->A[i];
    }
    for (int i = 0; i < ROWS; ++i)
        s->b[i] = 10 * uniform(random);
    for (int k = 0; k < NC; ++k) {
        s->mu[k] = 2 * fabs(uniform(random));
        s->two_sided[k] = uniform(random) < -0.3;
        s->kind[k] = s->two_sided[k] ? SPRAG_BLOCK_TWO_SIDED : SPRAG_BLOCK_CONTACT;
        const int slides = uniform(random) < 0.3;
        for (int t = 0; t < 2; ++t)
            s->history[k].slip[t] = s->slip[2 * k + t] = slides ? uniform(random) : 0;
        s->history[k].fresh = 1;
        s->history[k].free_acceleration = s->b[3 * k];
        for (int row = 0; row < 3; ++row)
            s->q[3 * k + row] = H * s->b[3 * k + row] + (row > 0 ? s->slip[2 * k + row - 1] : 0);
    }
}

/* The greatest normal force of the motion, N, where there is but one and it is within reach of a step; else 0. */
static double loadOf(const spragSolutionSet *set)
{
    double most = 0;
    if (set->count != 1 || !set->solution[0].taken || set->solution[0].family)
        return 0;
    for (int k = 0; k < NC; ++k)
        most = fmax(most, fabs(set->solution[0].r[3 * k]));
    return most < 50 ? most : 0;
}

/* 1: the search finds the motion, to a tenth of its load. */
static int stepTakes(const Instant *s, const spragParadoxSolution *motion, double load)
{
    static const int row_start[] = {0, 3, 6, 9}, column[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    const spragProblem problem = {.contact_count = NC,
                                  .block_count = NC * NC,
                                  .row_start = row_start,
                                  .column = column,
                                  .W = s->W,
                                  .q = s->q,
                                  .mu = s->mu,
                                  .kind = s->kind,
                                  .history = s->history,
                                  .step = H};
    const spragSolveOptions options = {.solver = SPRAG_SOLVER_VARIANT, .tolerance = 1e-10};
    double r[ROWS] = {0};
    int takes = 1;
    assert_int_equal(spragProblemSolve(&problem, &options, r, NULL, NULL), SPRAG_OK);
    for (int k = 0; k < NC; ++k)
        takes &= fabs(r[3 * k] / H - motion->r[3 * k]) <= 0.1 * load;
    return takes;
}

/* Where there is one motion it is taken, and none of the jams that a step's impulses allow besides. */
static void motionGoesBeforeJam(void **state)
{
    (void)state;
    unsigned long long random = 7;
    int unique = 0, other = 0;
    for (int sample = 0; sample < STATES; ++sample) {
        Instant s;
        spragSolutionSet set;
        randomInstant(&s, &random);
        const spragContactState instant = {NC, s.A, s.b, s.slip, s.mu, s.mu, s.two_sided};
        assert_int_equal(spragParadoxEnumerate(&instant, &set), SPRAG_OK);
        const double load = loadOf(&set);
        unique += load > 0;
        other += load > 0 && !stepTakes(&s, &set.solution[0], load);
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
