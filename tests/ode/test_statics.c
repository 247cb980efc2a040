/* Which geoms are statics: those that a space about a body's geom holds. */
#include "support/check.h"

#include <ode/ode.h>

#include "base/alloc.h"
#include "ode/world/statics.h"

enum { SHAPES = 60 };

typedef struct Fixture {
    spragArena arena;
    spragStatics statics;
    dSpaceID space;
    dGeomID alive, shape[SHAPES];
} Fixture;

static void makeFixture(Fixture *f)
{
    *f = (Fixture){.space = dHashSpaceCreate(NULL)};
    f->alive = dCreateBox(f->space, 1, 1, 1);
    for (int i = 0; i < SHAPES; ++i)
        f->shape[i] = i % 2 ? dCreateCapsule(NULL, 0.1, 1) : dCreateCylinder(NULL, 0.1, 1);
}

static void freeFixture(Fixture *f)
{
    dSpaceDestroy(f->space);
    spragArenaFree(&f->arena);
}

/* Those that no space holds. */
static void freePipes(const Fixture *f)
{
    for (int i = 0; i < SHAPES; ++i)
        if (dGeomGetSpace(f->shape[i]) == NULL)
            dGeomDestroy(f->shape[i]);
}

static int found(Fixture *f, long step)
{
    int count = 0;
    spragArenaReset(&f->arena);
    spragStaticsBegin(&f->statics, &f->arena, step);
    for (int i = 0; i < SHAPES; ++i)
        count += spragStaticsFind(&f->statics, f->alive, f->shape[i]);
    return count;
}

/* What was none is known as none for a while, all or none of them: not those whose addresses have one place.  (Which
 * these are would differ from run to run.) */
static void noneDrivesAnotherOut(void **state)
{
    (void)state;
    Fixture f;
    makeFixture(&f);
    assert_int_equal(found(&f, 1), 0);
    for (int i = 0; i < SHAPES; ++i)
        dSpaceAdd(f.space, f.shape[i]);
    assert_int_equal(found(&f, 2), 0);
    assert_int_equal(found(&f, SPRAG_STATICS_STEPS), SHAPES);
    assert_int_equal(found(&f, SPRAG_STATICS_STEPS + 1), SHAPES);
    freeFixture(&f);
}

/* Addresses that no space holds, more than are remembered: NULL, and what is no geom at all. */
static void whatIsGoneIsNoPipe(void **state)
{
    (void)state;
    static char gone[10 * SPRAG_STATICS_OTHERS];
    Fixture f;
    makeFixture(&f);
    for (int i = 0; i < SHAPES; ++i)
        dSpaceAdd(f.space, f.shape[i]);
    for (int step = 1; step < 3; ++step) {
        assert_int_equal(found(&f, step), SHAPES);
        for (size_t i = 0; i < sizeof gone; ++i)
            assert_int_equal(spragStaticsFind(&f.statics, f.alive, (dGeomID)(void *)&gone[i]), 0);
        assert_int_equal(spragStaticsFind(&f.statics, f.alive, NULL), 0);
    }
    freeFixture(&f);
}

/* Bodies, other classes, and statics among more than are gone through. */
static void othersAreNone(void **state)
{
    (void)state;
    Fixture f;
    makeFixture(&f);
    const dWorldID world = dWorldCreate();
    const dGeomID ball = dCreateSphere(f.space, 1), wheel = dCreateCylinder(f.space, 1, 1);
    dGeomSetBody(wheel, dBodyCreate(world));
    dSpaceAdd(f.space, f.shape[0]);
    for (int i = 1; i < SHAPES; ++i)
        dGeomDestroy(f.shape[i]);
    spragStaticsBegin(&f.statics, &f.arena, 0);
    assert_int_equal(spragStaticsFind(&f.statics, f.alive, ball), 0);
    assert_int_equal(spragStaticsFind(&f.statics, f.alive, wheel), 0);
    assert_int_equal(spragStaticsFind(&f.statics, f.alive, f.shape[0]), 1);
    const dSpaceID within = dSimpleSpaceCreate(f.space);
    for (int i = 0; i < SPRAG_STATICS_AMONG; ++i)
        dCreateSphere(within, 1);
    spragStaticsBegin(&f.statics, &f.arena, 1);
    assert_int_equal(spragStaticsFind(&f.statics, f.alive, f.shape[0]), 0);
    freeFixture(&f);
    dWorldDestroy(world);
}

