/* Islands are told of in three ways (ode/islands/lone_report, report_bare, report_blocks), the last with W or without
 * (ode/matrix/matrix_free), and each is asked for the same: what contacts bear is what changes the momenta of bodies,
 * slips are differences of the velocities that bodies have, p and b follow from masses and the last step's
 * forces, and events are the changes of modes. */
#include "support/twin.h"

#include <stdlib.h>

#include "linalg/vec3.h"
#include "ode/matrix/assemble.h"
#include "ode/world/world.h"
#include "problem/residual.h"

#define STEP (1.0 / 240) /* s */
#define MU 0.5

typedef enum Way { LONE, BARE, LOOSE, BLOCKS, WAYS } Way; /* LOOSE: blocks without W, as its joints have feedback */

enum { STEPS = 60, PUSH = 30, CONTACTS_MOST = 8 };

/* One box on the plane, or a second one on it: what is told of them before and after a step. */
typedef struct Stack {
    Twin t;
    Way way;
    double before[2][6]; /* m/s, rad/s */
    double at[2][3];     /* m */
    spragContact last[CONTACTS_MOST];
    int last_count;
    int events[SPRAG_EVENT_TYPE_COUNT];
    dJointFeedback feedback[CONTACTS_MOST]; /* in the order of the contacts */
} Stack;

static void makeStack(Stack *s, Way way)
{
    *s = (Stack){.way = way};
    makeTwin(&s->t, 1);
    spragConfig config = spragConfigDefault();
    if (way == BARE || way == LOOSE)
        config.tolerance = 1e-5;
    if (way == BLOCKS)
        config.solver = SPRAG_SOLVER_VARIANT;
    assert_int_equal(spragWorldSetConfig(s->t.sprag, &config), SPRAG_OK);
    addBox(&s->t, 0, 0, 0.2);
    if (way != LONE)
        addBox(&s->t, 0, 0, 0.6);
    dBodySetLinearVel(s->t.body[s->t.count - 1], 0.3, 0.1, 0);
}

/* At the lower corners of each box, the upper one's a little inwards; whatever they do, nothing is to be corrected. */
static void addContacts(Stack *s)
{
    for (int b = 0; b < s->t.count; ++b)
        for (int i = 0; i < 4; ++i) {
            const double inwards = b == 0 ? 1 : 0.8;
            dVector3 p;
            dBodyGetRelPointPos(s->t.body[b], inwards * (i & 1 ? 0.5 : -0.5), inwards * (i & 2 ? 0.4 : -0.4), -0.2, p);
            const dContact contact = planeContact(p[0], p[1], p[2], MU);
            const dJointID joint = addContact(&s->t, &contact, s->t.body[b], b == 0 ? NULL : s->t.body[0]);
            if (s->way == LOOSE)
                dJointSetFeedback(joint, &s->feedback[4 * b + i]);
        }
}

static void look(const Stack *s, double velocity[2][6])
{
    for (int b = 0; b < s->t.count; ++b)
        for (int i = 0; i < 3; ++i) {
            velocity[b][i] = dBodyGetLinearVel(s->t.body[b])[i];
            velocity[b][3 + i] = dBodyGetAngularVel(s->t.body[b])[i];
        }
}

static int numberOf(const Stack *s, dBodyID body)
{
    return body == NULL ? -1 : body == s->t.body[0] ? 0 : 1;
}

/* Velocity of a body's point (as it lay before the step) against that of the other's. */
static void pointSlip(Stack *s, double velocity[2][6], const spragContact *c, double slip[3])
{
    slip[0] = slip[1] = slip[2] = 0;
    for (int side = 0; side < 2; ++side) {
        const int b = numberOf(s, c->body[side]);
        for (int i = 0; i < 3 && b >= 0; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            const double turn = velocity[b][3 + j] * (c->position[k] - s->at[b][k]) -
                                velocity[b][3 + k] * (c->position[j] - s->at[b][j]);
            slip[i] += (side == 0 ? 1 : -1) * (velocity[b][i] + turn);
        }
    }
}

static void checkMomenta(const Stack *s, double after[2][6], const spragContact *contact, int count)
{
    double impulse[2][6] = {{0}};
    for (int k = 0; k < count; ++k)
        for (int side = 0; side < 2; ++side) {
            const int b = numberOf(s, contact[k].body[side]);
            double force[3], arm[3], moment[3];
            for (int i = 0; i < 3 && b >= 0; ++i) {
                force[i] = contact[k].normal_force * contact[k].normal[i] + contact[k].friction[i];
                force[i] *= side == 0 ? STEP : -STEP;
                arm[i] = contact[k].position[i] - s->at[b][i];
            }
            if (b < 0)
                continue;
            spragCross3(moment, arm, force);
            for (int i = 0; i < 3; ++i)
                impulse[b][i] += force[i], impulse[b][3 + i] += moment[i];
        }
    for (int b = 0; b < s->t.count; ++b) {
        dMass mass;
        dBodyGetMass(s->t.body[b], &mass);
        impulse[b][2] -= 9.81 * STEP * mass.mass;
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(impulse[b][i], mass.mass * (after[b][i] - s->before[b][i]), 1e-9);
            CHECK_NEAR(impulse[b][3 + i], mass.I[5 * i] * (after[b][3 + i] - s->before[b][3 + i]), 1e-6);
        }
    }
}

