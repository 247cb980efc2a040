/* spragProblemCheck: everything it refuses, and what it must not refuse. */
#include "support/check.h"
#include "support/random_problem.h"

#include "base/alloc.h"
#include "problem/problem.h"

static Random random;

static void refused(spragStatus status, const char *words)
{
    assert_int_equal(spragProblemCheck(&random.problem), status);
    if (strstr(spragStatusDetail(), words) == NULL)
        fail_msg("'%s' does not say '%s'", spragStatusDetail(), words);
    double r[N] = {0};
    const spragStatus solve = spragProblemSolve(&random.problem, NULL, r, NULL, NULL);
    assert_true(solve == status || solve == SPRAG_NOT_CONVERGED || status == SPRAG_ERROR_INDEFINITE);
    for (int i = 0; solve == status && i < N; ++i)
        assert_true(r[i] == 0);
    randomProblem(&random, 7, 0.5, N);
    mixKinds(&random);
}

static int fresh(void **state)
{
    (void)state;
    randomProblem(&random, 7, 0.5, N);
    mixKinds(&random);
    return 0;
}

static void goodProblemsPass(void **state)
{
    (void)state;
    assert_int_equal(spragProblemCheck(&random.problem), SPRAG_OK);
    assert_string_equal(spragStatusDetail(), "");
    for (int columns = 1; columns <= 2 * N; columns += 10) { /* singular W is good, rank 1 too */
        randomProblem(&random, 11, 0.5, columns);
        assert_int_equal(spragProblemCheck(&random.problem), SPRAG_OK);
    }
    const spragProblem plain = {.contact_count = NC,
                                .block_count = NC * NC,
                                .row_start = random.row_start,
                                .column = random.column,
                                .W = random.W,
                                .q = random.q,
                                .mu = random.mu};
    assert_int_equal(spragProblemCheck(&plain), SPRAG_OK);
}

static void sizesAndPatternAreChecked(void **state)
{
    (void)state;
    assert_int_equal(spragProblemCheck(NULL), SPRAG_ERROR_NULL);
    random.problem.contact_count = -1;
    refused(SPRAG_ERROR_SIZE, "contact_count = -1");
    random.problem.block_count = 0x7fffffff;
    refused(SPRAG_ERROR_SIZE, "block_count = 2147483647");
    random.problem.row_start = NULL;
    refused(SPRAG_ERROR_NULL, "row_start");
    random.problem.q = NULL;
    refused(SPRAG_ERROR_NULL, "q");
    random.row_start[0] = 1;
    refused(SPRAG_ERROR_SIZE, "row_start");
    random.row_start[NC] = NC;
    refused(SPRAG_ERROR_SIZE, "row_start");
    random.row_start[1] = 1 << 28; /* far outside: must not be followed */
    refused(SPRAG_ERROR_SIZE, "row_start[1] > row_start[2]");
    random.column[5] = NC;
    refused(SPRAG_ERROR_SIZE, "column 12 of 12");
    random.column[5] = -1;
    refused(SPRAG_ERROR_SIZE, "column -1 of 12");
    random.column[5] = 4;
    refused(SPRAG_ERROR_SIZE, "not ascending");
    for (int k = 1; k <= NC; ++k) /* row 0 loses its last column, row NC - 1 keeps its first */
        random.row_start[k] -= 1;
    for (int e = NC - 1; e < NC * NC - 1; ++e)
        random.column[e] = random.column[e + 1];
    random.problem.block_count -= 1;
    refused(SPRAG_ERROR_NOT_SYMMETRIC, "pattern");
    random.problem.contact_count = 1, random.problem.block_count = 1;
    random.row_start[1] = 1;
    random.column[0] = 0;
    random.kind[0] = SPRAG_BLOCK_CONTACT;
    assert_int_equal(spragProblemCheck(&random.problem), SPRAG_OK);
    random.problem.contact_count = 2;
    random.row_start[2] = 1;
    refused(SPRAG_ERROR_SIZE, "row 1 has no diagonal block");
}

