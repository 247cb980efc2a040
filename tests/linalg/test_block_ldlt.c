/* L D L^T in blocks: random mechanisms against the equations they are to solve, with their pattern, zeros where the
 * reach says so, and rows that depend on others. */
#include "support/check.h"
#include "support/uniform.h"

#include <string.h>

#include "linalg/block_ldlt.h"

enum { N = 9, GROUPS = 7, R = SPRAG_JOINED_ROWS, S = SPRAG_JOINED_STRIDE, MOST = R * N };

/* E (rows x 6 for each of a block row's two groups): A = E E^T where groups are shared. */
typedef struct System {
    int size[N], group[N][2];
    double E[N][2][R][6], compliance;
    spragArena arena;
    spragBlockLdlt f;
} System;

static unsigned long long seed = 11;

static int whole(int below)
{
    return (int)(0.5 * (uniform(&seed) + 1) * below);
}

static double entry(const System *s, int i, int r, int j, int c)
{
    double sum = 0;
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b)
            for (int k = 0; k < 6 && s->group[i][a] >= 0 && s->group[i][a] == s->group[j][b]; ++k)
                sum += s->E[i][a][r][k] * s->E[j][b][c][k];
    return sum + (i == j && r == c ? s->compliance : 0);
}

/* Groups and rows at random; the first block rows form a chain, so that some mechanisms are trees and some are not. */
static void randomSystem(System *s)
{
    memset(s, 0, sizeof *s);
    s->compliance = 0.1;
    for (int i = 0; i < N; ++i) {
        s->size[i] = 1 + whole(R);
        s->group[i][0] = i < 4 ? i : whole(GROUPS);
        s->group[i][1] = i < 4 ? i + 1 : whole(GROUPS + 1) - 1;
        if (s->group[i][1] == s->group[i][0])
            s->group[i][1] = -1;
        for (int a = 0; a < 2; ++a)
            for (int r = 0; r < R; ++r)
                for (int k = 0; k < 6; ++k)
                    s->E[i][a][r][k] = s->group[i][a] < 0 ? 0 : uniform(&seed);
    }
}

static void fill(const System *s, int i, int j, double *block)
{
    memset(block, 0, SPRAG_JOINED_BLOCK * sizeof *block);
    for (int c = 0; c < s->size[j]; ++c)
        for (int r = 0; r < s->size[i]; ++r)
            block[S * c + r] = entry(s, i, r, j, c);
}

/* Also checks that no A_ij is left out of the pattern. */
static void factor(System *s)
{
    spragBlockLdlt *f = &s->f;
    assert_true(spragBlockLdltAnalyse(f, &s->arena, N, (const int(*)[2])s->group, GROUPS));
    assert_true(spragBlockLdltTake(f, &s->arena));
    memcpy(f->size, s->size, sizeof s->size);
    for (int i = 0; i < N; ++i) {
        int at = f->start[i];
        fill(s, i, i, f->diagonal + SPRAG_JOINED_BLOCK * i);
        for (int j = 0; j < i; ++j) {
            double block[SPRAG_JOINED_BLOCK];
            fill(s, i, j, block);
            if (at < f->start[i + 1] && f->column[at] == j) {
                memcpy(f->L + SPRAG_JOINED_BLOCK * at++, block, sizeof block);
                continue;
            }
            for (int k = 0; k < SPRAG_JOINED_BLOCK; ++k)
                assert_true(block[k] == 0);
        }
        assert_int_equal(at, f->start[i + 1]);
    }
    spragBlockLdltFactor(f);
}

/* Column `lane` of X: the worst of A x - b. */
static void solve(System *s, const double b[MOST], double x[MOST])
{
    double X[MOST][SPRAG_JOINED_LANES] __attribute__((aligned(32))) = {{0}};
    const int lane = whole(SPRAG_JOINED_LANES);
    for (int i = 0; i < MOST; ++i)
        X[i][lane] = b[i];
    spragBlockLdltForward(&s->f, N, NULL, X[0]);
    for (int i = 0; i < MOST; ++i)
        x[i] = i % R < s->size[i / R] ? X[i][lane] * s->f.inverse_pivot[i] : 0;
    spragBlockLdltBackward(&s->f, x);
}

