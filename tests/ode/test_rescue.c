/* Large islands without an answer: no memory for W, or none at all.  dWorldStep would take hours for them. */
#include "support/check.h"

#include <string.h>

#include <ode/ode.h>
#define SPRAG_DROP_IN_NO_NAMES
#include <sprag/drop_in.h>

#include "base/alloc.h"
#include "ode/world/world.h"
#include "support/ticking_clock.h"

/* A table on many legs, balls on the floor.  A lamp hangs on the table by a hinge. */
enum { FEW = 200, MANY = 6000 }; /* beyond 5793 contacts of one body W has more blocks than are stored */
static const double radius = 0.1, mass_of_ball = 1, mass_of_table = 50, gravity = 9.81, step_size = 0.01, mu = 0.5;

typedef struct Table {
    dWorldID world;
    dJointGroupID group;
    dBodyID table, lamp, ball[MANY];
    int count;
} Table;

static dBodyID addBody(dWorldID world, double mass, double x, double y, double z)
{
    const dBodyID body = dBodyCreate(world);
    dMass m;
    dMassSetSphereTotal(&m, mass, radius);
    dBodySetMass(body, &m);
    dBodySetPosition(body, x, y, z);
    return body;
}

/* Its middle at y, m. */
static void addTable(Table *t, double y)
{
    const int count = t->count, side = (int)ceil(sqrt(count));
    const double middle = (side - 1) * 1.5 * radius;
    t->table = addBody(t->world, mass_of_table, 0, y, 2.5 * radius);
    dMass m;
    dMassSetBoxTotal(&m, mass_of_table, 4 * middle, 4 * middle, radius);
    dBodySetMass(t->table, &m);
    for (int i = 0; i < count; ++i)
        t->ball[i] = addBody(t->world, mass_of_ball, 3 * radius * (i % side) - middle,
                             y + 3 * radius * (i / side) - middle, radius);
    t->lamp = addBody(t->world, mass_of_ball, 1, y, 5 * radius);
    const dJointID hinge = dJointCreateHinge(t->world, 0);
    dJointAttach(hinge, t->table, t->lamp);
    dJointSetHingeAnchor(hinge, 0, y, 5 * radius);
    dJointSetHingeAxis(hinge, 0, 1, 0);
    dBodySetLinearVel(t->table, 0.2, 0, 0);
}

static void makeTable(Table *t, int count)
{
    *t = (Table){.world = dWorldCreate(), .group = dJointGroupCreate(0), .count = count};
    dWorldSetGravity(t->world, 0, 0, -gravity);
    addTable(t, 0);
}

static void freeTable(Table *t)
{
    const spragWorldID sprag = spragWorldFind(t->world);
    if (sprag != NULL)
        spragWorldDetach(sprag);
    dJointGroupDestroy(t->group);
    dWorldDestroy(t->world);
}

static void addContact(Table *t, const double position[3], double normal, dBodyID a, dBodyID b)
{
    dContact contact;
    memset(&contact, 0, sizeof contact);
    contact.surface.mode = dContactApprox1;
    contact.surface.mu = mu;
    contact.geom.normal[2] = normal;
    for (int i = 0; i < 3; ++i)
        contact.geom.pos[i] = position[i];
    dJointAttach(spragDropInJointCreateContact(t->world, t->group, &contact), a, b);
}

static void addContacts(Table *t)
{
    for (int i = 0; i < t->count; ++i) {
        const dReal *p = dBodyGetPosition(t->ball[i]);
        addContact(t, (double[3]){p[0], p[1], p[2] - radius}, 1, t->ball[i], 0);
        addContact(t, (double[3]){p[0], p[1], p[2] + radius}, 1, t->table, t->ball[i]);
    }
}

/* What the table stands on bears it, all its legs turn the same way, and nothing is thrown. */
static void checkTable(const Table *t, double tolerance)
{
    const dReal *v = dBodyGetLinearVel(t->table);
    CHECK_NEAR(v[2], 0, tolerance);
    assert_true(v[0] > 0 && v[0] < 0.2 + tolerance);
    for (int i = 0; i < t->count; ++i) {
        CHECK_NEAR(dBodyGetLinearVel(t->ball[i])[2], 0, tolerance);
        assert_true(dBodyGetAngularVel(t->ball[i])[1] > -tolerance);
    }
    dVector3 a, b;
    dBodyGetRelPointPos(t->table, 0, 0, 2.5 * radius, a);
    dBodyGetRelPointPos(t->lamp, -1, 0, 0, b);
    for (int i = 0; i < 3; ++i)
        CHECK_NEAR(a[i], b[i], step_size * tolerance + 1e-5);
}

