/* The verdict against the Routh-Hurwitz test on random slopes, and on what sticks, slides and is hyperstatic. */
#include "support/check.h"
#include "support/random_problem.h"

#include "base/alloc.h"
#include "solve/search/small_friction.h"

enum { M = 3 };

typedef struct Sliders {
    spragProblem problem;
    double W[9 * M * M], q[3 * M], mu[M];
    int row_start[M + 1], column[M * M];
} Sliders;

/* m contacts with mu = 1 sliding along t1, of mobilities scale_k^2 (1/kg): G_ij = W_nn - W_nt1 = scale_i scale_j times
 * the matrix asked. */
static void slidersInit(Sliders *s, int m, const double *G, const double *scale)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < m; ++i) {
        s->mu[i] = 1;
        s->row_start[i + 1] = m * (i + 1);
        for (int j = 0; j < m; ++j) {
            double *W = s->W + 9 * (m * i + j);
            s->column[m * i + j] = j;
            W[0] = i == j ? 1 : 0;
            W[1] = W[0] - G[m * i + j];
            W[4] = W[8] = W[0];
            for (int a = 0; a < 9; ++a)
                W[a] *= scale[i] * scale[j];
        }
    }
    s->problem = (spragProblem){.contact_count = m,
                                .block_count = m * m,
                                .row_start = s->row_start,
                                .column = s->column,
                                .W = s->W,
                                .q = s->q,
                                .mu = s->mu};
}

static int verdict(const spragProblem *problem, const double *r, const double *u)
{
    spragArena arena = {0};
    spragProximal proximal;
    assert_true(spragProximalInit(&proximal, problem, &arena));
    const int answer = spragSmallFriction(&proximal, &arena, r, u);
    spragArenaFree(&arena);
    return answer;
}

static const double equal[M] = {1, 1, 1};

static int slidersVerdict(int m, const double *G, const double *scale)
{
    Sliders s;
    double r[3 * M] = {0}, u[3 * M] = {0};
    slidersInit(&s, m, G, scale);
    for (int i = 0; i < m; ++i)
        r[3 * i] = 1, r[3 * i + 1] = -1, u[3 * i + 1] = 1;
    return verdict(&s.problem, r, u);
}

static void oneContactIsTheSlope(void **state)
{
    (void)state;
    const double positive = 0.01, negative = -0.01;
    assert_int_equal(slidersVerdict(1, &positive, equal), 1);
    assert_int_equal(slidersVerdict(1, &negative, equal), 0);
}

/* det > 0 with both eigenvalues negative: the determinant alone would let it pass. */
static void twoSaddles(void **state)
{
    (void)state;
    const double saddles[4] = {-1.5, 0.01, 0.01, -1.5}, flutter[4] = {-0.1, 2, -2, -0.1}, spiral[4] = {0.1, 2, -2, 0.1};
    assert_int_equal(slidersVerdict(2, saddles, equal), 0);
    assert_int_equal(slidersVerdict(2, flutter, equal), 0);
    assert_int_equal(slidersVerdict(2, spiral, equal), 1);
}

/* All eigenvalues of G to the right: s^3 + a1 s^2 + a2 s + a3 of -G has a1, a3 > 0 and a1 a2 > a3. */
static void routhHurwitz(void **state)
{
    (void)state;
    unsigned long long seed = 21;
    int stable = 0, unstable = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        double G[9];
        for (int i = 0; i < 9; ++i)
            G[i] = uniform(&seed) + (i % 4 == 0 ? 0.5 : 0);
        const double a1 = G[0] + G[4] + G[8];
        const double a2 = G[0] * G[4] - G[1] * G[3] + G[0] * G[8] - G[2] * G[6] + G[4] * G[8] - G[5] * G[7];
        const double a3 = G[0] * (G[4] * G[8] - G[5] * G[7]) - G[1] * (G[3] * G[8] - G[5] * G[6]) +
                          G[2] * (G[3] * G[7] - G[4] * G[6]);
        if (fabs(a3) < 0.02 || fabs(a1 * a2 - a3) < 0.02 || fabs(a1) < 0.02)
            continue; /* within the margin */
        const int expected = a1 > 0 && a3 > 0 && a1 * a2 > a3;
        assert_int_equal(slidersVerdict(3, G, equal), expected);
        assert_int_equal(slidersVerdict(3, G, (double[M]){1, 1e-3, 30}), expected);
        stable += expected, unstable += !expected;
    }
    assert_true(stable > 500 && unstable > 500);
}

