/* Joints in islands with contacts: eliminated rows, limits and motors, beside stock ODE where ODE is exact. */
#include "support/check.h"

#include <string.h>

#include <sprag/sprag_ode.h>

#include "ode/joints/articulation.h"
#include "ode/world/world.h"
#include "support/uniform.h"

typedef struct Twin {
    dWorldID world;
    dJointGroupID group;
    spragWorldID sprag; /* NULL: stock */
    dBodyID body[3];
    dJointID joint[2];
    dJointFeedback feedback[2];
} Twin;

/* A ball on the ground, frictionless, with two boxes hanging from it in a chain: a hinge with a motor and a stop, and a
 * ball joint.  Without friction ODE's own answer is exact up to its CFM, which both use. */
static void makeMechanism(Twin *t, int use_sprag, double motor)
{
    *t = (Twin){.world = dWorldCreate(), .group = dJointGroupCreate(0)};
    dWorldSetGravity(t->world, 0, 0, -9.81);
    if (use_sprag) {
        spragConfig config = spragConfigDefault();
        config.gyroscopic = SPRAG_GYROSCOPIC_ODE;
        assert_int_equal(spragWorldAttach(t->world, &config, &t->sprag), SPRAG_OK);
    }
    for (int i = 0; i < 3; ++i) {
        dMass mass;
        dMassSetBoxTotal(&mass, 1 + i, 0.3, 0.2, 0.1 + 0.05 * i);
        t->body[i] = dBodyCreate(t->world);
        dBodySetMass(t->body[i], &mass);
        dBodySetPosition(t->body[i], 0.4 * i, 0.05 * i, 0.5);
    }
    t->joint[0] = dJointCreateHinge(t->world, 0);
    dJointAttach(t->joint[0], t->body[0], t->body[1]);
    dJointSetHingeAnchor(t->joint[0], 0.2, 0, 0.5);
    dJointSetHingeAxis(t->joint[0], 0, 1, 0);
    dJointSetHingeParam(t->joint[0], dParamVel, 2);
    dJointSetHingeParam(t->joint[0], dParamFMax, motor);
    dJointSetHingeParam(t->joint[0], dParamHiStop, 0.15);
    dJointSetHingeParam(t->joint[0], dParamLoStop, -0.15);
    t->joint[1] = dJointCreateBall(t->world, 0);
    dJointAttach(t->joint[1], t->body[1], t->body[2]);
    dJointSetBallAnchor(t->joint[1], 0.6, 0.05, 0.5);
    for (int i = 0; i < 2; ++i)
        dJointSetFeedback(t->joint[i], &t->feedback[i]);
}

static void freeTwin(Twin *t)
{
    if (t->sprag != NULL)
        spragWorldDetach(t->sprag);
    dJointGroupDestroy(t->group);
    dWorldDestroy(t->world);
}

/* A ball of 0.5 m around the first body touches the plane z = 0. */
static void step(Twin *t, double mu, double h)
{
    const dReal *p = dBodyGetPosition(t->body[0]);
    dContact contact;
    memset(&contact, 0, sizeof contact);
    contact.surface.mode = dContactApprox1;
    contact.surface.mu = mu;
    contact.geom.pos[0] = p[0];
    contact.geom.pos[1] = p[1];
    contact.geom.normal[2] = 1;
    contact.geom.depth = 0.5 - p[2];
    if (contact.geom.depth >= -1e-9) {
        dJointID joint = t->sprag != NULL ? spragJointCreateContact(t->sprag, t->group, &contact)
                                          : dJointCreateContact(t->world, t->group, &contact);
        dJointAttach(joint, t->body[0], 0);
    }
    if (t->sprag != NULL)
        assert_int_equal(spragWorldStep(t->sprag, h), SPRAG_OK);
    else
        dWorldStep(t->world, h);
    dJointGroupEmpty(t->group);
}

