/* Which methods a problem meets, and in which order: as the table at the head of chain_links.c has it, for every part
 * of the chain; no method is asked for more than the user wants, nor for less than is enough. */
#include "support/check.h"

#include "problem/bodies.h"
#include "solve/chain/chain_links.h"

#include <string.h>

enum { MOST = 700 };
static const double tolerance = 1e-8, enough = 1e-6, step_work = 9e7;

/* Contacts; contacts and boxes of finite bounds; the same with rows that nothing bounds; mu = infinity (nothing
 * slides); boxes of finite bounds alone, as of contacts whose friction is bounded by a force. */
typedef enum Kinds { CONTACTS, MIXED, SOME_FREE, GLUED, BOXES, KINDS } Kinds;

/* joined: heaps of mechanisms, a few blocks of W in each row. */
typedef struct Asked {
    spragProblem problem;
    double bound[6 * MOST], mu[MOST];
    unsigned char kind[MOST];
    spragBodies bodies;
} Asked;

static spragProblem *ask(Asked *asked, int n, Kinds kinds, int joined)
{
    memset(asked, 0, sizeof *asked);
    for (int k = 0; k < n; ++k) {
        const int box = kinds >= GLUED || (kinds != CONTACTS && k % 2);
        asked->kind[k] = box ? SPRAG_BLOCK_BOX : SPRAG_BLOCK_CONTACT;
        asked->mu[k] = 3;
        for (int i = 0; i < 3; ++i) {
            const int unbound = kinds == GLUED || kinds == SOME_FREE;
            asked->bound[6 * k + i] = i == 0 ? 0 : unbound ? -INFINITY : -1;
            asked->bound[6 * k + 3 + i] = i == 0 || unbound ? INFINITY : 1;
        }
    }
    asked->problem = (spragProblem){.contact_count = n,
                                    .block_count = 10 * n,
                                    .mu = asked->mu,
                                    .kind = kinds == CONTACTS ? NULL : asked->kind,
                                    .bound = kinds == CONTACTS ? NULL : asked->bound,
                                    .linked = joined ? &asked->bodies : NULL};
    return &asked->problem;
}

#define IS(name) &spragSolver##name
/* plays: `enough` will do, and work is limited; a step of a simulation: work is limited alone. */
typedef enum Use { FILES, STEP, PLAYS } Use;

static spragSolveOptions optionsOf(Use use)
{
    return (spragSolveOptions){
        .tolerance = tolerance, .enough = use == PLAYS ? enough : 0, .work_limit = use == FILES ? 0 : step_work};
}