/* Velocity along n at contact k that an impulse f at contact l gives, m/s for N s; the boxes stand upright. */
static double response(const Stack *s, const spragContact *k, const double n[3], const spragContact *l,
                       const double f[3])
{
    double sum = 0;
    for (int sides = 0; sides < 4; ++sides) {
        const int b = numberOf(s, k->body[sides & 1]);
        if (b < 0 || b != numberOf(s, l->body[sides >> 1]))
            continue;
        const double sign = (sides & 1) == sides >> 1 ? 1 : -1;
        dMass mass;
        dBodyGetMass(s->t.body[b], &mass);
        double arm_k[3], arm_l[3], moment_n[3], moment_f[3];
        for (int i = 0; i < 3; ++i)
            arm_k[i] = k->position[i] - s->at[b][i], arm_l[i] = l->position[i] - s->at[b][i];
        spragCross3(moment_n, arm_k, n);
        spragCross3(moment_f, arm_l, f);
        sum += sign * spragDot3(n, f) / mass.mass;
        for (int i = 0; i < 3; ++i)
            sum += sign * moment_n[i] * moment_f[i] / mass.I[5 * i];
    }
    return sum;
}

static const spragContact *lastOf(const Stack *s, unsigned long long id)
{
    for (int k = 0; k < s->last_count; ++k)
        if (s->last[k].id == id)
            return &s->last[k];
    return NULL;
}

/* b: gravity, and the forces that the others had in the last step. */
static double freeAcceleration(const Stack *s, const spragContact *contact, int count, int k)
{
    double sum = contact[k].body[1] == NULL ? -9.81 : 0;
    for (int l = 0; l < count; ++l) {
        const spragContact *last = lastOf(s, contact[l].id);
        double f[3];
        for (int i = 0; i < 3 && last != NULL; ++i)
            f[i] = last->normal_force * last->normal[i] + last->friction[i];
        if (l != k && last != NULL)
            sum += response(s, &contact[k], contact[k].normal, &contact[l], f);
    }
    return sum;
}

static const double axis[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static void checkContact(Stack *s, double after[2][6], const spragContact *c, double residual)
{
    double slip[3], start[3];
    pointSlip(s, after, c, slip);
    pointSlip(s, s->before, c, start);
    for (int i = 0; i < 2; ++i)
        CHECK_NEAR(c->slip[i], slip[i], 1e-7);
    CHECK_NEAR(c->slip[2], 0, 0);
    CHECK_NEAR(c->normal[2], 1, 0);
    const double friction = spragNorm3(c->friction), speed = spragNorm2(start);
    assert_true(friction <= MU * c->normal_force * (1 + 1e-6));
    assert_true(c->mode == SPRAG_MODE_OPEN || c->normal_force > 0);
    if (c->mode == SPRAG_MODE_SLIP) {
        assert_true(spragNorm3(c->slip) <= 10 * residual || spragDot3(c->friction, c->slip) < 0);
        const double missing = MU * c->normal_force - friction;
        double w = 0;
        for (int i = 0; i < 3; ++i)
            w += response(s, c, axis[i], c, axis[i]) / 3;
        assert_true(missing <= 1e-9 * MU * c->normal_force || w * STEP * missing <= 10.001 * residual);
    }
    if (speed > 1e-2) {
        const double e[3] = {start[0] / speed, start[1] / speed, 0};
        CHECK_NEAR(c->painleve_p, response(s, c, axis[2], c, axis[2]) - MU * response(s, c, axis[2], c, e), 1e-6);
    }
}

/* The feedback that ODE would have given: force and moment on the body. */
static void checkFeedback(const Stack *s, const spragContact *contact, int count)
{
    for (int k = 0; k < count; ++k) {
        const int b = numberOf(s, contact[k].body[0]);
        double force[3], arm[3], moment[3];
        for (int i = 0; i < 3; ++i) {
            force[i] = contact[k].normal_force * contact[k].normal[i] + contact[k].friction[i];
            arm[i] = contact[k].position[i] - s->at[b][i];
        }
        spragCross3(moment, arm, force);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(s->feedback[k].f1[i], force[i], 1e-9);
            CHECK_NEAR(s->feedback[k].t1[i], moment[i], 1e-9);
        }
    }
}

