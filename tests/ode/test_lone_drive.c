/* Bodies alone on what moves as it likes go the way of lone bodies (lone_drive.h): from equal states the problems,
 * motions, contacts and events of those who go the way of all islands, which a solver asked for by name sends
 * everybody. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#include "linalg/vec3.h"
#include "ode/islands/lone.h"
#include "ode/islands/lone_drive.h"
#include "ode/rows/rows.h"
#include "ode/world/world.h"

enum { PLATES = 2, BODIES = 6, STEPS = 150, HITS = 8 };
#define STEP 0.01 /* s */

typedef struct Deck {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    spragWorldID sprag;
    dBodyID plate[PLATES], body[BODIES];
    dGeomID geom[PLATES + BODIES];
    int geom_count;
    struct Deck *twin; /* gets the same contacts, or NULL */
    int plates;
    int halved;               /* 1: every second contact is with the world */
    dJointFeedback *feedback; /* (HITS) of the contacts of the first body, or NULL */
    int events[SPRAG_EVENT_TYPE_COUNT];
} Deck;

/* How the plates move. */
typedef struct Drive {
    const char *name;
    int plates;
    double v[PLATES][3], w[3];
    int lone; /* 1: those that touch both plates are lone, too */
} Drive;

static const Drive drives[] = {
    {"still", 1, {{0}}, {0}, 1},
    {"to the side and up", 1, {{0.3, -0.1, 0.2}}, {0}, 1},
    {"down, slower than things fall", 1, {{0, 0, -0.05}}, {0}, 1},
    {"a turntable", 1, {{0}}, {0, 0, 2}, 1},
    {"tilts", 1, {{0.1, 0, 0}}, {0.03, -0.02, 0.01}, 1},
    {"two as one", 2, {{0.3, -0.1, 0.2}, {0.3, -0.1, 0.2}}, {0}, 1},
    {"two that part", 2, {{-0.02, 0, 0}, {0.02, 0, 0}}, {0}, 0},
};
enum { DRIVES = sizeof drives / sizeof *drives };

/* Its contacts name the plate first: ODE then has the normal into the plate. */
static int isSecond(dBodyID body)
{
    return (int)(size_t)dBodyGetData(body) % 2;
}

static void addContact(Deck *deck, dContact contact, int number)
{
    contact.geom.g1 = deck->geom[(size_t)dGeomGetData(contact.geom.g1)];
    contact.geom.g2 = deck->geom[(size_t)dGeomGetData(contact.geom.g2)];
    const dBodyID a = dGeomGetBody(contact.geom.g1), b = dGeomGetBody(contact.geom.g2);
    const dJointID joint = spragJointCreateContact(deck->sprag, deck->group, &contact);
    const int world = deck->halved && number % 2;
    dJointAttach(joint, world && dBodyIsKinematic(a) ? NULL : a, world && dBodyIsKinematic(b) ? NULL : b);
    if (deck->feedback != NULL && (a == deck->body[0] || b == deck->body[0]))
        dJointSetFeedback(joint, &deck->feedback[number]);
}

static void onNear(void *data, dGeomID a, dGeomID b)
{
    Deck *deck = data;
    dContact contact[HITS];
    const dBodyID first = dGeomGetBody(a), second = dGeomGetBody(b);
    const int driven = dBodyIsKinematic(first);
    if (driven == dBodyIsKinematic(second))
        return;
    const int turned = driven != isSecond(driven ? second : first);
    const int count = dCollide(turned ? b : a, turned ? a : b, HITS, &contact[0].geom, sizeof *contact);
    for (int i = 0; i < count; ++i) {
        contact[i].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = 0.4};
        addContact(deck, contact[i], i);
        if (deck->twin != NULL)
            addContact(deck->twin, contact[i], i);
    }
}

static dBodyID addBody(Deck *deck, dGeomID geom, double x, double z)
{
    dMass mass;
    const dBodyID body = dBodyCreate(deck->world);
    dMassSetBoxTotal(&mass, 2, 0.4, 0.3, 0.2);
    dBodySetMass(body, &mass);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, x, 0, z);
    dGeomSetData(geom, (void *)(size_t)deck->geom_count);
    deck->geom[deck->geom_count++] = geom;
    return body;
}

