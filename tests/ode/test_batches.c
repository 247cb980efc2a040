/* Islands shared out to threads: the same bits for any number of them, errors told as by one, no memory taken; and what
 * sleeps or touches nothing takes no part. */
#include "support/check.h"
#include "support/plane_contact.h"
#include "support/uniform.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#include "base/alloc.h"
#include "ode/world/world.h"

enum { BODIES = 120, STEPS = 60 };

static atomic_ulong mallocs;

#ifndef __SANITIZE_ADDRESS__ /* which has its own */
void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
    ++mallocs;
    return __libc_malloc(size);
}
#endif

typedef struct Field {
    dWorldID world;
    dJointGroupID group;
    spragWorldID sprag;
    dBodyID body[BODIES];
} Field;

static const double half[3] = {0.5, 0.4, 0.2};

/* Boxes far apart, every third with another hinged to it, thrown in all directions. */
static void makeField(Field *field, int threads)
{
    spragConfig config = spragConfigDefault();
    config.thread_count = threads;
    field->world = dWorldCreate();
    field->group = dJointGroupCreate(0);
    dWorldSetGravity(field->world, 0, 0, -9.81);
    assert_int_equal(spragWorldAttach(field->world, &config, &field->sprag), SPRAG_OK);
    for (int i = 0; i < BODIES; ++i) {
        dMass mass;
        dMassSetBoxTotal(&mass, 1 + 0.01 * i, 2 * half[0], 2 * half[1], 2 * half[2]);
        const dBodyID body = field->body[i] = dBodyCreate(field->world);
        dBodySetMass(body, &mass);
        dBodySetPosition(body, 5.0 * (i - i % 3) + 1.2 * (i % 3 == 2), 4.0 * (i % 3 == 1), half[2]);
        dBodySetLinearVel(body, sin(i), cos(3 * i), 0.3 * sin(7 * i));
        dBodySetAngularVel(body, 0, 0.2 * cos(i), sin(2 * i));
    }
    for (int i = 2; i < BODIES; i += 3) {
        const dJointID hinge = dJointCreateHinge(field->world, 0);
        dJointAttach(hinge, field->body[i - 2], field->body[i]);
        dJointSetHingeAnchor(hinge, 5.0 * (i - 2) + 0.6, 0, half[2]);
        dJointSetHingeAxis(hinge, 0, 1, 0);
    }
}

static void freeField(Field *field)
{
    spragWorldDetach(field->sprag);
    dJointGroupDestroy(field->group);
    dWorldDestroy(field->world);
}

static void addContacts(const Field *field, double mu)
{
    dJointGroupEmpty(field->group);
    for (int i = 0; i < BODIES; ++i)
        for (int corner = 0; corner < 8 && dBodyIsEnabled(field->body[i]); ++corner) {
            dVector3 p;
            dBodyGetRelPointPos(field->body[i], corner & 1 ? half[0] : -half[0], corner & 2 ? half[1] : -half[1],
                                corner & 4 ? half[2] : -half[2], p);
            if (p[2] > 0)
                continue;
            dContact contact = planeContact(p[0], p[1], p[2], mu);
            contact.geom.depth = -p[2];
            dJointAttach(spragJointCreateContact(field->sprag, field->group, &contact), field->body[i], 0);
        }
}

/* Positions, velocities and forces of the whole run, hashed (FNV-1a). */
static unsigned long long hashOf(const Field *field, unsigned long long hash)
{
    const spragContact *contact;
    const int count = spragWorldGetContacts(field->sprag, &contact);
    for (int k = 0; k < BODIES + count; ++k) {
        double x[9];
        memset(x, 0, sizeof x);
        for (int i = 0; i < 3; ++i) {
            x[i] = k < BODIES ? dBodyGetPosition(field->body[k])[i] : contact[k - BODIES].friction[i];
            x[3 + i] = k < BODIES ? dBodyGetLinearVel(field->body[k])[i] : contact[k - BODIES].slip[i];
            x[6 + i] = k < BODIES ? dBodyGetAngularVel(field->body[k])[i] : contact[k - BODIES].normal_force;
        }
        for (size_t b = 0; b < sizeof x; ++b)
            hash = (hash ^ ((const unsigned char *)x)[b]) * 1099511628211ULL;
    }
    return hash;
}

