/* The equations of a Newton step: the spaces of contacts and of bodies have the
 * same answers, and Newton's methods too. */
#include "support/check.h"
#include "support/random_pile.h"

#include <string.h>

#include "base/alloc.h"
#include "problem/residual.h"
#include "solve/newton/tangent.h"
#include "solve/solver.h"

enum { EACH = 10 };

static double scaleOf(const spragProblem *p, int k)
{
    const double *W = p->W + 9 * spragProblemDiagonal(p, k);
    return (W[0] + W[4] + W[8]) / 3;
}

/* Contacts that are open, stick or slide (r_t = -mu e r_n), rolling blocks that follow their parents. */
static void fillModes(spragTangent *t, double lambda, unsigned long long seed)
{
    const spragProblem *p = t->problem;
    for (int k = 0; k < p->contact_count; ++k) {
        const double w = scaleOf(p, k), angle = 3 * uniform(&seed);
        const int mode = (int)(1.5 * (1 + uniform(&seed)));
        double *A = t->A + 9 * k, *B = t->B + 9 * k;
        memset(A, 0, 9 * sizeof *A), memset(B, 0, 9 * sizeof *B);
        t->soft[k] = lambda * w;
        B[0] = mode > 0, A[0] = mode == 0 ? w : 0;
        for (int i = 1; i < 3; ++i) {
            A[4 * i] = mode == 1 ? 0 : w, B[4 * i] = mode == 1;
            A[3 * i] = mode == 2 ? w * p->mu[k] * (i == 1 ? cos(angle) : sin(angle)) : 0;
        }
        if (t->load != NULL && p->parent[k] >= 0) {
            memset(A, 0, 9 * sizeof *A), memset(B, 0, 9 * sizeof *B);
            B[0] = B[4] = 1, A[8] = w, t->load[3 * k + 2] = 0.1 * w;
        }
    }
}

/* max |g - (A + B (W + soft)) x|, straight from W. */
static double missOf(const spragTangent *t, const double *g, const double *x)
{
    const spragProblem *p = t->problem;
    double worst = 0;
    for (int k = 0; k < p->contact_count; ++k) {
        double u[3], Ax[3], Bu[3];
        for (int i = 0; i < 3; ++i)
            u[i] = t->soft[k] * x[3 * k + i];
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
            spragMulAdd33(u, p->W + 9 * e, x + 3 * p->column[e]);
        spragMul33(Ax, t->A + 9 * k, x + 3 * k), spragMul33(Bu, t->B + 9 * k, u);
        for (int i = 0; i < 3; ++i) {
            const double load = t->load != NULL && p->parent[k] >= 0 ? t->load[3 * k + i] * x[3 * p->parent[k]] : 0;
            worst = fmax(worst, fabs(g[3 * k + i] - Ax[i] - Bu[i] - load));
        }
    }
    return worst;
}

/* g = (A + B W) x of a tangent without softness and parents. */
static void rightSide(const spragTangent *t, const double *x, double *g)
{
    const spragProblem *p = t->problem;
    for (int k = 0; k < p->contact_count; ++k) {
        double u[3] = {0, 0, 0}, Bu[3];
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
            spragMulAdd33(u, p->W + 9 * e, x + 3 * p->column[e]);
        spragMul33(g + 3 * k, t->A + 9 * k, x + 3 * k), spragMul33(Bu, t->B + 9 * k, u);
        for (int i = 0; i < 3; ++i)
            g[3 * k + i] += Bu[i];
    }
}

/* Both leave as little.  How far apart they are depends on lambda and on how near the modes are to a paradox. */
static void checkSpaces(const Pile *pile, double lambda, unsigned long long seed)
{
    spragArena arena = {0};
    spragTangent contacts, bodies;
    double g[PILE_N], x[PILE_N], y[PILE_N], z[PILE_N], size = 0;
    assert_int_equal(
        spragTangentInit(&contacts, &pile->problem, pile->problem.parent, SPRAG_TANGENT_CONTACTS, INFINITY, &arena), 1);
    assert_int_equal(
        spragTangentInit(&bodies, &pile->problem, pile->problem.parent, SPRAG_TANGENT_CHEAPER, INFINITY, &arena), 1);
    assert_null(contacts.bodies);
    assert_non_null(bodies.bodies);
    assert_true(bodies.price < 0.5 * contacts.price);
    fillModes(&contacts, lambda, seed), fillModes(&bodies, lambda, seed);
    for (int i = 0; i < PILE_N; ++i)
        x[i] = y[i] = z[i] = g[i] = uniform(&seed);
    assert_int_equal(spragTangentFactor(&contacts), 1);
    spragTangentSolve(&contacts, x);
    for (int again = 0; again < 2; ++again) {
        memcpy(y, g, sizeof y);
        assert_int_equal(spragTangentFactor(&bodies), 1);
        spragTangentSolve(&bodies, y);
        if (again == 0)
            memcpy(z, y, sizeof z);
    }
    assert_memory_equal(y, z, sizeof y); /* the same bits */
    assert_int_equal(bodies.refused, 0);
    for (int i = 0; i < PILE_N; ++i)
        size = fmax(size, fabs(x[i]));
    assert_true(missOf(&bodies, g, y) <= fmax(2 * missOf(&bodies, g, x), 1e-11));
    for (int i = 0; i < PILE_N && lambda >= 1e-3; ++i)
        CHECK_NEAR(y[i], x[i], 1e-5 * size);
    spragArenaFree(&arena);
}

