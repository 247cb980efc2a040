/* Bodies alone on the ground go a way of their own (lone.h): the same motion, contacts, events and problems as
 * those who go the way of all islands, which a solver asked for by name sends everybody. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#include "ode/world/world.h"
#include "support/energy.h"
#include "support/uniform.h"

enum {
    BODIES = 40,
    STEPS = 120,
    ALIKE = 6, /* steps until the collider, asked about depths that differ by 1e-13 m, names corners in another order */
    HITS = 8
};

typedef struct Yard {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    spragWorldID sprag;
    dBodyID body[BODIES];
    int events[SPRAG_EVENT_TYPE_COUNT];
    int sticks; /* 1: its friction is infinite */
    int says;   /* 1: what the radii of its surfaces are */
} Yard;

/* The joint of a contact of body `number`, whose geom has the second place if `last`. */
static dJointID addContact(const Yard *yard, const dContact *contact, int number, int last)
{
    static const double radius[] = {0, 0.02, 0.1, 0.5, -1}; /* m */
    spragSurface surface = spragSurfaceDefault();
    surface.mu_static = number % 2 ? 0.1 : 0; /* less than mu: nothing */
    surface.curvature_radius[last] = radius[number % 5];
    surface.curvature_radius[!last] = number % 7 ? -1 : 0.3; /* of the world: its rims and pipes are none */
    return yard->says ? spragJointCreateContactSurface(yard->sprag, yard->group, contact, &surface)
                      : dJointCreateContact(yard->world, yard->group, contact);
}

static void onNear(void *data, dGeomID a, dGeomID b)
{
    Yard *yard = data;
    dContact contact[HITS];
    if (dGeomGetBody(a) != NULL && dGeomGetBody(b) != NULL)
        return;
    const int count = dCollide(a, b, HITS, &contact[0].geom, sizeof *contact);
    const dBodyID body = dGeomGetBody(a) != NULL ? dGeomGetBody(a) : dGeomGetBody(b);
    const int number = (int)(size_t)dBodyGetData(body);
    for (int i = 0; i < count; ++i) {
        contact[i].surface =
            (dSurfaceParameters){.mode = dContactApprox1, .mu = yard->sticks ? dInfinity : 0.2 + 0.005 * number};
        if (number % 4 == 1) {
            contact[i].surface.mode |= dContactBounce | dContactSoftERP | dContactSoftCFM;
            contact[i].surface.bounce = 0.5, contact[i].surface.bounce_vel = 0.1;
            contact[i].surface.soft_erp = 0.3, contact[i].surface.soft_cfm = 1e-4;
        }
        if (number % 3 == 0) {
            dJointAttach(addContact(yard, &contact[i], number, dGeomGetBody(a) == NULL), dGeomGetBody(a),
                         dGeomGetBody(b));
            continue;
        }
        /* the world first: ODE turns the joint around, and the normal points out of the body */
        if (dGeomGetBody(a) != NULL) {
            for (int c = 0; c < 3; ++c)
                contact[i].geom.normal[c] = -contact[i].geom.normal[c];
            contact[i].geom.g1 = b, contact[i].geom.g2 = a;
        }
        dJointAttach(addContact(yard, &contact[i], number, 1), 0, body);
    }
}

