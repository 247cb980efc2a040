/* A body on very many contacts: the answer is one of the whole problem, and the cost grows as their number. */
#include "support/check.h"
#include "support/plane_contact.h"

#include <string.h>
#include <time.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#include "ode/world/world.h"

enum { FRICTION_STEPS = 40 };

typedef struct Slab {
    dWorldID world;
    dBodyID body;
    dJointGroupID group;
    spragWorldID sprag;
    int side;  /* contacts along an edge of its lower face */
    int round; /* the face is an ellipse: of its edge, points beside those first taken come to bear load */
} Slab;

static const double half[3] = {0.5, 0.3, 0.1}, gravity = 9.81, mu = 0.4, step_size = 1e-3;

static void makeSlab(Slab *slab, int side)
{
    slab->world = dWorldCreate();
    slab->group = dJointGroupCreate(0);
    slab->body = dBodyCreate(slab->world);
    slab->side = side;
    slab->round = 0;
    dWorldSetGravity(slab->world, 0, 0, -gravity);
    dMass mass;
    dMassSetBoxTotal(&mass, 3, 2 * half[0], 2 * half[1], 2 * half[2]);
    dBodySetMass(slab->body, &mass);
    dBodySetPosition(slab->body, 0, 0, half[2]);
    assert_int_equal(spragWorldAttach(slab->world, NULL, &slab->sprag), SPRAG_OK);
}

static void freeSlab(Slab *slab)
{
    spragWorldDetach(slab->sprag);
    dJointGroupDestroy(slab->group);
    dWorldDestroy(slab->world);
}

/* Points of the lower face, on a floor that is as deep as it is. */
static void addContacts(const Slab *slab)
{
    for (int i = 0; i < slab->side * slab->side; ++i) {
        const double x = 2.0 * (i % slab->side) / (slab->side - 1) - 1,
                     y = 2.0 * (i / slab->side) / (slab->side - 1) - 1;
        dVector3 p;
        const double in_x = slab->round ? sqrt(1 - y * y / 2) : 1, in_y = slab->round ? sqrt(1 - x * x / 2) : 1;
        dBodyGetRelPointPos(slab->body, x * in_x * half[0], y * in_y * half[1], -half[2], p);
        dContact contact = planeContact(p[0], p[1], p[2], mu);
        contact.geom.depth = -p[2];
        dJointAttach(spragJointCreateContact(slab->sprag, slab->group, &contact), slab->body, 0);
    }
}

static void step(const Slab *slab)
{
    dJointGroupEmpty(slab->group);
    addContacts(slab);
    assert_int_equal(spragWorldStep(slab->sprag, step_size), SPRAG_OK);
    const spragStepInfo info = spragWorldGetStepInfo(slab->sprag);
    assert_int_equal(info.contacts, slab->side * slab->side);
    assert_int_equal(info.declined, 0);
    assert_true(info.residual <= 1e-8);
}

/* Every contact, working or idle, obeys its law; together they carry the weight. */
static void checkContacts(const Slab *slab)
{
    const spragContact *contact;
    const int count = spragWorldGetContacts(slab->sprag, &contact);
    assert_int_equal(count, slab->side * slab->side);
    double normal = 0;
    for (int k = 0; k < count; ++k) {
        dVector3 v;
        dBodyGetPointVel(slab->body, contact[k].position[0], contact[k].position[1], contact[k].position[2], v);
        const double force = contact[k].normal_force, rub = sqrt(contact[k].friction[0] * contact[k].friction[0] +
                                                                 contact[k].friction[1] * contact[k].friction[1]);
        assert_true(force >= 0 && rub <= mu * force * (1 + 1e-9));
        assert_true(v[2] >= -1e-4); /* the turning of the points within the step is of second order */
        normal += force;
    }
    CHECK_NEAR(normal, 3 * gravity, 0.05 * 3 * gravity);
}

/* It slides, spins and stops: the same motion with 9 contacts (all solved) as with 900 (few of them), as far as the
 * distribution of the load, which is not unique, leaves it the same: straight sliding is unique. */
