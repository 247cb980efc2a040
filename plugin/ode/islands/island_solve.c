#include "ode/islands/island_solve.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "ode/islands/bare.h"
#include "ode/islands/bounded.h"
#include "ode/islands/echo.h"
#include "ode/islands/impulse_sum.h"
#include "ode/islands/passing.h"
#include "ode/islands/rescue.h"
#include "ode/joints/articulation.h"
#include "ode/joints/bearing.h"
#include "ode/joints/links.h"
#include "ode/joints/surge.h"
#include "ode/matrix/assemble.h"
#include "ode/matrix/matrix_free.h"
#include "ode/matrix/working_set.h"
#include "ode/rows/blow.h"
#include "ode/rows/coupled.h"
#include "ode/work/fall.h"
#include "ode/work/heap.h"
#include "ode/work/visits_end.h"
#include "problem/residual.h"
#include "solve/glue/glue.h"
#include "solve/solver.h"

enum {
    ENTRIES_LATE = 2000000, /* blocks of W, 150 MB, at most: it is then made when methods without it have failed */
    SURGES_MAX = 4,         /* times that an island begins again because its answer throws bodies */
    STEPS_NEAR = 4,         /* of each method, for an island whose guess is near (NEAR_GUESS), before it has its W */
    PROBES = 3,             /* looks by sweeps, before a solution, for rows that do not hold; one of what tumbles */
    SWEEPS_PROBE = 16,      /* of each look: 8 find fewer of these rows */
    /* Rounds of such rows that begin when the time is up, each of which takes as long as the whole: what would be let
     * go after them, one row at a time, holds for this step. */
    ROUNDS_LATE = 1
};

/* Limit of the work on an island, in products of 3x3 blocks, so that no step waits for the last digit of a large
 * pile that still falls.  3e7 take some 0.1 s.  (With 2e6 a wall of 85 bricks was left at 7e-3 m/s now and then, and
 * fell.) */
#define WORK_LEAST 3e7
#define WORK_PER_BLOCK 300 /* added for every block of W */
/* Of a solution's limit: the work of all solutions of a step together.  500 steps of boxes in hinges that fall on
 * boxes, with friction in the joints and mu = infinity, took up to 1.37 s without it. */
#define SOLUTIONS_WORTH 3
/* At least, of a large heap that holds by infinite friction, and flies apart unless it is solved; and for every block
 * of W, of a smaller one.  (Twelve boxes made in each other spent 2e9 again and again, 12 s a step.) */
#define WORK_GLUED 2e9
#define WORK_PER_GLUED 3e4

/* Work of a try without W: some times what it takes to make W, which is so many products of 3x3 blocks for each of its
 * blocks, or half of what a product by reaches takes for a block.  (With 3 in place of 10 a factor among bodies is too
 * costly in some islands; with 30 nothing is gained.) */
#define TRY_WORTH 10
#define PRODUCTS_PER_ENTRY 8

/* Tolerances: from there one or two steps of Newton's method among bodies, without W, end what is left.  (A wall of
 * bricks in joints drifts past the tolerance every third step: 1.1 times a step whose guess will do, with W 3.) */
#define NEAR_GUESS 10

#define SHARE_SURGE 0.3 /* of the work of a step, that a solution with smaller corrections has, at least */

const char *const spragAbsurdity =
    "a body, joint or contact with a number that is NaN, beyond 1e60 or out of its range";

int spragIslandAssemble(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island)
{
    const spragStatus status = spragAssemble(world, surfaces, island);
    const int refused = status == SPRAG_ERROR_NOT_FINITE || status == SPRAG_ERROR_RANGE;
    if (refused && world->lenient)
        island->declined = spragAbsurdity;
    if (status == SPRAG_ERROR_MEMORY && (world->lenient || island->joint_count >= SPRAG_RESCUE_LEAST))
        spragIslandFail(island, "no memory for its problem");
    return status == SPRAG_OK || island->declined != NULL;
}

/* Solves, and turns the ends of sliding bearings along their reactions, until they lie so: after one solution as a
 * rule, after several if a load is new. */
