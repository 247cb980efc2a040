/* Every joint type of ODE 0.16, beside stock ODE.
 *
 * A machine is built twice, alike, and stepped by dWorldStep and by Sprag.
 * - Without contacts the island is ODE's: equal bit by bit.
 * - With an idle contact (its plane runs away, so it never carries) the joints are Sprag's: equal to rounding, joint
 *   feedback too, because ODE's own answer is exact there.
 * - On a rough floor the joint errors, m or rad, must be no larger than stock's. */
#include "support/check.h"
#include "support/energy.h"

#include <stdio.h>
#include <string.h>

#include <sprag/sprag_ode.h>

#include "ode/rows/joint_rows.h"
#include "ode/world/world.h"

enum { BODY_MAX = 4, JOINT_MAX = 6 };

static const double step_size = 5e-3; /* s */

typedef struct Machine {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    dGeomID floor;
    spragWorldID sprag; /* NULL: stock */
    dBodyID body[BODY_MAX];
    dJointID joint[JOINT_MAX];
    dJointFeedback feedback[JOINT_MAX];
    int bodies, joints;
} Machine;

static void openMachine(Machine *m, int use_sprag)
{
    *m = (Machine){.world = dWorldCreate(), .space = dSimpleSpaceCreate(0), .group = dJointGroupCreate(0)};
    dWorldSetGravity(m->world, 0, 0, -9.81);
    m->floor = dCreatePlane(m->space, 0, 0, 1, 0);
    if (use_sprag) {
        spragConfig config = spragConfigDefault();
        config.gyroscopic = SPRAG_GYROSCOPIC_ODE;
        assert_int_equal(spragWorldAttach(m->world, &config, &m->sprag), SPRAG_OK);
    }
}

static void closeMachine(Machine *m)
{
    if (m->sprag != NULL)
        spragWorldDetach(m->sprag);
    dJointGroupDestroy(m->group);
    dSpaceDestroy(m->space);
    dWorldDestroy(m->world);
}

static dBodyID addBody(Machine *m, double x, double y, double z)
{
    dBodyID body = m->body[m->bodies++] = dBodyCreate(m->world);
    const double side[3] = {0.4, 0.3, 0.2};
    dMass mass;
    dMassSetBoxTotal(&mass, 1 + 0.5 * m->bodies, side[0], side[1], side[2]);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x, y, z);
    dBodySetLinearVel(body, 0.3 * m->bodies, -0.2, 0.1);
    dBodySetAngularVel(body, 0.4, -0.7 + 0.9 * m->bodies, 0.5 - 0.3 * m->bodies);
    dGeomSetBody(dCreateBox(m->space, side[0], side[1], side[2]), body);
    return body;
}

static dJointID addJoint(Machine *m, dJointID joint, dBodyID a, dBodyID b)
{
    dJointAttach(joint, a, b);
    dJointSetFeedback(joint, &m->feedback[m->joints]);
    return m->joint[m->joints++] = joint;
}

/* ---------------------------------------------------------------- the types */

typedef struct Type {
    const char *name;
    dJointID (*create)(dWorldID, dJointGroupID);
    void (*place)(dJointID joint, const dReal *anchor);
    void (*set)(dJointID joint, int parameter, dReal value);
    int axes;        /* with limit and motor */
    int attachments; /* ANY, TWO_BODIES or BODY_AND_WORLD */
} Type;

