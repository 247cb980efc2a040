/* A drawer pulled beside its middle line.  It runs in rails on both sides; at each end one of two antipodal points
 * bears, N = F e / L, and friction 2 mu N holds against F: it locks at
 *     mu = L / (2 e),
 * 1 with the defaults, whatever the pull.  Below it the drawer opens with a = (F / m) (1 - 2 mu e / L).  Stock ODE's
 * bounds of friction follow the normal force of a pinched pair, which its compliance decides. */
#include <math.h>

#include "scenes/scene.h"

enum { MU, LENGTH, OFFSET, WIDTH, PULL, MASS, CLEARANCE, SPEED };

static const SceneKey keys[] = {
    {"mu", "", 1.05, 0, 1e3, "coefficient of friction of the rails; locks at length / (2 offset)"},
    {"length", "m", 0.4, 1e-2, 10, "of the guide: distance of its ends"},
    {"offset", "m", 0.2, -10, 10, "e, of the pull from the middle line"},
    {"width", "m", 0.5, 1e-2, 10, "of the drawer"},
    {"pull", "N", 10, -1e5, 1e5, "along x"},
    {"mass", "kg", 2, 1e-3, 1e3, "of the drawer"},
    {"clearance", "m", 0, 0, 0.1, "play between the rails"},
    {"speed", "m/s", 0, -10, 10, "initial, along x"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static void addBox(SceneWorld *world, dBodyID body, double x, double y, double z, const double half[3],
                   const float color[3])
{
    SceneShape shape = {.kind = SCENE_BOX,
                        .body = body,
                        .position = {x, y, z},
                        .size = {half[0], half[1], half[2]},
                        .color = {color[0], color[1], color[2]}};
    SceneAddShape(world, &shape);
}

static void addShapes(SceneWorld *world, const double *value)
{
    static const float wood[3] = {0.78f, 0.55f, 0.32f}, front[3] = {0.66f, 0.42f, 0.22f}, knob[3] = {0.2f, 0.35f, 0.7f},
                       rail[3] = {0.55f, 0.57f, 0.60f};
    const double l = 0.5 * value[LENGTH], w = 0.5 * value[WIDTH], t = 0.03 * fmin(value[LENGTH], value[WIDTH]);
    const dBodyID body = world->body[0];
    addBox(world, body, 0, 0, -0.06, (double[3]){l - 2 * t, w - 2 * t, 0.01}, wood);
    addBox(world, body, -t, w - t, 0, (double[3]){l - t, t, 0.07}, wood);
    addBox(world, body, -t, t - w, 0, (double[3]){l - t, t, 0.07}, wood);
    addBox(world, body, -l + t, 0, 0, (double[3]){t, w - 2 * t, 0.07}, wood);
    addBox(world, body, l - t, 0, 0.02, (double[3]){t, w, 0.09}, front);
    addBox(world, body, l + 0.02, value[OFFSET], 0.02, (double[3]){0.02, 0.02, 0.02}, knob);
    for (int side = -1; side <= 1; side += 2)
        addBox(world, NULL, l, side * (w + 0.5 * value[CLEARANCE] + 0.02), -0.02, (double[3]){2.5 * l, 0.02, 0.05},
               rail);
}

static const char *create(SceneWorld *world, const double *value)
{
    const dBodyID body = SceneAddBody(world);
    dMass mass;
    dMassSetBoxTotal(&mass, value[MASS], value[LENGTH], value[WIDTH], 0.14);
    dBodySetMass(body, &mass);
    dBodySetLinearVel(body, value[SPEED], 0, 0);
    dWorldSetGravity(world->world, 0, 0, 0); /* it runs in a plane; what carries it is frictionless */
    for (int end = -1; end <= 1; end += 2) {
        spragGuideDef def = spragGuideDefDefault();
        def.body = body;
        def.point[0] = end * 0.5 * value[LENGTH];
        def.normal[1] = 1;
        def.mu[0] = def.mu[1] = world->surface.mu = value[MU];
        def.clearance = value[CLEARANCE];
        if (SceneAddGuide(world, &def) == 0)
            return world->fault;
    }
    addShapes(world, value);
    return NULL;
}

static void contacts(SceneWorld *world)
{
    const double *value = world->value;
    dVector3 knob;
    dBodyGetRelPointPos(world->body[0], 0.5 * value[LENGTH], value[OFFSET], 0, knob);
    dBodyAddForceAtPos(world->body[0], value[PULL], 0, 0, knob[0], knob[1], knob[2]);
}

const Scene scene_drawer = {
    .name = "drawer",
    .line = "a drawer pulled beside its middle: it locks where mu > length / (2 offset), however hard one pulls",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 1,
    .camera = {1.15, -1.0, 1.35, 0.22, -0.03, -0.12},
    .followed = 1,
    .create = create,
    .contacts = contacts,
};
