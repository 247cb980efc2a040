/* The plugin as a guest: sleep and waking, determinism, no allocation, destroyed objects, events. */
#include "support/twin.h"

#include <stdlib.h>

#include "base/alloc.h"

/* ---------------------------------------------------------------- sleep */

/* Two boxes, one on the other; the stack must fall asleep as under ODE, and a hit must wake both. */
static void addStackContacts(Twin *t)
{
    if (dBodyIsEnabled(t->body[0]) || dBodyIsEnabled(t->body[1])) {
        addCorners(t, t->body[0], 0.5);
        for (int i = 0; i < 4; ++i) {
            dVector3 p;
            dBodyGetRelPointPos(t->body[1], i & 1 ? 0.5 : -0.5, i & 2 ? 0.4 : -0.4, -0.2, p);
            dContact contact = planeContact(p[0], p[1], p[2], 0.5);
            contact.geom.depth = 0.4 - p[2];
            addContact(t, &contact, t->body[1], t->body[0]);
        }
    }
}

static void stackSleepsAndWakes(void **state)
{
    (void)state;
    int asleep_at[2] = {0, 0};
    for (int k = 0; k < 2; ++k) {
        Twin t;
        makeTwin(&t, k);
        dWorldSetAutoDisableFlag(t.world, 1);
        dWorldSetAutoDisableSteps(t.world, 10);
        addBox(&t, 0, 0, 0.2);
        addBox(&t, 0, 0, 0.6);
        for (int i = 0; i < 60; ++i) {
            addStackContacts(&t);
            step(&t, 1e-2);
            if (asleep_at[k] == 0 && !dBodyIsEnabled(t.body[0]) && !dBodyIsEnabled(t.body[1]))
                asleep_at[k] = i;
        }
        for (int b = 0; b < 2; ++b) {
            assert_false(dBodyIsEnabled(t.body[b]));
            for (int c = 0; c < 3; ++c) /* nothing of ours is left in the accumulators */
                CHECK_NEAR(dBodyGetForce(t.body[b])[c], 0, 0);
        }
        dBodyEnable(t.body[1]);
        dBodySetLinearVel(t.body[1], 3, 0, 0);
        addStackContacts(&t);
        step(&t, 1e-2);
        assert_true(dBodyIsEnabled(t.body[0]));
        if (k == 1) /* it was woken and pulled along in the same step: ground and box above both hold it */
            assert_int_equal(spragWorldGetStepInfo(t.sprag).contacts, 8);
        freeTwin(&t);
    }
    assert_int_equal(asleep_at[0], asleep_at[1]);
}

static void jointsTheUserDisabledStayDisabled(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dBodyID box = addBox(&t, 0, 0, 0.2);
    for (int i = 0; i < 5; ++i) {
        dContact contact = planeContact(0, 0, 0, 0.5);
        dJointID off = addContact(&t, &contact, box, 0);
        dJointDisable(off);
        dJointID on = addContact(&t, &contact, box, 0);
        assert_int_equal(spragWorldStep(t.sprag, 1e-3), SPRAG_OK);
        assert_false(dJointIsEnabled(off));
        assert_true(dJointIsEnabled(on));
        assert_int_equal(spragWorldGetStepInfo(t.sprag).contacts, 1);
        dJointGroupEmpty(t.group);
    }
    freeTwin(&t);
}

/* ---------------------------------------------------------------- determinism, memory */

static void runPile(Twin *t, int steps)
{
    for (int i = 0; i < steps; ++i) {
        for (int b = 0; b < t->count; ++b)
            addCorners(t, t->body[b], 0.4);
        step(t, 2e-3);
    }
}

static void makePile(Twin *t)
{
    makeTwin(t, 1);
    for (int b = 0; b < 4; ++b) {
        dBodyID box = addBox(t, 2 * b, 0, 0.21 + 0.02 * b);
        dBodySetLinearVel(box, 1, 0.3 * b, 0);
        dBodySetAngularVel(box, 0.1, 0.05 * b, 0.7);
    }
}

