/* Balls and boxes dropped into a bin: many contacts, redundant supports. */
#include <math.h>

#include "scenes/scene.h"

enum { COUNT, MU, RADIUS, BOXES, SEED, TUMBLE, ROLLING };

static const SceneKey keys[] = {
    {"count", SCENE_WHOLE, 100, 1, 10000, "bodies"},
    {"mu", "", 0.5, 0, 1e3, "coefficient of friction"},
    {"radius", "m", 0.1, 1e-3, 1, "of a ball, half edge of a box"},
    {"boxes", "", 0, 0, 1, "share of boxes among the bodies"},
    {"seed", SCENE_WHOLE, 1, 0, 1e9, "of the places they are dropped from"},
    {"tumble", SCENE_WHOLE, 0, 0, 1, "1: boxes begin turned any way, not as they were packed"},
    {"rolling", "m", 0, 0, 1, "coefficient of rolling and spinning friction"},
    {NULL, NULL, 0, 0, 0, NULL},
};

/* Uniform in 0 .. 1: a linear congruential generator (Knuth's MMIX constants), the same on every machine. */
static double draw(unsigned long long *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*state >> 11) * 0x1p-53;
}

static void turn(dBodyID body, unsigned long long *state)
{
    dMatrix3 rotation;
    const double x = draw(state) - 0.5, y = draw(state) - 0.5, z = draw(state) - 0.5;
    dRFromAxisAndAngle(rotation, x, y, z, 2 * M_PI * draw(state));
    dBodySetRotation(body, rotation);
}

static void addWall(SceneWorld *world, double x, double y, double half)
{
    const double n = hypot(x, y), thick = 0.02 * half; /* the wall stands at (x, y), its normal points inwards */
    dCreatePlane(world->space, -x / n, -y / n, 0, -n);
    SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX,
                                       .position = {x * (1 + thick / n), y * (1 + thick / n), 0.3 * half},
                                       .size = {x != 0 ? thick : half, y != 0 ? thick : half, 0.3 * half},
                                       .color = {0.5f, 0.5f, 0.55f}});
}

static const char *create(SceneWorld *world, const double *value)
{
    const int count = (int)value[COUNT];
    const double r = value[RADIUS], pitch = (value[TUMBLE] > 0 ? 3.5 : 2.3) * r; /* clear of one another, any way up */
    const int side = (int)fmax(2, ceil(cbrt(count)));
    const double half = 0.5 * side * pitch + 0.5 * r;
    unsigned long long state = (unsigned long long)value[SEED];
    draw(&state);
    dWorldSetContactSurfaceLayer(world->world, 1e-3 * r); /* resting contacts do not open and close by rounding */
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    if (value[ROLLING] > 0) {
        world->surface.mode |= dContactRolling;
        world->surface.rho = world->surface.rho2 = world->surface.rhoN = value[ROLLING];
    }
    for (int i = 0; i < count; ++i) {
        const int layer = i / (side * side), row = i / side % side, column = i % side;
        const double place[3] = {(column - 0.5 * (side - 1)) * pitch + 0.2 * r * (draw(&state) - 0.5),
                                 (row - 0.5 * (side - 1)) * pitch + 0.2 * r * (draw(&state) - 0.5),
                                 (layer + 0.6) * pitch};
        const float shade = 0.3f + 0.5f * (float)draw(&state);
        const float color[3] = {shade, 0.5f, 0.9f - shade};
        if (draw(&state) < value[BOXES]) {
            const dBodyID body = SceneAddBox(world, (double[3]){r, r, r}, place, 1, color);
            if (value[TUMBLE] > 0)
                turn(body, &state);
        } else
            SceneAddSphere(world, r, place, 1, color);
    }
    SceneAddGround(world, 1.5 * half);
    addWall(world, half, 0, half);
    addWall(world, -half, 0, half);
    addWall(world, 0, half, half);
    addWall(world, 0, -half, half);
    return NULL;
}

const Scene scene_pile = {
    .name = "pile",
    .line = "balls and boxes dropped into a bin",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 2,
    .camera = {2.2, -2.6, 1.9, 0, 0, 0.3},
    .create = create,
};