static spragStatus solveTurned(struct spragWorld *world, const spragSolveOptions *options, spragIsland *island)
{
    enum { TURNS_MAX = 16 };
    double off = INFINITY;
    const double begin = options->time_limit > 0 ? spragSeconds() : 0;
    spragSolveOptions own = *options;
    spragStatus status = spragBoundedSolve(world, options, island);
    for (int turn = 0; turn < TURNS_MAX && status == SPRAG_OK && island->work.spent <= island->work.most; ++turn) {
        own.time_limit = spragTimeLeft(options->time_limit, begin);
        if ((turn > 0 && own.time_limit == SPRAG_TIME_LEAST) || !spragBearingsTurn(world, island, turn, &off))
            break;
        const int iterations = island->solve.iterations;
        status = spragAssembleAgain(world, island, island->block_count) ? spragBoundedSolve(world, &own, island)
                                                                        : SPRAG_ERROR_MEMORY;
        island->solve.iterations += iterations;
    }
    return status;
}

/* Solves without W, if the island is one for that.  NOT_CONVERGED: it is not, or that was not enough: then W has been
 * made, and options->time_limit is what is left of the time. */
static spragStatus solveMatrixFree(struct spragWorld *world, spragSolveOptions *options, spragIsland *island)
{
    if (island->greedy == NULL)
        return SPRAG_NOT_CONVERGED;
    const double begin = spragSeconds();
    const spragStatus status = spragMatrixFreeSolveBlocks(options, island);
    if (status != SPRAG_NOT_CONVERGED || spragVisitsSuffice(world, island, island->greedy))
        return status == SPRAG_NOT_CONVERGED ? SPRAG_LIMIT : status;
    if (!spragAssembleCouple(world, island))
        return SPRAG_ERROR_MEMORY;
    options->time_limit = spragTimeLeft(options->time_limit, begin);
    return status;
}

/* Is W still to be made for a lean island (without W), as no method solves it?  Always for one that waited
 * (delassus.h), whose methods that read W have not had their turn; for others not where time is limited. */
static int asksForW(const spragSolveOptions *options, const spragIsland *island)
{
    if (island->matrix.waits == SPRAG_WAITS_FOR_GUESS)
        return island->solve.residual > fmax(options->tolerance, island->locked);
    const double asked = fmax(options->tolerance, options->enough),
                 enough = island->matrix.waits == SPRAG_WAITS_FOR_TRY ? asked : fmax(asked, SPRAG_MISSED);
    return island->matrix.lean && !(options->time_limit > 0) &&
           (island->matrix.waits || island->reaches.entries <= ENTRIES_LATE) &&
           island->solve.residual > fmax(enough, island->locked);
}

/* The limit of the work on the island's problem, once it is there. */
static double workLimitOf(const spragSolveOptions *options, const spragIsland *island)
{
    const double whole = options->work_limit + WORK_PER_BLOCK * island->problem.block_count,
                 work = ldexp(whole, -island->before.haste);
    const double glued = fmin(WORK_GLUED, WORK_PER_GLUED * island->problem.block_count);
    return spragProblemIsGlued(&island->problem) && !island->pile.sticks ? fmax(work, glued) : work;
}

/* Of all solutions of a step; what the user limits is not limited here. */
static double workOfStep(const spragSolveOptions *options, const spragIsland *island)
{
    return options->iteration_limit > 0 ? INFINITY
                                        : ldexp(SOLUTIONS_WORTH * options->work_limit, -island->before.step_haste);
}

/* Adds the problem's own part, as it now is, to the limit of the work, and sets that of the step. */
static void limitWork(spragSolveOptions *options, spragIsland *island)
{
    options->work_limit = workLimitOf(options, island);
    island->work.most = workOfStep(options, island);
    options->work_limit = fmin(options->work_limit, island->work.most);
}

/* The limit of the work of a try without W. */
static double workOfTry(const spragIsland *island)
{
    const double reach = spragReachesPrice(island) / island->block_count;
    return TRY_WORTH * island->reaches.entries * fmax(PRODUCTS_PER_ENTRY, reach / 2);
}