static void placeBall(dJointID j, const dReal *p)
{
    dJointSetBallAnchor(j, p[0], p[1], p[2]);
}
static void placeHinge(dJointID j, const dReal *p)
{
    dJointSetHingeAnchor(j, p[0], p[1], p[2]);
    dJointSetHingeAxis(j, 0.2, 1, 0.1);
}
static void placeSlider(dJointID j, const dReal *p)
{
    (void)p;
    dJointSetSliderAxis(j, 1, 0.3, 0.2);
}
static void placeUniversal(dJointID j, const dReal *p)
{
    dJointSetUniversalAnchor(j, p[0], p[1], p[2]);
    dJointSetUniversalAxis1(j, 0, 0, 1);
    dJointSetUniversalAxis2(j, 0, 1, 0);
}
static void placeHinge2(dJointID j, const dReal *p)
{
    const dVector3 axis1 = {0, 0, 1}, axis2 = {0.1, 1, 0};
    dJointSetHinge2Anchor(j, p[0], p[1], p[2]);
    dJointSetHinge2Axes(j, axis1, axis2);
    dJointSetHinge2Param(j, dParamSuspensionERP, 0.4);
    dJointSetHinge2Param(j, dParamSuspensionCFM, 1e-3);
}
static void placeFixed(dJointID j, const dReal *p)
{
    (void)p;
    dJointSetFixed(j);
}
static void placeNull(dJointID j, const dReal *p)
{
    (void)j;
    (void)p;
}
static void placeAMotor(dJointID j, const dReal *p)
{
    (void)p;
    dJointSetAMotorMode(j, dAMotorUser);
    dJointSetAMotorNumAxes(j, 3);
    dJointSetAMotorAxis(j, 0, 1, 1, 0, 0);
    dJointSetAMotorAxis(j, 1, 0, 0, 1, 0.2);
    dJointSetAMotorAxis(j, 2, dJointGetBody(j, 1) != NULL ? 2 : 0, 0.3, 0, 1);
    for (int k = 0; k < 3; ++k)
        dJointSetAMotorAngle(j, k, 0.02 * k);
}
static void placeEuler(dJointID j, const dReal *p)
{
    (void)p;
    dJointSetAMotorMode(j, dAMotorEuler);
    dJointSetAMotorAxis(j, 0, 1, 1, 0, 0);
    dJointSetAMotorAxis(j, 2, 2, 0, 0, 1);
}
static void placeLMotor(dJointID j, const dReal *p)
{
    (void)p;
    dJointSetLMotorNumAxes(j, 3);
    dJointSetLMotorAxis(j, 0, 0, 1, 0, 0);
    dJointSetLMotorAxis(j, 1, 1, 0, 1, 0.2);
    dJointSetLMotorAxis(j, 2, 0, 0.3, 0, 1);
}
static void setPlane2D(dJointID j, int parameter, dReal value)
{
    const int axis = parameter / dParamGroup, name = parameter % dParamGroup;
    (axis == 0   ? dJointSetPlane2DXParam
     : axis == 1 ? dJointSetPlane2DYParam
                 : dJointSetPlane2DAngleParam)(j, name, value);
}
static void placePR(dJointID j, const dReal *p)
{
    dJointSetPRAnchor(j, p[0], p[1], p[2]);
    dJointSetPRAxis1(j, 0, 0, 1);
    dJointSetPRAxis2(j, 0.1, 1, 0);
}
static void placePU(dJointID j, const dReal *p)
{
    dJointSetPUAnchor(j, p[0], p[1], p[2]);
    dJointSetPUAxis1(j, 0, 1, 0);
    dJointSetPUAxis2(j, 0, 0, 1);
    dJointSetPUAxis3(j, 1, 0, 0);
}
static void placePiston(dJointID j, const dReal *p)
{
    dJointSetPistonAnchor(j, p[0], p[1], p[2]);
    dJointSetPistonAxis(j, 1, 0.2, 0.1);
}
static void placeDBall(dJointID j, const dReal *p)
{
    dJointSetDBallAnchor1(j, p[0] - 0.1, p[1], p[2]);
    dJointSetDBallAnchor2(j, p[0] + 0.1, p[1] + 0.05, p[2]);
}
static void placeDHinge(dJointID j, const dReal *p)
{
    dJointSetDHingeAxis(j, 0, 1, 0);
    dJointSetDHingeAnchor1(j, p[0] - 0.1, p[1], p[2]);
    dJointSetDHingeAnchor2(j, p[0] + 0.1, p[1], p[2] + 0.05);
}

enum { ANY, TWO_BODIES, BODY_AND_WORLD };

