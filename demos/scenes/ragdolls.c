/* Ragdolls that fall on each other in a pit: thirteen bodies each, hinges with stops in waist, elbows and knees,
 * universals with stops in neck, shoulders, hips and ankles. */
#include <math.h>

#include "scenes/scene.h"

enum { COUNT, MU, STOPS, SEED };

static const SceneKey keys[] = {
    {"count", SCENE_WHOLE, 6, 1, 200, "ragdolls"},
    {"mu", "", 0.7, 0, 1e3, "coefficient of friction"},
    {"stops", "", 1, 0, 1, "how far the stops let joints turn, of what they do in people"},
    {"seed", SCENE_WHOLE, 1, 0, 1e9, "of the places and ways they fall"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const double density = 1000; /* kg/m^3 */

/* A bone along x or z of the ragdoll, as it stands: from its middle `half` to either side, m. */
static dBodyID addBone(SceneWorld *world, double x, double z, int upright, double half, double thick, float shade)
{
    static const double along_x[9] = {0, 0, 1, 0, 1, 0, -1, 0, 0}, along_z[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const dBodyID body = SceneAddBody(world);
    const dGeomID geom = dCreateCapsule(world->space, thick, 2 * half);
    SceneShape shape = {.kind = SCENE_CAPSULE, .body = body, .size = {thick, half, 0}, .color = {shade, 0.45f, 0.4f}};
    dMatrix3 rotation;
    dMass mass;
    dMassSetCapsule(&mass, density, upright ? 3 : 1, thick, 2 * half);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x, 0, z);
    dGeomSetBody(geom, body);
    dRFromAxisAndAngle(rotation, 0, 1, 0, upright ? 0 : 0.5 * M_PI);
    dGeomSetOffsetRotation(geom, rotation);
    for (int i = 0; i < 9; ++i)
        shape.rotation[i] = upright ? along_z[i] : along_x[i];
    SceneAddShape(world, &shape);
    return body;
}

static void addHinge(SceneWorld *world, dBodyID a, dBodyID b, double x, double z, int vertical, double low, double high)
{
    const double stops = world->value[STOPS];
    const dJointID joint = dJointCreateHinge(world->world, 0);
    dJointAttach(joint, a, b);
    dJointSetHingeAnchor(joint, x, 0, z);
    dJointSetHingeAxis(joint, !vertical, 0, vertical);
    dJointSetHingeParam(joint, dParamLoStop, stops * low);
    dJointSetHingeParam(joint, dParamHiStop, stops * high);
}

static void addUniversal(SceneWorld *world, dBodyID a, dBodyID b, double x, double z, double most)
{
    const double limit = world->value[STOPS] * most;
    const dJointID joint = dJointCreateUniversal(world->world, 0);
    dJointAttach(joint, a, b);
    dJointSetUniversalAnchor(joint, x, 0, z);
    dJointSetUniversalAxis1(joint, 1, 0, 0);
    dJointSetUniversalAxis2(joint, 0, 1, 0);
    dJointSetUniversalParam(joint, dParamLoStop1, -limit);
    dJointSetUniversalParam(joint, dParamHiStop1, limit);
    dJointSetUniversalParam(joint, dParamLoStop2, -limit);
    dJointSetUniversalParam(joint, dParamHiStop2, limit);
}

/* Upright, the pelvis in the origin, arms stretched out along x. */
static void addRagdoll(SceneWorld *world, float shade)
{
    const dBodyID pelvis = addBone(world, 0, 0, 0, 0.06, 0.11, shade);
    const dBodyID chest = addBone(world, 0, 0.35, 0, 0.08, 0.13, shade);
    const dBodyID head = addBone(world, 0, 0.66, 1, 0.03, 0.09, shade);
    addHinge(world, pelvis, chest, 0, 0.17, 0, -0.6, 0.6);
    addUniversal(world, chest, head, 0, 0.53, 0.6);
    for (int side = -1; side <= 1; side += 2) {
        const dBodyID arm = addBone(world, 0.41 * side, 0.4, 0, 0.09, 0.05, shade);
        const dBodyID hand = addBone(world, 0.71 * side, 0.4, 0, 0.1, 0.04, shade);
        const dBodyID thigh = addBone(world, 0.12 * side, -0.31, 1, 0.12, 0.07, shade);
        const dBodyID shin = addBone(world, 0.12 * side, -0.73, 1, 0.16, 0.055, shade);
        const dBodyID foot = addBone(world, 0.12 * side, -1.02, 0, 0.06, 0.04, shade);
        addUniversal(world, chest, arm, 0.25 * side, 0.4, 1.2);
        addHinge(world, arm, hand, 0.56 * side, 0.4, 1, side > 0 ? -2.2 : -0.05, side > 0 ? 0.05 : 2.2);
        addUniversal(world, pelvis, thigh, 0.12 * side, -0.1, 0.9);
        addHinge(world, thigh, shin, 0.12 * side, -0.51, 0, -0.05, 2.2);
        addUniversal(world, shin, foot, 0.12 * side, -0.97, 0.5);
    }
}

/* Bodies from `first` on, turned and moved as one. */
static void place(SceneWorld *world, int first, const dMatrix3 turn, const double to[3])
{
    for (int i = first; i < world->body_count; ++i) {
        const dReal *p = dBodyGetPosition(world->body[i]);
        dVector3 moved;
        for (int row = 0; row < 3; ++row)
            moved[row] = turn[4 * row] * p[0] + turn[4 * row + 1] * p[1] + turn[4 * row + 2] * p[2] + to[row];
        dBodySetPosition(world->body[i], moved[0], moved[1], moved[2]);
        dBodySetRotation(world->body[i], turn); /* each is built unturned */
    }
}

static const char *create(SceneWorld *world, const double *value)
{
    const int count = (int)value[COUNT];
    const double half = 0.9 + 0.3 * sqrt(count);
    unsigned long long state = (unsigned long long)value[SEED];
    SceneDraw(&state);
    dWorldSetCFM(world->world, 1e-5); /* as game programs have it; W of a ragdoll is regular then */
    dWorldSetContactSurfaceLayer(world->world, 1e-3);
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    for (int i = 0; i < count; ++i) {
        const int first = world->body_count;
        const double spread = half - 0.9;
        const double to[3] = {2 * spread * (SceneDraw(&state) - 0.5), 2 * spread * (SceneDraw(&state) - 0.5),
                              1.2 + 0.45 * i};
        dMatrix3 turn;
        SceneDrawRotation(&state, turn);
        addRagdoll(world, 0.3f + 0.5f * (float)SceneDraw(&state));
        place(world, first, turn, to);
    }
    SceneAddPit(world, half, 0.2 * half);
    return NULL;
}

const Scene scene_ragdolls = {
    .name = "ragdolls",
    .line = "ragdolls fall on each other in a pit: joints with stops, in heaps",
    .keys = keys,
    .step_size = 5e-3,
    .duration = 3,
    .camera = {4.2, -5.6, 3.6, 0, 0, 0.9},
    .create = create,
};
