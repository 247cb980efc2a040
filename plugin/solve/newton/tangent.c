#include "solve/newton/tangent.h"

#include <string.h>

#include "linalg/lu.h"
#include "linalg/quad.h"
#include "problem/reaches.h"
#include "problem/residual.h"
#include "solve/newton/tangent_bodies.h"
#include "solve/solver.h"

/* Of mechanisms, in products of 3x3 blocks: what factorisations of heaps of 6 to 30 ragdolls, 60 to 270 blocks, cost
 * among contacts, of the squares of the lengths of W's rows (0.26 to 0.35 of them), and among bodies at least. */
#define PER_SQUARE 0.4
#define PER_LINK 100

/* Products of 3x3 blocks, some 0.7 ms: a shorter factorisation takes two threads as long as one, or longer. */
#define SHARED 3e5

int spragTangentShare(spragTangent *t, spragPool *pool, spragArena *arena)
{
    return pool == NULL || t->lu.products < SHARED || spragBlockLuShare(&t->lu, pool, arena);
}

/* ---------------------------------------------------------------- the space of contacts */

static int factorDense(spragTangent *t)
{
    const spragProblem *p = t->problem;
    const size_t n = 3 * (size_t)p->contact_count;
    memset(t->dense, 0, n * n * sizeof *t->dense);
    for (size_t row = 0; row < n; ++row)
        for (int e = p->row_start[row / 3]; e < p->row_start[row / 3 + 1]; ++e)
            memcpy(t->dense + row * n + 3 * (size_t)p->column[e], t->matrix + 9 * (size_t)e + 3 * (row % 3),
                   3 * sizeof *t->dense);
    return spragLuFactor((int)n, t->dense, t->pivot, 0) == (int)n;
}

/* Row k of the matrix of an open contact: its diagonal block. */
static void fillOpen(const spragTangent *t, int k)
{
    const spragProblem *p = t->problem;
    const int first = p->row_start[k], end = p->row_start[k + 1];
    memset(t->matrix + 9 * (size_t)first, 0, 9 * (size_t)(end - first) * sizeof *t->matrix);
    for (int e = first; e < end; ++e)
        if (p->column[e] == k)
            memcpy(t->matrix + 9 * (size_t)e, t->A + 9 * (size_t)k, 9 * sizeof *t->matrix);
}

typedef struct BlockRow {
    const double *B, *W;
    double *M; /* out, and one number behind it */
    int count;
} BlockRow;

/* M = B W of the blocks of a row.  The rows of W and M are quads, whose last number is of the row after it: it is
 * written again. */
SPRAG_QUAD_INLINE void multiplyRow(const BlockRow *row)
{
    const double *B = row->B;
    for (int e = 0; e < row->count; ++e) {
        const double *W = row->W + 9 * (size_t)e;
        double *M = row->M + 9 * (size_t)e;
        spragQuad W_row[3];
        spragQuadRows33(W, W_row);
        for (int i = 0; i < 3; ++i)
            *(spragQuadLoose *)(M + 3 * i) = W_row[0] * B[3 * i] + W_row[1] * B[3 * i + 1] + W_row[2] * B[3 * i + 2];
    }
}

SPRAG_QUAD_CLONES(multiply, multiplyRow, const BlockRow)

static int factorContacts(spragTangent *t)
{
    const spragProblem *p = t->problem;
    for (int k = 0; k < p->contact_count; ++k) {
        const double *A = t->A + 9 * (size_t)k, *B = t->B + 9 * (size_t)k;
        if (t->load == NULL && spragTangentIsOpen(B)) {
            fillOpen(t, k);
            continue;
        }
        const size_t first = 9 * (size_t)p->row_start[k];
        multiply(&(BlockRow){B, p->W + first, t->matrix + first, p->row_start[k + 1] - p->row_start[k]});
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
            double *M = t->matrix + 9 * (size_t)e;
            if (p->column[e] == k)
                for (int i = 0; i < 9; ++i)
                    M[i] += A[i] + t->soft[k] * B[i];
            if (t->load != NULL && p->column[e] == t->parent[k])
                for (int i = 0; i < 3; ++i)
                    M[3 * i] += t->load[3 * k + i];
        }
    }
    return t->dense != NULL ? factorDense(t) : spragBlockLuFactor(&t->lu, t->matrix);
}

/* ---------------------------------------------------------------- either */

/* The squares of the lengths of W's rows, in blocks, summed up. */
static double squaresOfRows(const spragProblem *p)
{
    double sum = 0;
    for (int k = 0; k < p->contact_count; ++k) {
        const double d = p->row_start[k + 1] - p->row_start[k];
        sum += d * d;
    }
    return sum;
}

/* The least that a factorisation among contacts can cost.  The d contacts of a body are a clique of their graph: the
 * first to be eliminated has d - 1 neighbours, the next d - 2, and so on.  So it costs at least half the sum over all
 * bodies of 1 + 4 + .. + (d - 1)^2, half since a contact is in two cliques.  Joints make cliques of mechanisms. */
static double contactsLeast(const spragTangent *t, int *count)
{
    const spragBodies *bodies = t->bodies;
    double sum = 0;
    if (bodies->links != NULL)
        return squaresOfRows(t->problem) / 6;
    for (int s = 0; s < 2 * t->problem->contact_count; ++s)
        if (bodies->of[s] >= 0) {
            const double d = ++count[bodies->of[s]];
            sum += 0.5 * (d - 1) * (d - 1);
        }
    return sum;
}

