/* Gaps of variants: the reference's table, from any base, in any units. */
#include "support/oracle.h"

#include <sprag/sprag.h>

/* Two shoes: + points under which the rail lies, - points above which it lies; coordinates (height, turn). */
static void shoes(const Json *inputs, double D0[8])
{
    const double x[4] = {jsonNumber(inputs, "x1_plus"), jsonNumber(inputs, "x2_plus"), jsonNumber(inputs, "x1_minus"),
                         jsonNumber(inputs, "x2_minus")};
    for (int k = 0; k < 4; ++k) {
        D0[k] = k < 2 ? 1 : -1;
        D0[4 + k] = k < 2 ? x[k] : -x[k];
    }
}

static void theReferenceAgrees(void **state)
{
    (void)state;
    static const char *const name[4] = {"(+,+)", "(-,+)", "(+,-)", "(-,-)"};
    const Json *one = oracleCase(&oracle, "variants.gaps");
    const Json *points = jsonGet(jsonGet(one, "expected"), "points");
    double D0[8];
    shoes(jsonGet(one, "inputs"), D0);
    for (int i = 0; i < points->count; ++i) {
        const Json *point = &points->first[i];
        const double clearance[2] = {jsonNumber(point, "D1"), jsonNumber(point, "D2")};
        double gap[8];
        int admissible = -1;
        assert_int_equal(spragVariantGaps(2, D0, NULL, clearance, gap, &admissible), SPRAG_OK);
        assert_int_equal(admissible, (int)jsonNumber(point, "admissible"));
        for (int v = 0; v < 4; ++v)
            for (int k = 0; k < 2; ++k)
                CHECK_NEAR(gap[2 * v + k],
                           v == 0 ? clearance[k] : jsonGet(jsonGet(point, "gaps"), name[v])->first[k].number, 1e-15);
    }
    assert_int_equal(points->count, 4);
}

/* From any other variant with the gaps found there, the same table comes back. */
static void theBaseDoesNotMatter(void **state)
{
    (void)state;
    const double D0[18] = {1, 1, 0.2, -1, -1, -0.2, -1, 1, 0, 0.8, -0.7, 0.1, 0.3, 0.4, 1, -0.3, -0.35, -1};
    const double clearance[3] = {1e-3, 2e-3, 1.5e-3};
    double gap[24], again[24];
    assert_int_equal(spragVariantGaps(3, D0, NULL, clearance, gap, NULL), SPRAG_OK);
    int compared = 0;
    for (int v = 1; v < 8; ++v) {
        int base[3], open = 1;
        for (int k = 0; k < 3; ++k) {
            base[k] = v >> k & 1 ? -1 : 1;
            open &= gap[3 * v + k] > 0;
        }
        if (!open)
            continue;
        ++compared;
        assert_int_equal(spragVariantGaps(3, D0, base, gap + 3 * v, again, NULL), SPRAG_OK);
        for (int i = 0; i < 24; ++i)
            CHECK_NEAR(again[i], gap[i], 1e-15);
    }
    assert_true(compared > 0);
}

/* Displacements in other units (rows of D0): the same gaps. */
static void unitsDoNotMatter(void **state)
{
    (void)state;
    const double D0[8] = {1, 0.5, -1, -0.4, -0.3, 1, 0.2, -1}, clearance[2] = {1e-3, 2e-3};
    double scaled[8], gap[8], again[8];
    assert_int_equal(spragVariantGaps(2, D0, NULL, clearance, gap, NULL), SPRAG_OK);
    for (int i = 0; i < 8; ++i)
        scaled[i] = D0[i] * (i < 4 ? 1 : 1e-14);
    assert_int_equal(spragVariantGaps(2, scaled, NULL, clearance, again, NULL), SPRAG_OK);
    for (int i = 0; i < 8; ++i)
        CHECK_NEAR(again[i], gap[i], 1e-15);
}

static void whatCannotBeReachedIsNamed(void **state)
{
    (void)state;
    double D0[8] = {1, 1, -1, -1, 1, 1, -1, 1}, clearance[2] = {1, 1}, gap[8]; /* (+, +) is singular */
    const int wrong[2] = {1, 0};
    int admissible = -1;
    assert_int_equal(spragVariantGaps(2, D0, NULL, clearance, gap, &admissible), SPRAG_OK);
    assert_true(isnan(gap[0]) && isnan(gap[1]) && !isnan(gap[4]));
    assert_int_equal(admissible, 0);
    assert_int_equal(spragVariantGaps(2, D0, wrong, clearance, gap, NULL), SPRAG_ERROR_RANGE);
    assert_int_equal(spragVariantGaps(2, NULL, NULL, clearance, gap, NULL), SPRAG_ERROR_NULL);
    assert_int_equal(spragVariantGaps(0, D0, NULL, clearance, gap, NULL), SPRAG_ERROR_RANGE);
    assert_int_equal(spragVariantGaps(17, D0, NULL, clearance, gap, NULL), SPRAG_ERROR_RANGE);
    clearance[1] = 0;
    assert_int_equal(spragVariantGaps(2, D0, NULL, clearance, gap, NULL), SPRAG_ERROR_RANGE);
    assert_non_null(strstr(spragStatusDetail(), "clearance[1]"));
    D0[5] = INFINITY;
    assert_int_equal(spragVariantGaps(2, D0, NULL, clearance, gap, NULL), SPRAG_ERROR_NOT_FINITE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theReferenceAgrees),
        cmocka_unit_test(theBaseDoesNotMatter),
        cmocka_unit_test(unitsDoNotMatter),
        cmocka_unit_test(whatCannotBeReachedIsNamed),
    };
    return cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
}
