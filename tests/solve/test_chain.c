/* The chain: shared problems, forced methods, limits, memory. */
#include "support/check.h"
#include "support/lattice.h"
#include "support/random_problem.h"
#include "support/shared.h"

#include "base/alloc.h"
#include "linalg/vec3.h"
#include "problem/residual.h"
#include "solve/chain/chain_links.h"

static const spragSolveOptions automatic = {.tolerance = 1e-8};

/* Cold, then warm from the answer, then from the answer with q moved a little by impulses. */
static void solveThrice(const char *name)
{
    spragProblem *problem = sharedProblem(name);
    if (problem == NULL)
        skip();
    const size_t n = 3 * (size_t)problem->contact_count;
    double *r = calloc(n, sizeof *r), *u = calloc(n, sizeof *u), *q = calloc(n, sizeof *q), *s = calloc(n, sizeof *s);
    spragArena arena = {0};
    spragSolveInfo info;
    assert_int_equal(spragChainSolve(problem, &automatic, &arena, r, u, &info), SPRAG_OK);
    assert_true(spragProblemResidual(problem, r) <= 1e-8);
    CHECK_NEAR(info.residual, spragProblemResidual(problem, r), 0);
    CHECK_NEAR(spragVelocityResidual(problem, r, u), info.residual, 1e-15);
    const int cold = info.iterations;
    assert_int_equal(spragChainSolve(problem, &automatic, &arena, r, u, &info), SPRAG_OK);
    assert_true(info.iterations <= cold && info.iterations <= 8);
    for (size_t i = 0; i < n; ++i)
        s[i] = r[i] * (1 + 0.01 * sin((double)i));
    spragProblemVelocity(problem, s, q);
    spragProblemVelocity(problem, r, u);
    spragProblem moved = *problem;
    for (size_t i = 0; i < n; ++i)
        q[i] += problem->q[i] - u[i];
    moved.q = q;
    assert_int_equal(spragChainSolve(&moved, &automatic, &arena, r, u, &info), SPRAG_OK);
    assert_true(spragProblemResidual(&moved, r) <= 1e-8);
    spragArenaFree(&arena);
    free(r), free(u), free(q), free(s);
    spragProblemFree(problem);
}

static void sharedProblems(void **state)
{
    (void)state;
    static const char *const name[] = {"p01_box_slide.txt",       "p02_box_stick.txt",   "p03_stack10.txt",
                                       "p05_tower20.txt",         "p06_cards7.txt",      "p07_arch11.txt",
                                       "p10_arch11_lowmu.txt",    "p30_drawer_jam8.txt", "p31_painleve_rod.txt",
                                       "p29_slab_on_spheres.txt", "p12_sph50_mu0.5.txt"};
    for (size_t k = 0; k < sizeof name / sizeof *name; ++k)
        solveThrice(name[k]);
}

/* Sticking is exact where the modes are clear. */
static void stickingDoesNotCreep(void **state)
{
    (void)state;
    static const char *const name[] = {"p02_box_stick.txt", "p07_arch11.txt"};
    for (size_t k = 0; k < sizeof name / sizeof *name; ++k) {
        spragProblem *problem = sharedProblem(name[k]);
        if (problem == NULL)
            skip();
        const int nc = problem->contact_count;
        double *r = calloc(3 * (size_t)nc, sizeof *r), *u = calloc(3 * (size_t)nc, sizeof *u);
        spragArena arena = {0};
        spragSolveInfo info;
        assert_int_equal(spragChainSolve(problem, &automatic, &arena, r, u, &info), SPRAG_OK);
        int sticking = 0;
        for (int i = 0; i < nc; ++i)
            if (spragNorm2(r + 3 * i + 1) < 0.99 * problem->mu[i] * r[3 * i]) {
                ++sticking;
                CHECK_NEAR(spragNorm2(u + 3 * i + 1), 0, 1e-12);
            }
        assert_true(sticking > 0);
        spragArenaFree(&arena);
        free(r), free(u);
        spragProblemFree(problem);
    }
}