static void frictionlessMechanismIsAsOde(void **state)
{
    (void)state;
    for (int k = 0; k < 2; ++k) {
        const double motor = k * 1.5; /* N m: powered, later at its stop */
        Twin twin[2];
        int solved = 0;
        for (int i = 0; i < 2; ++i)
            makeMechanism(&twin[i], i, motor);
        for (int n = 0; n < 150; ++n) {
            step(&twin[0], 0, 2e-3);
            step(&twin[1], 0, 2e-3);
            const spragStepInfo info = spragWorldGetStepInfo(twin[1].sprag);
            assert_int_equal(info.declined, 0);
            solved += info.islands;
            for (int b = 0; b < 3; ++b)
                for (int c = 0; c < 3; ++c) {
                    CHECK_NEAR(dBodyGetLinearVel(twin[1].body[b])[c], dBodyGetLinearVel(twin[0].body[b])[c], 1e-7);
                    CHECK_NEAR(dBodyGetAngularVel(twin[1].body[b])[c], dBodyGetAngularVel(twin[0].body[b])[c], 1e-7);
                }
            if (info.islands > 0)
                for (int j = 0; j < 2; ++j)
                    for (int c = 0; c < 3; ++c) {
                        CHECK_NEAR(twin[1].feedback[j].f1[c], twin[0].feedback[j].f1[c], 1e-4);
                        CHECK_NEAR(twin[1].feedback[j].t2[c], twin[0].feedback[j].t2[c], 1e-4);
                    }
        }
        assert_true(solved > 100);
        freeTwin(&twin[0]);
        freeTwin(&twin[1]);
    }
}

static void momentum(const Twin *t, double P[3])
{
    P[0] = P[1] = P[2] = 0;
    for (int b = 0; b < 3; ++b) {
        dMass mass;
        dBodyGetMass(t->body[b], &mass);
        for (int c = 0; c < 3; ++c)
            P[c] += mass.mass * dBodyGetLinearVel(t->body[b])[c];
    }
}

/* Joint forces are internal: the momentum of the mechanism changes by the contact's force and gravity alone, and a
 * sticking contact has exactly no slip though three bodies hang on it. */
static void contactFeelsTheWholeMechanism(void **state)
{
    (void)state;
    Twin t;
    makeMechanism(&t, 1, 0);
    const double h = 2e-3, weight = 6 * 9.81;
    for (int n = 0; n < 50; ++n) {
        double before[3], after[3];
        momentum(&t, before);
        step(&t, 0.8, h);
        momentum(&t, after);
        const spragContact *contact;
        assert_int_equal(spragWorldGetContacts(t.sprag, &contact), 1);
        assert_true(spragWorldGetStepInfo(t.sprag).residual <= 1e-8);
        for (int c = 0; c < 3; ++c) {
            const double force =
                contact->normal_force * contact->normal[c] + contact->friction[c] - (c == 2 ? weight : 0);
            CHECK_NEAR(after[c] - before[c], h * force, 1e-12);
        }
        assert_int_equal(contact->mode, SPRAG_MODE_STICK);
        assert_true(fabs(contact->slip[0]) + fabs(contact->slip[1]) <= 1e-12);
    }
    dVector3 a, b;
    dJointGetBallAnchor(t.joint[1], a);
    dJointGetBallAnchor2(t.joint[1], b);
    for (int c = 0; c < 3; ++c)
        CHECK_NEAR(a[c], b[c], 1e-4);
    freeTwin(&t);
}

/* Bodies at random in a tree of ball joints, and contacts between any two of them: where it branches, two contacts may
 * reach paths up the tree that meet, part and meet again.  W is then still what it is of any bodies. */