/* On a plate, or two that meet at x = 0: a box there, one that slides and turns, balls, a capsule, a cylinder. */
static void makeDeck(Deck *deck, spragSolverKind solver, int plates)
{
    spragConfig config = spragConfigDefault();
    config.solver = solver;
    memset(deck, 0, sizeof *deck);
    deck->world = dWorldCreate();
    deck->space = dSimpleSpaceCreate(0);
    deck->group = dJointGroupCreate(0);
    deck->plates = plates;
    dWorldSetGravity(deck->world, 0, 0, -9.81);
    assert_int_equal(spragWorldAttach(deck->world, &config, &deck->sprag), SPRAG_OK);
    for (int i = 0; i < plates; ++i) {
        deck->plate[i] =
            addBody(deck, dCreateBox(deck->space, 12.0 / plates, 4, 0.2), plates == 1 ? 0 : 6 * i - 3, -0.1);
        dBodySetKinematic(deck->plate[i]);
    }
    dSpaceID space = deck->space;
    const dGeomID geom[BODIES] = {dCreateBox(space, 0.4, 0.3, 0.2), dCreateBox(space, 0.4, 0.3, 0.2),
                                  dCreateSphere(space, 0.1),        dCreateSphere(space, 0.1),
                                  dCreateCapsule(space, 0.1, 0.3),  dCreateCylinder(space, 0.1, 0.2)};
    for (int i = 0; i < BODIES; ++i) {
        deck->body[i] = addBody(deck, geom[i], i == 0 ? 0 : 0.7 * (i - 3) - 0.2, 0.1 - 1e-6);
        dBodySetData(deck->body[i], (void *)(size_t)i);
    }
    dMatrix3 R;
    dRFromAxisAndAngle(R, 0, 1, 0, 0.5 * M_PI);
    dBodySetRotation(deck->body[4], R);
    dBodySetLinearVel(deck->body[1], 0.5, 0.2, 0);
    dBodySetAngularVel(deck->body[1], 0, 0, 1);
    dBodySetLinearVel(deck->body[3], 0, 0.4, 0);
}

static void freeDeck(Deck *deck)
{
    spragWorldDetach(deck->sprag);
    dJointGroupDestroy(deck->group);
    dSpaceDestroy(deck->space);
    dWorldDestroy(deck->world);
}

static void drive(Deck *deck, const Drive *drive)
{
    for (int i = 0; i < deck->plates; ++i) {
        dBodySetLinearVel(deck->plate[i], drive->v[i][0], drive->v[i][1], drive->v[i][2]);
        dBodySetAngularVel(deck->plate[i], drive->w[0], drive->w[1], drive->w[2]);
    }
}

static void collide(Deck *deck)
{
    dJointGroupEmpty(deck->group);
    if (deck->twin != NULL)
        dJointGroupEmpty(deck->twin->group);
    dSpaceCollide(deck->space, deck, onNear);
}

static void stepDeck(Deck *deck)
{
    assert_int_equal(spragWorldStep(deck->sprag, STEP), SPRAG_OK);
    const spragEvent *event;
    const int count = spragWorldGetEvents(deck->sprag, &event);
    for (int k = 0; k < count; ++k) {
        const dBodyID cylinder = deck->body[BODIES - 1]; /* whose up to eight points share at will which of them bear */
        const int of_cylinder = event[k].body[0] == cylinder || event[k].body[1] == cylinder,
                  bears = event[k].type == SPRAG_EVENT_TOUCH || event[k].type == SPRAG_EVENT_DETACH;
        deck->events[event[k].type] += !(of_cylinder && bears);
    }
}

static void copyBody(dBodyID to, dBodyID from)
{
    const dReal *x = dBodyGetPosition(from), *v = dBodyGetLinearVel(from), *w = dBodyGetAngularVel(from);
    dBodySetPosition(to, x[0], x[1], x[2]);
    dBodySetRotation(to, dBodyGetRotation(from));
    dBodySetQuaternion(to, dBodyGetQuaternion(from));
    dBodySetLinearVel(to, v[0], v[1], v[2]);
    dBodySetAngularVel(to, w[0], w[1], w[2]);
}

