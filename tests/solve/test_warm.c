/* The modes of a guess, verified: what is accepted is an answer, exact where it sticks, and no separatrix. */
#include "support/check.h"
#include "support/random_problem.h"

#include "base/alloc.h"
#include "linalg/vec3.h"
#include "solve/search/warm.h"
#include "solve/solver.h"

/* From the answer of the chain, moved by a thousandth.  1: there is one, and it is taken: r (N), u (N). */
static int isTaken(const spragProblem *problem, double *r, double *u, spragSolveInfo *info)
{
    const spragSolveOptions options = {.tolerance = 1e-8};
    spragArena arena = {0};
    int taken = 0;
    memset(r, 0, N * sizeof *r);
    *info = (spragSolveInfo){0};
    if (spragChainSolve(problem, &options, &arena, r, u, info) == SPRAG_OK) {
        for (int i = 0; i < N; ++i)
            r[i] *= 1 + 1e-3 * sin(i);
        *info = (spragSolveInfo){0};
        taken = spragWarmSolve(problem, 1e-8, 0, &arena, r, u, info);
    }
    spragArenaFree(&arena);
    return taken;
}

/* Contacts and bounded rows, hyperstatic: from the answer of the search, q moved a little, most are taken at once. */
static void answersAreAnswers(void **state)
{
    (void)state;
    static Random random;
    int taken = 0;
    for (unsigned long long seed = 1; seed <= 60; ++seed) {
        randomProblem(&random, seed, 0.3, N / 2);
        for (int k = 0; k < NC; ++k)
            random.kind[k] = seed % 2 == 0 || k % 3 == 1 ? SPRAG_BLOCK_CONTACT
                             : k % 3 == 0                ? SPRAG_BLOCK_BOX
                                                         : SPRAG_BLOCK_FORCE_LIMIT;
        spragSolveInfo info;
        double r[N], u[N];
        if (!isTaken(&random.problem, r, u, &info))
            continue;
        ++taken;
        assert_true(info.residual <= 1e-9);
        CHECK_NEAR(spragProblemResidual(&random.problem, r), info.residual, 0);
        for (int k = 0; k < NC; ++k)
            if (random.kind[k] == SPRAG_BLOCK_CONTACT && spragNorm2(r + 3 * k + 1) < 0.99 * random.mu[k] * r[3 * k])
                CHECK_NEAR(spragNorm3(u + 3 * k), 0, 1e-9);
    }
    assert_true(taken >= 40);
}

/* An answer at rounding is one, whatever slides: it is not solved again. */
static void exactGuessesAreAnswers(void **state)
{
    (void)state;
    static Random random;
    int exact = 0, slid = 0;
    for (unsigned long long seed = 1; seed <= 60; ++seed) {
        randomProblem(&random, seed, 0.3, N / 2);
        spragSolveInfo info;
        double r[N], u[N], guess[N];
        if (!isTaken(&random.problem, r, u, &info) || !(info.residual <= 1e-12))
            continue;
        spragArena arena = {0};
        info = (spragSolveInfo){0};
        memcpy(guess, r, sizeof r);
        assert_true(spragWarmSolve(&random.problem, 1e-8, 0, &arena, r, u, &info));
        spragArenaFree(&arena);
        int slides = 0;
        for (int k = 0; k < NC; ++k)
            slides |= r[3 * k] > 0 && spragNorm2(u + 3 * k + 1) > 1e-6;
        exact += info.iterations == 0;
        slid += slides && info.iterations == 0;
        for (int i = 0; i < N && info.iterations == 0; ++i)
            CHECK_NEAR(r[i], guess[i], 1e-11);
    }
    assert_true(exact >= 30 && slid >= 20);
}

/* Rolling friction, whose bounds grow with a load that is unknown: from an answer moved by a thousandth Newton's method
 * is at rounding in a few steps, moments within their bounds or at them. */