static double worst(const System *s, const double b[MOST], const double x[MOST])
{
    double most = 0;
    for (int i = 0; i < N; ++i)
        for (int r = 0; r < s->size[i]; ++r) {
            double sum = -b[R * i + r];
            for (int j = 0; j < N; ++j)
                for (int c = 0; c < s->size[j]; ++c)
                    sum += entry(s, i, r, j, c) * x[R * j + c];
            most = fmax(most, fabs(sum));
        }
    return most;
}

static void randomSide(const System *s, double b[MOST])
{
    for (int i = 0; i < MOST; ++i)
        b[i] = i % R < s->size[i / R] ? uniform(&seed) : 0;
}

static void mechanismsAreSolved(void **state)
{
    (void)state;
    for (int trial = 0; trial < 200; ++trial) {
        System s;
        double b[MOST], x[MOST];
        randomSystem(&s);
        factor(&s);
        randomSide(&s, b);
        solve(&s, b, x);
        CHECK_NEAR(worst(&s, b, x), 0, 1e-11);
        spragArenaFree(&s.arena);
    }
}

/* A right-hand side of two groups, in its reach and in all rows: the same, and zero elsewhere. */
static void theReachIsWhereItIsNotZero(void **state)
{
    (void)state;
    for (int trial = 0; trial < 200; ++trial) {
        System s;
        int list[N];
        randomSystem(&s);
        factor(&s);
        const int group[2] = {whole(GROUPS), whole(GROUPS + 1) - 1};
        double all[MOST][4] __attribute__((aligned(32))) = {{0}}, some[MOST][4] __attribute__((aligned(32))) = {{0}};
        const int count = spragBlockLdltReach(&s.f, group, list);
        for (int i = 0; i < N; ++i)
            for (int a = 0; a < 4; ++a)
                for (int r = 0; r < s.size[i] && s.group[i][a / 2] >= 0 && s.group[i][a / 2] == group[a % 2]; ++r)
                    all[R * i + r][1] = uniform(&seed);
        for (int p = 0; p < count; ++p) {
            assert_true(p == 0 || list[p] > list[p - 1]);
            memcpy(some[R * p], all[R * list[p]], R * sizeof *some);
        }
        spragBlockLdltForward(&s.f, N, NULL, all[0]);
        spragBlockLdltForward(&s.f, count, list, some[0]);
        for (int i = 0, p = 0; i < N; ++i) {
            static const double zero[R][4];
            const int inside = p < count && list[p] == i;
            assert_memory_equal(all[R * i], inside ? some[R * p] : zero[0], sizeof zero);
            p += inside;
        }
        spragArenaFree(&s.arena);
    }
}

/* A chain of joints without compliance; the last joint lies beside the first, and its last row is one of that one's: it
 * carries nothing, and the equations hold. */
static void aRedundantRowCarriesNothing(void **state)
{
    (void)state;
    for (int trial = 0; trial < 50; ++trial) {
        System s;
        double b[MOST], x[MOST];
        randomSystem(&s);
        s.compliance = 0;
        for (int i = 0; i < N; ++i) {
            s.size[i] = 3;
            s.group[i][0] = i % (GROUPS - 1);
            s.group[i][1] = s.group[i][0] + 1;
            for (int k = 0; k < 2 * R * 6; ++k)
                (&s.E[i][0][0][0])[k] = uniform(&seed);
        }
        const int twin = (N - 1) % (GROUPS - 1), last = R * (N - 1) + 2;
        for (int a = 0; a < 2; ++a)
            memcpy(s.E[N - 1][a][2], s.E[twin][a][1], sizeof s.E[0][0][0]);
        factor(&s);
        randomSide(&s, b);
        b[last] = b[R * twin + 1];
        solve(&s, b, x);
        CHECK_NEAR(x[last], 0, 0);
        CHECK_NEAR(worst(&s, b, x), 0, 1e-9);
        spragArenaFree(&s.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mechanismsAreSolved),
        cmocka_unit_test(theReachIsWhereItIsNotZero),
        cmocka_unit_test(aRedundantRowCarriesNothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
