/* Contacts with rolling friction: a visit against the dense 6 x 6 block of the contact; sweeps against those of dense
 * matrices. */
#include "support/check.h"
#include "support/momentum.h"
#include "support/random_contacts.h"

#include "solve/greedy/greedy_roll.h"

enum { N = 60, BODIES = 60 };

typedef struct Heap {
    spragArena arena;
    spragGreedy greedy;
} Heap;

static void finishHeap(Heap *heap)
{
    spragGreedyFill(&heap->greedy, 0, N);
    spragGreedyBegin(&heap->greedy, NULL, NULL);
}

/* Any masses, arms, loads; rows that yield a little. */
static Heap *openHeap(unsigned long long seed)
{
    Heap *heap = calloc(1, sizeof *heap);
    assert_non_null(heap);
    spragGreedy *greedy = &heap->greedy;
    assert_int_equal(spragGreedyInit(greedy, N, BODIES, &heap->arena), 1);
    assert_int_equal(spragGreedyRolls(greedy), 1);
    randomBodies(greedy, &seed);
    for (int k = 0; k < N; ++k) {
        randomContact(greedy, k, &seed);
        spragGreedyContact *c = &greedy->contact[k];
        spragGreedyRoll *roll = &greedy->roll[k];
        *roll =
            (spragGreedyRoll){.length = 0.3 + 0.1 * uniform(&seed), .mu = k % 8 == 0 ? 0 : 0.5 + 0.5 * uniform(&seed)};
        c->mu = k % 7 == 0 ? 0 : 0.3 + 0.2 * uniform(&seed);
        for (int i = 0; i < 3; ++i) {
            c->q[i] = uniform(&seed) - (i == 0 ? 0.4 : 0);
            roll->q[i] = 0.3 * uniform(&seed);
            c->direction[i][3] = 0.01 * (1 + uniform(&seed));
        }
    }
    finishHeap(heap);
    return heap;
}

static void closeHeap(Heap *heap)
{
    spragArenaFree(&heap->arena);
    free(heap);
}

/* What bodies' velocities do to row i of contact k: three of the contact, three of its turning. */
static double motionOf(const spragGreedy *greedy, int k, int i)
{
    const spragGreedyContact *c = &greedy->contact[k];
    const double *d = c->direction[i < 3 ? i : (i + 1) % 3];
    double sum = 0;
    for (int side = 0; side < 2; ++side) {
        const spragGreedyBody *body = &greedy->body[greedy->pair[k][side]];
        double turn[3];
        spragCross3(turn, c->arm[side], d);
        sum += (side == 0 ? 1 : -1) * (i < 3 ? spragDot3(d, body->velocity[0]) + spragDot3(turn, body->velocity[1])
                                             : greedy->roll[k].length * spragDot3(d, body->velocity[1]));
    }
    return sum;
}

static double *impulseOf(spragGreedy *greedy, int k, int i)
{
    return i < 3 ? &greedy->contact[k].r[i] : &greedy->roll[k].r[i - 3];
}

/* u (6) = W_k. r + q of all impulses; the velocities are summed anew. */
static void velocityOf(spragGreedy *greedy, int k, double u[6])
{
    spragGreedySum(greedy);
    for (int i = 0; i < 6; ++i)
        u[i] = motionOf(greedy, k, i) +
               (i < 3 ? greedy->contact[k].q[i] + greedy->contact[k].direction[i][3] * greedy->contact[k].r[i]
                      : greedy->roll[k].q[i - 3]);
}

/* Column (l, j) of W: what a unit impulse does to all rows. */
static void columnOf(spragGreedy *greedy, int l, int j, double *column)
{
    for (int k = 0; k < N; ++k)
        for (int i = 0; i < 6; ++i)
            *impulseOf(greedy, k, i) = k == l && i == j;
    spragGreedySum(greedy);
    for (int k = 0; k < N; ++k)
        for (int i = 0; i < 6; ++i)
            column[6 * k + i] =
                motionOf(greedy, k, i) + (k == l && i == j && i < 3 ? greedy->contact[k].direction[i][3] : 0);
}

