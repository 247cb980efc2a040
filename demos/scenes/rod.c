/* A uniform rod on a rough plane: the example of Painleve (docs/theory.md 2).
 *
 * Ends are points: a contact is made at the exact end, normal +z, where the end is at or below the plane z = 0.
 *
 * Angle, omega and slip: thin_rod.h.  p > 0 for mu < 4/3: no paradox; of the four quadrants of (p, b) above it are at
 *     angle 120, mu 2, slip 1:  omega 0 inconsistent, omega 4 indeterminate. */
#include <math.h>

#include "scenes/thin_rod.h"

enum { MASS, LENGTH, MU, ANGLE, OMEGA, SLIP, GRAVITY, RESTITUTION, STIFFNESS, DAMPING };

static const SceneKey keys[] = {
    {"mass", "kg", 1, 1e-3, 1e3, "mass of the rod"},
    {"length", "m", 2, 1e-2, 1e2, "length of the rod"},
    {"mu", "", 0.5, 0, 1e3, "coefficient of friction"},
    {"angle", "deg", 60, 0, 180, "from the plane to the rod, at the lower end"},
    {"omega", "rad/s", 0, -1e3, 1e3, "rate of the angle"},
    {"slip", "m/s", 1, -1e3, 1e3, "velocity of the lower end along x"},
    {"gravity", "m/s^2", 9.81, 0, 1e3, "downwards"},
    {"restitution", "", 0, 0, 1, "energetic, of collisions and of the impact that ends a slip"},
    {"stiffness", "N/m", 0, 0, 1e12, "of the end's surface under Sprag; 0: rigid"},
    {"damping", "N s/m", 0, 0, 1e9, "of the end's surface, with a stiffness"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const char *create(SceneWorld *world, const double *value)
{
    const ThinRod rod = {value[MASS], 0.5 * value[LENGTH], value[ANGLE] * M_PI / 180, value[OMEGA], value[SLIP]};
    const double l = rod.half_length;
    ThinRodAdd(world, &rod);
    dWorldSetGravity(world->world, 0, 0, -value[GRAVITY]);

    const double e = value[RESTITUTION];
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    if (e > 0) {
        world->surface.mode |= dContactBounce;
        world->surface.bounce = e;
        world->surface.bounce_vel = 0.1 * sqrt(value[GRAVITY] * l); /* m/s: resting contacts do not bounce */
    }
    if (world->sprag != NULL)
        dWorldSetCFM(world->world, 0); /* as in scene bipod: a jam is a large force in one step */
    if (e > 0 && world->sprag != NULL) {
        spragConfig config;
        if (spragWorldGetConfig(world->sprag, &config) != SPRAG_OK)
            return spragStatusDetail();
        config.tangential_restitution = e;
        if (spragWorldSetConfig(world->sprag, &config) != SPRAG_OK)
            return spragStatusDetail();
    }
    SceneAddGround(world, 4 * l);
    return NULL;
}

static void contacts(SceneWorld *world)
{
    const double l = 0.5 * world->value[LENGTH], speed = sqrt(world->value[GRAVITY] * l);
    spragSurface surface = spragSurfaceDefault();
    surface.stiffness = world->value[STIFFNESS];
    surface.damping = world->value[DAMPING];
    for (int end = 0; end < 2; ++end) {
        dVector3 tip;
        dBodyGetRelPointPos(world->body[0], 0, 0, end == 0 ? -l : l, tip);
        SceneAddTip(world, end, world->body[0], tip, &surface, speed);
    }
}

const Scene scene_rod = {
    .name = "rod",
    .line = "a rod sliding with one end on a rough plane; above mu = 4/3 it can jam or leave (Painleve)",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 1,
    .camera = {0.6, -5, 1.4, 0.2, 0, 0.6},
    .followed = 1,
    .create = create,
    .contacts = contacts,
};
