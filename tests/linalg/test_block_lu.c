/* Sparse block LU against its own product, on a random sparse pattern. */
#include "support/check.h"
#include "support/uniform.h"

#include <string.h>

#include "linalg/block_lu.h"
#include "linalg/vec3.h"

enum { N = 60, ROOM = N * N };

static unsigned long long seed = 5;

static int row_start[N + 1], column[ROOM];
static double A[9 * ROOM];

/* Ring with random chords; unsymmetric values, dominant diagonal blocks whose
 * own diagonal is zero (they need pivots). */
static void makeMatrix(void)
{
    static unsigned char full[N][N];
    memset(full, 0, sizeof full);
    for (int i = 0; i < N; ++i) {
        full[i][i] = full[i][(i + 1) % N] = full[(i + 1) % N][i] = 1;
        const int j = (int)((uniform(&seed) + 1) * 0.5 * (N - 1));
        full[i][j] = full[j][i] = 1;
    }
    int count = 0;
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j)
            if (full[i][j]) {
                for (int k = 0; k < 9; ++k)
                    A[9 * count + k] = uniform(&seed);
                if (i == j)
                    for (int k = 0; k < 9; ++k)
                        A[9 * count + k] = k % 4 == 0 ? 0 : (k == 1 || k == 5 || k == 6 ? 20 : 0);
                column[count++] = j;
            }
        row_start[i + 1] = count;
    }
}

/* A random x, and b = A x. */
static void makeSides(double x[3 * N], double b[3 * N])
{
    memset(b, 0, 3 * N * sizeof *b);
    for (int i = 0; i < 3 * N; ++i)
        x[i] = uniform(&seed);
    for (int i = 0; i < N; ++i)
        for (int e = row_start[i]; e < row_start[i + 1]; ++e)
            spragMulAdd33(b + 3 * i, A + 9 * e, x + 3 * column[e]);
}

static void solvesWhatWasMultiplied(void **state)
{
    (void)state;
    spragArena arena = {0};
    for (int trial = 0; trial < 10; ++trial) {
        spragBlockLu lu;
        double x[3 * N], b[3 * N];
        makeMatrix();
        makeSides(x, b);
        spragArenaReset(&arena);
        assert_int_equal(spragBlockLuAnalyse(&lu, &(spragBlockPattern){3, N, row_start, column}, INFINITY, &arena), 1);
        for (int again = 0; again < 2; ++again) { /* numbers twice on one pattern */
            double y[3 * N];
            memcpy(y, b, sizeof y);
            assert_int_equal(spragBlockLuFactor(&lu, A), 1);
            spragBlockLuSolve(&lu, y);
            for (int i = 0; i < 3 * N; ++i)
                CHECK_NEAR(y[i], x[i], 1e-12);
            double *columns = SPRAG_TAKE_RAW(&arena, double, 12 * N), *work = SPRAG_TAKE_RAW(&arena, double, 12 * N);
            assert_true(columns != NULL && work != NULL);
            const int k = (3 * trial) % N; /* of the inverse, against the solution for a column of the identity */
            spragBlockLuColumns(&lu, k, columns, work);
            for (int j = 0; j < 3; ++j) {
                memset(y, 0, sizeof y);
                y[3 * k + j] = 1;
                spragBlockLuSolve(&lu, y);
                for (int i = 0; i < 3 * N; ++i)
                    CHECK_NEAR(columns[4 * i + j], y[i], 1e-12);
            }
        }
    }
    spragArenaFree(&arena);
}

