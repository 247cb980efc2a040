/* The laws know no directions, no place at rest and no units.  A world that is turned as a whole, or mirrored, or that
 * drifts with its floor, moves as it did, turned, mirrored or drifting; a small one of light bodies does so in its own
 * time; and who names the bodies of a contact first makes no difference.  Boxes on a floor and on each other with every
 * law of friction, joints with friction, a guide: whatever frame a row is written in must not matter. */
#include "support/twin.h"
#include "support/uniform.h"

#include "linalg/vec3.h"

enum { BOXES = 8, STEPS = 40 };
static const double h = 1.0 / 500;
#define TOLERANCE 1e-10 /* m/s */

typedef struct Turned {
    Twin t;
    dQuaternion q;
    double R[9];               /* of q, after y -> -y if mirrored */
    double axial;              /* -1: mirrored, what turns does so the other way */
    double drift[3];           /* m/s, of all, turned */
    dBodyID floor;             /* a kinematic body, or NULL: the world */
    int swapped;               /* 1: contacts name the second body first */
    double length, time, mass; /* of the original's; gravity is the same */
} Turned;

typedef struct Change {
    dQuaternion q;
    int swapped, mirrored, floor;
    double drift[3];
    double length, mass; /* of the original's; 0: the same */
} Change;

static void turn(const Turned *w, double x, double y, double z, double out[3])
{
    spragMul33(out, w->R, (const double[3]){x, y, z});
}

static void place(const Turned *w, double x, double y, double z, double out[3])
{
    turn(w, w->length * x, w->length * y, w->length * z, out);
}

static void addTurnedBox(Turned *w, double x, double y, double z, const double v[6])
{
    double at[3], linear[3], angular[3];
    const double speed = w->length / w->time, rate = w->axial / w->time;
    dMass mass;
    place(w, x, y, z, at);
    turn(w, speed * v[0], speed * v[1], speed * v[2], linear);
    turn(w, rate * v[3], rate * v[4], rate * v[5], angular);
    const dBodyID box = addBox(&w->t, at[0], at[1], at[2]);
    dMassSetBoxTotal(&mass, 2 * w->mass, w->length, 0.8 * w->length, 0.4 * w->length);
    dBodySetMass(box, &mass);
    dBodySetQuaternion(box, w->q);
    dBodySetLinearVel(box, linear[0] + w->drift[0], linear[1] + w->drift[1], linear[2] + w->drift[2]);
    dBodySetAngularVel(box, angular[0], angular[1], angular[2]);
}

static void addJoints(Turned *w)
{
    const spragJointFriction law = {.mu = 0.2,
                                    .mu_static = 0.25,
                                    .radius = 0.05 * w->length,
                                    .length = 0.4 * w->length,
                                    .half_width = 0.03 * w->length};
    dBodyID *const body = w->t.body;
    double anchor[3], axis[3];
    const dJointID hinge = dJointCreateHinge(w->t.world, 0), slider = dJointCreateSlider(w->t.world, 0),
                   ball = dJointCreateBall(w->t.world, 0), piston = dJointCreatePiston(w->t.world, 0);
    dJointAttach(hinge, body[2], body[3]);
    place(w, 3.1, 0.1, 0.3, anchor);
    turn(w, 0.1, 1, 0.2, axis);
    dJointSetHingeAnchor(hinge, anchor[0], anchor[1], anchor[2]);
    dJointSetHingeAxis(hinge, axis[0], axis[1], axis[2]);
    dJointAttach(slider, body[3], body[4]);
    turn(w, 1, 0.3, 0.1, axis);
    dJointSetSliderAxis(slider, axis[0], axis[1], axis[2]);
    dJointAttach(ball, body[5], w->floor);
    place(w, 7.6, 0.2, 1.3, anchor);
    dJointSetBallAnchor(ball, anchor[0], anchor[1], anchor[2]);
    dJointAttach(piston, body[6], body[5]);
    place(w, 8, 0.5, 1.2, anchor);
    turn(w, 0.2, 1, 0.5, axis);
    dJointSetPistonAnchor(piston, anchor[0], anchor[1], anchor[2]);
    dJointSetPistonAxis(piston, axis[0], axis[1], axis[2]);
    /* a motor that is too weak, and stops that are met */
    const double force = w->mass * w->length / (w->time * w->time);
    dJointSetHingeParam(hinge, dParamVel, 0.5 * w->axial / w->time);
    dJointSetHingeParam(hinge, dParamFMax, 0.3 * force * w->length);
    dJointSetSliderParam(slider, dParamLoStop, -0.005 * w->length);
    dJointSetSliderParam(slider, dParamHiStop, 0.005 * w->length);
    const dJointID all[4] = {hinge, slider, ball, piston};
    for (int k = 0; k < 4; ++k)
        assert_int_equal(spragJointSetFriction(w->t.sprag, all[k], &law), SPRAG_OK);
    spragGuideDef def = spragGuideDefDefault();
    double point[3], normal[3];
    place(w, 11.4, 0.3, 0.7, point);
    turn(w, 0, 0.6, 0.8, normal);
    def.body = body[7];
    def.guide = w->floor;
    for (int i = 0; i < 3; ++i)
        def.point[i] = point[i], def.normal[i] = normal[i];
    def.mu[0] = 0.3, def.mu[1] = 0.1;
    spragGuideID guide;
    assert_int_equal(spragGuideCreate(w->t.sprag, &def, &guide), SPRAG_OK);
}

