/* Motions that run into a paradox: the jam of a rod on a rough patch and of a bipod whose load turns, restitution, slip
 * that turns back, the variant that history keeps.  At steps of 1e-2 to 1e-5 s. */
#include <sprag/sprag.h>

#include "support/oracle.h"
#include "support/scene_world.h"

static const double step_sizes[] = {1e-2, 1e-3, 1e-4, 1e-5};
enum { STEP_SIZES = 4 };

static void stepOnce(SceneWorld *world, double h)
{
    if (SceneStep(world, h) != SPRAG_OK)
        fail_msg("step %ld: %s", world->step, SceneDetail(world));
}

/* ---------------------------------------------------------------- the rod */

/* G (n, t, -) of the lower end and its velocity (n, t, 0). */
static void endOf(const SceneWorld *world, double G[9], double v[3])
{
    const dBodyID rod = world->body[0];
    const double l = 0.5 * world->value[1], m = world->value[0], J = m * l * l / 3;
    dVector3 end, velocity;
    dBodyGetRelPointPos(rod, 0, 0, -l, end);
    dBodyGetRelPointVel(rod, 0, 0, -l, velocity);
    const dReal *x = dBodyGetPosition(rod);
    const double a = x[0] - end[0], height = x[2] - end[2];
    const double values[9] = {
        1 / m + a * a / J, -a * height / J, 0, -a * height / J, 1 / m + height * height / J, 0, 0, 0, 1 / m};
    memcpy(G, values, sizeof values);
    v[0] = velocity[2], v[1] = velocity[0], v[2] = 0;
}

/* It slides regularly on mu 0.3 and comes onto a patch of mu 2, x > 0.02 m, where p < 0 and b < 0.  The slip ends there
 * in one step, by an impulse and without a collision: the end neither approaches nor is it let in.  The impulse and
 * what restitution gives back are those of spragJamImpulse up to O(h); after it the end rests or has left. */
static void aRoughPatchStopsTheRod(void **unused)
{
    (void)unused;
    for (int e = 0; e < 2; ++e)
        for (int i = 0; i < STEP_SIZES; ++i) {
            const double h = step_sizes[i], restitution = 0.5 * e;
            SceneWorld *world = openWith("rod", "mu=0.3 angle=120 restitution=%g", restitution);
            double G[9], v[3], P[3], after[3];
            dVector3 end;
            for (;;) {
                dBodyGetRelPointPos(world->body[0], 0, 0, -0.5 * world->value[1], end);
                if (end[0] > 0.02)
                    break;
                assert_true(world->time < 0.1);
                stepOnce(world, h);
                assert_null(findEvent(world, SPRAG_EVENT_JAM));
                assert_null(findEvent(world, SPRAG_EVENT_INCONSISTENT));
            }
            world->surface.mu = 2;
            endOf(world, G, v);
            assert_true(spragPainleveSlope(G, 2, v + 1) < 0);
            assert_true(fabs(v[0]) < 20 * h); /* O(h), m/s: no collision */
            assert_int_equal(spragJamImpulse(G, 2, restitution, (double[]){0, v[1], 0}, P, after), SPRAG_OK);
            stepOnce(world, h);
            const spragEvent *jam = findEvent(world, SPRAG_EVENT_JAM);
            assert_non_null(jam);
            assert_non_null(findEvent(world, SPRAG_EVENT_INCONSISTENT));
            assert_true(jam->p < 0 && jam->b < 0);
            CHECK_NEAR(jam->impulse[2], P[0], 30 * h);
            CHECK_NEAR(jam->impulse[0], P[1], 30 * h);
            CHECK_NEAR(jam->slip_after[0], 0, 1e-12);
            double left[3];
            endOf(world, G, left);
            CHECK_NEAR(left[0], after[0], 30 * h);
            SceneDestroy(world);
        }
}

/* Jammed, and then pulled back through its centre: it slips the other way, where p > 0, without another paradox. */
static void slipTurnsBack(void **unused)
{
    (void)unused;
    for (int i = 0; i < STEP_SIZES; ++i) {
        const double h = step_sizes[i];
        SceneWorld *world = openWith("rod", "mu=2 angle=120");
        stepOnce(world, h);
        assert_non_null(findEvent(world, SPRAG_EVENT_JAM));
        int slips = 0;
        for (int k = 0; k < 3; ++k) {
            dBodyAddForce(world->body[0], -60, 0, 0);
            stepOnce(world, h);
            slips += findEvent(world, SPRAG_EVENT_SLIP) != NULL;
            assert_null(findEvent(world, SPRAG_EVENT_JAM));
            assert_null(findEvent(world, SPRAG_EVENT_INCONSISTENT));
            assert_null(findEvent(world, SPRAG_EVENT_INDETERMINATE));
        }
        const spragContact *contact = NULL;
        assert_int_equal(SceneGetContacts(world, &contact), 1);
        assert_int_equal(slips, 1);
        assert_int_equal(contact->mode, SPRAG_MODE_SLIP);
        assert_true(contact->slip[0] < 0 && contact->friction[0] > 0 && contact->painleve_p > 0);
        CHECK_NEAR(contact->friction[0], 2 * contact->normal_force, 1e-9 * contact->normal_force);
        SceneDestroy(world);
    }
}

/* ---------------------------------------------------------------- the bipod */

/* Two-sided feet, mu1^ = 0.9, mu2^ = 0.3, k3 = 1.2 > 1, sliding right.  Pressed down it has two motions,
 * one realisable; drawn up none, as mu1^ > 1/2.  The load P goes evenly from 10 N to -10 N in 0.2 s: at
 * P = 0 the reactions vanish and the motion ends, in a jam with N2^ = -N1^ = H m v / 2a and total
 * friction impulse -m v (Ivanov 2009, 5.8 to 5.13). */
