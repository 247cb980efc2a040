#include "ode/rows/joint_rows.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* ---------------------------------------------------------------- ODE's members as C functions
 *
 * Itanium C++ ABI: a non-virtual call of a member passes `this` first.  Layouts as in ODE 0.16's joint.h. */

typedef struct Info1 {
    unsigned char m, nub;
} Info1;

typedef void Info1Fn(void *joint, Info1 *info);
typedef void Info2Fn(void *joint, dReal fps, dReal erp, int rowskip, dReal *J1, dReal *J2, int pairskip,
                     dReal *pair_rhs_cfm, dReal *pair_lo_hi, int *findex);

#if defined(INFO2_ARGUMENTS) /* a test that asks for what no library has */
#elif defined(dSINGLE)
#define INFO2_ARGUMENTS "ffiPfS0_iS0_S0_Pi"
#else
#define INFO2_ARGUMENTS "ddiPdS0_iS0_S0_Pi"
#endif

/* X(type, mangled class name, axes that can be both powered and at a stop) */
#define JOINT_LIST(X)                                                                                                  \
    X(Ball, "11dxJointBall", 0)                                                                                        \
    X(Hinge, "12dxJointHinge", 1)                                                                                      \
    X(Slider, "13dxJointSlider", 1)                                                                                    \
    X(Universal, "16dxJointUniversal", 2)                                                                              \
    X(Hinge2, "13dxJointHinge2", 2)                                                                                    \
    X(Fixed, "12dxJointFixed", 0)                                                                                      \
    X(Null, "11dxJointNull", 0)                                                                                        \
    X(AMotor, "13dxJointAMotor", 3)                                                                                    \
    X(LMotor, "13dxJointLMotor", 0)                                                                                    \
    X(Plane2D, "14dxJointPlane2D", 0)                                                                                  \
    X(PR, "9dxJointPR", 2)                                                                                             \
    X(PU, "9dxJointPU", 3)                                                                                             \
    X(Piston, "13dxJointPiston", 2)                                                                                    \
    X(DBall, "12dxJointDBall", 0)                                                                                      \
    X(DHinge, "13dxJointDHinge", 0)                                                                                    \
    X(Transmission, "19dxJointTransmission", 0)

#define DECLARE(type, mangled, axes)                                                                                   \
    extern Info1Fn info1##type __asm__("_ZN" mangled "8getInfo1EPN7dxJoint5Info1E") __attribute__((weak));             \
    extern Info2Fn info2##type __asm__("_ZN" mangled "8getInfo2E" INFO2_ARGUMENTS) __attribute__((weak));
JOINT_LIST(DECLARE)
#undef DECLARE

const char *spragJointTypeName(dJointType type)
{
#define NAME(type, mangled, axes) [dJointType##type] = #type,
    static const char *const name[] = {JOINT_LIST(NAME)[dJointTypeContact] = "Contact"};
#undef NAME
    const size_t index = (size_t)type;
    return index < sizeof name / sizeof *name && name[index] != NULL ? name[index] : "unknown";
}

typedef struct JointType {
    Info1Fn *info1;
    Info2Fn *info2;
    int axes;
    dReal (*get)(dJointID, int);
    void (*set)(dJointID, int, dReal);
} JointType;

/* Types that have no parameters. */
#define dJointGetNullParam NULL
#define dJointSetNullParam NULL
#define dJointGetPlane2DParam NULL
#define dJointSetPlane2DParam NULL