static void rollingIsKnown(void **state)
{
    (void)state;
    static Random random;
    int taken = 0, steps = 0, rolls = 0, spins = 0, holds = 0;
    for (unsigned long long seed = 1; seed <= 60; ++seed) {
        randomProblem(&random, seed, 0.3, N);
        for (int k = 0; k < NC / 2; ++k) {
            random.parent[NC / 2 + k] = k;
            random.kind[NC / 2 + k] = SPRAG_BLOCK_ROLLING;
            random.mu[NC / 2 + k] = k % 3 == 0 ? 0 : k % 2 == 0 ? 2 : 0.03;
            random.mu_minus[NC / 2 + k] = k % 3 == 1 ? 0 : 0.05;
        }
        spragSolveInfo info;
        double r[N], u[N];
        if (!isTaken(&random.problem, r, u, &info))
            continue;
        ++taken, steps += info.iterations;
        CHECK_NEAR(spragProblemResidual(&random.problem, r), 0, 1e-10);
        for (int k = NC / 2; k < NC; ++k) {
            const double *m = r + 3 * k, *w = u + 3 * k, load = r[3 * random.parent[k]];
            rolls += load > 0 && random.mu[k] > 0 && spragNorm2(w) > 1e-6;
            spins += load > 0 && random.mu_minus[k] > 0 && fabs(w[2]) > 1e-6;
            holds += load > 0 && random.mu[k] > 0 && spragNorm2(w) < 1e-9 && spragNorm2(m) > 0;
        }
    }
    assert_true(taken >= 50);
    assert_true(steps <= 4 * taken);
    assert_true(rolls > 20 && spins > 20 && holds > 20);
}

/* One contact, p < 0, b > 0, velocities small: open, slip (the separatrix) and stick are solutions.  A guess on the
 * separatrix itself is not given back. */
static void separatrixIsRefused(void **state)
{
    (void)state;
    const int row_start[2] = {0, 1}, column[1] = {0};
    const double W[9] = {1, 0.9, 0, 0.9, 1, 0, 0, 0, 1}, q[3] = {0.1, 1, 0}, mu[1] = {2};
    const spragProblem problem = {
        .contact_count = 1, .block_count = 1, .row_start = row_start, .column = column, .W = W, .q = q, .mu = mu};
    const double N = q[0] / (mu[0] * W[1] - W[0]); /* u_n = q_n + (W_nn - mu W_nt) N = 0 */
    spragArena arena = {0};
    double r[3] = {N, -mu[0] * N, 0}, u[3];
    assert_true(spragProblemResidual(&problem, r) < 1e-15);
    spragSolveInfo info = {0};
    assert_int_equal(spragWarmSolve(&problem, 1e-8, 0, &arena, r, u, &info), 0);
    spragArenaFree(&arena);
}

/* The same behind a row that holds by 5e-5 of its block: G is -0.2, but 0.37 if that row yields by a
 * ten-thousandth.  Neither the separatrix nor a guess within tolerance of it is given back. */
