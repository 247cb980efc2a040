/* The search for the variant of antipodal pairs, and their enumeration, against the reference's tables and, on random
 * systems, the properties of docs/theory.md 3. */
#include "support/oracle.h"
#include "support/uniform.h"

#include <sprag/sprag.h>

#include "base/alloc.h"

enum { MOST = 20 };

/* D (m x 2m) from the reference's D_plus and D_minus, which are columns of algebraic N along a fixed axis (form 3):
 * the - side's N counts along its own normal, the other way. */
static int readColumns(const Json *inputs, const char *plus, const char *minus, double *D)
{
    const Json *p = jsonGet(inputs, plus), *n = jsonGet(inputs, minus);
    const int m = p->count;
    for (int r = 0; r < m; ++r)
        for (int k = 0; k < m; ++k) {
            D[2 * m * r + k] = p->first[r].first[k].number;
            D[2 * m * r + m + k] = -n->first[r].first[k].number;
        }
    return m;
}

static void near(double a, double b)
{
    CHECK_NEAR(a, b, 1e-9 * fmax(1, fabs(b)));
}

static void checkTable(const Json *inputs, const Json *expected)
{
    double D[2 * MOST * MOST], D0[2 * MOST * MOST], b[MOST];
    const int m = readColumns(inputs, "D_plus", "D_minus", D);
    readColumns(inputs, "D0_plus", "D0_minus", D0);
    jsonNumbers(jsonGet(inputs, "b"), 0, m, b);
    spragVariantSet set;
    assert_int_equal(spragVariantEnumerate(m, D, D0, b, &set), SPRAG_OK);
    const Json *table = jsonGet(expected, "variants");
    assert_int_equal(set.count, table->count);
    for (int v = 0; v < table->count; ++v) {
        const Json *row = &table->first[v], *variant = jsonGet(row, "variant");
        int index = 0, sign = 1;
        for (int k = 0; k < m; ++k) {
            index |= (variant->first[k].number < 0) << k;
            sign *= variant->first[k].number < 0 ? -1 : 1;
        }
        const spragVariantMember *member = &set.member[index];
        near(sign * member->det, jsonNumber(row, "det"));
        near(sign * member->det0, jsonNumber(row, "det0"));
        assert_int_equal(member->accepted, (int)jsonNumber(row, "accepted"));
        assert_int_equal(member->small_friction, (int)jsonNumber(row, "small_friction"));
        for (int k = 0; k < m; ++k) {
            assert_int_equal(member->variant[k], (int)variant->first[k].number);
            near(member->N[k], jsonGet(row, "N")->first[k].number);
        }
    }
    assert_int_equal(set.accepted_count, jsonGet(expected, "accepted")->count);
    assert_int_equal(set.realised_count, jsonGet(expected, "accepted_small_friction")->count);
    const int paradox_class = (int)jsonNumber(expected, "paradox_class");
    assert_int_equal(set.paradox_class, paradox_class);
    assert_int_equal(set.selected >= 0, set.realised_count > 0);

    spragVariantResult result;
    const spragStatus status = spragVariantSolve(m, D, D0, b, NULL, &result);
    assert_int_equal(status, set.realised_count > 0 ? SPRAG_OK : SPRAG_NO_SOLUTION);
    assert_int_equal(result.realised, set.realised_count > 0);
    assert_int_equal(result.paradox_class, paradox_class);
    /* History decides class 4: every realised variant is kept by whoever is in it. */
    for (int v = 0; v < set.count; ++v) {
        const spragVariantMember *member = &set.member[v];
        if (!member->accepted || !member->small_friction)
            continue;
        int history[MOST];
        for (int k = 0; k < m; ++k)
            history[k] = member->variant[k];
        assert_int_equal(spragVariantSolve(m, D, D0, b, history, &result), SPRAG_OK);
        assert_memory_equal(result.variant, member->variant, (size_t)m);
        assert_int_equal(result.flips, 0);
    }
    for (int n = 1; n <= (paradox_class == 4 ? 3 : 1); ++n) {
        spragVariantSet none;
        spragAllocFailAt((unsigned long)n);
        assert_int_equal(spragVariantEnumerate(m, D, D0, b, &none), SPRAG_ERROR_MEMORY);
        spragAllocFailAt(0);
    }
    spragVariantSetFree(&set);
}

