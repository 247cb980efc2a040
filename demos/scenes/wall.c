/* A wall of bricks in running bond: every second course begins and ends with half a brick. */
#include <math.h>

#include "scenes/scene.h"

enum { COURSES, BRICKS, MU, GAP };

static const SceneKey keys[] = {
    {"courses", SCENE_WHOLE, 10, 1, 200, "layers of bricks"},
    {"bricks", SCENE_WHOLE, 8, 1, 200, "whole bricks along a course"},
    {"mu", "", 0.6, 0, 1e3, "coefficient of friction"},
    {"gap", "m", 0.005, 0, 0.1, "between two bricks of a course, without mortar"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const double brick[3] = {0.24, 0.115, 0.113}; /* m, length, width, height (EN 771) */
static const double density = 1800;                  /* kg/m^3 */

static void addBrick(SceneWorld *world, double from, double to, double z)
{
    const double half[3] = {0.5 * (to - from), 0.5 * brick[1], 0.5 * brick[2]};
    const float shade = 0.50f + 0.12f * (float)((world->body_count * 7) % 5) / 4;
    SceneAddBox(world, half, (double[3]){0.5 * (from + to), 0, z}, density * 8 * half[0] * half[1] * half[2],
                (float[3]){shade + 0.12f, 0.34f, 0.26f});
}

static const char *create(SceneWorld *world, const double *value)
{
    const int courses = (int)value[COURSES], bricks = (int)value[BRICKS];
    const double gap = value[GAP], pitch = brick[0] + gap, left = -0.5 * bricks * pitch;
    if ((double)courses * (bricks + 1) > SCENE_BODY_MAX)
        return "more bricks than a scene has bodies";
    SceneSetStacked(world);
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    for (int course = 0; course < courses; ++course) {
        const double z = (course + 0.5) * (brick[2] - SCENE_OVERLAP) - 0.5 * SCENE_OVERLAP;
        const int shifted = course % 2;
        for (int i = 0; i < bricks + shifted; ++i) { /* a brick fills its pitch but for the gap, half on each side */
            const double from = left + (i - 0.5 * shifted) * pitch, end = left + bricks * pitch;
            addBrick(world, fmax(from, left) + 0.5 * gap, fmin(from + pitch, end) - 0.5 * gap, z);
        }
    }
    SceneAddGround(world, fmax(2, 0.6 * bricks * pitch));
    return NULL;
}

const Scene scene_wall = {
    .name = "wall",
    .line = "a dry wall of bricks in running bond",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 2,
    .camera = {0.9, -3.2, 1.1, 0, 0, 0.5},
    .create = create,
};
