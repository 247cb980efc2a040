/* A pyramid of cubes, flat like a gable or on a square base: each cube stands on two, or on four. */
#include "scenes/scene.h"

enum { ROWS, MU, SIZE, SQUARE };

static const SceneKey keys[] = {
    {"rows", SCENE_WHOLE, 10, 1, 100, "layers; n (n + 1) / 2 cubes, or n (n + 1) (2 n + 1) / 6 on a square base"},
    {"mu", "", 0.6, 0, 1e3, "coefficient of friction"},
    {"size", "m", 0.2, 1e-3, 10, "edge of a cube"},
    {"square", SCENE_WHOLE, 0, 0, 1, "1: on a square base"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const char *create(SceneWorld *world, const double *value)
{
    const int rows = (int)value[ROWS], square = value[SQUARE] > 0;
    const double size = value[SIZE], half = 0.5 * size, pitch = 1.1 * size;
    const double bodies = square ? rows * (rows + 1.0) * (2 * rows + 1) / 6 : rows * (rows + 1.0) / 2;
    if (bodies > SCENE_BODY_MAX)
        return "more cubes than a scene has bodies";
    SceneSetStacked(world);
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    for (int row = 0; row < rows; ++row) {
        const int side = rows - row, deep = square ? side : 1;
        const float color[3] = {0.78f - 0.25f * (float)(row % 2), 0.60f, 0.35f + 0.25f * (float)(row % 2)};
        for (int i = 0; i < side * deep; ++i)
            SceneAddBox(world, (double[3]){half, half, half},
                        (double[3]){(i % side - 0.5 * (side - 1)) * pitch, (i / side - 0.5 * (deep - 1)) * pitch,
                                    (row + 0.5) * (size - SCENE_OVERLAP) - 0.5 * SCENE_OVERLAP},
                        1, color);
    }
    SceneAddGround(world, (rows + 2) * size);
    return NULL;
}

const Scene scene_pyramid = {
    .name = "pyramid",
    .line = "a pyramid of cubes, flat or on a square base",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 2,
    .camera = {2.4, -6, 2.6, 0, 0, 0.6},
    .create = create,
};