static void slidesAsWithFew(void **state)
{
    (void)state;
    double x[2];
    for (int k = 0; k < 2; ++k) {
        Slab slab;
        makeSlab(&slab, k == 0 ? 3 : 30);
        dBodySetLinearVel(slab.body, 0.1, 0.05, 0);
        for (int i = 0; i < FRICTION_STEPS; ++i) {
            step(&slab);
            checkContacts(&slab);
        }
        x[k] = dBodyGetPosition(slab.body)[0];
        CHECK_NEAR(dCalcVectorLength3(dBodyGetLinearVel(slab.body)), 0,
                   1e-9); /* 0.112 m/s at mu g = 3.9 m/s^2: 29 steps */
        freeSlab(&slab);
    }
    CHECK_NEAR(x[0], x[1], 1e-7);
}

/* Pushed at its edge until it tips: contacts that idled have to take the load. */
static void tip(const Slab *slab, dJointID motor)
{
    for (int i = 0; i < 60; ++i) {
        if (motor != NULL)
            dJointSetAMotorParam(motor, dParamFMax, 0.5 + 0.05 * i);
        if (i >= 10)
            dBodyAddForceAtRelPos(slab->body, 0, 0, -400, 0.485 * sin(0.3 * i), 0.29 * cos(0.3 * i), 0);
        step(slab);
        const spragContact *contact;
        const int count = spragWorldGetContacts(slab->sprag, &contact);
        for (int k = 0; k < count; ++k) {
            dVector3 v;
            dBodyGetPointVel(slab->body, contact[k].position[0], contact[k].position[1], contact[k].position[2], v);
            assert_true(contact[k].normal_force >= 0 && v[2] >= -1e-6);
        }
    }
    assert_true(fabs(dBodyGetPosition(slab->body)[2] - half[2]) < 1e-4);
}

static void tipsOverItsEdge(void **state)
{
    (void)state;
    Slab slab;
    makeSlab(&slab, 25);
    tip(&slab, NULL);
    freeSlab(&slab);
}

/* The same beside a motor that grows stronger: rows that seem to hold, where joints have no other rows. */
static void tipsBesideAMotor(void **state)
{
    (void)state;
    Slab slab;
    makeSlab(&slab, 25);
    slab.round = 1;
    const dJointID motor = dJointCreateAMotor(slab.world, 0);
    dJointAttach(motor, slab.body, 0);
    dJointSetAMotorNumAxes(motor, 1);
    dJointSetAMotorAxis(motor, 0, 0, 0, 0, 1);
    dJointSetAMotorParam(motor, dParamVel, 50);
    tip(&slab, motor);
    freeSlab(&slab);
}

/* Of this process: other programs do not count. */
static double cpuSeconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Memory and, loosely, time for `side` squared contacts. */
static void measure(int side, double *bytes, double *seconds)
{
    Slab slab;
    makeSlab(&slab, side);
    dBodySetLinearVel(slab.body, 0.1, 0, 0);
    *seconds = INFINITY;
    for (int i = 0; i < 12; ++i) {
        dJointGroupEmpty(slab.group);
        addContacts(&slab);
        const double begin = cpuSeconds();
        assert_int_equal(spragWorldStep(slab.sprag, step_size), SPRAG_OK);
        *seconds = fmin(*seconds, cpuSeconds() - begin);
    }
    *bytes = (double)(slab.sprag->arena.high_water + slab.sprag->lane[0].arena.high_water +
                      slab.sprag->lane[0].scratch.high_water);
    freeSlab(&slab);
}

static void costIsLinear(void **state)
{
    (void)state;
    double bytes[2], seconds[2];
    measure(27, &bytes[0], &seconds[0]);
    measure(54, &bytes[1], &seconds[1]); /* 2916 contacts, four times as many */
    assert_true(bytes[1] < 4.5 * bytes[0]);
    assert_true(seconds[1] < 10 * seconds[0]); /* 16 if it were quadratic */
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(slidesAsWithFew), cmocka_unit_test(tipsOverItsEdge),
                                       cmocka_unit_test(tipsBesideAMotor), cmocka_unit_test(costIsLinear)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
