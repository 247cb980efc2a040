/* The problem of a body alone on the ground, which was solved without one: W, q and history as by hand, and solved by
 * the forces that the step found. */
#include "support/twin.h"

#include "base/alloc.h"
#include "linalg/vec3.h"
#include "ode/islands/lone.h"
#include "ode/world/world.h"
#include "problem/residual.h"

#define STEP 1e-3 /* s */
#define MU 0.5
#define MASS 2.0 /* kg, of the boxes of a twin: 1 x 0.8 x 0.4 m */
static const double inertia[3] = {MASS / 12 * (0.64 + 0.16), MASS / 12 * (1 + 0.16), MASS / 12 * (1 + 0.64)};

/* That of the only island; in the arena. */
static spragProblem problemOf(const Twin *t, spragArena *arena)
{
    const spragIsland *island = &t->sprag->snapshot.island[0];
    spragProblem problem;
    assert_int_equal(t->sprag->snapshot.island_count, 1);
    assert_non_null(island->lone);
    assert_int_equal(spragLoneProblem(t->sprag, island, arena, &problem), 1);
    return problem;
}

/* N s along n, t1, t2, as the contacts of the step say. */
static void impulsesOf(const Twin *t, int count, double *r)
{
    const spragContact *contact = lastContacts(t, count);
    for (int k = 0; k < count; ++k) {
        dVector3 t1, t2;
        const dVector3 n = {contact[k].normal[0], contact[k].normal[1], contact[k].normal[2]};
        dPlaneSpace(n, t1, t2);
        r[3 * k] = STEP * contact[k].normal_force;
        r[3 * k + 1] = STEP * dCalcVectorDot3(contact[k].friction, t1);
        r[3 * k + 2] = STEP * dCalcVectorDot3(contact[k].friction, t2);
    }
}

/* A box on one corner, that slides: u = v + h g + W r, and of a fresh contact nothing is known but its slip. */
static void aCornerAsByHand(void **state)
{
    (void)state;
    const double arm[3] = {0.5, 0.4, -0.2}, v[3] = {0.3, -0.1, -0.05};
    const dVector3 n = {0, 0, 1};
    dVector3 t1, t2;
    dPlaneSpace(n, t1, t2);
    const double *axis[3] = {n, t1, t2};
    for (int second = 0; second < 2; ++second) { /* named second, with the normal out of the body */
        Twin t;
        spragArena arena = {0};
        makeTwin(&t, 1);
        dWorldSetCFM(t.world, 0);
        const dBodyID box = addBox(&t, 0, 0, 0.2);
        dBodySetLinearVel(box, v[0], v[1], v[2]);
        dContact contact = planeContact(arm[0], arm[1], 0, MU);
        contact.geom.normal[2] = second ? -1 : 1;
        addContact(&t, &contact, second ? 0 : box, second ? box : 0);
        step(&t, STEP);
        const spragProblem p = problemOf(&t, &arena);
        assert_int_equal(p.contact_count, 1);
        assert_int_equal(p.block_count, 1);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(p.q[i], spragDot3(axis[i], v) - (i == 0 ? 9.81 * STEP : 0), 1e-15);
            for (int j = 0; j < 3; ++j) {
                double turn[2][3], w = i == j ? 1 / MASS : 0;
                spragCross3(turn[0], arm, axis[i]);
                spragCross3(turn[1], arm, axis[j]);
                for (int a = 0; a < 3; ++a)
                    w += turn[0][a] * turn[1][a] / inertia[a];
                CHECK_NEAR(p.W[3 * i + j], w, 1e-14);
            }
        }
        CHECK_NEAR(p.mu[0], MU, 0);
        CHECK_NEAR(p.step, STEP, 0);
        assert_true(p.body[0] == 0 && p.body[1] == -1);
        assert_true(p.history[0].fresh && p.history[0].mode == SPRAG_MODE_OPEN && p.history[0].previous_normal == 0);
        CHECK_NEAR(p.history[0].slip[0], spragDot3(t1, v), 1e-15);
        CHECK_NEAR(p.history[0].slip[1], spragDot3(t2, v), 1e-15);
        CHECK_NEAR(p.history[0].free_acceleration, -9.81, 1e-9);
        double r[3];
        impulsesOf(&t, 1, r);
        assert_true(r[0] > 0 && spragProblemResidual(&p, r) <= 1e-8);
        spragArenaFree(&arena);
        freeTwin(&t);
    }
}

