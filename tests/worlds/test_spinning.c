/* Contacts give no energy, however fast bodies turn: what a step leaves them with beyond what it leaves the same bodies
 * in flight, by ODE's own step, is the work of the contacts. */
#include "support/check.h"
#include "support/collide.h"
#include "support/uniform.h"

#include <sprag/sprag_ode.h>

enum { TRIALS = 240, STEPS = 20, KINDS = 6 };
static const double gravity = 9.81;

/* A world with contacts, and one with the same bodies in flight. */
typedef struct Spinning {
    dWorldID world, free;
    dSpaceID space;
    dJointGroupID group;
    spragWorldID sprag;
    dBodyID body[2], twin[2];
    double mu;
    int count, listened;
    dJointFeedback feedback;
} Spinning;

static void collide(void *data, dGeomID a, dGeomID b)
{
    Spinning *s = data;
    const dSurfaceParameters surface = {.mode = dContactApprox1, .mu = s->mu};
    makeContacts(s->sprag, s->group, a, b, &surface, s->listened ? &s->feedback : NULL); /* with it, with blocks */
}

static dGeomID addShape(Spinning *s, int kind, dMass *mass)
{
    switch (kind % KINDS) {
    case 0:
        dMassSetBoxTotal(mass, 1, 0.2, 0.2, 0.2);
        return dCreateBox(s->space, 0.2, 0.2, 0.2);
    case 1:
        dMassSetBoxTotal(mass, 1, 0.3, 0.2, 0.1);
        return dCreateBox(s->space, 0.3, 0.2, 0.1);
    case 2:
        dMassSetBoxTotal(mass, 1, 0.4, 0.4, 0.04);
        return dCreateBox(s->space, 0.4, 0.4, 0.04);
    case 3:
        dMassSetCapsuleTotal(mass, 1, 3, 0.05, 0.6);
        return dCreateCapsule(s->space, 0.05, 0.6);
    case 4:
        dMassSetCylinderTotal(mass, 1, 3, 0.15, 0.03);
        return dCreateCylinder(s->space, 0.15, 0.03);
    default:
        dMassSetCylinderTotal(mass, 1, 3, 0.2, 0.1);
        return dCreateCylinder(s->space, 0.2, 0.1);
    }
}

/* m, the lowest point (2) or the highest (3: 5) of the geom. */
static double end(dGeomID geom, int which)
{
    dReal box[6];
    dGeomGetAABB(geom, box);
    return box[which];
}

static void make(Spinning *s, int number, double spin, unsigned long long *seed)
{
    static const double mu[4] = {0.3, 1, 2, 0};
    *s = (Spinning){.world = dWorldCreate(),
                    .free = dWorldCreate(),
                    .space = dSimpleSpaceCreate(NULL),
                    .group = dJointGroupCreate(0),
                    .mu = mu[number / KINDS % 4],
                    .count = 1 + number % 2,
                    .listened = number / 2 % 2};
    spragConfig config = spragConfigDefault();
    config.gyroscopic = SPRAG_GYROSCOPIC_ODE;
    assert_int_equal(spragWorldAttach(s->world, &config, &s->sprag), SPRAG_OK);
    dWorldSetGravity(s->world, 0, 0, -gravity), dWorldSetGravity(s->free, 0, 0, -gravity);
    dWorldSetERP(s->world, 0), dWorldSetCFM(s->world, 0);
    dCreatePlane(s->space, 0, 0, 1, 0);
    double top = 0;
    for (int i = 0; i < s->count; ++i) {
        dMass mass;
        dMatrix3 R;
        s->body[i] = dBodyCreate(s->world), s->twin[i] = dBodyCreate(s->free);
        const dGeomID geom = addShape(s, number / 3 + i * (number / 7), &mass);
        dGeomSetBody(geom, s->body[i]);
        dBodySetMass(s->body[i], &mass), dBodySetMass(s->twin[i], &mass);
        dRFromAxisAndAngle(R, uniform(seed), uniform(seed), uniform(seed), 0.5 + number % 3 * uniform(seed));
        dBodySetRotation(s->body[i], R);
        const double w[3] = {uniform(seed), uniform(seed), uniform(seed)},
                     part = spin / sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
        dBodySetAngularVel(s->body[i], part * w[0], part * w[1], part * w[2]);
        dBodySetLinearVel(s->body[i], uniform(seed), uniform(seed), 0.3 * uniform(seed) - 0.3);
        dBodySetPosition(s->body[i], 0, 0, 0);
        dBodySetPosition(s->body[i], 0.02 * i * uniform(seed), 0, top - 1e-4 - 0.01 * i - end(geom, 4));
        top = end(geom, 5);
    }
}

static double energyOf(dBodyID body)
{
    dMass mass;
    dVector3 w, L;
    dBodyGetMass(body, &mass);
    const dReal *v = dBodyGetLinearVel(body), *spin = dBodyGetAngularVel(body);
    dBodyVectorFromWorld(body, spin[0], spin[1], spin[2], w);
    dMultiply0_331(L, mass.I, w);
    return 0.5 * (mass.mass * dCalcVectorDot3(v, v) + dCalcVectorDot3(w, L));
}

/* J, the work of the contacts in a step. */
static double work(Spinning *s, double h)
{
    double gained = 0;
    for (int i = 0; i < s->count; ++i) {
        const dReal *v = dBodyGetLinearVel(s->body[i]), *w = dBodyGetAngularVel(s->body[i]);
        dBodySetQuaternion(s->twin[i], dBodyGetQuaternion(s->body[i]));
        dBodySetLinearVel(s->twin[i], v[0], v[1], v[2]);
        dBodySetAngularVel(s->twin[i], w[0], w[1], w[2]);
    }
    dWorldStep(s->free, h);
    dSpaceCollide(s->space, s, collide);
    assert_int_equal(spragWorldStep(s->sprag, h), SPRAG_OK);
    dJointGroupEmpty(s->group);
    for (int i = 0; i < s->count; ++i) /* the last term: gravity works on what they fall less */
        gained += energyOf(s->body[i]) - energyOf(s->twin[i]) +
                  0.5 * h * gravity * (dBodyGetLinearVel(s->body[i])[2] - dBodyGetLinearVel(s->twin[i])[2]);
    return gained;
}

/* (By a step of 1/60 s cubes gained as much as they had, lying or beside each other up to twelve times it.) */
static void contactsTakeEnergy(void **state)
{
    (void)state;
    static const double rate[3] = {60, 120, 240}, spin[2] = {60, 15};
    for (int number = 0; number < TRIALS; ++number) {
        unsigned long long seed = 77 + (unsigned long long)number;
        Spinning s;
        make(&s, number, spin[number / 5 % 2], &seed);
        double begun = 0;
        for (int i = 0; i < s.count; ++i)
            begun += energyOf(s.body[i]);
        for (int k = 0; k < STEPS; ++k)
            assert_true(work(&s, 1 / rate[number % 3]) <= 3e-3 * begun);
        spragWorldDetach(s.sprag);
        dJointGroupDestroy(s.group);
        dSpaceDestroy(s.space);
        dWorldDestroy(s.world), dWorldDestroy(s.free);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(contactsTakeEnergy)};
    dInitODE2(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