static void everyMethodAgrees(void **state)
{
    (void)state;
    static Random random;
    static const spragSolverKind method[] = {SPRAG_SOLVER_AUTO, SPRAG_SOLVER_VARIANT, SPRAG_SOLVER_LEMKE,
                                             SPRAG_SOLVER_GAUSS_SEIDEL, SPRAG_SOLVER_NEWTON};
    for (unsigned long long seed = 1; seed <= 10; ++seed) {
        randomProblem(&random, seed, 0.2, 2 * N);
        double first[N] = {0};
        for (size_t k = 0; k < sizeof method / sizeof *method; ++k) {
            const spragSolveOptions options = {.solver = method[k], .tolerance = 1e-11};
            spragArena arena = {0};
            spragSolveInfo info;
            double r[N] = {0};
            assert_int_equal(spragChainSolve(&random.problem, &options, &arena, r, NULL, &info), SPRAG_OK);
            if (method[k] != SPRAG_SOLVER_AUTO) {
                assert_int_equal(info.solver, method[k]);
                assert_true(info.method_iterations[method[k]] == info.iterations);
            }
            for (int i = 0; i < N; ++i) {
                if (k > 0)
                    CHECK_NEAR(r[i], first[i], 1e-8);
                first[i] = r[i];
            }
            spragArenaFree(&arena);
        }
    }
}

/* Grams, micrometres per second, and the world in a mirror: every method takes the same steps, to the last bit.
 * (Lemke's polygons begin at an angle, whose cosine rounds.) */
static void unitsAndMirrorsDoNotMatter(void **state)
{
    (void)state;
    static Random random, changed;
    static const double mass = 1024, speed[] = {0x1p-20, 1, 0x1p10};
    for (unsigned long long seed = 1; seed <= 12; ++seed)
        for (int kind = SPRAG_SOLVER_AUTO; kind < SPRAG_SOLVER_COUNT; ++kind) {
            if (kind == SPRAG_SOLVER_STOCK)
                continue;
            const int columns = seed % 2 ? 2 * N : N / 2;
            const double unit = speed[seed % 3];
            randomProblem(&random, seed, 0.3, columns);
            randomProblem(&changed, seed, 0.3, columns);
            if (seed % 4 > 1)
                mixKinds(&random), mixKinds(&changed);
            changeUnits(&changed, mass, unit);
            spragSolveOptions options = {.solver = (spragSolverKind)kind, .tolerance = 1e-8};
            spragArena arena = {0};
            spragSolveInfo info, again;
            double r[N] = {0}, s[N] = {0};
            assert_int_equal(spragChainSolve(&random.problem, &options, &arena, r, NULL, &info), SPRAG_OK);
            options.tolerance *= unit;
            assert_int_equal(spragChainSolve(&changed.problem, &options, &arena, s, NULL, &again), SPRAG_OK);
            assert_true(sameInOtherUnits(&random, s, r, mass * unit, kind == SPRAG_SOLVER_LEMKE ? 1e-12 : 0));
            assert_int_equal(info.iterations, again.iterations);
            spragArenaFree(&arena);
        }
}

/* Rows that joints hold: W is 0 there, nothing moves them.  0: spins, 1: one turning, 2: both turnings, 3: turnings
 * about all but one line, 4: a bounded row, 5: one without bounds. */
static void lockRows(Random *random, int which)
{
    for (int k = 0; k < NC; ++k) {
        const int box = random->kind[k] == SPRAG_BLOCK_BOX, rolls = random->kind[k] == SPRAG_BLOCK_ROLLING;
        if (box && which < 5)
            random->bound[6 * k + 4] = 0.05;
        if (box && which == 5)
            random->bound[6 * k + 1] = -INFINITY;
        if (which == 3 && rolls) { /* row 1 does as row 0 */
            random->q[3 * k + 1] = random->q[3 * k];
            for (int l = 0; l < NC; ++l)
                for (int j = 0; j < 3; ++j)
                    random->W[9 * (NC * k + l) + 3 + j] = random->W[9 * (NC * k + l) + j];
            for (int l = 0; l < NC; ++l)
                for (int j = 0; j < 3; ++j)
                    random->W[9 * (NC * l + k) + 3 * j + 1] = random->W[9 * (NC * l + k) + 3 * j];
        }
        for (int i = 0; i < 3; ++i) {
            const int locked =
                box ? which > 3 && i == 1
                    : rolls && ((which == 0 && i == 2) || (which == 1 && i == 0) || (which == 2 && i < 2));
            for (int l = 0; l < NC && locked; ++l)
                for (int j = 0; j < 3; ++j) {
                    random->q[3 * k + i] = 0;
                    random->W[9 * (NC * k + l) + 3 * i + j] = random->W[9 * (NC * l + k) + 3 * j + i] = 0;
                }
        }
    }
}