/* Without W: an island that waits for its guess has few steps for what that lacks (with all that the chain has, a wall
 * of bricks in joints settled in 1.5 times the time of one whose W is made at once), and one that waits for a try
 * has some times the work that W takes to make.  work: the limit without the problem's own part. */
static spragStatus solveLean(struct spragWorld *world, const spragSolveOptions *options, double work,
                             spragIsland *island)
{
    spragSolveOptions own = *options;
    own.iteration_limit = island->matrix.waits == SPRAG_WAITS_FOR_GUESS ? STEPS_NEAR : options->iteration_limit;
    if (island->matrix.waits == SPRAG_WAITS_FOR_TRY)
        own.work_limit = fmin(own.work_limit, workOfTry(island));
    const spragStatus status = solveTurned(world, &own, island);
    const int missed = status == SPRAG_NOT_CONVERGED || (island->matrix.waits && status == SPRAG_LIMIT);
    if (!missed || !asksForW(options, island))
        return status;
    const int iterations = island->solve.iterations;
    island->matrix.tried |= island->matrix.waits == SPRAG_WAITS_FOR_TRY;
    if (!spragAssembleCouple(world, island))
        return SPRAG_ERROR_MEMORY;
    if (island->declined != NULL)
        return status;
    own = *options;
    own.work_limit = work;
    limitWork(&own, island);
    const spragStatus whole = solveTurned(world, &own, island);
    island->solve.iterations += iterations;
    return whole;
}

/* Makes W for an island that waits for its guess (delassus.h), unless that is near.  0: no memory. */
static int coupleUnlessNear(struct spragWorld *world, const spragSolveOptions *options, spragIsland *island)
{
    if (island->matrix.waits != SPRAG_WAITS_FOR_GUESS || island->declined != NULL ||
        spragProblemJudge(&island->problem, island->r, island->u) <= NEAR_GUESS * options->tolerance)
        return 1;
    return spragAssembleCouple(world, island);
}

/* Solves the problem as it is written, with all that its own answer asks for: W where methods without it fail, and the
 * contacts outside the working set that turn out to carry load. */
static spragStatus solveWhole(struct spragWorld *world, const spragSolveOptions *given, spragIsland *island)
{
    spragSolveOptions options = *given;
    if (island->matrix.glued) {
        options.work_limit = 0;
        return spragGlueSolve(&island->problem, &options, &island->lane->arena, island->r, island->u, &island->solve);
    }
    spragStatus status = solveMatrixFree(world, &options, island);
    limitWork(&options, island);
    int grown = status == SPRAG_NOT_CONVERGED && island->declined == NULL;
    while (grown > 0) {
        status = solveLean(world, &options, given->work_limit, island);
        grown = status == SPRAG_ERROR_MEMORY ? 0 : spragWorkingSetGrow(world, island);
    }
    spragWorkingSetEnd(island);
    if (grown < 0)
        status = SPRAG_ERROR_MEMORY;
    return status;
}

spragSolveOptions spragIslandSolveOptions(const spragConfig *config, double seconds)
{
    return (spragSolveOptions){.solver = config->solver,
                               .tolerance = config->tolerance,
                               .iteration_limit = config->iteration_limit,
                               .time_limit = seconds,
                               .thread_count = config->thread_count, /* pays for large islands alone */
                               .indeterminacy = config->indeterminacy,
                               .enough = config->enough,
                               .work_limit = WORK_LEAST};
}

static spragStatus assembleAnew(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island)
{
    spragAssembleReset(world, island);
    return spragAssemble(world, surfaces, island);
}

/* The impulse of a joint's limit or motor in the island as it was, or NULL. */
static const double *impulseOf(const spragIsland *island, int joint, int number)
{
    for (int k = 0; k < island->block_count && island->block[k].joint <= joint; ++k)
        for (int row = 0; row < 3 && island->block[k].joint == joint; ++row)
            if (island->block[k].part == SPRAG_PART_JOINT && !island->block[k].unused[row] &&
                island->block[k].number[row] == number)
                return &island->r[3 * k + row];
    return NULL;
}

