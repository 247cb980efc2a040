/* Products with W of bodies that a joint holds, without W: as by hand, block by block, and with what softens W. */
#include "support/check.h"
#include "support/small_problem.h"

#include "problem/reaches.h"
#include "problem/residual.h"

enum { BODIES = 2, BLOCKS = 3 };
static const double mass[BODIES] = {2, 3}; /* kg */

/* Two bodies that a joint holds together along x: v_ax = v_bx.  With E = (1, -1) D = E M^-1 E^T = 1/2 + 1/3, and a
 * block on body a has Z = 1/2 in its row along x, one on b -1/3.  Block 0 is on a and the world, block 1 on b, block 2
 * between b and a; rows along x, y, z.  So along x both move as one of 5 kg, and block 2, between them, not at all. */
typedef struct Pair {
    _Alignas(32) double Z[BLOCKS][2][SPRAG_REACH_ROWS * SPRAG_REACH_LANES];
    Small small;
    spragMass mass[BODIES];
    spragBodies bodies;
    spragReaches reaches;
    spragReachOf of[2 * BLOCKS];
    int body[2 * BLOCKS], joint[1], size[1];
    double J[36 * BLOCKS], own[9 * BLOCKS], inverse[SPRAG_REACH_ROWS], free[BLOCKS], v[6 * BODIES], s[SPRAG_REACH_ROWS];
    unsigned char locked[BLOCKS];
} Pair;

/* W = J M^-1 J^T without the joint, along y and z; along x what 5 kg give. */
static double expectedW(int k, int l, int i)
{
    static const double sign[BLOCKS][BODIES] = {{1, 0}, {0, 1}, {-1, 1}};
    double sum = 0, whole[2] = {0, 0};
    for (int b = 0; b < BODIES; ++b) {
        sum += sign[k][b] * sign[l][b] / mass[b];
        whole[0] += sign[k][b], whole[1] += sign[l][b];
    }
    return i == 0 ? whole[0] * whole[1] / (mass[0] + mass[1]) : sum;
}

static void setPair(Pair *p)
{
    static const int body[2 * BLOCKS] = {0, -1, 1, -1, 1, 0};
    memset(p, 0, sizeof *p);
    setSmall(&p->small, BLOCKS);
    memcpy(p->body, body, sizeof body);
    for (int b = 0; b < BODIES; ++b)
        p->mass[b].inverse_mass = 1 / mass[b]; /* and they do not turn */
    p->size[0] = 1;
    p->inverse[0] = 1 / (1 / mass[0] + 1 / mass[1]);
    for (int k = 0; k < BLOCKS; ++k) {
        for (int side = 0; side < 2; ++side) {
            const int b = body[2 * k + side];
            for (int i = 0; i < 3 && b >= 0; ++i)
                p->J[36 * k + 18 * side + 7 * i] = side == 0 ? 1 : -1;
            p->Z[k][side][0] = b < 0 ? 0 : (side == 0 ? 1 : -1) * (b == 0 ? 1 : -1) / mass[b];
            p->of[2 * k + side] = (spragReachOf){.count = b >= 0, .joint = p->joint, .Z = p->Z[k][side]};
        }
        for (int l = 0; l < BLOCKS; ++l)
            for (int i = 0; i < 3; ++i)
                smallW(&p->small, k, l)[4 * i] = expectedW(k, l, i);
        memcpy(p->own + 9 * k, smallW(&p->small, k, k), 9 * sizeof(double));
        p->free[k] = 3 * expectedW(k, k, 1);
    }
    p->locked[2] = 1; /* its row along x */
    p->reaches = (spragReaches){.joints = 1,
                                .size = p->size,
                                .inverse = p->inverse,
                                .of = p->of,
                                .locked = p->locked,
                                .free = p->free,
                                .price = 2.5,
                                .v = p->v,
                                .s = p->s};
    p->bodies = (spragBodies){.count = BODIES,
                              .mass = p->mass,
                              .of = p->body,
                              .J = p->J,
                              .stride = 36,
                              .own = p->own,
                              .reaches = &p->reaches};
    p->small.problem.linked = &p->bodies;
}

static const double impulse[3 * BLOCKS] = {1, -2, 3, 0.5, 4, -1, 7, 0.25, -2}; /* N s */

/* m/s, of row i of block k, by the entries of W. */
static double byEntries(Pair *p, const double *x, int k, int i)
{
    double sum = 0;
    for (int l = 0; l < BLOCKS; ++l)
        for (int j = 0; j < 3; ++j)
            sum += smallW(&p->small, k, l)[3 * i + j] * x[3 * l + j];
    return sum;
}