static void numbersAreChecked(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; ++i) {
        random.W[9 * (2 * NC + 5) + 4] = bad[i];
        refused(SPRAG_ERROR_NOT_FINITE, "block (2, 5)");
        random.q[10] = bad[i];
        refused(SPRAG_ERROR_NOT_FINITE, "q of contact 3");
        random.mu[4] = bad[i];
        refused(SPRAG_ERROR_NOT_FINITE, "mu of contact 4");
        random.mu_minus[4] = bad[i];
        refused(SPRAG_ERROR_NOT_FINITE, "mu of contact 4");
        random.problem.step = bad[i];
        refused(SPRAG_ERROR_RANGE, "step");
    }
    random.W[9 * (2 * NC + 5) + 4] = -1e61; /* the judge squares them */
    refused(SPRAG_ERROR_NOT_FINITE, "block (2, 5) is not finite, or beyond 1e60");
    random.q[10] = 1e61;
    refused(SPRAG_ERROR_NOT_FINITE, "q of contact 3 is not finite, or beyond 1e60");
    random.mu[4] = 1e61;
    refused(SPRAG_ERROR_NOT_FINITE, "mu of contact 4 is not finite, or beyond 1e60");
    random.mu[6] = -1e-9;
    refused(SPRAG_ERROR_RANGE, "mu of contact 6 is -");
    random.mu_minus[6] = -1;
    refused(SPRAG_ERROR_RANGE, "mu of contact 6 is -");
    spragContactHistory history[NC] = {0};
    random.problem.history = history;
    assert_int_equal(spragProblemCheck(&random.problem), SPRAG_OK);
    history[3].free_acceleration = NAN;
    refused(SPRAG_ERROR_NOT_FINITE, "history of contact 3");
    random.problem.history = history;
    history[3] = (spragContactHistory){.held = {[8] = INFINITY}};
    refused(SPRAG_ERROR_NOT_FINITE, "history of contact 3");
    random.problem.history = history;
    history[3] = (spragContactHistory){.mode = 3};
    refused(SPRAG_ERROR_RANGE, "mode 3");
}

static void kindsAreChecked(void **state)
{
    (void)state;
    random.kind[2] = 5;
    refused(SPRAG_ERROR_RANGE, "kind of block 2 is 5");
    random.problem.bound = NULL;
    refused(SPRAG_ERROR_NULL, "block 3 is BOX");
    random.bound[6 * 3 + 1] = 2, random.bound[6 * 3 + 4] = 1;
    refused(SPRAG_ERROR_RANGE, "block 3, row 1: lo = 2, hi = 1");
    random.bound[6 * 3 + 1] = NAN;
    refused(SPRAG_ERROR_RANGE, "lo = nan");
    random.bound[6 * 3] = random.bound[6 * 3 + 3] = INFINITY; /* no finite force meets it */
    refused(SPRAG_ERROR_RANGE, "lo = inf");
    random.bound[6 * 3] = random.bound[6 * 3 + 3] = -INFINITY;
    refused(SPRAG_ERROR_RANGE, "hi = -inf");
    random.problem.parent = NULL;
    refused(SPRAG_ERROR_SIZE, "block 4 is ROLLING");
    random.parent[4] = NC;
    refused(SPRAG_ERROR_SIZE, "block 4 is ROLLING");
    random.parent[4] = 9; /* ROLLING itself */
    refused(SPRAG_ERROR_SIZE, "block 4 is ROLLING");
}

static void asymmetryIsMeasured(void **state)
{
    (void)state;
    double largest = 0;
    for (int i = 0; i < 9 * NC * NC; ++i)
        largest = fmax(largest, fabs(random.W[i]));
    CHECK_NEAR(spragProblemAsymmetry(&random.problem), 0, 1e-15);
    random.W[9 * 3 + 1] += 4e-3 * largest;
    CHECK_NEAR(spragProblemAsymmetry(&random.problem), 4e-3, 1e-12);
    assert_int_equal(spragProblemCheck(&random.problem), SPRAG_OK);
    random.W[9 * 3 + 1] += 8e-3 * largest;
    refused(SPRAG_ERROR_NOT_SYMMETRIC, "0.012");
}