static void threadsGiveTheSameBits(void **state)
{
    (void)state;
    spragArena arena = {0};
    for (int trial = 0; trial < 10; ++trial) {
        spragBlockLu one, other;
        makeMatrix();
        spragArenaReset(&arena);
        assert_int_equal(spragBlockLuAnalyse(&one, &(spragBlockPattern){3, N, row_start, column}, INFINITY, &arena), 1);
        assert_int_equal(spragBlockLuFactor(&one, A), 1);
        for (int threads = 1; threads <= 4; ++threads) {
            spragPool *pool = spragPoolMake(threads);
            assert_int_equal(
                spragBlockLuAnalyse(&other, &(spragBlockPattern){3, N, row_start, column}, INFINITY, &arena), 1);
            assert_int_equal(spragBlockLuShare(&other, pool, &arena), 1);
            for (int again = 0; again < 20; ++again) {
                assert_int_equal(spragBlockLuFactor(&other, A), 1);
                const size_t fill = (size_t)one.l_start[N];
                assert_memory_equal(other.L, one.L, 9 * fill * sizeof *one.L);
                assert_memory_equal(other.U, one.U, 12 * fill * sizeof *one.U);
                assert_memory_equal(other.inverse, one.inverse, 9 * N * sizeof *one.inverse);
            }
            spragPoolFree(pool);
        }
    }
    spragArenaFree(&arena);
}

/* Rows with a diagonal block alone are left out of the factors: the same solutions and columns, by any threads. */
static void bareRowsAreLeftOut(void **state)
{
    (void)state;
    spragArena arena = {0};
    for (int every = 2; every <= 5; ++every) {
        spragBlockLu lu, other;
        double x[3 * N], b[3 * N], y[3 * N], z[3 * N];
        makeMatrix();
        for (int i = 0; i < N; ++i)
            for (int e = row_start[i]; e < row_start[i + 1] && i % every == 0; ++e)
                if (column[e] != i)
                    memset(A + 9 * e, 0, 9 * sizeof *A);
        makeSides(x, b);
        spragArenaReset(&arena);
        const spragBlockPattern pattern = {3, N, row_start, column};
        assert_int_equal(spragBlockLuAnalyse(&lu, &pattern, INFINITY, &arena), 1);
        assert_int_equal(spragBlockLuFactor(&lu, A), 1);
        assert_int_equal(lu.bare_count, (N + every - 1) / every);
        memcpy(y, b, sizeof y);
        spragBlockLuSolve(&lu, y);
        for (int i = 0; i < 3 * N; ++i)
            CHECK_NEAR(y[i], x[i], 1e-12);
        spragPool *pool = spragPoolMake(3);
        assert_int_equal(spragBlockLuAnalyse(&other, &pattern, INFINITY, &arena), 1);
        assert_int_equal(spragBlockLuShare(&other, pool, &arena), 1);
        assert_int_equal(spragBlockLuFactor(&other, A), 1);
        memcpy(z, b, sizeof z);
        spragBlockLuSolve(&other, z);
        assert_memory_equal(y, z, sizeof y);
        spragPoolFree(pool);
        double *columns = SPRAG_TAKE_RAW(&arena, double, 12 * N), *work = SPRAG_TAKE_RAW(&arena, double, 12 * N);
        assert_true(columns != NULL && work != NULL);
        double *four = SPRAG_TAKE_RAW(&arena, double, 12 * N); /* four sides at once, the last one 0 */
        assert_non_null(four);
        for (int i = 0; i < 3 * N; ++i)
            for (int lane = 0; lane < 4; ++lane)
                four[4 * i + lane] = lane < 3 ? (lane + 1) * b[i] : 0;
        spragBlockLuSolveFour(&lu, four, work);
        for (int i = 0; i < 3 * N; ++i)
            for (int lane = 0; lane < 4; ++lane)
                CHECK_NEAR(four[4 * i + lane], lane < 3 ? (lane + 1) * x[i] : 0, 1e-11);
        for (int k = 0; k < 3 * N; ++k) { /* of the inverse: of bare rows too */
            if (k % 3 == 0)
                spragBlockLuColumns(&lu, k / 3, columns, work);
            memset(y, 0, sizeof y);
            y[k] = 1;
            spragBlockLuSolve(&lu, y);
            for (int i = 0; i < 3 * N; ++i)
                CHECK_NEAR(columns[4 * i + k % 3], y[i], 1e-12);
        }
    }
    spragArenaFree(&arena);
}

