/* A tower of boxes, of balls, of ever heavier boxes: ordinary use, ordinary collision. */
#include <math.h>

#include "scenes/scene.h"

enum { COUNT, MU, SIZE, MASS, BALLS, RATIO };

static const SceneKey keys[] = {
    {"count", SCENE_WHOLE, 10, 1, 200, "boxes"},
    {"mu", "", 0.5, 0, 1e3, "coefficient of friction"},
    {"size", "m", 0.2, 1e-3, 10, "edge of a box"},
    {"mass", "kg", 1, 1e-4, 1e4, "of the lowest box"},
    {"balls", SCENE_WHOLE, 0, 0, 1, "1: balls instead of boxes, an equilibrium that no hand would hit"},
    {"ratio", "", 1, 0.01, 100, "mass of a box over that of the one below; 2 makes the tenth 512 times the first"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const char *create(SceneWorld *world, const double *value)
{
    const double half = 0.5 * value[SIZE], pitch = value[SIZE] - SCENE_OVERLAP;
    const int count = (int)value[COUNT];
    SceneSetStacked(world);
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    for (int i = 0; i < count; ++i) {
        const double mass = value[MASS] * pow(value[RATIO], i),
                     place[3] = {0, 0, (i + 0.5) * pitch - 0.5 * SCENE_OVERLAP};
        const float shade = 0.35f + 0.4f * (float)(i % 2), color[3] = {shade, 0.55f, 0.75f - 0.3f * shade};
        if (!(mass > 1e-9 && mass < 1e12))
            return "the masses do not stay within 1e-9 ... 1e12 kg: fewer bodies or a ratio nearer to 1";
        if (value[BALLS] > 0)
            SceneAddSphere(world, half, place, mass, color);
        else
            SceneAddBox(world, (double[3]){half, half, half}, place, mass, color);
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
    .camera = {4.2, -5.6, 2.4, 0, 0, 1},
    .create = create,
};
