/* Attachments and the watch over their worlds. */
#include "support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sprag/sprag_ode.h>

/* Destroyed before it was detached: every call says so, and only detaching is left. */
static void worldsMayGoFirst(void **state)
{
    (void)state;
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    spragWorldID a = NULL, b = NULL;
    spragGuideID guide = NULL;
    spragGuideDef def = spragGuideDefDefault();
    def.body = body;
    def.normal[2] = 1;
    dFreeFunction *before = dGetFreeHandler();
    assert_int_equal(spragWorldAttach(world, NULL, &a), SPRAG_OK);
    assert_int_equal(spragGuideCreate(a, &def, &guide), SPRAG_OK);
    dJointSetFeedback(dJointCreateHinge(world, 0), NULL);
    assert_int_equal(spragWorldStep(a, 1e-3), SPRAG_OK);
    dWorldDestroy(world);
    assert_int_equal(spragWorldStep(a, 1e-3), SPRAG_ERROR_STALE);
    assert_non_null(strstr(spragStatusDetail(), "destroyed"));
    assert_int_equal(spragGuideCreate(a, &def, &guide), SPRAG_ERROR_STALE);
    assert_null(spragWorldFind(world));
    assert_null(spragWorldFind(NULL));

    dWorldID next = dWorldCreate(); /* most often at the same address */
    assert_int_equal(spragWorldAttach(next, NULL, &b), SPRAG_OK);
    assert_int_equal(spragWorldStep(b, 1e-3), SPRAG_OK);
    assert_int_equal(spragWorldStep(a, 1e-3), SPRAG_ERROR_STALE);
    spragWorldDetach(a);
    spragGuideDestroy(guide); /* went with the attachment */
    assert_int_equal(spragWorldStep(b, 1e-3), SPRAG_OK);
    spragWorldDetach(b);
    dWorldDestroy(next);
    assert_ptr_equal(dGetFreeHandler(), before);
}

static int freed;

static void countFreed(void *block, size_t size)
{
    (void)size;
    ++freed;
    free(block);
}

/* A host's own handler is called for everything, whether it was set before the attachment or after. */
static void freeHandlersAreKept(void **state)
{
    (void)state;
    dFreeFunction *before = dGetFreeHandler();
    dWorldID world = dWorldCreate();
    spragWorldID a = NULL;
    freed = 0;
    dSetFreeHandler(countFreed);
    assert_int_equal(spragWorldAttach(world, NULL, &a), SPRAG_OK);
    dBodyDestroy(dBodyCreate(world));
    const int of_body = freed;
    assert_true(of_body > 0);
    spragWorldDetach(a);
    assert_ptr_equal(dGetFreeHandler(), countFreed);
    assert_int_equal(spragWorldAttach(world, NULL, &a), SPRAG_OK);
    dSetFreeHandler(countFreed); /* on top of Sprag's: it stays when Sprag goes */
    spragWorldDetach(a);
    assert_ptr_equal(dGetFreeHandler(), countFreed);
    dBodyDestroy(dBodyCreate(world));
    assert_int_equal(freed, 2 * of_body);
    dSetFreeHandler(before);
    dWorldDestroy(world);
}

/* One that a host saved while Sprag's was there, and sets again when it is not: it does not pass on to itself. */
static void savedHandlersMayBeSet(void **state)
{
    (void)state;
    dFreeFunction *before = dGetFreeHandler();
    dWorldID world = dWorldCreate();
    spragWorldID a = NULL;
    assert_int_equal(spragWorldAttach(world, NULL, &a), SPRAG_OK);
    dFreeFunction *saved = dGetFreeHandler();
    spragWorldDetach(a);
    dSetFreeHandler(saved);
    assert_int_equal(spragWorldAttach(world, NULL, &a), SPRAG_OK);
    alarm(20); /* a hang is a failure */
    dBodyDestroy(dBodyCreate(world));
    alarm(0);
    spragWorldDetach(a);
    assert_ptr_equal(dGetFreeHandler(), before);
    dWorldDestroy(world);
}

enum { THREADS = 4, GUIDES = 40, ROUNDS = 200 };