/* On four corners: rows couple with each other, the world's CFM is on the diagonal of normal rows alone, and the last
 * step's forces are known. */
static void fourCornersInTheNextStep(void **state)
{
    (void)state;
    const double cfm = 1; /* 1/(kg s): a spring that bodies sink into */
    Twin t;
    spragArena arena = {0};
    double r[12];
    makeTwin(&t, 1);
    dWorldSetCFM(t.world, cfm);
    const dBodyID box = addBox(&t, 0, 0, 0.2);
    dBodySetLinearVel(box, 1, 0, 0);
    double before[12], speed[4];
    for (int k = 0; k < 2; ++k) {
        if (k > 0)
            impulsesOf(&t, 4, before);
        for (int i = 0; i < 4; ++i) {
            dVector3 v;
            dBodyGetRelPointVel(box, i & 1 ? 0.5 : -0.5, i & 2 ? 0.4 : -0.4, -0.2, v);
            speed[i] = spragNorm2(v);
        }
        addCorners(&t, box, MU);
        step(&t, STEP);
    }
    const spragProblem p = problemOf(&t, &arena);
    assert_int_equal(p.contact_count, 4);
    assert_int_equal(p.block_count, 16);
    for (int k = 0; k < 4; ++k) {
        assert_int_equal(p.row_start[k + 1], 4 * (k + 1));
        const double x = k & 1 ? 0.5 : -0.5, y = k & 2 ? 0.4 : -0.4;
        for (int l = 0; l < 4; ++l) {
            const double *W = p.W + 9 * (4 * k + l), *mirror = p.W + 9 * (4 * l + k);
            const double a = l & 1 ? 0.5 : -0.5, b = l & 2 ? 0.4 : -0.4;
            assert_int_equal(p.column[4 * k + l], l);
            const double rigid = 1 / MASS + y * b / inertia[0] + x * a / inertia[1];
            CHECK_NEAR(W[0], rigid + (k == l ? cfm / STEP : 0), 1e-9 * (1 + cfm / STEP));
            for (int i = 0; i < 9; ++i)
                CHECK_NEAR(W[i], mirror[3 * (i % 3) + i / 3], 0);
            if (k == l) /* no compliance along t1 and t2 */
                assert_true(W[4] < 10 && W[8] < 10);
        }
        const spragContactHistory *h = &p.history[k];
        assert_true(!h->fresh && h->mode == SPRAG_MODE_SLIP && h->variant == 1);
        CHECK_NEAR(h->previous_normal, before[3 * k] / STEP, 1e-12);
        CHECK_NEAR(spragNorm2(h->slip), speed[k], 1e-12);
    }
    impulsesOf(&t, 4, r);
    assert_true(spragProblemResidual(&p, r) <= 1e-8);
    spragArenaFree(&arena);
    freeTwin(&t);
}

static void withoutMemoryThereIsNone(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    addCorners(&t, addBox(&t, 0, 0, 0.2), MU);
    step(&t, STEP);
    int refused = 0;
    for (unsigned long n = 1;; ++n) {
        spragArena arena = {0};
        spragProblem problem;
        spragAllocFailAt(n);
        const int made = spragLoneProblem(t.sprag, &t.sprag->snapshot.island[0], &arena, &problem);
        spragAllocFailAt(0);
        spragArenaFree(&arena);
        if (made)
            break;
        ++refused;
    }
    assert_true(refused > 0);
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(aCornerAsByHand), cmocka_unit_test(fourCornersInTheNextStep),
                                       cmocka_unit_test(withoutMemoryThereIsNone)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