static JointType jointType(dJointType type)
{
    switch ((int)type) {
#define CASE(type, mangled, axes)                                                                                      \
    case dJointType##type:                                                                                             \
        return (JointType){info1##type, info2##type, axes, dJointGet##type##Param, dJointSet##type##Param};
        JOINT_LIST(CASE)
#undef CASE
    default:
        return (JointType){0};
    }
}

/* ---------------------------------------------------------------- rows */

static int param(int name, int axis)
{
    return name + dParamGroup * axis;
}

static int fillRows(const JointType *type, dJointID joint, double fps, double erp, double cfm, spragJointRowSet *out)
{
    dReal J1[SPRAG_JOINT_ROW_MAX * 6] = {0}, J2[SPRAG_JOINT_ROW_MAX * 6] = {0};
    dReal rhs_cfm[SPRAG_JOINT_ROW_MAX * 2], lo_hi[SPRAG_JOINT_ROW_MAX * 2];
    for (int k = 0; k < SPRAG_JOINT_ROW_MAX; ++k) {
        rhs_cfm[2 * k] = 0;
        rhs_cfm[2 * k + 1] = (dReal)cfm;
        lo_hi[2 * k] = -dInfinity;
        lo_hi[2 * k + 1] = dInfinity;
        out->findex[k] = -1;
        out->force[k] = 0;
    }
    Info1 info = {0, 0};
    type->info1(joint, &info);
    out->m = info.m;
    if (info.m == 0 || info.m > SPRAG_JOINT_ROW_MAX)
        return info.m == 0 ? 0 : -1;
    type->info2(joint, (dReal)fps, (dReal)erp, 6, J1, J2, 2, rhs_cfm, lo_hi, out->findex);
    for (int k = 0; k < out->m; ++k) {
        for (int i = 0; i < 6; ++i) {
            out->J1[k][i] = J1[6 * k + i];
            out->J2[k][i] = J2[6 * k + i];
        }
        out->rhs[k] = rhs_cfm[2 * k];
        out->cfm[k] = rhs_cfm[2 * k + 1];
        out->lo[k] = lo_hi[2 * k];
        out->hi[k] = lo_hi[2 * k + 1];
    }
    return out->m;
}

/* First row in which the two sets differ: where the row that b lacks stands in a. */
static int firstDifferentRow(const spragJointRowSet *a, const spragJointRowSet *b)
{
    int k = 0;
    while (k < b->m && memcmp(a->J1[k], b->J1[k], sizeof a->J1[k]) == 0 &&
           memcmp(a->J2[k], b->J2[k], sizeof a->J2[k]) == 0)
        ++k;
    return k;
}

/* An axis that is powered and at a stop: ODE's getInfo2 adds the motor's force to the bodies itself, through locks that
 * exist only after the world's first step.  So the motor is switched off while the rows are read, and its force is
 * returned beside the row.  (0.16: the motor pushes with fmax in its direction, times the fudge factor away from the
 * stop; the force on body[0] is -f along the row.) */
static double stoppedMotorForce(const JointType *type, dJointID joint, int axis, double fmax, int at_low_stop)
{
    const double velocity = type->get(joint, param(dParamVel, axis));
    const double fudge = type->get(joint, param(dParamFudgeFactor, axis));
    double f = velocity > 0 || (velocity == 0 && !at_low_stop) ? -fmax : fmax;
    if (at_low_stop ? velocity > 0 : velocity < 0)
        f *= fudge;
    return -f;
}

/* Which axes are powered and at a stop?  Without its motor an axis still has its row only if it is at a stop. */
static int findStoppedMotors(const JointType *type, dJointID joint, double fmax[3])
{
    int found = 0;
    for (int axis = 0; axis < type->axes; ++axis) {
        fmax[axis] = type->get(joint, param(dParamFMax, axis));
        const int has_stop = type->get(joint, param(dParamLoStop, axis)) > -dInfinity ||
                             type->get(joint, param(dParamHiStop, axis)) < dInfinity;
        if (!(fmax[axis] > 0) || !has_stop) {
            fmax[axis] = 0;
            continue;
        }
        Info1 with, without;
        type->info1(joint, &with);
        type->set(joint, param(dParamFMax, axis), 0);
        type->info1(joint, &without);
        type->set(joint, param(dParamFMax, axis), (dReal)fmax[axis]);
        if (without.m < with.m)
            fmax[axis] = 0; /* an ordinary motor */
        else
            found = 1;
    }
    return found;
}

static void setMotors(const JointType *type, dJointID joint, const double fmax[3], int on)
{
    for (int axis = 0; axis < type->axes; ++axis)
        if (fmax[axis] > 0)
            type->set(joint, param(dParamFMax, axis), on ? (dReal)fmax[axis] : 0);
}

/* Row of the stop of one axis: the one that goes away when the axis has no stops. */
static int stopRow(const JointType *type, dJointID joint, int axis, const spragJointRowSet *rows)
{
    const dReal lo = type->get(joint, param(dParamLoStop, axis)), hi = type->get(joint, param(dParamHiStop, axis));
    spragJointRowSet without;
    type->set(joint, param(dParamLoStop, axis), -dInfinity);
    type->set(joint, param(dParamHiStop, axis), dInfinity);
    const int m = fillRows(type, joint, 1, 0, 0, &without);
    type->set(joint, param(dParamLoStop, axis), lo);
    type->set(joint, param(dParamHiStop, axis), hi);
    if (lo == hi || m < 0)
        return rows->m; /* both stops at one place hold the axis: ODE ignores the motor */
    return firstDifferentRow(rows, &without);
}

static int fillRowsWithStoppedMotors(const JointType *type, dJointID joint, double fps, double erp, double cfm,
                                     const double fmax[3], spragJointRowSet *out)
{
    setMotors(type, joint, fmax, 0);
    const int m = fillRows(type, joint, fps, erp, cfm, out);
    for (int axis = 0; axis < type->axes; ++axis) {
        const int row = fmax[axis] > 0 && m > 0 ? stopRow(type, joint, axis, out) : m;
        if (row < m)
            out->force[row] = stoppedMotorForce(type, joint, axis, fmax[axis], out->lo[row] == 0);
    }
    setMotors(type, joint, fmax, 1);
    Info1 info;
    type->info1(joint, &info); /* the joint's own record of its stops, as it was */
    return m;
}

int spragJointRows(dJointID joint, double fps, double erp, double cfm, spragJointRowSet *out)
{
    const JointType type = jointType(dJointGetType(joint));
    if (type.info1 == NULL || type.info2 == NULL)
        return -1;
    out->body[0] = dJointGetBody(joint, 0);
    out->body[1] = dJointGetBody(joint, 1);
    if (out->body[0] == NULL) { /* ODE turns such a joint around and writes its rows for the other body */
        out->body[0] = out->body[1];
        out->body[1] = NULL;
    }
    double fmax[3] = {0, 0, 0};
    if (type.axes > 0 && findStoppedMotors(&type, joint, fmax))
        return fillRowsWithStoppedMotors(&type, joint, fps, erp, cfm, fmax, out);
    return fillRows(&type, joint, fps, erp, cfm, out);
}

/* ---------------------------------------------------------------- self-test
 *
 * Two bodies, a hinge off both centres with a motor, a slider to the world at its upper stop: rows that can be written
 * down by hand.  A library whose layout differs (another version, another compiler's ABI) fails one of them. */

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-5; /* good for single precision too */
}

