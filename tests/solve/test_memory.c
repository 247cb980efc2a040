/* Memory that runs out at any one place of a solution: either that is an error and the impulses are untouched, or a
 * method did without, and its status is right. */
#include "support/check.h"
#include "support/failing_takes.h"
#include "support/lattice.h"

#include <stdlib.h>
#include <string.h>

/* As often as a method of a solver takes memory, at most so many places, equally far apart. */
enum { PLACES = 50 };

static void walkThrough(const char *name, const spragProblem *problem, spragSolverKind solver, int counted[2])
{
    const size_t n = 3 * (size_t)problem->contact_count;
    double *r = calloc(n, sizeof *r), *guess = calloc(n, sizeof *guess);
    spragSolveOptions options = spragSolveOptionsDefault();
    options.solver = solver, options.iteration_limit = 300, options.enough = 1e-6, options.work_limit = 1e6;
    assert_true(r != NULL && guess != NULL);
    taken = failing = 0;
    spragProblemSolve(problem, &options, r, NULL, NULL);
    const unsigned long all = taken, apart = 1 + all / PLACES;
    int refused = 0, without = 0;
    for (unsigned long place = 1; place <= all; place += apart) {
        memset(r, 0, n * sizeof *r);
        taken = 0, failing = place;
        const spragStatus status = spragProblemSolve(problem, &options, r, NULL, NULL);
        failing = 0;
        const double residual = spragProblemResidual(problem, r);
        if (status == SPRAG_ERROR_MEMORY) {
            ++refused;
            if (memcmp(r, guess, n * sizeof *r) != 0)
                fail_msg("%s by %s, %lu of %lu: refused, and r is another", name, spragSolverName(solver), place, all);
            continue;
        }
        ++without;
        assert_true(status == SPRAG_OK || status == SPRAG_NOT_CONVERGED || status == SPRAG_LIMIT);
        assert_true(residual <= (status == SPRAG_OK ? options.tolerance : INFINITY));
    }
    print_message("%-8s %-12s %5lu taken, %3d refused, %3d without\n", name, spragSolverName(solver), all, refused,
                  without);
    counted[0] += refused, counted[1] += without;
    free(r), free(guess);
}

static void byAllSolvers(const char *name, const spragProblem *problem, int counted[2])
{
    for (int solver = 0; solver < SPRAG_SOLVER_COUNT; ++solver)
        if (solver != SPRAG_SOLVER_STOCK)
            walkThrough(name, problem, (spragSolverKind)solver, counted);
}

static void memoryRunsOut(void **state)
{
    (void)state;
    static const char *const file[] = {"car", "flung", "pole", "stranded", "string", "stuck"};
    int counted[2] = {0};
    for (size_t k = 0; k < sizeof file / sizeof *file; ++k) {
        char path[1024];
        spragProblem *problem;
        snprintf(path, sizeof path, SPRAG_SOURCE_DIR "/tests/data/games/%s.txt", file[k]);
        assert_int_equal(spragProblemRead(path, &problem), SPRAG_OK);
        byAllSolvers(file[k], problem, counted);
        spragProblemFree(problem);
    }
    static Random random;
    for (int k = 0; k < 4; ++k) {
        randomProblem(&random, 7 + (unsigned long long)k, k % 2 == 0 ? 0.3 : 2, k < 2 ? N : N / 2);
        for (int i = 0; i < NC && k > 0; i += 4)
            random.kind[i] = SPRAG_BLOCK_TWO_SIDED, random.kind[i + 1] = SPRAG_BLOCK_BOX;
        byAllSolvers("random", &random.problem, counted);
    }
    spragProblemData *lattice = latticeCreate(4, 4, 0.5, 2);
    byAllSolvers("lattice", &lattice->problem, counted);
    spragProblemFree(&lattice->problem);
    assert_true(counted[0] > 1000 && counted[1] > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memoryRunsOut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
