/* Random worlds: bodies of all shapes, joints of all types, every surface, made, changed and destroyed between steps.
 * Whatever happens, a step ends well, in finite numbers, judged within the tolerance; what is left to ODE is counted.
 *
 * SPRAG_RANDOM="first last [step]" runs other seeds and prints a line for each. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include <sprag/sprag_ode.h>

enum { BODIES = 14, JOINTS = 12, STEPS = 150, CORNERS = 8, INFINITE_MU = 5 };

typedef struct Random {
    unsigned long long state;
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    spragWorldID sprag;
    dBodyID body[BODIES];
    dJointID joint[JOINTS];
    int joint_count, surface;
} Random;

static double range(Random *w, double a, double b)
{
    unsigned long long z = w->state += 0x9e3779b97f4a7c15ULL; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return a + (b - a) * (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static int pick(Random *w, int n)
{
    return (int)range(w, 0, n);
}

/* ---------------------------------------------------------------- contacts */

static void setSurface(int kind, dContact *contact)
{
    dSurfaceParameters *p = &contact->surface;
    *p = (dSurfaceParameters){.mode = dContactApprox1, .mu = 0.6};
    dVector3 t2;
    switch (kind) {
    case 1:
        p->mode |= dContactBounce;
        p->bounce = 0.4;
        p->bounce_vel = 0.1;
        break;
    case 2:
        p->mode |= dContactSoftERP | dContactSoftCFM;
        p->soft_erp = 0.3;
        p->soft_cfm = 1e-4;
        break;
    case 3:
        p->mode |= dContactMu2 | dContactFDir1;
        p->mu2 = 0.2;
        dPlaneSpace(contact->geom.normal, contact->fdir1, t2);
        break;
    case 4:
        p->mode |= dContactRolling;
        p->rho = p->rho2 = 0.01;
        p->rhoN = 0.005;
        break;
    case INFINITE_MU:
        p->mu = dInfinity;
        break;
    case 6: /* a force, N */
        p->mode = 0;
        p->mu = 2;
        break;
    case 7:
        p->mode |= dContactMotion1 | dContactSlip1 | dContactSlip2;
        p->motion1 = 0.5;
        p->slip1 = p->slip2 = 1e-3;
        break;
    default:
        break;
    }
}

static void onNear(void *data, dGeomID a, dGeomID b)
{
    Random *w = data;
    const dBodyID x = dGeomGetBody(a), y = dGeomGetBody(b);
    if (x != NULL && y != NULL && dAreConnectedExcluding(x, y, dJointTypeContact))
        return;
    dContact contact[CORNERS];
    memset(contact, 0, sizeof contact);
    const int count = dCollide(a, b, CORNERS, &contact[0].geom, sizeof contact[0]);
    for (int i = 0; i < count; ++i) {
        setSurface(w->surface, &contact[i]);
        dJointAttach(spragJointCreateContact(w->sprag, w->group, &contact[i]), x, y);
    }
}

/* ---------------------------------------------------------------- bodies */

static dBodyID makeBody(Random *w, double height)
{
    const double density = range(w, 1, 1000), r = range(w, 0.1, 0.4), a = range(w, 0.2, 0.8), b = range(w, 0.2, 0.8),
                 c = range(w, 0.2, 0.8);
    dMass mass;
    dGeomID geom;
    switch (pick(w, 4)) {
    case 0:
        dMassSetSphere(&mass, density, r);
        geom = dCreateSphere(w->space, r);
        break;
    case 1:
        dMassSetCapsule(&mass, density, 3, r, 2 * r);
        geom = dCreateCapsule(w->space, r, 2 * r);
        break;
    default:
        dMassSetBox(&mass, density, a, b, c);
        geom = dCreateBox(w->space, a, b, c);
    }
    const dBodyID body = dBodyCreate(w->world);
    dBodySetMass(body, &mass);
    dGeomSetBody(geom, body);
    dMatrix3 rotation;
    dRFromEulerAngles(rotation, range(w, -3, 3), range(w, -3, 3), range(w, -3, 3));
    dBodySetRotation(body, rotation);
    dBodySetPosition(body, range(w, -1.5, 1.5), range(w, -1.5, 1.5), height);
    dBodySetLinearVel(body, range(w, -2, 2), range(w, -2, 2), range(w, -2, 2));
    dBodySetAngularVel(body, range(w, -5, 5), range(w, -5, 5), range(w, -5, 5));
    if (pick(w, 8) == 0) { /* at rest: what squeezes without limit leaves nothing to judge but rounding */
        dBodySetKinematic(body);
        dBodySetLinearVel(body, 0, 0, 0);
        dBodySetAngularVel(body, 0, 0, 0);
    }
    if (pick(w, 8) == 0)
        dBodySetGravityMode(body, 0);
    if (pick(w, 6) == 0)
        dBodySetDamping(body, 0.01, 0.02);
    return body;
}