static void referenceTablesAgree(void **state)
{
    (void)state;
    int tables = 0;
    for (const Json *one = NULL; (one = oracleNext(NULL, "variant_table", one)) != NULL; ++tables)
        checkTable(jsonGet(one, "inputs"), jsonGet(one, "expected"));
    assert_true(tables >= 17);
}

/* Six of the eight starts cycle under simultaneous flips; single flips end every one of them. */
static void theCycleOfThreeEnds(void **state)
{
    (void)state;
    const Json *one = oracleCase(&oracle, "variants.cycle3.al1.5"), *inputs = jsonGet(one, "inputs");
    const Json *starts = jsonGet(jsonGet(one, "expected"), "starts");
    double D[18], D0[18], b[3];
    readColumns(inputs, "D_plus", "D_minus", D);
    readColumns(inputs, "D0_plus", "D0_minus", D0);
    jsonNumbers(jsonGet(inputs, "b"), 0, 3, b);
    for (int i = 0; i < starts->count; ++i) {
        int history[3];
        for (int k = 0; k < 3; ++k)
            history[k] = (int)jsonGet(&starts->first[i], "start")->first[k].number;
        spragVariantResult result;
        assert_int_equal(spragVariantSolve(3, D, D0, b, history, &result), SPRAG_OK);
        assert_true(result.variant[0] == 1 && result.variant[1] == 1 && result.variant[2] == 1);
        assert_int_equal(result.fallback, (int)jsonNumber(&starts->first[i], "all_cycles"));
        assert_int_equal(result.paradox_class, 0);
    }
}

static unsigned long long seed;

/* D0+ random, D0- = -D0+ (antipodes), friction a perturbation of the given size. */
static void randomSystem(int m, double friction, double *D, double *D0, double *b)
{
    for (int r = 0; r < m; ++r) {
        b[r] = uniform(&seed);
        for (int k = 0; k < m; ++k) {
            const double normal = (r == k) + 0.3 * uniform(&seed);
            D0[2 * m * r + k] = normal;
            D0[2 * m * r + m + k] = -normal;
            D[2 * m * r + k] = normal + friction * uniform(&seed);
            D[2 * m * r + m + k] = -normal + friction * uniform(&seed);
        }
    }
}

/* Continuity: as b crosses the line where N_k = 0 the variant changes, and what the reactions do to the
 * bodies, sum_k D_rk N_k, does not jump.  b goes from where the found variant has N_0 > 0 to where it has N_0 < 0. */
static int shrinksToZero(int m, const double *D, const double *D0, const spragVariantSet *set)
{
    const spragVariantMember *member = &set->member[set->selected];
    spragVariantResult before, after;
    double b[2][6], small = 1e-7; /* of the largest N: above the hysteresis */
    for (int k = 0; k < m; ++k)
        small = fmax(small, 1e-7 * (1 + member->N[k]));
    for (int side = 0; side < 2; ++side)
        for (int r = 0; r < m; ++r) {
            b[side][r] = 0;
            for (int k = 0; k < m; ++k)
                b[side][r] += D[2 * m * r + (member->variant[k] > 0 ? k : m + k)] * (k > 0       ? 1 + member->N[k]
                                                                                     : side == 0 ? small
                                                                                                 : -small);
        }
    assert_int_equal(spragVariantSolve(m, D, D0, b[0], NULL, &before), SPRAG_OK);
    assert_int_equal(spragVariantSolve(m, D, D0, b[1], NULL, &after), SPRAG_OK);
    assert_int_equal(before.variant[0], -after.variant[0]);
    for (int k = 1; k < m; ++k) {
        assert_int_equal(before.variant[k], after.variant[k]);
        CHECK_NEAR(after.N[k], before.N[k], 1e2 * small);
    }
    return 1;
}

/* Under small friction in all variants the realised variant is unique, and every start of the search finds it; and
 * flipping one index changes the sign of its N or keeps it zero. */
