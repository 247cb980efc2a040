/* A four-legged robot: hinges with motors, ball feet on the plane.  It trots in place or forwards: the motors follow
 * sine angles by a proportional law, with a torque limit. */
#include <math.h>

#include "scenes/scene.h"

enum { MU, RATE, STRIDE, LIFT, TORQUE };
enum { LEGS = 4 };

static const SceneKey keys[] = {
    {"mu", "", 0.8, 0, 1e3, "coefficient of friction"},    {"rate", "1/s", 1.5, 0, 10, "strides a second"},
    {"stride", "deg", 12, 0, 45, "amplitude of the hips"}, {"lift", "deg", 20, 0, 60, "amplitude of the knees"},
    {"torque", "N m", 30, 0, 1e4, "limit of a motor"},     {NULL, NULL, 0, 0, 0, NULL},
};

static const double trunk[3] = {0.35, 0.15, 0.06}, bone = 0.12, thick = 0.025, foot = 0.035; /* half sizes, m */

static dBodyID addBone(SceneWorld *world, double x, double y, double z, int with_foot)
{
    const dBodyID body = SceneAddBody(world);
    dMass mass;
    dMassSetCapsuleTotal(&mass, 0.5, 3, thick, 2 * bone);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x, y, z);
    SceneAddShape(world, &(SceneShape){.kind = SCENE_CAPSULE,
                                       .body = body,
                                       .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                       .size = {thick, bone, 0},
                                       .color = {0.35f, 0.4f, 0.45f}});
    if (with_foot) {
        const dGeomID ball = dCreateSphere(world->space, foot);
        dGeomSetBody(ball, body);
        dGeomSetOffsetPosition(ball, 0, 0, -bone);
        SceneAddShape(world, &(SceneShape){.kind = SCENE_SPHERE,
                                           .body = body,
                                           .position = {0, 0, -bone},
                                           .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                           .size = {foot, foot, foot},
                                           .color = {0.1f, 0.1f, 0.1f}});
    }
    return body;
}

static dJointID addMotor(SceneWorld *world, dBodyID a, dBodyID b, double x, double y, double z)
{
    const dJointID joint = dJointCreateHinge(world->world, 0);
    dJointAttach(joint, b, a);
    dJointSetHingeAnchor(joint, x, y, z);
    dJointSetHingeAxis(joint, 0, 1, 0);
    dJointSetHingeParam(joint, dParamFMax, world->value[TORQUE]);
    return joint;
}

static const char *create(SceneWorld *world, const double *value)
{
    const double hip = 4 * bone + foot; /* height of the hips with straight legs */
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    const dBodyID body = SceneAddBox(world, trunk, (double[3]){0, 0, hip}, 8, (float[3]){0.85f, 0.45f, 0.15f});
    for (int leg = 0; leg < LEGS; ++leg) {
        const double x = leg & 1 ? -0.28 : 0.28, y = leg & 2 ? -0.2 : 0.2;
        const dBodyID thigh = addBone(world, x, y, hip - bone, 0);
        const dBodyID shin = addBone(world, x, y, hip - 3 * bone, 1);
        addMotor(world, body, thigh, x, y, hip);
        addMotor(world, thigh, shin, x, y, hip - 2 * bone);
    }
    SceneAddGround(world, 5);
    return NULL;
}

/* Motor speed towards a target angle. */
static void follow(dJointID joint, double target)
{
    const double gain = 20, limit = 12; /* 1/s, rad/s */
    const double speed = gain * (target - dJointGetHingeAngle(joint));
    dJointSetHingeParam(joint, dParamVel, fmax(-limit, fmin(limit, speed)));
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
    for (int leg = 0; leg < LEGS; ++leg) {
        const dBodyID thigh = world->body[1 + 2 * leg], shin = thigh != NULL ? world->body[2 + 2 * leg] : NULL;
        const double phase = 2 * M_PI * world->value[RATE] * world->time + (leg == 0 || leg == 3 ? 0 : M_PI);
        const double hip = world->value[STRIDE] * sin(phase), swing = fmax(0, cos(phase));
        const double knee = world->value[LIFT] * swing;
        for (int k = 0; k < dBodyGetNumJoints(thigh); ++k) {
            const dJointID joint = dBodyGetJoint(thigh, k);
            if (dJointGetType(joint) != dJointTypeHinge)
                continue;
            const int is_knee = dJointGetBody(joint, 0) == shin || dJointGetBody(joint, 1) == shin;
            follow(joint, (is_knee ? knee : -hip - 0.5 * knee) * M_PI / 180);
        }
    }
    dSpaceCollide(world->space, world, nearFeet);
}

const Scene scene_quadruped = {
    .name = "quadruped",
    .line = "a four-legged robot with motors in its joints, trotting",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 4,
    .camera = {1.2, -2.2, 1, 0, 0, 0.35},
    .followed = 9,
    .create = create,
    .contacts = contacts,
};
