#include "ode/matrix/delassus.h"

#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "linalg/quad.h"
#include "ode/joints/articulation.h"
#include "ode/joints/links.h"
#include "ode/joints/surge.h"
#include "ode/matrix/conflict.h"
#include "ode/matrix/delassus_pattern.h"
#include "ode/matrix/matrix_free.h"
#include "problem/residual.h"

/* ---------------------------------------------------------------- values */

/* out (rows are quads) = sum over shared dynamic bodies of J_k (M^-1 J_l^T) */
SPRAG_QUAD_INLINE void coupleBodies(const spragSnapshot *s, const spragIsland *island, int k, int l, spragQuad out[3])
{
    const spragBlock *p = &island->block[k], *q = &island->block[l];
    for (int i = 0; i < 3; ++i)
        out[i] = (spragQuad){0};
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) {
            if (p->body[a] != q->body[b] || !spragIsDynamic(s, p->body[a]))
                continue;
            const spragQuad *Y = island->Y[l][b];
            for (int i = 0; i < 3; ++i) {
                const double *J = p->J[a][i];
                out[i] += (J[0] * Y[0] + J[1] * Y[1] + J[2] * Y[2]) + (J[3] * Y[3] + J[4] * Y[4] + J[5] * Y[5]);
            }
        }
}

/* W (3x3) of quads.  (The last number of a row's quad is of the next row, which is written then; not so behind W.) */
SPRAG_QUAD_INLINE void putRows(const spragQuad row[3], double W[9])
{
    *(spragQuadLoose *)W = row[0], *(spragQuadLoose *)(W + 3) = row[1];
    memcpy(W + 6, &row[2], 3 * sizeof *W);
}

/* Contacts with mu = infinity can ask for what no motion gives (three points of one body held against three that part).
 * With a compliance of this share of W the answer is the least violation, with finite forces, and soften.c tells of it;
 * a resting contact creeps by it at far below rounding's 1e-12 m/s.  W is here the mean over the rows of the block.
 * (Not each row's own: a joint may hold one of them, and a share of the little that is left there, in two contacts that
 * a hinge holds along its axis, let impulses grow to 1e11 N s.) */
#define INFINITE_MU_COMPLIANCE 1e-11

static int isHeld(const spragBlock *block)
{
    return block->kind == SPRAG_BLOCK_BOX && block->part == SPRAG_PART_CONTACT;
}

/* The diagonal block: symmetric to the bit, compliance added, empty rows given the mean of the others. */
void spragDelassusDiagonal(const spragBlock *block, double W[9])
{
    double mean = 0;
    int used = 0;
    for (int i = 0; i < 3; ++i) {
        W[4 * i] += block->compliance[i];
        for (int j = 0; j < i; ++j)
            W[3 * i + j] = W[3 * j + i];
        if (!block->unused[i]) {
            mean += W[4 * i];
            ++used;
        }
    }
    mean = used > 0 && mean > 0 ? mean / used : 1;
    for (int i = 0; i < 3; ++i)
        if (block->unused[i] || (block->locked >> i & 1))
            W[4 * i] = mean;
        else if (i > 0)
            W[4 * i] += isHeld(block) * INFINITE_MU_COMPLIANCE * mean;
}

double spragDelassusYield(const spragBlock *block, const double W[9])
{
    return isHeld(block) * INFINITE_MU_COMPLIANCE * (W[0] + W[4] + W[8]) / 3;
}

/* ---------------------------------------------------------------- rows that joints hold */

/* Joints hold a row if they leave no more than rounding, this share, of its free mobility: no force moves it, however
 * large.  A contact whose normal row is held bears nothing: it is set aside (spragBlock.locked), but for friction that
 * no load limits.  Friction in a joint is set aside too if other joints hold the joint and nothing drives it: any
 * torque would do, up to a bound that follows from the load, which the torque itself makes.  (Rounding chose +-bound,
 * loads grew a hundredfold in a step, and bodies ended at 1e9 m/s.)  If a motor turns the joint, its friction
 * brakes. */
#define LOCKED 1e-13
#define STILL 1e-6 /* m/s */