static void lockedRowsAreNoTrouble(void **state)
{
    (void)state;
    static Random random;
    for (int which = 0; which < 6; ++which)
        for (unsigned long long seed = 1; seed <= 5; ++seed)
            for (int kind = SPRAG_SOLVER_AUTO; kind < SPRAG_SOLVER_COUNT; ++kind) {
                if (kind == SPRAG_SOLVER_STOCK)
                    continue;
                randomProblem(&random, seed, 0.3, 2 * N);
                mixKinds(&random);
                lockRows(&random, which);
                assert_int_equal(spragProblemCheck(&random.problem), SPRAG_OK);
                const spragSolveOptions options = {.solver = (spragSolverKind)kind, .tolerance = 1e-8};
                spragArena arena = {0};
                spragSolveInfo info;
                double r[N] = {0};
                if (spragChainSolve(&random.problem, &options, &arena, r, NULL, &info) != SPRAG_OK)
                    fail_msg("lock %d, seed %llu, %s: %g", which, seed, spragSolverName(options.solver), info.residual);
                for (int i = 0; i < N; ++i)
                    assert_true(fabs(r[i]) < 1e3);
                spragArenaFree(&arena);
            }
}

static void limitsGiveTheBestSoFar(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 4, 0.4, N / 2);
    for (int kind = SPRAG_SOLVER_AUTO; kind < SPRAG_SOLVER_COUNT; ++kind) {
        if (kind == SPRAG_SOLVER_STOCK)
            continue;
        const double zero[N] = {0}, start = spragProblemResidual(&random.problem, zero);
        spragSolveOptions options = {.solver = (spragSolverKind)kind, .tolerance = 0, .iteration_limit = 1};
        spragArena arena = {0};
        spragSolveInfo info;
        double r[N] = {0}, u[N], motion[N];
        assert_int_equal(spragChainSolve(&random.problem, &options, &arena, r, u, &info), SPRAG_LIMIT);
        assert_true(info.residual <= start);
        spragProblemVelocity(&random.problem, r, motion); /* that of the best, not of the last */
        assert_memory_equal(u, motion, sizeof u);
        CHECK_NEAR(spragProblemResidual(&random.problem, r), info.residual, 0);
        options.iteration_limit = 0, options.time_limit = 1e-9;
        assert_int_equal(spragChainSolve(&random.problem, &options, &arena, r, NULL, &info), SPRAG_LIMIT);
        spragArenaFree(&arena);
    }
}

/* A guess that is worse than none leaves nothing behind, however few the sweeps are. */
static void badGuessesAreDropped(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 4, 0.4, N / 2);
    const double zero[N] = {0}, start = spragProblemResidual(&random.problem, zero);
    const spragSolveOptions options = {.solver = SPRAG_SOLVER_GAUSS_SEIDEL, .tolerance = 1e-12, .iteration_limit = 1};
    spragArena arena = {0};
    spragSolveInfo info;
    double r[N], u[N], motion[N], from_zero[N] = {0};
    for (int i = 0; i < N; ++i)
        r[i] = 1e8 * sin(i);
    assert_int_equal(spragChainSolve(&random.problem, &options, &arena, from_zero, NULL, &info), SPRAG_LIMIT);
    const double best = info.residual;
    assert_int_equal(spragChainSolve(&random.problem, &options, &arena, r, u, &info), SPRAG_LIMIT);
    spragProblemVelocity(&random.problem, r, motion);
    assert_memory_equal(u, motion, sizeof u);
    assert_true(best <= start);
    CHECK_NEAR(info.residual, best, 0);
    spragArenaFree(&arena);
}