static void sameBitsForAnyThreads(void **state)
{
    (void)state;
    static const int threads[] = {1, 0, 2, 3, 8};
    unsigned long long expected = 0;
    for (size_t k = 0; k < sizeof threads / sizeof *threads; ++k) {
        Field field;
        unsigned long long hash = 14695981039346656037ULL;
        makeField(&field, threads[k]);
        for (int i = 0; i < STEPS; ++i) {
            addContacts(&field, 0.4);
            assert_int_equal(spragWorldStep(field.sprag, 0.01), SPRAG_OK);
            const spragStepInfo info = spragWorldGetStepInfo(field.sprag);
            assert_int_equal(info.declined, 0);
            hash = hashOf(&field, hash);
        }
        freeField(&field);
        expected = k == 0 ? hash : expected;
        assert_true(hash == expected);
    }
}

static unsigned long long stepsOf(const Field *field, int steps)
{
    unsigned long long hash = 14695981039346656037ULL;
    for (int i = 0; i < steps; ++i) {
        addContacts(field, 0.4);
        if (spragWorldStep(field->sprag, 0.01) != SPRAG_OK)
            return 0;
        hash = hashOf(field, hash);
    }
    return hash;
}

/* A host that forks between steps: the child steps on as the parent does, and can end its worlds. */
static void childOfForkGoesOn(void **state)
{
    (void)state;
    Field field;
    int ends[2], status = -1;
    makeField(&field, 3);
    stepsOf(&field, STEPS / 2);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* till all threads sleep */
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60); /* a hang is a failure */
        const unsigned long long hash = stepsOf(&field, STEPS / 2);
        freeField(&field);
        _exit(write(ends[1], &hash, sizeof hash) == (ssize_t)sizeof hash ? 0 : 1);
    }
    unsigned long long of_child = 0;
    close(ends[1]);
    assert_int_equal(read(ends[0], &of_child, sizeof of_child), (int)sizeof of_child);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(of_child == stepsOf(&field, STEPS / 2));
    freeField(&field);
    close(ends[0]);
}

/* The first island in which something is wrong is named, and the world is as it was. */
static void errorsAreTold(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads += 3) {
        Field field;
        makeField(&field, threads);
        addContacts(&field, 0.4);
        const dReal before = dBodyGetLinearVel(field.body[0])[0];
        dContact bad;
        memset(&bad, 0, sizeof bad);
        bad.surface.mode = dContactApprox1;
        bad.surface.mu = 0.5;
        bad.geom.normal[2] = 0; /* a plain ODE contact is not checked when it is made */
        const dJointID joint = dJointCreateContact(field.world, field.group, &bad);
        dJointAttach(joint, field.body[BODIES / 2], 0);
        assert_int_equal(spragWorldStep(field.sprag, 0.01), SPRAG_ERROR_RANGE);
        assert_non_null(strstr(spragStatusDetail(), "normal"));
        assert_true(dBodyGetLinearVel(field.body[0])[0] == before);
        freeField(&field);
    }
}

/* ---------------------------------------------------------------- one island that threads share out */

enum { SIDE = 26, RAFT = SIDE * SIDE, RAFT_STEPS = 5, HEARD = 3 };
static const double radius = 0.05; /* m */
static int moved;

static void countMoved(dBodyID body)
{
    (void)body;
    ++moved;
}

/* Balls in a square on a plane, each pressed a little into its neighbours, pushed along by gravity. */
static void makeRaft(dWorldID world, dBodyID *body)
{
    for (int i = 0; i < RAFT; ++i) {
        dMass mass;
        dMassSetSphereTotal(&mass, 1 + 0.001 * (i % 7), radius);
        body[i] = dBodyCreate(world);
        dBodySetMass(body[i], &mass);
        dBodySetPosition(body[i], 1.999 * radius * (i % SIDE), 1.999 * radius * (i / SIDE), 0.999 * radius);
        dBodySetAngularVel(body[i], sin(i), cos(5 * i), 0);
        dBodySetMovedCallback(body[i], i % 5 == 0 ? countMoved : NULL);
    }
}