/* What was too dear is not analysed again, but is if there is more to spend. */
static void aMemoKnowsWhatIsTooDear(void **state)
{
    (void)state;
    spragArena arena = {0};
    spragBlockLuMemo memo = {0};
    spragBlockLu lu;
    makeMatrix();
    assert_int_equal(spragBlockLuAnalyse(&lu, &(spragBlockPattern){3, N, row_start, column}, INFINITY, &arena), 1);
    const double price = lu.products;
    for (int trial = 0; trial < 2; ++trial) {
        const double most = trial == 0 ? 0.5 * price : 2 * price; /* dear as it is known to be, the second time */
        assert_int_equal(
            spragBlockLuAnalyseAgain(&lu, &memo, &(spragBlockPattern){3, N, row_start, column}, most, &arena), -1);
        assert_true(memo.products == (trial == 0 ? price : 3 * price));
        memo.products = 3 * price;
    }
    for (int trial = 0; trial < 2; ++trial) {
        assert_int_equal(
            spragBlockLuAnalyseAgain(&lu, &memo, &(spragBlockPattern){3, N, row_start, column}, 4 * price, &arena), 1);
        assert_int_equal(memo.whole, 1);
        assert_true(lu.products == price && memo.products == price);
        assert_int_equal(spragBlockLuFactor(&lu, A), 1);
    }
    spragBlockLuMemoFree(&memo);
    spragArenaFree(&arena);
}

/* A pattern known and another one give what an analysis of their own gives. */
static void aMemoChangesNothing(void **state)
{
    (void)state;
    spragArena arena = {0};
    spragBlockLuMemo memo = {0};
    for (int trial = 0; trial < 12; ++trial) {
        spragBlockLu one, other;
        double x[3 * N], y[3 * N];
        if (trial % 3 == 0)
            makeMatrix();
        for (int i = 0; i < 3 * N; ++i)
            x[i] = y[i] = uniform(&seed);
        spragArenaReset(&arena);
        assert_int_equal(spragBlockLuAnalyse(&one, &(spragBlockPattern){3, N, row_start, column}, INFINITY, &arena), 1);
        if (trial % 3 != 0)
            memo.products = 1; /* to be seen: this is not found anew */
        assert_int_equal(
            spragBlockLuAnalyseAgain(&other, &memo, &(spragBlockPattern){3, N, row_start, column}, INFINITY, &arena),
            1);
        assert_true(other.products == (trial % 3 != 0 ? 1 : one.products));
        memo.products = one.products;
        assert_memory_equal(one.order, other.order, N * sizeof(int));
        assert_memory_equal(one.position, other.position, N * sizeof(int));
        assert_int_equal(spragBlockLuFactor(&one, A), 1);
        assert_int_equal(spragBlockLuFactor(&other, A), 1);
        spragBlockLuSolve(&one, x);
        spragBlockLuSolve(&other, y);
        assert_memory_equal(x, y, sizeof x);
        assert_int_equal(spragBlockLuAnalyseAgain(&other, &memo, &(spragBlockPattern){3, N, row_start, column},
                                                  0.5 * one.products, &arena),
                         -1);
    }
    spragBlockLuMemoFree(&memo);
    spragArenaFree(&arena);
}

static void singularIsSaid(void **state)
{
    (void)state;
    const int start[] = {0, 1, 2}, columns[] = {0, 1};
    const double blocks[18] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 0, 2, 4, 0, 0, 0, 1};
    spragArena arena = {0};
    spragBlockLu lu;
    assert_int_equal(spragBlockLuAnalyse(&lu, &(spragBlockPattern){3, 2, start, columns}, INFINITY, &arena), 1);
    assert_int_equal(spragBlockLuFactor(&lu, blocks), 0);
    spragPool *pool = spragPoolMake(2);
    assert_int_equal(spragBlockLuShare(&lu, pool, &arena), 1);
    assert_int_equal(spragBlockLuFactor(&lu, blocks), 0);
    spragPoolFree(pool);
    spragArenaFree(&arena);
}