/* Boxes, balls and lying capsules, thrown over a plane. */
static void makeYard(Yard *yard, spragSolverKind solver)
{
    spragConfig config = spragConfigDefault();
    config.solver = solver;
    memset(yard, 0, sizeof *yard);
    yard->world = dWorldCreate();
    yard->space = dSimpleSpaceCreate(0);
    yard->group = dJointGroupCreate(0);
    dWorldSetGravity(yard->world, 0, 0, -9.81);
    dCreatePlane(yard->space, 0, 0, 1, 0);
    assert_int_equal(spragWorldAttach(yard->world, &config, &yard->sprag), SPRAG_OK);
    for (int i = 0; i < BODIES; ++i) {
        dMass mass;
        const dBodyID body = yard->body[i] = dBodyCreate(yard->world);
        const dGeomID geom = i % 3 == 0   ? dCreateBox(yard->space, 0.2, 0.3, 0.2)
                             : i % 3 == 1 ? dCreateSphere(yard->space, 0.1)
                                          : dCreateCapsule(yard->space, 0.1, 0.4);
        if (i % 3 == 0)
            dMassSetBoxTotal(&mass, 1 + 0.1 * i, 0.2, 0.3, 0.2);
        else if (i % 3 == 1)
            dMassSetSphereTotal(&mass, 1 + 0.1 * i, 0.1);
        else
            dMassSetCapsuleTotal(&mass, 1 + 0.1 * i, 3, 0.1, 0.4);
        dBodySetMass(body, &mass);
        dGeomSetBody(geom, body);
        dBodySetData(body, (void *)(size_t)i);
        dMatrix3 R;
        dRFromAxisAndAngle(R, 0, 1, 0, i % 3 == 2 ? 0.5 * M_PI : 0);
        dBodySetRotation(body, R);
        dBodySetPosition(body, 2.0 * i, 0, 0.1 + 0.02 * (i % 2) - 1e-9); /* what just touches does so by rounding */
        dBodySetLinearVel(body, 0.4 * sin(i), 0.4 * cos(i), 0);
        dBodySetAngularVel(body, 0, 0, 0.1 * i * (i % 3 == 1));
    }
}

/* They become coins that roll on their rims, each leaning otherwise. */
static void makeCoins(Yard *yard)
{
    for (int i = 0; i < BODIES; ++i) {
        const double radius = 0.1, length = 0.02 + 0.002 * (i % 10), lean = 0.02 + 0.035 * i, spin = 5 + 0.5 * i;
        dMass mass;
        dMatrix3 R;
        dGeomDestroy(dBodyGetFirstGeom(yard->body[i]));
        dGeomSetBody(dCreateCylinder(yard->space, radius, length), yard->body[i]);
        dMassSetCylinderTotal(&mass, 1, 3, radius, length);
        dBodySetMass(yard->body[i], &mass);
        dRFromZAxis(R, 0, cos(lean), i % 2 ? sin(lean) : -sin(lean));
        dBodySetRotation(yard->body[i], R);
        dBodySetPosition(yard->body[i], 2.0 * i, 0, radius * cos(lean) + 0.5 * length * sin(lean) - 1e-6);
        dBodySetLinearVel(yard->body[i], radius * spin, 0, 0);
        dBodySetAngularVel(yard->body[i], 0.1 * (i % 4), spin * R[6], spin * R[10]);
    }
}

static void stepYard(Yard *yard)
{
    dJointGroupEmpty(yard->group);
    dSpaceCollide(yard->space, yard, onNear);
    assert_int_equal(spragWorldStep(yard->sprag, 1.0 / 240), SPRAG_OK);
    const spragEvent *event;
    const int count = spragWorldGetEvents(yard->sprag, &event);
    for (int k = 0; k < count; ++k)
        ++yard->events[event[k].type];
}

static void freeYard(Yard *yard)
{
    spragWorldDetach(yard->sprag);
    dJointGroupDestroy(yard->group);
    dSpaceDestroy(yard->space);
    dWorldDestroy(yard->world);
}

static int loneCount(const Yard *yard)
{
    int count = 0;
    for (int k = 0; k < yard->sprag->snapshot.island_count; ++k)
        count += yard->sprag->snapshot.island[k].lone != NULL;
    return count;
}

/* That of the other yard at the same place, of the same body.  (Of boxes that stick the collider names the corners in
 * an order that follows from rounding.) */
