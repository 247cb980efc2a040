/* Two fingers hold what they may, in any direction, and nothing creeps out of them: 2 mu F >= m g. */
#include <math.h>

#include "support/scene_world.h"

enum { MU, OBJECT, MASS, SQUEEZE, SWING = 5, BALL = 2, KINDS };
enum { HELD, PALM };
static const double h = 1.0 / 240, g = 9.81; /* s, m/s^2 */

static SceneWorld *openGripper(int object, double swing, SceneSolver solver)
{
    double value[SCENE_KEY_MAX];
    defaults(SceneFind("gripper"), value);
    value[OBJECT] = object;
    value[SWING] = swing;
    return openScene("gripper", value, solver);
}

/* m, of the object from the palm. */
static void placeOf(const SceneWorld *world, double d[3])
{
    const dReal *x = dBodyGetPosition(world->body[HELD]), *y = dBodyGetPosition(world->body[PALM]);
    for (int i = 0; i < 3; ++i)
        d[i] = x[i] - y[i];
}

static double slipSince(const SceneWorld *world, const double before[3])
{
    double now[3];
    placeOf(world, now);
    return hypot(hypot(now[0] - before[0], now[1] - before[1]), now[2] - before[2]);
}

static void whatSwingsIsHeld(void **state)
{
    (void)state;
    for (int object = 0; object < KINDS; ++object) {
        SceneWorld *world = openGripper(object, 0.15, SCENE_SPRAG);
        double before[3];
        advance(world, h, (int)lround(1.5 / h));
        placeOf(world, before);
        double most = 0;
        for (int i = 0; i < (int)lround(6 / h); ++i) {
            advance(world, h, 1);
            most = fmax(most, slipSince(world, before));
        }
        printf("gripper object=%d: %.1e m of slip in 6 s\n", object, most);
        assert_true(dBodyGetPosition(world->body[HELD])[2] > 0.2);
        assert_true(most <= 1e-9);
        SceneDestroy(world);
    }
}

/* Lifted, then mu is `share` of what m g needs, along gravity turned by `turn` about the fingers' line.  Returns the
 * speed along gravity after 0.1 s. */
static double slideOf(int object, SceneSolver solver, double share, double turn)
{
    enum { FALL = 24 };
    SceneWorld *world = openGripper(object, 0, solver);
    advance(world, h, (int)lround(2 / h));
    world->surface.mu = share * world->value[MASS] * g / (2 * world->value[SQUEEZE]);
    dWorldSetGravity(world->world, 0, g * sin(turn), -g * cos(turn));
    advance(world, h, FALL);
    const dReal *v = dBodyGetLinearVel(world->body[HELD]);
    const double speed = v[1] * sin(turn) - v[2] * cos(turn);
    SceneDestroy(world);
    return speed / (FALL * h);
}

static void coulombsLawDecides(void **state)
{
    (void)state;
    for (int object = 0; object < KINDS; ++object)
        for (int k = 0; k < 4; ++k) {
            const double turn = 0.25 * k * M_PI;
            CHECK_NEAR(slideOf(object, SCENE_SPRAG, 1.001, turn), 0, 1e-9);
            CHECK_NEAR(slideOf(object, SCENE_SPRAG, 0.98, turn), 0.02 * g,
                       object == BALL ? 1e-9 : 1e-3); /* faces turn */
        }
    /* the box of stock ODE holds what it must not, up to mu / sqrt 2 */
    assert_true(fabs(slideOf(BALL, SCENE_ODE_STEP, 0.8, 0.25 * M_PI)) < 1e-3);
    CHECK_NEAR(slideOf(BALL, SCENE_SPRAG, 0.8, 0.25 * M_PI), 0.2 * g, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatSwingsIsHeld), cmocka_unit_test(coulombsLawDecides)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