static const Type types[] = {
    {"ball", dJointCreateBall, placeBall, dJointSetBallParam, 0, ANY},
    {"hinge", dJointCreateHinge, placeHinge, dJointSetHingeParam, 1, ANY},
    {"slider", dJointCreateSlider, placeSlider, dJointSetSliderParam, 1, ANY},
    {"universal", dJointCreateUniversal, placeUniversal, dJointSetUniversalParam, 2, ANY},
    {"hinge2", dJointCreateHinge2, placeHinge2, dJointSetHinge2Param, 2, TWO_BODIES},
    {"fixed", dJointCreateFixed, placeFixed, dJointSetFixedParam, 0, ANY},
    {"null", dJointCreateNull, placeNull, NULL, 0, ANY},
    {"amotor", dJointCreateAMotor, placeAMotor, dJointSetAMotorParam, 3, ANY},
    {"amotor, Euler", dJointCreateAMotor, placeEuler, dJointSetAMotorParam, 3, TWO_BODIES},
    {"lmotor", dJointCreateLMotor, placeLMotor, dJointSetLMotorParam, 3, ANY},
    {"plane2d", dJointCreatePlane2D, placeNull, setPlane2D, 3, BODY_AND_WORLD},
    {"pr", dJointCreatePR, placePR, dJointSetPRParam, 2, ANY},
    {"pu", dJointCreatePU, placePU, dJointSetPUParam, 3, ANY},
    {"piston", dJointCreatePiston, placePiston, dJointSetPistonParam, 2, ANY},
    {"double ball", dJointCreateDBall, placeDBall, dJointSetDBallParam, 0, ANY},
    {"double hinge", dJointCreateDHinge, placeDHinge, dJointSetDHingeParam, 0, ANY},
};

/* What an axis does besides being free. */
enum { FREE, SOFT, MOTOR, STOPS, BOUNCE, SOFT_STOP, MOTOR_INTO_STOP, MOTOR_OFF_STOP, LOCKED, USE_COUNT };

static void setAxis(const Type *type, dJointID j, int axis, int use)
{
    const int group = axis * dParamGroup;
    const double sign = axis == 1 ? -1 : 1;
    if (use == MOTOR || use == MOTOR_INTO_STOP || use == MOTOR_OFF_STOP || use == LOCKED) {
        type->set(j, group + dParamVel, sign * 1.5);
        type->set(j, group + dParamFMax, 4);
        type->set(j, group + dParamFudgeFactor, 0.4);
    }
    if (use == STOPS || use == BOUNCE || use == SOFT_STOP) {
        type->set(j, group + dParamLoStop, -0.03);
        type->set(j, group + dParamHiStop, 0.04);
    }
    if (use == BOUNCE)
        type->set(j, group + dParamBounce, 0.6);
    if (use == SOFT_STOP) {
        type->set(j, group + dParamStopERP, 0.3);
        type->set(j, group + dParamStopCFM, 1e-2);
    }
    if (use == MOTOR_INTO_STOP || use == MOTOR_OFF_STOP) { /* at one stop from the start, or soon */
        const double into = use == MOTOR_INTO_STOP ? sign : -sign;
        type->set(j, group + dParamLoStop, into > 0 ? -0.5 : 0.01);
        type->set(j, group + dParamHiStop, into > 0 ? -0.01 : 0.5);
    }
    if (use == LOCKED) {
        type->set(j, group + dParamLoStop, 0);
        type->set(j, group + dParamHiStop, 0);
    }
}

static int usesOf(const Type *type)
{
    return type->axes > 0 ? USE_COUNT : type->set != NULL ? SOFT + 1 : FREE + 1;
}

/* attachment: 0 both bodies, 1 (body, world), 2 (world, body), 3 both, the second a kinematic one that
 * moves as it likes.  z: height of the bodies. */
static void buildPair(Machine *m, const Type *type, int attachment, int use, double z)
{
    dBodyID a = addBody(m, 0, 0, z), b = addBody(m, 0.6, 0.1, z);
    const dVector3 anchor = {0.3, 0.02, z + 0.03};
    dJointID j = addJoint(m, type->create(m->world, 0), attachment == 2 ? 0 : a,
                          attachment == 0 || attachment == 3 ? b
                          : attachment == 2                  ? a
                                                             : 0);
    type->place(j, anchor);
    for (int axis = 0; axis < type->axes; ++axis)
        setAxis(type, j, axis, use);
    if (use == SOFT) {
        type->set(j, dParamERP, 0.3);
        type->set(j, dParamCFM, 2e-3);
    }
    if (attachment == 3)
        dBodySetKinematic(b);
}

/* ---------------------------------------------------------------- machines of several joints */

static void hingeAt(Machine *m, dBodyID a, dBodyID b, double x, double y, double z)
{
    dJointID j = addJoint(m, dJointCreateHinge(m->world, 0), a, b);
    dJointSetHingeAnchor(j, x, y, z);
    dJointSetHingeAxis(j, 0, 1, 0);
}