/* With what the last step found, from which this one begins. */
static void copyDeck(Deck *to, const Deck *from)
{
    assert_int_equal(to->sprag->memory_count, from->sprag->memory_count);
    for (int k = 0; k < to->sprag->memory_count; ++k) {
        spragContactMemory *memory = &to->sprag->memory[k];
        const spragContactMemory *other = &from->sprag->memory[k];
        memory->normal_force = other->normal_force;
        memory->mode = other->mode;
        memory->variant = other->variant;
        memory->trace = other->trace;
        memcpy(memory->friction, other->friction, sizeof memory->friction);
        memcpy(memory->slip, other->slip, sizeof memory->slip);
    }
    for (int i = 0; i < to->plates; ++i)
        copyBody(to->plate[i], from->plate[i]);
    for (int i = 0; i < BODIES; ++i)
        copyBody(to->body[i], from->body[i]);
}

static int loneCount(const Deck *deck)
{
    int count = 0;
    for (int k = 0; k < deck->sprag->snapshot.island_count; ++k)
        count += deck->sprag->snapshot.island[k].lone != NULL;
    return count;
}

/* ---------------------------------------------------------------- the problem */

/* Of a contact: its frame, rows n, t1, t2, n into the lone body. */
typedef struct Frame {
    double axis[3][3];
} Frame;

/* out (3) = what q has along the rows, in world axes. */
static void inWorld(const Frame *frame, const double *q, double out[3])
{
    for (int i = 0; i < 3; ++i)
        out[i] = frame->axis[0][i] * q[0] + frame->axis[1][i] * q[1] + frame->axis[2][i] * q[2];
}

static Frame frameOfLone(const spragContact *contact, int second)
{
    Frame frame;
    dVector3 n = {0}, t1, t2;
    for (int i = 0; i < 3; ++i)
        n[i] = second ? -contact->normal[i] : contact->normal[i];
    dPlaneSpace(n, t1, t2);
    for (int i = 0; i < 3; ++i)
        frame.axis[0][i] = n[i], frame.axis[1][i] = t1[i], frame.axis[2][i] = t2[i];
    return frame;
}

/* Turned around if the lone body is the second. */
static Frame frameOfBlock(const spragBlock *block, int second)
{
    Frame frame;
    const double sign = second ? -1 : 1;
    for (int i = 0; i < 3; ++i)
        frame.axis[0][i] = sign * block->n[i], frame.axis[1][i] = sign * block->t1[i],
        frame.axis[2][i] = sign * block->t2[i];
    return frame;
}

/* W of contacts k and l in world axes. */
static void responseInWorld(const spragProblem *p, const Frame *frame, int k, int l, double out[9])
{
    const double *W = p->W + 9 * (p->contact_count * k + l);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            out[3 * i + j] = 0;
            for (int a = 0; a < 3; ++a)
                for (int b = 0; b < 3; ++b)
                    out[3 * i + j] += frame[k].axis[a][i] * W[3 * a + b] * frame[l].axis[b][j];
        }
}

static void compareHistory(const spragContactHistory *a, const spragContactHistory *b, const Frame *x, const Frame *y)
{
    double slip[2][3], last[2][3];
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->fresh, b->fresh);
    inWorld(x, (const double[3]){0, a->slip[0], a->slip[1]}, slip[0]);
    inWorld(y, (const double[3]){0, b->slip[0], b->slip[1]}, slip[1]);
    inWorld(x, (const double[3]){0, a->previous_slip[0], a->previous_slip[1]}, last[0]);
    inWorld(y, (const double[3]){0, b->previous_slip[0], b->previous_slip[1]}, last[1]);
    CHECK_NEAR(a->free_acceleration, b->free_acceleration, 1e-9);
    CHECK_NEAR(a->previous_normal, b->previous_normal, 1e-12);
    for (int i = 0; i < 3; ++i) {
        CHECK_NEAR(slip[0][i], slip[1][i], 1e-12);
        CHECK_NEAR(last[0][i], last[1][i], 1e-12);
    }
}

