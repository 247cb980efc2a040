#include "ode/matrix/accord.h"

#include <math.h>
#include <string.h>

#include "linalg/ldlt.h"
#include "problem/residual.h"

enum {
    BLOCKS_MOST = 100, /* of 60 to 100 bricks that a ball scatters take half of the time; more are hurried (heap.h) */
    ROUNDS = 3         /* the CFM is some 1e-9 of W: after two of them it leaves 20 N s */
};
#define SHARE 1e-6
#define STEEP 2 /* up to it a quarter of the time is gained, and less comes to rest */

/* The rows of the contacts: b, and W + D. */
typedef struct Accord {
    const spragProblem *problem;
    const spragBlock *block;
    int count;             /* of rows */
    int *at;               /* (block_count) row of a contact, or -1 */
    int *first;            /* (count) 0: W is full */
    double *A;             /* (count x count), in the end L */
    double *inverse_pivot; /* (count) */
    double *D, *b, *y;     /* (count) 1/kg, m/s, N s */
} Accord;

/* The coefficient of contact k; -1: it is something else, or its friction is bounded as a force. */
static double frictionOf(const spragIsland *island, int k)
{
    const spragBlock *block = &island->block[k];
    if (block->part != SPRAG_PART_CONTACT)
        return -1;
    if (block->kind == SPRAG_BLOCK_CONTACT)
        return block->mu;
    const double *bound = island->bound + 6 * (size_t)k;
    return block->kind == SPRAG_BLOCK_BOX && (block->parts || isinf(bound[4]) || isinf(bound[5])) ? INFINITY : -1;
}

int spragAccordSuits(const spragIsland *island)
{
    int suits = !island->accord.made && !island->accord.vain && island->block_count > 1 &&
                island->block_count <= BLOCKS_MOST && island->greedy == NULL && !island->matrix.loose &&
                !spragProblemIsLean(&island->problem);
    double most = 0;
    for (int k = 0; k < island->block_count && suits; ++k) {
        const spragBlock *block = &island->block[k];
        const double mu = frictionOf(island, k);
        suits = mu >= 0 || block->part == SPRAG_PART_ROLLING || block->part == SPRAG_PART_JOINT;
        most = fmax(most, mu);
    }
    return suits && most > STEEP;
}

static int agrees(const spragIsland *island, int k)
{
    return frictionOf(island, k) > 0 && !(island->block[k].gap > 0);
}

static double askedOf(const spragBlock *block, int row, double h)
{
    return (row == 0 ? block->correction : 0) - h * block->product[row];
}

static int takeRoom(Accord *a, const spragIsland *island)
{
    spragArena *arena = &island->lane->arena;
    const int blocks = island->block_count;
    a->at = SPRAG_TAKE_RAW(arena, int, blocks);
    if (a->at == NULL)
        return 0;
    for (int k = 0; k < blocks; ++k) {
        a->at[k] = agrees(island, k) ? a->count : -1;
        a->count += a->at[k] < 0 ? 0 : 3;
    }
    if (a->count == 0)
        return 1;
    const size_t n = (size_t)a->count;
    a->first = SPRAG_TAKE(arena, int, n);
    a->A = SPRAG_TAKE(arena, double, n *n);
    double *rows = SPRAG_TAKE_RAW(arena, double, 4 * n);
    if (a->first == NULL || a->A == NULL || rows == NULL)
        return 0;
    a->inverse_pivot = rows, a->D = rows + n, a->b = rows + 2 * n, a->y = rows + 3 * n;
    return 1;
}

static void fill(Accord *a)
{
    const spragProblem *p = a->problem;
    const int n = a->count;
    for (int k = 0; k < p->contact_count; ++k) {
        if (a->at[k] < 0)
            continue;
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
            for (int i = 0; i < 3 && a->at[p->column[e]] >= 0; ++i)
                memcpy(a->A + (a->at[k] + i) * n + a->at[p->column[e]], p->W + 9 * (size_t)e + 3 * i, 3 * sizeof *a->A);
        const double *W = p->W + 9 * (size_t)spragProblemDiagonal(p, k);
        for (int i = 0; i < 3; ++i) {
            const int row = a->at[k] + i;
            a->D[row] = SHARE * (W[0] + W[4] + W[8]) / 3;
            a->A[row * (n + 1)] += a->D[row];
            a->b[row] = askedOf(&a->block[k], i, p->step);
        }
    }
}

/* b <- b - D (W + D)^-1 b = W (W + D)^-1 b */
static void filter(Accord *a)
{
    memcpy(a->y, a->b, (size_t)a->count * sizeof *a->y);
    spragLdltForward(a->count, a->first, a->A, 1, 0, a->y);
    for (int i = 0; i < a->count; ++i)
        a->y[i] *= a->inverse_pivot[i];
    spragLdltBackward(a->count, a->first, a->A, a->y);
    for (int i = 0; i < a->count; ++i)
        a->b[i] -= a->D[i] * a->y[i];
}

/* m/s, of what row i of block k asks for */
static double changeOf(const Accord *a, int k, int i)
{
    return a->at[k] < 0 ? 0 : a->b[a->at[k] + i] - askedOf(&a->block[k], i, a->problem->step);
}

/* Fills a; in the end b is what contacts agree on.  0: no memory. */
static int findAccord(Accord *a, const spragIsland *island)
{
    if (!takeRoom(a, island))
        return 0;
    if (a->count == 0)
        return 1;
    fill(a);
    spragLdltFactor(a->count, a->first, a->A, a->inverse_pivot);
    for (int round = 0; round < ROUNDS; ++round)
        filter(a);
    return 1;
}

/* The greatest change, m/s. */
static double greatest(const Accord *a, const spragIsland *island)
{
    double most = 0;
    for (int k = 0; k < island->block_count; ++k)
        for (int i = 0; i < 3; ++i)
            most = fmax(most, fabs(changeOf(a, k, i)));
    return most;
}

double spragAccordApart(const spragIsland *island)
{
    spragArena *arena = &island->lane->arena;
    Accord a = {.problem = &island->problem, .block = island->block};
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const double apart = findAccord(&a, island) ? greatest(&a, island) : INFINITY;
    spragArenaRelease(arena, mark);
    return apart;
}

static void give(const Accord *a, spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k)
        for (int i = 0; i < 3; ++i) {
            spragBlock *block = &island->block[k];
            const double change = changeOf(a, k, i);
            block->accord[i] = change;
            block->rhs[i] += change;
            island->q[3 * k + i] -= change;
        }
}

void spragAccordTakeBack(spragIsland *island)
{
    for (int k = 0; k < island->block_count; ++k)
        for (int i = 0; i < 3; ++i) {
            island->block[k].rhs[i] -= island->block[k].accord[i];
            island->q[3 * k + i] += island->block[k].accord[i];
        }
    island->accord.vain = 1;
    island->accord.wanted = 0;
}

int spragAccordMake(spragIsland *island)
{
    spragArena *arena = &island->lane->arena;
    Accord a = {.problem = &island->problem, .block = island->block};
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const int ready = findAccord(&a, island);
    island->accord.made = ready;
    island->accord.apart = ready ? greatest(&a, island) : 0;
    if (ready && a.count > 0) {
        give(&a, island);
        island->accord.wanted = 1;
    }
    spragArenaRelease(arena, mark);
    return ready;
}
