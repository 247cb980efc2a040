/* The ends of a sliding bearing hold what the joint's own rows hold, no more and no less: each normal row, with what it
 * asks for, is a sum of multiples of ODE's rows, and with the row that keeps a slider from turning they have as many
 * directions.  In any position, also of joints that have drifted apart. */
#include "support/twin.h"
#include "support/uniform.h"

#include "linalg/lu.h"
#include "ode/joints/bearing.h"
#include "ode/rows/joint_rows.h"
#include "ode/world/world.h"

enum { WIDE = 12, SEEDS = 40 };
static const double h = 1.0 / 240;
static const spragJointFriction law = {.mu = 0.3, .mu_static = 0.3, .length = 0.4, .half_width = 0.03};

/* Rows over the velocities of both bodies, and what they ask for. */
typedef struct Rows {
    int count;
    double J[SPRAG_JOINT_ROW_MAX][WIDE], rhs[SPRAG_JOINT_ROW_MAX];
} Rows;

static void addRow(Rows *rows, const double *first, const double *second, double rhs)
{
    memcpy(rows->J[rows->count], first, 6 * sizeof(double));
    memcpy(rows->J[rows->count] + 6, second, 6 * sizeof(double));
    rows->rhs[rows->count++] = rhs;
}

static double dot(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < WIDE; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* LU of the rows' products with each other; returns their rank. */
static int factor(const Rows *rows, double *gram, int *pivot)
{
    for (int i = 0; i < rows->count; ++i)
        for (int j = 0; j < rows->count; ++j)
            gram[rows->count * i + j] = dot(rows->J[i], rows->J[j]);
    return spragLuFactor(rows->count, gram, pivot, 1e-9);
}

/* Row k of `some` is sum c_i all_i, with the same sum of what is asked for. */
static void checkWithin(const Rows *some, const Rows *all)
{
    double gram[SPRAG_JOINT_ROW_MAX * SPRAG_JOINT_ROW_MAX], c[SPRAG_JOINT_ROW_MAX];
    int pivot[SPRAG_JOINT_ROW_MAX];
    assert_int_equal(factor(all, gram, pivot), all->count);
    for (int k = 0; k < some->count; ++k) {
        double rhs = 0, J[WIDE] = {0};
        for (int i = 0; i < all->count; ++i)
            c[i] = dot(all->J[i], some->J[k]);
        spragLuSolve(all->count, gram, pivot, c);
        for (int i = 0; i < all->count; ++i) {
            rhs += c[i] * all->rhs[i];
            for (int x = 0; x < WIDE; ++x)
                J[x] += c[i] * all->J[i][x];
        }
        CHECK_NEAR(some->rhs[k], rhs, 1e-9);
        for (int x = 0; x < WIDE; ++x)
            CHECK_NEAR(some->J[k][x], J[x], 1e-9);
    }
}

static void turnAnyWay(dBodyID body, double most, unsigned long long *seed)
{
    const dReal *q = dBodyGetQuaternion(body);
    dQuaternion by, turned;
    dQFromAxisAndAngle(by, uniform(seed), uniform(seed), uniform(seed), most * uniform(seed));
    dQMultiply0(turned, by, q);
    dBodySetQuaternion(body, turned);
}

/* The joint of two boxes, or of one and the world, that lie anyhow; then they drift. */
static dJointID makeJoint(Twin *t, int piston, int to_world, unsigned long long *seed)
{
    makeTwin(t, 1);
    for (int i = 0; i < 2; ++i) {
        turnAnyWay(addBox(t, uniform(seed), uniform(seed), uniform(seed)), 3, seed);
        dBodySetLinearVel(t->body[i], uniform(seed), uniform(seed), uniform(seed));
        dBodySetAngularVel(t->body[i], uniform(seed), uniform(seed), uniform(seed));
    }
    const dJointID joint = piston ? dJointCreatePiston(t->world, 0) : dJointCreateSlider(t->world, 0);
    dJointAttach(joint, t->body[0], to_world ? NULL : t->body[1]);
    const double axis[3] = {uniform(seed), uniform(seed), uniform(seed)};
    if (piston) {
        dJointSetPistonAnchor(joint, uniform(seed), uniform(seed), uniform(seed));
        dJointSetPistonAxis(joint, axis[0], axis[1], axis[2]);
    } else {
        dJointSetSliderAxis(joint, axis[0], axis[1], axis[2]);
    }
    const dReal *x = dBodyGetPosition(t->body[0]);
    dBodySetPosition(t->body[0], x[0] + 0.02 * uniform(seed), x[1] + 0.02 * uniform(seed), x[2] + 0.02 * uniform(seed));
    turnAnyWay(t->body[0], 0.02, seed);
    assert_int_equal(spragJointSetFriction(t->sprag, joint, &law), SPRAG_OK);
    return joint;
}

static void endsHoldWhatTheJointHolds(void **state)
{
    (void)state;
    for (unsigned long long k = 1; k <= SEEDS; ++k) {
        unsigned long long seed = k;
        const int piston = k & 1, to_world = k >> 1 & 1;
        Twin t;
        const dJointID joint = makeJoint(&t, piston, to_world, &seed);
        spragJointRowSet own;
        Rows of_joint = {0}, of_ends = {0};
        const int count = spragJointRows(joint, 1 / h, dWorldGetERP(t.world), dWorldGetCFM(t.world), &own);
        assert_int_equal(count, piston ? 4 : 5);
        for (int i = 0; i < count; ++i)
            addRow(&of_joint, own.J1[i], own.J2[i], own.rhs[i]);
        step(&t, h);
        const spragIsland *island = &t.sprag->snapshot.island[0];
        assert_null(island->declined);
        assert_int_equal(island->block_count, 2 * SPRAG_BEARING_ENDS);
        assert_int_equal(island->row_count, piston ? 0 : 1);
        for (int b = 0; b < island->block_count; ++b)
            addRow(&of_ends, island->block[b].J[0][0], island->block[b].J[1][0], island->block[b].rhs[0]);
        for (int e = 0; e < island->row_count; ++e)
            addRow(&of_ends, island->row[e].J[0], island->row[e].J[1], island->row[e].asked);
        checkWithin(&of_ends, &of_joint);
        checkWithin(&of_joint, &of_ends);
        freeTwin(&t);
    }
}

/* N s and N m s on the first body from one end's blocks. */
static void impulseOf(const spragIsland *island, double sum[6])
{
    memset(sum, 0, 6 * sizeof *sum);
    for (int k = 0; k < 2; ++k)
        for (int row = 0; row < 3; ++row)
            for (int i = 0; i < 6; ++i)
                sum[i] += island->r[3 * k + row] * island->block[k].J[0][row][i];
}

/* An end that bears 1e6 N s, slides and is off its reaction by 1e-6 is turned: what it hands on stays as it is,
 * friction around the axis too.  It is not turned where it is as far off as the last time. */
static void turnedAsTheyBear(void **state)
{
    (void)state;
    for (unsigned long long k = 1; k <= SEEDS; k += 2) {
        unsigned long long seed = k;
        Twin t;
        makeJoint(&t, 1, k >> 1 & 1, &seed);
        step(&t, h);
        spragIsland *island = &t.sprag->snapshot.island[0];
        const double r[6] = {1e6, -1e5, -2e5, 1, 0, 0};
        double before[6], after[6], off = INFINITY;
        memset(island->r, 0, 3 * (size_t)island->block_count * sizeof *island->r);
        memcpy(island->r, r, sizeof r);
        island->u[1] = 0.1, island->u[2] = 0.2;
        const int faces_done = 3; /* rounds after which faces stay */
        impulseOf(island, before);
        assert_true(spragBearingsTurn(t.sprag, island, faces_done, &off));
        impulseOf(island, after);
        for (int i = 0; i < 6; ++i)
            CHECK_NEAR(after[i], before[i], 10);
        CHECK_NEAR(island->r[3], 0, 1e-3);
        assert_true(off > 0 && off < INFINITY);
        island->r[3] = 1;
        assert_false(spragBearingsTurn(t.sprag, island, faces_done, &off));
        assert_true(island->r[3] == 1);
        freeTwin(&t);
    }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(endsHoldWhatTheJointHolds), cmocka_unit_test(turnedAsTheyBear)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