static void theBipodJamsWhenItsLoadTurns(void **unused)
{
    (void)unused;
    for (int i = 0; i < STEP_SIZES; ++i) {
        const double h = step_sizes[i], m = 1, a = 0.5, H = 1;
        SceneWorld *world =
            openWith("bipod", "mu-1=0.9 mu-2=0.3 gravity=0 pull=2 slip=3 mass=%g half-width=%g height=%g", m, a, H);
        spragConfig config;
        assert_int_equal(spragWorldGetConfig(world->sprag, &config), SPRAG_OK);
        config.tolerance = 1e-12; /* near P = 0 the loads of a short step are below the default, 1e-8 m/s */
        assert_int_equal(spragWorldSetConfig(world->sprag, &config), SPRAG_OK);
        const long steps = lround(0.2 / h);
        double before = 0, jam_time = -1, N[2] = {0}, T = 0;
        while (world->step < steps && jam_time < 0) {
            before = dBodyGetLinearVel(world->body[0])[0];
            dBodyAddForce(world->body[0], 0, 0, -10 + 100 * (world->time + 0.5 * h));
            stepOnce(world, h);
            if (findEvent(world, SPRAG_EVENT_JAM) == NULL) {
                assert_null(findEvent(world, SPRAG_EVENT_INCONSISTENT));
                continue;
            }
            assert_non_null(findEvent(world, SPRAG_EVENT_INCONSISTENT));
            assert_int_equal(findEvent(world, SPRAG_EVENT_INCONSISTENT)->paradox_class, 1);
            jam_time = world->time;
            const spragContact *contact = NULL;
            assert_int_equal(SceneGetContacts(world, &contact), 2);
            for (int k = 0; k < 2; ++k) {
                N[k] = contact[k].normal_force * h, T += contact[k].friction[0] * h;
                CHECK_NEAR(contact[k].slip[0], 0, 1e-10);
            }
        }
        CHECK_NEAR(jam_time, 0.1, 1.5 * h);
        assert_true(before > 0.5);
        CHECK_NEAR(T, -m * before, 5 * h);
        CHECK_NEAR(N[1], H * m * before / (2 * a), 5 * h);
        CHECK_NEAR(N[0], -N[1], 5 * h);
        for (int k = 0; k < 5; ++k) { /* and stays */
            dBodyAddForce(world->body[0], 0, 0, 0.5);
            stepOnce(world, h);
            CHECK_NEAR(dBodyGetLinearVel(world->body[0])[0], 0, 1e-10);
        }
        SceneDestroy(world);
    }
}

/* ---------------------------------------------------------------- Painleve and Klein: class 4 */

/* pk_rigid.v+1.n3.+-+: three motions, two of them realisable.  Brought there by a load that grows, the beads are in the
 * first, by one that falls, in the last: the variant of the moment before is kept, at every step size. */
static void historyKeepsTheVariant(void **unused)
{
    (void)unused;
    const Json *one = oracleCase(&oracle, "pk_rigid.v+1.n3.+-+"), *in = jsonGet(one, "inputs");
    const Json *solutions = jsonGet(jsonGet(one, "expected"), "solutions");
    const double X1 = jsonNumber(in, "X1");
    assert_int_equal(solutions->count, 3);
    for (int i = 0; i < STEP_SIZES; ++i)
        for (int from = -1; from <= 1; from += 2) {
            const double h = step_sizes[i];
            SceneWorld *world = openWith(
                "painleve-klein", "mu-1=%.17g mu-2=%.17g x-1=%.17g y-1=%.17g x-2=%.17g y-2=%.17g angle=%.17g speed=500",
                jsonNumber(in, "mu1"), jsonNumber(in, "mu2"), X1, jsonNumber(in, "Y1"), jsonNumber(in, "X2"),
                jsonNumber(in, "Y2"), jsonNumber(in, "phi") * 180 / M_PI);
            const int key = keyOf(world->scene, "x-1");
            const int steps = 40;
            for (int k = 0; k <= steps; ++k) {
                world->value[key] = X1 + from * 40.0 * (steps - k) / steps;
                stepOnce(world, h);
                assert_null(findEvent(world, SPRAG_EVENT_JAM));
            }
            const double before = dBodyGetLinearVel(world->body[0])[0];
            stepOnce(world, h);
            const double acceleration = (dBodyGetLinearVel(world->body[0])[0] - before) / h;
            /* by ascending rod force R: the load X* = Phi(R) grows along the first and the last piece */
            int first = 0, last = 0;
            for (int k = 1; k < 3; ++k) {
                if (jsonNumber(&solutions->first[k], "R") < jsonNumber(&solutions->first[first], "R"))
                    first = k;
                if (jsonNumber(&solutions->first[k], "R") > jsonNumber(&solutions->first[last], "R"))
                    last = k;
            }
            const Json *kept = &solutions->first[from < 0 ? first : last];
            assert_true(jsonNumber(kept, "stable") != 0);
            CHECK_NEAR(acceleration, jsonNumber(kept, "xdd"),
                       1e-6 * (1 + fabs(jsonNumber(kept, "xdd"))) / fmin(1, h / 1e-3));
            const spragContact *contact = NULL;
            assert_int_equal(SceneGetContacts(world, &contact), 2);
            for (int k = 0; k < 2; ++k) {
                assert_int_equal(contact[k].paradox_class, 4);
                assert_int_equal(contact[k].variant, (int)jsonGet(kept, "variant")->first[k].number);
            }
            SceneDestroy(world);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aRoughPatchStopsTheRod),
        cmocka_unit_test(slipTurnsBack),
        cmocka_unit_test(theBipodJamsWhenItsLoadTurns),
        cmocka_unit_test(historyKeepsTheVariant),
    };
    return cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
}