/* Takes the answer of the island as it was, with fewer limits and motors among its blocks, for a guess. */
static void guessAgain(const spragIsland *old, spragIsland *island)
{
    int last = 0;
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        const int is_joint = block->part == SPRAG_PART_JOINT;
        while (!is_joint && last < old->block_count && old->block[last].part == SPRAG_PART_JOINT)
            ++last;
        for (int row = 0; row < 3 && is_joint; ++row) {
            const double *found = block->unused[row] ? NULL : impulseOf(old, block->joint, block->number[row]);
            island->r[3 * k + row] = found != NULL ? *found : island->r[3 * k + row];
        }
        if (!is_joint && last < old->block_count && old->block[last].joint == block->joint)
            memcpy(island->r + 3 * k, old->r + 3 * last++, 3 * sizeof *island->r);
    }
}

static int holdsRows(const spragIsland *island)
{
    for (int e = 0; e < island->row_count; ++e)
        if (island->row[e].number >= 0)
            return 1;
    return 0;
}

/* Sweeps, and lets go the limits and motors that do not hold by what the sweeps leave.  How many, or -1: no memory. */
static int probe(struct spragWorld *world, const spragSolveOptions *options, spragIsland *island, spragChainPart part)
{
    spragArena *arena = &island->lane->arena;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    spragSolveOptions some = *options;
    some.iteration_limit = part == SPRAG_CHAIN_SWEPT ? SWEEPS_PROBE : 0;
    const spragStatus status =
        spragChainSolvePart(part, &island->problem, &some, arena, island->r, island->u, &island->solve);
    const int ready = status != SPRAG_ERROR_MEMORY && spragArticulationsSolve(island);
    spragArenaRelease(arena, mark);
    return ready ? spragArticulationsUnhold(world, island) : -1;
}

static spragStatus beginAgain(struct spragWorld *world, const spragPointerMap *surfaces,
                              const spragSolveOptions *options, spragIsland *island)
{
    const spragIsland old = *island;
    const spragStatus status = assembleAnew(world, surfaces, island);
    if (status != SPRAG_OK || island->declined != NULL)
        return status;
    guessAgain(&old, island);
    return coupleUnlessNear(world, options, island) ? SPRAG_OK : SPRAG_ERROR_MEMORY;
}

/* Solves until the limits and motors that are taken to hold do hold.  Under a time limit, and in heaps of mechanisms,
 * sweeps look for those that do not before time is spent on a solution: where ragdolls land, one or two solutions would
 * be for nothing.  (In heaps of 17 to 60 blocks, two to six ragdolls, the solution begins where the sweeps ended, which
 * saves as much again.)  So they do in one large mechanism: a solution of a vehicle on tracks takes 100 Newton
 * steps. */
static spragStatus solveHeld(struct spragWorld *world, const spragPointerMap *surfaces,
                             const spragSolveOptions *options, spragIsland *island)
{
    const double begin = options->time_limit > 0 ? spragSeconds() : 0;
    if (!coupleUnlessNear(world, options, island))
        return SPRAG_ERROR_MEMORY;
    const int limited = options->time_limit > 0, near = !limited && spragChainApproaches(&island->problem, options);
    const int searched = !limited && spragChainSearches(&island->problem, options);
    const int probed = (limited || near || searched) && options->solver == SPRAG_SOLVER_AUTO && island->greedy == NULL;
    spragSolveOptions own = *options;
    spragStatus status = SPRAG_OK;
    int broken = 1, late = 0;
    const int probes = island->pile.tumbles ? 1 : PROBES;
    for (int k = 0; k < probes && probed && broken > 0 && status == SPRAG_OK; ++k) {
        if (island->declined != NULL || !holdsRows(island))
            break;
        broken = probe(world, &own, island, k > 0 && near ? SPRAG_CHAIN_NEAR : SPRAG_CHAIN_SWEPT);
        status = broken < 0 ? SPRAG_ERROR_MEMORY : broken > 0 ? beginAgain(world, surfaces, options, island) : status;
        own.time_limit = spragTimeLeft(options->time_limit, begin);
    }
    if (status == SPRAG_OK && island->declined == NULL)
        status = solveWhole(world, &own, island);
    while (status != SPRAG_ERROR_MEMORY && island->declined == NULL && spragArticulationsUnhold(world, island) > 0 &&
           late < ROUNDS_LATE) {
        late += limited && own.time_limit <= SPRAG_TIME_LEAST;
        status = beginAgain(world, surfaces, options, island);
        own.time_limit = spragTimeLeft(options->time_limit, begin);
        if (status == SPRAG_OK && island->declined == NULL)
            status = solveWhole(world, &own, island);
    }
    return status;
}