static void smallFrictionMeansOneVariant(void **state)
{
    (void)state;
    int tried = 0, continuous = 0;
    seed = 12345;
    for (int round = 0; round < 3000; ++round) {
        const int m = 1 + round % 6;
        double D[2 * 6 * 6], D0[2 * 6 * 6], b[6];
        randomSystem(m, 0.3, D, D0, b);
        spragVariantSet set;
        assert_int_equal(spragVariantEnumerate(m, D, D0, b, &set), SPRAG_OK);
        int all_small = 1;
        for (int v = 0; v < set.count; ++v)
            all_small &= set.member[v].small_friction;
        if (all_small) {
            ++tried;
            assert_int_equal(set.realised_count, 1);
            assert_int_equal(set.accepted_count, 1);
            for (int v = 0; v < set.count; ++v) {
                int history[6];
                for (int k = 0; k < m; ++k) {
                    history[k] = set.member[v].variant[k];
                    assert_true(set.member[v].N[k] * set.member[v ^ 1 << k].N[k] <= 1e-12);
                }
                spragVariantResult result;
                assert_int_equal(spragVariantSolve(m, D, D0, b, history, &result), SPRAG_OK);
                assert_memory_equal(result.variant, set.member[set.selected].variant, (size_t)m);
            }
            continuous += shrinksToZero(m, D, D0, &set);
        }
        spragVariantSetFree(&set);
    }
    assert_true(tried > 500 && continuous == tried);
}

/* Where N_k = 0 the variant with i_k flipped has it too, and all other reactions coincide. */
static void zeroReactionsAreShared(void **state)
{
    (void)state;
    seed = 99;
    for (int round = 0; round < 200; ++round) {
        enum { M = 4 };
        double D[2 * M * M], D0[2 * M * M], b[M] = {0};
        randomSystem(M, 0.2, D, D0, b);
        const int zero = round % M;
        for (int r = 0; r < M; ++r) { /* b = D+ N with N_zero = 0 */
            b[r] = 0;
            for (int k = 0; k < M; ++k)
                b[r] += k == zero ? 0 : D[2 * M * r + k] * (1 + k);
        }
        spragVariantSet set;
        assert_int_equal(spragVariantEnumerate(M, D, D0, b, &set), SPRAG_OK);
        for (int k = 0; k < M; ++k) {
            CHECK_NEAR(set.member[0].N[k], k == zero ? 0 : 1 + k, 1e-12);
            CHECK_NEAR(set.member[1 << zero].N[k], set.member[0].N[k], 1e-12);
        }
        spragVariantSetFree(&set);
    }
}

/* A pair that bears nothing has no side: two variants, one motion, and no paradox.  Search and enumeration agree. */
static void withoutLoadThereIsNoParadox(void **state)
{
    (void)state;
    seed = 7;
    for (int round = 0; round < 100; ++round) {
        enum { M = 3 };
        const int loaded = round % M; /* pairs */
        double D[2 * M * M], D0[2 * M * M], b[M];
        randomSystem(M, 0.02, D, D0, b);
        for (int r = 0; r < M; ++r) {
            b[r] = 0;
            for (int k = 0; k < loaded; ++k)
                b[r] += D[2 * M * r + k];
        }
        spragVariantSet set;
        spragVariantResult result;
        assert_int_equal(spragVariantEnumerate(M, D, D0, b, &set), SPRAG_OK);
        assert_int_equal(spragVariantSolve(M, D, D0, b, NULL, &result), SPRAG_OK);
        assert_int_equal(set.realised_count, 1 << (M - loaded));
        assert_int_equal(set.paradox_class, 0);
        assert_int_equal(result.paradox_class, 0);
        spragVariantSetFree(&set);
    }
}

/* Of much friction, too, where it is large in variants between those that have it small. */
static void withoutLoadThereIsOneMotion(void **state)
{
    (void)state;
    enum { M = 4 };
    static const double b[M] = {0};
    int parted = 0;
    seed = 8;
    for (int round = 0; round < 300; ++round) {
        double D[2 * M * M], D0[2 * M * M], any[M];
        randomSystem(M, 0.8, D, D0, any);
        spragVariantSet set;
        assert_int_equal(spragVariantEnumerate(M, D, D0, b, &set), SPRAG_OK);
        assert_int_equal(set.accepted_count, 1 << M);
        assert_int_equal(set.paradox_class, set.realised_count > 0 ? 0 : 2);
        parted += set.realised_count > 1 && set.realised_count < 1 << M;
        spragVariantSetFree(&set);
    }
    assert_true(parted > 50);
}

/* Other units of the coordinates (rows of D, b) and of force (N), another order of the pairs, the sides of
 * one pair exchanged: the same variants, the same verdicts. */