/* The rows of a block that are set aside with its normal, as bits. */
static int setAside(const spragBlock *block)
{
    switch (block->kind) {
    case SPRAG_BLOCK_BOX:
        return block->part == SPRAG_PART_ACROSS;
    case SPRAG_BLOCK_ROLLING:
        return 0;
    case SPRAG_BLOCK_FORCE_LIMIT:
        return 1;
    default:
        return 7;
    }
}

/* Is a motor or a kinematic body driving the island's joints?  Then what they hold may turn, and not only by a
 * correction of position. */
static int isDriven(const spragSnapshot *s, const spragIsland *island)
{
    for (int e = 0; e < island->row_count; ++e) {
        const spragEqualityRow *row = &island->row[e];
        if ((spragRowDrives(row) && row->rhs != 0) || spragSurgeGiven(s, row->body, row->J[0], row->J[1]) != 0)
            return 1;
    }
    return 0;
}

/* Those of the `locked` rows of turning friction that nothing turns, as bits.  (q: of the motion with the joints.) */
static int restingRows(const spragSnapshot *s, const spragIsland *island, int k, int locked, int driven)
{
    const spragBlock *block = &island->block[k];
    double q[3], b = 0;
    int rows = 0;
    for (int i = 0; i < 3; ++i)
        q[i] = block->free_velocity[i] + s->step * block->product[i] - block->rhs[i];
    spragArticulationShift(island, k, q, &b);
    for (int i = 0; i < 3; ++i)
        rows |= ((locked >> i & 1) && (!driven || fabs(q[i]) <= STILL)) << i;
    return rows;
}

/* What joints leave of the motion of each block. */
typedef struct Mobility {
    unsigned char *locked; /* (nc) bits of the rows locked */
    double *trace;         /* (nc) without joints, 1/kg */
    double (*free)[3];     /* (nc) the diagonal without joints; J M^-1 J^T with them */
    double (*own)[9];
} Mobility;

typedef struct Owning {
    const spragSnapshot *snapshot;
    const spragIsland *island;
    Mobility *mobility;
} Owning;

/* Without joints, and with them. */
SPRAG_QUAD_INLINE void moveOwn(const Owning *owning)
{
    for (int k = 0; k < owning->island->block_count; ++k) {
        spragQuad W[3];
        coupleBodies(owning->snapshot, owning->island, k, k, W);
        for (int i = 0; i < 3; ++i)
            owning->mobility->free[k][i] = W[i][i];
        spragArticulationCoupleQuads(owning->island, k, k, W);
        putRows(W, owning->mobility->own[k]);
    }
}

SPRAG_QUAD_CLONES(moveAll, moveOwn, const Owning)

/* 0: no memory. */
static int makeMobility(struct spragWorld *world, spragIsland *island, Mobility *mobility)
{
    const int n = island->block_count, driven = isDriven(&world->snapshot, island);
    unsigned char *locked = mobility->locked = SPRAG_TAKE(&island->lane->arena, unsigned char, n);
    double *numbers = SPRAG_TAKE_RAW(&island->lane->arena, double, 13 * n);
    if (locked == NULL || numbers == NULL)
        return 0;
    mobility->trace = numbers;
    mobility->free = (double(*)[3])(numbers + n);
    mobility->own = (double(*)[9])(numbers + 4 * (size_t)n);
    moveAll(&(Owning){&world->snapshot, island, mobility});
    for (int k = 0; k < n; ++k) {
        spragBlock *block = &island->block[k];
        const double *W = mobility->own[k], *free = mobility->free[k];
        for (int i = 0; i < 3; ++i)
            locked[k] |= (unsigned char)((!block->unused[i] && W[4 * i] <= LOCKED * free[i]) << i);
        if (block->part == SPRAG_PART_TURNING)
            block->locked = (unsigned char)restingRows(&world->snapshot, island, k, locked[k], driven);
        else
            block->locked = (locked[k] & 1) && !(block->compliance[0] > 0) ? (unsigned char)setAside(block) : 0;
        locked[k] |= block->locked;
        mobility->trace[k] = free[0] + free[1] + free[2];
    }
    return 1;
}