/* The best answer is used even where it misses the tolerance, as long as it is finite: ODE's own would be worse.  Only
 * what has no answer is left to ODE. */
static void takeImpulses(struct spragWorld *world, spragIsland *island, spragStatus status)
{
    if (status != SPRAG_OK && status != SPRAG_NOT_CONVERGED && status != SPRAG_LIMIT)
        spragIslandFail(island, spragStatusText(status));
    const int loose = island->greedy != NULL && isfinite(island->solve.residual);
    for (int i = 0; i < 3 * island->block_count && !loose && !island->failed; ++i)
        if (!isfinite(island->r[i]) || !isfinite(island->u[i]))
            spragIslandFail(island, "no finite solution was found");
    if (island->declined == NULL && loose)
        spragMatrixFreeImpulses(&world->snapshot, island, island->greedy);
    else if (island->declined == NULL)
        spragImpulseSum(&world->snapshot, island);
}

/* Solves again an island in which a jam has changed how a body turns (blow.h).  status: of the answer there is. */
static void solveBlow(struct spragWorld *world, const spragPointerMap *surfaces, const spragSolveOptions *options,
                      spragIsland *island, spragStatus status)
{
    spragBlow blow;
    if (island->declined != NULL || island->greedy != NULL || !spragBlowLooksBack(world, island, &blow))
        return;
    const spragStatus again = solveHeld(world, surfaces, options, island);
    const int iterations = blow.solve.iterations + island->solve.iterations;
    takeImpulses(world, island, spragBlowIsGone(world, island, &blow) ? status : again);
    island->solve.iterations = iterations;
}

/* Takes the answer of the island as it was for a guess if it is nearer than that of the last step.  (Not where contacts
 * are visited again first: there is no W by which to judge, and their guess is their own.)  0: no memory. */
static int guessNearer(const spragIsland *old, spragIsland *island)
{
    const size_t n = 3 * (size_t)island->block_count;
    if (island->greedy != NULL)
        return 1;
    double *const last = SPRAG_TAKE_RAW(&island->lane->arena, double, n);
    if (last == NULL)
        return 0;
    memcpy(last, island->r, n * sizeof *last);
    const double residual = spragProblemJudge(&island->problem, last, island->u);
    guessAgain(old, island);
    if (!(spragProblemJudge(&island->problem, island->r, island->u) < residual))
        memcpy(island->r, last, n * sizeof *last);
    return 1;
}

/* Solves again, with smaller corrections, an island whose answer throws bodies (surge.h).  1: it did so; the last of
 * SURGES_MAX rounds asks for no corrections at all, and so does one that begins when the time, or the work, is up.
 * (Heaps of ragdolls had four rounds then, of which three left as much as before: 15 to 50 ms under a limit of one.)
 *
 * Each has its share of the work, and the last, as all under a time limit, begins at the better guess: what is left
 * far from its answer throws bodies by itself.  (Plates of 1 and 100 kg, mu = 100, whose first answer took all of the
 * work, were left at 2e4 m/s, and thrown at 1.6e4.)  lent: the work that this leaves out of what is spent is added. */