/* ---------------------------------------------------------------- joints */

typedef void SetParam(dJointID joint, int parameter, dReal value);

static void limitAndDrive(Random *w, dJointID joint, SetParam *set, int group)
{
    if (pick(w, 3) == 0) {
        set(joint, dParamLoStop + group, -0.5);
        set(joint, dParamHiStop + group, 0.5);
        set(joint, dParamBounce + group, 0.3);
    }
    if (pick(w, 3) == 0) {
        set(joint, dParamVel + group, range(w, -2, 2));
        set(joint, dParamFMax + group, range(w, 0, 100));
    }
}

typedef dJointID Create(dWorldID world, dJointGroupID group);
typedef void SetVector(dJointID joint, dReal x, dReal y, dReal z);

/* NULL: it has none.  One axis is n; of two the first is u, the second v, across n. */
typedef struct JointKind {
    dJointType type;
    Create *create;
    SetVector *anchor, *axis, *axis1, *axis2;
    SetParam *param;
    int group; /* of the parameters that are drawn */
} JointKind;

static void setHinge2(dJointID joint, const dReal *u, const dReal *v)
{
    dJointSetHinge2Axes(joint, u, v);
    dJointSetHinge2Param(joint, dParamSuspensionERP, 0.4);
    dJointSetHinge2Param(joint, dParamSuspensionCFM, 0.01);
}

static void setMotor(dJointID joint, const dReal *u, const dReal *v)
{
    if (dJointGetType(joint) == dJointTypeAMotor) {
        dJointSetAMotorNumAxes(joint, 2);
        dJointSetAMotorAxis(joint, 0, 1, u[0], u[1], u[2]);
        dJointSetAMotorAxis(joint, 1, 0, v[0], v[1], v[2]);
    } else {
        dJointSetLMotorNumAxes(joint, 1);
        dJointSetLMotorAxis(joint, 0, 0, u[0], u[1], u[2]);
    }
}

static void setDHinge(dJointID joint, const dReal *p, dBodyID b)
{
    dJointSetDHingeAnchor1(joint, p[0], p[1], p[2]);
    if (b != NULL)
        dJointSetDHingeAnchor2(joint, dBodyGetPosition(b)[0], dBodyGetPosition(b)[1], dBodyGetPosition(b)[2]);
}

static const JointKind joint_kinds[] = {
    {.type = dJointTypeBall, .create = dJointCreateBall, .anchor = dJointSetBallAnchor},
    {.type = dJointTypeHinge,
     .create = dJointCreateHinge,
     .anchor = dJointSetHingeAnchor,
     .axis = dJointSetHingeAxis,
     .param = dJointSetHingeParam},
    {.type = dJointTypeSlider,
     .create = dJointCreateSlider,
     .axis = dJointSetSliderAxis,
     .param = dJointSetSliderParam},
    {.type = dJointTypeUniversal,
     .create = dJointCreateUniversal,
     .anchor = dJointSetUniversalAnchor,
     .axis1 = dJointSetUniversalAxis1,
     .axis2 = dJointSetUniversalAxis2,
     .param = dJointSetUniversalParam},
    {.type = dJointTypeHinge2,
     .create = dJointCreateHinge2,
     .anchor = dJointSetHinge2Anchor,
     .param = dJointSetHinge2Param,
     .group = dParamGroup2},
    {.type = dJointTypeFixed, .create = dJointCreateFixed},
    {.type = dJointTypeNull, .create = dJointCreateNull},
    {.type = dJointTypeAMotor, .create = dJointCreateAMotor, .param = dJointSetAMotorParam},
    {.type = dJointTypeLMotor, .create = dJointCreateLMotor, .param = dJointSetLMotorParam},
    {.type = dJointTypePR,
     .create = dJointCreatePR,
     .anchor = dJointSetPRAnchor,
     .axis1 = dJointSetPRAxis1,
     .axis2 = dJointSetPRAxis2,
     .param = dJointSetPRParam},
    {.type = dJointTypePU,
     .create = dJointCreatePU,
     .anchor = dJointSetPUAnchor,
     .axis1 = dJointSetPUAxis1,
     .axis2 = dJointSetPUAxis2,
     .param = dJointSetPUParam},
    {.type = dJointTypePiston,
     .create = dJointCreatePiston,
     .anchor = dJointSetPistonAnchor,
     .axis = dJointSetPistonAxis,
     .param = dJointSetPistonParam},
    {.type = dJointTypeDBall, .create = dJointCreateDBall},
    {.type = dJointTypeDHinge, .create = dJointCreateDHinge, .axis = dJointSetDHingeAxis}};
