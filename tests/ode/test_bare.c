/* Without blocks (ode/islands/bare) or with them: one problem, also where friction yields along its tangents (slip). */
#include "support/game.h"

#include <string.h>

#include "ode/islands/bare.h"
#include "ode/rows/rows.h"
#include "ode/world/world.h"
#include "problem/residual.h"

enum { BOXES = 12 };

/* Of each pair of geoms its own: holding or sliding, along one or both tangents yielding or not. */
static dSurfaceParameters surfaceOf(int pair)
{
    dSurfaceParameters surface = {.mode = dContactApprox1, .mu = pair % 2 ? dInfinity : 0.5};
    if (pair % 2 || pair % 3 > 0)
        surface.mode |= dContactSlip1 | dContactSlip2;
    else if (pair % 4 == 0)
        surface.mode |= dContactSlip1;
    surface.slip1 = 0.1 * (1 + pair % 5), surface.slip2 = 0.15 * (1 + pair % 7);
    return surface;
}

static void onNear(void *data, dGeomID a, dGeomID b)
{
    enum { POINTS = 8 };
    Game *game = data;
    dContact contact[POINTS];
    const int pair = (int)((size_t)dGeomGetData(a) + (size_t)dGeomGetData(b));
    for (int count = dCollide(a, b, POINTS, &contact[0].geom, sizeof contact[0]), i = 0; i < count; ++i) {
        contact[i].surface = surfaceOf(pair);
        dJointAttach(spragJointCreateContact(game->sprag, game->group, &contact[i]), dGeomGetBody(a), dGeomGetBody(b));
    }
}

/* A wall of boxes that overlap a little, each with a motion of its own. */
static void openWall(Game *game, const spragConfig *config)
{
    const double size[3] = {1, 0.8, 0.4};
    openGame(game, config);
    for (int i = 0; i < BOXES; ++i) {
        const dBodyID box =
            addBox(game, 0.99 * (i % 4) + 0.3 * (i / 4), 0.05 * (i % 3), 0.199 + 0.399 * (i / 4), size, 5);
        dGeomSetData(dBodyGetFirstGeom(box), (void *)(size_t)(3 * i + 1));
        dBodySetLinearVel(box, 0.3 * (i % 3) - 0.3, 0.2 * (i % 5) - 0.4, -0.1 * (i % 4));
        dBodySetAngularVel(box, 0.1 * (i % 2), 0, 0.2 * (i % 3) - 0.2);
    }
}

static void stepWall(Game *game)
{
    dSpaceCollide(game->space, game, onNear);
    assert_int_equal(spragWorldStep(game->sprag, 0.01), SPRAG_OK);
    dJointGroupEmpty(game->group);
}

/* q and the blocks of W of one problem are those of the other. */
static void checkSame(const spragProblem *bare, const spragProblem *blocks)
{
    assert_int_equal(bare->contact_count, blocks->contact_count);
    assert_int_equal(bare->block_count, blocks->block_count);
    int yielding = 0;
    for (int k = 0; k < bare->contact_count; ++k) {
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(bare->q[3 * k + i], blocks->q[3 * k + i], 1e-12);
        assert_int_equal(spragKindOf(bare, k), spragKindOf(blocks, k));
        const double *W = blocks->W + 9 * (size_t)spragProblemDiagonal(blocks, k);
        yielding += W[4] > 10 * W[0];
    }
    assert_true(yielding > 0); /* or the rest tells nothing */
    for (int i = 0; i < 9 * bare->block_count; ++i)
        CHECK_NEAR(bare->W[i], blocks->W[i], 1e-10);
}

/* From one state; and the answer is one of either. */
static void problemsAreTheSame(void **state)
{
    (void)state;
    Game visited, solved;
    spragConfig config = spragConfigDefault();
    openWall(&solved, &config);
    config.tolerance = 1e-2;
    openWall(&visited, &config);
    stepWall(&visited);
    stepWall(&solved);
    spragIsland *island = &visited.sprag->snapshot.island[0];
    const spragIsland *other = &solved.sprag->snapshot.island[0];
    assert_non_null(island->bare);
    assert_null(other->bare);
    const double told = island->solve.residual;
    assert_true(told <= 1e-2);
    assert_true(spragBareProblem(visited.sprag, island));
    checkSame(&island->problem, &other->problem);
    CHECK_NEAR(spragProblemResidual(&island->problem, island->r), told, 1e-11); /* in W what holds gives way by 1e-11 */
    freeGame(&visited);
    freeGame(&solved);
}

/* Step after step, with a guess from the last one: what is told is what the judge says. */
static void answersAreToldAsTheyAre(void **state)
{
    (void)state;
    Game game;
    spragConfig config = spragConfigDefault();
    config.tolerance = 1e-4;
    openWall(&game, &config);
    int visits = 0;
    for (int k = 0; k < 40; ++k) {
        stepWall(&game);
        spragIsland *island = &game.sprag->snapshot.island[0];
        if (island->bare == NULL)
            continue;
        ++visits;
        const double told = island->solve.residual;
        assert_true(spragBareProblem(game.sprag, island));
        CHECK_NEAR(spragProblemResidual(&island->problem, island->r), told, 1e-11);
    }
    assert_true(visits > 20);
    freeGame(&game);
}

/* A coefficient along t1 and a force along t2, both of 2000: that holds whatever is pressed, this is but 2 kN. */
static void oneTangentThatHoldsIsNotTwo(void **state)
{
    (void)state;
    dContact contact = {.surface = {.mode = dContactApprox1_1, .mu = 2e3}, .geom = {.normal = {0, 0, 1}}};
    assert_int_equal(spragContactSticks(&contact, 1), 0);
    assert_int_equal(spragContactIsPlain(&contact, 1), 0);
    contact.surface.mode |= dContactApprox1_2;
    assert_int_equal(spragContactSticks(&contact, 1), 1);
    contact.surface.mode = dContactApprox1_1, contact.surface.mu = dInfinity;
    assert_int_equal(spragContactSticks(&contact, 1), 1);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(problemsAreTheSame), cmocka_unit_test(answersAreToldAsTheyAre),
                                       cmocka_unit_test(oneTangentThatHoldsIsNotTwo)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
