/* Large problems in single precision, eight or sixteen contacts at once: each round and sweep does what the judge,
 * who has double precision, can see; what is left below the floor double precision solves; one body
 * that touches everything is no hindrance.  (Sweeps themselves: test_greedy_sweep.c.) */
#include "support/check.h"

#include "solve/greedy/greedy.h"
#include "solve/greedy/greedy_lanes.h"
#include "support/random_heap.h"

static Heap *makeHeap(unsigned long long seed, int plate)
{
    return openHeap(seed, NAN, plate, 1);
}

/* So many visits of each contact, in sweeps or in rounds. */
static void runEither(spragGreedy *greedy, int sweeps, long each)
{
    spragGreedyLanesBegin(greedy);
    (sweeps ? spragGreedyLanesSweep(greedy, 0, 0, each * CONTACTS, INFINITY)
            : spragGreedyLanesRun(greedy, 0, 0, each * CONTACTS, INFINITY));
    spragGreedyLanesEnd(greedy);
}

static void comesToTheAnswer(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 6; ++seed) {
        Heap *heap =
            openHeap((unsigned long long)seed, NAN, seed > 4, seed % 2); /* the others are widened on the way */
        spragGreedy *greedy = &heap->greedy;
        const double begun = greedy->best_residual;
        assert_true(begun > 0.1);
        double residual = INFINITY;
        spragGreedyRun(greedy, 1e-12, 0, 10000L * CONTACTS, INFINITY);
        residual = spragGreedyResidual(greedy, NULL);
        if (!(residual <= 10 * SPRAG_LANES_FLOOR && residual > 1e-10))
            fail_msg("seed %d: residual %g after %ld visits in single precision", seed, residual, greedy->visits);
        assert_int_equal(greedy->lanes->pack_count<0, seed> 4); /* a plate leaves one contact to a pack */
        for (int look = 0; look < 20 && residual > 1e-9; ++look) {
            spragGreedyRun(greedy, 1e-12, 0, 100000L * CONTACTS, INFINITY);
            residual = spragGreedyResidual(greedy, NULL);
        }
        if (!(residual <= 1e-9))
            fail_msg("seed %d: residual %g after %ld visits", seed, residual, greedy->visits);
        freeHeap(heap);
    }
}

/* Rounds alone, sweeps alone: both lead down, and the velocities of the bodies are those of the impulses. */
static void bothWaysLeadDown(void **state)
{
    (void)state;
    for (int sweeps = 0; sweeps < 2; ++sweeps) {
        Heap *heap = makeHeap(9, 0);
        spragGreedy *greedy = &heap->greedy;
        double carried[CONTACTS][3], summed[3];
        runEither(greedy, sweeps, sweeps ? 23L : 20L);
        assert_in_range(greedy->visits, 20 * CONTACTS, 22 * CONTACTS);
        for (int k = 0; k < CONTACTS; ++k)
            spragGreedyMotion(greedy, k, carried[k]);
        spragGreedySum(greedy);
        for (int k = 0; k < CONTACTS; ++k) {
            spragGreedyMotion(greedy, k, summed);
            for (int i = 0; i < 3; ++i)
                CHECK_NEAR(carried[k][i], summed[i], 1e-13);
        }
        const double begun = greedy->best_residual, residual = spragGreedyResidual(greedy, NULL);
        if (!(residual < 0.05 * begun))
            fail_msg("%s: residual %g of %g", sweeps ? "sweeps" : "rounds", residual, begun);
        freeHeap(heap);
    }
}

/* The impulses of one visit of each contact are those of double precision, to single precision. */
static void roundIsThatOfDoubles(void **state)
{
    (void)state;
    Heap *one = makeHeap(12, 0), *other = makeHeap(12, 0);
    spragGreedy *single = &one->greedy, *twice = &other->greedy;
    twice->lanes = NULL;
    spragGreedyRun(single, 1e-3, 0, 23L * CONTACTS, INFINITY);
    spragGreedyRun(twice, 1e-10, 0, 100000L * CONTACTS, INFINITY);
    spragGreedyRun(single, 1e-5, 0, 100000L * CONTACTS, INFINITY);
    double far = 0, size = 0;
    for (int k = 0; k < CONTACTS; ++k)
        for (int i = 0; i < 3; ++i) {
            const double d = one->greedy.contact[k].r[i] - other->greedy.contact[k].r[i];
            far += d * d;
            size += twice->contact[k].r[i] * twice->contact[k].r[i];
        }
    if (!(far < 1e-4 * size))
        fail_msg("impulses differ by %g of %g N s", sqrt(far), sqrt(size));
    freeHeap(one);
    freeHeap(other);
}

