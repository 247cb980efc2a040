#include "bench/solids.h"

#include <stdlib.h>

#include "scenes/scene.h"

/* 0: engines have nothing like it. */
static int takeShape(Solid *solid, dGeomID geom)
{
    dVector4 v = {0, 0, 0, 0};
    switch (dGeomGetClass(geom)) {
    case dSphereClass:
        solid->kind = SOLID_SPHERE;
        v[0] = dGeomSphereGetRadius(geom);
        break;
    case dBoxClass:
        solid->kind = SOLID_BOX;
        dGeomBoxGetLengths(geom, v);
        for (int i = 0; i < 3; ++i)
            v[i] /= 2;
        break;
    case dCapsuleClass:
        solid->kind = SOLID_CAPSULE;
        dGeomCapsuleGetParams(geom, &v[0], &v[1]);
        v[1] /= 2;
        break;
    case dCylinderClass:
        solid->kind = SOLID_CYLINDER;
        dGeomCylinderGetParams(geom, &v[0], &v[1]);
        v[1] /= 2;
        break;
    case dPlaneClass:
        solid->kind = SOLID_PLANE;
        dGeomPlaneGetParams(geom, v);
        break;
    default:
        return 0;
    }
    for (int i = 0; i < 4; ++i)
        solid->size[i] = v[i];
    return 1;
}

static void takePlace(Solid *solid, dGeomID geom)
{
    dQuaternion q = {1, 0, 0, 0};
    if (solid->kind != SOLID_PLANE) {
        const dReal *x = dGeomGetPosition(geom);
        dGeomGetQuaternion(geom, q);
        for (int i = 0; i < 3; ++i)
            solid->position[i] = x[i];
    }
    for (int i = 0; i < 4; ++i)
        solid->quaternion[i] = q[i];
}

static void takeMotion(Solid *solid, dBodyID body)
{
    dMass mass;
    dBodyGetMass(body, &mass);
    solid->mass = mass.mass;
    for (int i = 0; i < 3; ++i) {
        solid->inertia[i] = mass.I[5 * i];
        solid->velocity[i] = dBodyGetLinearVel(body)[i];
        solid->velocity[3 + i] = dBodyGetAngularVel(body)[i];
    }
}

static const char *takeBody(Solid *solid, dBodyID body)
{
    const dGeomID geom = dBodyGetFirstGeom(body);
    if (dBodyGetNumJoints(body) > 0)
        return "it has joints";
    if (geom == NULL || dBodyGetNextGeom(geom) != NULL || dGeomIsOffset(geom))
        return "it has bodies that are not one shape each";
    if (!takeShape(solid, geom))
        return "it has shapes that are ODE's alone";
    takePlace(solid, geom);
    takeMotion(solid, body);
    return NULL;
}

const char *solidsTake(Solids *solids, const SceneWorld *world)
{
    const int geoms = dSpaceGetNumGeoms(world->space);
    const char *why = NULL;
    *solids = (Solids){.mu = world->surface.mu,
                       .solid = calloc((size_t)(geoms + world->body_count) + 1, sizeof *solids->solid)};
    dVector3 g;
    dWorldGetGravity(world->world, g);
    for (int i = 0; i < 3; ++i)
        solids->gravity[i] = g[i];
    if (solids->solid == NULL)
        return "out of memory";
    for (int i = 0; i < geoms && why == NULL; ++i) {
        const dGeomID geom = dSpaceGetGeom(world->space, i);
        Solid *solid = &solids->solid[solids->fixed];
        if (dGeomGetBody(geom) != NULL)
            continue;
        if (!takeShape(solid, geom))
            why = "it has shapes that are ODE's alone";
        takePlace(solid, geom);
        ++solids->fixed;
    }
    solids->count = solids->fixed;
    for (int i = 0; i < world->body_count && why == NULL; ++i)
        why = takeBody(&solids->solid[solids->count++], world->body[i]);
    return why;
}

void solidsFree(Solids *solids)
{
    free(solids->solid);
    *solids = (Solids){0};
}