static const spragContact *twinOf(const spragContact *contact, const spragContact *other, int count)
{
    for (int k = 0; k < count; ++k) {
        double away = fabs(contact->normal[2] - other[k].normal[2]);
        for (int i = 0; i < 3; ++i)
            away += fabs(contact->position[i] - other[k].position[i]);
        if (away <= 1e-6)
            return &other[k];
    }
    return NULL;
}

static void compareContacts(const Yard *a, const Yard *b)
{
    const spragContact *x, *others;
    const int count = spragWorldGetContacts(a->sprag, &x);
    assert_int_equal(count, spragWorldGetContacts(b->sprag, &others));
    for (int k = 0; k < count; ++k) {
        const spragContact *y = a->sticks ? twinOf(&x[k], others, count) : &others[k];
        assert_non_null(y);
        assert_true(x[k].id > 0);
        assert_true(a->sticks || x[k].id == y->id);
        assert_int_equal(x[k].mode, y->mode);
        assert_ptr_equal(x[k].body[1], y->body[1]);
        CHECK_NEAR(x[k].depth, y->depth, 1e-7);
        CHECK_NEAR(x[k].painleve_p, y->painleve_p, 1e-4);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(x[k].position[i], y->position[i], 1e-6);
            CHECK_NEAR(x[k].normal[i], y->normal[i], 0);
            CHECK_NEAR(x[k].slip[i], y->slip[i], 1e-5);
        }
    }
}

static void compareMotion(const Yard *a, const Yard *b)
{
    for (int i = 0; i < BODIES; ++i)
        for (int c = 0; c < 3; ++c) {
            CHECK_NEAR(dBodyGetPosition(a->body[i])[c], dBodyGetPosition(b->body[i])[c], 1e-6);
            CHECK_NEAR(dBodyGetLinearVel(a->body[i])[c], dBodyGetLinearVel(b->body[i])[c], 1e-5);
        }
}

static void stepsAreTheSame(int sticks)
{
    Yard lone, other;
    makeYard(&lone, SPRAG_SOLVER_AUTO);
    makeYard(&other, SPRAG_SOLVER_VARIANT);
    lone.sticks = other.sticks = sticks;
    int most = 0;
    for (int k = 0; k < STEPS; ++k) {
        stepYard(&lone);
        stepYard(&other);
        assert_true(spragWorldGetStepInfo(lone.sprag).residual <= 1e-8);
        assert_int_equal(loneCount(&other), 0);
        most = loneCount(&lone) > most ? loneCount(&lone) : most;
        compareMotion(&lone, &other);
        if (k < ALIKE)
            compareContacts(&lone, &other);
    }
    assert_true(most >= 3 * BODIES / 4);
    assert_true(lone.events[SPRAG_EVENT_TOUCH] > 0 && (sticks || lone.events[SPRAG_EVENT_STICK] > 0));
    /* one of the two ends of a capsule may slip by 1e-9 m/s for a step, as its rotation asks, and stick again */
    lone.events[SPRAG_EVENT_STICK] -= lone.events[SPRAG_EVENT_SLIP];
    other.events[SPRAG_EVENT_STICK] -= other.events[SPRAG_EVENT_SLIP];
    for (int type = 0; type < SPRAG_EVENT_TYPE_COUNT; ++type)
        if (type != SPRAG_EVENT_SLIP && !(sticks && type == SPRAG_EVENT_JAM)) /* (which of four corners is loaded) */
            assert_int_equal(lone.events[type], other.events[type]);
    freeYard(&lone);
    freeYard(&other);
}

static void sameAsAllIslands(void **state)
{
    (void)state;
    stepsAreTheSame(0);
    stepsAreTheSame(1);
}