/* M + sum of g g^T over pairs that are neighbours, up to 1e10 as stiff as M. */
static void makeDefinite(int b, double *M)
{
    memset(M, 0, (size_t)(b * b * row_start[N]) * sizeof *M);
    for (int i = 0; i < N; ++i)
        for (int e = row_start[i]; e < row_start[i + 1]; ++e) {
            const int j = column[e];
            double g[2][6] = {{0}};
            for (int a = 0; a < 2 * b && j > i; ++a)
                g[a / b][a % b] = uniform(&seed) * (i % 3 == 0 ? 1e5 : 1);
            const int pair[2] = {i, j};
            for (int row = 0; row < 2; ++row)
                for (int t = row_start[pair[row]]; t < row_start[pair[row] + 1]; ++t)
                    for (int other = 0; other < 2 && j > i; ++other)
                        for (int a = 0; a < b * b && column[t] == pair[other]; ++a)
                            M[b * b * t + a] += g[row][a / b] * g[other][a % b];
            for (int a = 0; a < b && j == i; ++a)
                M[b * b * e + a * (b + 1)] += 1;
        }
}

static double energyOf(int b, const double *M, const double *x)
{
    double sum = 0;
    for (int i = 0; i < N; ++i)
        for (int e = row_start[i]; e < row_start[i + 1]; ++e)
            for (int a = 0; a < b * b; ++a)
                sum += x[b * i + a / b] * M[b * b * e + a] * x[b * column[e] + a % b];
    return sum;
}

static void ofSymmetricMatricesHalf(void **state)
{
    (void)state;
    spragArena arena = {0};
    static double M[36 * ROOM];
    for (int trial = 0; trial < 10; ++trial) {
        const int b = trial % 2 == 0 ? 3 : 6;
        spragBlockLu lu, whole, other;
        double x[6 * N], y[6 * N] = {0};
        makeMatrix();
        makeDefinite(b, M);
        for (int i = 0; i < b * N; ++i)
            x[i] = uniform(&seed);
        for (int i = 0; i < N; ++i)
            for (int e = row_start[i]; e < row_start[i + 1]; ++e)
                for (int a = 0; a < b * b; ++a)
                    y[b * i + a / b] += M[b * b * e + a] * x[b * column[e] + a % b];
        spragArenaReset(&arena);
        assert_int_equal(
            spragBlockLuAnalyseSymmetric(&lu, &(spragBlockPattern){b, N, row_start, column}, INFINITY, &arena), 1);
        assert_int_equal(spragBlockLuAnalyse(&whole, &(spragBlockPattern){b, N, row_start, column}, INFINITY, &arena),
                         1);
        assert_true(lu.products < 0.6 * whole.products);
        assert_int_equal(spragBlockLuFactor(&lu, M), 1);
        spragBlockLuSolve(&lu, y);
        for (int i = 0; i < b * N; ++i)
            y[i] -= x[i];
        assert_true(energyOf(b, M, y) <= 1e-10 * energyOf(b, M, x)); /* what is soft beside 1e10: five digits */
        for (int threads = 2; threads <= 3; ++threads) {
            spragPool *pool = spragPoolMake(threads);
            assert_int_equal(
                spragBlockLuAnalyseSymmetric(&other, &(spragBlockPattern){b, N, row_start, column}, INFINITY, &arena),
                1);
            assert_int_equal(spragBlockLuShare(&other, pool, &arena), 1);
            assert_int_equal(spragBlockLuFactor(&other, M), 1);
            assert_memory_equal(other.U, lu.U, (size_t)(lu.padded * lu.u_start[N]) * sizeof *lu.U);
            assert_memory_equal(other.inverse, lu.inverse, (size_t)(b * b * N) * sizeof *lu.inverse);
            spragPoolFree(pool);
        }
        for (int i = 0; i < N; ++i)
            for (int e = row_start[i]; e < row_start[i + 1]; ++e)
                M[b * b * e] -= column[e] == i && i == N / 2 ? 1e12 : 0;
        assert_int_equal(spragBlockLuFactor(&lu, M), 0);
    }
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bareRowsAreLeftOut),      cmocka_unit_test(solvesWhatWasMultiplied),
        cmocka_unit_test(threadsGiveTheSameBits),  cmocka_unit_test(aMemoChangesNothing),
        cmocka_unit_test(aMemoKnowsWhatIsTooDear), cmocka_unit_test(singularIsSaid),
        cmocka_unit_test(ofSymmetricMatricesHalf)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