static void compareProblems(const Deck *a, const Deck *b, int k)
{
    const spragIsland *lone = &a->sprag->snapshot.island[k], *other = &b->sprag->snapshot.island[k];
    const int n = lone->joint_count;
    int second[HITS];
    const spragContact *contact;
    spragArena arena = {0};
    spragProblem own;
    Frame x[HITS], y[HITS];
    assert_int_equal(n, other->block_count);
    assert_true(spragWorldGetContacts(a->sprag, &contact) >= lone->first_record + n);
    assert_int_equal(spragLoneProblem(a->sprag, lone, &arena, &own), 1);
    for (int i = 0; i < n; ++i) {
        second[i] = spragLoneSign(lone, &a->sprag->snapshot.joint[lone->joint[i]]) < 0;
        x[i] = frameOfLone(&contact[lone->first_record + i], second[i]);
        y[i] = frameOfBlock(&other->block[i], second[i]);
    }
    for (int i = 0; i < n; ++i) {
        double q[2][3], W[2][9];
        inWorld(&x[i], own.q + 3 * i, q[0]);
        inWorld(&y[i], other->problem.q + 3 * i, q[1]);
        for (int c = 0; c < 3; ++c)
            CHECK_NEAR(q[0][c], q[1][c], 1e-13);
        for (int j = 0; j < n; ++j) {
            responseInWorld(&own, x, i, j, W[0]);
            responseInWorld(&other->problem, y, i, j, W[1]);
            for (int c = 0; c < 9; ++c)
                CHECK_NEAR(W[0][c], W[1][c], 1e-12);
        }
        CHECK_NEAR(own.mu[i], other->problem.mu[i], 0);
        compareHistory(&own.history[i], &other->problem.history[i], &x[i], &y[i]);
        assert_true(own.body[2 * i] == lone->body[0]);
        assert_int_equal(own.body[2 * i + 1], other->problem.body[2 * i + !second[i]]);
    }
    spragArenaFree(&arena);
}

/* ---------------------------------------------------------------- the motion */

static void compareContacts(const Deck *a, const Deck *b)
{
    const spragContact *x, *y;
    const int count = spragWorldGetContacts(a->sprag, &x);
    assert_int_equal(count, spragWorldGetContacts(b->sprag, &y));
    for (int k = 0; k < count; ++k) {
        assert_int_equal(x[k].mode == SPRAG_MODE_SLIP, y[k].mode == SPRAG_MODE_SLIP); /* four points share at will */
        for (int side = 0; side < 2; ++side)
            assert_ptr_equal(dBodyGetData(x[k].body[side]), dBodyGetData(y[k].body[side]));
        CHECK_NEAR(x[k].painleve_p, y[k].painleve_p, 1e-5);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(x[k].position[i], y[k].position[i], 1e-13);
            CHECK_NEAR(x[k].normal[i], y[k].normal[i], 1e-13);
            CHECK_NEAR(x[k].slip[i], y[k].slip[i], 2e-7);
        }
    }
}

static void compareMotion(const Deck *a, const Deck *b)
{
    for (int i = 0; i < BODIES; ++i)
        for (int c = 0; c < 3; ++c) {
            CHECK_NEAR(dBodyGetLinearVel(a->body[i])[c], dBodyGetLinearVel(b->body[i])[c], 2e-8);
            CHECK_NEAR(dBodyGetAngularVel(a->body[i])[c], dBodyGetAngularVel(b->body[i])[c], 1e-6);
        }
}

/* From equal states, step by step. */
static void sameAsAllIslands(void **state)
{
    (void)state;
    for (int d = 0; d < DRIVES; ++d) {
        Deck lone, other;
        int count = 0, straddles = 0;
        makeDeck(&lone, SPRAG_SOLVER_AUTO, drives[d].plates);
        makeDeck(&other, SPRAG_SOLVER_VARIANT, drives[d].plates);
        lone.twin = &other;
        for (int k = 0; k < STEPS; ++k) {
            drive(&lone, &drives[d]);
            copyDeck(&other, &lone);
            collide(&lone);
            stepDeck(&lone);
            stepDeck(&other);
            assert_true(spragWorldGetStepInfo(lone.sprag).residual <= 1e-8);
            assert_int_equal(spragWorldGetStepInfo(lone.sprag).islands, spragWorldGetStepInfo(other.sprag).islands);
            assert_int_equal(loneCount(&other), 0);
            count += loneCount(&lone);
            for (int i = 0; i < lone.sprag->snapshot.island_count; ++i)
                if (lone.sprag->snapshot.island[i].lone != NULL) {
                    straddles += lone.sprag->snapshot.body[lone.sprag->snapshot.island[i].body[0]].id == lone.body[0];
                    compareProblems(&lone, &other, i);
                }
            compareMotion(&lone, &other);
            compareContacts(&lone, &other);
        }
        assert_true(count >= STEPS * (BODIES - 2));
        assert_true(drives[d].lone ? straddles > STEPS / 2 : straddles == 0);
        for (int type = 0; type < SPRAG_EVENT_TYPE_COUNT; ++type) /* (tilting: one of two corners that part may bear
                                                                     a trace, of some 200 that touch and part) */
            assert_true(abs(lone.events[type] - other.events[type]) <= other.events[type] / 50);
        freeDeck(&lone);
        freeDeck(&other);
    }
}

