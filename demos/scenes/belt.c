/* The belt oscillator (Ivanov 2009, section 4): a mass on a spring, carried by a belt of speed u > 0,
 *     x'' = -x + T(w),   w = u - x',   T(w) = mu (sign w - alpha w + beta w^3).
 * Units: mass, spring and normal force 1.  The Coulomb part mu sign w is the contact, with the belt's motion in its
 * surface; the smooth part is an explicit force.  The mass is a point in the plane: nothing turns. */
#include <math.h>

#include "scenes/scene.h"

enum { MU, ALPHA, BETA, BELT, X, V };
enum { CLEATS = 12 };

static const SceneKey keys[] = {
    {"mu", "", 1.5, 0, 1e3, "friction at rest, in units of the normal force"},
    {"alpha", "s/m", 1, 0, 1e3, "fall of friction with speed"},
    {"beta", "s^3/m^3", 0.3, 0, 1e3, "rise of friction with its cube"},
    {"belt", "m/s", 0.5, -1e3, 1e3, "speed u of the belt"},
    {"x", "m", 0, -1e3, 1e3, "initial position"},
    {"v", "m/s", 0.5, -1e3, 1e3, "initial velocity"},
    {NULL, NULL, 0, 0, 0, NULL},
};

/* What moves and is no body: the spring, from a wall 3 m to the left to the mass; the cleats of the belt. */
static void show(SceneWorld *world)
{
    SceneShape *shape = world->shape + (int)world->state[0];
    const double x = dBodyGetPosition(world->body[0])[0];
    shape->size[1] = 0.5 * (x - 0.2 + 3);
    shape->position[0] = 0.5 * (x - 0.2 - 3), shape->position[2] = 0.2;
    for (int k = 0; k < CLEATS; ++k) {
        const double run = (k + 0.5) / CLEATS + world->value[BELT] * world->time / 6;
        shape[1 + k].position[0] = 6 * (run - floor(run)) - 3;
    }
}

static const char *create(SceneWorld *world, const double *value)
{
    const dBodyID body = SceneAddBody(world);
    dMass mass;
    dMassSetSphereTotal(&mass, 1, 0.2);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, value[X], 0, 0);
    dBodySetLinearVel(body, value[V], 0, 0);
    dWorldSetGravity(world->world, 0, 0, -1);
    world->surface = (dSurfaceParameters){.mode = dContactApprox1 | dContactFDir1 | dContactMotion1, .mu = value[MU]};
    SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX,
                                       .body = body,
                                       .position = {0, 0, 0.2},
                                       .size = {0.2, 0.2, 0.2},
                                       .color = {0.85f, 0.45f, 0.15f}});
    SceneAddGround(world, 3);
    world->state[0] = world->shape_count;                      /* the first of what show() moves */
    SceneAddShape(world, &(SceneShape){.kind = SCENE_CYLINDER, /* the spring, along x */
                                       .rotation = {0, 0, 1, 0, 1, 0, -1, 0, 0},
                                       .size = {0.02, 1, 0},
                                       .color = {0.35f, 0.37f, 0.42f}});
    for (int k = 0; k < CLEATS; ++k)
        SceneAddShape(world,
                      &(SceneShape){.kind = SCENE_BOX, .size = {0.04, 0.35, 0.005}, .color = {0.45f, 0.48f, 0.53f}});
    show(world);
    return NULL;
}

static void contacts(SceneWorld *world)
{
    const dBodyID body = world->body[0];
    const double *value = world->value;
    const dReal *x = dBodyGetPosition(body), *v = dBodyGetLinearVel(body);
    const double w = value[BELT] - v[0];
    dBodyAddForce(body, -x[0] + value[MU] * (-value[ALPHA] * w + value[BETA] * w * w * w), 0, 0);
    dContact contact = {.surface = world->surface, .fdir1 = {1, 0, 0}};
    contact.surface.motion1 = value[BELT];
    contact.geom.pos[0] = x[0];
    contact.geom.pos[1] = x[1];
    contact.geom.pos[2] = x[2];
    contact.geom.normal[2] = 1;
    contact.geom.depth = 0;
    SceneAddContact(world, &contact, body, NULL);
}

const Scene scene_belt = {
    .name = "belt",
    .line = "a mass on a spring, dragged by a belt: stick-slip cycle",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 30,
    .camera = {1, -5, 2, 0.6, 0, 0},
    .followed = 1,
    .create = create,
    .contacts = contacts,
    .after = show,
};
