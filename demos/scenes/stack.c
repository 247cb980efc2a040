/* A tower of boxes: ordinary use, ordinary collision. */
#include "scenes/scene.h"

enum { COUNT, MU, SIZE, MASS };

static const SceneKey keys[] = {
    {"count", "", 10, 1, 200, "boxes"},
    {"mu", "", 0.5, 0, 1e3, "coefficient of friction"},
    {"size", "m", 0.2, 1e-3, 10, "edge of a box"},
    {"mass", "kg", 1, 1e-4, 1e4, "of a box"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const char *create(SceneWorld *world, const double *value)
{
    const double half = 0.5 * value[SIZE];
    const int count = (int)value[COUNT];
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    for (int i = 0; i < count; ++i) {
        const float shade = 0.35f + 0.4f * (float)(i % 2);
        SceneAddBox(world, (double[3]){half, half, half}, (double[3]){0, 0, (2 * i + 1) * half}, value[MASS],
                    (float[3]){shade, 0.55f, 0.75f - 0.3f * shade});
    }
    SceneAddGround(world, 10 * value[SIZE]);
    return NULL;
}

const Scene scene_stack = {
    .name = "stack",
    .line = "a tower of ten boxes that has to stand",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 2,
    .camera = {2.6, -3.4, 1.8, 0, 0, 0.9},
    .create = create,
};