static void unitsAndNumbersDoNotMatter(void **state)
{
    (void)state;
    enum { M = 3 };
    static const double unit[M] = {1e-14, 1, 1e9}, force = 1e-3;
    seed = 5;
    for (int round = 0; round < 200; ++round) {
        double D[2 * M * M], D0[2 * M * M], b[M], E[2 * M * M], E0[2 * M * M], c[M];
        randomSystem(M, round % 2 ? 0.3 : 1.5, D, D0, b);
        const int turned = round % M; /* the pair whose sides are exchanged */
        for (int r = 0; r < M; ++r) {
            const int to_row = (r + 1) % M;
            c[to_row] = unit[r] * b[r];
            for (int side = 0; side < 2; ++side)
                for (int k = 0; k < M; ++k) {
                    const int from = 2 * M * r + side * M + k;
                    const int to = 2 * M * to_row + (k == turned ? 1 - side : side) * M + (k + 1) % M;
                    E[to] = unit[r] * force * D[from], E0[to] = unit[r] * force * D0[from];
                }
        }
        spragVariantSet one, other;
        assert_int_equal(spragVariantEnumerate(M, D, D0, b, &one), SPRAG_OK);
        assert_int_equal(spragVariantEnumerate(M, E, E0, c, &other), SPRAG_OK);
        assert_int_equal(one.realised_count, other.realised_count);
        for (int v = 0; v < one.count; ++v) {
            int image = 0;
            for (int k = 0; k < M; ++k)
                image |= ((v >> k & 1) != (k == turned)) << (k + 1) % M;
            assert_false(other.member[image].singular);
            assert_int_equal(one.member[v].small_friction, other.member[image].small_friction);
            for (int k = 0; k < M; ++k)
                CHECK_NEAR(other.member[image].N[(k + 1) % M] * force / one.member[v].N[k], 1, 1e-9);
        }
        spragVariantSetFree(&one);
        spragVariantSetFree(&other);
    }
}

static void twentyPairsAreSearched(void **state)
{
    (void)state;
    static double D[2 * MOST * MOST], D0[2 * MOST * MOST], b[MOST];
    seed = 7;
    for (int round = 0; round < 50; ++round) {
        randomSystem(MOST, 0.02, D, D0, b);
        spragVariantResult result;
        assert_int_equal(spragVariantSolve(MOST, D, D0, b, NULL, &result), SPRAG_OK);
        for (int r = 0; r < MOST; ++r) {
            double sum = -b[r];
            for (int k = 0; k < MOST; ++k)
                sum += D[2 * MOST * r + (result.variant[k] > 0 ? k : MOST + k)] * result.N[k];
            CHECK_NEAR(sum, 0, 1e-11);
        }
        assert_int_equal(result.paradox_class, -1);
    }
}

/* Friction in one of two pairs alone turns its determinant over, friction in both turns it back: small friction by the
 * determinant, not by the minors. */
static void minorsAreExamined(void **state)
{
    (void)state;
    const double D0[8] = {1, 0, -1, 0, 0, 1, 0, -1}, b[2] = {-1, -1};
    const double both[8] = {-1, 0, -3, 0, 0, -1, 0, -3}, none[8] = {0.5, 0.1, -1, 0, 0, 2, 0, -1};
    spragVariantResult result;
    assert_int_equal(spragVariantSolve(2, both, D0, b, (const int[2]){1, 1}, &result), SPRAG_OK);
    assert_true(result.small_friction);
    assert_int_equal(result.minors, 0);
    assert_int_equal(spragVariantSolve(2, none, D0, (const double[2]){1, 1}, NULL, &result), SPRAG_OK);
    assert_int_equal(result.minors, 1);
}

static void singularVariantsAreReported(void **state)
{
    (void)state;
    const double D[8] = {1, 1, -1, -1, 1, 1, -1, 1}, b[2] = {1, 1}; /* D++ is singular */
    spragVariantSet set;
    assert_int_equal(spragVariantEnumerate(2, D, D, b, &set), SPRAG_OK);
    assert_true(set.member[0].singular);
    assert_false(set.member[0].accepted);
    assert_false(set.member[3].singular);
    spragVariantSetFree(&set);
}

