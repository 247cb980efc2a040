/* The rows of a guide are derivatives of its gap:  g' = J v  and, for bodies that go straight and turn evenly,
 * g'' = the product; here against differences of g itself, in either frame, with and without play. */
#include "support/twin.h"

#include "linalg/vec3.h"
#include "ode/joints/guide.h"
#include "ode/look/snapshot.h"

static const double DT = 1e-4; /* s */

/* R(w t) by Rodrigues, times R0 */
static void turn(dBodyID body, const dMatrix3 R0, const double w[3], double t)
{
    const double speed = spragNorm3(w);
    dMatrix3 spin, R;
    dRFromAxisAndAngle(spin, w[0], w[1], w[2], speed * t);
    dMultiply0_333(R, spin, R0);
    dBodySetRotation(body, R);
}

/* Gap of the guide's first block with the bodies where they are at t. */
static void blocksAt(Twin *t, spragGuideID guide, dMatrix3 R0[2], double time, spragBlock block[2])
{
    static const double x[2][3] = {{0.2, 0.1, 0.5}, {-0.4, 0.3, 0.1}}, v[2][3] = {{1, -0.5, 0.3}, {0.2, 0.4, -1}},
                        w[2][3] = {{0.7, -1.1, 0.4}, {-0.3, 0.8, 1.3}};
    for (int b = 0; b < t->count; ++b) {
        dBodySetPosition(t->body[b], x[b][0] + v[b][0] * time, x[b][1] + v[b][1] * time, x[b][2] + v[b][2] * time);
        turn(t->body[b], R0[b], w[b], time);
        dBodySetLinearVel(t->body[b], v[b][0], v[b][1], v[b][2]);
        dBodySetAngularVel(t->body[b], w[b][0], w[b][1], w[b][2]);
    }
    spragArenaReset(&t->sprag->arena);
    assert_int_equal(spragSnapshotTake(t->sprag, 1e-3), SPRAG_OK);
    assert_int_equal(t->sprag->snapshot.joint_count, 1);
    assert_ptr_equal(t->sprag->snapshot.joint[0].guide, guide);
    spragGuideBlocks(t->sprag, 0, block);
}

static void rowsAreDerivatives(int bodies, double clearance)
{
    Twin t;
    makeTwin(&t, 1);
    dMatrix3 R0[2];
    for (int b = 0; b < bodies; ++b) {
        addBox(&t, b, 0, 0);
        dRFromAxisAndAngle(R0[b], 1, 2 * b, -1, 0.4 + b);
    }
    spragGuideDef def = spragGuideDefDefault();
    def.body = t.body[0], def.guide = bodies > 1 ? t.body[1] : NULL;
    def.point[0] = 0.3, def.point[1] = -0.2, def.point[2] = 0.6;
    def.normal[0] = 0.6, def.normal[2] = 0.8;
    def.clearance = clearance;
    spragGuideID guide;
    assert_int_equal(spragGuideCreate(t.sprag, &def, &guide), SPRAG_OK);
    spragBlock before[2], now[2], after[2];
    blocksAt(&t, guide, R0, -DT, before);
    blocksAt(&t, guide, R0, DT, after);
    blocksAt(&t, guide, R0, 0, now);
    const int count = spragGuideBlockCount(guide);
    assert_int_equal(count, clearance > 0 ? 2 : 1);
    for (int k = 0; k < count; ++k) {
        CHECK_NEAR((after[k].gap - before[k].gap) / (2 * DT), spragBlockVelocity(&t.sprag->snapshot, &now[k], 0), 1e-6);
        CHECK_NEAR((after[k].gap - 2 * now[k].gap + before[k].gap) / (DT * DT), now[k].product[0], 1e-5);
        double cross[3];
        spragCross3(cross, now[k].n, now[k].t1);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(cross[i], now[k].t2[i], 1e-12); /* a right-handed frame */
    }
    if (count == 2) {
        CHECK_NEAR(now[0].gap + now[1].gap, clearance, 1e-14);
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(now[0].n[i] + now[1].n[i], 0, 0);
    }
    freeTwin(&t);
}

static void ofTheWorldAndOfABody(void **state)
{
    (void)state;
    rowsAreDerivatives(1, 0);
    rowsAreDerivatives(2, 0);
    rowsAreDerivatives(1, 0.01);
    rowsAreDerivatives(2, 0.01);
}

static void guidesAreFoundByTheirIds(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    spragGuideDef def = spragGuideDefDefault();
    def.body = addBox(&t, 0, 0, 0);
    def.normal[2] = 1;
    spragGuideID guide[5];
    unsigned long long id[5];
    for (int k = 0; k < 5; ++k) {
        assert_int_equal(spragGuideCreate(t.sprag, &def, &guide[k]), SPRAG_OK);
        id[k] = guide[k]->id;
    }
    spragGuideDestroy(guide[2]);
    for (int k = 0; k < 5; ++k)
        assert_ptr_equal(spragGuideById(t.sprag, id[k]), k == 2 ? NULL : guide[k]);
    assert_null(spragGuideById(t.sprag, id[4] + 1));
    dJointDestroy(guide[3]->joint); /* the program may: then it guides no more, and can still be destroyed */
    step(&t, 1e-3);
    assert_int_equal(spragWorldGetStepInfo(t.sprag).contacts, 3);
    spragGuideDestroy(guide[3]);
    assert_int_equal(t.sprag->guide_count, 3);
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(ofTheWorldAndOfABody),
                                       cmocka_unit_test(guidesAreFoundByTheirIds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