static dJointID touch(const Field *field, const dBodyID *body, int i, int j)
{
    const dReal *p = dBodyGetPosition(body[i]);
    dContact contact = planeContact(p[0], p[1], 0, 0.3);
    contact.geom.depth = radius - p[2];
    for (int c = 0; c < 3 && j >= 0; ++c)
        contact.geom.normal[c] = p[c] - dBodyGetPosition(body[j])[c];
    if (j >= 0) {
        const double apart = dCalcVectorLength3(contact.geom.normal);
        for (int c = 0; c < 3; ++c) {
            contact.geom.normal[c] /= apart;
            contact.geom.pos[c] = 0.5 * (p[c] + dBodyGetPosition(body[j])[c]);
        }
        contact.geom.depth = 2 * radius - apart;
    }
    const dJointID joint = spragJointCreateContact(field->sprag, field->group, &contact);
    dJointAttach(joint, body[i], j >= 0 ? body[j] : 0);
    return joint;
}

static void touchAll(const Field *field, const dBodyID *body, dJointFeedback *heard)
{
    dJointGroupEmpty(field->group);
    for (int i = 0; i < RAFT; ++i) {
        const dJointID joint = touch(field, body, i, -1);
        if (i < HEARD)
            dJointSetFeedback(joint, &heard[i]);
        if (i % SIDE > 0)
            touch(field, body, i, i - 1);
        if (i >= SIDE)
            touch(field, body, i, i - SIDE);
    }
}

typedef struct End {
    double x[RAFT][9], heard[HEARD][3], contact[3 * RAFT][4];
    int moved, events, contacts;
} End;

static void readEnd(const Field *field, const dBodyID *body, const dJointFeedback *heard, End *end)
{
    const spragContact *contact;
    const spragEvent *event;
    for (int i = 0; i < RAFT; ++i)
        for (int c = 0; c < 3; ++c) {
            end->x[i][c] = dBodyGetPosition(body[i])[c];
            end->x[i][3 + c] = dBodyGetLinearVel(body[i])[c];
            end->x[i][6 + c] = dBodyGetAngularVel(body[i])[c];
        }
    for (int i = 0; i < HEARD; ++i)
        for (int c = 0; c < 3; ++c)
            end->heard[i][c] = heard[i].f1[c];
    end->moved = moved;
    end->events = spragWorldGetEvents(field->sprag, &event);
    end->contacts = spragWorldGetContacts(field->sprag, &contact);
    for (int k = 0; k < end->contacts; ++k) {
        end->contact[k][0] = contact[k].normal_force;
        memcpy(end->contact[k] + 1, contact[k].friction, 3 * sizeof(double));
    }
}

static void runRaft(int threads, End *end)
{
    Field field;
    static dBodyID body[RAFT];
    dJointFeedback heard[HEARD];
    spragConfig config = spragConfigDefault();
    config.thread_count = threads;
    config.tolerance = 1e-6;
    config.iteration_limit = 40;
    moved = 0;
    memset(heard, 0, sizeof heard);
    field.world = dWorldCreate();
    field.group = dJointGroupCreate(0);
    dWorldSetGravity(field.world, 0.5, 0.2, -9.81);
    assert_int_equal(spragWorldAttach(field.world, &config, &field.sprag), SPRAG_OK);
    makeRaft(field.world, body);
    for (int k = 0; k < RAFT_STEPS; ++k) {
        touchAll(&field, body, heard);
        assert_int_equal(spragWorldStep(field.sprag, 0.004), SPRAG_OK);
        const spragStepInfo info = spragWorldGetStepInfo(field.sprag);
        assert_int_equal(info.islands, 1);
        assert_int_equal(info.contacts, RAFT + 2 * SIDE * (SIDE - 1));
        assert_int_equal(info.declined, 0);
    }
    memset(end, 0, sizeof *end);
    readEnd(&field, body, heard, end);
    dBodySetLinearVel(body[RAFT / 2], NAN, 0, 0);
    dBodySetLinearVel(body[RAFT - 1], NAN, 0, 0);
    touchAll(&field, body, heard);
    assert_int_equal(spragWorldStep(field.sprag, 0.004), SPRAG_ERROR_NOT_FINITE);
    char name[32];
    snprintf(name, sizeof name, "body %d:", RAFT / 2); /* the first one, whoever read it */
    assert_non_null(strstr(spragStatusDetail(), name));
    freeField(&field);
}