enum { JOINT_KINDS = sizeof joint_kinds / sizeof *joint_kinds };

static void place(SetVector *set, dJointID joint, const dReal *x)
{
    if (set != NULL)
        set(joint, x[0], x[1], x[2]);
}

/* NULL: this type joins nothing to the world. */
static dJointID makeJoint(Random *w, const JointKind *kind, dBodyID a, dBodyID b)
{
    dVector3 n = {range(w, -1, 1), range(w, -1, 1), range(w, -1, 1)}, u, v;
    dNormalize3(n);
    dPlaneSpace(n, u, v);
    if (kind->type == dJointTypeHinge2 && b == NULL)
        return NULL;
    const dJointID j = kind->create(w->world, NULL);
    dJointAttach(j, a, b);
    place(kind->anchor, j, dBodyGetPosition(a));
    place(kind->axis, j, n);
    place(kind->axis1, j, u);
    place(kind->axis2, j, v);
    if (kind->type == dJointTypeFixed)
        dJointSetFixed(j);
    if (kind->type == dJointTypeDHinge)
        setDHinge(j, dBodyGetPosition(a), b);
    if (kind->type == dJointTypeHinge2)
        setHinge2(j, u, v);
    if (kind->type == dJointTypeAMotor || kind->type == dJointTypeLMotor)
        setMotor(j, u, v);
    if (kind->param != NULL)
        limitAndDrive(w, j, kind->param, kind->group);
    return j;
}

static void addJoint(Random *w)
{
    const int a = pick(w, BODIES), b = pick(w, BODIES + 1);
    const dBodyID other = b < BODIES ? w->body[b] : NULL;
    if (w->joint_count == JOINTS || a == b || (other != NULL && dAreConnected(w->body[a], other)))
        return; /* two joints between two bodies would contradict each other, and throw them under ODE as well */
    const dJointID joint = makeJoint(w, &joint_kinds[pick(w, JOINT_KINDS)], w->body[a], other);
    if (joint != NULL)
        w->joint[w->joint_count++] = joint;
}

/* ---------------------------------------------------------------- a life */

static void replaceBody(Random *w, int which)
{
    const dBodyID body = w->body[which];
    for (int i = 0; i < w->joint_count; ++i)
        if (dJointGetBody(w->joint[i], 0) == body || dJointGetBody(w->joint[i], 1) == body)
            return;
    for (dGeomID geom = dBodyGetFirstGeom(body); geom != NULL; geom = dBodyGetFirstGeom(body))
        dGeomDestroy(geom);
    dBodyDestroy(body);
    w->body[which] = makeBody(w, 2);
}

/* Before contacts are made. */
static void change(Random *w)
{
    if (pick(w, 60) == 0)
        addJoint(w);
    if (pick(w, 60) == 0 && w->joint_count > 0) {
        const int k = pick(w, w->joint_count);
        dJointDestroy(w->joint[k]);
        w->joint[k] = w->joint[--w->joint_count];
    }
    if (pick(w, 40) == 0 && w->joint_count > 0)
        dJointDisable(w->joint[pick(w, w->joint_count)]);
    if (pick(w, 50) == 0)
        replaceBody(w, pick(w, BODIES));
    if (pick(w, 50) == 0)
        dBodyAddForce(w->body[pick(w, BODIES)], range(w, -100, 100), range(w, -100, 100), range(w, -100, 100));
    if (pick(w, 50) == 0)
        dBodyDisable(w->body[pick(w, BODIES)]);
}

static void open(Random *w, int seed, int threads)
{
    *w = (Random){.state = (unsigned long long)seed << 32};
    dRandSetSeed((unsigned long)seed); /* QuickStep's order of rows */
    w->world = dWorldCreate();
    w->space = dHashSpaceCreate(NULL);
    w->group = dJointGroupCreate(0);
    dWorldSetGravity(w->world, 0, 0, -9.81);
    spragConfig config = spragConfigDefault();
    config.thread_count = threads;
    config.stepper = pick(w, 2) ? SPRAG_STEPPER_QUICKSTEP : SPRAG_STEPPER_STEP;
    assert_int_equal(spragWorldAttach(w->world, &config, &w->sprag), SPRAG_OK);
    dCreatePlane(w->space, 0, 0, 1, 0);
    dWorldSetAutoDisableFlag(w->world, pick(w, 3) == 0);
    if (pick(w, 4) == 0)
        dWorldSetContactMaxCorrectingVel(w->world, 1);
    if (pick(w, 4) == 0)
        dWorldSetContactSurfaceLayer(w->world, 0.001);
    w->surface = pick(w, 8);
    for (int i = 0; i < BODIES; ++i)
        w->body[i] = makeBody(w, 0.5 + 0.4 * i);
    for (int joints = pick(w, 10); joints > 0; --joints)
        addJoint(w);
}

