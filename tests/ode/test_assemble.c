/* The problem of an island against the dense matrices it stands for,
 *     W = J M^-1 J^T + C - Z^T A^-1 Z,   Z = E M^-1 J^T,   A = E M^-1 E^T + c,
 * E the equality rows of its joints; and against what the bodies do: u = W r + q is J v at the end of the step.  Boxes
 * on the ground and leaning on each other, with and without hinges, one of them moving as it likes. */
#include "support/twin.h"

#include <stdlib.h>

#include "linalg/lu.h"
#include "ode/joints/articulation.h"
#include "ode/world/world.h"

enum { BOXES = 4, HINGE_ROWS = 5, ROWS_MAX = 64 };

/* A row of either kind: its bodies, and what it is along them. */
typedef struct Row {
    const int *body;
    const double *J[2]; /* (6) each */
} Row;

static Row rowOf(const spragBlock *block, int row)
{
    return (Row){block->body, {block->J[0][row], block->J[1][row]}};
}

static Row equalityOf(const spragEqualityRow *row)
{
    return (Row){row->body, {row->J[0], row->J[1]}};
}

/* a M^-1 b^T */
static double couple(const spragSnapshot *s, Row a, Row b)
{
    double sum = 0;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            if (a.body[i] < 0 || a.body[i] != b.body[j] || s->body[a.body[i]].kinematic)
                continue;
            const spragBodyState *body = &s->body[a.body[i]];
            for (int x = 0; x < 3; ++x) {
                sum += body->inverse_mass * a.J[i][x] * b.J[j][x];
                for (int y = 0; y < 3; ++y)
                    sum += a.J[i][3 + x] * body->inverse_inertia[3 * x + y] * b.J[j][3 + y];
            }
        }
    return sum;
}

/* Z (m x n) and A^-1 Z of an island with m equality rows and n rows of blocks. */
static void eliminate(const spragSnapshot *s, const spragIsland *island, double *Z, double *solved)
{
    static double A[ROWS_MAX * ROWS_MAX], column[ROWS_MAX];
    int pivot[ROWS_MAX];
    const int m = island->row_count, n = 3 * island->block_count;
    assert_true(m <= ROWS_MAX);
    for (int e = 0; e < m; ++e) {
        const Row row = equalityOf(&island->row[e]);
        for (int f = 0; f < m; ++f)
            A[m * e + f] = couple(s, row, equalityOf(&island->row[f])) + (e == f ? island->row[e].compliance : 0);
        for (int k = 0; k < n; ++k)
            Z[n * e + k] = couple(s, row, rowOf(&island->block[k / 3], k % 3));
    }
    assert_int_equal(spragLuFactor(m, A, pivot, 0), m);
    for (int k = 0; k < n; ++k) {
        for (int e = 0; e < m; ++e)
            column[e] = Z[n * e + k];
        spragLuSolve(m, A, pivot, column);
        for (int e = 0; e < m; ++e)
            solved[n * e + k] = column[e];
    }
}

/* Stored blocks in a full matrix; columns ascend, every block has its mirror, to the bit. */
static void unpack(const spragProblem *p, double *W)
{
    const int n = 3 * p->contact_count;
    for (int k = 0; k < p->contact_count; ++k)
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
            assert_true(e == p->row_start[k] || p->column[e - 1] < p->column[e]);
            for (int i = 0; i < 9; ++i)
                W[n * (3 * k + i / 3) + 3 * p->column[e] + i % 3] = p->W[9 * e + i];
        }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            assert_true(W[n * i + j] == W[n * j + i]);
}

static void checkIsland(const spragSnapshot *s, const spragIsland *island)
{
    const int n = 3 * island->block_count, m = island->row_count;
    double *W = calloc((size_t)(n * n), sizeof *W), *Z = calloc((size_t)(m * n + 1), sizeof *Z),
           *Y = calloc((size_t)(m * n + 1), sizeof *Y);
    assert_true(W != NULL && Z != NULL && Y != NULL);
    assert_int_equal(island->problem.contact_count, island->block_count);
    unpack(&island->problem, W);
    if (m > 0)
        eliminate(s, island, Z, Y);
    for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l) {
            const spragBlock *a = &island->block[k / 3], *b = &island->block[l / 3];
            if (a->unused[k % 3] || b->unused[l % 3])
                continue;
            double dense = couple(s, rowOf(a, k % 3), rowOf(b, l % 3)) + (k == l ? a->compliance[k % 3] : 0);
            for (int e = 0; e < m; ++e)
                dense -= Z[n * e + k] * Y[n * e + l];
            CHECK_NEAR(W[n * k + l], dense, 1e-9);
        }
    free(W);
    free(Z);
    free(Y);
}

