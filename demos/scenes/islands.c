/* Many bodies that never meet: each is an island of its own, with four contacts (boxes) or one (balls).  What a step
 * costs beside the solving shows here. */
#include <math.h>

#include "scenes/scene.h"

enum { COUNT, MU, BOXES };

static const SceneKey keys[] = {
    {"count", SCENE_WHOLE, 1000, 1, 10000, "bodies"},
    {"mu", "", 0.5, 0, 1e3, "coefficient of friction"},
    {"boxes", SCENE_WHOLE, 1, 0, 1, "1: boxes, four contacts each; 0: balls, one"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const char *create(SceneWorld *world, const double *value)
{
    static const float blue[3] = {0.35f, 0.50f, 0.62f}, red[3] = {0.72f, 0.40f, 0.35f};
    const double half[3] = {0.1, 0.1, 0.1};
    const int count = (int)value[COUNT], side = (int)ceil(sqrt(count));
    dWorldSetGravity(world->world, 0, 0, -9.81);
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    SceneAddGround(world, 0.5 * side + 2);
    for (int k = 0; k < count; ++k) {
        const double position[3] = {0.5 * (k % side - 0.5 * side), 0.5 * (k / side - 0.5 * side), 0.1};
        const float *color = (k + k / side) % 2 ? blue : red;
        const dBodyID body = value[BOXES] > 0 ? SceneAddBox(world, half, position, 1, color)
                                              : SceneAddSphere(world, 0.1, position, 1, color);
        dBodySetLinearVel(body, 0.5 * sin(k), 0.5 * cos(k), 0); /* some slide for ever, some come to rest */
    }
    return NULL;
}

const Scene scene_islands = {
    .name = "islands",
    .line = "a thousand separate boxes: the cost of a step beside the solving",
    .keys = keys,
    .step_size = 1.0 / 240,
    .duration = 1,
    .camera = {0, -14, 8, 0, 0, 0},
    .create = create,
};