static void clearLocked(int rows, int columns, double W[9])
{
    for (int i = 0; i < 9; ++i)
        if ((rows >> i / 3 & 1) || (columns >> i % 3 & 1))
            W[i] = 0;
}

/* ---------------------------------------------------------------- what W is made of */

/* Blocks of an island whose joints the solver is told of.  Fewer are as cheap in the space of contacts, where impulses
 * that grow without bound, because two walls squeeze a body, are seen sooner. */
enum { TOLD_LEAST = 61 };

typedef struct Naming {
    const spragSnapshot *snapshot;
    const spragIsland *island;
    spragMass *mass;
    int *of;
} Naming;

static void massRange(void *data, int range, int first, int end)
{
    (void)range;
    const Naming *naming = data;
    for (int i = first; i < end; ++i) {
        const spragBodyState *body = &naming->snapshot->body[naming->island->body[i]];
        spragMass *mass = &naming->mass[i];
        mass->mass = body->mass, mass->inverse_mass = body->inverse_mass;
        memcpy(mass->inertia, body->inertia, sizeof mass->inertia);
        memcpy(mass->inverse_inertia, body->inverse_inertia, sizeof mass->inverse_inertia);
    }
}

static void ofRange(void *data, int range, int first, int end)
{
    (void)range;
    const Naming *naming = data;
    const spragSnapshot *s = naming->snapshot;
    for (int i = 2 * first; i < 2 * end; ++i) {
        const int body = naming->island->problem.body[i];
        naming->of[i] = spragIsDynamic(s, body) ? s->body[body].number : -1;
    }
}

int spragDelassusTell(struct spragWorld *world, spragIsland *island)
{
    const int n = island->block_count, linked = island->row_count > 0;
    island->problem.bodies = island->problem.linked = NULL;
    if (n < TOLD_LEAST)
        return 1;
    spragMass *mass = SPRAG_TAKE_RAW(&island->lane->arena, spragMass, island->body_count);
    int *of = SPRAG_TAKE_RAW(&island->lane->arena, int, 2 * n);
    if (mass == NULL || of == NULL || (linked && !spragLinksMake(&world->snapshot, island)))
        return 0;
    Naming naming = {&world->snapshot, island, mass, of};
    spragRangesRun(island->body_count, massRange, &naming);
    spragRangesRun(n, ofRange, &naming);
    _Static_assert(sizeof(spragBlock) % sizeof(double) == 0, "J of the next block is whole numbers away");
    island->bodies = (spragBodies){.count = island->body_count,
                                   .mass = mass,
                                   .of = of,
                                   .J = &island->block[0].J[0][0][0],
                                   .compliance = island->block[0].compliance,
                                   .stride = sizeof(spragBlock) / sizeof(double),
                                   .memo = !linked && island == world->largest ? &world->memo : NULL,
                                   .links = linked ? &island->links : NULL};
    *(linked ? &island->problem.linked : &island->problem.bodies) = &island->bodies;
    return 1;
}

typedef struct Values {
    const spragSnapshot *snapshot;
    spragIsland *island;
    double *W;
    const unsigned char *locked; /* (nc) of islands with joints: bits of held rows; else NULL */
    const double (*mobile)[9];   /* (nc) the same: J M^-1 J^T with the joints; else NULL */
    double *own;                 /* (nc x 3 x 3) what the diagonal blocks are before anything is added; or NULL */
    int *next;                   /* (nc) if rows are filled in order: entries of each row filled so far; else NULL */
} Values;

/* The entry of W_lk, k <= l. */
static int entryOf(const Values *values, int l, int k)
{
    const spragProblem *problem = &values->island->problem;
    return values->next != NULL ? problem->row_start[l] + values->next[l] : spragProblemBlock(problem, l, k);
}

typedef struct ValueRange {
    const Values *values;
    int first, end;
} ValueRange;