/* Both ways, of coins and of what the program says how round it is; at least that share of the islands is lone. */
static void sameWithThese(int coins, int says, double share, int steps)
{
    Yard lone, other;
    makeYard(&lone, SPRAG_SOLVER_AUTO);
    makeYard(&other, SPRAG_SOLVER_VARIANT);
    if (coins)
        makeCoins(&lone), makeCoins(&other);
    lone.says = other.says = says;
    for (int k = 0; k < steps; ++k) {
        stepYard(&lone);
        stepYard(&other);
        assert_true(loneCount(&lone) >= share * lone.sprag->snapshot.island_count);
        assert_int_equal(loneCount(&other), 0);
        compareMotion(&lone, &other);
        if (k < ALIKE)
            compareContacts(&lone, &other);
    }
    freeYard(&lone);
    freeYard(&other);
}

/* Coins that lean have the same Jdot v as there (curvature.h, spragRim). */
static void coinsLeanTheSame(void **state)
{
    (void)state;
    sameWithThese(1, 0, 0.75, STEPS / 2);
}

static void saidRadiiAreTheSame(void **state)
{
    (void)state;
    sameWithThese(0, 1, 0.5, STEPS / 4);
    sameWithThese(1, 1, 0.5, STEPS / 4);
}

/* Word for word the same problem, but for rounding. */
static void problemsAreTheSame(int sticks, int coins)
{
    Yard lone, other;
    char name[2][64];
    makeYard(&lone, SPRAG_SOLVER_AUTO);
    makeYard(&other, SPRAG_SOLVER_VARIANT);
    if (coins)
        makeCoins(&lone), makeCoins(&other);
    lone.sticks = other.sticks = sticks;
    for (int i = 0; i < 2; ++i)
        snprintf(name[i], sizeof name[i], "/tmp/sprag-lone-%d-%d.txt", (int)getpid(), i);
    for (int k = 0; k < 3; ++k) {
        stepYard(&lone);
        stepYard(&other);
    }
    assert_int_equal(spragWorldDumpProblem(lone.sprag, name[0]), SPRAG_OK);
    assert_int_equal(spragWorldDumpProblem(other.sprag, name[1]), SPRAG_OK);
    int files = 0;
    for (int number = 1; number <= spragWorldGetStepInfo(lone.sprag).islands; ++number) {
        spragProblem *p[2];
        for (int i = 0; i < 2; ++i) {
            char file[96];
            snprintf(file, sizeof file, number == 1 ? "%.*s.txt" : "%.*s-%d.txt", (int)strlen(name[i]) - 4, name[i],
                     number);
            assert_int_equal(spragProblemRead(file, &p[i]), SPRAG_OK);
            unlink(file);
        }
        assert_int_equal(p[0]->contact_count, p[1]->contact_count);
        assert_int_equal(p[0]->block_count, p[1]->block_count);
        for (int i = 0; i < 9 * p[0]->block_count; ++i)
            CHECK_NEAR(p[0]->W[i], p[1]->W[i], 1e-7);
        for (int i = 0; i < 3 * p[0]->contact_count; ++i)
            CHECK_NEAR(p[0]->q[i], p[1]->q[i], 1e-7);
        for (int k = 0; k < p[0]->contact_count; ++k) {
            CHECK_NEAR(p[0]->mu[k], p[1]->mu[k], 0);
            assert_int_equal(p[0]->kind != NULL ? p[0]->kind[k] : 0, p[1]->kind != NULL ? p[1]->kind[k] : 0);
            for (int i = 6 * k; i < 6 * k + 6 && p[0]->bound != NULL; ++i)
                assert_true(p[0]->bound[i] == p[1]->bound[i]);
            if (p[0]->history != NULL) {
                assert_int_equal(p[0]->history[k].mode, p[1]->history[k].mode);
                assert_int_equal(p[0]->history[k].fresh, p[1]->history[k].fresh);
                CHECK_NEAR(p[0]->history[k].slip[0], p[1]->history[k].slip[0], 1e-6);
            }
        }
        for (int i = 0; i < 2; ++i)
            spragProblemFree(p[i]);
        ++files;
    }
    assert_true(files >= BODIES / 2);
    freeYard(&lone);
    freeYard(&other);
}