static void methodsComeInTheirOrder(void **state)
{
    (void)state;
    static const struct Case {
        int n;
        Kinds kinds;
        int joined;
        Use use;
        spragChainPart part;
        const spragSolver *method[SPRAG_CHAIN_LINKS_MOST + 1];
    } table[] = {
        {20, CONTACTS, 0, FILES, SPRAG_CHAIN_WHOLE, {IS(Variant), IS(Newton), IS(Generation), IS(Lemke)}},
        {20,
         CONTACTS,
         0,
         PLAYS,
         SPRAG_CHAIN_WHOLE,
         {IS(Variant), IS(Newton), IS(NewtonStraight), IS(Generation), IS(Newton), IS(Lemke)}},
        {40,
         MIXED,
         0,
         PLAYS,
         SPRAG_CHAIN_WHOLE,
         {IS(Variant), IS(Newton), IS(NewtonStraight), IS(Generation), IS(Newton)}},
        {20, SOME_FREE, 0, STEP, SPRAG_CHAIN_WHOLE, {IS(Variant), IS(Newton), IS(FreeRows), IS(Lemke)}},
        {20,
         GLUED,
         0,
         STEP,
         SPRAG_CHAIN_WHOLE,
         {IS(Variant), IS(Pivots), IS(Newton), IS(FreeRows), IS(Newton), IS(Lemke)}},
        {20,
         GLUED,
         0,
         PLAYS,
         SPRAG_CHAIN_WHOLE,
         {IS(Variant), IS(Pivots), IS(Newton), IS(FreeRows), IS(Newton), IS(Lemke)}},
        {20, CONTACTS, 0, PLAYS, SPRAG_CHAIN_SOON, {IS(Variant)}},
        {20, GLUED, 0, PLAYS, SPRAG_CHAIN_SOON, {IS(Variant), IS(Pivots)}},
        {20, CONTACTS, 0, PLAYS, SPRAG_CHAIN_BEGINNING, {IS(Variant), IS(Newton)}},
        {20, CONTACTS, 0, PLAYS, SPRAG_CHAIN_BEGUN, {IS(Variant), IS(Newton)}},
        {20, CONTACTS, 0, STEP, SPRAG_CHAIN_DOUBTED, {IS(Variant), IS(Newton), IS(Generation)}},
        {20, CONTACTS, 0, STEP, SPRAG_CHAIN_DESPITE, {IS(Variant), IS(Generation)}},
        {20, CONTACTS, 0, STEP, SPRAG_CHAIN_REST, {IS(Variant), IS(Generation), IS(Lemke)}},
        {60, CONTACTS, 0, PLAYS, SPRAG_CHAIN_REST, {IS(Variant), IS(NewtonStraight), IS(Generation), IS(Newton)}},
        {61,
         CONTACTS,
         0,
         PLAYS,
         SPRAG_CHAIN_REST,
         {IS(Sweeps), IS(Disturbed), IS(NewtonStraight), IS(NewtonResumed), IS(Generation)}},
        {61, CONTACTS, 0, PLAYS, SPRAG_CHAIN_DESPITE, {IS(Sweeps), IS(NewtonStraight), IS(Generation)}},
        {121, CONTACTS, 0, PLAYS, SPRAG_CHAIN_DESPITE, {IS(Sweeps), IS(Generation)}},
        {61,
         CONTACTS,
         0,
         PLAYS,
         SPRAG_CHAIN_WHOLE,
         {IS(Sweeps), IS(Disturbed), IS(Newton), IS(NewtonStraight), IS(Generation)}},
        {61, BOXES, 0, PLAYS, SPRAG_CHAIN_REST, {IS(Newton), IS(Sweeps)}},
        {20, CONTACTS, 0, STEP, SPRAG_CHAIN_WITHIN, {IS(Variant), IS(Newton), IS(Lemke)}},
        {20, CONTACTS, 0, STEP, SPRAG_CHAIN_LOCAL, {IS(Variant), IS(NewtonPoints)}},
        {61, CONTACTS, 0, STEP, SPRAG_CHAIN_LOCAL, {IS(Sweeps), IS(NewtonPoints)}},
        {61, CONTACTS, 0, FILES, SPRAG_CHAIN_WHOLE, {IS(Sweeps), IS(Newton), IS(Turns)}},
        {61, MIXED, 0, FILES, SPRAG_CHAIN_WHOLE, {IS(Sweeps), IS(Newton), IS(GaussSeidel)}},
        {61, CONTACTS, 0, STEP, SPRAG_CHAIN_WHOLE, {IS(Sweeps), IS(Disturbed), IS(Newton), IS(Generation)}},
        {61, SOME_FREE, 0, STEP, SPRAG_CHAIN_WHOLE, {IS(Sweeps), IS(Disturbed), IS(Newton)}},
        {61, CONTACTS, 0, STEP, SPRAG_CHAIN_SOON, {IS(Sweeps), IS(Disturbed)}},
        {61, CONTACTS, 0, STEP, SPRAG_CHAIN_BEGINNING, {IS(Sweeps), IS(Disturbed), IS(Newton)}},
        {61, CONTACTS, 0, STEP, SPRAG_CHAIN_BEGUN, {IS(Sweeps), IS(Disturbed), IS(Newton)}},
        {61, CONTACTS, 0, STEP, SPRAG_CHAIN_DESPITE, {IS(Sweeps), IS(Generation)}},
        {61, CONTACTS, 0, STEP, SPRAG_CHAIN_WITHIN, {IS(Sweeps), IS(Newton)}},
        {61,
         CONTACTS,
         1,
         STEP,
         SPRAG_CHAIN_WHOLE,
         {IS(SweepsNear), IS(NewtonNear), IS(Sweeps), IS(Newton), IS(Generation)}},
        {61, CONTACTS, 1, STEP, SPRAG_CHAIN_TUMBLING, {IS(SweepsNear), IS(NewtonFewest)}},
        {61, CONTACTS, 1, FILES, SPRAG_CHAIN_WHOLE, {IS(Sweeps), IS(Newton), IS(Turns)}},
        {61, BOXES, 0, STEP, SPRAG_CHAIN_WHOLE, {IS(Newton), IS(Sweeps)}},
        {61, BOXES, 0, FILES, SPRAG_CHAIN_WHOLE, {IS(Newton), IS(Sweeps), IS(GaussSeidel)}},
        {120, GLUED, 0, STEP, SPRAG_CHAIN_WHOLE, {IS(Newton), IS(Pivots), IS(Sweeps)}},
        {121, GLUED, 0, STEP, SPRAG_CHAIN_WHOLE, {IS(Newton), IS(Sweeps)}},
        {61, CONTACTS, 0, STEP, SPRAG_CHAIN_NEAR, {IS(SweepsNear)}},
        {61, CONTACTS, 0, STEP, SPRAG_CHAIN_SWEPT, {IS(SweepsCounted)}},
    };
    static Asked asked;
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        const struct Case *c = &table[i];
        const spragSolveOptions options = optionsOf(c->use);
        spragChainLinks chain = {.problem = ask(&asked, c->n, c->kinds, c->joined), .options = &options};
        spragChainLinksOf(&chain, c->part);
        for (int k = 0; k <= chain.count; ++k)
            if (c->method[k] != (k < chain.count ? chain.link[k].method : NULL))
                fail_msg("case %d, link %d: %s", (int)i, k,
                         k < chain.count ? spragSolverName(chain.link[k].method->kind) : "no more");
    }
}

