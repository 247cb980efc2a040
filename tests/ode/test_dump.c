/* Problem files of a step: one an island, named after the first; read back they are the problems that were solved, of
 * single bodies too; and what cannot be written is said. */
#include "support/refusal.h"
#include "support/twin.h"

#include <unistd.h>

#include "base/alloc.h"
#include "ode/step/dump.h"

static char folder[] = "/tmp/sprag-dump-XXXXXX";

static char *named(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* A box on two feet of a heavier one, and two boxes alone: islands of 8, 4 and 4 contacts. */
static void makeYard(Twin *t)
{
    makeTwin(t, 1);
    addBox(t, 0, 0, 0.2);
    addBox(t, 0.1, 0, 0.6);
    addBox(t, 5, 0, 0.2);
    addBox(t, 9, 0, 0.2);
    dBodySetLinearVel(t->body[2], 1, 0, 0);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 4; ++i)
            if (i != 1)
                addCorners(t, t->body[i], 0.5);
        for (int i = 0; i < 4; ++i) {
            dContact contact = planeContact(i & 1 ? 0.4 : -0.3, i & 2 ? 0.4 : -0.4, 0.4, 0.5);
            addContact(t, &contact, t->body[1], t->body[0]);
        }
        step(t, 1e-3);
    }
}

static void everyIslandHasItsFile(void **state)
{
    (void)state;
    static const char *const pattern[3][3] = {{"yard.problem", "yard-2.problem", "yard-3.problem"},
                                              {"yard", "yard-2", "yard-3"},
                                              {"a.b.txt", "a.b-2.txt", "a.b-3.txt"}};
    static const int contacts[3] = {8, 4, 4};
    Twin t;
    makeYard(&t);
    for (int p = 0; p < 3; ++p) {
        assert_int_equal(spragWorldDumpProblem(t.sprag, named(pattern[p][0])), SPRAG_OK);
        for (int k = 0; k < 3; ++k) {
            spragProblem *problem;
            assert_int_equal(spragProblemRead(named(pattern[p][k]), &problem), SPRAG_OK);
            assert_int_equal(problem->contact_count, contacts[k]);
            spragProblemFree(problem);
            unlink(named(pattern[p][k]));
        }
    }
    freeTwin(&t);
}

/* The worst is told by its number among them. */
static void theWorstIsTold(void **state)
{
    (void)state;
    Twin t;
    makeYard(&t);
    struct spragWorld *world = (struct spragWorld *)t.sprag;
    for (int worst = 0; worst < 3; ++worst) {
        for (int k = 0; k < 3; ++k)
            world->snapshot.island[k].solve.residual = k == worst ? 1e-3 : 1e-9 * k;
        spragDumped dumped;
        assert_int_equal(spragDumpIslands(world, named("yard"), &dumped), SPRAG_OK);
        assert_int_equal(dumped.count, 3);
        assert_int_equal(dumped.worst, worst + 1);
    }
    unlink(named("yard"));
    spragDumpRemove(named("yard"), 1, 3);
    freeTwin(&t);
}

/* Solved again from nothing, the bodies of the file do what those of the world did: the same velocities at contacts. */
static void filesAreTheProblemsSolved(void **state)
{
    (void)state;
    Twin t;
    makeYard(&t);
    assert_int_equal(spragWorldDumpProblem(t.sprag, named("yard.problem")), SPRAG_OK);
    const spragContact *contact;
    assert_int_equal(spragWorldGetContacts(t.sprag, &contact), 16);
    static const char *const file[3] = {"yard.problem", "yard-2.problem", "yard-3.problem"};
    for (int k = 0, first = 0; k < 3; ++k) {
        spragProblem *problem;
        double r[24] = {0}, u[24], load = 0, told = 0;
        spragSolveInfo info;
        assert_int_equal(spragProblemRead(named(file[k]), &problem), SPRAG_OK);
        spragSolveOptions options = spragSolveOptionsDefault();
        options.tolerance = 1e-12;
        assert_int_equal(spragProblemSolve(problem, &options, r, u, &info), SPRAG_OK);
        for (int c = 0; c < problem->contact_count; ++c) {
            load += r[3 * c] / 1e-3;
            told += contact[first + c].normal_force;
            const double *slip = contact[first + c].slip;
            CHECK_NEAR(hypot(u[3 * c + 1], u[3 * c + 2]), hypot(slip[0], slip[1]), 1e-7);
        }
        CHECK_NEAR(load, told, 1e-4);
        first += problem->contact_count;
        spragProblemFree(problem);
        unlink(named(file[k]));
    }
    freeTwin(&t);
}

static void whatCannotBeWrittenIsSaid(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    CHECK_REFUSED(spragWorldDumpProblem(t.sprag, named("none")), SPRAG_ERROR_ORDER, "solved no island");
    dBodyID box = addBox(&t, 0, 0, 0.2);
    addCorners(&t, box, 0.5);
    step(&t, 1e-3);
    CHECK_REFUSED(spragWorldDumpProblem(t.sprag, "/nonexistent/x"), SPRAG_ERROR_FILE, "/nonexistent/x");
    CHECK_REFUSED(spragWorldDumpProblem(t.sprag, ""), SPRAG_ERROR_NULL, "path");
    step(&t, 1e-3); /* in the air: nothing of the last step is left */
    CHECK_REFUSED(spragWorldDumpProblem(t.sprag, named("none")), SPRAG_ERROR_ORDER, "solved no island");
    freeTwin(&t);
}

/* Also of islands that were solved without blocks, whose problem is made for the file. */
static void memoryThatRunsOutIsSaid(void **state)
{
    (void)state;
    Twin t;
    makeYard(&t);
    unsigned long n = 0;
    spragStatus status = SPRAG_ERROR_MEMORY;
    while (status != SPRAG_OK) {
        assert_true(++n < 1000);
        spragAllocFailAt(n);
        status = spragWorldDumpProblem(t.sprag, named("yard"));
        spragAllocFailAt(0);
        if (status != SPRAG_OK) {
            assert_int_equal(status, SPRAG_ERROR_MEMORY);
            assert_non_null(strstr(spragStatusDetail(), "memory"));
        }
    }
    assert_true(n > 3);
    for (int k = 0; k < 3; ++k) {
        spragProblem *problem;
        assert_int_equal(spragProblemRead(named(k == 0 ? "yard" : k == 1 ? "yard-2" : "yard-3"), &problem), SPRAG_OK);
        spragProblemFree(problem);
    }
    unlink(named("yard"));
    spragDumpRemove(named("yard"), 1, 3);
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    if (mkdtemp(folder) == NULL)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyIslandHasItsFile), cmocka_unit_test(theWorstIsTold),
                                       cmocka_unit_test(filesAreTheProblemsSolved),
                                       cmocka_unit_test(whatCannotBeWrittenIsSaid),
                                       cmocka_unit_test(memoryThatRunsOutIsSaid)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
