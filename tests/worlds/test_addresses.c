/* Where the program's memory lies is no matter: worlds with nothing, and with something of any size, between their
 * bodies move with the same bits, and so do those whose new geoms, bodies and joints have the addresses of old ones, or
 * others. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#include "support/uniform.h"

enum { BODIES = 100, CORNERS = 8, STEPS = 60 };

typedef struct Yard {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    spragWorldID sprag;
    dBodyID body[BODIES];
    void *between[BODIES];
    int count;
} Yard;

static void onNear(void *data, dGeomID a, dGeomID b)
{
    Yard *yard = data;
    dContact contact[CORNERS];
    if (dGeomGetBody(a) == NULL && dGeomGetBody(b) == NULL)
        return;
    memset(contact, 0, sizeof contact);
    const int count = dCollide(a, b, CORNERS, &contact[0].geom, sizeof contact[0]);
    for (int i = 0; i < count; ++i) {
        contact[i].surface.mu = 0.5;
        dJointAttach(spragJointCreateContact(yard->sprag, yard->group, &contact[i]), dGeomGetBody(a), dGeomGetBody(b));
    }
}

static dBodyID addBody(Yard *yard, dGeomID geom, const dMass *mass, const double x[3])
{
    const dBodyID body = yard->body[yard->count++] = dBodyCreate(yard->world);
    dBodySetMass(body, mass);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, x[0], x[1], x[2]);
    return body;
}

/* A wall of bricks that touch, 10 by 8; or balls and boxes that fall onto each other. */
static void build(Yard *yard, int heap, unsigned long long *seed)
{
    static const double size[3] = {0.2, 0.1, 0.1}; /* m */
    dMass mass;
    for (int k = 0; k < 80; ++k) {
        if (*seed != 0)
            yard->between[k] = malloc(16 + (size_t)(2000 * (1 + uniform(seed))));
        const int row = k / 10, i = k % 10;
        if (heap) {
            const double x[3] = {0.15 * (k % 4), 0.15 * (k / 4 % 4), 0.1 + 0.11 * (k / 16) + 0.01 * (k % 3)};
            dMassSetSphereTotal(&mass, 1, 0.05);
            addBody(yard, k % 2 ? dCreateSphere(yard->space, 0.08) : dCreateBox(yard->space, 0.1, 0.1, 0.1), &mass, x);
        } else {
            const double x[3] = {(i + 0.45 * (row % 2)) * size[0], 0, (row + 0.5) * size[2]};
            dMassSetBoxTotal(&mass, 1, size[0], size[1], size[2]);
            addBody(yard, dCreateBox(yard->space, size[0], size[1], size[2]), &mass, x);
        }
    }
}

static void makeYard(Yard *yard)
{
    memset(yard, 0, sizeof *yard);
    yard->world = dWorldCreate();
    dWorldSetGravity(yard->world, 0, 0, -9.81);
    dWorldSetCFM(yard->world, 0);
    yard->space = dHashSpaceCreate(NULL);
    dCreatePlane(yard->space, 0, 0, 1, 0);
    yard->group = dJointGroupCreate(0);
    assert_int_equal(spragWorldAttach(yard->world, NULL, &yard->sprag), SPRAG_OK);
}

static void freeYard(Yard *yard)
{
    spragWorldDetach(yard->sprag);
    dJointGroupDestroy(yard->group);
    dSpaceDestroy(yard->space);
    dWorldDestroy(yard->world);
    for (int i = 0; i < BODIES; ++i)
        free(yard->between[i]);
}

/* out: (BODIES, 3), the positions, m */
static void step(Yard *yard, double h, double (*out)[3])
{
    dSpaceCollide(yard->space, yard, onNear);
    assert_int_equal(spragWorldStep(yard->sprag, h), SPRAG_OK);
    dJointGroupEmpty(yard->group);
    for (int i = 0; i < yard->count; ++i)
        for (int j = 0; j < 3; ++j)
            out[i][j] = dBodyGetPosition(yard->body[i])[j];
}

/* out: (STEPS, BODIES, 3) */
static void runOne(int heap, unsigned long long seed, double (*out)[BODIES][3])
{
    Yard yard;
    makeYard(&yard);
    build(&yard, heap, &seed);
    for (int k = 0; k < STEPS; ++k)
        step(&yard, 0.005, out[k]);
    freeYard(&yard);
}

static void addressesAreNoMatter(void **state)
{
    (void)state;
    static double first[STEPS][BODIES][3], other[STEPS][BODIES][3];
    for (int heap = 0; heap < 2; ++heap) {
        runOne(heap, 0, first);
        for (unsigned long long seed = 1; seed <= 3; ++seed) {
            runOne(heap, seed, other);
            for (int k = 0; k < STEPS; ++k)
                if (memcmp(first[k], other[k], sizeof first[k]) != 0)
                    fail_msg("heap %d, seed %llu: step %d is another", heap, seed, k);
        }
    }
}

