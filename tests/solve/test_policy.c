/* The policy's choices (docs/theory.md 6), on a rod: planar, W = [An Atn; Atn At]. */
#include "support/check.h"

#include <string.h>

#include "solve/contact/policy.h"
#include "solve/contact/single.h"

/* p_+ = An - mu Atn for slip along +t1: Atn > 0 makes it negative above mu = An / Atn = 1.25. */
static const double W[9] = {2.5, 2, 0, 2, 4, 0, 0, 0, 1};
static const double MU = 2; /* p = -1.5, stick: |Atn| / At = 0.5 < mu */

static spragContactHistory sliding(double slip, double b, double previous)
{
    return (spragContactHistory){
        .slip = {slip, 0}, .free_acceleration = b, .previous_normal = previous, .mode = SPRAG_MODE_SLIP};
}

/* One velocity-level step of size h from the history's slip; tangential free acceleration 0. */
static spragLocalSolution stepOnce(const spragContactHistory *history, double h, spragIndeterminacy policy,
                                   spragSolveInfo *info)
{
    const double q[3] = {h * history->free_acceleration, history->slip[0], history->slip[1]};
    spragLocalSolution s[SPRAG_LOCAL_MAX];
    memset(info, 0, sizeof *info);
    const int count = spragLocalEnumerate(SPRAG_BLOCK_CONTACT, W, q, MU, MU, s);
    assert_true(count > 0);
    const spragIndicator indicator = spragIndicatorOf(W, MU, history, policy);
    const int pick = spragLocalPick(count, s, &indicator, history, h, policy, info);
    assert_true(pick >= 0 && pick < count);
    assert_true(s[pick].normal_stable); /* the separatrix is never returned */
    return s[pick];
}

static void slopeIsPainleves(void **state)
{
    (void)state;
    const double forward[2] = {3, 0}, back[2] = {-0.1, 0}, rest[2] = {0, 0};
    CHECK_NEAR(spragPainleveSlope(W, MU, forward), -1.5, 1e-15);
    CHECK_NEAR(spragPainleveSlope(W, MU, back), 6.5, 1e-15);
    CHECK_NEAR(spragPainleveSlope(W, MU, rest), 2.5, 1e-15);
}

static void fourQuadrants(void **state)
{
    (void)state;
    static const struct {
        double slip, b;
        spragQuadrant quadrant;
    } row[] = {{-1, -5, SPRAG_QUADRANT_SLIDE},
               {-1, 5, SPRAG_QUADRANT_LIFT},
               {1, 5, SPRAG_QUADRANT_INDETERMINATE},
               {1, -5, SPRAG_QUADRANT_INCONSISTENT},
               {0, -5, SPRAG_QUADRANT_REST}};
    for (size_t k = 0; k < sizeof row / sizeof *row; ++k) {
        const spragContactHistory history = sliding(row[k].slip, row[k].b, 0);
        const spragIndicator i = spragIndicatorOf(W, MU, &history, SPRAG_INDETERMINACY_HISTORY);
        assert_int_equal(i.quadrant, row[k].quadrant);
        CHECK_NEAR(i.separatrix, i.quadrant == SPRAG_QUADRANT_INDETERMINATE ? 5 / 1.5 : 0, 1e-15);
    }
}

/* On the line p = 0 a load b > 0 lifts off, b < 0 has no answer: N would be infinite. */
static void thresholdOfTheQuadrants(void **state)
{
    (void)state;
    const spragContactHistory lifted = sliding(1, 5, 0), pressed = sliding(1, -5, 0);
    CHECK_NEAR(spragPainleveSlope(W, 1.25, lifted.slip), 0, 0);
    assert_int_equal(spragIndicatorOf(W, 1.25, &lifted, SPRAG_INDETERMINACY_HISTORY).quadrant, SPRAG_QUADRANT_LIFT);
    assert_int_equal(spragIndicatorOf(W, 1.25, &pressed, SPRAG_INDETERMINACY_HISTORY).quadrant,
                     SPRAG_QUADRANT_INCONSISTENT);
}

