/* The pattern of the factors against elimination of a dense table of zeros and ones. */
#include <string.h>

#include "linalg/block_lu.h"
#include "support/check.h"
#include "support/uniform.h"

enum { N = 40, CHORDS = 30, TRIALS = 40, LEADERS = 30 };

typedef struct Matrix {
    int row_start[N + 1], column[N * N];
    unsigned char full[N][N];
} Matrix;

/* A symmetric pattern: some chains, of which each has `CHORDS / N` chords a row in the mean. */
static void makePattern(Matrix *A, unsigned long long *seed)
{
    memset(A, 0, sizeof *A);
    for (int i = 0; i < N; ++i)
        A->full[i][i] = 1;
    for (int i = 0; i + 1 < N; ++i)
        A->full[i][i + 1] = A->full[i + 1][i] = uniform(seed) < 0.6;
    for (int k = 0; k < CHORDS; ++k) {
        const int i = (int)(0.5 * (uniform(seed) + 1) * N) % N, j = (int)(0.5 * (uniform(seed) + 1) * N) % N;
        A->full[i][j] = A->full[j][i] = 1;
    }
    for (int i = 0; i < N; ++i) {
        A->row_start[i + 1] = A->row_start[i];
        for (int j = 0; j < N; ++j)
            if (A->full[i][j])
                A->column[A->row_start[i + 1]++] = j;
    }
}

/* In the order of lu: fill (N x N) of what elimination makes of A.  Returns its products of blocks below pivots. */
static double eliminate(const Matrix *A, const spragBlockLu *lu, unsigned char fill[N][N])
{
    double products = 0;
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
            fill[i][j] = A->full[lu->order[i]][lu->order[j]];
    for (int k = 0; k < N; ++k)
        for (int i = k + 1; i < N; ++i)
            for (int j = k + 1; j < N && fill[i][k]; ++j)
                if (fill[k][j]) {
                    fill[i][j] = 1;
                    products += !lu->symmetric || j >= i;
                }
    return products;
}

static void isPermutation(const spragBlockLu *lu)
{
    for (int i = 0; i < N; ++i) {
        assert_in_range(lu->order[i], 0, N - 1);
        assert_int_equal(lu->position[lu->order[i]], i);
    }
}

static void isThatOfElimination(const Matrix *A, const spragBlockLu *lu)
{
    unsigned char fill[N][N], seen[N][N] = {{0}};
    const double products = eliminate(A, lu, fill);
    assert_true(lu->products == products);
    for (int i = 0; i < N; ++i) {
        for (int e = lu->u_start[i]; e < lu->u_start[i + 1]; ++e) {
            assert_true(lu->u_column[e] > (e > lu->u_start[i] ? lu->u_column[e - 1] : i)); /* ascending */
            ++seen[i][lu->u_column[e]];
        }
        for (int e = lu->l_start[i]; e < lu->l_start[i + 1]; ++e) {
            assert_true(lu->l_column[e] < i);
            ++seen[i][lu->l_column[e]];
        }
    }
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
            assert_int_equal(seen[i][j], i != j && fill[i][j]); /* each once, and no other */
}

static void patternIsThatOfElimination(void **state)
{
    (void)state;
    unsigned long long seed = 3;
    spragArena arena = {0};
    for (int trial = 0; trial < TRIALS; ++trial) {
        Matrix A;
        spragBlockLu lu;
        makePattern(&A, &seed);
        const spragBlockPattern pattern = {3, N, A.row_start, A.column};
        spragArenaReset(&arena);
        for (int symmetric = 0; symmetric < 2; ++symmetric) {
            const int found = symmetric ? spragBlockLuAnalyseSymmetric(&lu, &pattern, INFINITY, &arena)
                                        : spragBlockLuAnalyse(&lu, &pattern, INFINITY, &arena);
            assert_int_equal(found, 1);
            isPermutation(&lu);
            isThatOfElimination(&A, &lu);
        }
        assert_int_equal(spragBlockLuAnalyse(&lu, &pattern, lu.products * 2 + N, &arena), 1);
        const double price = lu.products;
        assert_int_equal(spragBlockLuAnalyse(&lu, &pattern, price - 1, &arena), -1);
        assert_int_equal(spragBlockLuAnalyse(&lu, &pattern, price, &arena), 1);
    }
    spragArenaFree(&arena);
}

/* Rows without pivots of their own come right behind those they are given to, or last. */
static void followersComeBehindTheirLeaders(void **state)
{
    (void)state;
    unsigned long long seed = 7;
    spragArena arena = {0};
    for (int trial = 0; trial < TRIALS; ++trial) {
        Matrix A;
        spragBlockLu lu;
        int after[N - LEADERS];
        makePattern(&A, &seed);
        const spragBlockPattern pattern = {6, N, A.row_start, A.column};
        for (int i = 0; i < N - LEADERS; ++i)
            after[i] = i % 4 == 3 ? -1 : (7 * i + trial) % LEADERS; /* 7 and LEADERS: no leader twice */
        spragArenaReset(&arena);
        assert_int_equal(spragBlockLuAnalyseSaddle(&lu, &pattern, LEADERS, after, INFINITY, &arena), 1);
        isPermutation(&lu);
        int alone = 0;
        for (int i = 0; i < N - LEADERS; ++i) {
            alone += after[i] < 0;
            if (after[i] >= 0)
                assert_int_equal(lu.position[LEADERS + i], lu.position[after[i]] + 1);
        }
        for (int i = 0; i < N - LEADERS; ++i)
            assert_true(after[i] >= 0 || lu.position[LEADERS + i] >= N - alone);
        lu.products /= 8; /* a product of 6 x 6 blocks counts as so many of 3 x 3 */
        isThatOfElimination(&A, &lu);
    }
    spragArenaFree(&arena);
}

/* A memory gives back what was found for its pattern, and knows another pattern, size or price when it meets one. */
static void memoryKnowsItsPattern(void **state)
{
    (void)state;
    unsigned long long seed = 11;
    spragArena arena = {0};
    spragBlockLuMemo memo = {0};
    for (int trial = 0; trial < TRIALS; ++trial) {
        Matrix A;
        spragBlockLu first, again;
        makePattern(&A, &seed);
        spragArenaReset(&arena);
        for (int size = 3; size <= 6; size += 3) {
            const spragBlockPattern pattern = {size, N, A.row_start, A.column};
            assert_int_equal(spragBlockLuAnalyseAgain(&first, &memo, &pattern, INFINITY, &arena), 1);
            assert_int_equal(spragBlockLuAnalyseAgain(&again, &memo, &pattern, INFINITY, &arena), 1);
            assert_false(memo.refused);
            assert_int_equal(again.size, size);
            assert_memory_equal(first.order, again.order, sizeof(int) * N);
            assert_true(first.products == again.products);
            again.products /= size == 6 ? 8 : 1;
            isPermutation(&again);
            isThatOfElimination(&A, &again);
            assert_int_equal(spragBlockLuAnalyseAgain(&again, &memo, &pattern, first.products - 1, &arena), -1);
            assert_true(memo.whole && memo.refused); /* what is known stays, but it was too dear */
            assert_int_equal(spragBlockLuAnalyseAgain(&again, &memo, &pattern, INFINITY, &arena), 1);
            assert_false(memo.refused);
        }
    }
    spragBlockLuMemoFree(&memo);
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(patternIsThatOfElimination),
                                       cmocka_unit_test(followersComeBehindTheirLeaders),
                                       cmocka_unit_test(memoryKnowsItsPattern)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