static void whoIsAskedForComesAlone(void **state)
{
    (void)state;
    static Asked asked;
    for (int n = 20; n < MOST; n += 600)
        for (int kind = SPRAG_SOLVER_AUTO + 1; kind < SPRAG_SOLVER_COUNT; ++kind) {
            if (kind == SPRAG_SOLVER_STOCK)
                continue;
            spragSolveOptions options = optionsOf(STEP);
            options.solver = (spragSolverKind)kind;
            spragChainLinks chain = {.problem = ask(&asked, n, CONTACTS, 0), .options = &options};
            spragChainLinksOf(&chain, SPRAG_CHAIN_WHOLE);
            assert_int_equal(chain.count, 1);
            assert_int_equal(chain.link[0].method->kind, kind);
            assert_int_equal(chain.link[0].limit, 0);
        }
}

/* Of every chain. */
static void checkLinks(const spragChainLinks *chain)
{
    const spragSolveOptions *options = chain->options;
    assert_in_range(chain->count, 1, SPRAG_CHAIN_LINKS_MOST);
    assert_in_range(chain->soon, 0, chain->count);
    for (int k = 0; k < chain->count; ++k) {
        const spragChainLink *link = &chain->link[k];
        assert_int_equal(link->run_as, k == 0 ? SPRAG_IF_SOLVED : SPRAG_IF_BETTER);
        assert_true(link->tolerance == tolerance || link->tolerance == options->enough);
        assert_true(k == 0 || link->tolerance >= link[-1].tolerance); /* what is enough ends what comes after */
        assert_true(link->limit >= 0 && (link->second_limit > 0 || link->second_limit == SPRAG_NO_SECOND));
        if (options->iteration_limit > 0) {
            assert_int_equal(link->limit, options->iteration_limit);
            assert_true(link->second_limit == SPRAG_NO_SECOND || link->second_limit == options->iteration_limit);
        }
    }
}

