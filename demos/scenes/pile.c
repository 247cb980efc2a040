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

static const char *create(SceneWorld *world, const double *value)
{
    const int count = (int)value[COUNT];
    const double r = value[RADIUS], pitch = (value[TUMBLE] > 0 ? 3.5 : 2.3) * r; /* clear of one another, any way up */
    const int side = (int)fmax(2, ceil(cbrt(count)));
    const double half = 0.5 * side * pitch + 0.5 * r;
    unsigned long long state = (unsigned long long)value[SEED];
    SceneDraw(&state);
    dWorldSetContactSurfaceLayer(world->world, 1e-3 * r); /* resting contacts do not open and close by rounding */
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    if (value[ROLLING] > 0) {
        world->surface.mode |= dContactRolling;
        world->surface.rho = world->surface.rho2 = world->surface.rhoN = value[ROLLING];
    }
    for (int i = 0; i < count; ++i) {
        const int layer = i / (side * side), row = i / side % side, column = i % side;
        const double place[3] = {(column - 0.5 * (side - 1)) * pitch + 0.2 * r * (SceneDraw(&state) - 0.5),
                                 (row - 0.5 * (side - 1)) * pitch + 0.2 * r * (SceneDraw(&state) - 0.5),
                                 (layer + 0.6) * pitch};
        const float shade = 0.3f + 0.5f * (float)SceneDraw(&state);
        const float color[3] = {shade, 0.5f, 0.9f - shade};
        if (SceneDraw(&state) < value[BOXES]) {
            const dBodyID body = SceneAddBox(world, (double[3]){r, r, r}, place, 1, color);
            if (value[TUMBLE] > 0) {
                dMatrix3 rotation;
                SceneDrawRotation(&state, rotation);
                dBodySetRotation(body, rotation);
            }
        } else
            SceneAddSphere(world, r, place, 1, color);
    }
    SceneAddPit(world, half, 0.3 * half);
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