static void badArgumentsAreNamed(void **state)
{
    (void)state;
    double D[2] = {1, -1}, b[1] = {1};
    const int wrong[1] = {2};
    spragVariantResult result;
    spragVariantSet set;
    assert_int_equal(spragVariantSolve(1, NULL, D, b, NULL, &result), SPRAG_ERROR_NULL);
    assert_int_equal(spragVariantSolve(1, D, D, b, NULL, NULL), SPRAG_ERROR_NULL);
    assert_int_equal(spragVariantSolve(0, D, D, b, NULL, &result), SPRAG_ERROR_RANGE);
    assert_int_equal(spragVariantSolve(65, D, D, b, NULL, &result), SPRAG_ERROR_RANGE);
    assert_int_equal(spragVariantSolve(1, D, D, b, wrong, &result), SPRAG_ERROR_RANGE);
    assert_non_null(strstr(spragStatusDetail(), "history[0]"));
    assert_int_equal(spragVariantEnumerate(17, D, D, b, &set), SPRAG_ERROR_RANGE);
    b[0] = NAN;
    assert_int_equal(spragVariantSolve(1, D, D, b, NULL, &result), SPRAG_ERROR_NOT_FINITE);
    spragVariantSetFree(NULL);
}

/* The realised variant at the end of a path from the frictionless one, in small steps that change one side at most; -1:
 * it turns back, or goes to infinity. */
static int followFriction(int m, const double *D, const double *D0, const double *b)
{
    enum { STEPS = 2000 };
    int at = -1;
    for (int step = 0; step <= STEPS; ++step) {
        double mixed[2 * 5 * 5];
        for (int i = 0; i < 2 * m * m; ++i)
            mixed[i] = D0[i] + (D[i] - D0[i]) * step / STEPS;
        spragVariantSet set;
        assert_int_equal(spragVariantEnumerate(m, mixed, D0, b, &set), SPRAG_OK);
        int next = -1, count = 0;
        for (int v = 0; v < set.count; ++v) {
            const int realised = set.member[v].accepted && set.member[v].small_friction;
            if (realised && v == at) {
                next = v, count = 1;
                break;
            }
            if (realised && (at < 0 || ((v ^ at) & ((v ^ at) - 1)) == 0))
                next = v, ++count;
        }
        spragVariantSetFree(&set);
        if (count != 1)
            return -1;
        at = next;
    }
    return at;
}

/* Class 4: the variant of the moment before if it is realised, else the one that friction leads to; never none. */
static void severalRealisedVariantsAreToldApart(void **state)
{
    (void)state;
    int several = 0, followed = 0;
    seed = 77;
    for (int round = 0; round < 600; ++round) {
        const int m = 2 + round % 4;
        double D[2 * 5 * 5], D0[2 * 5 * 5], b[5];
        randomSystem(m, 4, D, D0, b);
        spragVariantSet set;
        assert_int_equal(spragVariantEnumerate(m, D, D0, b, &set), SPRAG_OK);
        assert_int_equal(set.selected >= 0, set.realised_count > 0);
        if (set.paradox_class == 4) {
            ++several;
            const int reached = followFriction(m, D, D0, b);
            if (reached >= 0)
                ++followed, assert_int_equal(set.selected, reached);
            for (int v = -1; v < set.count; ++v) {
                const int stays = v >= 0 && set.member[v].accepted && set.member[v].small_friction;
                int history[5];
                for (int k = 0; k < m; ++k)
                    history[k] = v >= 0 ? set.member[v].variant[k] : 0;
                spragVariantResult result;
                assert_int_equal(spragVariantSolve(m, D, D0, b, v >= 0 ? history : NULL, &result), SPRAG_OK);
                const spragVariantMember *expected = &set.member[stays ? v : set.selected];
                assert_memory_equal(result.variant, expected->variant, (size_t)m);
                assert_true(result.det_sign != 0 && result.det_sign == result.det0_sign);
                for (int k = 0; k < m; ++k)
                    near(result.N[k], expected->N[k]);
            }
        }
        spragVariantSetFree(&set);
    }
    print_message("%d systems of class 4, %d with a path from no friction\n", several, followed);
    assert_true(several > 30 && followed > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(referenceTablesAgree),
        cmocka_unit_test(theCycleOfThreeEnds),
        cmocka_unit_test(smallFrictionMeansOneVariant),
        cmocka_unit_test(zeroReactionsAreShared),
        cmocka_unit_test(withoutLoadThereIsNoParadox),
        cmocka_unit_test(withoutLoadThereIsOneMotion),
        cmocka_unit_test(unitsAndNumbersDoNotMatter),
        cmocka_unit_test(twentyPairsAreSearched),
        cmocka_unit_test(singularVariantsAreReported),
        cmocka_unit_test(badArgumentsAreNamed),
        cmocka_unit_test(minorsAreExamined),
        cmocka_unit_test(severalRealisedVariantsAreToldApart),
    };
    return cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
}