/* r obeys Coulomb's law with the velocities u: where it slides its direction is found to `within` of it.  w: 1/kg */
static void checkContact(double mu, double w, const double r[3], const double u[3], double within)
{
    const double load = mu * r[0], friction = spragNorm2(r + 1), x[2] = {r[1] - u[1] / w, r[2] - u[2] / w};
    assert_true(r[0] >= 0);
    if (r[0] == 0) {
        assert_true(friction == 0 && u[0] > -1e-12);
        return;
    }
    CHECK_NEAR(u[0], 0, 1e-11);
    const double share = fmin(1, load / fmax(spragNorm2(x), 1e-300)); /* x, drawn back to the disc, is r_t */
    for (int i = 0; i < 2; ++i)
        CHECK_NEAR(share * x[i], r[1 + i], within * load + 1e-11);
    assert_true(friction <= load * (1 + 1e-12));
}

/* m obeys the law of two bounds: a disc for rolling, an interval for spinning. */
static void checkTurning(double most, const double m[3], const double w[3])
{
    const double size = spragNorm2(m), turns = spragNorm2(w);
    assert_true(size <= most * (1 + 1e-9) + 1e-15 && fabs(m[2]) <= most * (1 + 1e-12));
    if (size < most * (1 - 1e-7))
        CHECK_NEAR(turns, 0, 1e-9);
    else
        CHECK_NEAR(m[0] * w[0] + m[1] * w[1], -size * turns, 1e-8 * size * turns + 1e-13);
    if (fabs(m[2]) < most * (1 - 1e-9))
        CHECK_NEAR(w[2], 0, 1e-10);
    else
        assert_true(m[2] * w[2] <= 1e-12);
}

/* r and m that answer u0, the velocities without them, while nothing turns.  W: 6 x 6.  1: m is within its bounds. */
static int answerOf(const spragGreedy *greedy, int k, const double W[36], const double u0[6], double r[3], double m[3])
{
    const spragGreedyRoll *roll = &greedy->roll[k];
    double own[9], inverse[9], schur[9], q[3], held[3], w[3];
    const int turns = roll->mu > 0;
    for (int i = 0; i < 9; ++i)
        own[i] = W[6 * (3 + i / 3) + 3 + i % 3];
    assert_true(spragInverse33(inverse, own));
    spragMul33(held, inverse, u0 + 3);
    for (int i = 0; i < 3; ++i) {
        const double *row = W + 6 * i + 3;
        q[i] = u0[i] - (turns ? spragDot3(row, held) : 0);
        for (int j = 0; j < 3; ++j) {
            spragMul33(w, inverse, (double[3]){W[18 + j], W[24 + j], W[30 + j]});
            schur[3 * i + j] = W[6 * i + j] - (turns ? spragDot3(row, w) : 0);
        }
    }
    spragConeBlock cone;
    spragConeBlockInit(&cone, schur, greedy->contact[k].mu, 0);
    spragConeBlockSolve(&cone, q, r);
    for (int i = 0; i < 3; ++i)
        w[i] = -u0[3 + i] - spragDot3(W + 6 * (3 + i), r);
    spragMul33(m, inverse, w);
    for (int i = 0; i < 3 && !turns; ++i)
        m[i] = 0;
    return spragNorm2(m) <= roll->mu * r[0] && fabs(m[2]) <= roll->mu * r[0];
}

