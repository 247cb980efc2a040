/* A uniform rod on a rough plane: the example of Painleve, and the first of theory/overview.md ("Rod, one-sided").
 *
 * The rod is thin: J = m l^2 / 3 about every axis across it (2 l long).  ODE wants a positive inertia along it too: the
 * rod gets that of a solid cylinder of radius l / 50, m l^2 / 5000; the motion is in the plane x-z and never uses it.
 * Ends are points: a contact is made at the exact end, normal +z, where the end is at or below the plane z = 0.
 *
 * Angle theta: from the plane (the x axis) to the line from the lower end to the centre; omega = d theta / dt, so the
 * angular velocity vector is (0, -omega, 0).  Slip: velocity of the lower end along x.  With p > 0 for mu < 4/3 no
 * paradox; the four quadrants of (p, b) above it are at
 *     angle 120, mu 2, slip 1:  omega 0 inconsistent, omega 4 indeterminate. */
#include <math.h>

#include "scenes/scene.h"

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
    const double m = value[MASS], l = 0.5 * value[LENGTH], angle = value[ANGLE] * M_PI / 180;
    const double across = m * l * l / 3, along = m * l * l / 5000;
    const dBodyID body = SceneAddBody(world);
    dMass mass;
    dMassSetParameters(&mass, m, 0, 0, 0, across, across, along, 0, 0, 0);
    dBodySetMass(body, &mass);
    dMatrix3 rotation; /* body z along the rod, from the lower end to the centre */
    dRFromAxisAndAngle(rotation, 0, 1, 0, 0.5 * M_PI - angle);
    dBodySetRotation(body, rotation);
    dBodySetPosition(body, l * cos(angle), 0, l * sin(angle));
    dBodySetFiniteRotationMode(body, 1);
    /* centre = end + l (cos, sin): velocities differ by omega l (-sin, cos) */
    const double omega = value[OMEGA];
    dBodySetLinearVel(body, value[SLIP] - omega * l * sin(angle), 0, omega * l * cos(angle));
    dBodySetAngularVel(body, 0, -omega, 0);
    dWorldSetGravity(world->world, 0, 0, -value[GRAVITY]);

    const double e = value[RESTITUTION];
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    if (e > 0) {
        world->surface.mode |= dContactBounce;
        world->surface.bounce = e;
        world->surface.bounce_vel = 0.1 * sqrt(value[GRAVITY] * l); /* m/s: resting contacts do not bounce */
    }
    if (e > 0 && world->sprag != NULL) {
        spragConfig config;
        if (spragWorldGetConfig(world->sprag, &config) != SPRAG_OK)
            return spragStatusDetail();
        config.tangential_restitution = e;
        if (spragWorldSetConfig(world->sprag, &config) != SPRAG_OK)
            return spragStatusDetail();
    }
    const double radius = l / 50;
    SceneAddShape(world, &(SceneShape){.kind = SCENE_CAPSULE,
                                       .body = body,
                                       .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                       .size = {radius, l - radius, 0},
                                       .color = {0.85f, 0.45f, 0.15f}});
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
