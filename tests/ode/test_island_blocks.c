/* What the joints of one island bring, all kinds of them in one: blocks in the order of the joints, as many as each
 * kind says, the same for any number of threads.  Of several bad contacts the first by order is named, whoever found
 * it. */
#include "support/refusal.h"
#include "support/twin.h"
#include "support/uniform.h"

#include "ode/joints/bearing.h"
#include "ode/joints/guide.h"
#include "ode/joints/island_blocks.h"
#include "ode/rows/joint_blocks.h"

static const double h = 1.0 / 240;

/* A contact at a lower corner of a box, of each kind in turn: one block, two laws of friction, rolling friction. */
static void addCorner(Twin *t, dBodyID box, int corner)
{
    dVector3 p;
    dBodyGetRelPointPos(box, corner & 1 ? 0.5 : -0.5, corner & 2 ? 0.4 : -0.4, -0.2, p);
    dContact contact = planeContact(p[0], p[1], p[2], 0.5);
    if (corner % 4 == 1) { /* a coefficient along one tangent, a force along the other */
        contact.surface.mode = dContactMu2 | dContactApprox1_1;
        contact.surface.mu2 = 3;
    }
    if (corner % 4 == 2) {
        contact.surface.mode |= dContactRolling;
        contact.surface.rho = contact.surface.rho2 = contact.surface.rhoN = 0.01;
    }
    addContact(t, &contact, box, 0);
}

/* A box on the ground between joints and contacts that come by turns. */
static void makeMachine(Twin *t)
{
    makeTwin(t, 1);
    const dBodyID base = addBox(t, 0, 0, 0.2), arm = addBox(t, 1.2, 0, 0.6), lift = addBox(t, 0, 0, 0.8);
    addCorner(t, base, 0);
    const dJointID hinge = dJointCreateHinge(t->world, 0);
    dJointAttach(hinge, arm, base);
    dJointSetHingeAnchor(hinge, 0.6, 0, 0.6);
    dJointSetHingeAxis(hinge, 0, 1, 0);
    dJointSetHingeParam(hinge, dParamFMax, 5);
    addCorner(t, base, 1);
    addCorner(t, base, 2);
    for (int play = 0; play < 2; ++play) { /* two one-sided blocks with play, else a two-sided one */
        spragGuideDef def = spragGuideDefDefault();
        spragGuideID guide;
        def.body = arm;
        def.point[0] = 1.2, def.point[1] = play, def.point[2] = 0.6;
        def.normal[1] = 1;
        def.clearance = 0.01 * play;
        assert_int_equal(spragGuideCreate(t->sprag, &def, &guide), SPRAG_OK);
    }
    addCorner(t, base, 3);
    const dJointID slider = dJointCreateSlider(t->world, 0);
    dJointAttach(slider, lift, base);
    dJointSetSliderAxis(slider, 0, 0, 1);
    const spragJointFriction friction = {.mu = 0.1, .mu_static = 0.1, .length = 0.3};
    assert_int_equal(spragJointSetFriction(t->sprag, slider, &friction), SPRAG_OK);
    addCorner(t, base, 2);
}

/* How many blocks a joint has to bring, and how many equality rows. */
static void expect(const spragJointState *joint, int *blocks, int *rows)
{
    *rows = 0;
    if (joint->contact != NULL) {
        *blocks = spragContactBlockCount(joint->contact);
    } else if (joint->guide != NULL) {
        *blocks = spragGuideBlockCount(joint->guide);
    } else if (joint->bearing != NULL) {
        *blocks = spragBearingBlockCount(joint->bearing);
        *rows = 1; /* the ends hold what is across the axis; what is left keeps it from turning about it */
    } else {
        *blocks = 1; /* the motor */
        *rows = 5;
    }
}

static void blocksFollowTheirJoints(void **state)
{
    (void)state;
    Twin t;
    makeMachine(&t);
    step(&t, h);
    const spragSnapshot *s = &t.sprag->snapshot;
    assert_int_equal(s->island_count, 1);
    const spragIsland *island = &s->island[0];
    assert_null(island->declined);
    assert_int_equal(island->joint_count, 9);
    int k = 0, e = 0, parts[SPRAG_PART_TURNING + 1] = {0};
    for (int i = 0; i < island->joint_count; ++i) {
        const int j = island->joint[i], first = k;
        int blocks, rows;
        assert_true(i == 0 || j > island->joint[i - 1]);
        expect(&s->joint[j], &blocks, &rows);
        for (; blocks > 0; --blocks, ++k) {
            const spragBlock *block = &island->block[k];
            assert_int_equal(block->joint, j);
            ++parts[block->part];
            assert_int_equal(block->parent, block->part == SPRAG_PART_ROLLING ? first : -1);
            for (int side = 0; side < 2; ++side)
                assert_int_equal(block->body[side], s->joint[j].body[side]);
        }
        for (; rows > 0; --rows, ++e)
            assert_int_equal(island->row[e].joint, j);
    }
    assert_int_equal(island->block_count, k);
    assert_int_equal(island->row_count, e);
    const int expected[] = {5, 1, 2, 1, 4, 1, 2, 0};
    for (int part = 0; part <= SPRAG_PART_TURNING; ++part)
        assert_int_equal(parts[part], expected[part]);
    freeTwin(&t);
}