/* One visit, from where the contact is. */
static void checkVisit(spragGreedy *greedy, int k, const double W[36], int *held, int *sliding)
{
    spragGreedyContact *c = &greedy->contact[k];
    spragGreedyRoll *roll = &greedy->roll[k];
    const int *pair = greedy->pair[k];
    double r0[3], m0[3], r[3], m[3], u[6], u0[6], carried[6], push[3], twist[3], twisted;
    memcpy(r0, c->r, sizeof r0), memcpy(m0, roll->r, sizeof m0);
    const double pushed =
        spragGreedyVisitBoth(c, &greedy->own[k], roll, &greedy->body[pair[0]], &greedy->body[pair[1]], &twisted);
    for (int i = 0; i < 3; ++i)
        push[i] = c->r[i] - r0[i], twist[i] = roll->r[i] - m0[i];
    CHECK_NEAR(pushed, spragNorm3(push), 1e-12);
    CHECK_NEAR(twisted, spragNorm3(twist), 1e-12);
    for (int i = 0; i < 6; ++i)
        carried[i] = motionOf(greedy, k, i);
    velocityOf(greedy, k, u);
    for (int i = 0; i < 6; ++i) {
        CHECK_NEAR(carried[i], motionOf(greedy, k, i), 1e-11);
        u0[i] = u[i] - spragDot3(W + 6 * i, c->r) - spragDot3(W + 6 * i + 3, roll->r);
    }
    *held = answerOf(greedy, k, W, u0, r, m);
    for (int i = 0; i < 3 && *held; ++i) {
        CHECK_NEAR(c->r[i], r[i], 1e-10);
        CHECK_NEAR(roll->r[i], m[i], 1e-10);
    }
    checkTurning(roll->mu * c->r[0], roll->r, u + 3);
    for (int i = 0; i < 3 && !*held; ++i)
        u[i] -= spragDot3(W + 6 * i + 3, twist);
    checkContact(c->mu, c->normal[3], c->r, u, *held ? 1e-9 : 2 * SPRAG_GREEDY_ACCURACY);
    *sliding = c->mu > 0 && c->r[0] > 0 && spragNorm2(c->r + 1) > (1 - 1e-9) * c->mu * c->r[0];
}

/* Contact and moments are one answer where nothing turns; else the contact answers the moments that there were, and the
 * new ones answer it. */
static void visitsAreAnswers(void **state)
{
    (void)state;
    int found[2][2] = {{0, 0}, {0, 0}}, open = 0;
    double column[6 * N], W[N][36];
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        Heap *heap = openHeap(seed);
        for (int k = 0; k < N; ++k)
            for (int j = 0; j < 6; ++j) {
                columnOf(&heap->greedy, k, j, column);
                for (int i = 0; i < 6; ++i)
                    W[k][6 * i + j] = column[6 * k + i];
            }
        for (int k = 0; k < N; ++k)
            for (int i = 0; i < 6; ++i)
                *impulseOf(&heap->greedy, k, i) = 0;
        spragGreedySum(&heap->greedy);
        for (int visit = 0; visit < 3 * N; ++visit) {
            int held, sliding;
            checkVisit(&heap->greedy, visit * 7 % N, W[visit * 7 % N], &held, &sliding);
            ++found[held][sliding];
            open += heap->greedy.contact[visit * 7 % N].r[0] == 0;
        }
        closeHeap(heap);
    }
    assert_true(found[0][0] > 50 && found[0][1] > 50 && found[1][0] > 50 && found[1][1] > 50 && open > 50);
}

/* The contact's own blocks are those of W. */
static void blocksAreThoseOfW(void **state)
{
    (void)state;
    Heap *heap = openHeap(3);
    spragGreedy *greedy = &heap->greedy;
    double column[6 * N];
    for (int k = 0; k < N; ++k)
        for (int j = 0; j < 6; ++j) {
            const spragGreedyRoll *roll = &greedy->roll[k];
            columnOf(greedy, k, j, column);
            for (int i = 3; i < 6; ++i)
                CHECK_NEAR(j < 3 ? roll->cross[3 * (i - 3) + j] : roll->own[3 * (i - 3) + j - 3], column[6 * k + i],
                           1e-13);
        }
    closeHeap(heap);
}