/* Ball rows: v1 + w1 x a1 - v2 - w2 x a2 = (fps erp) (p2 + a2 - p1 - a1). */
static int hingeRowsAreRight(dWorldID world)
{
    dBodyID b1 = dBodyCreate(world), b2 = dBodyCreate(world);
    dBodySetPosition(b1, 0, 0, 0);
    dBodySetPosition(b2, 2, 0, 0);
    dJointID hinge = dJointCreateHinge(world, 0);
    dJointAttach(hinge, b1, b2);
    dJointSetHingeAnchor(hinge, (dReal)0.5, 1, 0);
    dJointSetHingeAxis(hinge, 0, 0, 1);
    dJointSetHingeParam(hinge, dParamVel, 3);
    dJointSetHingeParam(hinge, dParamFMax, 7);
    dBodySetPosition(b2, 2, (dReal)0.25, 0); /* drift to be corrected */
    spragJointRowSet rows;
    int ok = spragJointRows(hinge, 100, 0.5, 1e-3, &rows) == 6 && rows.body[0] == b1 && rows.body[1] == b2;
    const double a1[3] = {0.5, 1, 0}, a2[3] = {-1.5, 1, 0}, drift[3] = {0, 0.25, 0};
    for (int i = 0; ok && i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3; /* (w x a)_i = w_j a_k - w_k a_j */
        ok = near(rows.J1[i][i], 1) && near(rows.J2[i][i], -1) && near(rows.J1[i][3 + j], a1[k]) &&
             near(rows.J1[i][3 + k], -a1[j]) && near(rows.J2[i][3 + j], -a2[k]) && near(rows.J2[i][3 + k], a2[j]) &&
             near(rows.rhs[i], 50 * drift[i]) && near(rows.cfm[i], 1e-3) && isinf(rows.lo[i]) && isinf(rows.hi[i]);
    }
    ok = ok && near(fabs(rows.J1[5][5]), 1) && near(rows.J1[5][5], -rows.J2[5][5]) && near(fabs(rows.rhs[5]), 3) &&
         near(rows.lo[5], -7) && near(rows.hi[5], 7);
    dJointDestroy(hinge);
    return ok;
}

static int sliderRowsAreRight(dWorldID world)
{
    dBodyID b = dBodyCreate(world);
    dJointID slider = dJointCreateSlider(world, 0);
    dJointAttach(slider, b, 0);
    dJointSetSliderAxis(slider, 1, 0, 0);
    dJointSetSliderParam(slider, dParamHiStop, 1);
    dJointSetSliderParam(slider, dParamStopERP, (dReal)0.5);
    dJointSetSliderParam(slider, dParamStopCFM, (dReal)1e-3);
    dBodySetPosition(b, (dReal)1.5, 0, 0);
    spragJointRowSet rows;
    const int ok = spragJointRows(slider, 100, 0.2, 0, &rows) == 6 && rows.body[0] == b && rows.body[1] == NULL &&
                   near(rows.J1[5][0], 1) && near(rows.rhs[5], -25) && near(rows.cfm[5], 1e-3) && isinf(rows.lo[5]) &&
                   near(rows.hi[5], 0);
    dJointDestroy(slider);
    return ok;
}

static int available;

static void selfTest(void)
{
#define MISSING(type, mangled, axes) || info1##type == NULL || info2##type == NULL
    if (0 JOINT_LIST(MISSING))
        return;
#undef MISSING
    dWorldID world = dWorldCreate();
    available = hingeRowsAreRight(world) && sliderRowsAreRight(world);
    dWorldDestroy(world);
}

int spragJointRowsAvailable(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, selfTest);
    return available;
}