static void makeTurned(Turned *w, const Change *change)
{
    unsigned long long seed = 1;
    double g[3];
    *w = (Turned){.swapped = change->swapped, .axial = change->mirrored ? -1 : 1};
    dMatrix3 R;
    memcpy(w->q, change->q, sizeof w->q);
    dNormalize4(w->q);
    dQtoR(w->q, R);
    for (int i = 0; i < 9; ++i)
        w->R[i] = R[4 * (i / 3) + i % 3] * (i % 3 == 1 ? w->axial : 1);
    w->length = change->length > 0 ? change->length : 1, w->time = sqrt(w->length);
    w->mass = change->mass > 0 ? change->mass : 1;
    makeTwin(&w->t, 1);
    spragConfig config = spragConfigDefault();
    config.tolerance = TOLERANCE;
    assert_int_equal(spragWorldSetConfig(w->t.sprag, &config), SPRAG_OK);
    dWorldSetCFM(w->t.world, dWorldGetCFM(w->t.world) * w->time / w->mass);
    turn(w, 0, 0, -9.81, g);
    dWorldSetGravity(w->t.world, g[0], g[1], g[2]);
    turn(w, change->drift[0], change->drift[1], change->drift[2], w->drift);
    if (change->floor) {
        w->floor = dBodyCreate(w->t.world);
        dBodySetKinematic(w->floor);
        dBodySetLinearVel(w->floor, w->drift[0], w->drift[1], w->drift[2]);
    }
    for (int b = 0; b < BOXES; ++b) {
        double v[6];
        for (int i = 0; i < 6; ++i)
            v[i] = 0.5 * uniform(&seed);
        const int high = b == 1 || b > 4; /* on the first one, or in the air */
        addTurnedBox(w, b == 1 ? 0.1 : 1.5 * b, 0, b == 1 ? 0.5998 : high ? 1.2 : 0.1999, v); /* a little inside */
    }
    addJoints(w);
}

/* Laws by number: along fdir1, what ODE's surfaces can say. */
static dSurfaceParameters surfaceOf(const Turned *w, int law)
{
    const double give = w->time / w->mass; /* m/s per N */
    dSurfaceParameters s = {.mode = dContactApprox1 | dContactFDir1, .mu = 0.4};
    if (law == 1)
        s.mode |= dContactMu2, s.mu2 = 0.15;
    if (law == 2)
        s.mode |= dContactMotion1 | dContactSlip1, s.motion1 = 0.3 * w->length / w->time, s.slip1 = 0.02 * give;
    if (law == 3)
        s.mode |= dContactRolling, s.rho = s.rho2 = 0.02 * w->length, s.rhoN = 0.01 * w->length;
    if (law == 4)
        s.mode = (s.mode & ~dContactApprox1) | dContactSoftCFM, s.mu = 3 * w->mass, s.soft_cfm = 1e-4 * give;
    return s;
}

/* Three points below a box, on the floor or on the first box: with four the motion
 * of what slides and turns is not unique. */