static void shut(Random *w)
{
    spragWorldDetach(w->sprag);
    dJointGroupDestroy(w->group);
    dSpaceDestroy(w->space);
    dWorldDestroy(w->world);
}

/* N.  Bodies squeezed by what nothing stops carry 1e9 N, and their residual is rounding of that. */
static double greatestForce(const Random *w)
{
    const spragContact *contacts = NULL;
    double greatest = 0;
    for (int k = spragWorldGetContacts(w->sprag, &contacts) - 1; k >= 0; --k)
        greatest = fmax(greatest, contacts[k].normal_force);
    return greatest;
}

/* end (BODIES x 3): positions, m */
static void live(int seed, double h, int threads, int talk, double end[BODIES][3])
{
    Random w;
    open(&w, seed, threads);
    double worst = 0;
    int declined = 0, fallbacks = 0, contacts = 0;
    long long slowest = 0;
    for (int k = 0; k < STEPS; ++k) {
        change(&w);
        dSpaceCollide(w.space, &w, onNear);
        const spragStatus status = spragWorldStep(w.sprag, h);
        if (status != SPRAG_OK)
            fail_msg("seed %d, step %d: %s: %s", seed, k, spragStatusText(status), spragStatusDetail());
        dJointGroupEmpty(w.group);
        const spragStepInfo info = spragWorldGetStepInfo(w.sprag);
        /* Infinite coefficients may ask for what no motion gives: then the least violation, told and counted. */
        const int conflict = w.surface == INFINITE_MU && info.fallbacks > 0;
        const double tolerance = conflict ? 100 : 1e-8 + 1e-15 * greatestForce(&w); /* m/s */
        if (!(info.residual <= tolerance)) {
            char path[64];
            snprintf(path, sizeof path, "random_%d_%d.txt", seed, k);
            if (talk)
                spragWorldDumpProblem(w.sprag, path);
            print_error("seed %d, step %d: residual %g\n", seed, k, info.residual);
        }
        worst = fmax(worst, info.residual / tolerance);
        declined += info.declined;
        fallbacks += info.fallbacks;
        contacts += info.contacts;
        if (info.nanoseconds[SPRAG_STAGE_SOLVE] > slowest)
            slowest = info.nanoseconds[SPRAG_STAGE_SOLVE];
        for (int i = 0; i < BODIES; ++i)
            for (int c = 0; c < 3; ++c)
                if (!(fabs(dBodyGetLinearVel(w.body[i])[c]) < 1e3 && isfinite(dBodyGetPosition(w.body[i])[c])))
                    fail_msg("seed %d, step %d: body %d flies off", seed, k, i);
    }
    if (talk)
        print_message("seed %d: surface %d, %d joints, %d contacts, residual / tolerance %.2g, declined %d, fallbacks "
                      "%d, slowest "
                      "solve %.3f ms\n",
                      seed, w.surface, w.joint_count, contacts, worst, declined, fallbacks, 1e-6 * (double)slowest);
    for (int i = 0; i < BODIES; ++i)
        memcpy(end[i], dBodyGetPosition(w.body[i]), sizeof end[i]);
    shut(&w);
    if (!talk)
        assert_true(worst <= 1);
}

static void whateverHappens(void **state)
{
    (void)state;
    int first = 1, last = 40;
    double h = 0.01;
    const char *asked = getenv("SPRAG_RANDOM");
    if (asked != NULL)
        sscanf(asked, "%d %d %lf", &first, &last, &h);
    double end[BODIES][3];
    for (int seed = first; seed <= last; ++seed)
        live(seed, h, 1, asked != NULL, end);
}

static void threadsDoNotMatter(void **state)
{
    (void)state;
    double one[BODIES][3], three[BODIES][3];
    for (int seed = 1; seed <= 16; ++seed) {
        live(seed, 0.01, 1, 0, one);
        live(seed, 0.01, 3, 0, three);
        assert_memory_equal(one, three, sizeof one);
    }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(whateverHappens), cmocka_unit_test(threadsDoNotMatter)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