/* What motors and limits that hold take off W takes part in p. */
static void heldMotorsCount(void **state)
{
    (void)state;
    spragContactHistory history = sliding(1, -5, 0);
    memcpy(history.held, (double[9]){0.5, -1.5, 0, -1.5, 1, 0, 0, 0, 0}, sizeof history.held);
    CHECK_NEAR(spragIndicatorOf(W, MU, &history, SPRAG_INDETERMINACY_HISTORY).p, 2 - MU * 3.5, 1e-15);
    history.slip[0] = 0, history.slip[1] = 1, history.held[2] = 0.25;
    CHECK_NEAR(spragIndicatorOf(W, MU, &history, SPRAG_INDETERMINACY_HISTORY).p, 2 + MU * 0.25, 1e-15);
    history.slip[1] = 0;
    CHECK_NEAR(spragIndicatorOf(W, MU, &history, SPRAG_INDETERMINACY_HISTORY).p, 2, 0);
}

/* A guide: b < 0 is borne by N > 0 with the slope An - mu s Atn, b > 0 by N < 0 with An + mu_minus s Atn. */
static void quadrantsOfGuides(void **state)
{
    (void)state;
    static const struct {
        double slip, b;
        spragQuadrant quadrant;
        double p, separatrix;
    } row[] = {{-1, -5, SPRAG_QUADRANT_SLIDE, 6.5, 0},        {-1, 5, SPRAG_QUADRANT_SLIDE, 1.5, 0},
               {1, -5, SPRAG_QUADRANT_INCONSISTENT, -1.5, 0}, {1, 5, SPRAG_QUADRANT_INDETERMINATE, 3.5, 5 / 1.5},
               {1, 0, SPRAG_QUADRANT_SLIDE, 3.5, 0},          {-1, 0, SPRAG_QUADRANT_SLIDE, 6.5, 0},
               {0, -5, SPRAG_QUADRANT_REST, 2.5, 0}};
    for (size_t k = 0; k < sizeof row / sizeof *row; ++k) {
        const spragContactHistory history = sliding(row[k].slip, row[k].b, 0);
        const spragIndicator i = spragIndicatorTwoSided(W, MU, 0.5, &history);
        assert_int_equal(i.quadrant, row[k].quadrant);
        CHECK_NEAR(i.p, row[k].p, 1e-15);
        CHECK_NEAR(i.separatrix, row[k].separatrix, 1e-15);
        /* the other way round with the sides exchanged it is the same guide */
        const double mirror[9] = {W[0], -W[1], 0, -W[3], W[4], 0, 0, 0, 1};
        const spragContactHistory other = sliding(row[k].slip, -row[k].b, 0);
        const spragIndicator j = spragIndicatorTwoSided(mirror, 0.5, MU, &other);
        assert_int_equal(j.quadrant, i.quadrant);
        CHECK_NEAR(j.p, i.p, 0);
    }
}

/* Guides above mu*: a slide that can go on does, at rest and where none can it sticks; never the separatrix. */
static void guidesSlideOnOrStick(void **state)
{
    (void)state;
    static const struct {
        double slip, q_n;
        spragMode mode;
        int several, none;
    } row[] = {{1, 0.02, SPRAG_MODE_SLIP, 1, 0},
               {1, -0.02, SPRAG_MODE_STICK, 0, 1},
               {-1, -0.02, SPRAG_MODE_SLIP, 1, 0},
               {0, 0.02, SPRAG_MODE_STICK, 0, 0}};
    for (size_t k = 0; k < sizeof row / sizeof *row; ++k) {
        const double h = 1e-3, pulled = row[k].slip != 0 ? row[k].slip : 0.01, q[3] = {row[k].q_n, pulled, 0};
        const spragContactHistory history = sliding(row[k].slip, row[k].q_n / h, 0);
        const unsigned char kind = SPRAG_BLOCK_TWO_SIDED;
        const spragProblem problem = {
            .contact_count = 1, .W = W, .q = q, .mu = &MU, .kind = &kind, .history = &history, .step = h};
        const spragSolveOptions options = {.indeterminacy = SPRAG_INDETERMINACY_HISTORY};
        spragLocalSolution s[SPRAG_LOCAL_MAX];
        spragSolveInfo info = {0};
        double r[3] = {0, 0, 0};
        const int count = spragLocalEnumerate(SPRAG_BLOCK_TWO_SIDED, W, q, MU, MU, s);
        spragSingleSolve(&problem, &options, r, &info);
        int pick = 0;
        while (pick < count && memcmp(s[pick].r, r, sizeof r) != 0)
            ++pick;
        assert_true(pick < count && s[pick].normal_stable);
        assert_int_equal(s[pick].mode, row[k].mode);
        assert_int_equal(info.several, row[k].several);
        assert_int_equal(info.none, row[k].none);
    }
}