/* Contacts that name the same geoms may be of other bodies: what is flat to one is a box to the other. */
static void sameGeomsOfOtherBodies(void **state)
{
    (void)state;
    Deck lone, other;
    int count = 0;
    makeDeck(&lone, SPRAG_SOLVER_AUTO, 1);
    makeDeck(&other, SPRAG_SOLVER_VARIANT, 1);
    lone.twin = &other;
    lone.halved = other.halved = 1;
    for (int i = 0; i < BODIES; ++i)
        dBodySetAngularVel(lone.body[i], 0, 0, 3);
    copyDeck(&other, &lone);
    collide(&lone);
    stepDeck(&lone);
    stepDeck(&other);
    for (int i = 0; i < lone.sprag->snapshot.island_count; ++i)
        if (lone.sprag->snapshot.island[i].lone != NULL) {
            compareProblems(&lone, &other, i);
            count += lone.sprag->snapshot.island[i].joint_count >= 4;
        }
    assert_true(count >= 2);
    freeDeck(&lone);
    freeDeck(&other);
}

/* A radian a second for ten seconds: a box keeps its place on the turntable. */
static void aTurntableCarriesItsLoadRound(void **state)
{
    (void)state;
    Deck deck;
    int lone = 0;
    makeDeck(&deck, SPRAG_SOLVER_AUTO, 1);
    const dReal *x = dBodyGetPosition(deck.body[0]);
    dBodySetPosition(deck.body[0], 1, 0, 0.1 - 1e-6);
    dBodySetLinearVel(deck.body[0], 0, 1, 0);
    dBodySetAngularVel(deck.body[0], 0, 0, 1);
    for (int k = 0; k < 1000; ++k) {
        drive(&deck, &(Drive){"", 1, {{0}}, {0, 0, 1}, 1});
        collide(&deck);
        stepDeck(&deck);
        lone += deck.sprag->snapshot.island[0].lone != NULL;
    }
    CHECK_NEAR(hypot(x[0], x[1]), 1, 1e-3);
    assert_true(lone >= 990);
    freeDeck(&deck);
}

/* Whoever wants a contact's feedback has it, from a lift that brakes: m (g + a). */
static void feedbackIsHandedBack(void **state)
{
    (void)state;
    Deck deck;
    dJointFeedback feedback[HITS];
    memset(feedback, 0, sizeof feedback);
    makeDeck(&deck, SPRAG_SOLVER_AUTO, 1);
    deck.feedback = feedback;
    for (int k = 0; k < 20; ++k) {
        drive(&deck, &(Drive){"", 1, {{0, 0, -0.5 + 0.02 * k}}, {0}, 1});
        collide(&deck);
        stepDeck(&deck);
    }
    assert_null(deck.sprag->snapshot.island[0].lone);
    assert_int_equal(loneCount(&deck), BODIES - 1);
    double force = 0;
    for (int i = 0; i < HITS; ++i) {
        force += feedback[i].f1[2];
        CHECK_NEAR(feedback[i].f2[2], -feedback[i].f1[2], 1e-12);
    }
    CHECK_NEAR(force, 2 * (9.81 + 0.02 / STEP), 0.2);
    freeDeck(&deck);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sameAsAllIslands),
        cmocka_unit_test(sameGeomsOfOtherBodies),
        cmocka_unit_test(aTurntableCarriesItsLoadRound),
        cmocka_unit_test(feedbackIsHandedBack),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
