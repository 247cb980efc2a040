/* Friction of joints that turn, about every axis they have: the rows are the turning of one body against the other, the
 * torque is within mu R F, F the force that the joint's feedback tells, as much as that and against the motion where it
 * turns, and a ball's across its load is a round disc.  (Closed forms: worlds/test_friction_turning.c.) */
#include "support/repeats.h"
#include "support/twin.h"
#include "support/uniform.h"

#include "linalg/vec3.h"
#include "ode/rows/rows.h"
#include "ode/world/world.h"
#include "problem/residual.h"

enum { SEEDS = 12, HINGES = REPEATS(20), STEPS = 40, LAW_MOST = 3 };
static const double h = 1e-3;
static const spragJointFriction law = {.mu = 0.2, .mu_static = 0.2, .radius = 0.05};

/* One body, or two, on a joint that lies anyhow. */
static dJointID makeJoint(Twin *t, dJointType type, int to_world, unsigned long long *seed)
{
    makeTwin(t, 1);
    for (int i = 0; i < 2; ++i) {
        dBodySetLinearVel(addBox(t, uniform(seed), uniform(seed), uniform(seed)), uniform(seed), 0, uniform(seed));
        dBodySetAngularVel(t->body[i], 3 * uniform(seed), 3 * uniform(seed), 3 * uniform(seed));
    }
    const dJointID joint = type == dJointTypeHinge       ? dJointCreateHinge(t->world, 0)
                           : type == dJointTypeUniversal ? dJointCreateUniversal(t->world, 0)
                                                         : dJointCreateBall(t->world, 0);
    const double x = uniform(seed), y = uniform(seed), z = uniform(seed);
    dJointAttach(joint, t->body[0], to_world ? NULL : t->body[1]);
    if (type == dJointTypeHinge) {
        dJointSetHingeAnchor(joint, x, y, z);
        dJointSetHingeAxis(joint, uniform(seed), uniform(seed), uniform(seed));
    } else if (type == dJointTypeUniversal) {
        dJointSetUniversalAnchor(joint, x, y, z);
        dJointSetUniversalAxis1(joint, 0, 0.6, 0.8);
        dJointSetUniversalAxis2(joint, 1, 0, 0);
    } else {
        dJointSetBallAnchor(joint, x, y, z);
    }
    assert_int_equal(spragJointSetFriction(t->sprag, joint, &law), SPRAG_OK);
    return joint;
}

/* Of a row: the axis, and how fast the bodies turned about it against each other in the end, rad/s. */
static double turnOf(const Twin *t, int to_world, const spragBlock *block, int row, double axis[3])
{
    const dReal *a = dBodyGetAngularVel(t->body[0]), *b = dBodyGetAngularVel(t->body[1]);
    double speed = 0;
    for (int i = 0; i < 3; ++i) {
        assert_true(block->J[0][row][i] == 0 && block->J[1][row][i] == 0);
        axis[i] = block->J[0][row][3 + i] / block->length[row];
        assert_true(to_world || block->J[1][row][3 + i] == -block->J[0][row][3 + i]);
        speed += axis[i] * (a[i] - (to_world ? 0 : b[i]));
    }
    CHECK_NEAR(spragNorm3(axis), 1, 1e-9);
    return speed;
}

/* Torques and speeds about the axes of one law (an axis alone, or the two of a disc); W: about these, 1/(kg m^2); L: m,
 * the length by which they are judged. */
static void checkLaw(int axes, const double *torque, const double *speed, double bound, const double *W, double L)
{
    const double accuracy = 1e-9 / L; /* rad/s, of the bound: a tenth of the tolerance (ode/islands/bounded.c) */
    double M = 0, w = 0, power = 0;
    for (int i = 0; i < axes; ++i)
        M = hypot(M, torque[i]), w = hypot(w, speed[i]), power += torque[i] * speed[i];
    const double weight = axes == 1 ? W[0] : fmax(W[0], W[1]);
    assert_true((M - bound) * h * weight <= accuracy);
    if (w < 1e-6)
        return;
    CHECK_NEAR(M * h * weight, bound * h * weight, accuracy);
    CHECK_NEAR(power, -M * w, 1e-4 * M * w);
}

/* direction: of the force in the last step; in the first, in this one. */
static void checkStep(const Twin *t, dJointType type, int to_world, double force, const double direction[3])
{
    const spragIsland *island = &t->sprag->snapshot.island[0];
    const double bound = law.mu * law.radius * force;
    double torque[LAW_MOST], speed[LAW_MOST], W[LAW_MOST], axis[LAW_MOST][3];
    const double L = spragLengthOf(&t->sprag->snapshot, island->block[0].body);
    int rows = 0;
    for (int k = 0; k < island->block_count; ++k)
        for (int row = 0; row < 3; ++row)
            if (!island->block[k].unused[row]) {
                assert_true(rows < LAW_MOST);
                torque[rows] = island->r[3 * k + row] * L / h;
                W[rows] = island->problem.W[9 * spragProblemDiagonal(&island->problem, k) + 4 * row] / (L * L);
                speed[rows] = turnOf(t, to_world, &island->block[k], row, axis[rows]);
                CHECK_NEAR(island->u[3 * k + row] / L, speed[rows], 1e-9);
                ++rows;
            }
    if (type != dJointTypeBall) {
        assert_int_equal(rows, type == dJointTypeHinge ? 1 : 2);
        for (int i = 0; i < rows; ++i)
            checkLaw(1, torque + i, speed + i, bound, W + i, L);
        return;
    }
    assert_int_equal(rows, 3); /* two across the load, one along it */
    CHECK_NEAR(spragDot3(axis[0], axis[1]), 0, 1e-12);
    CHECK_NEAR(fabs(spragDot3(axis[2], direction)), spragNorm3(direction), 1e-9);
    checkLaw(2, torque, speed, bound, W, L);
    checkLaw(1, torque + 2, speed + 2, bound, W + 2, L);
}

