/* A ball set down spinning: it slips until it rolls.  The angular momentum about the line of contact is kept while it
 * slips, so it ends rolling at  v = (v0 + 2/5 R spin) / (1 + 2/5),  after  t = |v0 - R spin| / (7/2 mu g).  Backspin
 * (spin < 0) can bring it back. */
#include "scenes/scene.h"

enum { MU, SPEED, SPIN, RADIUS, MASS };

static const SceneKey keys[] = {
    {"mu", "", 0.3, 0, 1e3, "coefficient of friction"},
    {"speed", "m/s", 1, -1e3, 1e3, "initial, along x"},
    {"spin", "rad/s", -20, -1e4, 1e4, "initial, > 0 rolls along +x"},
    {"radius", "m", 0.2, 1e-3, 10, "of the ball"},
    {"mass", "kg", 1, 1e-4, 1e4, "of the ball"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const char *create(SceneWorld *world, const double *value)
{
    const double radius = value[RADIUS];
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    const dBodyID ball =
        SceneAddSphere(world, radius, (double[3]){0, 0, radius}, value[MASS], (float[3]){0.25f, 0.55f, 0.75f});
    dBodySetFiniteRotationMode(ball, 1);
    dBodySetLinearVel(ball, value[SPEED], 0, 0);
    dBodySetAngularVel(ball, 0, value[SPIN], 0);
    SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX, /* a mark: the spin is seen */
                                       .body = ball,
                                       .position = {0, 0, 0.85 * radius},
                                       .size = {0.2 * radius, 1.02 * radius, 0.2 * radius},
                                       .color = {0.9f, 0.9f, 0.9f}});
    SceneAddGround(world, 5);
    return NULL;
}

const Scene scene_wheel = {
    .name = "wheel",
    .line = "a spinning ball set down: it slips, then rolls",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 3,
    .camera = {0.5, -4, 1.4, 0.3, 0, 0.2},
    .followed = 1,
    .create = create,
};
