/* Bounds that follow from the answer, of all joints together, against dense equations: a plane chain of links on hinges
 * with friction, in one step from given velocities,
 *
 *     M v+ = M v + h f + G^T lambda + D^T t,    G v+ = 0,    t_j = -mu R |lambda_j| sgn(w_j+),    w = D v,
 *
 * by elimination for given signs and loads |lambda_j|, and these again until they are their own. */
#include <math.h>
#include <string.h>

#include "linalg/lu.h"
#include "ode/world/world.h"
#include "support/joint_friction.h"

enum { LINKS = 4, SEEDS = 60, N = 5 * LINKS, ROUNDS = 200 };

typedef struct Chain {
    double mass[LINKS], inertia[LINKS], angle[LINKS], length[LINKS], rate[LINKS]; /* kg, kg m^2, rad, m, rad/s */
    double mu, radius, h;
    double centre[LINKS][2], joint[LINKS][2]; /* m: x, z */
    double v[LINKS][3];                       /* m/s, m/s, rad/s about -y: x to z */
} Chain;

static void drawChain(Chain *c, unsigned long long *draw)
{
    double end[2] = {0, 0}, velocity[2] = {0, 0};
    *c = (Chain){.mu = 0.1 + 0.4 * drawn(draw), .radius = 0.05 + 0.05 * drawn(draw), .h = 0.002 + 0.008 * drawn(draw)};
    for (int i = 0; i < LINKS; ++i) {
        c->mass[i] = 0.5 + 2 * drawn(draw);
        c->inertia[i] = 0.02 + 0.1 * drawn(draw);
        c->length[i] = 0.3 + 0.4 * drawn(draw);
        c->angle[i] = 6.28 * drawn(draw);
        c->rate[i] = (i % 2 ? -1 : 1) * (2 + 4 * drawn(draw)); /* every joint turns */
        const double half[2] = {0.5 * c->length[i] * cos(c->angle[i]), 0.5 * c->length[i] * sin(c->angle[i])};
        for (int k = 0; k < 2; ++k) {
            const double turned = c->rate[i] * (k == 0 ? -half[1] : half[0]);
            c->joint[i][k] = end[k];
            c->centre[i][k] = end[k] + half[k];
            c->v[i][k] = velocity[k] + turned;
            end[k] += 2 * half[k];
            velocity[k] += 2 * turned;
        }
        c->v[i][2] = c->rate[i];
    }
}

/* v+ (3 LINKS) and lambda (2 LINKS) for loads (LINKS), N s, and signs of the joints' rates. */
static void eliminate(const Chain *c, const double *load, const int *sign, double *x)
{
    double A[N * N] = {0};
    int pivot[N];
    memset(x, 0, N * sizeof *x);
    for (int i = 0; i < LINKS; ++i) {
        for (int k = 0; k < 3; ++k) {
            const double m = k < 2 ? c->mass[i] : c->inertia[i];
            A[N * (3 * i + k) + 3 * i + k] = m;
            x[3 * i + k] = m * (c->v[i][k] - (k == 1 ? c->h * G : 0));
        }
        const double torque = -c->mu * c->radius * load[i] * sign[i];
        x[3 * i + 2] += torque;
        if (i > 0)
            x[3 * (i - 1) + 2] -= torque;
    }
    for (int j = 0; j < LINKS; ++j)
        for (int side = 0; side < 2 && j - side >= 0; ++side) /* link j, and the one before it */
            for (int k = 0; k < 2; ++k) {
                const int i = j - side, row = 3 * LINKS + 2 * j + k;
                const double s = side == 0 ? 1 : -1,
                             arm = k == 0 ? -(c->joint[j][1] - c->centre[i][1]) : c->joint[j][0] - c->centre[i][0];
                A[N * row + 3 * i + k] = s, A[N * row + 3 * i + 2] = s * arm;
                A[N * (3 * i + k) + row] = -s, A[N * (3 * i + 2) + row] = -s * arm;
            }
    assert_int_equal(spragLuFactor(N, A, pivot, 1e-14), N);
    spragLuSolve(N, A, pivot, x);
}

/* 1: the signs stay those of before the step. */
static int solveChain(const Chain *c, double *x)
{
    double load[LINKS] = {0};
    int sign[LINKS];
    for (int j = 0; j < LINKS; ++j)
        sign[j] = c->rate[j] - (j > 0 ? c->rate[j - 1] : 0) > 0 ? 1 : -1;
    double change = 1;
    for (int k = 0; k < ROUNDS && change > 1e-14; ++k) {
        eliminate(c, load, sign, x);
        change = 0;
        for (int j = 0; j < LINKS; ++j) {
            const double now = hypot(x[3 * LINKS + 2 * j], x[3 * LINKS + 2 * j + 1]);
            change = fmax(change, fabs(now - load[j]));
            load[j] = now;
        }
    }
    int same = change <= 1e-14;
    for (int j = 0; j < LINKS; ++j)
        same &= sign[j] * (x[3 * j + 2] - (j > 0 ? x[3 * j - 1] : 0)) > 1e-3;
    return same;
}