/* After the arena has grown once a solve takes no memory; without memory it says so and leaves r. */
static void memory(void **state)
{
    (void)state;
    static Random random;
    randomProblem(&random, 7, 0.3, N / 2);
    random.kind[0] = SPRAG_BLOCK_TWO_SIDED; /* no island for warm.c, which takes none */
    spragArena arena = {0};
    spragSolveInfo info;
    double r[N] = {0};
    const double zero[N] = {0};
    spragAllocFailAt(1);
    assert_int_equal(spragChainSolve(&random.problem, &automatic, &arena, r, NULL, &info), SPRAG_ERROR_MEMORY);
    spragAllocFailAt(0);
    assert_memory_equal(r, zero, sizeof r);
    assert_int_equal(spragChainSolve(&random.problem, &automatic, &arena, r, NULL, &info), SPRAG_OK);
    spragArenaReset(&arena);
    const unsigned long before = spragAllocCount();
    memset(r, 0, sizeof r);
    assert_int_equal(spragChainSolve(&random.problem, &automatic, &arena, r, NULL, &info), SPRAG_OK);
    assert_int_equal(spragAllocCount(), before);
    spragArenaFree(&arena);
}

/* A limit on time is kept by every method, and what comes back is better than what went in. */
static void timeIsKept(void **state)
{
    (void)state;
    static const spragSolverKind method[] = {SPRAG_SOLVER_AUTO, SPRAG_SOLVER_GAUSS_SEIDEL, SPRAG_SOLVER_NEWTON};
    spragProblemData *data = latticeCreate(8, 6, 0.5, 2);
    const size_t n = 3 * (size_t)data->problem.contact_count;
    double *r = calloc(n, sizeof *r), *zero = calloc(n, sizeof *zero);
    const double start = spragProblemResidual(&data->problem, zero);
    spragArena arena = {0};
    for (int m = 0; m < 3; ++m)
        for (double limit = 1e-6; limit < 0.05; limit *= 10) {
            const spragSolveOptions options = {.solver = method[m], .tolerance = 0, .time_limit = limit};
            spragSolveInfo info;
            memset(r, 0, n * sizeof *r);
            const spragStatus status = spragChainSolve(&data->problem, &options, &arena, r, NULL, &info);
            assert_true(status == SPRAG_LIMIT || status == SPRAG_NOT_CONVERGED);
            CHECK_NEAR(info.residual, spragProblemResidual(&data->problem, r), 0);
            assert_true(info.residual <= start);
            if (method[m] != SPRAG_SOLVER_NEWTON)
                assert_true(info.residual < start && info.iterations >= 1);
            assert_true(info.seconds < limit + 0.5); /* a busy machine may be late; patience takes seconds */
        }
    free(r), free(zero);
    spragArenaFree(&arena);
    spragProblemFree(&data->problem);
}

/* The limit on work does the same for every machine: the same bits, and less work. */
static void workIsLimited(void **state)
{
    (void)state;
    spragProblemData *data = latticeCreate(8, 6, 0.5, 2);
    const size_t n = 3 * (size_t)data->problem.contact_count;
    double *r = calloc(n, sizeof *r), *s = calloc(n, sizeof *s);
    spragArena arena = {0};
    const spragSolveOptions options = {.tolerance = 0, .work_limit = 1e5};
    spragSolveInfo info, again;
    spragChainSolve(&data->problem, &options, &arena, r, NULL, &info);
    spragChainSolve(&data->problem, &options, &arena, s, NULL, &again);
    assert_memory_equal(r, s, n * sizeof *r);
    assert_int_equal(info.iterations, again.iterations);
    assert_true(info.method_iterations[SPRAG_SOLVER_NEWTON] <= 10);
    free(r), free(s);
    spragArenaFree(&arena);
    spragProblemFree(&data->problem);
}

/* All methods together take no more than work_total, or what little the last one has begun with: of few blocks, and of
 * many, whose methods count their own. */
static void sharedWorkIsLimited(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double total;
    } hard[] = {{"p14_sph50_mu2.txt", 1e6}, {"p16_box50_mu0.5.txt", 1e6}, {"p03_stack10.txt", 5e6}};
    for (size_t k = 0; k < sizeof hard / sizeof *hard; ++k) {
        spragProblem *problem = sharedProblem(hard[k].name);
        if (problem == NULL)
            skip();
        const size_t n = 3 * (size_t)problem->contact_count;
        double *r = calloc(2 * n, sizeof *r), *s = r + n;
        assert_non_null(r);
        spragSolveInfo all, some, again;
        spragSolveOptions options = {.tolerance = 1e-16, .work_limit = 1e7};
        spragProblemSolve(problem, &options, s, NULL, &all);
        assert_true(all.work > 1.5 * hard[k].total);
        options.work_total = hard[k].total;
        memset(s, 0, n * sizeof *s);
        assert_int_equal(spragProblemSolve(problem, &options, r, NULL, &some), SPRAG_NOT_CONVERGED);
        assert_in_range(some.work, 0.5 * hard[k].total, 1.2 * hard[k].total);
        spragProblemSolve(problem, &options, s, NULL, &again);
        assert_memory_equal(r, s, n * sizeof *r);
        free(r);
        spragProblemFree(problem);
    }
}