static int analyseContacts(spragTangent *t, double price_most, spragArena *arena)
{
    const spragProblem *p = t->problem;
    t->bodies = NULL;
    const int found = spragBlockLuAnalyse(&t->lu, &(spragBlockPattern){3, p->contact_count, p->row_start, p->column},
                                          price_most, arena);
    if (found <= 0)
        return found;
    t->price = t->lu.products;
    t->matrix = SPRAG_TAKE_RAW(arena, double, 9 * (size_t)p->block_count + 1); /* multiplyRow */
    return t->matrix != NULL;
}

/* 1: every block with a parent is between the same bodies as the parent. */
static int suits(const spragTangent *t, const spragBodies *bodies)
{
    for (int k = 0; k < t->problem->contact_count && t->parent != NULL && bodies != NULL; ++k) {
        const int *of = bodies->of + 2 * (size_t)k;
        const int *its = bodies->of + 2 * (size_t)(t->parent[k] >= 0 ? t->parent[k] : k);
        if (of[0] != its[0] || of[1] != its[1])
            return 0;
    }
    return 1;
}

/* 1: joints hold the bodies, and the graph of bodies is not worth a look. */
static int contactsAreCheap(const spragTangent *t)
{
    const spragProblem *p = t->problem;
    const spragLinks *links = t->bodies->links;
    return links != NULL && PER_SQUARE * squaresOfRows(p) <
                                PER_LINK * (double)links->count + SPRAG_TANGENT_PER_CONTACT * (double)p->contact_count;
}

/* In the cheaper space.  The graph of bodies is far smaller, so it is looked at first. */
static int analyse(spragTangent *t, double price_most, spragArena *arena)
{
    if (t->bodies == NULL)
        return analyseContacts(t, price_most, arena);
    const spragBodies *bodies = t->bodies;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    if (contactsAreCheap(t)) {
        const int found = analyseContacts(t, price_most, arena);
        if (found >= 0)
            return found;
        spragArenaRelease(arena, mark);
        t->bodies = bodies;
    }
    int *count = SPRAG_TAKE(arena, int, bodies->count);
    if (count == NULL)
        return 0;
    const double least = contactsLeast(t, count);
    int found = spragTangentBodiesAnalyse(t, price_most, arena);
    if (found == 0 || (found > 0 && t->price <= least))
        return found;
    const double own = found > 0 ? t->price : price_most;
    spragArenaRelease(arena, mark);
    found = analyseContacts(t, own, arena);
    if (found >= 0)
        return found;
    spragArenaRelease(arena, mark);
    t->bodies = bodies;
    return spragTangentBodiesAnalyse(t, price_most, arena);
}

int spragTangentInit(spragTangent *tangent, const spragProblem *problem, const int *parent, spragTangentSpace space,
                     double price_most, spragArena *arena)
{
    const size_t nc = (size_t)problem->contact_count;
    const int lean = spragProblemIsLean(problem);
    *tangent = (spragTangent){.problem = problem, .parent = parent, .accuracy = SPRAG_TANGENT_REFINED};
    const spragBodies *bodies = problem->bodies != NULL ? problem->bodies : problem->linked;
    tangent->bodies = space != SPRAG_TANGENT_CONTACTS && suits(tangent, bodies) ? bodies : NULL;
    int found = -1;
    if (space != SPRAG_TANGENT_BODIES && !lean)
        found = analyse(tangent, price_most, arena);
    else if (tangent->bodies != NULL)
        found = spragTangentBodiesAnalyse(tangent, price_most, arena);
    if (found <= 0)
        return found;
    tangent->A = SPRAG_TAKE(arena, double, 9 * nc);
    tangent->B = SPRAG_TAKE(arena, double, 9 * nc);
    tangent->soft = SPRAG_TAKE(arena, double, nc);
    tangent->load = parent != NULL ? SPRAG_TAKE(arena, double, 3 * nc) : NULL;
    const int taken = tangent->A != NULL && tangent->B != NULL && tangent->soft != NULL;
    return taken && (parent == NULL || tangent->load != NULL);
}

int spragTangentPivot(spragTangent *tangent, spragArena *arena)
{
    const size_t n = 3 * (size_t)tangent->problem->contact_count;
    if (tangent->bodies != NULL || tangent->dense != NULL)
        return 1;
    tangent->pivot = SPRAG_TAKE_RAW(arena, int, n);
    tangent->dense = tangent->pivot != NULL ? SPRAG_TAKE_RAW(arena, double, n *n) : NULL;
    return tangent->dense != NULL;
}

int spragTangentFactor(spragTangent *tangent)
{
    return tangent->bodies != NULL ? spragTangentBodiesFactor(tangent) : factorContacts(tangent);
}

double spragTangentStep(const spragTangent *tangent)
{
    return tangent->price + SPRAG_TANGENT_PASSES * spragProductPrice(tangent->problem);
}

double spragTangentCharge(const spragTangent *tangent)
{
    return spragTangentStep(tangent) + spragStepOverhead(tangent->problem->contact_count);
}

int spragTangentSign(const spragTangent *tangent)
{
    if (tangent->bodies != NULL)
        return 0;
    return tangent->dense != NULL ? spragLuSign(3 * tangent->problem->contact_count, tangent->dense, tangent->pivot)
                                  : spragBlockLuSign(&tangent->lu);
}

void spragTangentSolve(spragTangent *tangent, double *x)
{
    if (tangent->bodies != NULL)
        spragTangentBodiesSolve(tangent, x);
    else if (tangent->dense != NULL)
        spragLuSolve(3 * tangent->problem->contact_count, tangent->dense, tangent->pivot, x);
    else
        spragBlockLuSolve(&tangent->lu, x);
}