static void sameBitsTwice(void **state)
{
    (void)state;
    Twin twin[2];
    void *noise[64];
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < 64; ++i) /* other addresses the second time */
            noise[i] = malloc((size_t)(k * 100 + 1) * (size_t)(i + 1));
        makePile(&twin[k]);
        runPile(&twin[k], 200);
        for (int i = 0; i < 64; ++i)
            free(noise[i]);
    }
    for (int b = 0; b < 4; ++b) {
        assert_memory_equal(dBodyGetPosition(twin[0].body[b]), dBodyGetPosition(twin[1].body[b]), 3 * sizeof(dReal));
        assert_memory_equal(dBodyGetQuaternion(twin[0].body[b]), dBodyGetQuaternion(twin[1].body[b]),
                            4 * sizeof(dReal));
    }
    freeTwin(&twin[0]);
    freeTwin(&twin[1]);
}

static void steadyStepAllocatesNothing(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    addBox(&t, 0, 0, 0.2);
    addBox(&t, 2, 0, 0.2);
    runPile(&t, 20);
    const unsigned long before = spragAllocCount();
    runPile(&t, 50);
    assert_int_equal(spragAllocCount(), before);
    freeTwin(&t);
}

/* Whatever allocation fails, the step says so and the world is as it was; the next step works. */
static void failingAllocationLeavesTheWorld(void **state)
{
    (void)state;
    int refused = 0;
    for (unsigned long n = 1; n < 12; ++n) {
        Twin t;
        makeTwin(&t, 1);
        dBodyID box = addBox(&t, 0, 0, 0.2);
        dBodySetLinearVel(box, 1, 0, 0);
        dBodyAddForce(box, 1, 2, 3);
        addCorners(&t, box, 0.5);
        spragAllocFailAt(n);
        const spragStatus status = spragWorldStep(t.sprag, 1e-3);
        spragAllocFailAt(0);
        if (status != SPRAG_OK) {
            ++refused;
            assert_int_equal(status, SPRAG_ERROR_MEMORY);
            CHECK_NEAR(dBodyGetLinearVel(box)[0], 1, 0);
            CHECK_NEAR(dBodyGetForce(box)[2], 3, 0);
            for (int j = 0; j < dBodyGetNumJoints(box); ++j)
                assert_true(dJointIsEnabled(dBodyGetJoint(box, j)));
            assert_int_equal(spragWorldStep(t.sprag, 1e-3), SPRAG_OK);
        }
        freeTwin(&t);
    }
    assert_true(refused > 0);
}

/* ---------------------------------------------------------------- destroyed objects */

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

enum { FUZZ_BODIES = 12, FUZZ_JOINTS = 64 };

typedef struct Fuzz {
    Twin t;
    unsigned seed;
    dBodyID body[FUZZ_BODIES];
    dJointID joint[FUZZ_JOINTS]; /* outside the group, alive */
    int joints;
} Fuzz;

static void fuzzContact(Fuzz *f)
{
    dBodyID a = f->body[next(&f->seed) % FUZZ_BODIES], b = f->body[next(&f->seed) % FUZZ_BODIES];
    if (a == NULL || a == b)
        return;
    const dReal *p = dBodyGetPosition(a);
    dContact contact = planeContact(p[0], p[1], p[2] - 0.2, 0.5);
    const int grouped = next(&f->seed) % 2 || f->joints == FUZZ_JOINTS;
    dJointGroupID group = grouped ? f->t.group : NULL;
    const spragSurface surface = spragSurfaceDefault();
    dJointID joint = next(&f->seed) % 3 == 0   ? dJointCreateContact(f->t.world, group, &contact)
                     : next(&f->seed) % 2 == 0 ? spragJointCreateContact(f->t.sprag, group, &contact)
                                               : spragJointCreateContactSurface(f->t.sprag, group, &contact, &surface);
    assert_non_null(joint);
    if (next(&f->seed) % 5 != 0)
        dJointAttach(joint, a, b);
    if (!grouped)
        f->joint[f->joints++] = joint;
}

