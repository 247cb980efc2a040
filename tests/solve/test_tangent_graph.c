/* The graph of bodies that touch and of the joints between them, against a table of all pairs: what is there, once, and
 * where each contact and joint finds its blocks. */
#include "support/check.h"
#include "support/random_pile.h"

#include "base/alloc.h"
#include "solve/newton/tangent_graph.h"

enum { EACH = 3, JOINTS = 8, ROWS = PILE_BODIES + JOINTS };

/* A tree that hangs on the world, one that does not, a loop, and a body that two joints hold to the world. */
static const int joint_of[2 * JOINTS] = {-1, 0, 0, 1, 1, 2, 3, 2, 3, 0, 5, 6, 7, -1, -1, 7};
static const spragLinks links = {.count = JOINTS, .of = joint_of};

/* Diagonals come first in the rows of bodies, as they are cleared; nothing is there twice. */
static void checkPattern(const spragTangent *t, const unsigned char there[ROWS][ROWS])
{
    const int rows = t->bodies->count + spragTangentLinks(t);
    assert_int_equal(t->lu.n, rows);
    assert_int_equal(t->lu.size, 6);
    assert_int_equal(t->lu.row_start[0], 0);
    for (int i = 0; i < rows; ++i) {
        int found[ROWS] = {0};
        assert_int_equal(t->lu.column[t->lu.row_start[i]], i);
        for (int e = t->lu.row_start[i]; e < t->lu.row_start[i + 1]; ++e)
            ++found[t->lu.column[e]];
        for (int j = 0; j < rows; ++j)
            assert_int_equal(found[j], there[i][j]);
    }
}

/* The place of row i and column j; -1: one of them does not move. */
static int placeOf(const spragTangent *t, int i, int j)
{
    for (int e = i >= 0 && j >= 0 ? t->lu.row_start[i] : 0; i >= 0 && j >= 0 && e < t->lu.row_start[i + 1]; ++e)
        if (t->lu.column[e] == j)
            return e;
    return -1;
}

static void checkGraph(const Pile *pile, spragTangent *t, spragArena *arena)
{
    const int n = PILE_BODIES;
    unsigned char there[ROWS][ROWS] = {{0}};
    assert_int_equal(spragTangentGraphAnalyse(t, INFINITY, arena), 1);
    for (int i = 0; i < ROWS; ++i)
        there[i][i] = 1;
    for (int k = 0; k < PILE_NC; ++k) {
        const int *of = pile->of + 2 * k;
        for (int side = 0; side < 2; ++side) {
            if (of[0] >= 0 && of[1] >= 0)
                there[of[side]][of[1 - side]] = 1;
            for (int other = 0; other < 2; ++other)
                assert_int_equal(t->entry[4 * k + 2 * side + other], placeOf(t, of[side], of[other]));
        }
    }
    for (int j = 0; j < spragTangentLinks(t); ++j)
        for (int side = 0; side < 2; ++side) {
            const int body = joint_of[2 * j + side], *entry = t->link_entry + 4 * j + 2 * side;
            if (body < 0)
                continue;
            there[n + j][body] = there[body][n + j] = 1;
            assert_int_equal(entry[0], placeOf(t, body, n + j));
            assert_int_equal(entry[1], placeOf(t, n + j, body));
        }
    checkPattern(t, (const unsigned char(*)[ROWS])there);
}

/* Each body's sides of contacts, ascending, and each side once. */
static void checkSides(const Pile *pile, const spragTangent *t)
{
    int count = 0, moving = 0;
    for (int i = 0; i < PILE_BODIES; ++i)
        for (int l = t->first[i]; l < t->first[i + 1]; ++l, ++count) {
            assert_int_equal(pile->of[t->list[l]], i);
            assert_true(l == t->first[i] || t->list[l] > t->list[l - 1]);
        }
    for (int s = 0; s < 2 * PILE_NC; ++s)
        moving += pile->of[s] >= 0;
    assert_int_equal(t->first[0], 0);
    assert_int_equal(count, moving);
}

static void allThatTouchesIsThere(void **state)
{
    (void)state;
    static Pile pile;
    for (unsigned long long seed = 1; seed <= 10; ++seed)
        for (int linked = 0; linked < 2; ++linked) {
            spragArena arena = {0};
            randomPile(&pile, seed, 0.4, EACH);
            for (int k = (int)seed; k < PILE_NC; k += 11) { /* either side may be what does not move */
                pile.of[2 * k + 1] = pile.of[2 * k];
                pile.of[2 * k] = -1;
            }
            pile.bodies.links = linked ? &links : NULL;
            spragTangent t = {.problem = &pile.problem, .bodies = &pile.bodies};
            checkGraph(&pile, &t, &arena);
            checkSides(&pile, &t);
            spragArenaFree(&arena);
        }
}

/* What has no safe pivot of its own: each joint of a tree right after a body that is its own, the others last. */
static void jointsFollowTheirBodies(void **state)
{
    (void)state;
    static Pile pile;
    spragArena arena = {0};
    randomPile(&pile, 1, 0.4, EACH);
    pile.bodies.links = &links;
    spragTangent t = {.problem = &pile.problem, .bodies = &pile.bodies};
    assert_int_equal(spragTangentGraphAnalyse(&t, INFINITY, &arena), 1);
    int follow = 0;
    for (int j = 0; j < JOINTS; ++j) {
        const int at = t.lu.position[PILE_BODIES + j], before = at > 0 ? t.lu.order[at - 1] : -1;
        if (before >= 0 && before < PILE_BODIES) {
            assert_true(before == joint_of[2 * j] || before == joint_of[2 * j + 1]);
            ++follow;
        } else
            assert_true(at >= ROWS - 2);
    }
    assert_int_equal(follow, JOINTS - 2); /* one closes the loop, one holds what is held */
    spragArenaFree(&arena);
}

static void limitsAreKept(void **state)
{
    (void)state;
    static Pile pile;
    randomPile(&pile, 2, 0.4, EACH);
    for (int linked = 0; linked < 2; ++linked) {
        spragArena arena = {0};
        pile.bodies.links = linked ? &links : NULL;
        spragTangent t = {.problem = &pile.problem, .bodies = &pile.bodies};
        assert_int_equal(spragTangentGraphAnalyse(&t, INFINITY, &arena), 1);
        const double price = t.lu.products;
        assert_int_equal(spragTangentGraphAnalyse(&t, price, &arena), 1);
        assert_int_equal(spragTangentGraphAnalyse(&t, price - 1, &arena), -1);
        spragArenaFree(&arena);
        for (int fail = 1, made = 0; !made; ++fail) { /* every allocation, until none is left to fail */
            spragAllocFailAt((unsigned long)fail);
            made = spragTangentGraphAnalyse(&t, INFINITY, &arena);
            spragAllocFailAt(0);
            assert_true(made >= 0);
            spragArenaFree(&arena);
            assert_true(made || fail < 100);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allThatTouchesIsThere),
                                       cmocka_unit_test(jointsFollowTheirBodies), cmocka_unit_test(limitsAreKept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