static void addTurnedCorners(Turned *w, int b, double time)
{
    double up[3], along[3];
    turn(w, 0, 0, 1, up);
    turn(w, 0.6, 0.8, 0, along);
    for (int i = 0; i < 3; ++i) {
        const double inwards = b == 1 ? 0.7 : 1;
        dVector3 p;
        const double x = inwards * 0.5 * (i - 1), y = inwards * (i == 1 ? 0.4 : -0.4) * w->axial;
        dBodyGetRelPointPos(w->t.body[b], w->length * x, w->length * y, -0.2 * w->length, p);
        const double at[3] = {p[0], p[1], p[2]},
                     depth = (b == 1 ? 0.4 * w->length : 0) + time * spragDot3(up, w->drift) - spragDot3(up, at);
        if (depth < 0)
            continue;
        dContact contact = {.surface = surfaceOf(w, b)};
        for (int k = 0; k < 3; ++k) {
            contact.geom.pos[k] = p[k];
            contact.geom.normal[k] = w->swapped ? -up[k] : up[k];
            contact.fdir1[k] = along[k];
        }
        contact.geom.depth = depth;
        const dBodyID other = b == 1 ? w->t.body[0] : w->floor;
        spragSurface corner = spragSurfaceDefault();
        corner.curvature_radius[0] = 0, corner.curvature_radius[1] = INFINITY; /* the floor is flat, body or not */
        const dJointID joint = w->floor != NULL && other == w->floor
                                   ? spragJointCreateContactSurface(w->t.sprag, w->t.group, &contact, &corner)
                                   : spragJointCreateContact(w->t.sprag, w->t.group, &contact);
        dJointAttach(joint, w->swapped ? other : w->t.body[b], w->swapped ? w->t.body[b] : other);
    }
}

static void stepTurned(Turned *w, int n)
{
    for (int b = 0; b < BOXES; ++b)
        addTurnedCorners(w, b, n * h * w->time);
    step(&w->t, h * w->time);
    assert_int_equal(spragWorldGetStepInfo(w->t.sprag).declined, 0);
    assert_true(spragWorldGetStepInfo(w->t.sprag).residual <= TOLERANCE);
}

static void compare(const Turned *a, const Turned *b, int n)
{
    for (int k = 0; k < BOXES; ++k) {
        const dReal *of[2][3] = {
            {dBodyGetPosition(a->t.body[k]), dBodyGetLinearVel(a->t.body[k]), dBodyGetAngularVel(a->t.body[k])},
            {dBodyGetPosition(b->t.body[k]), dBodyGetLinearVel(b->t.body[k]), dBodyGetAngularVel(b->t.body[k])}};
        for (int what = 0; what < 3; ++what) {
            double turned[3];
            turn(b, of[0][what][0], of[0][what][1], of[0][what][2], turned);
            for (int i = 0; i < 3; ++i) {
                const double drift = b->drift[i] * (what == 0 ? (n + 1) * h : what == 1);
                const double unit = what == 0 ? b->length : what == 1 ? b->length / b->time : b->axial / b->time;
                const double expected = unit * turned[i] + drift;
                if (!(fabs(expected - of[1][what][i]) <= 1e-6 * fabs(unit)))
                    fail_msg("step %d, body %d: %.12g, expected %.12g", n, k, of[1][what][i], expected);
            }
        }
    }
}

static void turnedWorldsMoveAlike(void **state)
{
    (void)state;
    static const Change none = {.q = {1, 0, 0, 0}}, change[] = {{.q = {1, 0, 0, 0}, .swapped = 1},
                                                                {.q = {0.5, 0.5, -0.5, 0.5}},
                                                                {.q = {0.83, -0.31, 0.45, 0.09}, .swapped = 1},
                                                                {.q = {0.3, -0.2, 0.9, 0.4}, .mirrored = 1},
                                                                {.q = {1, 0, 0, 0}, .floor = 1},
                                                                {.q = {1, 0, 0, 0}, .floor = 1, .drift = {3, -2, 1}},
                                                                {.q = {1, 0, 0, 0}, .length = 0.01, .mass = 1e-6}};
    for (size_t k = 0; k < sizeof change / sizeof *change; ++k) {
        Turned a, b;
        makeTurned(&a, &none);
        makeTurned(&b, &change[k]);
        for (int n = 0; n < STEPS; ++n) {
            stepTurned(&a, n);
            stepTurned(&b, n);
            compare(&a, &b, n);
        }
        freeTwin(&a.t);
        freeTwin(&b.t);
    }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(turnedWorldsMoveAlike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
