#include "ode/matrix/accord.h"

#include <math.h>
#include <string.h>

#include "linalg/ldlt.h"
#include "problem/residual.h"
#include "solve/newton/tangent.h"

enum {
    BLOCKS_MOST = 100, /* of 60 to 100 bricks that a ball scatters take half of the time; more are hurried (heap.h) */
    GLUED_MOST = 2000, /* where friction of all is infinite, */
    FULL = 24,         /* and up to so many of these by a full matrix, as all others */
    ROUNDS = 3         /* the CFM is some 1e-9 of W: after two of them it leaves 20 N s */
};
#define SHARE 1e-6
#define PRICE_MOST 1e7 /* products of 3x3 blocks, of a factorisation */
#define STEEP 2        /* up to it a quarter of the time is gained, and less comes to rest */

/* Of the rows of all blocks; W + D by one of two ways. */
typedef struct Accord {
    const spragProblem *problem;
    double *asked;         /* (3 block_count) m/s, of the contacts that agree, else 0 */
    double *b, *y, *D;     /* (3 block_count) m/s, N s, 1/kg */
    int found;             /* 1: b is what they agree on; else none agree */
    double *A;             /* (3 block_count)^2, in the end L; NULL: among bodies */
    int *first;            /* (3 block_count) the column of its first number */
    double *inverse_pivot; /* (3 block_count) */
    spragTangent tangent;  /* among bodies */
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
                island->block_count <= (spragProblemIsGlued(&island->problem) ? GLUED_MOST : BLOCKS_MOST) &&
                island->greedy == NULL && !island->matrix.loose && !spragProblemIsLean(&island->problem);
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

/* 1; 0: no memory; -1: it costs too much.  (A full matrix is exact to the last digits, as factors among bodies are,
 * refined; where those among contacts cost less they are not, and walls of mu = 50 are missed twice as often.) */
static int take(Accord *a, const spragIsland *island)
{
    spragArena *arena = &island->lane->arena;
    const size_t n = 3 * (size_t)island->block_count;
    double *rows = SPRAG_TAKE_RAW(arena, double, 5 * n);
    *a = (Accord){.problem = &island->problem};
    if (rows == NULL)
        return 0;
    a->asked = rows, a->b = rows + n, a->y = rows + 2 * n, a->D = rows + 3 * n, a->inverse_pivot = rows + 4 * n;
    if (island->block_count > FULL && spragProblemIsGlued(a->problem)) {
        const int found = spragTangentInit(&a->tangent, a->problem, NULL, SPRAG_TANGENT_BODIES, PRICE_MOST, arena);
        if (found >= 0 || island->block_count > BLOCKS_MOST)
            return found;
    }
    a->A = SPRAG_TAKE(arena, double, n *n);
    a->first = SPRAG_TAKE(arena, int, n);
    return a->A != NULL && a->first != NULL;
}

/* D, and b. */
static void ask(Accord *a, const spragIsland *island)
{
    const spragProblem *p = a->problem;
    for (int k = 0; k < p->contact_count; ++k) {
        const double *W = p->W + 9 * (size_t)spragProblemDiagonal(p, k);
        for (int i = 0; i < 3; ++i) {
            a->D[3 * k + i] = SHARE * (W[0] + W[4] + W[8]) / 3;
            a->asked[3 * k + i] = a->b[3 * k + i] = agrees(island, k) ? askedOf(&island->block[k], i, p->step) : 0;
        }
    }
}

/* W + D of the contacts that agree, the identity of the others, as a full matrix. */
static void fillRows(Accord *a, const spragIsland *island)
{
    const spragProblem *p = a->problem;
    const size_t n = 3 * (size_t)p->contact_count;
    for (int k = 0; k < p->contact_count; ++k)
        for (int i = 0; i < 3; ++i) {
            const size_t row = 3 * (size_t)k + (size_t)i;
            a->first[row] = agrees(island, k) ? 0 : (int)row;
            a->A[row * (n + 1)] = 1;
            for (int e = p->row_start[k]; e < p->row_start[k + 1] && agrees(island, k); ++e)
                if (agrees(island, p->column[e]))
                    memcpy(a->A + row * n + 3 * (size_t)p->column[e], p->W + 9 * (size_t)e + 3 * i, 3 * sizeof *a->A);
            a->A[row * (n + 1)] += agrees(island, k) ? a->D[row] : 0;
        }
}

/* The same as equations among bodies. */
static void fillBlocks(Accord *a, const spragIsland *island)
{
    for (int k = 0; k < a->problem->contact_count; ++k) {
        const int alike = agrees(island, k);
        a->tangent.soft[k] = a->D[3 * k];
        for (size_t i = 0; i < 3; ++i) {
            a->tangent.A[9 * (size_t)k + 4 * i] = alike ? 0 : a->D[3 * k] / SHARE;
            a->tangent.B[9 * (size_t)k + 4 * i] = alike;
        }
    }
}

/* 0: singular. */
static int factor(Accord *a, const spragIsland *island)
{
    if (a->A == NULL) {
        fillBlocks(a, island);
        return spragTangentFactor(&a->tangent);
    }
    fillRows(a, island);
    spragLdltFactor(3 * island->block_count, a->first, a->A, a->inverse_pivot);
    return 1;
}

/* b <- b - D (W + D)^-1 b = W (W + D)^-1 b */
static void filter(Accord *a)
{
    const int n = 3 * a->problem->contact_count;
    memcpy(a->y, a->b, (size_t)n * sizeof *a->y);
    if (a->A == NULL) {
        spragTangentSolve(&a->tangent, a->y);
    } else {
        spragLdltForward(n, a->first, a->A, 1, 0, a->y);
        for (int i = 0; i < n; ++i)
            a->y[i] *= a->inverse_pivot[i];
        spragLdltBackward(n, a->first, a->A, a->y);
    }
    for (int i = 0; i < n; ++i)
        a->b[i] -= a->D[i] * a->y[i];
}

/* Fills a.  0: no memory. */
static int findAccord(Accord *a, const spragIsland *island)
{
    const int taken = take(a, island);
    if (taken <= 0)
        return taken < 0;
    ask(a, island);
    a->found = factor(a, island);
    for (int round = 0; round < ROUNDS && a->found; ++round)
        filter(a);
    return 1;
}

/* m/s, of what row i is asked for */
static double changeOf(const Accord *a, int i)
{
    return a->found ? a->b[i] - a->asked[i] : 0;
}

/* The greatest change, m/s. */
static double greatest(const Accord *a, const spragIsland *island)
{
    double most = 0;
    for (int i = 0; i < 3 * island->block_count; ++i)
        most = fmax(most, fabs(changeOf(a, i)));
    return most;
}

double spragAccordApart(const spragIsland *island)
{
    spragArena *arena = &island->lane->arena;
    Accord a;
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
            const double change = changeOf(a, 3 * k + i);
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
    Accord a;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const int ready = findAccord(&a, island);
    island->accord.made = ready;
    island->accord.apart = ready ? greatest(&a, island) : 0;
    if (ready && a.found) {
        give(&a, island);
        island->accord.wanted = 1;
    }
    spragArenaRelease(arena, mark);
    return ready;
}