static void limitsAndToleranceAreTheUsers(void **state)
{
    (void)state;
    static Asked asked;
    for (int n = 2; n < MOST; n += n < 70 ? 1 : 60)
        for (int kinds = 0; kinds < KINDS; ++kinds)
            for (int joined = 0; joined < 2; ++joined)
                for (int use = FILES; use <= PLAYS; ++use)
                    for (int limited = 0; limited < 2; ++limited)
                        for (int part = SPRAG_CHAIN_WHOLE; part <= SPRAG_CHAIN_LOCAL; ++part) {
                            spragSolveOptions options = optionsOf((Use)use);
                            options.iteration_limit = limited ? 7 : 0;
                            spragChainLinks chain = {.problem = ask(&asked, n, (Kinds)kinds, joined),
                                                     .options = &options};
                            spragChainLinksOf(&chain, (spragChainPart)part);
                            checkLinks(&chain);
                        }
}

/* After the first methods of small problems, and after the sweeps of large ones that may slide. */
static void enoughIsEnough(void **state)
{
    (void)state;
    static Asked asked;
    for (int n = 20; n < MOST; n += 41)
        for (int kinds = 0; kinds < KINDS; ++kinds) {
            const spragSolveOptions options = optionsOf(PLAYS);
            spragChainLinks chain = {.problem = ask(&asked, n, (Kinds)kinds, 0), .options = &options};
            spragChainLinksOf(&chain, SPRAG_CHAIN_WHOLE);
            assert_true(chain.link[0].tolerance == tolerance);
            const int slides = n <= SPRAG_CHAIN_SMALL || kinds < GLUED;
            assert_true(chain.link[chain.count - 1].tolerance == (slides ? enough : tolerance));
        }
}

/* Heaps of mechanisms are approached where there is time for Newton's method; of one mechanism, whose joints couple all
 * with all, sweeps are dear, and few. */
static void mechanismsAreSweptLess(void **state)
{
    (void)state;
    static Asked asked;
    int sweeps[2];
    for (int one = 0; one < 2; ++one) {
        const spragSolveOptions options = optionsOf(STEP);
        spragProblem *problem = ask(&asked, 100, CONTACTS, 1);
        if (one)
            problem->block_count = 100 * 100;
        spragChainLinks chain = {.problem = problem, .options = &options};
        spragChainLinksOf(&chain, SPRAG_CHAIN_WHOLE);
        assert_true((chain.link[0].method == &spragSolverSweepsNear) == !one);
        sweeps[one] = chain.link[one ? 0 : 2].limit;
        assert_ptr_equal(chain.link[one ? 0 : 2].method, &spragSolverSweeps);
    }
    assert_true(10 * sweeps[1] < sweeps[0]);
    spragSolveOptions hurried = optionsOf(STEP);
    hurried.time_limit = 1e-9;
    spragChainLinks chain = {.problem = ask(&asked, 100, CONTACTS, 1), .options = &hurried};
    spragChainLinksOf(&chain, SPRAG_CHAIN_WHOLE);
    assert_ptr_equal(chain.link[0].method, &spragSolverSweeps);
}

/* The limit of a method's first link, or -1: the chain has none. */
static int limitOf(const spragProblem *problem, Use use, spragChainPart part, const spragSolver *method)
{
    const spragSolveOptions options = optionsOf(use);
    spragChainLinks chain = {.problem = problem, .options = &options};
    spragChainLinksOf(&chain, part);
    for (int k = 0; k < chain.count; ++k)
        if (chain.link[k].method == method)
            return chain.link[k].limit;
    return -1;
}