/* ---------------------------------------------------------------- made anew */

enum { MANY_STEPS = 150, MANY_CONTACTS = 200 };

typedef struct Trace {
    double x[BODIES][3]; /* m */
    unsigned long long id[MANY_CONTACTS];
    int contacts;
} Trace;

/* A program that destroys what it has and makes the same anew; decoy: something else has its address by then. */
typedef struct Renewal {
    Yard yard;
    int decoys;
    dGeomID geom[BODIES], pipe, decoy[MANY_STEPS];
    int decoy_count;
    dWorldID elsewhere; /* where decoys of bodies and joints live */
    dJointID hinge[BODIES];
} Renewal;

static dGeomID makeGeom(dSpaceID space, int kind)
{
    return kind == 0   ? dCreateBox(space, 0.5, 0.5, 0.1)
           : kind == 1 ? dCreateCapsule(space, 0.05, 0.2)
                       : dCreateCylinder(space, 0.05, 0.2);
}

static dGeomID remake(Renewal *renewal, dGeomID old, dSpaceID space, int kind)
{
    dGeomDestroy(old);
    if (renewal->decoys)
        renewal->decoy[renewal->decoy_count++] = makeGeom(NULL, kind);
    return makeGeom(space, kind);
}

static void layAcross(dGeomID geom)
{
    dMatrix3 across;
    dRFromAxisAndAngle(across, 1, 0, 0, 1.5707963267948966);
    dGeomSetRotation(geom, across);
}

/* Of the world: in the bodies' space, where it is found, and by turns in none. */
static void remakePipe(Renewal *renewal, int found)
{
    renewal->pipe = remake(renewal, renewal->pipe, found ? renewal->yard.space : NULL, 1);
    dGeomCapsuleSetParams(renewal->pipe, 0.3, 2);
    layAcross(renewal->pipe);
    dGeomSetPosition(renewal->pipe, 0, 0, 0.1);
}

/* Joins body k to the world, about a vertical axis beside it, with friction or without. */
static void hang(Renewal *renewal, int k, double mu)
{
    const Yard *yard = &renewal->yard;
    const dReal *x = dBodyGetPosition(yard->body[k]);
    const dJointID hinge = renewal->hinge[k] = dJointCreateHinge(yard->world, 0);
    dJointAttach(hinge, yard->body[k], NULL);
    dJointSetHingeAnchor(hinge, x[0] + 0.1, x[1], x[2]);
    dJointSetHingeAxis(hinge, 0, 0.1, 1);
    spragJointFriction friction = spragJointFrictionDefault();
    friction.mu = mu, friction.radius = 0.05;
    if (mu > 0)
        assert_int_equal(spragJointSetFriction(yard->sprag, hinge, &friction), SPRAG_OK);
}

/* The body, at rest where it was, and its hinge, which has no friction any more. */
static void remakeBody(Renewal *renewal, int k)
{
    Yard *yard = &renewal->yard;
    const dBodyID old = yard->body[k];
    dMass mass;
    dVector3 x;
    dQuaternion q;
    dBodyGetMass(old, &mass);
    dBodyCopyPosition(old, x);
    dBodyCopyQuaternion(old, q);
    dJointDestroy(renewal->hinge[k]);
    dBodyDestroy(old);
    if (renewal->decoys) {
        dBodyCreate(renewal->elsewhere);
        dJointCreateHinge(renewal->elsewhere, 0);
    }
    const dBodyID body = yard->body[k] = dBodyCreate(yard->world);
    dBodySetMass(body, &mass);
    dGeomSetBody(renewal->geom[k], body);
    dBodySetPosition(body, x[0], x[1], x[2]);
    dBodySetQuaternion(body, q);
    hang(renewal, k, 0);
}

/* Boxes on the pipe, and capsules and cylinders that lie on them. */
static void buildRenewal(Renewal *renewal)
{
    Yard *yard = &renewal->yard;
    dMass mass;
    for (int k = 0; k < 12; ++k) {
        const int kind = k < 4 ? 0 : 1 + k % 2, at = k % 4;
        const double x[3] = {0.02 * at + (k < 4 ? 0 : 0.12 * (k / 4) - 0.18), 0.6 * at - 0.9, k < 4 ? 0.45 : 0.55};
        renewal->geom[k] = makeGeom(yard->space, kind);
        dMassSetBoxTotal(&mass, k < 4 ? 5 : 1, 0.2, 0.2, 0.2);
        addBody(yard, renewal->geom[k], &mass, x);
        if (kind > 0)
            layAcross(renewal->geom[k]);
    }
    renewal->pipe = makeGeom(NULL, 1);
    remakePipe(renewal, 0);
}