/* Four bars in one plane, every pin a hinge: three of the rows say nothing new. */
static void buildLoop(Machine *m, double z)
{
    for (int k = 0; k < 4; ++k) {
        const dBodyID body = addBody(m, 0.5 * (k == 1 || k == 2), 0, z + 0.5 * (k >= 2));
        dBodySetLinearVel(body, 0, 0, 0);
        dBodySetAngularVel(body, 0, 0.3, 0);
    }
    hingeAt(m, m->body[0], m->body[1], 0.25, 0, z);
    hingeAt(m, m->body[1], m->body[2], 0.5, 0, z + 0.25);
    hingeAt(m, m->body[2], m->body[3], 0.25, 0, z + 0.5);
    hingeAt(m, m->body[3], m->body[0], 0, 0, z + 0.25);
}

/* A door: two hinges on one axis, and a third on top of the first. */
static void buildDoor(Machine *m, double z)
{
    dBodyID a = addBody(m, 0, 0, z), b = addBody(m, 0.6, 0, z);
    hingeAt(m, a, b, 0.3, -0.1, z);
    hingeAt(m, a, b, 0.3, 0.1, z);
    hingeAt(m, a, b, 0.3, -0.1, z);
}

/* Ball and fixed joint hold the same; a disabled hinge elsewhere must not. */
static void buildOverheld(Machine *m, double z)
{
    dBodyID a = addBody(m, 0, 0, z), b = addBody(m, 0.6, 0.1, z);
    dJointID fixed = addJoint(m, dJointCreateFixed(m->world, 0), a, b);
    dJointSetFixed(fixed);
    dJointID ball = addJoint(m, dJointCreateBall(m->world, 0), b, a);
    dJointSetBallAnchor(ball, 0.3, 0, z);
    hingeAt(m, a, 0, 0, 0, z + 1);
    dJointDisable(m->joint[2]);
}

/* A string of ball joints, both ends in the world. */
static void buildString(Machine *m, double z)
{
    for (int k = 0; k < 4; ++k)
        addBody(m, 0.5 * k, 0.02 * k, z);
    for (int k = 0; k <= 4; ++k) {
        dJointID j = addJoint(m, dJointCreateBall(m->world, 0), k < 4 ? m->body[k] : 0, k > 0 ? m->body[k - 1] : 0);
        dJointSetBallAnchor(j, 0.5 * k - 0.25, 0.02 * k - 0.01, z);
    }
}

/* Two gears on hinges, coupled by a transmission; the first is driven. */
static void buildGears(Machine *m, double z, int mode, double backlash)
{
    dBodyID a = addBody(m, 0, 0, z), b = addBody(m, 0.6, 0, z);
    for (int k = 0; k < 2; ++k) {
        dBodySetLinearVel(m->body[k], 0, 0, 0);
        dBodySetAngularVel(m->body[k], 0, 0, 0);
    }
    const int crossed = mode == dTransmissionIntersectingAxes;
    dJointID pin[2] = {addJoint(m, dJointCreateHinge(m->world, 0), a, 0),
                       addJoint(m, dJointCreateHinge(m->world, 0), b, 0)};
    dJointSetHingeAnchor(pin[0], 0, 0, z);
    dJointSetHingeAxis(pin[0], 0, 0, 1);
    dJointSetHingeAnchor(pin[1], 0.6, 0, crossed ? z + 0.3 : z);
    dJointSetHingeAxis(pin[1], crossed ? 1 : 0, 0, crossed ? 0 : 1);
    dJointSetHingeParam(pin[0], dParamVel, 3);
    dJointSetHingeParam(pin[0], dParamFMax, 2);
    dJointID j = addJoint(m, dJointCreateTransmission(m->world, 0), a, b);
    dJointSetTransmissionMode(j, mode);
    dJointSetTransmissionAnchor1(j, 0, 0, z);
    dJointSetTransmissionAnchor2(j, 0.6, 0, crossed ? z + 0.3 : z);
    if (crossed) {
        dJointSetTransmissionAxis1(j, 0, 0, 1);
        dJointSetTransmissionAxis2(j, -1, 0, 0);
    } else {
        dJointSetTransmissionAxis(j, 0, 0, 1);
    }
    if (mode == dTransmissionParallelAxes)
        dJointSetTransmissionRatio(j, 2);
    if (mode == dTransmissionChainDrive) {
        dJointSetTransmissionRadius1(j, 0.2);
        dJointSetTransmissionRadius2(j, 0.1);
    }
    dJointSetTransmissionBacklash(j, backlash);
}