/* Velocities whose squares single precision does not hold: no answer becomes NaN. */
static void staysFinite(void **state)
{
    (void)state;
    for (int sweeps = 0; sweeps < 2; ++sweeps) {
        Heap *heap = makeHeap(7, 0);
        spragGreedy *greedy = &heap->greedy;
        for (int k = 0; k < CONTACTS; ++k)
            for (int i = 0; i < 3; ++i)
                greedy->contact[k].q[i] *= k % 5 == 0 ? 1e24 : 1;
        spragGreedyBegin(greedy, NULL, NULL);
        assert_true(greedy->lanes != NULL);
        runEither(greedy, sweeps, sweeps ? 30L : 20L);
        assert_true(isfinite(spragGreedyResidual(greedy, NULL)));
        assert_true(isfinite(spragGreedyBest(greedy, NULL)));
        freeHeap(heap);
    }
}

/* Loads down to 1e-22 N s that slide at 0.4 m/s are solved as any other: on the cone, closed, against the slip.  In
 * double precision down to 1e-300. */
static void lightContactsSlide(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; ++wide) {
        Heap *heap = calloc(1, sizeof *heap);
        assert_non_null(heap);
        spragGreedy *greedy = &heap->greedy;
        unsigned long long seed = 5;
        assert_int_equal(spragGreedyInit(greedy, CONTACTS, CONTACTS, &heap->arena), 1);
        assert_int_equal(wide ? spragGreedyWiden(greedy) : 1, 1);
        randomBodies(greedy, &seed);
        for (int k = 0; k < CONTACTS; ++k) {
            randomContact(greedy, k, &seed);
            spragGreedyContact *c = &greedy->contact[k];
            greedy->pair[k][1] = CONTACTS; /* alone */
            c->mu = 0.5;
            c->q[0] = -pow(10, wide ? -7 - k % 15 : -7 - k), c->q[1] = 0.4 * cos(k), c->q[2] = 0.4 * sin(k);
        }
        spragGreedyFill(greedy, 0, CONTACTS);
        spragGreedyBegin(greedy, NULL, NULL);
        if (wide)
            runEither(greedy, 1, 60L);
        else
            spragGreedyRun(greedy, 0, 0, 10L * CONTACTS, INFINITY);
        for (int k = 0; k < CONTACTS; ++k) {
            const spragGreedyContact *c = &greedy->contact[k];
            double u[3], slip = hypot(c->q[1], c->q[2]), friction = hypot(c->r[1], c->r[2]);
            spragGreedyMotion(greedy, k, u);
            if (!wide && c->r[0] == 0 && c->q[0] > -1e-15)
                continue; /* the judge sees no error there */
            if (!(c->r[0] > 0 && fabs(u[0] + c->q[0]) < -2e-5 * c->q[0] && fabs(friction / c->r[0] - c->mu) < 1e-5 &&
                  -(c->r[1] * c->q[1] + c->r[2] * c->q[2]) > (1 - 1e-5) * friction * slip))
                fail_msg("wide %d: q_n %g: r %g %g %g, u_n %g", wide, c->q[0], c->r[0], c->r[1], c->r[2],
                         u[0] + c->q[0]);
        }
        freeHeap(heap);
    }
}