static void torquesFitTheForce(void **state)
{
    (void)state;
    static const dJointType types[3] = {dJointTypeHinge, dJointTypeUniversal, dJointTypeBall};
    for (unsigned long long k = 1; k <= SEEDS; ++k)
        for (int type = 0; type < 3; ++type) {
            unsigned long long seed = k;
            const int to_world = k & 1;
            double direction[3] = {0, 0, 0};
            Twin t;
            dJointFeedback feedback;
            dJointSetFeedback(makeJoint(&t, types[type], to_world, &seed), &feedback);
            for (int n = 0; n < STEPS; ++n) {
                step(&t, h);
                assert_true(spragWorldGetStepInfo(t.sprag).residual <= 1e-8);
                const double F[3] = {feedback.f1[0], feedback.f1[1], feedback.f1[2]}, force = spragNorm3(F);
                for (int i = 0; i < 3 && n == 0; ++i)
                    direction[i] = F[i] / force;
                checkStep(&t, types[type], to_world, force, direction);
                for (int i = 0; i < 3; ++i)
                    direction[i] = F[i] / force;
            }
            freeTwin(&t);
        }
}

/* A body falls from rest on a ball, in a world that is turned by R: how it turns after one step, in its own axes. */
static void fallOnBall(unsigned long long seed, const dMatrix3 R, double w[3])
{
    const spragJointFriction rough = {.mu = 0.3, .mu_static = 0.3, .radius = 0.08};
    Twin t;
    makeTwin(&t, 1);
    dWorldSetGravity(t.world, -9.81 * R[2], -9.81 * R[6], -9.81 * R[10]);
    const dBodyID body = t.body[t.count++] = dBodyCreate(t.world);
    dMass mass;
    dMassSetParameters(&mass, 1, 0, 0, 0, 0.15 + 0.05 * uniform(&seed), 0.15 + 0.05 * uniform(&seed),
                       0.15 + 0.05 * uniform(&seed), 0, 0, 0);
    dBodySetMass(body, &mass);
    dBodySetRotation(body, R);
    dVector3 anchor;
    dBodyGetRelPointPos(body, 0.5 * uniform(&seed), 0.5 * uniform(&seed), 0.5 * uniform(&seed), anchor);
    const dJointID joint = dJointCreateBall(t.world, 0);
    dJointAttach(joint, body, NULL);
    dJointSetBallAnchor(joint, anchor[0], anchor[1], anchor[2]);
    assert_int_equal(spragJointSetFriction(t.sprag, joint, &rough), SPRAG_OK);
    step(&t, h);
    dVector3 own;
    const dReal *world = dBodyGetAngularVel(body);
    dBodyVectorFromWorld(body, world[0], world[1], world[2], own);
    memcpy(w, own, 3 * sizeof *w);
    freeTwin(&t);
}

/* A ball begins with axes of the world's, and must not remember them. */
static void theFirstStepHasNoAxes(void **state)
{
    (void)state;
    unsigned long long seed = 5;
    for (unsigned long long k = 1; k <= 200; ++k) {
        const dMatrix3 one = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        dMatrix3 R;
        double w[3], turned[3];
        dRFromAxisAndAngle(R, uniform(&seed), uniform(&seed), uniform(&seed), 3 * uniform(&seed));
        fallOnBall(k, one, w);
        fallOnBall(k, R, turned);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(turned[i], w[i], 1e-5);
    }
}

/* Bounds follow from the answer; a dump has those that the answer was found for, and the judge says of it what the step
 * said.  Two boxes on the floor on two hinges, which corners and friction share the load of. */
static void theProblemIsTheOneThatWasSolved(void **state)
{
    (void)state;
    for (unsigned long long k = 1; k <= HINGES; ++k) {
        const spragJointFriction rough = {.mu = 0.6, .radius = 0.2};
        unsigned long long seed = k;
        Twin t;
        makeTwin(&t, 1);
        for (int b = 0; b < 2; ++b) {
            dBodySetLinearVel(addBox(&t, 1.2 * b, 0, 0.1995), uniform(&seed), uniform(&seed), uniform(&seed));
            dBodySetAngularVel(t.body[b], uniform(&seed), uniform(&seed), uniform(&seed));
            const dJointID hinge = dJointCreateHinge(t.world, 0);
            dJointAttach(hinge, t.body[b], b == 0 ? NULL : t.body[0]);
            dJointSetHingeAnchor(hinge, 1.2 * b + 0.4 * uniform(&seed), 0.4 * uniform(&seed),
                                 0.2 + 0.4 * uniform(&seed));
            dJointSetHingeAxis(hinge, uniform(&seed), uniform(&seed), uniform(&seed));
            assert_int_equal(spragJointSetFriction(t.sprag, hinge, &rough), SPRAG_OK);
        }
        for (int n = 0; n < 20; ++n) {
            addCorners(&t, t.body[0], 0.5);
            addCorners(&t, t.body[1], 0.5);
            step(&t, 0.005);
            const spragIsland *island = &t.sprag->snapshot.island[0];
            if (island->unsettled || island->wedge.speed > 0 || island->locked > 0)
                continue;
            assert_true(spragProblemResidual(&island->problem, island->r) <= 1.001 * island->solve.residual + 1e-12);
        }
        freeTwin(&t);
    }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(torquesFitTheForce), cmocka_unit_test(theFirstStepHasNoAxes),
                                       cmocka_unit_test(theProblemIsTheOneThatWasSolved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
