/* Amended equations have the solutions, and the determinant's sign, of those factorised anew. */
#include "support/check.h"

#include <string.h>

#include "solve/trace/amended.h"
#include "support/random_problem.h"

/* Row k of the tangent, or A and B alone: sticks, is open, or slides. */
static void fillRow(double A[9], double B[9], int mode)
{
    memset(A, 0, 9 * sizeof *A), memset(B, 0, 9 * sizeof *B);
    B[0] = mode > 0, A[0] = mode == 0;
    for (int i = 1; i < 3; ++i) {
        B[4 * i] = mode == 1, A[4 * i] = mode != 1;
        A[3 * i] = mode == 2 ? 4 * i : 0;
    }
}

static void rowsChange(void **state)
{
    (void)state;
    static Random random;
    int negative = 0;
    for (unsigned long long seed = 1; seed <= 40; ++seed) {
        randomProblem(&random, seed, 0.3, 20);
        spragArena arena = {0};
        spragTangent old, anew;
        spragAmended amended;
        unsigned long long draw = seed;
        assert_int_equal(spragTangentInit(&old, &random.problem, NULL, SPRAG_TANGENT_CONTACTS, INFINITY, &arena), 1);
        assert_int_equal(spragTangentInit(&anew, &random.problem, NULL, SPRAG_TANGENT_CONTACTS, INFINITY, &arena), 1);
        assert_true(spragAmendedInit(&amended, &old, &arena));
        for (int k = 0; k < NC; ++k) {
            fillRow(old.A + 9 * k, old.B + 9 * k, (int)(1.5 * (1 + uniform(&draw))));
            old.soft[k] = anew.soft[k] = 0.1;
        }
        memcpy(anew.A, old.A, 9 * NC * sizeof *old.A);
        memcpy(anew.B, old.B, 9 * NC * sizeof *old.B);
        assert_true(spragAmendedFactor(&amended));
        for (int change = 0; change < 8; ++change) { /* some rows more than once */
            const int k = (int)(0.5 * NC * (1 + uniform(&draw)));
            const int place = spragAmendedPlace(&amended, k);
            assert_true(place >= 0 && amended.place[k] == place && amended.contact[place] == k);
            fillRow(amended.A + 9 * place, amended.B + 9 * place, (int)(1.5 * (1 + uniform(&draw))));
            fillRow(anew.A + 9 * k, anew.B + 9 * k, 0);
            memcpy(anew.A + 9 * k, amended.A + 9 * place, 9 * sizeof *anew.A);
            memcpy(anew.B + 9 * k, amended.B + 9 * place, 9 * sizeof *anew.B);
            assert_true(spragAmendedUpdate(&amended) && spragTangentFactor(&anew));
            assert_int_equal(spragAmendedSign(&amended), spragTangentSign(&anew));
            negative += spragAmendedSign(&amended) < 0;
            double x[N], y[N];
            for (int i = 0; i < N; ++i)
                x[i] = y[i] = uniform(&draw);
            spragAmendedSolve(&amended, x);
            spragTangentSolve(&anew, y);
            double largest = 0;
            for (int i = 0; i < N; ++i)
                largest = fmax(largest, fabs(y[i]));
            for (int i = 0; i < N; ++i)
                CHECK_NEAR(x[i], y[i], 1e-7 * largest); /* the matrices are singular but for soft */
        }
        assert_true(spragAmendedFactor(&amended)); /* the rows are those of the tangent again */
        assert_int_equal(amended.count, 0);
        assert_int_equal(spragAmendedSign(&amended), spragTangentSign(&old));
        spragArenaFree(&arena);
    }
    assert_true(negative > 0);
}

static void placesAreLimited(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 1, 0.3, 20);
    spragArena arena = {0};
    spragTangent tangent;
    spragAmended amended;
    assert_int_equal(spragTangentInit(&tangent, &random.problem, NULL, SPRAG_TANGENT_CONTACTS, INFINITY, &arena), 1);
    assert_true(spragAmendedInit(&amended, &tangent, &arena));
    for (int k = 0; k < NC; ++k)
        fillRow(tangent.A + 9 * k, tangent.B + 9 * k, 0);
    assert_true(spragAmendedFactor(&amended));
    assert_int_equal(spragAmendedPlace(&amended, 3), spragAmendedPlace(&amended, 3));
    amended.count = SPRAG_AMENDED_MOST;
    assert_true(spragAmendedPlace(&amended, 5) < 0);
    assert_int_equal(amended.place[5], -1);
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rowsChange), cmocka_unit_test(placesAreLimited)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