static void aLargeIslandGivesTheSameBits(void **state)
{
    (void)state;
    static End one, other;
    runRaft(1, &one);
    assert_int_equal(one.moved, RAFT_STEPS * ((RAFT + 4) / 5));
    assert_true(one.heard[0][2] > 0);
    for (int threads = 2; threads <= 4; ++threads) {
        runRaft(threads, &other);
        assert_memory_equal(&one, &other, sizeof one);
    }
}

static void threadsTakeNoMemory(void **state)
{
    (void)state;
    Field field;
    makeField(&field, 1);
    for (int i = 0; i < 150; ++i) {
        if (i == 100)
            for (int b = 0; b < BODIES; ++b)
                dBodySetLinearVel(field.body[b], 0, 0, 0);
        addContacts(&field, 0.4);
        const unsigned long before = spragAllocCount();
        assert_int_equal(spragWorldStep(field.sprag, 0.01), SPRAG_OK);
        if (i > 120)
            assert_int_equal(spragAllocCount(), before);
    }
    freeField(&field);
}

/* A hundred sleepers and one that is awake: one island, and of the memory of islands what one needs. */
static void sleepersTakeNoPart(void **state)
{
    (void)state;
    size_t awake = 0;
    for (int sleepers = 0; sleepers < 2; ++sleepers) {
        Field field;
        makeField(&field, 1);
        for (int i = 0; i < BODIES && sleepers; ++i)
            if (i != 1)
                dBodyDisable(field.body[i]);
        for (int i = 0; i < 3; ++i) {
            addContacts(&field, 0.4);
            assert_int_equal(spragWorldStep(field.sprag, 0.01), SPRAG_OK);
        }
        const size_t bytes = field.sprag->lane[0].arena.high_water;
        if (sleepers) {
            assert_int_equal(spragWorldGetStepInfo(field.sprag).islands, 1);
            assert_true(bytes < awake / 40);
        }
        awake = bytes;
        freeField(&field);
    }
}

/* Stacks of two boxes, visited without W (ode/islands/bare.h).  limit: s, 0: none. */
static Field makeStacks(int count, double limit)
{
    spragConfig config = spragConfigDefault();
    config.thread_count = 1;
    config.tolerance = 1e-4, config.time_limit = limit;
    Field field = {.world = dWorldCreate(), .group = dJointGroupCreate(0)};
    dWorldSetGravity(field.world, 0, 0, -9.81);
    assert_int_equal(spragWorldAttach(field.world, &config, &field.sprag), SPRAG_OK);
    for (int i = 0; i < count; ++i) {
        dBodyID below = 0;
        for (int level = 0; level < 2; ++level) {
            const dBodyID body = dBodyCreate(field.world);
            dBodySetPosition(body, 5 * i, 0, level + 0.5);
            for (int corner = 0; corner < 4; ++corner) {
                dContact contact = planeContact(5 * i + (corner & 1 ? 0.5 : -0.5), corner & 2 ? 0.5 : -0.5, level, 0.4);
                dJointAttach(spragJointCreateContact(field.sprag, field.group, &contact), body, below);
            }
            below = body;
        }
    }
    return field;
}

/* Of the memory of islands. */
static size_t bytesOfStacks(int count)
{
    Field field = makeStacks(count, 0);
    assert_int_equal(spragWorldStep(field.sprag, 0.01), SPRAG_OK);
    assert_int_equal(spragWorldGetStepInfo(field.sprag).islands, count);
    assert_non_null(field.sprag->snapshot.island[0].bare);
    const size_t bytes = field.sprag->lane[0].arena.high_water;
    freeField(&field);
    return bytes;
}

