/* Newton's equations among bodies and joints, against a dense solution of (A + B (W + soft)) x = g: W of bodies that
 * are free, or joined in trees and loops, rigidly or not.  What has no solution is told, and counted where joints may
 * be to blame. */
#include "support/check.h"
#include "support/random_pile.h"

#include <stdlib.h>

#include "linalg/lu.h"
#include "problem/residual.h"
#include "solve/newton/tangent.h"

enum { EACH = 8, JOINTS = 6, ROWS = 6 * (PILE_BODIES + JOINTS) };

/* A tree on the world, and a loop in it. */
static const int joint_of[2 * JOINTS] = {-1, 0, 0, 1, 1, 2, 2, 0, 5, 4, 6, 5};

typedef struct Joined {
    Pile pile;
    spragLinks links;
    double E[72 * JOINTS], diagonal[6 * JOINTS], own[9 * PILE_NC];
} Joined;

/* Two to five rows each; in a loop of three rigid ones no row says what others say. */
static void randomLinks(Joined *joined, double compliance, unsigned long long *seed)
{
    memset(joined->E, 0, sizeof joined->E);
    for (int j = 0; j < JOINTS; ++j)
        for (int row = 0; row < 6; ++row) {
            const int is = row < 2 + j % 4;
            joined->diagonal[6 * j + row] = is ? -compliance : 1;
            for (int side = 0; side < 2 && is; ++side)
                for (int c = 0; c < 6 && joint_of[2 * j + side] >= 0; ++c)
                    joined->E[36 * (2 * j + side) + 6 * row + c] = uniform(seed);
        }
    joined->links = (spragLinks){JOINTS, joint_of, joined->E, joined->diagonal};
    joined->pile.bodies.links = &joined->links;
    joined->pile.bodies.own = joined->own;
}

/* W = J X, where M X + E^T L = J^T, E X - c L = 0. */
static void joinedDelassus(Joined *joined)
{
    static double K[ROWS * ROWS], x[ROWS];
    static int pivot[ROWS];
    Pile *pile = &joined->pile;
    memset(K, 0, sizeof K);
    for (int i = 0; i < PILE_BODIES; ++i)
        for (int a = 0; a < 6; ++a)
            for (int b = 0; b < 6; ++b)
                K[(6 * i + a) * ROWS + 6 * i + b] = a < 3   ? (a == b ? pile->mass[i].mass : 0)
                                                    : b < 3 ? 0
                                                            : pile->mass[i].inertia[3 * (a - 3) + b - 3];
    for (int j = 0; j < JOINTS; ++j)
        for (int a = 0; a < 6; ++a) {
            const int row = 6 * (PILE_BODIES + j) + a;
            K[row * ROWS + row] = joined->diagonal[6 * j + a];
            for (int side = 0; side < 2; ++side)
                for (int c = 0; c < 6 && joint_of[2 * j + side] >= 0; ++c) {
                    const int column = 6 * joint_of[2 * j + side] + c;
                    K[row * ROWS + column] = K[column * ROWS + row] = joined->E[36 * (2 * j + side) + 6 * a + c];
                }
        }
    assert_int_equal(spragLuFactor(ROWS, K, pivot, 0), ROWS);
    for (int l = 0; l < PILE_NC; ++l)
        for (int i = 0; i < 3; ++i) {
            memset(x, 0, sizeof x);
            for (int side = 0; side < 2; ++side)
                for (int c = 0; c < 6 && pile->of[2 * l + side] >= 0; ++c)
                    x[6 * pile->of[2 * l + side] + c] += pile->J[l][side][i][c];
            spragLuSolve(ROWS, K, pivot, x);
            for (int k = 0; k < PILE_NC; ++k)
                for (int row = 0; row < 3; ++row) {
                    double *W = &pile->W[9 * (PILE_NC * k + l) + 3 * row + i];
                    *W = 0;
                    for (int side = 0; side < 2; ++side)
                        for (int c = 0; c < 6 && pile->of[2 * k + side] >= 0; ++c)
                            *W += pile->J[k][side][row][c] * x[6 * pile->of[2 * k + side] + c];
                }
        }
    for (int k = 0; k < PILE_NC; ++k) {
        for (int l = 0; l < PILE_NC; ++l)
            pile->column[PILE_NC * k + l] = l;
        pile->row_start[k + 1] = PILE_NC * (k + 1);
        memcpy(joined->own + 9 * k, pile->W + 9 * (PILE_NC * k + k), 9 * sizeof(double));
    }
    pile->problem.block_count = PILE_NC * PILE_NC;
}

/* What the problem is told: compliance on the diagonal of W is no part of the bodies' own. */
static void randomJoined(Joined *joined, unsigned long long seed, int linked, double compliance)
{
    memset(joined, 0, sizeof *joined);
    randomPile(&joined->pile, seed, 0.4, EACH);
    if (linked) {
        randomLinks(joined, compliance, &seed);
        joinedDelassus(joined);
        joined->pile.problem.linked = &joined->pile.bodies;
        joined->pile.problem.bodies = NULL;
    }
    mixPile(&joined->pile, EACH);
    softenPile(&joined->pile, 0.3);
}