enum { SIDE = 40 };

/* A plate, and a hinge beside it, so that its island has blocks. */
static void makePlate(Twin *t, int threads)
{
    makeTwin(t, 1);
    spragConfig config = spragConfigDefault();
    config.thread_count = threads;
    config.iteration_limit = 1; /* nobody asks for the solution */
    assert_int_equal(spragWorldSetConfig(t->sprag, &config), SPRAG_OK);
    const dBodyID plate = addBox(t, 0, 0, 0.2), arm = addBox(t, 1.2, 0, 0.2);
    const dJointID hinge = dJointCreateHinge(t->world, 0);
    dJointAttach(hinge, arm, plate);
    dJointSetHingeAnchor(hinge, 0.6, 0, 0.2);
    dJointSetHingeAxis(hinge, 0, 1, 0);
}

/* SIDE x SIDE contacts under the plate, some of them with rolling friction. */
static void addGrid(Twin *t)
{
    unsigned long long seed = 11;
    for (int i = 0; i < SIDE * SIDE; ++i) {
        dContact contact = planeContact((double)(i % SIDE) / SIDE - 0.5, (double)(i / SIDE) / SIDE - 0.5, 0, 0.5);
        contact.geom.depth = 1e-4 * uniform(&seed);
        if (i % 7 == 0) {
            contact.surface.mode |= dContactRolling;
            contact.surface.rho = contact.surface.rho2 = contact.surface.rhoN = 0.01;
        }
        addContact(t, &contact, t->body[0], 0);
    }
}

static void threadsMakeTheSameBlocks(void **state)
{
    (void)state;
    Twin t[2];
    spragIsland made[2];
    for (int k = 0; k < 2; ++k) {
        makePlate(&t[k], k == 0 ? 1 : 4);
        for (int n = 0; n < 2; ++n) { /* threads have a part in the step after one with so many joints */
            addGrid(&t[k]);
            step(&t[k], h);
        }
        const spragIsland *island = &t[k].sprag->snapshot.island[0];
        assert_null(island->declined);
        made[k] = *island;
        assert_int_equal(made[k].block_total, SIDE * SIDE + (SIDE * SIDE + 6) / 7);
    }
    assert_int_equal(made[0].block_count, made[1].block_count);
    for (int k = 0; k < made[0].block_count; ++k) {
        const spragBlock *a = &made[0].block[k], *b = &made[1].block[k];
        assert_int_equal(a->joint, b->joint);
        assert_int_equal(a->parent, b->parent);
        assert_int_equal(a->part, b->part);
        assert_memory_equal(a->position, b->position, sizeof a->position);
        assert_memory_equal(a->off, b->off, sizeof a->off);
        assert_memory_equal(a->J, b->J, sizeof a->J);
        assert_memory_equal(a->rhs, b->rhs, sizeof a->rhs);
    }
    freeTwin(&t[0]);
    freeTwin(&t[1]);
}

static void theFirstBadContactIsNamed(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads += 3) {
        Twin t;
        makePlate(&t, threads);
        addGrid(&t);
        step(&t, h);
        addGrid(&t);
        for (int i = 0; i < 2; ++i) { /* made by ODE, which checks nothing */
            dContact contact = planeContact(0, 0, 0, -2 - i);
            dJointAttach(dJointCreateContact(t.world, t.group, &contact), t.body[0], 0);
        }
        const dReal before = dBodyGetLinearVel(t.body[0])[2];
        CHECK_REFUSED(spragWorldStep(t.sprag, h), SPRAG_ERROR_RANGE, "mu = -2,");
        assert_true(dBodyGetLinearVel(t.body[0])[2] == before);
        freeTwin(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocksFollowTheirJoints),
                                       cmocka_unit_test(threadsMakeTheSameBlocks),
                                       cmocka_unit_test(theFirstBadContactIsNamed)};
    dInitODE2(0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