static int solveSurge(struct spragWorld *world, const spragPointerMap *surfaces, const spragSolveOptions *options,
                      spragIsland *island, int round, double *lent)
{
    const int limited = options->time_limit > 0, late = limited && options->time_limit <= SPRAG_TIME_LEAST;
    const int last = round == SURGES_MAX || late || (round > 1 && island->work.spent > island->work.most);
    if (island->declined != NULL || island->greedy != NULL || island->matrix.glued ||
        !spragSurges(&world->snapshot, island, last))
        return 0;
    const spragIsland old = *island;
    island->work.spent = fmin(island->work.spent, (1 - SHARE_SURGE) * island->work.most);
    *lent += old.work.spent - island->work.spent;
    spragStatus status = assembleAnew(world, surfaces, island);
    if ((limited || last) && status == SPRAG_OK && island->declined == NULL && !guessNearer(&old, island))
        status = SPRAG_ERROR_MEMORY;
    if (status == SPRAG_OK && island->declined == NULL)
        status = solveHeld(world, surfaces, options, island);
    takeImpulses(world, island, status);
    island->solve.fallback = 1;
    return 1;
}

/* Solves the island and takes its impulses; again where the answer says that its problem was not the right one. */
static void solveBlocks(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island,
                        double seconds_left)
{
    const double begin = seconds_left > 0 ? spragSeconds() : 0;
    spragSolveOptions options = spragIslandSolveOptions(&world->config, seconds_left);
    island->pile.tumbles = spragIslandTumbles(world, island);
    const spragStatus status = solveHeld(world, surfaces, &options, island);
    takeImpulses(world, island, status);
    options.time_limit = spragTimeLeft(seconds_left, begin);
    solveBlow(world, surfaces, &options, island, status);
    double lent = 0;
    for (int round = 1; round <= SURGES_MAX; ++round) {
        options.time_limit = spragTimeLeft(seconds_left, begin);
        if (!solveSurge(world, surfaces, &options, island, round, &lent))
            break;
    }
    island->work.spent += lent; /* the next step's haste goes by all of it */
    if (island->declined == NULL && island->greedy == NULL && !island->matrix.glued && !(seconds_left > 0)) {
        spragCoupledLookBack(world, island);
        spragPassingFind(world, &options, island);
    }
}

/* Takes the impulses found without blocks for the guess of the island with blocks. */
static void guessFromBare(const spragBare *bare, spragIsland *island)
{
    for (int b = 0; b < island->block_total; ++b) {
        const int k = spragBareContactOf(island, b), rolls = island->block[b].part == SPRAG_PART_ROLLING;
        memcpy(island->r + 3 * b, rolls ? bare->greedy.roll[k].r : bare->greedy.contact[k].r, 3 * sizeof *island->r);
    }
}

/* Solves without blocks (bare.h), and with blocks if that was not enough.  0: the step fails. */
static int solveBare(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island, double seconds)
{
    const spragBare *bare = island->bare;
    const double begin = spragSeconds();
    const spragSolveOptions options = spragIslandSolveOptions(&world->config, seconds);
    if (spragBareSolve(world, &options, island))
        return 1;
    const int rests = bare->rests && island->solve.residual <= options.tolerance;
    island->bare = NULL;
    island->matrix.visited = 1;
    spragBareUndo(world, island);
    if (!spragIslandAssemble(world, surfaces, island))
        return 0;
    if (island->declined != NULL)
        return 1;
    guessFromBare(bare, island);
    solveBlocks(world, surfaces, island, spragTimeLeft(seconds, begin));
    if (bare->rests)
        spragEchoFind(world, bare, island);
    island->calmed = rests ? spragBareCalmed(island, bare->greedy.creep) : 0;
    return 1;
}

int spragIslandSolve(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island, double seconds)
{
    if (island->bare != NULL)
        return solveBare(world, surfaces, island, seconds);
    const spragBlock *const block = island->block;
    double *const guess = spragEchoKeep(world, island);
    solveBlocks(world, surfaces, island, seconds);
    if (guess != NULL && block == island->block)
        spragEchoFindFew(world, guess, island);
    return 1;
}