static void regularQuadrantsAtEveryStep(void **state)
{
    (void)state;
    for (double h = 1e-2; h > 5e-6; h /= 10) {
        spragSolveInfo info;
        spragContactHistory history = sliding(-1, -5, 3);
        spragLocalSolution s = stepOnce(&history, h, SPRAG_INDETERMINACY_HISTORY, &info);
        assert_int_equal(s.mode, SPRAG_MODE_SLIP);
        CHECK_NEAR(s.r[0], h * 5 / 6.5, 1e-15); /* N = -b / p */
        assert_true(!info.several && !info.none);
        history = sliding(-1, 5, 3);
        s = stepOnce(&history, h, SPRAG_INDETERMINACY_HISTORY, &info);
        assert_int_equal(s.mode, SPRAG_MODE_OPEN);
        assert_true(!info.several && !info.none);
    }
}

static void inconsistentJams(void **state)
{
    (void)state;
    for (double h = 1e-2; h > 5e-6; h /= 10) {
        spragSolveInfo info;
        const spragContactHistory history = sliding(1, -5, 3);
        const spragLocalSolution s = stepOnce(&history, h, SPRAG_INDETERMINACY_HISTORY, &info);
        assert_int_equal(s.mode, SPRAG_MODE_STICK);
        assert_true(info.none);
        /* (P_n, P_t) = -W^-1 (v_n, v_t): the impulse of the jam up to O(h) */
        const double det = 2.5 * 4 - 2 * 2;
        CHECK_NEAR(s.r[0], (4 * 5 * h + 2 * 1) / det, 1e-14);
        CHECK_NEAR(s.r[1], -(2 * 5 * h + 2.5 * 1) / det, 1e-14);
    }
}

static void indeterminateFollowsHistory(void **state)
{
    (void)state;
    const double separatrix = 5 / 1.5;
    for (double h = 1e-2; h > 5e-6; h /= 10) {
        spragSolveInfo info;
        spragContactHistory history = sliding(1, 5, 0.99 * separatrix);
        assert_int_equal(stepOnce(&history, h, SPRAG_INDETERMINACY_HISTORY, &info).mode, SPRAG_MODE_OPEN);
        assert_true(info.several);
        history.previous_normal = 1.01 * separatrix;
        assert_int_equal(stepOnce(&history, h, SPRAG_INDETERMINACY_HISTORY, &info).mode, SPRAG_MODE_STICK);
        assert_int_equal(stepOnce(&history, h, SPRAG_INDETERMINACY_LIFT, &info).mode, SPRAG_MODE_OPEN);
        history.fresh = 1;
        assert_int_equal(stepOnce(&history, h, SPRAG_INDETERMINACY_HISTORY, &info).mode, SPRAG_MODE_OPEN);
        assert_int_equal(stepOnce(&history, h, SPRAG_INDETERMINACY_JAM, &info).mode, SPRAG_MODE_STICK);
    }
}