static void makeRow(Twin *t, int hinges, int kinematic)
{
    makeTwin(t, 1);
    for (int i = 0; i < BOXES; ++i) {
        dBodyID box = addBox(t, 1.0 * i, 0.05 * i, 0.2);
        dBodySetLinearVel(box, 0.3 * i, 0.1, 0);
        if (i == 0 || !hinges)
            continue;
        dJointID joint = dJointCreateHinge(t->world, 0);
        dJointAttach(joint, t->body[i - 1], box);
        dJointSetHingeAnchor(joint, i - 0.5, 0, 0.1);
        dJointSetHingeAxis(joint, 0.6, 0.8, 0);
    }
    if (kinematic)
        dBodySetKinematic(t->body[2]);
}

static void stepRow(Twin *t)
{
    for (int i = 0; i < BOXES; ++i) {
        addCorners(t, t->body[i], 0.3 + 0.1 * i);
        for (int k = 0; k < 2 && i > 0; ++k) {
            dContact contact = planeContact(i - 0.5, k ? 0.3 : -0.3, 0.2, 0.4);
            contact.geom.normal[0] = 1, contact.geom.normal[2] = 0;
            contact.surface.mode |= dContactMu2 | dContactSoftCFM | dContactSlip1 | dContactMotion1;
            contact.surface.mu2 = 0.2, contact.surface.soft_cfm = 1e-4, contact.surface.slip1 = 1e-3;
            contact.surface.motion1 = 0.01;
            addContact(t, &contact, t->body[i], t->body[i - 1]);
        }
    }
    step(t, 1e-2);
}

static void matrixIsTheDenseProduct(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; ++kind) {
        Twin t;
        makeRow(&t, kind & 1, kind >> 1);
        for (int k = 0; k < 5; ++k) {
            stepRow(&t);
            const spragSnapshot *s = &t.sprag->snapshot;
            int blocks = 0, rows = 0;
            for (int i = 0; i < s->island_count; ++i) {
                if (s->island[i].lone != NULL)
                    continue;
                assert_null(s->island[i].declined);
                checkIsland(s, &s->island[i]);
                blocks += s->island[i].block_count, rows += s->island[i].row_count;
            }
            assert_true(blocks >= 8);
            assert_int_equal(rows, kind & 1 ? (BOXES - 1) * HINGE_ROWS : 0);
        }
        freeTwin(&t);
    }
}

/* J v after the step, plus what turns with the bodies, less what the rows ask for. */
static void velocitiesAreThoseOfTheBodies(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; ++kind) {
        Twin t;
        makeRow(&t, kind & 1, kind >> 1);
        stepRow(&t);
        const spragSnapshot *s = &t.sprag->snapshot;
        for (int i = 0; i < s->island_count; ++i)
            for (int k = 0; k < 3 * s->island[i].block_count; ++k) {
                const spragBlock *block = &s->island[i].block[k / 3];
                const int row = k % 3;
                double u = s->step * block->product[row] - block->rhs[row] + block->compliance[row] * s->island[i].r[k];
                for (int side = 0; side < 2; ++side)
                    for (int x = 0; x < 6 && block->body[side] >= 0; ++x) {
                        const dBodyID body = s->body[block->body[side]].id;
                        const double v = x < 3 ? dBodyGetLinearVel(body)[x] : dBodyGetAngularVel(body)[x - 3];
                        u += block->J[side][row][x] * v;
                    }
                CHECK_NEAR(s->island[i].u[k], u, 1e-9);
            }
        freeTwin(&t);
    }
}

/* What departs and bore nothing is parted, whether it yields (slip) or not, and is held again once it is pressed. */
static void whatDepartsIsParted(void **state)
{
    (void)state;
    dJointFeedback feedback;
    for (int yields = 0; yields < 2; ++yields) {
        Twin t;
        makeTwin(&t, 1);
        const dBodyID box = addBox(&t, 0, 0, 0.2);
        dContact contact = planeContact(0, 0, 0, dInfinity);
        if (yields)
            contact.surface.mode |= dContactSlip1 | dContactSlip2;
        contact.surface.slip1 = contact.surface.slip2 = 1e-3;
        for (int k = 0; k < 3; ++k) {
            const int pressed = k == 2;
            dBodySetLinearVel(box, pressed ? 0.5 : 0, 0, pressed ? -1 : 1);
            dJointSetFeedback(addContact(&t, &contact, box, 0), &feedback); /* its island has blocks */
            step(&t, 1e-4);
            const spragIsland *island = &t.sprag->snapshot.island[0];
            assert_int_equal(island->block_count, 1);
            for (int row = 1; row < 3; ++row)
                assert_true(island->bound[3 + row] == (pressed ? INFINITY : 0));
            assert_true(pressed == (island->r[1] != 0 || island->r[2] != 0));
        }
        CHECK_NEAR(dBodyGetLinearVel(box)[2], 0, 1e-5); /* but for CFM */
        freeTwin(&t);
    }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrixIsTheDenseProduct),
                                       cmocka_unit_test(velocitiesAreThoseOfTheBodies),
                                       cmocka_unit_test(whatDepartsIsParted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