static void contactsWithinAMechanismThatBranches(void **state)
{
    (void)state;
    enum { BODIES = 8, CONTACTS = 12 };
    for (unsigned long long seed = 1; seed <= 40; ++seed) {
        unsigned long long draw = seed;
        dWorldID world = dWorldCreate();
        dJointGroupID group = dJointGroupCreate(0);
        const spragConfig config = spragConfigDefault();
        spragWorldID sprag;
        dBodyID body[BODIES];
        dMass mass;
        assert_int_equal(spragWorldAttach(world, &config, &sprag), SPRAG_OK);
        for (int i = 0; i < BODIES; ++i) {
            body[i] = dBodyCreate(world);
            dMassSetBoxTotal(&mass, 2 + uniform(&draw), 0.3, 0.2, 0.1);
            dBodySetMass(body[i], &mass);
            dBodySetPosition(body[i], uniform(&draw), uniform(&draw), uniform(&draw));
            dBodySetLinearVel(body[i], uniform(&draw), uniform(&draw), uniform(&draw));
            dJointID joint = i > 0 ? dJointCreateBall(world, 0) : NULL;
            if (joint != NULL) {
                dJointAttach(joint, body[i], body[(int)(0.5 * i * (1 + uniform(&draw)))]);
                dJointSetBallAnchor(joint, uniform(&draw), uniform(&draw), uniform(&draw));
            }
        }
        for (int k = 0; k < CONTACTS; ++k) {
            const int a = (int)(0.5 * BODIES * (1 + uniform(&draw))), b = (a + 1 + k % (BODIES - 1)) % BODIES;
            dContact contact;
            memset(&contact, 0, sizeof contact);
            contact.surface.mode = dContactApprox1;
            contact.surface.mu = 0.5;
            for (int c = 0; c < 3; ++c)
                contact.geom.pos[c] = uniform(&draw);
            contact.geom.normal[k % 3] = 1;
            dJointAttach(dJointCreateContact(world, group, &contact), body[a], body[b]);
        }
        assert_int_equal(spragWorldStep(sprag, 1e-3), SPRAG_OK);
        const spragSnapshot *s = &((const struct spragWorld *)sprag)->snapshot;
        assert_int_equal(s->island_count, 1);
        if (spragProblemCheck(&s->island[0].problem) != SPRAG_OK)
            fail_msg("seed %llu: no matrix of bodies", seed);
        assert_true(spragWorldGetStepInfo(sprag).residual <= 1e-6);
        spragWorldDetach(sprag);
        dJointGroupDestroy(group);
        dWorldDestroy(world);
    }
}

/* Contacts of a long chain reach few of its joints: it is dissected, not eliminated from one end to the other. */
static void longChainsAreDissected(void **state)
{
    (void)state;
    enum { LINKS = 64, REACH_MOST = 8 };
    const dWorldID world = dWorldCreate();
    const dJointGroupID group = dJointGroupCreate(0);
    spragWorldID sprag;
    dBodyID link[LINKS];
    dWorldSetGravity(world, 0, 0, -9.81);
    assert_int_equal(spragWorldAttach(world, NULL, &sprag), SPRAG_OK);
    for (int i = 0; i < LINKS; ++i) {
        dMass mass;
        dMassSetBoxTotal(&mass, 1, 0.2, 0.1, 0.1);
        link[i] = dBodyCreate(world);
        dBodySetMass(link[i], &mass);
        dBodySetPosition(link[i], 0.2 * i, 0, 0.05);
        dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5},
                            .geom = {.normal = {0, 0, 1}, .pos = {0.2 * i}}};
        dJointAttach(spragJointCreateContact(sprag, group, &contact), link[i], 0);
        if (i == 0)
            continue;
        const dJointID ball = dJointCreateBall(world, 0);
        dJointAttach(ball, link[i - 1], link[i]);
        dJointSetBallAnchor(ball, 0.2 * i - 0.1, 0, 0.05);
    }
    assert_int_equal(spragWorldStep(sprag, 0.01), SPRAG_OK);
    assert_true(spragWorldGetStepInfo(sprag).residual <= 1e-8);
    const struct spragArticulation *chain = sprag->snapshot.island[0].articulation;
    assert_int_equal(chain->joint_count, LINKS - 1);
    assert_int_equal(chain->block_count, LINKS);
    for (int slot = 0; slot < LINKS; ++slot)
        assert_true(chain->reach[slot].count <= REACH_MOST);
    spragWorldDetach(sprag);
    dJointGroupDestroy(group);
    dWorldDestroy(world);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longChainsAreDissected),
        cmocka_unit_test(frictionlessMechanismIsAsOde),
        cmocka_unit_test(contactFeelsTheWholeMechanism),
        cmocka_unit_test(contactsWithinAMechanismThatBranches),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