static void buildParallelGears(Machine *m, double z)
{
    buildGears(m, z, dTransmissionParallelAxes, 0);
}
static void buildBacklash(Machine *m, double z)
{
    buildGears(m, z, dTransmissionParallelAxes, 0.01);
}
static void buildBevelGears(Machine *m, double z)
{
    buildGears(m, z, dTransmissionIntersectingAxes, 0);
}
static void buildChainDrive(Machine *m, double z)
{
    buildGears(m, z, dTransmissionChainDrive, 0);
}

static const struct {
    const char *name;
    void (*build)(Machine *m, double z);
} machines[] = {
    {"four-bar loop", buildLoop},     {"door on three hinges", buildDoor}, {"overheld", buildOverheld},
    {"string", buildString},          {"gears", buildParallelGears},       {"gears with backlash", buildBacklash},
    {"bevel gears", buildBevelGears}, {"chain drive", buildChainDrive},
};

/* ---------------------------------------------------------------- steps and measures */

/* A contact whose plane runs away at 1 km/s: it makes the island Sprag's and never carries anything. */
static void addIdleContact(Machine *m, dBodyID body)
{
    dContact contact;
    memset(&contact, 0, sizeof contact);
    contact.surface.mode = dContactMotionN;
    contact.surface.motionN = -1000;
    memcpy(contact.geom.pos, dBodyGetPosition(body), 3 * sizeof(dReal));
    contact.geom.normal[2] = 1;
    dJointAttach(dJointCreateContact(m->world, m->group, &contact), body, 0);
}

static void onNear(void *data, dGeomID g1, dGeomID g2)
{
    Machine *m = data;
    if (dGeomGetBody(g1) != NULL && dGeomGetBody(g2) != NULL)
        return;
    dContact contact[8];
    const int n = dCollide(g1, g2, 8, &contact[0].geom, sizeof *contact);
    for (int i = 0; i < n; ++i) {
        contact[i].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = 0.5};
        dJointAttach(dJointCreateContact(m->world, m->group, &contact[i]), dGeomGetBody(g1), dGeomGetBody(g2));
    }
}

static void stepMachine(Machine *m)
{
    if (m->sprag != NULL)
        assert_int_equal(spragWorldStep(m->sprag, step_size), SPRAG_OK);
    else
        dWorldStep(m->world, step_size);
    dJointGroupEmpty(m->group);
}

/* What a program may add to joints before a step. */
static void pushJoints(Machine *m)
{
    for (int k = 0; k < m->joints; ++k) {
        const dJointID j = m->joint[k];
        const dJointType type = dJointGetType(j);
        if (type == dJointTypeHinge)
            dJointAddHingeTorque(j, 0.1);
        if (type == dJointTypeSlider)
            dJointAddSliderForce(j, 0.5);
        if (type == dJointTypeUniversal)
            dJointAddUniversalTorques(j, 0.1, -0.2);
        if (type == dJointTypeHinge2)
            dJointAddHinge2Torques(j, 0.1, -0.2);
        if (type == dJointTypePR)
            dJointAddPRTorque(j, 0.1);
        if (type == dJointTypePiston)
            dJointAddPistonForce(j, 0.5);
        if (type == dJointTypeAMotor)
            dJointAddAMotorTorques(j, 0.1, 0.2, 0.1);
    }
}

static double bodyDifference(const Machine *a, const Machine *b)
{
    double d = 0;
    for (int k = 0; k < a->bodies; ++k)
        for (int i = 0; i < 3; ++i) {
            d = fmax(d, fabs(dBodyGetPosition(a->body[k])[i] - dBodyGetPosition(b->body[k])[i]));
            d = fmax(d, fabs(dBodyGetLinearVel(a->body[k])[i] - dBodyGetLinearVel(b->body[k])[i]));
            d = fmax(d, fabs(dBodyGetAngularVel(a->body[k])[i] - dBodyGetAngularVel(b->body[k])[i]));
        }
    return d;
}