/* Given W, the island without has the same diagonal, velocities and residual. */
static void checkWithMatrix(Stack *s, double residual)
{
    spragIsland *island = &s->t.sprag->snapshot.island[0];
    const int n = island->block_count;
    double *diagonal = malloc(9 * (size_t)n * sizeof *diagonal), *u = malloc(3 * (size_t)n * sizeof *u);
    assert_true(diagonal != NULL && u != NULL && island->problem.block_count == n);
    memcpy(diagonal, island->problem.W, 9 * (size_t)n * sizeof *diagonal);
    assert_true(spragAssembleCouple(s->t.sprag, island));
    assert_int_equal(island->problem.block_count, n * n);
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < 9; ++i)
            CHECK_NEAR(island->problem.W[9 * spragProblemDiagonal(&island->problem, k) + i], diagonal[9 * k + i],
                       1e-12);
    spragProblemVelocity(&island->problem, island->r, u);
    for (int i = 0; i < 3 * n; ++i)
        CHECK_NEAR(island->u[i], u[i], 1e-12);
    CHECK_NEAR(spragProblemResidual(&island->problem, island->r), residual, 1e-12);
    free(diagonal);
    free(u);
}

/* What the step should have told of a contact: the type, or -1. */
static int expectedEvent(const Stack *s, const spragContact *now)
{
    const spragContact *last = lastOf(s, now->id);
    const spragMode before = last == NULL ? SPRAG_MODE_OPEN : last->mode, after = now->mode;
    if ((before == SPRAG_MODE_OPEN) != (after == SPRAG_MODE_OPEN))
        return before == SPRAG_MODE_OPEN ? SPRAG_EVENT_TOUCH : SPRAG_EVENT_DETACH;
    if (before == SPRAG_MODE_SLIP && after == SPRAG_MODE_STICK)
        return SPRAG_EVENT_STICK;
    if (before == SPRAG_MODE_STICK && after == SPRAG_MODE_SLIP)
        return SPRAG_EVENT_SLIP;
    return after == SPRAG_MODE_SLIP && spragDot3(last->slip, now->slip) < 0 ? SPRAG_EVENT_REVERSE : -1;
}

static void checkEvents(Stack *s, const spragContact *contact, int count)
{
    const spragEvent *event;
    const int events = spragWorldGetEvents(s->t.sprag, &event);
    int expected = 0;
    for (int k = 0; k < count; ++k) {
        const int type = expectedEvent(s, &contact[k]);
        int found = 0;
        for (int e = 0; e < events; ++e)
            if (event[e].contact == contact[k].id && (int)event[e].type == type) {
                ++found;
                assert_memory_equal(event[e].slip_after, contact[k].slip, sizeof contact[k].slip);
                CHECK_NEAR(event[e].impulse[2], STEP * contact[k].normal_force, 1e-15);
            }
        assert_int_equal(found, type >= 0);
        expected += type >= 0;
    }
    assert_int_equal(events, expected);
    for (int e = 0; e < events; ++e)
        ++s->events[event[e].type];
}

static void checkStep(Stack *s)
{
    double after[2][6];
    look(s, s->before);
    for (int b = 0; b < s->t.count; ++b)
        for (int i = 0; i < 3; ++i)
            s->at[b][i] = dBodyGetPosition(s->t.body[b])[i];
    addContacts(s);
    step(&s->t, STEP);
    look(s, after);
    const spragIsland *island = &s->t.sprag->snapshot.island[0];
    assert_int_equal(island->lone != NULL, s->way == LONE);
    assert_int_equal(island->bare != NULL, s->way == BARE);
    assert_int_equal(island->lone == NULL && island->greedy != NULL, s->way == LOOSE);
    const spragEvent *event;
    const spragContact *contact;
    const int count = spragWorldGetContacts(s->t.sprag, &contact);
    const double residual = spragWorldGetStepInfo(s->t.sprag).residual;
    checkMomenta(s, after, contact, count);
    for (int k = 0; k < count; ++k) {
        checkContact(s, after, &contact[k], residual);
        if (spragWorldGetEvents(s->t.sprag, &event) == 0) /* else the guess may be another */
            CHECK_NEAR(contact[k].free_acceleration, freeAcceleration(s, contact, count, k), 1e-4);
    }
    checkEvents(s, contact, count);
    if (s->way == LOOSE) {
        checkFeedback(s, contact, count);
        checkWithMatrix(s, residual);
    }
    memcpy(s->last, contact, (size_t)count * sizeof *contact);
    s->last_count = count;
}

static void everyWayTellsTheSame(void **state)
{
    (void)state;
    for (Way way = LONE; way < WAYS; ++way) {
        Stack s;
        makeStack(&s, way);
        for (int k = 0; k < STEPS; ++k) {
            const dBodyID top = s.t.body[s.t.count - 1];
            if (k == PUSH) /* it slips again, */
                dBodySetLinearVel(top, -0.4, 0, 0);
            if (k == PUSH + 5) /* and the other way, */
                dBodySetLinearVel(top, 0.4, 0, 0);
            if (k == STEPS - 1) /* and is lifted */
                dBodySetLinearVel(top, 0, 0, 1);
            checkStep(&s);
        }
        assert_int_equal(s.events[SPRAG_EVENT_TOUCH], 4 * s.t.count);
        assert_int_equal(s.events[SPRAG_EVENT_DETACH], 4);
        assert_true(s.events[SPRAG_EVENT_STICK] >= 4 && s.events[SPRAG_EVENT_SLIP] >= 4);
        assert_true(s.events[SPRAG_EVENT_REVERSE] >= 4);
        freeTwin(&s.t);
    }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyWayTellsTheSame)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
