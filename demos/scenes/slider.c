/* A box sliding on the plane at any heading.  Coulomb: it decelerates by mu g and keeps its heading, whatever the
 * heading is; a friction pyramid stops it up to 1.41 times sooner and turns it. */
#include <math.h>

#include "scenes/scene.h"

enum { MU, SPEED, HEADING, YAW, WIDTH, HEIGHT, MASS, SLOPE };

static const SceneKey keys[] = {
    {"mu", "", 0.5, 0, 1e3, "coefficient of friction"},
    {"speed", "m/s", 3, 0, 1e3, "initial"},
    {"heading", "deg", 30, -360, 360, "of the velocity, from the x axis"},
    {"yaw", "deg", 0, -360, 360, "of the box, from the x axis"},
    {"width", "m", 0.4, 1e-3, 10, "edge of the base"},
    {"height", "m", 0.1, 1e-3, 10, "of the box; keep it below width / mu or it tips"},
    {"mass", "kg", 1, 1e-4, 1e4, "of the box"},
    {"slope", "deg", 0, 0, 89,
     "of the plane, down along the heading; with speed 0 the box stays up to tan(slope) = mu"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const char *create(SceneWorld *world, const double *value)
{
    const double half = 0.5 * value[WIDTH], low = 0.5 * value[HEIGHT], heading = value[HEADING] * M_PI / 180;
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    const dBodyID box = SceneAddBox(world, (double[3]){half, half, low}, (double[3]){0, 0, low}, value[MASS],
                                    (float[3]){0.85f, 0.45f, 0.15f});
    dMatrix3 rotation;
    dRFromAxisAndAngle(rotation, 0, 0, 1, value[YAW] * M_PI / 180);
    dBodySetRotation(box, rotation);
    dBodySetLinearVel(box, value[SPEED] * cos(heading), value[SPEED] * sin(heading), 0);
    if (value[SLOPE] > 0) {
        const double slope = value[SLOPE] * M_PI / 180;
        dVector3 g;
        dWorldGetGravity(world->world, g);
        const double size = dCalcVectorLength3(g), along = size * sin(slope);
        dWorldSetGravity(world->world, along * cos(heading), along * sin(heading), -size * cos(slope));
    }
    SceneAddGround(world, 5);
    return NULL;
}

/* The corners that touch.  Collision takes or leaves one by the rounding of its
 * height, and a box on three corners sways. */
static void contacts(SceneWorld *world)
{
    static const double rounding = 1e-9; /* m */
    const double half = 0.5 * world->value[WIDTH], low = 0.5 * world->value[HEIGHT];
    for (int corner = 0; corner < 8; ++corner) {
        dVector3 point;
        dBodyGetRelPointPos(world->body[0], corner & 1 ? half : -half, corner & 2 ? half : -half,
                            corner & 4 ? low : -low, point);
        if (point[2] > rounding)
            continue;
        dContact contact = {.surface = world->surface};
        for (int i = 0; i < 3; ++i)
            contact.geom.pos[i] = point[i];
        contact.geom.normal[2] = 1;
        contact.geom.depth = -point[2];
        SceneAddContact(world, &contact, world->body[0], NULL);
    }
}

const Scene scene_slider = {
    .name = "slider",
    .line = "a box sliding at any heading: friction mu N against the motion, no preferred axes",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 1,
    .camera = {3, -3, 2, 0.6, 0.4, 0},
    .followed = 1,
    .create = create,
    .contacts = contacts,
};