static void stepTraced(Yard *yard, Trace *out)
{
    step(yard, 0.01, out->x);
    const spragContact *contact;
    out->contacts = spragWorldGetContacts(yard->sprag, &contact);
    for (int i = 0; i < out->contacts && i < MANY_CONTACTS; ++i)
        out->id[i] = contact[i].id;
}

/* what is made anew: 0: geoms of bodies, 1: that of the world, 2: bodies and their joints */
static void runRenewal(int what, int decoys, Trace *out)
{
    Renewal renewal;
    memset(&renewal, 0, sizeof renewal);
    memset(out, 0, MANY_STEPS * sizeof *out);
    Yard *yard = &renewal.yard;
    renewal.decoys = decoys;
    makeYard(yard);
    renewal.elsewhere = dWorldCreate();
    buildRenewal(&renewal);
    for (int k = 0; k < yard->count && what == 2; k += 2)
        hang(&renewal, k, 0.5);
    for (int k = 0; k < MANY_STEPS; ++k) {
        const int at = k / 4 % yard->count;
        if (what == 0 && k % 4 == 0) {
            renewal.geom[at] = remake(&renewal, renewal.geom[at], yard->space, at < 4 ? 0 : 1 + at % 2);
            dGeomSetBody(renewal.geom[at], yard->body[at]);
        } else if (what == 1 && k % 20 == 10)
            remakePipe(&renewal, k % 40 == 10);
        else if (what == 2 && k % 4 == 0)
            remakeBody(&renewal, at / 2 * 2);
        if (dGeomGetSpace(renewal.pipe) == NULL)
            dSpaceCollide2((dGeomID)yard->space, renewal.pipe, yard, onNear);
        stepTraced(yard, &out[k]);
    }
    for (int i = 0; i < renewal.decoy_count; ++i)
        dGeomDestroy(renewal.decoy[i]);
    if (dGeomGetSpace(renewal.pipe) == NULL)
        dGeomDestroy(renewal.pipe);
    dWorldDestroy(renewal.elsewhere);
    freeYard(yard);
}

static void newOnesHaveNoPastOfOthers(void **state)
{
    (void)state;
    static Trace first[MANY_STEPS], other[MANY_STEPS];
    for (int what = 0; what < 3; ++what) {
        runRenewal(what, 0, first);
        runRenewal(what, 1, other);
        assert_true(first[MANY_STEPS - 1].contacts > 10);
        for (int k = 0; k < MANY_STEPS; ++k)
            if (memcmp(&first[k], &other[k], sizeof first[k]) != 0)
                fail_msg("case %d: step %d is another", what, k);
    }
}

/* 1e5: more than are noted between two steps (ode/world/gone.h). */
static void whatGoesElsewhereIsNoMatter(void **state)
{
    (void)state;
    enum { ONCE = 60 };
    static Trace trace[2][MANY_STEPS];
    for (int many = 0; many < 2; ++many) {
        Renewal renewal;
        memset(&renewal, 0, sizeof renewal);
        memset(trace[many], 0, sizeof trace[many]);
        Yard *yard = &renewal.yard, other;
        makeYard(yard);
        buildRenewal(&renewal);
        makeYard(&other);
        dMass mass;
        dMassSetSphereTotal(&mass, 1, 0.5);
        dGeomID ball = dCreateSphere(other.space, 0.5);
        addBody(&other, ball, &mass, (const double[3]){0, 0, 0.49});
        for (int k = 0; k < MANY_STEPS; ++k) {
            double x[BODIES][3];
            step(&other, 0.01, x);
            for (int i = 0; k == ONCE && many && i < 100000; ++i) {
                dGeomDestroy(ball);
                ball = dCreateSphere(other.space, 0.5);
                dGeomSetBody(ball, other.body[0]);
            }
            if (dGeomGetSpace(renewal.pipe) == NULL)
                dSpaceCollide2((dGeomID)yard->space, renewal.pipe, yard, onNear);
            stepTraced(yard, &trace[many][k]);
        }
        if (dGeomGetSpace(renewal.pipe) == NULL)
            dGeomDestroy(renewal.pipe);
        freeYard(&other);
        freeYard(yard);
    }
    assert_true(trace[0][MANY_STEPS - 1].contacts > 10);
    assert_memory_equal(trace[0], trace[1], sizeof trace[0]);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(addressesAreNoMatter),
                                       cmocka_unit_test(newOnesHaveNoPastOfOthers),
                                       cmocka_unit_test(whatGoesElsewhereIsNoMatter)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
