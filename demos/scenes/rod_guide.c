/* The rod of scene `rod` with its lower end in a straight guide: a two-sided contact (Ivanov 2009, 5.2 to 5.7).
 * The guide can push and pull, friction is mu |N|.
 *
 * a = l cos(angle), h = l sin(angle), J = m l^2 / 3: sliding has one solution for any load while
 *     mu < mu* = (J / m + a^2) / (|a| h),   4/3 at the least, at tan(angle) = 2;
 * beyond it two on one side of the load and none on the other: there it jams.  Default: mu* = 1.347; at mu 2 the rod of
 * angle 120 jams at once, that of angle 60 slides on with one of two. */
#include <math.h>

#include "scenes/thin_rod.h"

enum { MASS, LENGTH, MU, ANGLE, OMEGA, SLIP, GRAVITY, CLEARANCE };

static const SceneKey keys[] = {
    {"mass", "kg", 1, 1e-3, 1e3, "mass of the rod"},
    {"length", "m", 2, 1e-2, 1e2, "length of the rod"},
    {"mu", "", 2, 0, 1e3, "coefficient of friction"},
    {"angle", "deg", 120, 0, 180, "from the guide to the rod, at the guided end"},
    {"omega", "rad/s", 0, -1e3, 1e3, "rate of the angle"},
    {"slip", "m/s", 1, -1e3, 1e3, "velocity of the guided end along x"},
    {"gravity", "m/s^2", 9.81, -1e3, 1e3, "downwards"},
    {"clearance", "m", 0, 0, 1, "play of the end in its guide"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static void addRail(SceneWorld *world, double l, double z)
{
    SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX,
                                       .position = {0, 0, z},
                                       .size = {4 * l, 0.12 * l, 0.01 * l},
                                       .color = {0.55f, 0.57f, 0.60f}});
}

static const char *create(SceneWorld *world, const double *value)
{
    const ThinRod rod = {value[MASS], 0.5 * value[LENGTH], value[ANGLE] * M_PI / 180, value[OMEGA], value[SLIP]};
    const double l = rod.half_length;
    const dBodyID body = ThinRodAdd(world, &rod);
    dWorldSetGravity(world->world, 0, 0, -value[GRAVITY]);
    if (world->sprag != NULL)
        dWorldSetCFM(world->world, 0); /* as in scene bipod: a jam is a large force in one step */
    spragGuideDef def = spragGuideDefDefault();
    def.body = body;
    def.normal[2] = 1;
    def.mu[0] = def.mu[1] = world->surface.mu = value[MU];
    def.clearance = value[CLEARANCE];
    if (SceneAddGuide(world, &def) == 0)
        return world->fault;
    const double gap = 0.5 * value[CLEARANCE] + 0.03 * l;
    SceneAddShape(world, &(SceneShape){.kind = SCENE_SPHERE,
                                       .body = body,
                                       .position = {0, 0, -l},
                                       .size = {0.03 * l, 0.03 * l, 0.03 * l},
                                       .color = {0.2f, 0.35f, 0.7f}});
    addRail(world, l, -gap - 0.01 * l);
    addRail(world, l, gap + 0.01 * l);
    return NULL;
}

const Scene scene_rod_guide = {
    .name = "rod-guide",
    .line = "a rod sliding with one end in a guide that pushes and pulls; above mu = 4/3 it has two motions, or none",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 1,
    .camera = {0.6, -5, 1.4, 0.2, 0, 0.6},
    .followed = 1,
    .create = create,
};
