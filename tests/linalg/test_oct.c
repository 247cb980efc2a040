/* Eight numbers at once, or sixteen: rows of four or eight go in and out unchanged, each lane is what it would be
 * alone. */
#include "support/check.h"

#include "linalg/hex.h"
#include "support/uniform.h"

typedef float Rows[SPRAG_OCT][4] __attribute__((aligned(32)));

static void rowsGoInAndOut(void **state)
{
    (void)state;
    Rows in, back;
    spragOct number[4];
    float *from[SPRAG_OCT], *to[SPRAG_OCT];
    for (int lane = 0; lane < SPRAG_OCT; ++lane) {
        from[lane] = in[(3 * lane) % SPRAG_OCT]; /* in any order */
        to[lane] = back[lane];
        for (int i = 0; i < 4; ++i)
            from[lane][i] = (float)(10 * lane + i);
    }
    spragOctRead(from, number);
    for (int lane = 0; lane < SPRAG_OCT; ++lane)
        for (int i = 0; i < 4; ++i)
            CHECK_NEAR(number[i][lane], 10 * lane + i, 0);
    spragOctWrite(to, number);
    for (int lane = 0; lane < SPRAG_OCT; ++lane)
        for (int i = 0; i < 4; ++i)
            CHECK_NEAR(back[lane][i], 10 * lane + i, 0);
}

enum { LANES_MOST = 16 };
typedef float LongRows[LANES_MOST][8] __attribute__((aligned(64)));

static void readEight(float *const *from, float *const *to)
{
    spragOct first[4], last[4];
    spragOctReadPairs(from, first, last);
    for (int lane = 0; lane < SPRAG_OCT; ++lane)
        for (int i = 0; i < 8; ++i)
            CHECK_NEAR((i < 4 ? first : last)[i % 4][lane], 10 * lane + i, 0);
    spragOctWritePairs(to, first, last);
}

#if SPRAG_HEX_EXISTS
SPRAG_HEX_WIDE static void readSixteen(float *const *from, float *const *to)
{
    spragHex first[4], last[4], few[4];
    spragHexReadPairs(from, first, last);
    spragHexRead(from, few);
    for (int lane = 0; lane < SPRAG_HEX; ++lane)
        for (int i = 0; i < 8; ++i) {
            const float number = (i < 4 ? first : last)[i % 4][lane];
            CHECK_NEAR(number, 10 * lane + i, 0);
            if (i < 4)
                CHECK_NEAR(few[i][lane], 10 * lane + i, 0);
        }
    spragHexWritePairs(to, last, last);
    spragHexWrite(to, few);
}
#endif

static void longRowsGoInAndOut(void **state)
{
    (void)state;
    for (int sixteen = 0; sixteen < 2; ++sixteen) {
        LongRows in, back = {{0}};
        float *from[LANES_MOST], *to[LANES_MOST];
        for (int lane = 0; lane < LANES_MOST; ++lane) {
            from[lane] = in[(3 * lane) % LANES_MOST];
            to[lane] = back[lane];
            for (int i = 0; i < 8; ++i)
                from[lane][i] = (float)(10 * lane + i);
        }
        int lanes = SPRAG_OCT;
        if (!sixteen)
            readEight(from, to);
#if SPRAG_HEX_EXISTS
        else if (spragHexIsThere())
            readSixteen(from, to), lanes = SPRAG_HEX;
#endif
        else
            return;
        for (int lane = 0; lane < lanes; ++lane)
            for (int i = 0; i < 8; ++i)
                CHECK_NEAR(back[lane][i], 10 * lane + i, 0);
    }
}

static void lanesAreAlone(void **state)
{
    (void)state;
    unsigned long long seed = 3;
    spragOct a[3], b[3], cross[3];
    for (int i = 0; i < 3; ++i)
        for (int lane = 0; lane < SPRAG_OCT; ++lane)
            a[i][lane] = (float)uniform(&seed), b[i][lane] = (float)uniform(&seed);
    spragOctCross3(cross, a, b);
    const spragOct dot = spragOctDot3(a, b), root = spragOctSqrt(a[0] * a[0]), most = spragOctMax(a[0], b[0]);
    const spragOct chosen = spragOctSelect(a[0] > b[0], a[1], b[1]);
    for (int lane = 0; lane < SPRAG_OCT; ++lane) {
        CHECK_NEAR(cross[0][lane], a[1][lane] * b[2][lane] - a[2][lane] * b[1][lane], 1e-7);
        CHECK_NEAR(cross[1][lane], a[2][lane] * b[0][lane] - a[0][lane] * b[2][lane], 1e-7);
        CHECK_NEAR(cross[2][lane], a[0][lane] * b[1][lane] - a[1][lane] * b[0][lane], 1e-7);
        CHECK_NEAR(dot[lane], a[0][lane] * b[0][lane] + a[1][lane] * b[1][lane] + a[2][lane] * b[2][lane], 1e-6);
        CHECK_NEAR(root[lane], fabsf(a[0][lane]), 1e-7);
        CHECK_NEAR(most[lane], fmaxf(a[0][lane], b[0][lane]), 0);
        CHECK_NEAR(chosen[lane], a[0][lane] > b[0][lane] ? a[1][lane] : b[1][lane], 0);
    }
    const spragOct none = spragOctMax(spragOctOf(NAN), spragOctOf(2));
    CHECK_NEAR(none[5], 2, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rowsGoInAndOut), cmocka_unit_test(longRowsGoInAndOut),
                                       cmocka_unit_test(lanesAreAlone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