/* N, N m */
static double feedbackDifference(const Machine *a, const Machine *b)
{
    double d = 0;
    for (int k = 0; k < a->joints; ++k) {
        const dJointFeedback *p = &a->feedback[k], *q = &b->feedback[k];
        for (int i = 0; i < 3; ++i)
            d = fmax(fmax(d, fabs(p->f1[i] - q->f1[i])),
                     fmax(fabs(p->t1[i] - q->t1[i]), fmax(fabs(p->f2[i] - q->f2[i]), fabs(p->t2[i] - q->t2[i]))));
    }
    return d;
}

/* Error of the rigid rows of all joints, m or rad: what ODE would correct with its own ERP (1, or a joint's 0.2). */
static double jointError(const Machine *m)
{
    double error = 0;
    for (int k = 0; k < m->joints; ++k) {
        spragJointRowSet rows;
        if (!dJointIsEnabled(m->joint[k]))
            continue;
        const int count = spragJointRows(m->joint[k], 1 / step_size, 1, 0, &rows);
        for (int i = 0; i < count; ++i)
            if (isinf(rows.lo[i]) && isinf(rows.hi[i]) && rows.cfm[i] < 1e-6)
                error = fmax(error, fabs(rows.rhs[i]) * step_size);
    }
    return error;
}

/* ---------------------------------------------------------------- without contacts, and with an idle one */

typedef void Build(Machine *m, const void *how);

typedef struct Pair {
    const Type *type;
    int attachment, use;
} Pair;

static void buildPairOf(Machine *m, const void *how)
{
    const Pair *p = how;
    buildPair(m, p->type, p->attachment, p->use, 1);
}

static void buildMachineOf(Machine *m, const void *how)
{
    machines[*(const int *)how].build(m, 1);
}

/* Both worlds start the next step from the same state: only what one step does is compared, whatever its motion (some
 * joints attached as (0, body) are unstable in ODE itself). */
static void copyState(const Machine *from, Machine *to)
{
    for (int k = 0; k < from->bodies; ++k) {
        const dReal *p = dBodyGetPosition(from->body[k]), *v = dBodyGetLinearVel(from->body[k]),
                    *w = dBodyGetAngularVel(from->body[k]);
        dBodySetPosition(to->body[k], p[0], p[1], p[2]);
        dBodySetQuaternion(to->body[k], dBodyGetQuaternion(from->body[k]));
        dBodySetLinearVel(to->body[k], v[0], v[1], v[2]);
        dBodySetAngularVel(to->body[k], w[0], w[1], w[2]);
    }
}

/* 1 + the greatest joint force or moment, N, N m: what the differences are measured by. */
static double loadScale(const Machine *m)
{
    double scale = 1;
    for (int k = 0; k < m->joints; ++k)
        for (int i = 0; i < 3; ++i)
            scale = fmax(scale, fmax(fabs(m->feedback[k].f1[i]), fabs(m->feedback[k].t1[i])));
    return scale;
}

/* Where ODE's joint makes bodies faster and faster, Sprag makes it ask for less
 * (surge.h): then it is not ODE's answer. */
static void checkAlike(const char *name, Build *build, const void *how, double tolerance, double force_tolerance)
{
    for (int idle = 0; idle < 2; ++idle) {
        Machine m[2];
        double moved = 0, loaded = 0;
        for (int k = 0; k < 2; ++k) {
            openMachine(&m[k], k);
            build(&m[k], how);
        }
        for (int n = 0; n < 60; ++n) {
            for (int k = 0; k < 2; ++k) {
                for (int b = 0; idle && b < m[k].bodies; ++b)
                    addIdleContact(&m[k], m[k].body[b]);
                pushJoints(&m[k]);
                stepMachine(&m[k]);
            }
            const double scale = loadScale(&m[0]);
            const int surged = idle && m[1].sprag->snapshot.island[0].surged;
            if (surged)
                assert_true(kineticEnergy(m[1].body, m[1].bodies) < kineticEnergy(m[0].body, m[0].bodies));
            moved = surged ? moved : fmax(moved, bodyDifference(&m[0], &m[1]) / scale);
            loaded = surged ? loaded : fmax(loaded, feedbackDifference(&m[0], &m[1]) / scale);
            if (idle)
                copyState(&m[0], &m[1]);
            assert_int_equal(spragWorldGetStepInfo(m[1].sprag).declined, 0);
            assert_int_equal(spragWorldGetStepInfo(m[1].sprag).islands > 0, idle);
        }
        if (!(moved <= (idle ? tolerance : 0) && loaded <= (idle ? force_tolerance : 0)))
            fail_msg("%s: %s differs from stock ODE by %g, feedback by %g N", name,
                     idle ? "with an idle contact" : "without contacts", moved, loaded);
        closeMachine(&m[0]);
        closeMachine(&m[1]);
    }
}