static void fuzzDestroy(Fuzz *f)
{
    const unsigned what = next(&f->seed) % 8;
    if (what == 0) {
        dJointGroupEmpty(f->t.group);
    } else if (what < 4 && f->joints > 0) {
        const int k = (int)(next(&f->seed) % (unsigned)f->joints);
        dJointDestroy(f->joint[k]);
        f->joint[k] = f->joint[--f->joints];
    } else if (what < 6) {
        const unsigned k = next(&f->seed) % FUZZ_BODIES;
        if (f->body[k] != NULL)
            dBodyDestroy(f->body[k]);
        f->body[k] = NULL;
    } else {
        const unsigned k = next(&f->seed) % FUZZ_BODIES;
        if (f->body[k] == NULL) {
            f->t.count = 0;
            f->body[k] = addBox(&f->t, 0.3 * k, 0, 0.2 + 0.1 * k);
        }
    }
}

static void anythingMayBeDestroyedBetweenSteps(void **state)
{
    (void)state;
    Fuzz f = {.seed = 12345};
    makeTwin(&f.t, 1);
    dWorldSetAutoDisableFlag(f.t.world, 1);
    for (int i = 0; i < 400; ++i) {
        for (int k = 0; k < 6; ++k)
            next(&f.seed) % 2 ? fuzzContact(&f) : fuzzDestroy(&f);
        assert_int_equal(spragWorldStep(f.t.sprag, 1e-3), SPRAG_OK);
    }
    freeTwin(&f.t);
}

/* A space may name the two geoms in either order, and change its mind: the contact is the same. */
static void contactSurvivesATurnOfItsBodies(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dBodyID below = addBox(&t, 0, 0, 0.2), above = addBox(&t, 0, 0, 0.6);
    dBodySetKinematic(below);
    dBodySetLinearVel(above, 1, 0.5, 0);
    unsigned long long id[4];
    for (int step = 0; step < 6; ++step) {
        dJointGroupEmpty(t.group);
        const int turned = step & 1;
        for (int k = 0; k < 4; ++k) {
            const dReal *p = dBodyGetPosition(above);
            dContact contact = planeContact(p[0] + (k & 1 ? 0.5 : -0.5), p[1] + (k & 2 ? 0.4 : -0.4), 0.4, 0.3);
            contact.geom.normal[2] = turned ? -1 : 1;
            dJointAttach(spragJointCreateContact(t.sprag, t.group, &contact), turned ? below : above,
                         turned ? above : below);
        }
        assert_int_equal(spragWorldStep(t.sprag, 1e-3), SPRAG_OK);
        const spragContact *contacts;
        const spragEvent *events;
        assert_int_equal(spragWorldGetContacts(t.sprag, &contacts), 4);
        assert_int_equal(spragWorldGetEvents(t.sprag, &events), step == 0 ? 4 : 0);
        for (int k = 0; k < 4; ++k) {
            id[k] = step == 0 ? contacts[k].id : id[k];
            assert_int_equal(contacts[k].id, id[k]);
            assert_int_equal(contacts[k].mode, SPRAG_MODE_SLIP);
            CHECK_NEAR(contacts[k].slip[0], (turned ? -1 : 1) * dBodyGetLinearVel(above)[0], 1e-9);
        }
    }
    freeTwin(&t);
}

/* ---------------------------------------------------------------- contacts and events */

static int count_of[SPRAG_EVENT_TYPE_COUNT];

static void countEvent(const spragEvent *event, void *user)
{
    assert_ptr_equal(user, count_of);
    ++count_of[event->type];
}