static void productsAreThoseOfW(void **state)
{
    (void)state;
    static Pair p;
    double u[3 * BLOCKS], alone[3] = {0};
    setPair(&p);
    spragReachesProduct(&p.small.problem, impulse, u);
    for (int i = 0; i < 3 * BLOCKS; ++i)
        CHECK_NEAR(u[i], byEntries(&p, impulse, i / 3, i % 3), 1e-15);
    CHECK_NEAR(u[0], (1 + 0.5) / 5, 1e-15); /* 5 kg pushed by blocks 0 and 1 */
    CHECK_NEAR(u[6], 0, 0);                 /* a row that the joint holds has no velocity, not even rounding's */
    spragReachesProduct(&p.small.problem, impulse, u); /* the last product is forgotten */
    CHECK_NEAR(u[0], 0.3, 1e-15);
    spragReachesClear(&p.bodies);
    spragReachesFeel(&p.bodies, 1, alone);
    CHECK_NEAR(spragNorm3(alone), 0, 0);
    spragReachesPush(&p.bodies, 0, impulse); /* b feels what a is pushed by, through the joint */
    spragReachesFeel(&p.bodies, 1, alone);
    CHECK_NEAR(alone[0], 0.2, 1e-15);
    CHECK_NEAR(alone[1], 0, 0);
}

/* C = W_kk - own is added: a compliance, also one that W got after the bodies were made. */
static void whatSoftensIsAdded(void **state)
{
    (void)state;
    static Pair p;
    double u[3 * BLOCKS];
    setPair(&p);
    smallW(&p.small, 1, 1)[0] += 0.125;
    smallW(&p.small, 1, 1)[5] += 0.25; /* rows y, z */
    spragReachesProduct(&p.small.problem, impulse, u);
    for (int i = 0; i < 3 * BLOCKS; ++i)
        CHECK_NEAR(u[i], byEntries(&p, impulse, i / 3, i % 3), 1e-15);
}

/* Bodies that are pressed together by 1e15 N s: what is left of u is within what rounding is said to hide, which is
 * as large as the impulses are, and of none nothing. */
static void roundingIsBounded(void **state)
{
    (void)state;
    static Pair p;
    double x[3 * BLOCKS] = {0}, u[3 * BLOCKS];
    setPair(&p);
    CHECK_NEAR(spragReachesRounding(&p.small.problem, x), 0, 0);
    x[0] = 1e15 / 3, x[3] = -1e15 / 3, x[4] = 1;
    const double bound = spragReachesRounding(&p.small.problem, x);
    spragReachesProduct(&p.small.problem, x, u);
    for (int i = 0; i < 3; ++i) /* exactly, x[0] and x[3] being opposite */
        CHECK_NEAR(u[3 + i], i == 1 ? 1 / mass[1] : 0, bound);
    assert_true(bound > 0.01 && bound < 100);
    for (int i = 0; i < 3 * BLOCKS; ++i)
        x[i] *= 4;
    CHECK_NEAR(spragReachesRounding(&p.small.problem, x), 4 * bound, 1e-12 * bound);
    for (int k = 0; k < BLOCKS; ++k) /* lighter bodies, of which the joint leaves as much in W */
        p.free[k] *= 4;
    CHECK_NEAR(spragReachesRounding(&p.small.problem, x), 16 * bound, 1e-12 * bound);
}

static void whoHasThemIsAsked(void **state)
{
    (void)state;
    static Pair p;
    setPair(&p);
    assert_ptr_equal(spragReachesOf(&p.small.problem), &p.reaches);
    assert_true(spragProblemIsLean(&p.small.problem));
    CHECK_NEAR(spragProductPrice(&p.small.problem), 2.5, 0);
    p.reaches.whole = 1;
    assert_false(spragProblemIsLean(&p.small.problem));
    p.bodies.reaches = NULL; /* W is read: */
    assert_null(spragReachesOf(&p.small.problem));
    CHECK_NEAR(spragProductPrice(&p.small.problem), BLOCKS * BLOCKS, 0);
    p.small.problem.linked = NULL;
    assert_null(spragReachesOf(&p.small.problem));
    assert_false(spragProblemIsLean(&p.small.problem));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(productsAreThoseOfW), cmocka_unit_test(whatSoftensIsAdded),
                                       cmocka_unit_test(roundingIsBounded), cmocka_unit_test(whoHasThemIsAsked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