/* A contact that parts does not bear, whatever rounding has left of its impulse. */
static void whatPartsDoesNotBear(void **state)
{
    (void)state;
    const double G[4] = {-0.5, 0, 0, 0.5};
    Sliders s;
    slidersInit(&s, 2, G, equal);
    const double r[6] = {1e-80, -1e-80, 0, 1, -1, 0}, parting[6] = {1e-3, 1, 0, 1e-16, 1, 0};
    const double bearing[6] = {-1e-90, 1, 0, 1e-16, 1, 0};
    assert_int_equal(verdict(&s.problem, r, parting), 1);
    assert_int_equal(verdict(&s.problem, r, bearing), 0);
}

/* A heavy body on a separatrix beside a light one that slides, and in other units of mass: the same verdict. */
static void heavyBesideLight(void **state)
{
    (void)state;
    const double G[4] = {1, 0, 0, -0.5};
    for (double scale = 1e-6; scale < 1e7; scale *= 10) {
        assert_int_equal(slidersVerdict(2, G, (double[M]){1, scale}), 0);
        assert_int_equal(slidersVerdict(2, G, (double[M]){scale, scale}), 0);
    }
}

/* Zeros of a hyperstatic G, also in a Jordan block, are no saddles. */
static void hyperstatic(void **state)
{
    (void)state;
    const double rank_one[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, skewed[9] = {1, 0.5, 2, 1, 0.5, 2, 1, 0.5, 2};
    const double jordan[9] = {0, 1, 0, 0, 0, 0, 0, 0, 1};
    assert_int_equal(slidersVerdict(3, rank_one, equal), 1);
    assert_int_equal(slidersVerdict(3, skewed, equal), 1);
    assert_int_equal(slidersVerdict(3, jordan, equal), 1);
}

/* Contacts that are open or stick are not asked; a sticking one stiffens its neighbour. */
static void onlyWhatSlides(void **state)
{
    (void)state;
    const double G[4] = {-1, 0, 0, 1};
    Sliders s;
    slidersInit(&s, 2, G, equal);
    const double stuck[6] = {1, -0.5, 0, 1, -1, 0}, u[6] = {0, 0, 0, 0, 1, 0}, open[6] = {0, 0, 0, 1, -1, 0};
    const double sliding[6] = {1, -1, 0, 1, -1, 0}, moving[6] = {0, 1, 0, 0, 1, 0};
    assert_int_equal(verdict(&s.problem, stuck, u), 1);
    assert_int_equal(verdict(&s.problem, open, moving), 1);
    assert_int_equal(verdict(&s.problem, sliding, moving), 0);
}

/* Beyond 32 that slide only the sign of det G is asked: two saddles hide each other. */
static void manyThatSlide(void **state)
{
    (void)state;
    enum { MANY = 40 };
    double W[9 * MANY] = {0}, q[3 * MANY] = {0}, mu[MANY], r[3 * MANY] = {0}, u[3 * MANY] = {0};
    int row_start[MANY + 1], column[MANY];
    for (int k = 0; k < MANY; ++k) {
        W[9 * k] = W[9 * k + 4] = W[9 * k + 8] = mu[k] = 1;
        row_start[k] = column[k] = k;
        r[3 * k] = 1, r[3 * k + 1] = -1, u[3 * k + 1] = 1;
    }
    row_start[MANY] = MANY;
    const spragProblem problem = {
        .contact_count = MANY, .block_count = MANY, .row_start = row_start, .column = column, .W = W, .q = q, .mu = mu};
    assert_int_equal(verdict(&problem, r, u), 1);
    W[9 * 7 + 1] = 1.5; /* G = W_nn - W_nt */
    assert_int_equal(verdict(&problem, r, u), 0);
    W[9 * 30 + 1] = 1.5;
    assert_int_equal(verdict(&problem, r, u), 1);
}

static void outOfMemoryIsSaid(void **state)
{
    (void)state;
    const double G = 1, r[3] = {1, -1, 0}, u[3] = {0, 1, 0};
    Sliders s;
    slidersInit(&s, 1, &G, equal);
    spragArena arena = {0}, empty = {0};
    spragProximal proximal;
    assert_true(spragProximalInit(&proximal, &s.problem, &arena));
    spragAllocFailAt(1);
    assert_int_equal(spragSmallFriction(&proximal, &empty, r, u), -1);
    spragAllocFailAt(0);
    spragArenaFree(&arena);
    spragArenaFree(&empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oneContactIsTheSlope), cmocka_unit_test(twoSaddles),    cmocka_unit_test(routhHurwitz),
        cmocka_unit_test(heavyBesideLight),     cmocka_unit_test(hyperstatic),   cmocka_unit_test(onlyWhatSlides),
        cmocka_unit_test(whatPartsDoesNotBear), cmocka_unit_test(manyThatSlide), cmocka_unit_test(outOfMemoryIsSaid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