/* What something cheaper or surer follows, and what enough is enough for. */
static void someAreKeptShort(void **state)
{
    (void)state;
    static Asked asked;
    const spragProblem *problem = ask(&asked, 20, CONTACTS, 0);
    assert_int_equal(spragChainRoundsKnown(problem), 0); /* the whole search is cheap */
    assert_int_equal(limitOf(problem, STEP, SPRAG_CHAIN_WHOLE, IS(Lemke)), 0);
    assert_in_range(limitOf(problem, PLAYS, SPRAG_CHAIN_WHOLE, IS(Lemke)), 20, 10000);
    assert_true(limitOf(problem, STEP, SPRAG_CHAIN_WITHIN, IS(Newton)) >
                limitOf(problem, PLAYS, SPRAG_CHAIN_WITHIN, IS(Newton)));
    const spragSolveOptions plays = optionsOf(PLAYS);
    spragChainLinks within = {.problem = problem, .options = &plays}, whole = within;
    spragChainLinksOf(&within, SPRAG_CHAIN_WITHIN), spragChainLinksOf(&whole, SPRAG_CHAIN_WHOLE);
    assert_ptr_equal(within.link[3].method, IS(Newton)); /* the second time */
    assert_ptr_equal(whole.link[4].method, IS(Newton));
    assert_true(2 * within.link[3].limit < whole.link[4].limit);
    assert_int_equal(limitOf(problem, PLAYS, SPRAG_CHAIN_DESPITE, IS(NewtonStraight)), 0); /* by its work */
    for (int k = 0; k < 20; ++k)
        asked.mu[k] = 0.5;
    assert_int_equal(limitOf(problem, PLAYS, SPRAG_CHAIN_DESPITE, IS(NewtonStraight)), -1);
    problem = ask(&asked, 21, GLUED, 0);
    assert_int_equal(limitOf(problem, STEP, SPRAG_CHAIN_WHOLE, IS(Variant)), spragChainRoundsKnown(problem));
    assert_in_range(spragChainRoundsKnown(problem), 1, 20);
    problem = ask(&asked, 100, GLUED, 0); /* pivots follow */
    assert_in_range(limitOf(problem, STEP, SPRAG_CHAIN_WHOLE, IS(Newton)), 1, 200);
    problem = ask(&asked, 100, CONTACTS, 1);
    assert_true(limitOf(problem, STEP, SPRAG_CHAIN_TUMBLING, IS(SweepsNear)) <
                limitOf(problem, STEP, SPRAG_CHAIN_WHOLE, IS(SweepsNear)));
}

/* What is within `enough` after the mode search goes no further where it slides, and does where all is at rest or more
 * sticks than slides: what rests keeps what its answers leave. */
static void enoughIsSoonEnoughForWhatSlides(void **state)
{
    (void)state;
    static Asked asked;
    spragContactHistory history[20] = {0};
    spragProblem *problem = ask(&asked, 20, CONTACTS, 0);
    problem->history = history;
    for (int use = STEP; use <= PLAYS; ++use)
        for (int slides = 0; slides < 2; ++slides)
            for (int sticks = 0; sticks < 2; ++sticks) {
                const spragSolveOptions options = optionsOf((Use)use);
                history[7].slip[1] = slides ? -0.1 : -1e-4; /* m/s */
                history[8].mode = sticks ? SPRAG_MODE_STICK : SPRAG_MODE_SLIP;
                spragChainLinks chain = {.problem = problem, .options = &options};
                spragChainLinksOf(&chain, SPRAG_CHAIN_WHOLE);
                assert_ptr_equal(chain.link[0].method, IS(Variant));
                assert_true(chain.link[0].tolerance == tolerance);
                assert_ptr_equal(chain.link[1].method, IS(Newton));
                assert_true(chain.link[1].tolerance == (use == PLAYS && slides && !sticks ? enough : tolerance));
            }
}