/* A limit on all methods is one on each, the first too, and the last goes beyond it by a step: of a large problem, and
 * of one that is solved in parts. */
static void allWorkIsLimited(void **state)
{
    (void)state;
    spragProblemData *data = latticeCreate(8, 6, 0.5, 2);
    const size_t n = 3 * (size_t)data->problem.contact_count;
    double *r = calloc(n, sizeof *r);
    spragArena arena = {0};
    for (double limit = 0; limit < 1e8; limit += 3e7) {
        const spragSolveOptions options = {.tolerance = 0, .work_limit = limit, .work_total = 1e6};
        spragSolveInfo info;
        memset(r, 0, n * sizeof *r);
        spragChainSolve(&data->problem, &options, &arena, r, NULL, &info);
        assert_true(info.work > 1e5 && info.work < 2e6);
    }
    free(r);
    spragArenaFree(&arena);
    spragProblemFree(&data->problem);
}

/* What is solved in parts is charged what they cost, not as many steps of the whole. */
static void partsAreCharged(void **state)
{
    (void)state;
    spragArena arena = {0};
    double work = 0;
    int steps = 0;
    for (unsigned long long seed = 1; seed <= 20; ++seed) {
        Random random;
        double r[N] = {0};
        spragSolveInfo info;
        const spragSolveOptions options = {.tolerance = 1e-8, .iteration_limit = 5};
        randomProblem(&random, seed, 3, 9);
        spragChainSolvePart(SPRAG_CHAIN_DOUBTED, &random.problem, &options, &arena, r, NULL, &info);
        work += info.work, steps += info.iterations; /* one of Newton's, then those of parts */
    }
    assert_true(steps >= 40 && work < 0.8 * steps * spragChainStepWork(NC));
    spragArenaFree(&arena);
}

/* The first blocks of a random problem, each coupled with each. */
static void keepFirst(Random *random, int count)
{
    for (int k = 0; k < count; ++k) {
        random->row_start[k + 1] = count * (k + 1);
        for (int j = 0; j < count; ++j) {
            random->column[count * k + j] = j;
            memmove(random->W + 9 * (count * k + j), random->W + 9 * (NC * k + j), 9 * sizeof *random->W);
        }
    }
    random->problem.contact_count = count, random->problem.block_count = count * count;
}

/* A step of a block or two takes a hundred and more products' time, whatever its equations take, and is charged them,
 * by each method; and what all have together ends a method that is asked for by name, too. */
static void fewBlocksAreCharged(void **state)
{
    (void)state;
    static const spragSolverKind kind[] = {SPRAG_SOLVER_AUTO, SPRAG_SOLVER_VARIANT, SPRAG_SOLVER_LEMKE,
                                           SPRAG_SOLVER_GAUSS_SEIDEL, SPRAG_SOLVER_NEWTON};
    spragArena arena = {0};
    for (size_t m = 0; m < sizeof kind / sizeof *kind; ++m) {
        int iterations = 0;
        for (unsigned long long seed = 1; seed <= 20; ++seed) {
            const spragSolveOptions options = {
                .tolerance = 1e-18, .solver = kind[m], .work_limit = 1e7, .work_total = 2e5};
            Random random;
            double r[N] = {0}, u[N];
            spragSolveInfo info;
            randomProblem(&random, seed, 3, 9);
            keepFirst(&random, 1 + (int)seed % 3);
            spragChainSolve(&random.problem, &options, &arena, r, u, &info);
            assert_true(info.work >= 120 * (info.iterations - 1));
            assert_true(info.work <= 4e5);
            iterations += info.iterations;
        }
        assert_true(iterations >= 40);
    }
    spragArenaFree(&arena);
}

