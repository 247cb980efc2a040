/* A slider in a slot: a box between two fixed plates that overlap it by a micrometre on either side, as parts modelled
 * without clearance do.  Contacts come from ODE's collider.  Rigid bodies with vanishing clearance bear no preload: the
 * free slider goes on at its speed, a load across it is borne by one side, friction mu F.  Stock ODE pushes both ways
 * and squeezes it by what the overlap is worth in its compliance. */
#include "scenes/scene.h"

enum { MU, SPEED, LOAD, OVERLAP, LENGTH, HEIGHT, MASS };

static const SceneKey keys[] = {
    {"mu", "", 0.5, 0, 1e3, "coefficient of friction"},
    {"speed", "m/s", 1, -1e2, 1e2, "initial, along x"},
    {"load", "N", 0, -1e5, 1e5, "on the slider, upwards: it decelerates by mu load / mass"},
    {"overlap", "m", 1e-6, 0, 1e-3, "of the slider with each plate"},
    {"length", "m", 0.3, 1e-2, 10, "of the slider"},
    {"height", "m", 0.1, 1e-2, 10, "of the slider"},
    {"mass", "kg", 1, 1e-4, 1e4, "of the slider"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static void addPlate(SceneWorld *world, double z)
{
    static const double half[3] = {2, 0.12, 0.03};
    const dGeomID geom = dCreateBox(world->space, 2 * half[0], 2 * half[1], 2 * half[2]);
    dGeomSetPosition(geom, 0.8, 0, z);
    SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX,
                                       .position = {0.8, 0, z},
                                       .size = {half[0], half[1], half[2]},
                                       .color = {0.55f, 0.57f, 0.60f}});
}

static const char *create(SceneWorld *world, const double *value)
{
    const double half[3] = {0.5 * value[LENGTH], 0.1, 0.5 * value[HEIGHT]}, plate = half[2] + 0.03 - value[OVERLAP];
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    const dBodyID box = SceneAddBox(world, half, (double[3]){0, 0, 0}, value[MASS], (float[3]){0.85f, 0.45f, 0.15f});
    dBodySetLinearVel(box, value[SPEED], 0, 0);
    dWorldSetGravity(world->world, 0, 0, value[LOAD] / value[MASS]);
    addPlate(world, -plate);
    addPlate(world, plate);
    return NULL;
}

const Scene scene_slot = {
    .name = "slot",
    .line = "a slider in a slot that overlaps it by a micrometre: no load, no preload, no friction",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 1,
    .camera = {0.5, -2.6, 0.25, 0.5, 0, 0},
    .followed = 1,
    .create = create,
};
