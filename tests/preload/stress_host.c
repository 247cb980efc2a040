/* A program that does with ODE whatever may be done, at random and in several threads, and knows nothing of Sprag:
 *     stress_host SEED STEPS THREADS
 * Each thread has worlds of its own.  Bodies, joints and worlds come and go in any order; contacts are
 * kept for some steps, made without a group, attached to nothing, or lose a body; groups are emptied
 * late or outlive their world; some worlds have threads of ODE's own; both of ODE's steps are used.
 * Prints a sum over all that moved, per thread.
 *
 * One thread alone does the same in every run, as it has none of what does not: dHashSpace's order of pairs follows
 * addresses, and dWorldQuickStep's order of rows, where joints are ODE's, a number that all threads share. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ode/ode.h>

enum { THREADS_MOST = 3, WORLDS = 3, BODIES = 12, JOINTS = 6, SINGLES = 8 };

typedef struct Place {
    dWorldID world; /* NULL: none now */
    dSpaceID space;
    dJointGroupID group;
    dThreadingImplementationID threading;
    dThreadingThreadPoolID pool;
    dBodyID body[BODIES]; /* NULL: none now */
    dJointID joint[JOINTS], single[SINGLES];
    int keep; /* steps until the group is emptied */
} Place;

typedef struct Thread {
    pthread_t id;
    unsigned long long state;
    int steps, alone;
    Place place[WORLDS];
    dJointGroupID orphan[WORLDS]; /* groups whose world is gone */
    double sum;
} Thread;

static Thread *current[THREADS_MOST];

static int pick(Thread *t, int n)
{
    t->state = t->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((t->state >> 33) % (unsigned)n);
}

static dReal range(Thread *t, double low, double high)
{
    return (dReal)(low + (high - low) * pick(t, 10000) / 10000.0);
}

/* ---------------------------------------------------------------- worlds */

static void openPlace(Thread *t, Place *p)
{
    *p = (Place){.world = dWorldCreate(),
                 .space = t->alone ? dSimpleSpaceCreate(0) : dHashSpaceCreate(0),
                 .group = dJointGroupCreate(0)};
    dWorldSetGravity(p->world, 0, 0, (dReal)-9.81);
    dWorldSetAutoDisableFlag(p->world, pick(t, 2));
    dCreatePlane(p->space, 0, 0, 1, 0);
    if (pick(t, 3) == 0 && !t->alone && (p->threading = dThreadingAllocateMultiThreadedImplementation()) != NULL) {
        p->pool = dThreadingAllocateThreadPool(2, 0, (unsigned)dAllocateMaskAll, NULL);
        dThreadingThreadPoolServeMultiThreadedImplementation(p->pool, p->threading);
    } else {
        p->threading = dThreadingAllocateSelfThreadedImplementation();
    }
    dWorldSetStepThreadingImplementation(p->world, dThreadingImplementationGetFunctions(p->threading), p->threading);
}

static void shutPlace(Thread *t, Place *p, int which)
{
    const int space_first = pick(t, 2);
    if (space_first)
        dSpaceDestroy(p->space);
    if (pick(t, 2)) {
        if (t->orphan[which] != NULL)
            dJointGroupDestroy(t->orphan[which]);
        t->orphan[which] = p->group;
    } else {
        dJointGroupDestroy(p->group);
    }
    dWorldDestroy(p->world); /* with its bodies, joints and contacts */
    if (!space_first)
        dSpaceDestroy(p->space);
    if (p->pool != NULL) {
        dThreadingImplementationShutdownProcessing(p->threading);
        dThreadingFreeThreadPool(p->pool);
    }
    dThreadingFreeImplementation(p->threading);
    *p = (Place){0};
}

/* ---------------------------------------------------------------- bodies and joints */

static void makeBody(Thread *t, Place *p, int k)
{
    const dReal side = range(t, 0.2, 0.6);
    dMass mass;
    dMassSetBox(&mass, 100, side, side, side);
    p->body[k] = dBodyCreate(p->world);
    dBodySetMass(p->body[k], &mass);
    dBodySetPosition(p->body[k], range(t, -2, 2), range(t, -2, 2), range(t, 0.3, 3));
    dBodySetLinearVel(p->body[k], range(t, -2, 2), range(t, -2, 2), 0);
    dGeomSetBody(pick(t, 2) ? dCreateBox(p->space, side, side, side) : dCreateSphere(p->space, side / 2), p->body[k]);
    if (pick(t, 12) == 0)
        dBodySetKinematic(p->body[k]);
}

/* Its joints stay, in the air; its contacts too. */
static void destroyBody(Place *p, int k)
{
    for (dGeomID geom = dBodyGetFirstGeom(p->body[k]); geom != NULL; geom = dBodyGetFirstGeom(p->body[k]))
        dGeomDestroy(geom);
    dBodyDestroy(p->body[k]);
    p->body[k] = NULL;
}

static void makeJoint(Thread *t, Place *p, int k)
{
    const dBodyID a = p->body[pick(t, BODIES)], b = p->body[pick(t, BODIES)];
    if (a == NULL || a == b || (b != NULL && dAreConnected(a, b)))
        return;
    const dReal *at = dBodyGetPosition(a);
    const int type = pick(t, 3);
    const dJointID j = p->joint[k] = type == 0   ? dJointCreateBall(p->world, 0)
                                     : type == 1 ? dJointCreateHinge(p->world, 0)
                                                 : dJointCreateSlider(p->world, 0);
    dJointAttach(j, a, b);
    if (type == 0)
        dJointSetBallAnchor(j, at[0], at[1], at[2] + (dReal)0.3);
    if (type == 1) {
        dJointSetHingeAnchor(j, at[0], at[1], at[2] + (dReal)0.3);
        dJointSetHingeAxis(j, 0, 1, 0);
        dJointSetHingeParam(j, dParamFMax, range(t, 0, 5));
        dJointSetHingeParam(j, dParamVel, range(t, -3, 3));
    }
}