static void spacesAgree(void **state)
{
    (void)state;
    static Pile pile;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        randomPile(&pile, seed, 0.4, EACH);
        checkSpaces(&pile, 1e-2, seed);
        checkSpaces(&pile, 1e-7, seed); /* of a singular W: ten contacts between two bodies */
        softenPile(&pile, 0.3);
        checkSpaces(&pile, 1e-3, seed);
        mixPile(&pile, EACH);
        checkSpaces(&pile, 1e-3, seed);
    }
}

/* A rigid contact that sticks, and no softness: its impulse cannot be told from the velocities. */
static void rigidNeedsSoftness(void **state)
{
    (void)state;
    static Pile pile;
    spragArena arena = {0};
    spragTangent tangent;
    randomPile(&pile, 3, 0.4, EACH);
    assert_int_equal(spragTangentInit(&tangent, &pile.problem, NULL, SPRAG_TANGENT_CHEAPER, INFINITY, &arena), 1);
    memset(tangent.compliance, 0, 9 * (size_t)PILE_NC * sizeof(double)); /* but for rounding it is */
    fillModes(&tangent, 0, 1);
    assert_int_equal(spragTangentFactor(&tangent), 0);
    spragArenaFree(&arena);
}

/* As an interior method has it near its end: contacts that all but hold, 1e-13 of W, beside open ones.  W's null space,
 * ten contacts on a body, has nothing but the former in it. */
static void pivotsKeepWhatIsSmall(void **state)
{
    (void)state;
    static Pile pile;
    for (unsigned long long seed = 1; seed <= 4; ++seed) {
        spragArena arena = {0};
        spragTangent tangent;
        double wanted[3 * PILE_NC], g[3 * PILE_NC], x[3 * PILE_NC], miss[2];
        unsigned long long random = seed;
        randomPile(&pile, seed, 0.4, EACH);
        assert_int_equal(spragTangentInit(&tangent, &pile.problem, NULL, SPRAG_TANGENT_CONTACTS, INFINITY, &arena), 1);
        for (int k = 0; k < PILE_NC; ++k)
            for (int i = 0; i < 3; ++i) {
                tangent.A[9 * k + 4 * i] = scaleOf(&pile.problem, k) * (k % 5 == 0 ? 10 : 1e-13);
                tangent.B[9 * k + 4 * i] = 1;
                wanted[3 * k + i] = uniform(&random);
            }
        for (int pivoted = 0; pivoted < 2; ++pivoted) {
            rightSide(&tangent, wanted, g);
            memcpy(x, g, sizeof x);
            if (pivoted)
                assert_true(spragTangentPivot(&tangent, &arena));
            assert_int_equal(spragTangentFactor(&tangent), 1);
            spragTangentSolve(&tangent, x);
            miss[pivoted] = missOf(&tangent, g, x);
        }
        assert_true(miss[1] <= 1e-11);
        assert_true(miss[1] < 0.1 * miss[0]);
        spragArenaFree(&arena);
    }
}

static void newtonAgrees(void **state)
{
    (void)state;
    static Pile pile;
    const spragSolveOptions options = {.tolerance = 1e-11};
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        spragArena arena = {0};
        spragSolveInfo info = {0};
        double r[PILE_N] = {0}, s[PILE_N] = {0}, again[PILE_N] = {0}, u[PILE_N], v[PILE_N];
        randomPile(&pile, seed, 0.2, EACH);
        if (seed % 2 == 0)
            mixPile(&pile, EACH);
        assert_int_equal(spragSolverNewton.solve(&pile.problem, &options, &arena, r, &info), SPRAG_OK);
        assert_int_equal(spragSolverNewton.solve(&pile.problem, &options, &arena, again, &info), SPRAG_OK);
        assert_memory_equal(r, again, sizeof r);
        pile.problem.bodies = NULL;
        assert_int_equal(spragSolverNewton.solve(&pile.problem, &options, &arena, s, &info), SPRAG_OK);
        assert_true(spragProblemResidual(&pile.problem, r) <= 1e-11);
        spragProblemVelocity(&pile.problem, r, u), spragProblemVelocity(&pile.problem, s, v);
        for (int i = 0; i < PILE_N && seed % 2; ++i) /* of mixed kinds there are several answers */
            CHECK_NEAR(u[i], v[i], 1e-9);
        spragArenaFree(&arena);
    }
}

static void limitsAreKept(void **state)
{
    (void)state;
    static Pile pile;
    spragArena arena = {0};
    spragTangent tangent;
    randomPile(&pile, 1, 0.4, EACH);
    assert_int_equal(spragTangentInit(&tangent, &pile.problem, NULL, SPRAG_TANGENT_CHEAPER, 10, &arena), -1);
    spragArenaFree(&arena);
    for (int fail = 1, made = 0; !made; ++fail) { /* every allocation, until none is left to fail */
        spragAllocFailAt((unsigned long)fail);
        made = spragTangentInit(&tangent, &pile.problem, NULL, SPRAG_TANGENT_CHEAPER, INFINITY, &arena);
        spragAllocFailAt(0);
        assert_true(made >= 0);
        spragArenaFree(&arena);
        assert_true(made || fail < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spacesAgree), cmocka_unit_test(rigidNeedsSoftness),
                                       cmocka_unit_test(pivotsKeepWhatIsSmall), cmocka_unit_test(newtonAgrees),
                                       cmocka_unit_test(limitsAreKept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