/* Fills the diagonal of block rows first .. end - 1, what is right of it, and the mirror images of that below. */
SPRAG_QUAD_INLINE void fillBlocks(const ValueRange *range)
{
    const Values *values = range->values;
    spragIsland *island = values->island;
    for (int k = range->first; k < range->end; ++k) {
        for (int e = entryOf(values, k, k); e < island->problem.row_start[k + 1]; ++e) {
            const int l = island->problem.column[e];
            double *block = values->W + 9 * (size_t)e, *mirror = values->W + 9 * (size_t)entryOf(values, l, k);
            if (values->next != NULL)
                ++values->next[l];
            if (l == k && values->mobile != NULL) {
                memcpy(block, values->mobile[k], 9 * sizeof *block);
            } else {
                spragQuad rows[3];
                coupleBodies(values->snapshot, island, k, l, rows);
                if (values->locked != NULL)
                    spragArticulationCoupleQuads(island, k, l, rows);
                putRows(rows, block);
            }
            if (values->locked != NULL && (values->locked[k] | values->locked[l]) != 0)
                clearLocked(values->locked[k], values->locked[l], block);
            if (l == k && values->own != NULL)
                memcpy(values->own + 9 * (size_t)k, block, 9 * sizeof *block);
            if (l == k)
                spragDelassusDiagonal(&island->block[k], block);
            for (int i = 0; i < 3 && l != k; ++i)
                for (int j = 0; j < 3; ++j)
                    mirror[3 * j + i] = block[3 * i + j];
        }
    }
}

SPRAG_QUAD_CLONES(fill, fillBlocks, const ValueRange)

static void fillRows(void *data, int range, int first, int end)
{
    (void)range;
    fill(&(ValueRange){data, first, end});
}

/* How many times cheaper than a product with W one by reaches (problem/reaches.h) must be, */
#define REACHES_PAY 2       /* to be used in its place, */
#define REACHES_PAY_FREE 4  /* without joints (walls have 3 to 4, and gain nothing; what lies on one body gains), */
#define LEAN_PAYS 4         /* and for W not even to be made; */
#define LEAN_PAYS_LIMITED 2 /* the same under a time limit: heaps of ragdolls are swept three times as fast with W */

#define SECONDS_PER_PRODUCT 1e-9 /* s: a block of W takes half as many of these as a product by reaches has a block */
#define LEAN_SHARE 0.05          /* of the time limit of a step, that W may take, where it saves products; */
#define LEAN_SHARE_MOST 0.5      /* anyhow, */
#define ROWS_DENSE 100           /* blocks of a row of W, from which on sweeps without it take less than to make it */
enum { LEAN_LEAST = 201 }; /* blocks; for fewer release.c asks whether there is a solution at all, which takes W */

/* Would W, with so many blocks, of an island with joints take too much of the step's time, or more than it is worth? */
static int isCostly(const struct spragWorld *world, const spragIsland *island, double entries)
{
    const double limit = world->config.time_limit;
    if (world->config.solver != SPRAG_SOLVER_AUTO || island->row_count == 0 || island->block_count < TOLD_LEAST ||
        entries > SPRAG_PATTERN_MOST) /* more do not fit, and the island is rescued */
        return 0;
    const double price = spragReachesPrice(island), row = entries / island->block_count;
    const double seconds = SECONDS_PER_PRODUCT * row * price;
    return limit > 0 ? (seconds > LEAN_SHARE * limit && LEAN_PAYS_LIMITED * price < entries) ||
                           (seconds > LEAN_SHARE_MOST * limit && row > ROWS_DENSE)
                     : island->block_count >= LEAN_LEAST && LEAN_PAYS * price < entries;
}

/* A product by reaches takes so many products of 3x3 blocks a block, or W is made at once: where few joints are reached
 * it is cheap (walls of which each course alone is joined took 1.1 to 1.6 times the step without it). */
#define REACHES_WAIT 60

/* May an island with joints do with its guess?  To judge that is one product, which takes no W.  (Not under a time
 * limit: where the guess is far the time for both is not there.) */
static int mayKeepGuess(const struct spragWorld *world, const spragIsland *island)
{
    return !(world->config.time_limit > 0) && island->row_count > 0 && island->block_count >= TOLD_LEAST &&
           spragReachesPrice(island) > REACHES_WAIT * island->block_count && spragMatrixFreeRests(world, island);
}

