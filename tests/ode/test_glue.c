/* Bodies made inside each other, which contacts glue together: without W and without a factor. */
#include "support/check.h"

#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#include "linalg/vec3.h"
#include "ode/world/world.h"
#include "solve/glue/glue.h"

enum { SOME = 40, HEAP = 205 }; /* balls: 20910 contacts, of which W would have eight million blocks */
static const double step_size = 0.05, gravity = 0.5, density = 5;

typedef struct Heap {
    dWorldID world;
    dJointGroupID group;
    spragWorldID sprag;
    int count, contacts;
    dBodyID body[HEAP];
    double radius[HEAP], position[HEAP][3];
} Heap;

static double next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / 16777216.0;
}

/* Balls of 0.05 to 0.3 m with their centers in a cube. */
static void makeHeap(Heap *heap, int count, double edge)
{
    unsigned seed = 7;
    *heap = (Heap){.world = dWorldCreate(), .group = dJointGroupCreate(0), .count = count};
    dWorldSetGravity(heap->world, 0, 0, -gravity);
    for (int i = 0; i < count; ++i) {
        heap->radius[i] = 0.05 + 0.25 * next(&seed);
        heap->body[i] = dBodyCreate(heap->world);
        dMass mass;
        dMassSetSphere(&mass, density, heap->radius[i]);
        dBodySetMass(heap->body[i], &mass);
        const double x = edge * next(&seed), y = edge * next(&seed), z = edge * next(&seed);
        dBodySetPosition(heap->body[i], x, y, z);
    }
    spragConfig config = spragConfigDefault();
    config.enough = 1e-6;
    assert_int_equal(spragWorldAttach(heap->world, &config, &heap->sprag), SPRAG_OK);
}

static void freeHeap(Heap *heap)
{
    spragWorldDetach(heap->sprag);
    dJointGroupDestroy(heap->group);
    dWorldDestroy(heap->world);
}

/* Of balls that overlap: normal, and the point between their surfaces, as ODE has them. */
static int touch(const Heap *heap, int i, int j, dContactGeom *geom)
{
    double d[3];
    for (int k = 0; k < 3; ++k)
        d[k] = heap->position[i][k] - heap->position[j][k];
    const double distance = spragNorm3(d), middle = (heap->radius[j] - heap->radius[i] - distance) / 2;
    memset(geom, 0, sizeof *geom);
    geom->depth = heap->radius[i] + heap->radius[j] - distance;
    for (int k = 0; k < 3; ++k) {
        geom->normal[k] = d[k] / distance;
        geom->pos[k] = heap->position[i][k] + geom->normal[k] * middle;
    }
    return geom->depth > 0;
}

static void addContacts(Heap *heap)
{
    dJointGroupEmpty(heap->group);
    heap->contacts = 0;
    for (int i = 0; i < heap->count; ++i)
        for (int k = 0; k < 3; ++k)
            heap->position[i][k] = dBodyGetPosition(heap->body[i])[k];
    for (int i = 0; i < heap->count; ++i)
        for (int j = 0; j < i; ++j) {
            dContact contact;
            memset(&contact, 0, sizeof contact);
            contact.surface.mode = dContactSoftCFM;
            contact.surface.soft_cfm = 0.01;
            contact.surface.mu = dInfinity;
            if (!touch(heap, i, j, &contact.geom))
                continue;
            dJointAttach(spragJointCreateContact(heap->sprag, heap->group, &contact), heap->body[i], heap->body[j]);
            ++heap->contacts;
        }
}

/* Greatest speed across the normal at a contact of the step, m/s. */
static double slipOf(const Heap *heap)
{
    double worst = 0;
    for (int i = 0; i < heap->count; ++i)
        for (int j = 0; j < i; ++j) {
            dContactGeom geom;
            double u[3] = {0, 0, 0};
            if (!touch(heap, i, j, &geom))
                continue;
            for (int side = 0; side < 2; ++side) {
                const int b = side == 0 ? i : j;
                const dReal *v = dBodyGetLinearVel(heap->body[b]), *w = dBodyGetAngularVel(heap->body[b]);
                const double spin[3] = {w[0], w[1], w[2]};
                double arm[3], turn[3];
                for (int k = 0; k < 3; ++k)
                    arm[k] = geom.pos[k] - heap->position[b][k];
                spragCross3(turn, spin, arm);
                for (int k = 0; k < 3; ++k)
                    u[k] += (side == 0 ? 1 : -1) * (v[k] + turn[k]);
            }
            const double n[3] = {geom.normal[0], geom.normal[1], geom.normal[2]}, normal = spragDot3(u, n);
            for (int k = 0; k < 3; ++k)
                u[k] -= normal * n[k];
            worst = fmax(worst, spragNorm3(u));
        }
    return worst;
}

