/* What an island that begins again finds of its rows, blocks and mechanisms in what it was. */
#include "support/check.h"

#include <string.h>

#include "ode/articulation.h"
#include "ode/kept.h"

enum { ROWS = 4, BLOCKS = 3 };

/* Rows of joints 0, 0, 2 and 5, on two mechanisms; blocks of joints 1, 3 and 4. */
typedef struct Past {
    spragEqualityRow row[ROWS];
    spragBlock block[BLOCKS];
    struct spragArticulation mechanism[2];
    int on[2][2];
    spragLane lane;
    spragIsland island;
} Past;

static void setPast(Past *past)
{
    static const int joint_of_row[ROWS] = {0, 0, 2, 5}, joint_of_block[BLOCKS] = {1, 3, 4};
    memset(past, 0, sizeof *past);
    for (int e = 0; e < ROWS; ++e) {
        past->row[e] = (spragEqualityRow){.joint = joint_of_row[e], .number = e, .rhs = 0.1 * e, .body = {e, -1}};
        past->row[e].J[0][e] = 1;
        past->on[e / 2][e % 2] = e;
    }
    for (int k = 0; k < BLOCKS; ++k)
        past->block[k] = (spragBlock){.joint = joint_of_block[k], .body = {k, -1}};
    for (int a = 0; a < 2; ++a)
        past->mechanism[a] = (struct spragArticulation){.row = past->on[a], .row_count = 2};
    past->island = (spragIsland){.row = past->row,
                                 .row_count = ROWS,
                                 .block = past->block,
                                 .block_count = BLOCKS,
                                 .articulation = past->mechanism,
                                 .articulation_count = 2,
                                 .lane = &past->lane};
}

static void checkAllKept(const spragKept *kept)
{
    for (int e = 0; e < ROWS; ++e) {
        assert_int_equal(kept->row[e], e);
        assert_int_equal(kept->now[e], e);
        assert_int_equal(kept->mechanism[e], e / 2);
    }
    for (int k = 0; k < BLOCKS; ++k)
        assert_int_equal(kept->block[k], k);
}

static void whatIsTheSameIsFound(void **state)
{
    (void)state;
    static Past before, now;
    setPast(&before), setPast(&now);
    spragKept kept = {.before = &before.island};
    now.island.kept = &kept;
    assert_int_equal(spragKeptFind(&now.island), 1);
    checkAllKept(&kept);
    spragArenaFree(&now.lane.arena);
}

/* A limit that broke: the second row is gone, a block of its joint is new. */
static void whatIsGoneOrNewIsNot(void **state)
{
    (void)state;
    static Past before, now;
    setPast(&before), setPast(&now);
    spragKept kept = {.before = &before.island};
    now.island.kept = &kept;
    memmove(&now.row[1], &now.row[2], 2 * sizeof *now.row);
    now.island.row_count = ROWS - 1;
    spragBlock block[BLOCKS + 1] = {{.joint = 0, .part = SPRAG_PART_JOINT, .body = {1, -1}}};
    memcpy(block + 1, now.block, sizeof now.block);
    now.island.block = block, now.island.block_count = BLOCKS + 1;
    assert_int_equal(spragKeptFind(&now.island), 1);
    static const int row[] = {0, 2, 3}, was[] = {0, -1, 1, 2}, of_block[] = {-1, 0, 1, 2};
    assert_memory_equal(kept.row, row, sizeof row);
    assert_memory_equal(kept.now, was, sizeof was);
    assert_memory_equal(kept.block, of_block, sizeof of_block);
    spragArenaFree(&now.lane.arena);
}

/* Any number that differs makes another row, or block. */
static void whatDiffersIsAnother(void **state)
{
    (void)state;
    static Past before, now;
    for (int what = 0; what < 4; ++what) {
        setPast(&before), setPast(&now);
        spragKept kept = {.before = &before.island};
        now.island.kept = &kept;
        now.row[2].rhs += what == 0 ? 1e-16 : 0;
        now.row[2].J[1][5] = what == 1 ? 1e-300 : 0;
        now.block[1].J[0][2][3] = what == 2 ? 1e-300 : 0;
        now.block[1].unused[2] = what == 3;
        assert_int_equal(spragKeptFind(&now.island), 1);
        assert_int_equal(kept.row[2], what < 2 ? -1 : 2);
        assert_int_equal(kept.now[2], what < 2 ? -1 : 2);
        assert_int_equal(kept.row[3], 3);
        assert_int_equal(kept.block[1], what < 2 ? 1 : -1);
        assert_int_equal(kept.block[2], 2);
        spragArenaFree(&now.lane.arena);
    }
}

/* W_kl is as it was where no mechanism that both are on has changed. */
static void couplingsAreKeptByMechanism(void **state)
{
    (void)state;
    static Past now;
    setPast(&now);
    static const int on[BLOCKS][2] = {{0, -1}, {0, 1}, {1, -1}};
    for (int k = 0; k < BLOCKS; ++k)
        memcpy(now.block[k].articulation, on[k], sizeof on[k]);
    now.mechanism[0].kept = 1;
    assert_int_equal(spragKeptCoupling(&now.island, 0, 1), 1);
    assert_int_equal(spragKeptCoupling(&now.island, 1, 2), 0);
    assert_int_equal(spragKeptCoupling(&now.island, 0, 2), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatIsTheSameIsFound),
        cmocka_unit_test(whatIsGoneOrNewIsNot),
        cmocka_unit_test(whatDiffersIsAnother),
        cmocka_unit_test(couplingsAreKeptByMechanism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
