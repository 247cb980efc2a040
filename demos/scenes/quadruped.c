/* A four-legged robot with three hinges in each leg, as most that walk have them: the leg turns outwards about the
 * trunk's length, the hip and the knee swing about its width.  Ball feet on the plane.  It trots in place or forwards:
 * the twelve motors follow sine angles by a proportional law, with a torque limit. */
#include <math.h>

#include "scenes/scene.h"

enum { MU, RATE, STRIDE, LIFT, SPREAD, TORQUE };
enum { LEGS = 4, BONES = 3 }; /* of a leg: hip, thigh, shin */

static const SceneKey keys[] = {
    {"mu", "", 0.8, 0, 1e3, "coefficient of friction"},
    {"rate", "1/s", 1.5, 0, 10, "strides a second"},
    {"stride", "deg", 12, 0, 45, "amplitude of the hips"},
    {"lift", "deg", 20, 0, 60, "amplitude of the knees"},
    {"spread", "deg", 4, 0, 30, "how far a lifted leg turns outwards"},
    {"torque", "N m", 30, 0, 1e4, "limit of a motor"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const double trunk[3] = {0.35, 0.12, 0.06}, bone = 0.12, thick = 0.025, foot = 0.035; /* half sizes, m */
static const double yield = 0.04;                     /* rad/s per N m, of a motor */
static const double shoulder = 0.03, knuckle = 0.035; /* of the hip: half length and radius, m */

static dBodyID addBone(SceneWorld *world, double x, double y, double z, int with_foot)
{
    const dBodyID body = SceneAddBody(world);
    dMass mass;
    dMassSetCapsuleTotal(&mass, 0.5, 3, thick, 2 * bone);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x, y, z);
    SceneAddShape(
        world,
        &(SceneShape){.kind = SCENE_CAPSULE, .body = body, .size = {thick, bone, 0}, .color = {0.35f, 0.4f, 0.45f}});
    if (with_foot) {
        const dGeomID ball = dCreateSphere(world->space, foot);
        dGeomSetBody(ball, body);
        dGeomSetOffsetPosition(ball, 0, 0, -bone);
        SceneAddShape(world, &(SceneShape){.kind = SCENE_SPHERE,
                                           .body = body,
                                           .position = {0, 0, -bone},
                                           .size = {foot, foot, foot},
                                           .color = {0.1f, 0.1f, 0.1f}});
    }
    return body;
}

/* Between trunk and thigh, along y. */
static dBodyID addHip(SceneWorld *world, double x, double y, double z)
{
    const dBodyID body = SceneAddBody(world);
    dMass mass;
    dMassSetCapsuleTotal(&mass, 0.3, 2, knuckle, 2 * shoulder);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x, y, z);
    SceneAddShape(world, &(SceneShape){.kind = SCENE_CAPSULE,
                                       .body = body,
                                       .rotation = {1, 0, 0, 0, 0, 1, 0, -1, 0},
                                       .size = {knuckle, shoulder, 0},
                                       .color = {0.2f, 0.22f, 0.25f}});
    return body;
}

/* About x or y.  It gives way in proportion: feet that stick close loops through the trunk, in which motors that keep
 * their speeds to the last digit push against each other with all they have. */
static void addMotor(SceneWorld *world, dBodyID a, dBodyID b, int axis, double x, double y, double z)
{
    const dJointID joint = dJointCreateHinge(world->world, 0);
    dJointAttach(joint, b, a);
    dJointSetHingeAnchor(joint, x, y, z);
    dJointSetHingeAxis(joint, axis == 0, axis == 1, 0);
    dJointSetHingeParam(joint, dParamFMax, world->value[TORQUE]);
    dJointSetHingeParam(joint, dParamCFM, yield);
}

static const char *create(SceneWorld *world, const double *value)
{
    const double hip = 4 * bone + foot; /* height of the hips with straight legs */
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    const dBodyID body = SceneAddBox(world, trunk, (double[3]){0, 0, hip}, 8, (float[3]){0.85f, 0.45f, 0.15f});
    for (int leg = 0; leg < LEGS; ++leg) {
        const double x = leg & 1 ? -0.28 : 0.28, side = leg & 2 ? -1 : 1, y = 0.2 * side;
        const double inner = y - 2 * shoulder * side;
        const dBodyID knob = addHip(world, x, y - shoulder * side, hip);
        const dBodyID thigh = addBone(world, x, y, hip - bone, 0);
        const dBodyID shin = addBone(world, x, y, hip - 3 * bone, 1);
        addMotor(world, body, knob, 0, x, inner, hip);
        addMotor(world, knob, thigh, 1, x, y, hip);
        addMotor(world, thigh, shin, 1, x, y, hip - 2 * bone);
    }
    SceneAddGround(world, 5);
    return NULL;
}

/* The speed of the motor between two bodies, towards a target angle. */
static void follow(dBodyID a, dBodyID b, double target)
{
    const double gain = 20, limit = 12; /* 1/s, rad/s */
    for (int k = 0; k < dBodyGetNumJoints(b); ++k) {
        const dJointID joint = dBodyGetJoint(b, k);
        if (dJointGetType(joint) != dJointTypeHinge || (dJointGetBody(joint, 0) != a && dJointGetBody(joint, 1) != a))
            continue;
        const double speed = gain * (target - dJointGetHingeAngle(joint));
        dJointSetHingeParam(joint, dParamVel, fmax(-limit, fmin(limit, speed)));
    }
}

static void nearFeet(void *data, dGeomID a, dGeomID b)
{
    SceneWorld *world = data;
    const dBodyID body1 = dGeomGetBody(a), body2 = dGeomGetBody(b);
    if ((body1 == NULL) == (body2 == NULL))
        return; /* the robot does not meet itself */
    dContact contact[4];
    const int count = dCollide(a, b, 4, &contact[0].geom, sizeof contact[0]);
    for (int i = 0; i < count; ++i) {
        contact[i].surface = world->surface;
        SceneAddContact(world, &contact[i], body1, body2);
    }
}

static void contacts(SceneWorld *world)
{
    const double degree = M_PI / 180;
    for (int leg = 0; leg < LEGS; ++leg) {
        const dBodyID *const bones = &world->body[1 + BONES * leg];
        const double phase = 2 * M_PI * world->value[RATE] * world->time + (leg == 0 || leg == 3 ? 0 : M_PI);
        const double hip = world->value[STRIDE] * sin(phase), swing = fmax(0, cos(phase));
        const double knee = world->value[LIFT] * swing, outwards = (leg & 2 ? -1 : 1) * world->value[SPREAD] * swing;
        follow(world->body[0], bones[0], outwards * degree);
        follow(bones[0], bones[1], (-hip - 0.5 * knee) * degree);
        follow(bones[1], bones[2], knee * degree);
    }
    dSpaceCollide(world->space, world, nearFeet);
}

const Scene scene_quadruped = {
    .name = "quadruped",
    .line = "a four-legged robot with motors in its twelve joints, trotting",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 4,
    .camera = {1.2, -2.2, 1, 0, 0, 0.35},
    .followed = 1 + LEGS * BONES,
    .create = create,
    .contacts = contacts,
};
