/* A heap of logs between two posts; or, without posts, three logs that nothing holds but their friction. */
#include <math.h>

#include "scenes/scene.h"

enum { ROWS, MU, RADIUS, LENGTH, GAP, POSTS };

static const SceneKey keys[] = {
    {"rows", SCENE_WHOLE, 6, 1, 100, "layers; n (n + 1) / 2 logs"},
    {"mu", "", 0.5, 0, 1e3, "coefficient of friction"},
    {"radius", "m", 0.1, 1e-3, 10, "of a log"},
    {"length", "m", 0.8, 1e-3, 100, "of a log"},
    {"gap", "", 0.01, 0, 0.5, "between two logs of a layer, as a share of the radius"},
    {"posts", SCENE_WHOLE, 1, 0, 1,
     "1: a post on either side; 0: two layers hold by friction alone, from mu = 0.3 on"},
    {NULL, NULL, 0, 0, 0, NULL},
};

/* On one side, 1 or -1, of a layer so long. */
static void addPost(SceneWorld *world, const double *value, double side, double layer)
{
    const double half[3] = {0.5 * value[RADIUS], 0.1 * value[LENGTH], 1.5 * value[RADIUS]},
                 x = side * (0.5 * layer + half[0]);
    const dGeomID geom = dCreateBox(world->space, 2 * half[0], 2 * half[1], 2 * half[2]);
    dGeomSetPosition(geom, x, 0, half[2]);
    SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX,
                                       .position = {x, 0, half[2]},
                                       .size = {half[0], half[1], half[2]},
                                       .color = {0.35f, 0.4f, 0.45f}});
}

static void addLog(SceneWorld *world, const double *value, double x, double z, int row)
{
    const double radius = value[RADIUS], length = value[LENGTH], density = 600; /* kg/m^3, of pine */
    const dBodyID body = SceneAddBody(world);
    const dGeomID geom = dCreateCylinder(world->space, radius, length);
    const float tone = 0.1f * (float)(row % 2);
    dMatrix3 lies;
    dMass mass;
    dMassSetCylinder(&mass, density, 3, radius, length);
    dBodySetMass(body, &mass);
    dRFromAxisAndAngle(lies, 1, 0, 0, 0.5 * M_PI);
    dBodySetRotation(body, lies);
    dBodySetPosition(body, x, 0, z);
    dGeomSetBody(geom, body);
    SceneAddShape(world, &(SceneShape){.kind = SCENE_CYLINDER,
                                       .body = body,
                                       .size = {radius, 0.5 * length},
                                       .color = {0.62f - tone, 0.42f - tone, 0.22f - 0.5f * tone}});
}

static const char *create(SceneWorld *world, const double *value)
{
    const int rows = (int)value[ROWS];
    const double radius = value[RADIUS], pitch = (2 + value[GAP]) * radius,
                 rise = sqrt(4 * radius * radius - 0.25 * pitch * pitch);
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    for (int row = 0; row < rows; ++row)
        for (int i = 0; i < rows - row; ++i)
            addLog(world, value, (i - 0.5 * (rows - 1 - row)) * pitch, radius + row * rise, row);
    for (int side = -1; side <= 1 && value[POSTS] > 0; side += 2)
        addPost(world, value, side, (rows - 1) * pitch + 2 * radius);
    SceneAddGround(world, (rows + 4) * 2 * radius);
    return NULL;
}

const Scene scene_logs = {
    .name = "logs",
    .line = "a heap of logs between posts, or three that friction alone holds together",
    .keys = keys,
    .step_size = 1.0 / 60,
    .duration = 5,
    .camera = {1.2, -2.6, 1.1, 0, 0, 0.35},
    .create = create,
};