static void *liveWithGuides(void *data)
{
    int *const bad = data;
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    spragGuideDef def = spragGuideDefDefault();
    def.body = body;
    def.normal[2] = 1;
    for (int round = 0; round < ROUNDS; ++round) {
        spragWorldID a = NULL;
        spragGuideID guide[GUIDES];
        *bad += spragWorldAttach(world, NULL, &a) != SPRAG_OK;
        for (int k = 0; k < GUIDES; ++k)
            *bad += spragGuideCreate(a, &def, &guide[k]) != SPRAG_OK;
        for (int k = 0; k < GUIDES; ++k) {
            spragGuideDestroy(guide[k]);
            *bad += spragStatusDetail()[0] != '\0';
        }
        spragWorldDetach(a);
    }
    dWorldDestroy(world);
    return NULL;
}

/* Threads that each have a world of their own: attachments come and go, guides are looked for in all worlds while
 * others' lists grow.  (What goes wrong may not show but under the thread sanitizer: .ci/run.) */
static void worldsLiveInThreads(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    int bad[THREADS] = {0};
    for (int i = 0; i < THREADS; ++i)
        assert_int_equal(pthread_create(&thread[i], NULL, liveWithGuides, &bad[i]), 0);
    for (int i = 0; i < THREADS; ++i) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(bad[i], 0);
    }
}

/* ---------------------------------------------------------------- forks */

enum { FORKS = 300 };

typedef struct Restless {
    dGeomID geom;
    atomic_int ends;
} Restless;

static void *remake(void *data)
{
    Restless *restless = data;
    dAllocateODEDataForThread((unsigned)dAllocateMaskAll);
    while (!restless->ends) {
        dGeomDestroy(restless->geom);
        restless->geom = dCreateSphere(NULL, 0.5);
    }
    dCleanupODEAllDataForThread();
    return NULL;
}

/* Steps a ball on a plane, so that its geom is known; returns that, which nothing has any more. */
static dGeomID makeKnown(dWorldID world, spragWorldID sprag)
{
    dContact contact = {.surface.mu = 0.5};
    const dGeomID plane = dCreatePlane(NULL, 0, 0, 1, 0), ball = dCreateSphere(NULL, 0.5);
    const dBodyID body = dBodyCreate(world);
    dWorldSetGravity(world, 0, 0, -9.81);
    dGeomSetBody(ball, body);
    dBodySetPosition(body, 0, 0, 0.49);
    assert_int_equal(dCollide(ball, plane, 1, &contact.geom, sizeof contact), 1);
    dJointAttach(dJointCreateContact(world, NULL, &contact), body, NULL);
    assert_int_equal(spragWorldStep(sprag, 0.01), SPRAG_OK);
    dGeomSetBody(ball, NULL);
    dBodyDestroy(body);
    dGeomDestroy(plane);
    return ball;
}

/* A thread may have a lock of ours while another one forks.  (The first test: freeHandlersAreKept ends the watch.) */
static void childrenHaveNoLocks(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it bears no threads and forks */
#endif
    dWorldID world[2];
    spragWorldID sprag[2];
    Restless restless = {0};
    dGeomID own = NULL;
    for (int k = 0; k < 2; ++k) { /* what lies between them is looked for in the list */
        world[k] = dWorldCreate();
        assert_int_equal(spragWorldAttach(world[k], NULL, &sprag[k]), SPRAG_OK);
        dGeomID *const known = k == 0 ? &own : &restless.geom;
        *known = makeKnown(world[k], sprag[k]);
    }
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, remake, &restless), 0);
    int failed = 0;
    for (int k = 0; k < FORKS && !failed; ++k) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(20); /* a hang is a failure */
            dGeomDestroy(own);
            _exit(0);
        }
        int status = -1;
        failed = waitpid(child, &status, 0) != child || status != 0;
    }
    restless.ends = 1;
    pthread_join(thread, NULL);
    assert_false(failed);
    dGeomDestroy(restless.geom);
    dGeomDestroy(own);
    for (int k = 0; k < 2; ++k) {
        spragWorldDetach(sprag[k]);
        dWorldDestroy(world[k]);
    }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(childrenHaveNoLocks), cmocka_unit_test(savedHandlersMayBeSet),
                                       cmocka_unit_test(worldsMayGoFirst), cmocka_unit_test(freeHandlersAreKept),
                                       cmocka_unit_test(worldsLiveInThreads)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
