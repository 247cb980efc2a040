/* Mechanisms against their definition, on random joints: two bodies are in one iff a path of joints leads from one to
 * the other.  And the order in which joints are eliminated: as they were made, turned round, or dissected. */
#include "support/check.h"
#include "support/uniform.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ode/joints/articulation.h"
#include "ode/joints/mechanism.h"

enum { BODIES = 1200, JOINTS = 1200, BLOCKS = 2400, ROWS_MOST = 6 };

/* An island as far as its mechanisms ask for it. */
typedef struct Made {
    spragSnapshot snapshot;
    spragBodyState body[BODIES];
    int number[BODIES];
    spragEqualityRow row[ROWS_MOST * JOINTS];
    spragBlock block[BLOCKS];
    spragLane lane;
    spragIsland island;
} Made;

static int below(unsigned long long *seed, int n)
{
    return (int)(fabs(uniform(seed)) * n) % n;
}

/* Bodies that are in no mechanism yet; those from `count` on do not move. */
static Made *make(int count)
{
    Made *m = aligned_alloc(_Alignof(Made), (sizeof(Made) + _Alignof(Made) - 1) / _Alignof(Made) * _Alignof(Made));
    assert_non_null(m);
    memset(m, 0, sizeof *m);
    for (int i = 0; i < BODIES; ++i) {
        m->number[i] = i;
        m->body[i].place = i;
        m->body[i].articulation = -1;
        m->body[i].kinematic = i >= count;
    }
    m->snapshot = (spragSnapshot){.body = m->body, .body_count = BODIES};
    m->island =
        (spragIsland){.body = m->number, .body_count = count, .row = m->row, .block = m->block, .lane = &m->lane};
    return m;
}

static void destroy(Made *m)
{
    spragArenaFree(&m->lane.arena);
    spragArenaFree(&m->lane.scratch);
    free(m);
}

static void addJoint(Made *m, int a, int b, int rows)
{
    static const spragEqualityRow none;
    const int e = m->island.row_count, joint = e > 0 ? m->row[e - 1].joint + 1 : 0;
    for (int i = 0; i < rows; ++i) {
        m->row[e + i] = none;
        m->row[e + i].joint = joint;
        m->row[e + i].body[0] = a, m->row[e + i].body[1] = b;
    }
    m->island.row_count += rows;
}

static void addBlock(Made *m, int a, int b)
{
    spragBlock *block = &m->block[m->island.block_count++];
    block->body[0] = a, block->body[1] = b;
}

/* ---------------------------------------------------------------- who is in which */

enum { FEW = 40 };

/* Joints of 1 to 6 rows between any bodies, or to what does not move (FEW, FEW + 1, and -1). */
static Made *makeRandom(unsigned long long seed)
{
    Made *m = make(FEW);
    const int joints = (int)(seed % 60);
    for (int k = 0; k < joints; ++k) {
        int a = below(&seed, FEW), b = below(&seed, FEW + 3);
        b = b == FEW + 2 ? -1 : b;
        if (a != b)
            addJoint(m, k % 5 == 0 && b >= 0 ? b : a, k % 5 == 0 && b >= 0 ? a : b, 1 + below(&seed, ROWS_MOST));
    }
    for (int k = 0; k < 3 * FEW; ++k)
        addBlock(m, below(&seed, FEW), below(&seed, FEW + 3) - 1);
    return m;
}

/* reach[i][j]: a path of joints leads from i to j. */
static void close(const Made *m, unsigned char reach[FEW][FEW])
{
    memset(reach, 0, FEW * sizeof reach[0]);
    for (int i = 0; i < FEW; ++i)
        reach[i][i] = 1;
    for (int e = 0; e < m->island.row_count; ++e) {
        const int *body = m->row[e].body;
        if (body[0] >= 0 && body[0] < FEW && body[1] >= 0 && body[1] < FEW)
            reach[body[0]][body[1]] = reach[body[1]][body[0]] = 1;
    }
    for (int k = 0; k < FEW; ++k)
        for (int i = 0; i < FEW; ++i)
            for (int j = 0; j < FEW; ++j)
                reach[i][j] |= reach[i][k] && reach[k][j];
}

static int isJoined(const Made *m, int body)
{
    for (int e = 0; e < m->island.row_count; ++e)
        if (m->row[e].body[0] == body || m->row[e].body[1] == body)
            return 1;
    return 0;
}