/* With a finite mu of any size contacts never pull: one that single precision takes for infinite would hold. */
static void steepContactsPart(void **state)
{
    (void)state;
    for (int sweeps = 0; sweeps < 2; ++sweeps)
        for (double mu = 1e10; mu < 1e300; mu *= 1e10) {
            Heap *heap = makeHeap(7, 0);
            spragGreedy *greedy = &heap->greedy;
            for (int k = 0; k < CONTACTS; ++k) {
                greedy->contact[k].mu = mu;
                greedy->contact[k].q[0] += k % 3 - 1; /* a third parts */
            }
            spragGreedyBegin(greedy, NULL, NULL);
            runEither(greedy, sweeps, 30L);
            for (int k = 0; k < CONTACTS; ++k) {
                const double *r = greedy->contact[k].r;
                if (!(r[0] >= 0 && (r[0] > 0 || (r[1] == 0 && r[2] == 0))))
                    fail_msg("sweeps %d, mu %g: r %g %g %g", sweeps, mu, r[0], r[1], r[2]);
            }
            freeHeap(heap);
        }
}

/* What holds and yields along its tangents, pressed or not: its own block has that in it. */
static void whatYieldsHolds(void **state)
{
    (void)state;
    for (int sweeps = 0; sweeps < 2; ++sweeps) {
        Heap *heap = openHeap(11, SPRAG_GREEDY_GLUED, 0, 1);
        spragGreedy *greedy = &heap->greedy;
        for (int k = 0; k < CONTACTS; ++k) {
            spragGreedyContact *c = &greedy->contact[k];
            c->direction[1][3] = 10 * c->normal[0], c->direction[2][3] = 2 * c->normal[0];
            c->q[0] += k % 2; /* half of them are not pressed */
        }
        spragGreedyFill(greedy, 0, CONTACTS);
        spragGreedyBegin(greedy, NULL, NULL);
        runEither(greedy, sweeps, 60L);
        const double left = spragGreedyResidual(greedy, NULL);
        if (!(left <= 1e-3 * greedy->begun))
            fail_msg("sweeps %d: residual %g of %g", sweeps, left, greedy->begun);
        int unpressed = 0;
        for (int k = 0; k < CONTACTS; ++k)
            unpressed += greedy->contact[k].r[0] == 0 && greedy->contact[k].r[1] != 0;
        assert_true(unpressed > CONTACTS / 10);
        freeHeap(heap);
    }
}

/* Of bodies so much lighter: the same motion by impulses so much smaller, whose fifth powers single precision does not
 * hold. */
static double leftOfLight(double lighter, int sweeps)
{
    Heap *heap = makeHeap(9, 0);
    spragGreedy *greedy = &heap->greedy;
    for (int b = 0; b < BODIES; ++b) {
        greedy->body[b].inverse_mass *= lighter;
        for (int i = 0; i < 7; ++i)
            greedy->body[b].inverse_inertia[i] *= lighter;
    }
    spragGreedyFill(greedy, 0, CONTACTS);
    spragGreedyBegin(greedy, NULL, NULL);
    runEither(greedy, sweeps, 30L);
    const double left = spragGreedyResidual(greedy, NULL);
    freeHeap(heap);
    return left;
}

static void massIsNoMatter(void **state)
{
    (void)state;
    for (int sweeps = 0; sweeps < 2; ++sweeps)
        for (int power = -30; power <= 40; power += 10) {
            const double one = leftOfLight(1, sweeps), left = leftOfLight(ldexp(1, power), sweeps);
            if (!(fabs(left - one) < 0.01 * one))
                fail_msg("sweeps %d, 2^%d times lighter: %g m/s are left in place of %g", sweeps, power, left, one);
        }
}

static void stopsInTime(void **state)
{
    (void)state;
    Heap *heap = makeHeap(4, 0);
    spragGreedyRun(&heap->greedy, 0, 3 * CONTACTS, 1000L * CONTACTS, 0); /* the deadline is long past */
    assert_in_range(heap->greedy.visits, 3 * CONTACTS, 5 * CONTACTS);
    freeHeap(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comesToTheAnswer),     cmocka_unit_test(bothWaysLeadDown),
        cmocka_unit_test(roundIsThatOfDoubles), cmocka_unit_test(staysFinite),
        cmocka_unit_test(lightContactsSlide),   cmocka_unit_test(stopsInTime),
        cmocka_unit_test(steepContactsPart),    cmocka_unit_test(massIsNoMatter),
        cmocka_unit_test(whatYieldsHolds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