static void sameProblems(void **state)
{
    (void)state;
    problemsAreTheSame(0, 0);
    problemsAreTheSame(0, 1);
    problemsAreTheSame(1, 0);
}

/* A gram that friction just holds on an incline, on four rigid points that share the load in many ways: two of them are
 * at the edge of their cones, the others keep it where it is. */
static void littleBoxesDoNotCreep(void **state)
{
    (void)state;
    const double size = 0.01, slope = atan(0.5);
    dWorldID world = dWorldCreate();
    dJointGroupID group = dJointGroupCreate(0);
    spragWorldID sprag;
    assert_int_equal(spragWorldAttach(world, NULL, &sprag), SPRAG_OK);
    dWorldSetCFM(world, 0);
    dWorldSetGravity(world, 9.81 * sin(slope) * cos(0.4), 9.81 * sin(slope) * sin(0.4), -9.81 * cos(slope));
    dMass mass;
    dMassSetBoxTotal(&mass, 3e-3, size, size, 0.1 * size);
    dBodyID box = dBodyCreate(world);
    dBodySetMass(box, &mass);
    dBodySetPosition(box, 0, 0, 0.05 * size);
    double fastest = 0;
    for (int k = 0; k < 1000; ++k) {
        for (int i = 0; i < 4; ++i) {
            dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5 * 1.0001},
                                .geom = {.normal = {0, 0, 1}}};
            dBodyGetRelPointPos(box, i & 1 ? 0.5 * size : -0.5 * size, i & 2 ? 0.5 * size : -0.5 * size, -0.05 * size,
                                contact.geom.pos);
            contact.geom.depth = -contact.geom.pos[2];
            dJointAttach(spragJointCreateContact(sprag, group, &contact), box, 0);
        }
        assert_int_equal(spragWorldStep(sprag, 1e-3), SPRAG_OK);
        dJointGroupEmpty(group);
        const dReal *v = dBodyGetLinearVel(box);
        fastest = fmax(fastest, hypot(v[0], v[1]));
    }
    assert_true(fastest < 1e-10);
    spragWorldDetach(sprag);
    dJointGroupDestroy(group);
    dWorldDestroy(world);
}

/* Bodies that turn by up to six radians a step: Jdot v, w^2 r, would throw them (spragProductLimit). */
static void fastSpinsGainNoEnergy(void **state)
{
    (void)state;
    unsigned long long seed = 1;
    int lone = 0;
    Yard yard;
    makeYard(&yard, SPRAG_SOLVER_AUTO);
    for (int i = 0; i < BODIES; ++i) {
        double turn[3], spin[3];
        for (int c = 0; c < 3; ++c)
            turn[c] = M_PI * uniform(&seed), spin[c] = 900 * uniform(&seed);
        dMatrix3 R;
        dRFromEulerAngles(R, turn[0], turn[1], turn[2]);
        dBodySetRotation(yard.body[i], R);
        dBodySetPosition(yard.body[i], 2.0 * i, 0, 0.1);
        dBodySetAngularVel(yard.body[i], spin[0], spin[1], spin[2]);
    }
    double before[BODIES];
    for (int i = 0; i < BODIES; ++i)
        before[i] = mechanicalEnergy(&yard.body[i], 1);
    for (int k = 0; k < 4 * STEPS; ++k) {
        stepYard(&yard);
        lone += loneCount(&yard);
        for (int i = 0; i < BODIES; ++i)
            assert_true(mechanicalEnergy(&yard.body[i], 1) < 1.01 * before[i]);
    }
    assert_true(lone > BODIES);
    freeYard(&yard);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sameAsAllIslands),      cmocka_unit_test(coinsLeanTheSame),
        cmocka_unit_test(saidRadiiAreTheSame),   cmocka_unit_test(sameProblems),
        cmocka_unit_test(littleBoxesDoNotCreep), cmocka_unit_test(fastSpinsGainNoEnergy),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