/* An island needs room for its own bodies, however many there are in the world. */
static void islandsTakeWhatTheyNeed(void **state)
{
    (void)state;
    assert_true(bytesOfStacks(400) <= 5 * bytesOfStacks(100));
}

/* Islands of eight joints, eight a batch: the order of 150 batches takes no memory either, nor does the C library take
 * any for it (as glibc's qsort does beyond 1 KiB). */
static void turnsTakeNoMemory(void **state)
{
    (void)state;
    Field field = makeStacks(8 * 150, 100);
    for (int i = 0; i < 10; ++i) {
        const unsigned long before = mallocs;
        assert_int_equal(spragWorldStep(field.sprag, 0.01), SPRAG_OK);
        if (i >= 5)
            assert_int_equal(mallocs, before);
    }
    freeField(&field);
}

/* 300 balls made inside each other, 3900 contacts, each a force limit without bound: one heap in which nothing slides.
 * (ODE's demo_space_stress in small; sweeps leave 1e-3 m/s.) */
static void aGluedHeapIsSolved(void **state)
{
    (void)state;
    enum { BALLS = 300 };
    static dBodyID ball[BALLS];
    static double radius[BALLS];
    unsigned long long seed = 1;
    dWorldID world = dWorldCreate();
    dJointGroupID group = dJointGroupCreate(0);
    spragWorldID sprag;
    dWorldSetCFM(world, 1e-5);
    assert_int_equal(spragWorldAttach(world, NULL, &sprag), SPRAG_OK);
    for (int i = 0; i < BALLS; ++i) {
        dMass mass;
        radius[i] = 0.175 + 0.125 * uniform(&seed);
        dMassSetSphere(&mass, 5, radius[i]);
        ball[i] = dBodyCreate(world);
        dBodySetMass(ball[i], &mass);
        dBodySetPosition(ball[i], 0.75 * uniform(&seed), 0.75 * uniform(&seed), 0.375 * uniform(&seed));
    }
    int count = 0;
    for (int i = 0; i < BALLS; ++i)
        for (int j = 0; j < i; ++j) {
            const dReal *a = dBodyGetPosition(ball[i]), *b = dBodyGetPosition(ball[j]);
            const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
            const double distance = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            if (distance >= radius[i] + radius[j])
                continue;
            dContact contact = {.surface = {.mode = dContactSoftCFM, .mu = dInfinity, .soft_cfm = 0.01}};
            contact.geom.depth = radius[i] + radius[j] - distance;
            for (int k = 0; k < 3; ++k) {
                contact.geom.normal[k] = d[k] / distance;
                contact.geom.pos[k] = a[k] - contact.geom.normal[k] * (radius[i] - 0.5 * contact.geom.depth);
            }
            dJointAttach(spragJointCreateContact(sprag, group, &contact), ball[i], ball[j]);
            ++count;
        }
    assert_true(count > 3000);
    assert_int_equal(spragWorldStep(sprag, 0.05), SPRAG_OK);
    const spragStepInfo info = spragWorldGetStepInfo(sprag);
    assert_int_equal(info.islands, 1);
    assert_int_equal(info.declined, 0);
    assert_true(info.residual <= 1e-8);
    spragWorldDetach(sprag);
    dJointGroupDestroy(group);
    dWorldDestroy(world);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(sameBitsForAnyThreads),
                                       cmocka_unit_test(childOfForkGoesOn),
                                       cmocka_unit_test(aLargeIslandGivesTheSameBits),
                                       cmocka_unit_test(errorsAreTold),
                                       cmocka_unit_test(threadsTakeNoMemory),
                                       cmocka_unit_test(sleepersTakeNoPart),
                                       cmocka_unit_test(islandsTakeWhatTheyNeed),
                                       cmocka_unit_test(aGluedHeapIsSolved),
                                       cmocka_unit_test(turnsTakeNoMemory)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