static void separatrixBehindAWeakRowIsRefused(void **state)
{
    (void)state;
    enum { CONTACT, HELD, BLOCKS, WAYS = 40 };
    const double weak = 5e-5, c = sqrt(0.5 * weak), mu[BLOCKS] = {1, 0}, r_of[3 * BLOCKS] = {1, -1, 0, 0, 0, 0.3},
                 u_of[3 * BLOCKS] = {0, 0.1, 0, 0, 0, 0},
                 bound[6 * BLOCKS] = {0, 0, 0, 0, 0, 0, -INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY},
                 W[9 * BLOCKS * BLOCKS] = {1, 0.2, 0, 0.2, 2, 0, 0, 0,  1, 0, 0, c, 0, 0, -c, 0, 0, 0,
                                           0, 0,   0, 0,   0, 0, c, -c, 0, 1, 0, 0, 0, 1, 0,  0, 0, weak};
    const int row_start[BLOCKS + 1] = {0, 2, 4}, column[BLOCKS * BLOCKS] = {CONTACT, HELD, CONTACT, HELD};
    const unsigned char kind[BLOCKS] = {SPRAG_BLOCK_CONTACT, SPRAG_BLOCK_BOX};
    double q[3 * BLOCKS];
    const spragProblem problem = {.contact_count = BLOCKS,
                                  .block_count = BLOCKS * BLOCKS,
                                  .row_start = row_start,
                                  .column = column,
                                  .W = W,
                                  .q = q,
                                  .mu = mu,
                                  .kind = kind,
                                  .bound = bound};
    for (int i = 0; i < 3 * BLOCKS; ++i) {
        q[i] = u_of[i];
        for (int j = 0; j < 3 * BLOCKS; ++j)
            q[i] -= W[9 * (BLOCKS * (i / 3) + j / 3) + 3 * (i % 3) + j % 3] * r_of[j];
    }
    for (int way = 0; way < WAYS; ++way) {
        spragArena arena = {0};
        spragSolveInfo info = {0};
        double r[3 * BLOCKS], u[3 * BLOCKS];
        memcpy(r, r_of, sizeof r);
        r[5] += way > 0 ? 1e-6 * pow(0.8, way) : 0;
        assert_true(spragProblemResidual(&problem, r) <= 1e-8);
        assert_int_equal(spragWarmSolve(&problem, 1e-8, 0, &arena, r, u, &info), 0);
        spragArenaFree(&arena);
    }
}

/* Bodies that lean on the ground, each with rolling friction where `rolls`; the blocks in either order. */
typedef struct Crowd {
    int row_start[4 * SPRAG_WARM_BLOCKS], column[8 * SPRAG_WARM_BLOCKS], parent[4 * SPRAG_WARM_BLOCKS];
    unsigned char kind[4 * SPRAG_WARM_BLOCKS];
    double W[72 * SPRAG_WARM_BLOCKS], q[12 * SPRAG_WARM_BLOCKS], mu[4 * SPRAG_WARM_BLOCKS];
    spragProblem problem;
} Crowd;