/* A body on six thousand others: W would have 36 million blocks. */
static void withoutMatrix(void **state)
{
    (void)state;
    static Table t;
    makeTable(&t, MANY);
    for (int k = 0; k < 2; ++k) {
        dJointGroupEmpty(t.group);
        addContacts(&t);
        assert_int_equal(spragDropInWorldStep(t.world, step_size), 1);
        const spragStepInfo info = spragWorldGetStepInfo(spragWorldFind(t.world));
        assert_int_equal(info.step, k + 1);
        assert_int_equal(info.contacts, 2 * MANY);
        assert_int_equal(info.declined, 0); /* dWorldStep: hours, and 10 GB */
        assert_int_equal(info.rescued, 1);
        assert_int_equal(info.fallbacks, 1);
        assert_int_equal(info.quick, 0);
        print_message("step %d: residual %.2g m/s, %d sweeps\n", k, info.residual, info.iterations);
        assert_true(info.residual < 1e-2);
        checkTable(&t, 2e-2);
    }
    const spragEvent *event;
    const int events = spragWorldGetEvents(spragWorldFind(t.world), &event);
    int told = 0;
    for (int k = 0; k < events; ++k)
        told += event[k].type == SPRAG_EVENT_FALLBACK && strstr(event[k].reason, "matrix") != NULL;
    assert_int_equal(told, 1);
    freeTable(&t);
}

typedef struct Outcome {
    int harmless, rescued, quick, refused; /* steps */
} Outcome;

/* The first step of a fresh world in which `count` allocations fail, the n-th first.  0: n is beyond the last one. */
static int failFrom(unsigned long n, unsigned long count, int by_name, Outcome *outcome)
{
    static Table t;
    makeTable(&t, FEW);
    spragWorldID sprag = NULL;
    assert_int_equal(spragWorldAttach(t.world, NULL, &sprag), SPRAG_OK);
    addContacts(&t);
    const unsigned long before = spragAllocCount();
    spragAllocFailFrom(n, count);
    const spragStatus status = by_name ? spragWorldStep(sprag, step_size)
                                       : (spragDropInWorldStep(t.world, step_size) ? SPRAG_OK : SPRAG_ERROR_ODE);
    spragAllocFailAt(0);
    const int hit = spragAllocCount() - before >= n;
    const spragStepInfo info = spragWorldGetStepInfo(sprag);
    if (status != SPRAG_OK) {
        assert_true(by_name);
        assert_int_equal(status, SPRAG_ERROR_MEMORY);
        CHECK_NEAR(dBodyGetLinearVel(t.table)[0], 0.2, 0);
    } else if (info.step == 1) {
        assert_int_equal(info.declined, info.quick);
        checkTable(&t, info.quick ? 0.2 : 1e-2); /* QuickStep's twenty iterations */
    }
    ++*(status != SPRAG_OK || info.step == 0 ? &outcome->refused
        : info.quick                         ? &outcome->quick
        : info.rescued                       ? &outcome->rescued
                                             : &outcome->harmless);
    dJointGroupEmpty(t.group);
    addContacts(&t);
    assert_int_equal(spragDropInWorldStep(t.world, step_size), 1); /* goes on as if nothing had been */
    assert_int_equal(spragWorldGetStepInfo(sprag).declined, 0);
    assert_int_equal(spragWorldGetStepInfo(sprag).rescued, 0);
    freeTable(&t);
    return hit;
}

static void whateverAllocationFails(void **state)
{
    (void)state;
    for (int by_name = 0; by_name < 2; ++by_name)
        for (unsigned long count = 1; count < 3; ++count) {
            Outcome outcome = {0};
            unsigned long n = 1;
            while (failFrom(n, count, by_name, &outcome))
                ++n;
            print_message("%s, %lu of %lu allocations: refused %d, rescued %d, QuickStep's %d, no matter %d\n",
                          by_name ? "by name" : "as dWorldStep", count, n - 1, outcome.refused, outcome.rescued,
                          outcome.quick, outcome.harmless);
            assert_true(outcome.refused > 0);
            assert_true(count > 1 || outcome.rescued > 0);
            assert_true(count == 1 || by_name || outcome.quick > 0);
            assert_true(!by_name || outcome.quick == 0);
        }
}

/* The clock goes on by a tick for a sweep: of 100 one of two tables has 40, and the other one what is left.  (The first
 * was taken out of the time to be shared twice, and had all of it.) */
static void timeIsShared(void **state)
{
    (void)state;
    static Table one, other;
    makeTable(&one, MANY);
    other = (Table){.world = one.world, .group = one.group, .count = MANY};
    addTable(&other, 100);
    spragConfig config = spragConfigDefault();
    config.time_limit = 100 * TICK;
    spragWorldID sprag = NULL;
    assert_int_equal(spragWorldAttach(one.world, &config, &sprag), SPRAG_OK);
    addContacts(&one);
    addContacts(&other);
    assert_int_equal(spragWorldStep(sprag, step_size), SPRAG_OK);
    assert_int_equal(spragWorldGetStepInfo(sprag).rescued, 2);
    const spragIsland *island = sprag->snapshot.island;
    assert_in_range(island[0].solve.iterations, 30, 50);
    assert_in_range(island[1].solve.iterations, 40, 70);
    freeTable(&one);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(withoutMatrix), cmocka_unit_test(whateverAllocationFails),
                                       cmocka_unit_test(timeIsShared)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