/* At rest {lift, stick, slip}: stick if pressed more than the saddle before, lift if less or fresh (3.4). */
static void atRestHistoryDecides(void **state)
{
    (void)state;
    const double h = 1e-3, q[3] = {h * 1, h * 10, 0};
    spragLocalSolution s[SPRAG_LOCAL_MAX];
    assert_int_equal(spragLocalEnumerate(SPRAG_BLOCK_CONTACT, W, q, MU, MU, s), 3);
    double saddle = 0;
    for (int k = 0; k < 3; ++k)
        if (!s[k].normal_stable)
            saddle = s[k].r[0] / h;
    CHECK_NEAR(saddle, 1 / 1.5, 1e-9);
    spragContactHistory history = {.previous_normal = 1.1 * saddle, .mode = SPRAG_MODE_STICK};
    const spragIndicator rest = spragIndicatorOf(W, MU, &history, SPRAG_INDETERMINACY_HISTORY);
    spragSolveInfo info = {0};
    int pick = spragLocalPick(3, s, &rest, &history, h, SPRAG_INDETERMINACY_HISTORY, &info);
    assert_int_equal(s[pick].mode, SPRAG_MODE_STICK);
    assert_true(info.several);
    history.previous_normal = 0.9 * saddle;
    pick = spragLocalPick(3, s, &rest, &history, h, SPRAG_INDETERMINACY_HISTORY, &info);
    assert_int_equal(s[pick].mode, SPRAG_MODE_OPEN);
    history.fresh = 1, history.previous_normal = 1.1 * saddle;
    pick = spragLocalPick(3, s, &rest, &history, h, SPRAG_INDETERMINACY_HISTORY, &info);
    assert_int_equal(s[pick].mode, SPRAG_MODE_OPEN);
}

/* {stick, slip stable, slip unstable} (reference case body3d.rest.stick+2slip.1): stays stuck if it stuck, goes on
 * slipping if it slipped, on the branch that attracts. */
static void stickAndSlips(void **state)
{
    (void)state;
    const double B[9] = {37.44101704788182,   -24.833069697481303, -41.04578433789566,
                         -24.833069697481303, 53.91160679333728,   27.223912891247156,
                         -41.04578433789566,  27.223912891247156,  47.247930128130754};
    const double q[3] = {-36.2298, -38.3895, 37.816}, mu = 0.66;
    spragLocalSolution s[SPRAG_LOCAL_MAX];
    assert_int_equal(spragLocalEnumerate(SPRAG_BLOCK_CONTACT, B, q, mu, mu, s), 3);
    spragSolveInfo info = {0};
    spragContactHistory history = {.previous_normal = 3, .mode = SPRAG_MODE_STICK};
    spragIndicator indicator = spragIndicatorOf(B, mu, &history, SPRAG_INDETERMINACY_HISTORY);
    int pick = spragLocalPick(3, s, &indicator, &history, 1, SPRAG_INDETERMINACY_HISTORY, &info);
    assert_int_equal(s[pick].mode, SPRAG_MODE_STICK);
    assert_true(info.several);
    history.slip[0] = -3.8, history.slip[1] = -1; /* along the unstable direction: still not taken */
    history.mode = SPRAG_MODE_SLIP;
    indicator = spragIndicatorOf(B, mu, &history, SPRAG_INDETERMINACY_HISTORY);
    pick = spragLocalPick(3, s, &indicator, &history, 1, SPRAG_INDETERMINACY_HISTORY, &info);
    assert_int_equal(s[pick].mode, SPRAG_MODE_SLIP);
    assert_true(s[pick].direction_stable);
    CHECK_NEAR(s[pick].r[0], 2.0194870261974294, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slopeIsPainleves),
                                       cmocka_unit_test(fourQuadrants),
                                       cmocka_unit_test(heldMotorsCount),
                                       cmocka_unit_test(quadrantsOfGuides),
                                       cmocka_unit_test(guidesSlideOnOrStick),
                                       cmocka_unit_test(thresholdOfTheQuadrants),
                                       cmocka_unit_test(regularQuadrantsAtEveryStep),
                                       cmocka_unit_test(inconsistentJams),
                                       cmocka_unit_test(indeterminateFollowsHistory),
                                       cmocka_unit_test(atRestHistoryDecides),
                                       cmocka_unit_test(stickAndSlips)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