/* Do products go by reaches, whether there is a W or not? */
static int reachesPay(const spragIsland *island, double entries)
{
    const double pay = island->row_count > 0 ? REACHES_PAY : REACHES_PAY_FREE;
    return island->block_count >= TOLD_LEAST && pay * spragReachesPrice(island) < entries;
}

/* Are methods without W tried first?  (Not where a wedge was found, or is to be looked for, which takes W; nor where
 * friction is infinite, as the try misses too often: 25 boxes that stick to a board took 1.4 to 2.2 times as long; nor
 * under a time limit, where the time for both is not there, and nothing is gained.) */
static int mayDoWithout(const struct spragWorld *world, const spragIsland *island, double entries)
{
    return !(world->config.time_limit > 0) && world->config.solver == SPRAG_SOLVER_AUTO &&
           entries <= SPRAG_PATTERN_MOST && island->wedge.speed == 0 && !island->before.wedged &&
           island->before.doubt == 0 && !island->matrix.tried && reachesPay(island, entries) &&
           !spragHasInfinite(island);
}

/* What has to fail before W is made (spragWaits), and whether it is left out till then (lean).  entries: of W. */
static void chooseWait(struct spragWorld *world, spragIsland *island, double entries)
{
    const int costly = !island->matrix.whole && isCostly(world, island, entries);
    island->matrix.waits = SPRAG_WAITS_NOT;
    if (!island->matrix.whole && !costly)
        island->matrix.waits = mayKeepGuess(world, island)            ? SPRAG_WAITS_FOR_GUESS
                               : mayDoWithout(world, island, entries) ? SPRAG_WAITS_FOR_TRY
                                                                      : SPRAG_WAITS_NOT;
    island->matrix.lean = costly || island->matrix.waits;
}

/* Products by the joints that each block reaches (problem/reaches.h).  0: no memory. */
static int makeReaches(spragIsland *island, const Mobility *mobility, double entries)
{
    if (!spragReachesMake(island, mobility->locked, mobility->trace))
        return 0;
    island->reaches.whole = !island->matrix.lean;
    island->reaches.entries = entries;
    island->bodies.reaches = &island->reaches;
    return 1;
}

int spragDelassusMake(struct spragWorld *world, spragIsland *island)
{
    const int count = island->block_count;
    spragAdjacency adjacency;
    if (!spragAdjacencyMake(world, island, &adjacency))
        return 0;
    const size_t entries = spragPatternBound(island, &adjacency);
    chooseWait(world, island, (double)entries);
    if (!(island->matrix.lean ? spragPatternMakeDiagonal(island) : spragPatternMake(island, &adjacency, entries)) ||
        !spragDelassusTell(world, island))
        return 0;
    if (island->declined != NULL)
        return 1;
    double *W = SPRAG_TAKE_RAW(&island->lane->arena, double, 9 * (size_t)island->problem.block_count);
    const int jointed = island->articulation_count > 0, linked = island->problem.linked != NULL;
    Mobility mobility = {0};
    const int told = linked || island->problem.bodies != NULL;
    const int reaches = told && (island->matrix.lean || reachesPay(island, island->problem.block_count));
    const int owns = linked || reaches;
    double *own = owns ? SPRAG_TAKE_RAW(&island->lane->arena, double, 9 * count) : NULL;
    int *next = jointed ? SPRAG_TAKE(&island->lane->scratch, int, count) : NULL;
    if (W == NULL || (jointed && (!makeMobility(world, island, &mobility) || next == NULL)) || (owns && own == NULL))
        return 0;
    if (reaches && !makeReaches(island, &mobility, (double)entries))
        return 0;
    island->bodies.own = own;
    Values values = {&world->snapshot, island, W, mobility.locked, (const double(*)[9])mobility.own, own, next};
    if (jointed) /* not by ranges: coupling by joints uses memory that threads would share */
        fillRows(&values, 0, 0, count);
    else
        spragRangesRun(count, fillRows, &values);
    island->problem.W = island->W = W;
    return 1;
}
