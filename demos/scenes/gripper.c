/* A parallel gripper that lifts an object and swings it.  Two fingers on sliders press with a force F each, the palm
 * follows a path as a robot's wrist does.  Two faces hold by friction, whatever their contacts share of it:
 *     2 mu F >= m sqrt(g^2 + a^2),   a: acceleration of the swing;
 * below that at rest the object slides down with g - 2 mu F / m. */
#include <math.h>

#include "scenes/scene.h"

enum { MU, OBJECT, MASS, SQUEEZE, LIFT, SWING, RATE };
enum { BOX, CAN, BALL };
enum { HELD, PALM, FINGER }; /* bodies; two fingers */

static const SceneKey keys[] = {
    {"mu", "", 0.6, 0, 1e3, "coefficient of friction; holds at rest from mass g / (2 squeeze) on"},
    {"object", SCENE_WHOLE, 0, 0, 2, "0: a box, 1: a can, 2: a ball"},
    {"mass", "kg", 1, 1e-3, 1e3, "of the object"},
    {"squeeze", "N", 15, 0, 1e5, "force of each finger"},
    {"lift", "m", 0.25, 0, 10, "height it is lifted by"},
    {"swing", "m", 0.15, 0, 10, "amplitude of the swing that follows"},
    {"rate", "1/s", 1, 0, 20, "swings a second"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const double half = 0.03;                     /* m, of the object */
static const double finger[3] = {0.006, 0.02, 0.04}; /* half sizes, m */
static const double open = 0.012;                    /* m, gap on either side */
static const double closed = 0.4, lifted = 1.4;      /* s */
static const double speed = 0.2;                     /* m/s, of a finger that meets nothing */

static dBodyID addObject(SceneWorld *world, const double *value)
{
    static const float color[3] = {0.85f, 0.45f, 0.15f};
    const double at[3] = {0, 0, value[OBJECT] == BALL ? half : 0.05}, size[3] = {half, half, 0.05};
    if (value[OBJECT] == BALL)
        return SceneAddSphere(world, half, at, value[MASS], color);
    if (value[OBJECT] == BOX)
        return SceneAddBox(world, size, at, value[MASS], color);
    const dBodyID body = SceneAddBody(world);
    dMass mass;
    dMassSetCylinderTotal(&mass, value[MASS], 3, half, 2 * size[2]);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, at[0], at[1], at[2]);
    dGeomSetBody(dCreateCylinder(world->space, half, 2 * size[2]), body);
    SceneAddShape(world, &(SceneShape){.kind = SCENE_CYLINDER,
                                       .body = body,
                                       .size = {half, size[2], 0},
                                       .color = {color[0], color[1], color[2]}});
    return body;
}

static dBodyID addPalm(SceneWorld *world, double z)
{
    const dBodyID palm = SceneAddBody(world);
    dBodySetPosition(palm, 0, 0, z);
    dBodySetKinematic(palm);
    SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX,
                                       .body = palm,
                                       .size = {half + 0.04, 0.025, 0.012},
                                       .color = {0.35f, 0.4f, 0.45f}});
    SceneAddShape(world, &(SceneShape){.kind = SCENE_CYLINDER,
                                       .body = palm,
                                       .position = {0, 0, 0.06},
                                       .size = {0.018, 0.05, 0},
                                       .color = {0.2f, 0.22f, 0.25f}});
    return palm;
}

static const char *create(SceneWorld *world, const double *value)
{
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    const dBodyID object = addObject(world, value);
    const double height = fmax(dBodyGetPosition(object)[2], finger[2]); /* the load passes between the fingers */
    const dBodyID palm = addPalm(world, height + finger[2] + 0.012);
    for (int side = -1; side <= 1; side += 2) {
        const dBodyID tip = SceneAddBox(world, finger, (double[3]){side * (half + open + finger[0]), 0, height}, 0.1,
                                        (float[3]){0.55f, 0.57f, 0.6f});
        const dJointID slider = dJointCreateSlider(world->world, 0);
        dJointAttach(slider, tip, palm);
        dJointSetSliderAxis(slider, -side, 0, 0);
        dJointSetSliderParam(slider, dParamFMax, value[SQUEEZE]);
        dJointSetSliderParam(slider, dParamVel, speed);
        dJointSetSliderParam(slider, dParamHiStop, half + open); /* with nothing in between the fingers meet */
    }
    SceneAddGround(world, 1);
    return NULL;
}

/* m from the start: up, smoothly, then to and fro along y; the swing's amplitude grows within a turn. */
static void path(const double *value, double t, double at[2])
{
    const double up = fmin(fmax((t - closed) / (lifted - closed), 0), 1), turns = fmax(t - lifted, 0) * value[RATE];
    const double grown = fmin(turns, 1), share = grown * grown * (3 - 2 * grown);
    at[0] = share * value[SWING] * sin(2 * M_PI * turns);
    at[1] = value[LIFT] * up * up * (3 - 2 * up);
}

static void nearObject(void *data, dGeomID a, dGeomID b)
{
    SceneWorld *world = data;
    const dBodyID body1 = dGeomGetBody(a), body2 = dGeomGetBody(b), object = world->body[HELD];
    if (body1 != object && body2 != object)
        return; /* fingers pass each other, and the ground */
    dContact contact[8];
    const int count = dCollide(a, b, 8, &contact[0].geom, sizeof contact[0]);
    for (int i = 0; i < count; ++i) {
        contact[i].surface = world->surface;
        SceneAddContact(world, &contact[i], body1, body2);
    }
}

/* The palm moves by its velocity, so that all that it carries knows it. */
static void contacts(SceneWorld *world)
{
    const double h = world->step_size;
    double now[2], next[2];
    path(world->value, world->time, now);
    path(world->value, world->time + h, next);
    dBodySetLinearVel(world->body[PALM], 0, (next[0] - now[0]) / h, (next[1] - now[1]) / h);
    dSpaceCollide(world->space, world, nearObject);
}

const Scene scene_gripper = {
    .name = "gripper",
    .line = "a gripper lifts a box, a can or a ball and swings it: it holds where 2 mu squeeze >= m sqrt(g^2 + a^2)",
    .keys = keys,
    .step_size = 1.0 / 240,
    .duration = 6,
    .camera = {0.75, -0.55, 0.5, 0, 0, 0.2},
    .followed = FINGER + 2,
    .create = create,
    .contacts = contacts,
};