static void makeCrowd(Crowd *crowd, int contacts, int rolling, int by_turns)
{
    const double own[9] = {1, 0, 0, 0, 1.5, 0, 0, 0, 1.5}, turns[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                 across[9] = {0, 0, 0, 0, 0.5, 0, 0, 0, 0}; /* rows and columns: contact, rolling */
    const int nc = contacts + rolling;
    *crowd = (Crowd){.problem = {.contact_count = nc,
                                 .row_start = crowd->row_start,
                                 .column = crowd->column,
                                 .parent = crowd->parent,
                                 .kind = crowd->kind,
                                 .W = crowd->W,
                                 .q = crowd->q,
                                 .mu = crowd->mu,
                                 .mu_minus = crowd->mu}};
    int entry = 0;
    for (int k = 0; k < nc; ++k) {
        const int rolls = by_turns ? k % 2 : k >= contacts;
        const int other = by_turns ? k ^ 1 : rolls ? k - contacts : k + contacts < nc ? k + contacts : -1;
        crowd->kind[k] = rolls ? SPRAG_BLOCK_ROLLING : SPRAG_BLOCK_CONTACT;
        crowd->parent[k] = rolls ? other : -1;
        crowd->mu[k] = rolls ? 0.05 + 0.01 * k : 0.5;
        crowd->q[3 * k] = rolls ? 0 : -1;
        crowd->q[3 * k + 1] = rolls ? 0 : 0.2;
        for (int side = 0; side < 2; ++side) {
            const int column = side == (other < k) ? k : other;
            if (column < 0)
                continue;
            const double *block = column != k ? across : rolls ? turns : own;
            for (int i = 0; i < 9; ++i)
                crowd->W[9 * entry + i] = block[column != k && rolls ? 3 * (i % 3) + i / 3 : i];
            crowd->column[entry++] = column;
        }
        crowd->row_start[k + 1] = entry;
    }
    crowd->problem.block_count = entry;
}

/* So many contacts and no more, whatever rolls. */
static void limitsOfSize(void **state)
{
    (void)state;
    static Crowd crowd;
    enum { MOST = SPRAG_WARM_BLOCKS };
    static const struct {
        int contacts, rolling, by_turns, taken;
    } crowds[] = {{MOST, 0, 0, 1},        {MOST, MOST, 0, 1},         {MOST, MOST, 1, 1},  {MOST + 1, 0, 0, 0},
                  {MOST + 1, MOST, 0, 0}, {MOST + 1, MOST - 1, 0, 0}, {MOST + 1, 1, 0, 0}, {1, 1, 0, 1}};
    for (size_t i = 0; i < sizeof crowds / sizeof *crowds; ++i) {
        makeCrowd(&crowd, crowds[i].contacts, crowds[i].rolling, crowds[i].by_turns);
        assert_int_equal(spragProblemCheck(&crowd.problem), SPRAG_OK);
        double r[12 * SPRAG_WARM_BLOCKS] = {0}, u[12 * SPRAG_WARM_BLOCKS];
        spragArena arena = {0};
        spragSolveInfo info = {0};
        const int taken = spragWarmSolve(&crowd.problem, 1e-8, 0, &arena, r, u, &info);
        assert_int_equal(taken, crowds[i].taken);
        if (taken)
            CHECK_NEAR(spragProblemResidual(&crowd.problem, r), 0, 1e-10);
        spragArenaFree(&arena);
    }
}

/* Kinds it does not know, islands that are too large, an answer that is none: refused. */
static void refusals(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 3, 0.3, 2 * N);
    double r[N] = {0}, u[N];
    spragArena arena = {0};
    spragSolveInfo info = {0};
    for (int kind = 0; kind <= SPRAG_BLOCK_ROLLING; ++kind) {
        random.kind[NC - 1] = (unsigned char)kind;
        random.parent[NC - 1] = kind == SPRAG_BLOCK_ROLLING ? 0 : -1;
        memset(r, 0, sizeof r);
        const int known = kind != SPRAG_BLOCK_TWO_SIDED;
        assert_true(known || !spragWarmSolve(&random.problem, 1e-8, 0, &arena, r, u, &info));
    }
    random.kind[NC - 1] = SPRAG_BLOCK_CONTACT;
    memset(r, 0, sizeof r);
    random.q[0] = NAN;
    assert_int_equal(spragWarmSolve(&random.problem, 1e-8, 0, &arena, r, u, &info), 0);
    random.q[0] = 0;
    spragArenaFree(&arena);
    arena = (spragArena){0};
    memset(r, 0, sizeof r);
    spragAllocFailAt(1);
    assert_int_equal(spragWarmSolve(&random.problem, 1e-8, 0, &arena, r, u, &info), 0);
    spragAllocFailAt(0);
    spragArenaFree(&arena);
}

/* Cars stuck with mu = 340: from r = 0 the first steps lead far away.  It ended after 5 or 15. */
static void whatLeadsAwayEndsSoon(void **state)
{
    (void)state;
    static const char *const path[] = {"flung.txt", "pole.txt", "string.txt", "stranded.txt", "turning.txt"};
    for (size_t k = 0; k < sizeof path / sizeof *path; ++k) {
        char name[512];
        double r[3 * SPRAG_WARM_BLOCKS] = {0}, u[3 * SPRAG_WARM_BLOCKS];
        spragArena arena = {0};
        spragSolveInfo info = {0};
        spragProblem *problem;
        snprintf(name, sizeof name, "%s/tests/data/games/%s", SPRAG_SOURCE_DIR, path[k]);
        assert_int_equal(spragProblemRead(name, &problem), SPRAG_OK);
        assert_false(spragWarmSolve(problem, 1e-8, 0, &arena, r, u, &info));
        assert_int_equal(info.iterations, 3);
        spragArenaFree(&arena);
        spragProblemFree(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answersAreAnswers),
                                       cmocka_unit_test(separatrixIsRefused),
                                       cmocka_unit_test(separatrixBehindAWeakRowIsRefused),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(limitsOfSize),
                                       cmocka_unit_test(rollingIsKnown),
                                       cmocka_unit_test(whatLeadsAwayEndsSoon),
                                       cmocka_unit_test(exactGuessesAreAnswers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