/* W - s e e' with e a unit vector over all contacts: the diagonal blocks stay good, W as a whole does not. */
static void indefiniteIsFound(void **state)
{
    (void)state;
    random.W[0] = -1e-3;
    refused(SPRAG_ERROR_INDEFINITE, "diagonal block 0 of W is diag(-0.001");
    for (int a = 0; a < 3; ++a)
        random.W[9 * (NC + 1) + 4 * a] = 0;
    refused(SPRAG_ERROR_INDEFINITE, "diagonal block 1 of W is diag(0, 0, 0)");
    for (int a = 0; a < 3; ++a)
        random.W[9 * (NC + 1) + 4 * a] = 1e-300;
    refused(SPRAG_ERROR_INDEFINITE, "diagonal block 1 of W is diag(1e-300, 1e-300, 1e-300)");
    random.W[9 * (5 * NC + 5)] = 0; /* 5 is a CONTACT: no force would move it */
    refused(SPRAG_ERROR_INDEFINITE, "W_nn of contact 5 is 0");
    double *D = random.W + 9 * (2 * NC + 2);
    D[1] = D[3] = 1.2 * sqrt(D[0] * D[4]);
    refused(SPRAG_ERROR_INDEFINITE, "diagonal block 2 of W has a negative eigenvalue");
    D[1] = D[3] = 0.9 * sqrt(D[0] * D[4]); /* each minor of two rows is positive, the determinant is not */
    D[2] = D[6] = 0.9 * sqrt(D[0] * D[8]);
    D[5] = D[7] = -0.9 * sqrt(D[4] * D[8]);
    refused(SPRAG_ERROR_INDEFINITE, "diagonal block 2 of W has a negative eigenvalue");
    randomProblem(&random, 7, 0.5, 1); /* rank 1: any bit less is too little */
    for (int e = 0; e < NC * NC; ++e)
        for (int a = 0; a < 3; ++a)
            random.W[9 * e + 4 * a] += e / NC == e % NC ? 0.1 : -0.1 / (NC - 2);
    refused(SPRAG_ERROR_INDEFINITE, "W has an eigenvalue below");
}

/* A chain of 150 contacts, too long to factor whole: W = tridiagonal blocks (c, 1, c) I has its least eigenvalue just
 * above 1 - 2 c. */
static void indefiniteIsFoundInLargeProblems(void **state)
{
    (void)state;
    enum { LONG = 150 };
    const struct Coupling {
        double everywhere, once; /* the second between contacts 70 and 71 */
        spragStatus expected;
    } table[] = {{0.5, 0.5, SPRAG_OK},
                 {0, 1, SPRAG_OK},
                 {0.51, 0.51, SPRAG_ERROR_INDEFINITE},
                 {0, 1.01, SPRAG_ERROR_INDEFINITE},
                 {0.1, 3, SPRAG_ERROR_INDEFINITE}};
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        spragProblemData *data = spragProblemCreate(LONG, 3 * LONG - 2);
        assert_non_null(data);
        for (int k = 0, e = 0; k < LONG; ++k) {
            for (int j = k > 0 ? k - 1 : 0; j <= k + 1 && j < LONG; ++j, ++e) {
                data->column[e] = j;
                const int once = (k == 70 && j == 71) || (k == 71 && j == 70);
                for (int a = 0; a < 3; ++a)
                    data->W[9 * e + 4 * a] = j == k ? 1 : once ? table[i].once : table[i].everywhere;
            }
            data->row_start[k + 1] = e;
        }
        assert_int_equal(spragProblemCheck(&data->problem), table[i].expected);
        if (table[i].expected != SPRAG_OK)
            assert_non_null(strstr(spragStatusDetail(), "W has an eigenvalue below -"));
        spragProblemFree(&data->problem);
    }
}

static void failingAllocations(void **state)
{
    (void)state;
    for (unsigned long n = 1;; ++n) {
        spragAllocFailAt(n);
        spragProblemData *data = spragProblemCreate(3, 9);
        spragAllocFailAt(0);
        if (data != NULL) {
            assert_int_equal(n, 13); /* the problem and its eleven arrays */
            assert_int_equal(data->body[5], -1);
            assert_true(data->history[2].fresh);
            spragProblemFree(&data->problem);
            break;
        }
    }
    spragAllocFailAt(1);
    assert_int_equal(spragProblemCheck(&random.problem), SPRAG_ERROR_MEMORY);
    spragAllocFailAt(0);
    spragProblemFree(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(goodProblemsPass, fresh),    cmocka_unit_test_setup(sizesAndPatternAreChecked, fresh),
        cmocka_unit_test_setup(numbersAreChecked, fresh),   cmocka_unit_test_setup(kindsAreChecked, fresh),
        cmocka_unit_test_setup(asymmetryIsMeasured, fresh), cmocka_unit_test_setup(indefiniteIsFound, fresh),
        cmocka_unit_test(indefiniteIsFoundInLargeProblems), cmocka_unit_test_setup(failingAllocations, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