/* ---------------------------------------------------------------- contacts */

typedef struct Near {
    Thread *thread;
    Place *place;
} Near;

static void onNear(void *data, dGeomID g1, dGeomID g2)
{
    const Near *near = data;
    Thread *t = near->thread;
    Place *p = near->place;
    const dBodyID a = dGeomGetBody(g1), b = dGeomGetBody(g2);
    dContact contact[6];
    if (a == b || (a != NULL && b != NULL && dAreConnectedExcluding(a, b, dJointTypeContact)))
        return;
    const int n = dCollide(g1, g2, 6, &contact[0].geom, sizeof *contact);
    for (int i = 0; i < n; ++i) {
        memset(&contact[i].surface, 0, sizeof contact[i].surface);
        contact[i].surface.mode = dContactApprox1 | (pick(t, 4) == 0 ? dContactBounce : 0);
        contact[i].surface.mu = pick(t, 8) == 0 ? dInfinity : range(t, 0, 2);
        contact[i].surface.bounce = (dReal)0.3;
        const int single = pick(t, 20) == 0 ? pick(t, SINGLES) : -1;
        if (single >= 0 && p->single[single] != NULL)
            continue;
        const dJointID joint = dJointCreateContact(p->world, single >= 0 ? 0 : p->group, &contact[i]);
        if (single >= 0)
            p->single[single] = joint;
        if (pick(t, 30) != 0)
            dJointAttach(joint, a, b);
    }
}

/* ---------------------------------------------------------------- a life */

static void change(Thread *t, Place *p)
{
    const int k = pick(t, BODIES), j = pick(t, JOINTS), s = pick(t, SINGLES);
    if (p->body[k] == NULL)
        makeBody(t, p, k);
    else if (pick(t, 20) == 0)
        destroyBody(p, k);
    if (p->joint[j] == NULL && pick(t, 5) == 0)
        makeJoint(t, p, j);
    else if (p->joint[j] != NULL && pick(t, 20) == 0) {
        dJointDestroy(p->joint[j]);
        p->joint[j] = NULL;
    } else if (p->joint[j] != NULL && pick(t, 10) == 0) {
        (dJointIsEnabled(p->joint[j]) ? dJointDisable : dJointEnable)(p->joint[j]);
    }
    if (p->single[s] != NULL && pick(t, 4) == 0) {
        dJointDestroy(p->single[s]);
        p->single[s] = NULL;
    }
}

static void addUp(Thread *t, const Place *p)
{
    for (int k = 0; k < BODIES; ++k)
        for (int i = 0; p->body[k] != NULL && i < 3; ++i) {
            const double x = dBodyGetPosition(p->body[k])[i];
            if (!isfinite(x) || fabs(x) > 1e4) {
                fprintf(stderr, "a body is at %g m\n", x);
                exit(1);
            }
            t->sum += x;
        }
}

static void *live(void *data)
{
    Thread *t = data;
    dAllocateODEDataForThread((unsigned)dAllocateMaskAll);
    for (int n = 0; n < t->steps; ++n) {
        const int which = pick(t, WORLDS);
        Place *p = &t->place[which];
        if (p->world == NULL)
            openPlace(t, p);
        change(t, p);
        if (p->keep-- <= 0) {
            dJointGroupEmpty(p->group);
            dSpaceCollide(p->space, &(Near){t, p}, onNear);
            p->keep = pick(t, 4) == 0 ? pick(t, 4) : 0;
        }
        (pick(t, 2) ? dWorldStep : dWorldQuickStep)(p->world, (dReal)0.01);
        addUp(t, p);
        if (t->orphan[which] != NULL && pick(t, 5) == 0) {
            dJointGroupDestroy(t->orphan[which]);
            t->orphan[which] = NULL;
        }
        if (pick(t, 60) == 0)
            shutPlace(t, p, which);
    }
    for (int k = WORLDS - 1; k >= 0; --k) {
        if (t->place[k].world != NULL)
            shutPlace(t, &t->place[k], k);
        if (t->orphan[k] != NULL)
            dJointGroupDestroy(t->orphan[k]);
    }
    dCleanupODEAllDataForThread();
    return NULL;
}

int main(int argc, char **argv)
{
    const int threads = argc == 4 ? atoi(argv[3]) : 0;
    if (threads < 1 || threads > THREADS_MOST)
        return 2;
    dInitODE2(0);
    for (int k = 0; k < threads; ++k) {
        current[k] = calloc(1, sizeof *current[k]);
        current[k]->state = (unsigned long long)atoi(argv[1]) * THREADS_MOST + (unsigned)k;
        current[k]->steps = atoi(argv[2]);
        current[k]->alone = threads == 1;
        pthread_create(&current[k]->id, NULL, live, current[k]);
    }
    for (int k = 0; k < threads; ++k) {
        pthread_join(current[k]->id, NULL);
        printf("%.17g\n", current[k]->sum);
        free(current[k]);
    }
    dCloseODE();
    return 0;
}