/* What comes soon begins the whole, and the later part has the same links: it goes on behind them. */
static void partsMakeTheWhole(void **state)
{
    (void)state;
    static Asked asked;
    for (int n = 20; n < MOST; n += 50)
        for (int kinds = 0; kinds < KINDS; ++kinds)
            for (int use = FILES; use <= PLAYS; ++use) {
                const spragSolveOptions options = optionsOf((Use)use);
                const spragProblem *problem = ask(&asked, n, (Kinds)kinds, n % 100 == 0);
                spragChainLinks whole = {.problem = problem, .options = &options}, soon = whole, later = whole;
                spragChainLinksOf(&whole, SPRAG_CHAIN_WHOLE);
                spragChainLinksOf(&soon, SPRAG_CHAIN_SOON);
                spragChainLinksOf(&later, SPRAG_CHAIN_LATER);
                assert_int_equal(soon.count, whole.soon);
                assert_int_equal(later.count, whole.count);
                for (int k = 0; k < whole.count; ++k) {
                    assert_ptr_equal(later.link[k].method, whole.link[k].method);
                    assert_int_equal(later.link[k].limit, whole.link[k].limit);
                    assert_true(k >= soon.count || soon.link[k].method == whole.link[k].method);
                }
            }
}

/* A second run from r = 0, for as many steps in all: of small problems, and of large ones that nothing else ends.
 * Where Newton's method comes twice, of the last one alone. */
static void whereTheGuessLeadsAstray(void **state)
{
    (void)state;
    static Asked asked;
    for (int n = 20; n < 100; n += 50)
        for (int kinds = CONTACTS; kinds <= GLUED; ++kinds)
            for (int use = FILES; use <= PLAYS; ++use) {
                const spragSolveOptions options = optionsOf((Use)use);
                spragChainLinks chain = {.problem = ask(&asked, n, (Kinds)kinds, 0), .options = &options};
                spragChainLinksOf(&chain, SPRAG_CHAIN_WHOLE);
                const spragChainLink *newton = NULL;
                for (int k = 0; k < chain.count; ++k)
                    if (chain.link[k].method == &spragSolverNewton) {
                        assert_true(newton == NULL || newton->second_limit == SPRAG_NO_SECOND);
                        newton = &chain.link[k];
                    }
                assert_non_null(newton);
                if (n == 20 || kinds <= MIXED)
                    assert_int_equal(newton->second_limit != SPRAG_NO_SECOND,
                                     n == 20 || (kinds == MIXED && use == FILES));
                assert_true(n > 20 || use == FILES || newton->second_limit <= newton->limit);
            }
}

/* Work is what is paid for: as many steps as it is worth, and none that it is not. */
static void workIsCounted(void **state)
{
    (void)state;
    for (int n = 2; n < 61; ++n) {
        const double step = spragChainStepWork(n);
        for (int steps = 0; steps < 100; steps += 9) {
            assert_int_equal(spragChainStepsWorth(n, (steps + 0.01) * step), steps);
            assert_int_equal(spragChainStepsWorth(n, (steps + 0.99) * step), steps);
        }
        assert_true(spragChainStepsWorth(n, INFINITY) < 1000000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methodsComeInTheirOrder),
        cmocka_unit_test(whoIsAskedForComesAlone),
        cmocka_unit_test(limitsAndToleranceAreTheUsers),
        cmocka_unit_test(partsMakeTheWhole),
        cmocka_unit_test(whereTheGuessLeadsAstray),
        cmocka_unit_test(workIsCounted),
        cmocka_unit_test(enoughIsEnough),
        cmocka_unit_test(mechanismsAreSweptLess),
        cmocka_unit_test(someAreKeptShort),
        cmocka_unit_test(enoughIsSoonEnoughForWhatSlides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
