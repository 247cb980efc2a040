/* What a guide leaves of h Jdot v goes from J v = 0 to its half, is the same if asked twice, and is nobody else's. */
#include "ode/rows/lead.h"
#include "support/check.h"

#define STEP 0.005

static spragBlock guideRow(double start, double product, double asked)
{
    spragBlock block = {.kind = SPRAG_BLOCK_TWO_SIDED, .part = SPRAG_PART_GUIDE, .curved = 1};
    for (int row = 0; row < 3; ++row) {
        block.velocity[row] = start + asked;
        block.product[row] = product;
        block.rhs[row] = asked;
    }
    return block;
}

/* The next step begins with J v = lead. */
static void goesToItsHalf(void **state)
{
    (void)state;
    const spragContactMemory slides = {.is_guide = 1, .mode = SPRAG_MODE_SLIP};
    for (int sign = -1; sign <= 1; sign += 2) {
        const double product = 8 * sign, half = 0.5 * STEP * product;
        double lead = 0;
        for (int k = 0; k < 60; ++k) {
            spragBlock block = guideRow(lead, product, 0.3);
            spragLead(&block, &slides, STEP);
            assert_true(sign * block.lead[0] > sign * lead - 1e-15 && sign * block.lead[0] <= sign * half + 1e-15);
            assert_true(fabs(block.lead[0] - lead) <= 0.25 * fabs(half) + 1e-15); /* h / SETTLE */
            CHECK_NEAR(block.rhs[0], 0.3 + block.lead[0], 1e-15);
            CHECK_NEAR(block.rhs[1], 0.3, 0); /* it slides along the plane */
            lead = block.lead[0];
            spragLead(&block, &slides, STEP);
            CHECK_NEAR(block.rhs[0], 0.3 + lead, 1e-15);
        }
        CHECK_NEAR(lead, half, 1e-6 * fabs(half));
    }
}

static void whatIsTaken(void **state)
{
    (void)state;
    const spragContactMemory sticks = {.is_guide = 1, .mode = SPRAG_MODE_STICK}, contact = {.mode = SPRAG_MODE_STICK};
    spragBlock block = guideRow(5, 8, 0); /* of what is no lead, a blow, no more than the half */
    spragLead(&block, &sticks, STEP);
    for (int row = 0; row < 3; ++row)
        CHECK_NEAR(block.lead[row], 0.02, 1e-15);
    block = guideRow(0.01, 8, 0);
    spragLead(&block, NULL, STEP); /* its first step */
    CHECK_NEAR(block.rhs[0], 0, 0);
    spragLead(&block, &contact, STEP);
    CHECK_NEAR(block.rhs[0], 0, 0);
    block.kind = SPRAG_BLOCK_CONTACT; /* of one with play the side that bore load */
    spragLead(&block, &sticks, STEP);
    CHECK_NEAR(block.rhs[0], 0, 0);
    spragContactMemory bore = sticks;
    bore.normal_force = 3;
    spragLead(&block, &bore, STEP);
    assert_true(block.lead[0] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(goesToItsHalf), cmocka_unit_test(whatIsTaken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
