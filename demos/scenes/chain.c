/* A chain of capsules on ball joints, laid over a fixed drum: it holds where friction around the drum does
 * (Euler-Eytelwein: the longer side pulls it over when its weight exceeds exp(mu pi) times the other's). */
#include <math.h>

#include "scenes/scene.h"

enum { LINKS, MU, SHIFT, DRUM };

static const SceneKey keys[] = {
    {"links", SCENE_WHOLE, 24, 2, 500, "capsules"},
    {"mu", "", 0.3, 0, 1e3, "coefficient of friction"},
    {"shift", "", 0.55, 0, 1, "share of the chain on the right of the drum's top"},
    {"drum", "m", 0.3, 0.05, 10, "radius of the drum"},
    {NULL, NULL, 0, 0, 0, NULL},
};

/* A point and tangent of the resting line at arc length s from the top of the drum (s > 0 to the right). */
static void resting(double s, double r, double top, double *x, double *z, double *slope)
{
    const double quarter = 0.5 * M_PI * r, sign = s < 0 ? -1 : 1, a = fabs(s);
    if (a < quarter) {
        *x = sign * r * sin(a / r);
        *z = top - r + r * cos(a / r);
        *slope = -s / r;
    } else {
        *x = sign * r;
        *z = top - r - (a - quarter);
        *slope = -sign * 0.5 * M_PI;
    }
}

static const char *create(SceneWorld *world, const double *value)
{
    const int links = (int)value[LINKS];
    const double thick = 0.02, link = 0.1, drum = value[DRUM], r = drum + thick, top = 2.2 + r;
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    const dGeomID wheel = dCreateCapsule(world->space, drum, 1);
    dMatrix3 across; /* capsule axis along y */
    dRFromAxisAndAngle(across, 1, 0, 0, 0.5 * M_PI);
    dGeomSetRotation(wheel, across);
    dGeomSetPosition(wheel, 0, 0, top - r);
    SceneAddShape(world, &(SceneShape){.kind = SCENE_CAPSULE,
                                       .position = {0, 0, top - r},
                                       .rotation = {1, 0, 0, 0, 0, -1, 0, 1, 0},
                                       .size = {drum, 0.5, 0},
                                       .color = {0.5f, 0.5f, 0.55f}});
    dBodyID before = NULL;
    for (int i = 0; i < links; ++i) {
        const double start = (value[SHIFT] - 1) * links * link;
        double x, z, slope, jx, jz, jslope;
        resting(start + (i + 0.5) * link, r, top, &x, &z, &slope);
        resting(start + i * link, r, top, &jx, &jz, &jslope);
        const dBodyID body = SceneAddBody(world);
        dMass mass;
        dMassSetCapsuleTotal(&mass, 0.2, 3, thick, link - 2 * thick);
        dBodySetMass(body, &mass);
        dMatrix3 rotation; /* capsule axis along the chain */
        dRFromAxisAndAngle(rotation, 0, 1, 0, 0.5 * M_PI - slope);
        dBodySetPosition(body, x, 0, z);
        dBodySetRotation(body, rotation);
        dGeomSetBody(dCreateCapsule(world->space, thick, link - 2 * thick), body);
        SceneAddShape(world, &(SceneShape){.kind = SCENE_CAPSULE,
                                           .body = body,
                                           .size = {thick, 0.5 * link - thick, 0},
                                           .color = {0.75f, 0.7f, 0.3f}});
        if (before != NULL) {
            const dJointID joint = dJointCreateBall(world->world, 0);
            dJointAttach(joint, before, body);
            dJointSetBallAnchor(joint, jx, 0, jz);
        }
        before = body;
    }
    SceneAddGround(world, 3);
    return NULL;
}

const Scene scene_chain = {
    .name = "chain",
    .line = "a chain over a drum: friction around it holds or lets go",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 2,
    .camera = {1, -4.5, 2.2, 0, 0, 1.6},
    .create = create,
};