/* A box that falls, slides and stops: touch, stick; the contact keeps its id; lifted: detach. */
static void contactsLiveAndTellEvents(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dBodyID box = addBox(&t, 0, 0, 0.2);
    dBodySetLinearVel(box, 0.5, 0, 0);
    memset(count_of, 0, sizeof count_of);
    spragWorldSetEventCallback(t.sprag, countEvent, count_of);
    unsigned long long id[4] = {0};
    for (int i = 0; i < 300; ++i) {
        addCorners(&t, box, 0.3);
        step(&t, 1e-3);
        const spragContact *contact;
        assert_int_equal(spragWorldGetContacts(t.sprag, &contact), 4);
        for (int k = 0; k < 4; ++k) {
            if (i == 0)
                id[k] = contact[k].id;
            assert_true(contact[k].id == id[k] && id[k] != 0);
            assert_ptr_equal(contact[k].body[0], box);
        }
    }
    assert_int_equal(count_of[SPRAG_EVENT_TOUCH], 4);
    assert_int_equal(count_of[SPRAG_EVENT_STICK], 4);
    assert_int_equal(count_of[SPRAG_EVENT_DETACH], 0);
    assert_int_equal(count_of[SPRAG_EVENT_JAM] + count_of[SPRAG_EVENT_INCONSISTENT], 0);
    dBodySetPosition(box, 0, 0, 1);
    step(&t, 1e-3);
    assert_int_equal(count_of[SPRAG_EVENT_DETACH], 4);
    spragWorldSetEventCallback(t.sprag, NULL, NULL);
    freeTwin(&t);
}

/* Two islands: the files hold the problems that were solved. */
static void dumpedProblemsAreTheIslands(void **state)
{
    (void)state;
    Twin t;
    makePile(&t);
    for (int b = 0; b < 2; ++b)
        dBodySetPosition(t.body[b], 3 * b, 0, 0.2);
    addCorners(&t, t.body[0], 0.4);
    addCorners(&t, t.body[1], 0.4);
    step(&t, 1e-3);
    char path[] = "/tmp/sprag-dump-XXXXXX", first[64], second[64];
    assert_non_null(mkdtemp(path));
    snprintf(first, sizeof first, "%s/a.b/p.txt", path);
    assert_int_equal(spragWorldDumpProblem(t.sprag, first), SPRAG_ERROR_FILE);
    snprintf(first, sizeof first, "%s/p.txt", path);
    snprintf(second, sizeof second, "%s/p-2.txt", path);
    assert_int_equal(spragWorldDumpProblem(t.sprag, first), SPRAG_OK);
    const char *name[2] = {first, second};
    for (int k = 0; k < 2; ++k) {
        spragProblem *problem = NULL;
        assert_int_equal(spragProblemRead(name[k], &problem), SPRAG_OK);
        assert_int_equal(problem->contact_count, 4);
        CHECK_NEAR(problem->mu[0], 0.4, 0);
        spragProblemFree(problem);
        remove(name[k]);
    }
    remove(path);
    freeTwin(&t);
}

static void stockSolverTouchesNothing(void **state)
{
    (void)state;
    Twin twin[2];
    for (int k = 0; k < 2; ++k) {
        makeTwin(&twin[k], k);
        if (k == 1) {
            spragConfig config = spragConfigDefault();
            config.solver = SPRAG_SOLVER_STOCK;
            assert_int_equal(spragWorldSetConfig(twin[k].sprag, &config), SPRAG_OK);
        }
        dBodyID box = addBox(&twin[k], 0, 0, 0.21);
        dBodySetAngularVel(box, 0.3, 0.2, 1);
        for (int i = 0; i < 100; ++i) {
            addCorners(&twin[k], box, 0.5);
            step(&twin[k], 1e-3);
        }
    }
    assert_true(bodyDifference(twin[0].body[0], twin[1].body[0]) == 0);
    freeTwin(&twin[0]);
    freeTwin(&twin[1]);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stackSleepsAndWakes),
        cmocka_unit_test(jointsTheUserDisabledStayDisabled),
        cmocka_unit_test(sameBitsTwice),
        cmocka_unit_test(steadyStepAllocatesNothing),
        cmocka_unit_test(failingAllocationLeavesTheWorld),
        cmocka_unit_test(anythingMayBeDestroyedBetweenSteps),
        cmocka_unit_test(contactSurvivesATurnOfItsBodies),
        cmocka_unit_test(contactsLiveAndTellEvents),
        cmocka_unit_test(dumpedProblemsAreTheIslands),
        cmocka_unit_test(stockSolverTouchesNothing),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