/* What is enough is asked of all but the sweeps: a pile of boxes whose last digits take Newton's method most steps. */
static void enoughIsSoonDone(void **state)
{
    (void)state;
    spragProblem *problem = sharedProblem("p16_box50_mu0.5.txt");
    if (problem == NULL)
        skip();
    double *r = calloc(6 * (size_t)problem->contact_count, sizeof *r), *s = r + 3 * problem->contact_count;
    assert_non_null(r);
    spragSolveInfo patient, contented;
    spragSolveOptions options = {.tolerance = 1e-13, .work_limit = 9e7};
    spragProblemSolve(problem, &options, r, NULL, &patient);
    options.enough = 1e-3;
    spragProblemSolve(problem, &options, s, NULL, &contented);
    CHECK_NEAR(spragProblemResidual(problem, s), contented.residual, 0);
    assert_true(contented.residual <= options.enough);
    assert_true(2 * contented.iterations < patient.iterations);
    free(r);
    spragProblemFree(problem);
}

/* Sweeps, the path and generation: none has more work than one method may have, but for its last step. */
static void thePathHasNoMoreWork(void **state)
{
    (void)state;
    const double work = 5e4;
    spragProblem *problem = sharedProblem("p14_sph50_mu2.txt");
    if (problem == NULL)
        skip();
    double *r = calloc(3 * (size_t)problem->contact_count, sizeof *r);
    assert_non_null(r);
    spragArena arena = {0};
    spragSolveInfo info;
    const spragSolveOptions options = {.tolerance = 1e-10, .enough = 1e-9, .work_limit = work};
    spragChainSolvePart(SPRAG_CHAIN_DESPITE, problem, &options, &arena, r, NULL, &info);
    assert_true(info.method_iterations[SPRAG_SOLVER_NEWTON] > 0 && info.work > work && info.work < 3.5 * work);
    spragArenaFree(&arena);
    free(r);
    spragProblemFree(problem);
}

/* Sweeps that look for limits that break: of 17 to 60 blocks, and not where the guess is an answer. */
static void answersAreNotSwept(void **state)
{
    (void)state;
    spragProblem *problem = sharedProblem("p03_stack10.txt");
    if (problem == NULL)
        skip();
    assert_in_range(problem->contact_count, 17, 60);
    const spragSolveOptions few = {.tolerance = 1e-8, .iteration_limit = 16};
    assert_true(spragChainSearches(problem, &automatic));
    assert_false(spragChainSearches(problem, &few));
    spragProblem less = *problem, more = *problem;
    less.contact_count = 16, more.contact_count = 61;
    assert_false(spragChainSearches(&less, &automatic));
    assert_false(spragChainSearches(&more, &automatic));
    const size_t n = 3 * (size_t)problem->contact_count;
    double *r = calloc(n, sizeof *r), *u = calloc(n, sizeof *u);
    spragArena arena = {0};
    spragSolveInfo info;
    spragChainSolvePart(SPRAG_CHAIN_SWEPT, problem, &few, &arena, r, u, &info);
    assert_int_equal(info.iterations, 16);
    assert_int_equal(spragChainSolve(problem, &automatic, &arena, r, u, &info), SPRAG_OK);
    assert_int_equal(spragChainSolvePart(SPRAG_CHAIN_SWEPT, problem, &few, &arena, r, u, &info), SPRAG_OK);
    assert_int_equal(info.iterations, 0);
    assert_true(info.residual <= 1e-8);
    spragArenaFree(&arena);
    free(r), free(u);
    spragProblemFree(problem);
}

/* After the question for a wedge a large problem is not swept again: Newton's method goes on from where it was. */
static void theRestGoesOn(void **state)
{
    (void)state;
    spragProblem *problem = sharedProblem("p26_pyramid10.txt");
    if (problem == NULL)
        skip();
    spragSolveOptions options = {.tolerance = 1e-8, .work_limit = 3e6};
    double *r = calloc(3 * (size_t)problem->contact_count, sizeof *r);
    spragArena arena = {0};
    spragSolveInfo begun, rest;
    assert_non_null(r);
    assert_int_equal(spragChainSolvePart(SPRAG_CHAIN_BEGINNING, problem, &options, &arena, r, NULL, &begun),
                     SPRAG_NOT_CONVERGED);
    assert_true(begun.method_iterations[SPRAG_SOLVER_GAUSS_SEIDEL] > 0);
    options.work_limit = 9e7;
    assert_int_equal(spragChainSolvePart(SPRAG_CHAIN_REST, problem, &options, &arena, r, NULL, &rest), SPRAG_OK);
    assert_int_equal(rest.method_iterations[SPRAG_SOLVER_GAUSS_SEIDEL], 0);
    assert_true(rest.method_iterations[SPRAG_SOLVER_NEWTON] > 0);
    CHECK_NEAR(spragProblemResidual(problem, r), rest.residual, 0);
    spragArenaFree(&arena);
    free(r);
    spragProblemFree(problem);
}

