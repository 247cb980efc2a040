/* What a contact is made of where a direction has no row, and where single precision cannot tell its tangents apart;
 * and in which part of the bodies it is. */
#include "support/check.h"

#include "solve/greedy/greedy.h"
#include "solve/greedy/greedy_lanes.h"

/* So many times one contact of body 0, of 1 kg and turning about z alone (1/I: 1/(kg m^2)), with the world. */
static void makeContacts(spragGreedy *greedy, spragArena *arena, int count, double about_z)
{
    const double I[9] = {0, 0, 0, 0, 0, 0, 0, 0, about_z};
    assert_int_equal(spragGreedyInit(greedy, count, 1, arena), 1);
    greedy->body[0] = spragGreedyBodyOf(1, I);
    greedy->body[1] = (spragGreedyBody){0};
    for (int k = 0; k < count; ++k) {
        greedy->pair[k][0] = 0, greedy->pair[k][1] = 1;
        greedy->contact[k] =
            (spragGreedyContact){.direction = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, .arm[0] = {1, 1}, .mu = 0.5};
    }
}

/* It is given the mean of the others, as in W; if there is none, 1. */
static void aDirectionWithoutARowHasTheMean(void **state)
{
    (void)state;
    for (int rows = 0; rows < 3; ++rows) {
        spragArena arena = {0};
        spragGreedy greedy;
        makeContacts(&greedy, &arena, 1, 2);
        spragGreedyContact *c = &greedy.contact[0];
        for (int i = rows; i < 3; ++i)
            c->direction[i][0] = c->direction[i][1] = c->direction[i][2] = 0;
        spragGreedyFill(&greedy, 0, 1);
        const double diagonal[3] = {1, 1 + 2, 1 + 2}, /* 1/m + y^2 / I along x, x^2 along y */
            mean[3] = {1, diagonal[0], (diagonal[0] + diagonal[1]) / 2};
        double trace = 0;
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(c->direction[i][3], i < rows ? 0 : mean[rows], 1e-15);
            trace += i < rows ? diagonal[i] : mean[rows];
        }
        CHECK_NEAR(c->normal[3], trace / 3, 1e-15);
        spragArenaFree(&arena);
    }
}

/* Of a body that turns by far more easily than it moves W_tt is (1 -1; -1 1) / I to seven digits: in single precision
 * it is made a little softer. */
static void tangentsAreDefiniteInSinglePrecision(void **state)
{
    (void)state;
    spragArena arena = {0};
    spragGreedy greedy;
    makeContacts(&greedy, &arena, SPRAG_LANES_LEAST, 3e8);
    assert_int_equal(spragGreedyWiden(&greedy), 1);
    spragGreedyFill(&greedy, 0, SPRAG_LANES_LEAST);
    const spragLaneContact *c = &greedy.lanes->contact[0];
    const float K[3] = {c->direction[0][3], c->direction[1][3], c->direction[2][3]};
    CHECK_NEAR(K[0], 3e8, 1e3);
    CHECK_NEAR(K[1], -3e8, 1e3);
    assert_true(K[0] * K[2] - K[1] * K[1] > 1e-6F * K[0] * K[2]);
    spragArenaFree(&arena);
}

/* What lies on the world, on either side of a contact, is of its body's part alone. */
static void partsAreThoseOfBodies(void **state)
{
    (void)state;
    enum { BODIES = 400 };
    const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const int pair[][2] = {{0, 1}, {0, BODIES - 1}, {BODIES - 1, 0}, {5, BODIES}, {BODIES, 5}, {BODIES, 390}};
    enum { COUNT = sizeof pair / sizeof *pair };
    spragArena arena = {0};
    spragGreedy greedy;
    assert_int_equal(spragGreedyInit(&greedy, COUNT, BODIES, &arena), 1);
    for (int b = 0; b <= BODIES; ++b)
        greedy.body[b] = b < BODIES ? spragGreedyBodyOf(1, I) : (spragGreedyBody){0};
    for (int k = 0; k < COUNT; ++k) {
        greedy.pair[k][0] = pair[k][0], greedy.pair[k][1] = pair[k][1];
        greedy.contact[k] = (spragGreedyContact){.direction = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
    }
    spragGreedyFill(&greedy, 0, COUNT);
    const int last = greedy.part_count - 1, expected[COUNT] = {0, last + 1, last + 1, 0, 0, last};
    assert_true(last > 0);
    for (int k = 0; k < COUNT; ++k)
        assert_int_equal(greedy.part[k], expected[k]);
    spragArenaFree(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(aDirectionWithoutARowHasTheMean),
                                       cmocka_unit_test(tangentsAreDefiniteInSinglePrecision),
                                       cmocka_unit_test(partsAreThoseOfBodies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