static void makeChain(const Chain *c, Twin *t, dBodyID *body)
{
    open(t);
    for (int i = 0; i < LINKS; ++i) {
        body[i] = makeBody(t, c->mass[i], c->inertia[i], c->centre[i][0], 0, c->centre[i][1]);
        dBodySetLinearVel(body[i], c->v[i][0], 0, c->v[i][1]);
        dBodySetAngularVel(body[i], 0, -c->v[i][2], 0);
        const dJointID hinge = dJointCreateHinge(t->world, 0);
        dJointAttach(hinge, body[i], i > 0 ? body[i - 1] : 0);
        dJointSetHingeAnchor(hinge, c->joint[i][0], 0, c->joint[i][1]);
        dJointSetHingeAxis(hinge, 0, 1, 0);
        setFriction(t, hinge, (spragJointFriction){.mu = c->mu, .mu_static = -1, .radius = c->radius});
    }
}

static void boundsAreThoseOfDenseEquations(void **state)
{
    (void)state;
    int checked = 0;
    for (unsigned long long seed = 1; seed <= SEEDS; ++seed) {
        unsigned long long draw = seed;
        Chain chain;
        Twin t;
        dBodyID body[LINKS];
        double x[N];
        drawChain(&chain, &draw);
        if (!solveChain(&chain, x))
            continue;
        makeChain(&chain, &t, body);
        step(&t, chain.h);
        assert_true(spragWorldGetStepInfo(t.sprag).residual <= 1e-8);
        assert_int_equal(t.sprag->snapshot.island[0].unsettled, 0);
        for (int i = 0; i < LINKS; ++i) {
            CHECK_NEAR(dBodyGetLinearVel(body[i])[0], x[3 * i], 2e-8);
            CHECK_NEAR(dBodyGetLinearVel(body[i])[2], x[3 * i + 1], 2e-8);
            CHECK_NEAR(-dBodyGetAngularVel(body[i])[1], x[3 * i + 2], 2e-8);
        }
        freeTwin(&t);
        ++checked;
    }
    assert_in_range(checked, SEEDS * 2 / 3, SEEDS);
}

/* What is within the tolerance is solved, if sweeps came last too: else no end of a bearing is turned.  A board falls
 * on four wheels. */
static void whatSweepsEndIsSolved(void **state)
{
    enum { WHEELS = 4, STEPS = 60 };
    (void)state;
    for (unsigned long long seed = 1; seed <= 10; ++seed) {
        unsigned long long draw = seed;
        const double R = 0.12, mu = 0.1 + 0.5 * drawn(&draw);
        const dJointGroupID group = dJointGroupCreate(0);
        dBodyID wheel[WHEELS];
        Twin t;
        open(&t);
        const dBodyID board = makeBody(&t, 24, 1, 0, 0, 0.3);
        for (int i = 0; i < WHEELS; ++i) {
            const double x = i < 2 ? 0.3 : -0.3, y = i % 2 ? 0.28 : -0.28;
            wheel[i] = makeBody(&t, 5, 0.03, x, y, R + 0.1 * drawn(&draw));
            const dJointID hinge = dJointCreateHinge(t.world, 0);
            dJointAttach(hinge, board, wheel[i]);
            dJointSetHingeAnchor(hinge, x, y, dBodyGetPosition(wheel[i])[2]);
            dJointSetHingeAxis(hinge, 0, 1, 0);
            setFriction(&t, hinge, (spragJointFriction){.mu = mu, .mu_static = -1, .radius = 0.02});
        }
        for (int k = 0; k < STEPS; ++k) {
            for (int i = 0; i < WHEELS; ++i) {
                const dReal *p = dBodyGetPosition(wheel[i]);
                dContact c = {.surface = {.mode = dContactApprox1, .mu = 0.6},
                              .geom = {.pos = {p[0], p[1], 0}, .normal = {0, 0, 1}, .depth = R - p[2]}};
                if (p[2] < R)
                    dJointAttach(dJointCreateContact(t.world, group, &c), wheel[i], 0);
            }
            step(&t, 1 / 60.0);
            dJointGroupEmpty(group);
            const spragSolveInfo *solve = &t.sprag->snapshot.island[0].solve;
            assert_true(solve->residual > 1e-8 || solve->status == SPRAG_OK);
        }
        freeTwin(&t);
        dJointGroupDestroy(group);
    }
}

int main(void)
{
    dInitODE();
    const struct CMUnitTest tests[] = {cmocka_unit_test(boundsAreThoseOfDenseEquations),
                                       cmocka_unit_test(whatSweepsEndIsSolved)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
