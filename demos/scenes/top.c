/* A spinning top on a table: one contact in three dimensions (Ivanov 2009, 5.14 to 5.21).
 *
 * The axis d points from the tip to the centre of mass, at height `height` above the tip; tilt is its angle from the
 * vertical, heading its azimuth.  Angular velocity: spin d + precession z + nutation (-sin heading, cos heading, 0).
 * slip-x, slip-y: velocity of the tip.  tip-radius 0 is a point fixed in the body; otherwise the tip is a ball whose
 * lowest point is `height` below the centre when the top stands upright.
 *
 * A fast top keeps its spin only under an integrator that keeps its angular momentum: docs/top.md.  The flywheel's rim
 * touches the table when the top has fallen. */
#include <math.h>

#include "scenes/scene.h"

enum {
    SPIN,
    TILT,
    MU,
    TIP_RADIUS,
    MASS,
    HEIGHT,
    AXIAL,
    TRANSVERSE,
    GRAVITY,
    HEADING,
    PRECESSION,
    NUTATION,
    SLIP_X,
    SLIP_Y,
    RIM
};

static const SceneKey keys[] = {
    {"spin", "rad/s", 300, -1e5, 1e5, "about the axis of the top"},
    {"tilt", "deg", 15, 0, 89, "of the axis, from the vertical"},
    {"mu", "", 0.3, 0, 1e3, "coefficient of friction"},
    {"tip-radius", "m", 0.002, 0, 10, "of the ball at the tip, 0 = a point"},
    {"mass", "kg", 0.1, 1e-4, 1e3, "mass of the top"},
    {"height", "m", 0.03, 1e-4, 10, "of the centre above the tip"},
    {"inertia-axial", "kg m^2", 3e-5, 1e-12, 1e4, "about the axis"},
    {"inertia-transverse", "kg m^2", 8e-5, 1e-12, 1e4, "across the axis, at the centre"},
    {"gravity", "m/s^2", 9.81, 0, 1e3, "downwards"},
    {"heading", "rad", 0, -7, 7, "azimuth of the axis"},
    {"precession", "rad/s", 0, -1e4, 1e4, "initial, about the vertical"},
    {"nutation", "rad/s", 0, -1e4, 1e4, "initial rate of the tilt"},
    {"slip-x", "m/s", 0, -1e3, 1e3, "initial velocity of the tip"},
    {"slip-y", "m/s", 0, -1e3, 1e3, "initial velocity of the tip"},
    {"rim", "m", 0.024, 0, 10, "radius of the flywheel at the centre of mass, 0 = none"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static void addShapes(SceneWorld *world, dBodyID body, const double *value)
{
    const double height = value[HEIGHT], rim = value[RIM] > 0 ? value[RIM] : 0.3 * height;
    SceneShape shape = {.kind = SCENE_CONE,
                        .body = body,
                        .position = {0, 0, -0.5 * height},
                        .size = {0.45 * rim, 0.5 * height, 0},
                        .color = {0.75f, 0.20f, 0.20f}};
    SceneAddShape(world, &shape);
    shape = (SceneShape){
        .kind = SCENE_CYLINDER, .body = body, .size = {rim, 0.06 * height, 0}, .color = {0.85f, 0.65f, 0.15f}};
    SceneAddShape(world, &shape);
    shape = (SceneShape){.kind = SCENE_BOX, /* a mark: the spin is seen */
                         .body = body,
                         .position = {0.6 * rim, 0, 0.06 * height},
                         .size = {0.3 * rim, 0.06 * rim, 0.02 * height},
                         .color = {0.10f, 0.10f, 0.10f}};
    SceneAddShape(world, &shape);
    shape = (SceneShape){.kind = SCENE_CYLINDER,
                         .body = body,
                         .position = {0, 0, 0.4 * height},
                         .size = {0.08 * rim, 0.4 * height, 0},
                         .color = {0.30f, 0.30f, 0.35f}};
    SceneAddShape(world, &shape);
    SceneAddGround(world, 30 * height);
}

static const char *create(SceneWorld *world, const double *value)
{
    const double height = value[HEIGHT], radius = value[TIP_RADIUS];
    const double axial = value[AXIAL], transverse = value[TRANSVERSE];
    if (axial > 2 * transverse)
        return "inertia-axial must be at most twice inertia-transverse";
    if (radius > height)
        return "tip-radius must be at most height";
    const double tilt = value[TILT] * M_PI / 180, heading = value[HEADING];
    const double ch = cos(heading), sh = sin(heading);
    const double d[3] = {sin(tilt) * ch, sin(tilt) * sh, cos(tilt)};

    const dBodyID body = SceneAddBody(world);
    dMass mass;
    dMassSetParameters(&mass, value[MASS], 0, 0, 0, transverse, transverse, axial, 0, 0, 0);
    dBodySetMass(body, &mass);
    dMatrix3 rotation;
    dRFromAxisAndAngle(rotation, -sh, ch, 0, tilt);
    dBodySetRotation(body, rotation);
    dBodySetFiniteRotationMode(body, 1);
    dBodySetGyroscopicMode(body, 1);
    dWorldSetGravity(world->world, 0, 0, -value[GRAVITY]);

    const double omega[3] = {value[SPIN] * d[0] - value[NUTATION] * sh, value[SPIN] * d[1] + value[NUTATION] * ch,
                             value[SPIN] * d[2] + value[PRECESSION]};
    /* centre of the tip's ball: (height - radius) down the axis from the centre; it touches radius below that */
    const double arm[3] = {(height - radius) * d[0], (height - radius) * d[1], (height - radius) * d[2] + radius};
    dBodySetPosition(body, arm[0], arm[1], arm[2]);
    dBodySetAngularVel(body, omega[0], omega[1], omega[2]);
    dBodySetLinearVel(body, value[SLIP_X] + omega[1] * arm[2] - omega[2] * arm[1],
                      value[SLIP_Y] + omega[2] * arm[0] - omega[0] * arm[2], omega[0] * arm[1] - omega[1] * arm[0]);
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    addShapes(world, body, value);
    return NULL;
}

static void touch(SceneWorld *world, int which, const double point[3], double curvature_radius)
{
    spragSurface surface = spragSurfaceDefault();
    surface.curvature_radius[0] = curvature_radius;
    SceneAddTip(world, which, world->body[0], point, &surface, sqrt(world->value[GRAVITY] * world->value[HEIGHT]));
}

static void contacts(SceneWorld *world)
{
    const dBodyID body = world->body[0];
    const double radius = world->value[TIP_RADIUS], rim = world->value[RIM];
    dVector3 tip;
    dBodyGetRelPointPos(body, 0, 0, radius - world->value[HEIGHT], tip);
    touch(world, 0, (double[3]){tip[0], tip[1], tip[2] - radius}, radius);

    const dReal *R = dBodyGetRotation(body), *centre = dBodyGetPosition(body);
    const double d[3] = {R[2], R[6], R[10]}, sine = sqrt(d[0] * d[0] + d[1] * d[1]);
    if (rim > 0 && sine > 1e-6) { /* lowest point of the circle: down the steepest line of its plane */
        const double k = rim / sine;
        touch(world, 1,
              (double[3]){centre[0] + k * d[2] * d[0], centre[1] + k * d[2] * d[1], centre[2] - k * sine * sine}, rim);
    }
}

const Scene scene_top = {
    .name = "top",
    .line = "a spinning top on a table: its tip slips, sticks, lifts; a fast one keeps its spin",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 4,
    .camera = {0.20, -0.25, 0.15, -0.01, -0.03, 0.035},
    .followed = 1,
    .create = create,
    .contacts = contacts,
};