/* Heightfields are found in the same way, and are none. */
static void fieldsAreFound(void **state)
{
    (void)state;
    static const unsigned char height[4] = {0, 0, 0, 0};
    Fixture f;
    makeFixture(&f);
    const dHeightfieldDataID data = dGeomHeightfieldDataCreate();
    dGeomHeightfieldDataBuildByte(data, height, 0, 1, 1, 2, 2, 1, 0, 1, 0);
    const dGeomID field = dCreateHeightfield(f.space, data, 1), apart = dCreateHeightfield(NULL, data, 1);
    dSpaceAdd(f.space, f.shape[0]);
    for (long step = 1; step < 3; ++step) {
        spragArenaReset(&f.arena);
        spragStaticsBegin(&f.statics, &f.arena, step);
        assert_int_equal(spragStaticsIsField(&f.statics, f.alive, field), 1);
        assert_int_equal(spragStaticsIsField(&f.statics, f.alive, apart), 0);
        assert_int_equal(spragStaticsIsField(&f.statics, f.alive, f.shape[0]), 0);
        assert_int_equal(spragStaticsIsField(&f.statics, f.alive, f.alive), 0);
        assert_int_equal(spragStaticsIsField(&f.statics, f.alive, NULL), 0);
        assert_int_equal(spragStaticsFind(&f.statics, f.alive, field), 0);
        assert_int_equal(spragStaticsFind(&f.statics, f.alive, f.shape[0]), 1);
    }
    dGeomDestroy(apart);
    freePipes(&f);
    freeFixture(&f);
    dGeomHeightfieldDataDestroy(data);
}

/* Bodies of several spaces, by turns: each is gone through once in a step, and only then takes memory. */
static void spacesAreGoneThroughOnce(void **state)
{
    (void)state;
    Fixture f[SPRAG_STATICS_TOPS];
    for (int k = 0; k < SPRAG_STATICS_TOPS; ++k) {
        makeFixture(&f[k]);
        dSpaceAdd(f[k].space, f[k].shape[0]);
    }
    spragStaticsBegin(&f[0].statics, &f[0].arena, 1);
    size_t used = 0;
    for (int turn = 0; turn < 4; ++turn) {
        for (int k = 0; k < SPRAG_STATICS_TOPS; ++k) {
            assert_int_equal(spragStaticsFind(&f[0].statics, f[k].alive, f[k].shape[0]), 1);
            assert_int_equal(spragStaticsIsField(&f[0].statics, f[k].alive, f[k].shape[1]), 0);
        }
        assert_true(turn == 0 || f[0].arena.high_water == used);
        used = f[0].arena.high_water;
    }
    for (int k = 0; k < SPRAG_STATICS_TOPS; ++k) {
        freePipes(&f[k]);
        freeFixture(&f[k]);
    }
}

/* A space for whose list there is no memory: none of its geoms are, in that step, and those of another are found. */
static void aListMayFail(void **state)
{
    (void)state;
    Fixture f;
    makeFixture(&f);
    const dSpaceID apart = dSimpleSpaceCreate(NULL);
    const dGeomID other = dCreateBox(apart, 1, 1, 1);
    for (int i = 0; i < SHAPES; ++i)
        dSpaceAdd(i < SHAPES / 2 ? f.space : apart, f.shape[i]);
    assert_int_equal(found(&f, 0), SHAPES / 2);
    do /* until it has none left */
        spragAllocFailAt(1);
    while (spragArenaTake(&f.arena, 1, 64) != NULL);
    spragAllocFailAt(1);
    assert_int_equal(spragStaticsFind(&f.statics, other, f.shape[SHAPES - 1]), 0);
    spragAllocFailAt(0);
    assert_int_equal(spragStaticsFind(&f.statics, f.alive, f.shape[0]), 1);
    assert_int_equal(spragStaticsFind(&f.statics, other, f.shape[SHAPES - 1]), 1);
    dSpaceDestroy(apart);
    freeFixture(&f);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(noneDrivesAnotherOut),
                                       cmocka_unit_test(whatIsGoneIsNoPipe),
                                       cmocka_unit_test(othersAreNone),
                                       cmocka_unit_test(fieldsAreFound),
                                       cmocka_unit_test(spacesAreGoneThroughOnce),
                                       cmocka_unit_test(aListMayFail)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