/* Blocks that are open, stick or slide, and some that follow their parents. */
static void fillModes(spragTangent *t, double lambda, unsigned long long *seed)
{
    const spragProblem *p = t->problem;
    for (int k = 0; k < PILE_NC; ++k) {
        const double *W = p->W + 9 * spragProblemDiagonal(p, k), w = (W[0] + W[4] + W[8]) / 3;
        double *A = t->A + 9 * k, *B = t->B + 9 * k;
        t->soft[k] = lambda * w;
        memset(t->load + 3 * k, 0, 3 * sizeof(double));
        for (int i = 0; i < 9; ++i) {
            A[i] = k % 3 == 0 ? (i % 4 == 0) * w : 0.05 * w * uniform(seed);
            B[i] = k % 3 == 0 ? 0 : (i % 4 == 0) + 0.1 * uniform(seed);
        }
        for (int i = 0; i < 3 && p->parent[k] >= 0; ++i)
            t->load[3 * k + i] = 0.3 * w * uniform(seed);
    }
}

/* S (PILE_N x PILE_N) = A + B (W + soft), and columns of loads */
static void denseOf(const spragTangent *t, double *S)
{
    const spragProblem *p = t->problem;
    memset(S, 0, PILE_N * PILE_N * sizeof *S);
    for (int k = 0; k < PILE_NC; ++k)
        for (int i = 0; i < 3; ++i) {
            double *row = S + (3 * k + i) * PILE_N;
            for (int j = 0; j < 3; ++j) {
                const double B = t->B[9 * k + 3 * i + j];
                row[3 * k + j] += t->A[9 * k + 3 * i + j] + t->soft[k] * B;
                for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
                    for (int c = 0; c < 3; ++c)
                        row[3 * p->column[e] + c] += B * p->W[9 * e + 3 * j + c];
            }
            if (p->parent[k] >= 0)
                row[3 * p->parent[k]] += t->load[3 * k + i];
        }
}

/* max |g - S x| */
static double missOf(const double *S, const double *g, const double *x)
{
    double most = 0;
    for (int i = 0; i < PILE_N; ++i) {
        double left = g[i];
        for (int j = 0; j < PILE_N; ++j)
            left -= S[i * PILE_N + j] * x[j];
        most = fmax(most, fabs(left));
    }
    return most;
}

static void openBodies(spragTangent *t, const Joined *joined, spragArena *arena)
{
    assert_int_equal(
        spragTangentInit(t, &joined->pile.problem, joined->pile.parent, SPRAG_TANGENT_BODIES, INFINITY, arena), 1);
    assert_ptr_equal(t->bodies, &joined->pile.bodies);
}

static void solutionsAreThoseOfTheDenseMatrix(void **state)
{
    (void)state;
    Joined *joined = malloc(sizeof *joined);
    static const double lambda[] = {1, 1e-2, 1e-5};
    static double S[PILE_N * PILE_N];
    static int pivot[PILE_N];
    for (unsigned long long seed = 1; seed <= 12; ++seed) {
        spragArena arena = {0};
        spragTangent t;
        unsigned long long random = seed + 100;
        double g[PILE_N], x[PILE_N], dense[PILE_N], size = 0;
        randomJoined(joined, seed, seed % 3 != 0, seed % 3 == 1 ? 0 : 0.1);
        openBodies(&t, joined, &arena);
        fillModes(&t, lambda[seed / 3 % 3], &random);
        for (int i = 0; i < PILE_N; ++i)
            x[i] = g[i] = uniform(&random);
        assert_int_equal(spragTangentFactor(&t), 1);
        spragTangentSolve(&t, x);
        denseOf(&t, S);
        assert_int_equal(spragLuFactor(PILE_N, S, pivot, 0), PILE_N);
        memcpy(dense, g, sizeof dense);
        spragLuSolve(PILE_N, S, pivot, dense);
        for (int i = 0; i < PILE_N; ++i)
            size = fmax(size, fabs(dense[i]));
        for (int i = 0; i < PILE_N; ++i)
            CHECK_NEAR(x[i], dense[i], 1e-8 * size);
        assert_int_equal(t.refused, 0);
        spragArenaFree(&arena);
    }
    free(joined);
}