/* size: 1: nothing but normal impulses; 6: everything holds */
static void checkSweeps(Heap *heap, int size, int sweeps)
{
    spragGreedy *greedy = &heap->greedy;
    Momentum *m = momentumCreate(N, size);
    double column[6 * N];
    int order[N];
    for (int k = 0; k < N; ++k) {
        const spragGreedyContact *c = &greedy->contact[k];
        const spragGreedyRoll *roll = &greedy->roll[k];
        order[k] = k;
        for (int i = 0; i < size; ++i) {
            m->q[size * k + i] = i < 3 ? c->q[i] : roll->q[i - 3];
            m->r[size * k + i] = *impulseOf(greedy, k, i);
            m->weight[size * k + i] = i < 3 ? c->arm[0][3] + c->arm[1][3] : roll->weight[0] + roll->weight[1];
        }
    }
    const spragArenaMark mark = spragArenaMarkGet(greedy->arena);
    spragGreedyRollSweep(greedy, (long)ceil(sweeps * N / 0.9), INFINITY); /* rounds come after */
    const spragArenaMark after = spragArenaMarkGet(greedy->arena);
    assert_memory_equal(&mark, &after, sizeof mark);
    assert_int_equal(greedy->visits, sweeps * N);
    double(*found)[6] = calloc(N, sizeof *found);
    for (int k = 0; k < N; ++k)
        for (int i = 0; i < 6; ++i) {
            found[k][i] = *impulseOf(greedy, k, i);
            const double carried = motionOf(greedy, k, i);
            double u[6];
            velocityOf(greedy, k, u);
            CHECK_NEAR(carried, motionOf(greedy, k, i), 0);
        }
    for (int l = 0; l < N; ++l)
        for (int j = 0; j < size; ++j) {
            columnOf(greedy, l, j, column);
            for (int k = 0; k < N; ++k)
                for (int i = 0; i < size; ++i)
                    m->W[(size_t)(size * k + i) * (size_t)(size * N) + (size_t)(size * l + j)] = column[6 * k + i];
        }
    momentumRun(m, order, sweeps);
    double most = 0;
    for (int i = 0; i < size * N; ++i)
        most = fmax(most, fabs(m->r[i]));
    assert_true(m->restarts > 0);
    for (int k = 0; k < N; ++k)
        for (int i = 0; i < 6; ++i)
            CHECK_NEAR(found[k][i], i < size ? m->r[size * k + i] : 0, 1e-9 * most);
    free(found);
    momentumFree(m);
}

static void sweepsOfSmoothContacts(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 3; ++seed) {
        Heap *heap = openHeap(seed);
        for (int k = 0; k < N; ++k)
            heap->greedy.contact[k].mu = heap->greedy.roll[k].mu = 0;
        finishHeap(heap);
        checkSweeps(heap, 1, 60);
        closeHeap(heap);
    }
}

/* Rows of six bodies that press each other: nothing slides or turns. */
static void sweepsOfWhatHolds(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 3; ++seed) {
        Heap *heap = openHeap(seed);
        spragGreedy *greedy = &heap->greedy;
        for (int k = 0; k < N; ++k) {
            spragGreedyContact *c = &greedy->contact[k];
            greedy->pair[k][0] = k, greedy->pair[k][1] = k % 6 == 5 ? BODIES : k + 1;
            c->mu = greedy->roll[k].mu = 1e3;
            for (int i = 0; i < 3; ++i)
                c->arm[0][i] *= 0.2, c->arm[1][i] *= 0.2, c->q[i] -= i == 0 ? 10 : 0;
        }
        finishHeap(heap);
        checkSweeps(heap, 6, 60);
        closeHeap(heap);
    }
}

/* After the deadline there is one sweep, without visits none. */
static void limitsAreKept(void **state)
{
    (void)state;
    Heap *heap = openHeap(5);
    spragGreedy *greedy = &heap->greedy;
    spragGreedyRollSweep(greedy, 1000L * N, 0); /* the deadline is long past */
    assert_int_equal(greedy->visits, N);
    spragGreedyRollSweep(greedy, greedy->visits, INFINITY);
    assert_int_equal(greedy->visits, N);
    closeHeap(heap);
}

static void sweepsComeToTheAnswer(void **state)
{
    (void)state;
    for (unsigned long long seed = 1; seed <= 5; ++seed) {
        Heap *heap = openHeap(seed);
        const double begun = spragGreedyResidual(&heap->greedy, NULL);
        spragGreedyRollSweep(&heap->greedy, 300L * N, INFINITY);
        assert_true(spragGreedyResidual(&heap->greedy, NULL) < 1e-3 * begun);
        closeHeap(heap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visitsAreAnswers),       cmocka_unit_test(blocksAreThoseOfW),
        cmocka_unit_test(sweepsOfSmoothContacts), cmocka_unit_test(sweepsOfWhatHolds),
        cmocka_unit_test(limitsAreKept),          cmocka_unit_test(sweepsComeToTheAnswer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