/* Where the judge who has all of W is content too; and so is the solver with his own answer. */
static void solveHeap(int count, double edge, int contacts_least, int contacts_most, int products_most)
{
    static Heap heap;
    makeHeap(&heap, count, edge);
    addContacts(&heap);
    assert_true(heap.contacts >= contacts_least && heap.contacts <= contacts_most);
    assert_int_equal(spragWorldStep(heap.sprag, step_size), SPRAG_OK);
    const spragProblem *problem = &heap.sprag->snapshot.island[0].problem;
    assert_int_equal(problem->contact_count, heap.contacts);
    assert_non_null(problem->bodies);
    static double r[3 * 8 * HEAP], u[3 * 8 * HEAP];
    memset(r, 0, sizeof r);
    spragArena arena = {0};
    spragSolveInfo info;
    const spragSolveOptions options = {.tolerance = 1e-7};
    assert_true(spragProblemResidual(problem, r) > 0.1);
    const spragStatus status = spragGlueSolve(problem, &options, &arena, r, u, &info);
    print_message("%d contacts: %d products, residual %.2g, by W %.2g m/s\n", heap.contacts, info.iterations,
                  info.residual, spragProblemResidual(problem, r));
    assert_int_equal(status, SPRAG_OK);
    assert_true(info.residual <= 1e-7 && info.iterations > 0 && info.iterations <= products_most);
    assert_true(spragProblemResidual(problem, r) <= 2e-7); /* W's rows hold with a compliance of 1e-11 of their own */
    assert_int_equal(spragGlueSolve(problem, &options, &arena, r, u, &info), SPRAG_OK);
    assert_int_equal(info.iterations, 0);
    double *bound = heap.sprag->snapshot.island[0].bound;
    for (int k = 0; k < heap.contacts; k += 3) /* these have parted */
        for (int row = 1; row < 3; ++row)
            bound[6 * k + row] = bound[6 * k + 3 + row] = r[3 * k + row] = 0;
    assert_true(spragGlueSuits(problem));
    assert_true(spragProblemResidual(problem, r) > 1e-3);
    assert_int_equal(spragGlueSolve(problem, &options, &arena, r, u, &info), SPRAG_OK);
    print_message("parted: %d products, by W %.2g m/s\n", info.iterations, spragProblemResidual(problem, r));
    assert_true(info.iterations <= 2 * products_most && spragProblemResidual(problem, r) <= 2e-7);
    spragArenaFree(&arena);
    freeHeap(&heap);
}

static void agreesWithW(void **state)
{
    (void)state;
    solveHeap(SOME, 0.6, 100, SOME * SOME, 100);
}

/* A few contacts a body: a factor comes near where gradients alone do not. */
static void solvesHalfOpenHeaps(void **state)
{
    (void)state;
    solveHeap(HEAP, 1.2, 4 * HEAP, 8 * HEAP, 40);
}

/* Three contacts to a body. */
static void solvesHeapsThatBarelyHold(void **state)
{
    (void)state;
    solveHeap(HEAP, 1.7, 2 * HEAP, 4 * HEAP, 40);
}

/* Heaps with W: what holds with a compliance of its own is told by it, and the rest of the chain is not needed. */
static void stepsSmallHeaps(void **state)
{
    (void)state;
    static Heap heap;
    makeHeap(&heap, HEAP, 1.2);
    for (int step = 0; step < 5; ++step) {
        addContacts(&heap);
        assert_true(heap.contacts > 60 && heap.contacts < 5000);
        assert_int_equal(spragWorldStep(heap.sprag, step_size), SPRAG_OK);
        const spragStepInfo info = spragWorldGetStepInfo(heap.sprag);
        print_message("%d contacts: %d iterations, residual %.2g\n", heap.contacts, info.iterations, info.residual);
        assert_true(info.residual <= 1e-7 && info.fallbacks == 0 && info.iterations <= 300);
    }
    freeHeap(&heap);
}

/* In a step: nothing slides, momentum is gravity's alone, and the contacts press the heap apart. */
static void stepsWithoutW(void **state)
{
    (void)state;
    static Heap heap;
    makeHeap(&heap, HEAP, 0.05);
    for (int step = 0; step < 2; ++step) {
        addContacts(&heap);
        assert_true(step > 0 || heap.contacts == HEAP * (HEAP - 1) / 2);
        assert_int_equal(spragWorldStep(heap.sprag, step_size), SPRAG_OK);
        const spragStepInfo info = spragWorldGetStepInfo(heap.sprag);
        assert_int_equal(info.declined, 0);
        assert_int_equal(info.rescued, 0);
        assert_true(info.residual <= 1e-6);
        const double slip = slipOf(&heap);
        print_message("%d contacts: %d products, residual %.2g, slip %.2g m/s\n", heap.contacts, info.iterations,
                      info.residual, slip);
        assert_true(slip <= 1.1e-6);
        double mass = 0, momentum[3] = {0, 0, 0}, fastest = 0;
        for (int i = 0; i < HEAP; ++i) {
            dMass m;
            dBodyGetMass(heap.body[i], &m);
            mass += m.mass;
            for (int k = 0; k < 3; ++k)
                momentum[k] += m.mass * dBodyGetLinearVel(heap.body[i])[k];
            fastest = fmax(fastest, dCalcVectorLength3(dBodyGetLinearVel(heap.body[i])));
        }
        CHECK_NEAR(momentum[0], 0, 1e-9);
        CHECK_NEAR(momentum[1], 0, 1e-9);
        CHECK_NEAR(momentum[2], -mass * gravity * step_size * (step + 1), 1e-9);
        assert_true(fastest > 0.03 && fastest < 100);
    }
    freeHeap(&heap);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(agreesWithW), cmocka_unit_test(solvesHalfOpenHeaps),
                                       cmocka_unit_test(solvesHeapsThatBarelyHold), cmocka_unit_test(stepsSmallHeaps),
                                       cmocka_unit_test(stepsWithoutW)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