/* What stands at rounding, above the tolerance, is not gone on with. */
static void roundingEndsTheChain(void **state)
{
    (void)state;
    static const char *const name[] = {"p10_arch11_lowmu.txt", "p12_sph50_mu0.5.txt"};
    for (int k = 0; k < 2; ++k) {
        spragProblem *problem = sharedProblem(name[k]);
        if (problem == NULL)
            skip();
        const spragSolveOptions most = {.tolerance = 1e-30, .work_limit = 1e9};
        const size_t n = 3 * (size_t)problem->contact_count;
        double *r = calloc(n, sizeof *r), *u = calloc(n, sizeof *u);
        spragArena arena = {0};
        spragSolveInfo info;
        assert_int_equal(spragChainSolve(problem, &automatic, &arena, r, u, &info), SPRAG_OK);
        spragChainSolve(problem, &most, &arena, r, u, &info);
        assert_true(spragProblemIsAtRounding(problem, r, info.residual));
        assert_int_equal(spragChainSolvePart(SPRAG_CHAIN_LATER, problem, &most, &arena, r, u, &info),
                         SPRAG_NOT_CONVERGED);
        assert_int_equal(info.iterations, 0);
        spragArenaFree(&arena);
        free(r), free(u);
        spragProblemFree(problem);
    }
}

/* Where a hundredth of the tolerance is below rounding, what the mode search has brought to rounding is not refined. */
static void roundingIsNotRefined(void **state)
{
    (void)state;
    static Random random;
    int met = 0;
    for (unsigned long long seed = 1; seed <= 40; ++seed) {
        double r[N] = {0};
        spragArena arena = {0};
        spragSolveInfo info;
        randomProblem(&random, seed, 0.2, 2 * N);
        random.problem.driven = 1;
        spragSolveOptions options = {.tolerance = 1e-12, .work_limit = 1e9, .solver = SPRAG_SOLVER_VARIANT};
        spragChainSolve(&random.problem, &options, &arena, r, NULL, &info);
        options.tolerance = 30 * info.residual;
        memset(r, 0, sizeof r);
        const int found = spragChainSolve(&random.problem, &options, &arena, r, NULL, &info) == SPRAG_OK &&
                          info.residual > 0.02 * options.tolerance &&
                          spragProblemIsAtRounding(&random.problem, r, info.residual);
        memset(r, 0, sizeof r);
        options.solver = SPRAG_SOLVER_AUTO;
        spragChainSolve(&random.problem, &options, &arena, r, NULL, &info);
        if (found && ++met > 0)
            assert_int_equal(info.method_iterations[SPRAG_SOLVER_NEWTON], 0);
        spragArenaFree(&arena);
    }
    assert_true(met > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sharedProblems),         cmocka_unit_test(stickingDoesNotCreep),
        cmocka_unit_test(everyMethodAgrees),      cmocka_unit_test(unitsAndMirrorsDoNotMatter),
        cmocka_unit_test(lockedRowsAreNoTrouble), cmocka_unit_test(limitsGiveTheBestSoFar),
        cmocka_unit_test(badGuessesAreDropped),   cmocka_unit_test(timeIsKept),
        cmocka_unit_test(workIsLimited),          cmocka_unit_test(allWorkIsLimited),
        cmocka_unit_test(sharedWorkIsLimited),    cmocka_unit_test(partsAreCharged),
        cmocka_unit_test(fewBlocksAreCharged),    cmocka_unit_test(enoughIsSoonDone),
        cmocka_unit_test(thePathHasNoMoreWork),   cmocka_unit_test(answersAreNotSwept),
        cmocka_unit_test(theRestGoesOn),          cmocka_unit_test(roundingEndsTheChain),
        cmocka_unit_test(roundingIsNotRefined),   cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