static void joinedBodiesAreOneMechanism(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 120; ++seed) {
        Made *m = makeRandom(seed);
        unsigned char reach[FEW][FEW], joined[FEW];
        close(m, reach);
        assert_true(spragMechanismsFind(&m->snapshot, &m->island));
        for (int i = 0; i < FEW; ++i) {
            joined[i] = 0;
            for (int j = 0; j < FEW; ++j)
                joined[i] |= reach[i][j] && isJoined(m, j);
        }
        for (int i = 0; i < FEW; ++i) {
            assert_int_equal(m->body[i].articulation >= 0, joined[i]);
            for (int j = 0; j < FEW; ++j) {
                assert_int_equal(m->body[i].place == m->body[j].place, reach[i][j]);
                assert_int_equal(i != j && joined[i] && m->body[i].articulation == m->body[j].articulation,
                                 i != j && joined[i] && reach[i][j]);
            }
        }
        destroy(m);
    }
}

static int articulationOf(const Made *m, int body)
{
    return body >= 0 && body < FEW ? m->body[body].articulation : -1;
}

/* Rows, joints and bodies of mechanism a, each once and in their order in the island. */
static void checkLists(const Made *m, int a)
{
    const struct spragArticulation *art = &m->island.articulation[a];
    int rows = 0, joints = 0, bodies = 0, last = -1;
    for (int i = 0; i < FEW; ++i)
        if (m->body[i].articulation == a)
            assert_int_equal(m->body[i].group, bodies++);
    for (int e = 0; e < m->island.row_count; ++e) {
        const spragEqualityRow *row = &m->row[e];
        const int mine =
            articulationOf(m, row->body[0]) >= 0 ? articulationOf(m, row->body[0]) : articulationOf(m, row->body[1]);
        if (mine != a)
            continue;
        if (row->joint != last) {
            assert_int_equal(art->first[joints], rows);
            for (int side = 0; side < 2; ++side)
                assert_int_equal(art->group[joints][side],
                                 articulationOf(m, row->body[side]) == a ? m->body[row->body[side]].group : -1);
            last = row->joint;
            ++joints;
        }
        assert_int_equal(art->row[rows++], e);
    }
    assert_int_equal(art->first[joints], rows);
    assert_int_equal(art->row_count, rows);
    assert_int_equal(art->joint_count, joints);
    assert_int_equal(art->body_count, bodies);
    assert_true(joints > 0);
}

static void listsHaveEverythingOnce(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 120; ++seed) {
        Made *m = makeRandom(seed);
        int touched[FEW] = {0};
        assert_true(spragMechanismsFind(&m->snapshot, &m->island));
        for (int a = 0; a < m->island.articulation_count; ++a)
            checkLists(m, a);
        for (int k = 0; k < m->island.block_count; ++k) {
            const spragBlock *block = &m->block[k];
            const int first = articulationOf(m, block->body[0]), second = articulationOf(m, block->body[1]);
            assert_int_equal(block->articulation[0], first);
            assert_int_equal(block->articulation[1], second == first ? -1 : second);
            for (int side = 0; side < 2; ++side) {
                const int a = block->articulation[side];
                if (a < 0)
                    continue;
                assert_int_equal(block->slot[side], touched[a]);
                assert_int_equal(m->island.articulation[a].block[touched[a]++], k);
            }
        }
        for (int a = 0; a < m->island.articulation_count; ++a)
            assert_int_equal(m->island.articulation[a].block_count, touched[a]);
        destroy(m);
    }
}

/* ---------------------------------------------------------------- the order of joints */

/* After the order was chosen: every joint once, its rows together and its groups with it. */
static void checkOrder(const Made *m, int rows_each)
{
    const struct spragArticulation *art = &m->island.articulation[0];
    static unsigned char seen[JOINTS];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < art->joint_count; ++i) {
        const spragEqualityRow *row = &m->row[art->row[art->first[i]]];
        assert_int_equal(art->first[i + 1] - art->first[i], rows_each);
        assert_int_equal(art->factor.size[i], rows_each);
        assert_int_equal(seen[row->joint]++, 0);
        for (int k = 0; k < rows_each; ++k)
            assert_int_equal(art->row[art->first[i] + k], rows_each * row->joint + k);
        for (int side = 0; side < 2; ++side)
            assert_int_equal(art->group[i][side], row->body[side] < 0 ? -1 : m->body[row->body[side]].group);
    }
}

static struct spragArticulation *orderOf(Made *m)
{
    assert_true(spragMechanismsFind(&m->snapshot, &m->island));
    assert_int_equal(m->island.articulation_count, 1);
    assert_true(spragMechanismOrder(&m->snapshot, &m->island, &m->island.articulation[0]));
    return &m->island.articulation[0];
}

