/* Elimination of velocities, against W and q written down: particles, a pendulum, coupled unknowns, other units. */
#include "support/refusal.h"

#include "base/alloc.h"
#include "problem/problem_global.h"

static void add(spragEntries *entries, int row, int column, double value)
{
    assert_true(spragEntriesAdd(entries, row, column, value));
}

/* Sum of the entries at (row, column). */
static double entryOf(const spragEntries *entries, int row, int column)
{
    double sum = 0;
    for (size_t e = 0; e < entries->count; ++e)
        sum += entries->row[e] == row && entries->column[e] == column ? entries->value[e] : 0;
    return sum;
}

static spragGlobal empty(int n, int m)
{
    const spragGlobal g = {
        .n = n, .m = m, .f = spragAlloc((size_t)n, sizeof(double)), .w = spragAlloc((size_t)m, sizeof(double))};
    assert_true(g.f != NULL && g.w != NULL);
    return g;
}

/* Two particles (masses 2 and 5 kg, in the plane) that touch each other along x and the floor along y; `length` is the
 * unit of the second one's coordinates, m. */
static spragGlobal particles(double length)
{
    static const double mass[2] = {2, 5};
    spragGlobal g = empty(4, 3);
    for (int i = 0; i < 4; ++i) {
        const double unit = i < 2 ? 1 : length;
        add(&g.M, i, i, 0.25 * mass[i / 2] * unit * unit);
        add(&g.M, i, i, 0.75 * mass[i / 2] * unit * unit); /* the same place twice is summed */
        g.f[i] = i % 2 == 1 ? -9.81 * mass[i / 2] * unit : 0;
    }
    add(&g.H, 0, 0, -1), add(&g.H, 2, 0, length);
    add(&g.H, 1, 1, 1);
    add(&g.H, 3, 2, length);
    g.w[0] = 0.5, g.w[2] = -0.25;
    return g;
}

static void particlesTouch(void **state)
{
    (void)state;
    static const double W[9] = {0.7, 0, 0, 0, 0.5, 0, 0, 0, 0.2}, q[3] = {0.5, -9.81, -10.06};
    for (double length = 1e-9; length < 1e10; length *= 1e6) { /* M from 2 to 5e-18: units, not a singular mass */
        spragGlobal g = particles(length);
        assert_int_equal(spragGlobalEliminate(&g, "particles"), SPRAG_OK);
        for (int i = 0; i < 9; ++i)
            CHECK_NEAR(entryOf(&g.W, i / 3, i % 3), W[i], 1e-15);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(g.q[i], q[i], 1e-14);
        spragGlobalFree(&g);
    }
}

/* One part of three unknowns, M full; W = H' M^-1 H with M^-1 known. */
static void unknownsAreCoupled(void **state)
{
    (void)state;
    static const double M[9] = {2, 1, 0, 1, 2, 1, 0, 1, 2},
                        inverse[9] = {0.75, -0.5, 0.25, -0.5, 1, -0.5, 0.25, -0.5, 0.75};
    static const double H[6] = {1, 0, 0, 2, -1, 1}; /* (3 x 2) */
    spragGlobal g = empty(3, 2);
    for (int i = 0; i < 9; ++i)
        if (M[i] != 0)
            add(&g.M, i / 3, i % 3, M[i]);
    for (int i = 0; i < 6; ++i)
        add(&g.H, i / 2, i % 2, H[i]);
    for (int i = 0; i < 3; ++i)
        g.f[i] = i + 1;
    assert_int_equal(spragGlobalEliminate(&g, "coupled"), SPRAG_OK);
    for (int a = 0; a < 2; ++a) {
        double q = 0;
        for (int b = 0; b < 2; ++b) {
            double W = 0;
            for (int i = 0; i < 9; ++i)
                W += H[2 * (i / 3) + a] * inverse[i] * H[2 * (i % 3) + b];
            CHECK_NEAR(entryOf(&g.W, a, b), W, 1e-14);
            assert_true(entryOf(&g.W, a, b) == entryOf(&g.W, b, a));
        }
        for (int i = 0; i < 9; ++i)
            q += H[2 * (i / 3) + a] * inverse[i] * g.f[i % 3];
        CHECK_NEAR(g.q[a], q, 1e-14);
    }
    spragGlobalFree(&g);
}

/* M = [1 upper; lower 1], H = 1; W = M^-1 */
static spragGlobal pairOf(double upper, double lower)
{
    spragGlobal g = empty(2, 2);
    add(&g.M, 0, 0, 1), add(&g.M, 1, 1, 1);
    add(&g.M, 0, 1, upper), add(&g.M, 1, 0, lower);
    add(&g.H, 0, 0, 1), add(&g.H, 1, 1, 1);
    assert_int_equal(spragGlobalEliminate(&g, "pair"), SPRAG_OK);
    return g;
}

/* M that is not symmetric gives W that is not: kept, for the check of W to judge. */
static void asymmetryIsKept(void **state)
{
    (void)state;
    spragGlobal g = pairOf(0.5, 1e-30);
    CHECK_NEAR(entryOf(&g.W, 0, 1), -0.5, 1e-15);
    CHECK_NEAR(entryOf(&g.W, 1, 0), 0, 1e-29);
    spragGlobalFree(&g);
}

/* One triangle of M stands for both. */
static void halfOfMIsEnough(void **state)
{
    (void)state;
    for (int lower = 0; lower < 2; ++lower) {
        spragGlobal g = pairOf(lower ? 0 : 0.5, lower ? 0.5 : 0);
        CHECK_NEAR(entryOf(&g.W, 0, 0), 4.0 / 3, 1e-15);
        CHECK_NEAR(entryOf(&g.W, 0, 1), -2.0 / 3, 1e-15);
        assert_true(entryOf(&g.W, 0, 1) == entryOf(&g.W, 1, 0));
        spragGlobalFree(&g);
    }
}

/* A massless unknown is named where a contact needs it, and left alone where none does. */
static void singularMassIsNamed(void **state)
{
    (void)state;
    for (int needed = 0; needed < 2; ++needed) {
        spragGlobal g = empty(3, 1);
        add(&g.M, 0, 0, 1), add(&g.M, 1, 1, 1), add(&g.M, 1, 2, 1), add(&g.M, 2, 1, 1), add(&g.M, 2, 2, 1);
        add(&g.H, needed ? 2 : 0, 0, 1);
        if (needed)
            CHECK_REFUSED(spragGlobalEliminate(&g, "a.h5"), SPRAG_ERROR_INDEFINITE,
                          "a.h5: matrix M: singular at unknown 1");
        else
            assert_int_equal(spragGlobalEliminate(&g, "a.h5"), SPRAG_OK);
        spragGlobalFree(&g);
    }
}

static void everyFailingAllocationIsReported(void **state)
{
    (void)state;
    spragStatus status = SPRAG_ERROR_MEMORY;
    for (unsigned long n = 1; status != SPRAG_OK; ++n) {
        assert_in_range(n, 1, 100);
        spragGlobal g = particles(1);
        spragAllocFailAt(n);
        status = spragGlobalEliminate(&g, "particles");
        spragAllocFailAt(0);
        assert_true(status == SPRAG_OK ? n > 2 : status == SPRAG_ERROR_MEMORY);
        spragGlobalFree(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(particlesTouch),      cmocka_unit_test(unknownsAreCoupled),
        cmocka_unit_test(asymmetryIsKept),     cmocka_unit_test(halfOfMIsEnough),
        cmocka_unit_test(singularMassIsNamed), cmocka_unit_test(everyFailingAllocationIsReported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