static void everyTypeIsAsOde(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
        for (int attachment = 0; attachment < 4; ++attachment) {
            if ((types[t].attachments == TWO_BODIES && attachment != 0 && attachment != 3) ||
                (types[t].attachments == BODY_AND_WORLD && attachment != 1))
                continue;
            for (int use = FREE; use < usesOf(&types[t]); ++use) {
                char name[80];
                snprintf(name, sizeof name, "%s, attachment %d, use %d", types[t].name, attachment, use);
                checkAlike(name, buildPairOf, &(Pair){&types[t], attachment, use}, 1e-8, 1e-5);
            }
        }
}

static void everyMachineIsAsOde(void **state)
{
    (void)state;
    for (int k = 0; k < (int)(sizeof machines / sizeof *machines); ++k)
        checkAlike(machines[k].name, buildMachineOf, &k, 1e-9, 1e-2);
}

/* ---------------------------------------------------------------- on a rough floor */

static void floorPairOf(Machine *m, const void *how)
{
    const Pair *p = how;
    buildPair(m, p->type, p->attachment, p->use, 0.15);
    if (p->type->attachments == BODY_AND_WORLD) { /* Plane2D holds z = 0: the floor is y = 0 */
        for (int k = 0; k < m->bodies; ++k)
            dBodySetPosition(m->body[k], 0.6 * k, 0.25, 0);
        dWorldSetGravity(m->world, 0, -9.81, 0);
        dGeomPlaneSetParams(m->floor, 0, 1, 0, 0);
    }
}

static void floorMachineOf(Machine *m, const void *how)
{
    machines[*(const int *)how].build(m, 0.1);
}

/* Every step is taken by both from the state that Sprag's world has come to.  (Errors of two motions that part cannot
 * be compared: a pyramid of friction stops a body sooner than a cone, and a slower joint drifts less.) */
static void checkFloor(const char *name, Build *build, const void *how, double tolerance)
{
    Machine m[2];
    double error[2] = {0, 0}, residual = 0;
    int contacts = 0;
    for (int k = 0; k < 2; ++k) {
        openMachine(&m[k], k);
        build(&m[k], how);
    }
    for (int n = 0; n < 250; ++n) {
        for (int k = 0; k < 2; ++k) {
            dSpaceCollide(m[k].space, &m[k], onNear);
            stepMachine(&m[k]);
            error[k] = fmax(error[k], jointError(&m[k]));
        }
        copyState(&m[1], &m[0]);
        const spragStepInfo info = spragWorldGetStepInfo(m[1].sprag);
        residual = fmax(residual, info.residual);
        contacts += info.contacts;
        assert_int_equal(info.declined, 0);
    }
    for (int k = 0; k < 2; ++k)
        closeMachine(&m[k]);
    if (!(error[1] <= 1.1 * error[0] + 1e-9 && residual <= tolerance && contacts > 0))
        fail_msg("%s: joint error %g, stock %g; residual %g m/s, %d contacts", name, error[1], error[0], residual,
                 contacts);
}

static void jointsHoldOnTheFloor(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
        for (int use = FREE; use < usesOf(&types[t]); ++use) {
            char name[80];
            snprintf(name, sizeof name, "%s, use %d", types[t].name, use);
            checkFloor(name, floorPairOf, &(Pair){&types[t], types[t].attachments == BODY_AND_WORLD ? 1 : 0, use},
                       1e-8);
        }
    for (int k = 0; k < (int)(sizeof machines / sizeof *machines); ++k)
        checkFloor(machines[k].name, floorMachineOf, &k, 1e-6);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyTypeIsAsOde),
        cmocka_unit_test(everyMachineIsAsOde),
        cmocka_unit_test(jointsHoldOnTheFloor),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