/* The trunk has four legs of three joints.  From the feet inwards L has no fill: two blocks a leg, and the hips, each
 * with each.  From the trunk outwards the hip of one leg fills what its knee has with the hips of the others. */
static void aRobotIsEliminatedFromItsFeet(void **state)
{
    (void)state;
    enum { LEGS = 4, LINKS = 3, HIPS = LEGS * (LEGS - 1) / 2 };
    for (int from_feet = 0; from_feet < 2; ++from_feet) {
        Made *m = make(1 + LEGS * LINKS);
        for (int k = 0; k < LEGS * LINKS; ++k) {
            const int joint = from_feet ? LEGS * LINKS - 1 - k : k, body = 1 + joint;
            addJoint(m, joint % LINKS == 0 ? 0 : body - 1, body, 5);
        }
        for (int leg = 0; leg < LEGS; ++leg)
            addBlock(m, LINKS * (leg + 1), -1);
        const struct spragArticulation *art = orderOf(m);
        checkOrder(m, 5);
        assert_int_equal(art->factor.start[art->joint_count], LEGS * (LINKS - 1) + HIPS);
        const int foot = m->row[art->row[0]].joint;
        assert_int_equal(foot, from_feet ? 0 : LEGS * LINKS - 1);
        destroy(m);
    }
}

/* Joints that the path from joint i up the elimination tree has. */
static int pathLength(const spragBlockLdlt *f, int i)
{
    int length = 0;
    for (; i < f->n; i = f->parent[i])
        ++length;
    return length;
}

/* A long chain with a contact on every body is dissected: a contact reaches log2 n joints.  One with contacts on its
 * last body alone is not: no order is cheaper than that it was made in. */
static void aLongChainWithContactsIsDissected(void **state)
{
    (void)state;
    enum { LINKS = 1000 };
    for (int everywhere = 0; everywhere < 2; ++everywhere) {
        Made *m = make(LINKS + 1);
        for (int k = 0; k < LINKS; ++k)
            addJoint(m, k, k + 1, 3);
        for (int k = everywhere ? 0 : LINKS; k <= LINKS; ++k)
            addBlock(m, k, -1);
        const struct spragArticulation *art = orderOf(m);
        int longest = 0;
        checkOrder(m, 3);
        for (int i = 0; i < LINKS; ++i) {
            const int length = pathLength(&art->factor, i);
            longest = length > longest ? length : longest;
        }
        assert_in_range(longest, everywhere ? 10 : LINKS, everywhere ? 10 : LINKS);
        for (int i = 0; i < LINKS && !everywhere; ++i)
            assert_int_equal(m->row[art->row[art->first[i]]].joint, i);
        destroy(m);
    }
}

/* Four long legs made from the trunk outwards: they are turned round first, and then dissected. */
static void longLegsAreTurnedRoundAndDissected(void **state)
{
    (void)state;
    enum { LEGS = 4, LINKS = 250 };
    Made *m = make(1 + LEGS * LINKS);
    for (int k = 0; k < LEGS * LINKS; ++k)
        addJoint(m, k % LINKS == 0 ? 0 : k, 1 + k, 3);
    for (int k = 0; k <= LEGS * LINKS; ++k)
        addBlock(m, k, -1);
    const struct spragArticulation *art = orderOf(m);
    checkOrder(m, 3);
    for (int i = 0; i < LEGS * LINKS; ++i)
        assert_in_range(pathLength(&art->factor, i), 1, 12); /* of 250 joints 8, and the four hips */
    destroy(m);
}

static void everyFailingAllocationIsReported(void **state)
{
    (void)state;
    int made = 0;
    for (unsigned long n = 1; !made; ++n) {
        Made *m = make(JOINTS);
        for (int k = 0; k + 1 < JOINTS; ++k) {
            addJoint(m, k, k + 1, 3);
            addBlock(m, k, -1);
        }
        spragAllocFailAt(n);
        made = spragMechanismsFind(&m->snapshot, &m->island) &&
               spragMechanismOrder(&m->snapshot, &m->island, &m->island.articulation[0]);
        spragAllocFailAt(0);
        assert_true(made ? n > 3 : n < 60); /* some did fail */
        destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joinedBodiesAreOneMechanism),        cmocka_unit_test(listsHaveEverythingOnce),
        cmocka_unit_test(aRobotIsEliminatedFromItsFeet),      cmocka_unit_test(aLongChainWithContactsIsDissected),
        cmocka_unit_test(longLegsAreTurnedRoundAndDissected), cmocka_unit_test(everyFailingAllocationIsReported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