/* What is left of g is brought below what the caller asks for. */
static void solutionsAreRefined(void **state)
{
    (void)state;
    Joined *joined = malloc(sizeof *joined);
    static const double accuracy[] = {INFINITY, SPRAG_TANGENT_ROUGH, SPRAG_TANGENT_REFINED};
    double left[3] = {0, 0, 0};
    for (unsigned long long seed = 1; seed <= 6; ++seed)
        for (int a = 0; a < 3; ++a) {
            spragArena arena = {0};
            spragTangent t;
            unsigned long long random = seed;
            static double S[PILE_N * PILE_N];
            double x[PILE_N], g[PILE_N];
            randomJoined(joined, seed, seed % 2, 0);
            openBodies(&t, joined, &arena);
            fillModes(&t, 1e-8, &random);
            for (int k = 0; k < PILE_NC; k += 2) /* stick without softness of their own */
                for (int i = 0; i < 9; ++i)
                    t.A[9 * k + i] = 0, t.B[9 * k + i] = i % 4 == 0;
            t.accuracy = accuracy[a];
            for (int i = 0; i < PILE_N; ++i)
                x[i] = g[i] = uniform(&random);
            assert_int_equal(spragTangentFactor(&t), 1);
            spragTangentSolve(&t, x);
            assert_int_equal(t.refused, 0);
            denseOf(&t, S);
            left[a] = fmax(left[a], missOf(S, g, x));
            spragArenaFree(&arena);
        }
    assert_true(left[1] <= SPRAG_TANGENT_ROUGH);
    assert_true(left[2] < 0.1 * left[0]);
    free(joined);
}

/* A row of a joint that holds nothing and does not yield has no pivot: of joints that is counted.  A block that has
 * none, D = 0, is nobody's fault but the caller's. */
static void whatIsSingularIsTold(void **state)
{
    (void)state;
    Joined *joined = malloc(sizeof *joined);
    for (int linked = 0; linked < 2; ++linked)
        for (int block = 0; block < 2; ++block) {
            spragArena arena = {0};
            spragTangent t;
            unsigned long long random = 1;
            randomJoined(joined, 1, linked, 0.1);
            openBodies(&t, joined, &arena);
            fillModes(&t, 1e-2, &random);
            assert_int_equal(spragTangentFactor(&t), 1);
            if (block)
                memset(t.A, 0, 9 * sizeof(double)); /* of an open contact */
            else
                joined->diagonal[5] = 0;
            const int singular = block || linked;
            assert_int_equal(spragTangentFactor(&t), !singular);
            assert_int_equal(t.refused, linked && !block);
            spragArenaFree(&arena);
        }
    free(joined);
}

/* What refinement does not bring near is counted, whatever it is, and not worse than before. */
static void whatIsFarIsRefused(void **state)
{
    (void)state;
    static double S[PILE_N * PILE_N];
    Joined *joined = malloc(sizeof *joined);
    spragArena arena = {0};
    spragTangent t;
    unsigned long long random = 1;
    double g[PILE_N], x[PILE_N];
    randomJoined(joined, 1, 0, 0);
    openBodies(&t, joined, &arena);
    fillModes(&t, 1e-2, &random);
    assert_int_equal(spragTangentFactor(&t), 1);
    for (int i = 0; i < PILE_N; ++i)
        x[i] = g[i] = uniform(&random);
    spragTangentSolve(&t, x);
    assert_int_equal(t.refused, 0);
    memcpy(x, g, sizeof x);
    x[7] = NAN;
    spragTangentSolve(&t, x);
    assert_int_equal(t.refused, 1);
    for (int i = 0; i < 9 * PILE_NC; ++i) /* the factors are of other modes */
        t.B[i] *= -3;
    denseOf(&t, S);
    double miss[2];
    for (int refined = 0; refined < 2; ++refined) {
        memcpy(x, g, sizeof x);
        t.accuracy = refined ? SPRAG_TANGENT_REFINED : INFINITY;
        spragTangentSolve(&t, x);
        miss[refined] = missOf(S, g, x);
        assert_int_equal(t.refused, 2 + refined);
    }
    assert_true(miss[1] <= miss[0] * (1 + 1e-9));
    spragArenaFree(&arena);
    free(joined);
}

/* The price is that of factors, and of adding each contact to them. */
static void priceIsKept(void **state)
{
    (void)state;
    Joined *joined = malloc(sizeof *joined);
    for (int linked = 0; linked < 2; ++linked) {
        spragArena arena = {0};
        spragTangent t;
        randomJoined(joined, 2, linked, 0.1);
        openBodies(&t, joined, &arena);
        const double price = t.price;
        assert_true(price > t.lu.products + PILE_NC);
        for (int less = 0; less < 2; ++less)
            assert_int_equal(spragTangentInit(&t, &joined->pile.problem, joined->pile.parent, SPRAG_TANGENT_BODIES,
                                              price - less, &arena),
                             less ? -1 : 1);
        spragArenaFree(&arena);
    }
    free(joined);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(solutionsAreThoseOfTheDenseMatrix),
                                       cmocka_unit_test(solutionsAreRefined), cmocka_unit_test(whatIsSingularIsTold),
                                       cmocka_unit_test(whatIsFarIsRefused), cmocka_unit_test(priceIsKept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
