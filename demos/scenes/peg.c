/* A peg pushed into a hole beside its axis.  It tips by the play until it bears on two points, the mouth on one side
 * and its own end on the other; N = F e / depth at both, friction 2 mu N against F: it jams where
 *     depth < 2 mu e
 * and goes in where it is deeper, the faster the deeper.  In the plane x, z; the hole is a slot of width + clearance
 * with its mouth at z = 0. */
#include <math.h>

#include "scenes/scene.h"

enum { MU, DEPTH, OFFSET, WIDTH, LENGTH, CLEARANCE, HOLE, PUSH, MASS, TIPPED };

static const SceneKey keys[] = {
    {"mu", "", 0.3, 0, 1e3, "coefficient of friction"},
    {"depth", "m", 0.05, 1e-3, 10, "of the peg in the hole, initially; jams if less than 2 mu offset"},
    {"offset", "m", 0.1, -10, 10, "e, of the push from the axis"},
    {"width", "m", 0.1, 1e-3, 10, "of the peg"},
    {"length", "m", 0.4, 1e-2, 10, "of the peg"},
    {"clearance", "m", 5e-4, 0, 0.1, "hole wider than the peg by this"},
    {"hole", "m", 0.3, 1e-2, 10, "depth of the hole"},
    {"push", "N", 20, 0, 1e5, "downwards, on the top of the peg"},
    {"mass", "kg", 1, 1e-3, 1e3, "of the peg"},
    {"tipped", SCENE_WHOLE, 0, 0, 1, "1: tipped by the play from the start, so that it bears on two points"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static void addWall(SceneWorld *world, const double position[3], const double half[3])
{
    SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX,
                                       .position = {position[0], position[1], position[2]},
                                       .size = {half[0], half[1], half[2]},
                                       .color = {0.55f, 0.57f, 0.60f}});
}

/* On the mouth's right edge and the left wall: with the left lower corner at (-R, -depth) and the axis at the angle a
 * from upright, 2 R cos a - depth sin a = width. */
static void tip(dBodyID body, const double *value)
{
    const double w = 0.5 * value[WIDTH], l = 0.5 * value[LENGTH], R = w + 0.5 * value[CLEARANCE], d = value[DEPTH];
    const double a = acos(2 * w / hypot(2 * R, d)) - atan2(d, 2 * R), c = cos(a), s = sin(a);
    dMatrix3 rotation;
    dRFromAxisAndAngle(rotation, 0, 1, 0, a);
    dBodySetRotation(body, rotation);
    dBodySetPosition(body, -R + w * c + l * s, 0, -d - w * s + l * c);
}

static const char *create(SceneWorld *world, const double *value)
{
    const double w = 0.5 * value[WIDTH], l = 0.5 * value[LENGTH], R = w + 0.5 * value[CLEARANCE], D = value[HOLE];
    if (value[DEPTH] >= D)
        return "depth must be less than the depth of the hole";
    const dBodyID body = SceneAddBody(world);
    dMass mass;
    dMassSetBoxTotal(&mass, value[MASS], value[WIDTH], value[WIDTH], value[LENGTH]);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, 0, 0, l - value[DEPTH]);
    if (value[TIPPED] > 0)
        tip(body, value);
    dWorldSetGravity(world->world, 0, 0, 0);
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    SceneAddShape(world,
                  &(SceneShape){.kind = SCENE_BOX, .body = body, .size = {w, w, l}, .color = {0.85f, 0.45f, 0.15f}});
    SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX, /* a lever to where it is pushed */
                                       .body = body,
                                       .position = {0.5 * value[OFFSET], 0, l - 0.1 * w},
                                       .size = {0.5 * fabs(value[OFFSET]), 0.2 * w, 0.1 * w},
                                       .color = {0.55f, 0.32f, 0.14f}});
    SceneAddShape(world, &(SceneShape){.kind = SCENE_SPHERE, /* there */
                                       .body = body,
                                       .position = {value[OFFSET], 0, l},
                                       .size = {0.2 * w, 0.2 * w, 0.2 * w},
                                       .color = {0.2f, 0.35f, 0.7f}});
    for (int side = -1; side <= 1; side += 2)
        addWall(world, (double[3]){side * (R + 2 * w), 0.5 * w, -0.5 * D}, (double[3]){2 * w, 1.5 * w, 0.5 * D});
    addWall(world, (double[3]){0, 0.5 * w, -D - 0.2 * w}, (double[3]){R + 4 * w, 1.5 * w, 0.2 * w});
    return NULL;
}

/* A contact where less than a step's travel is left: it lets the point come as near as it can in the step. */
static void addNear(SceneWorld *world, const double point[3], const double normal[3], double gap,
                    const spragSurface *surface)
{
    static const double speed = 1; /* m/s */
    const double h = world->step_size;
    if (gap > h * speed)
        return;
    dContact contact = {.surface = world->surface};
    for (int i = 0; i < 3; ++i) {
        contact.geom.pos[i] = point[i];
        contact.geom.normal[i] = normal[i];
    }
    contact.geom.depth = -gap;
    if (gap > 0) {
        contact.surface.mode |= dContactMotionN;
        contact.surface.motionN = -gap / h;
    }
    if (surface != NULL)
        SceneAddContactSurface(world, &contact, surface, world->body[0], NULL);
    else
        SceneAddContact(world, &contact, world->body[0], NULL);
}

/* The peg's lower edges on the walls and the bottom; the mouth's edges on the peg's sides. */
static void contacts(SceneWorld *world)
{
    const double *value = world->value, w = 0.5 * value[WIDTH], l = 0.5 * value[LENGTH], R = w + 0.5 * value[CLEARANCE];
    const dBodyID body = world->body[0];
    spragSurface flat = spragSurfaceDefault();
    flat.curvature_radius[0] = INFINITY; /* the mouth's edge is fixed, the peg's side turns */
    dVector3 p, x;
    dBodyGetRelPointPos(body, value[OFFSET], 0, l, p);
    dBodyAddForceAtPos(body, 0, 0, -value[PUSH], p[0], p[1], p[2]);
    dBodyVectorToWorld(body, 1, 0, 0, x);
    for (int side = -1; side <= 1; side += 2) {
        dBodyGetRelPointPos(body, side * w, 0, -l, p);
        const double corner[3] = {p[0], p[1], p[2]}, edge[3] = {side * R, 0, 0};
        if (corner[2] < 0)
            addNear(world, corner, (double[3]){-side, 0, 0}, R - side * corner[0], NULL);
        addNear(world, corner, (double[3]){0, 0, 1}, corner[2] + value[HOLE], NULL);
        dBodyGetPosRelPoint(body, edge[0], edge[1], edge[2], p);
        if (fabs(p[2]) < l)
            addNear(world, edge, (double[3]){-side * x[0], -side * x[1], -side * x[2]}, side * p[0] - w, &flat);
    }
}

const Scene scene_peg = {
    .name = "peg",
    .line = "a peg pushed into a hole beside its axis: it jams where depth < 2 mu offset",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 1,
    .camera = {0.3, -1.5, 0.45, 0, 0, 0.05},
    .followed = 1,
    .create = create,
    .contacts = contacts,
};
