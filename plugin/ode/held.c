#include "ode/held.h"

#include <string.h>

#include "linalg/ldlt.h"
#include "linalg/vec3.h"
#include "ode/bearing.h"

/* The factor is dense outside its envelope: a crowd of more motors than this in one island is taken as limp. */
enum { HELD_MAX = 1024 };

typedef struct Held {
    int count;
    int *number;       /* (3 block_count) place of a row among the held ones, or -1 */
    int *first;        /* (count) envelope */
    double *L, *pivot; /* (count x count), (count) inverse pivots */
    double *Z;         /* (count x 3) L^-1 W_Bk */
} Held;

static int holds(const struct spragWorld *world, const spragIsland *island, int k, int row)
{
    const spragBlock *block = &island->block[k];
    const double r = island->r[3 * k + row];
    if (block->unused[row])
        return 0;
    if (block->part == SPRAG_PART_TURNING)
        return world->snapshot.joint[block->joint].bearing->stuck > 0;
    return block->part == SPRAG_PART_JOINT && island->bound[6 * k + row] < r && r < island->bound[6 * k + 3 + row];
}

static int countHeld(const struct spragWorld *world, const spragIsland *island, int *number)
{
    int count = 0;
    for (int k = 0; k < island->block_count; ++k)
        for (int row = 0; row < 3; ++row)
            number[3 * k + row] = holds(world, island, k, row) ? count++ : -1;
    return count;
}

/* W_BB, lower triangle. */
static void fill(const spragProblem *p, Held *held)
{
    for (int k = 0; k < p->contact_count; ++k)
        for (int i = 0; i < 3; ++i) {
            const int a = held->number[3 * k + i];
            if (a < 0)
                continue;
            held->first[a] = a;
            for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
                for (int j = 0; j < 3; ++j) {
                    const int b = held->number[3 * p->column[e] + j];
                    if (b < 0 || b > a)
                        continue;
                    held->L[a * held->count + b] = p->W[9 * e + 3 * i + j];
                    if (b < held->first[a])
                        held->first[a] = b;
                }
        }
}

static void reduce(const spragProblem *p, const double *r, int k, Held *held, spragContactHistory *history)
{
    int top = held->count;
    memset(held->Z, 0, 3 * (size_t)held->count * sizeof *held->Z);
    for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
        for (int j = 0; j < 3; ++j) {
            const int b = held->number[3 * p->column[e] + j];
            if (b < 0)
                continue;
            for (int i = 0; i < 3; ++i)
                held->Z[3 * b + i] = p->W[9 * e + 3 * i + j];
            if (b < top)
                top = b;
        }
    spragLdltForward(held->count, held->first, held->L, 3, top, held->Z);
    for (int b = top; b < held->count; ++b)
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                history->held[3 * i + j] += held->Z[3 * b + i] * held->pivot[b] * held->Z[3 * b + j];
    history->free_acceleration += spragDot3(history->held, r + 3 * k) / p->step;
}

int spragHeldReduce(const struct spragWorld *world, const spragIsland *island, spragContactHistory *history)
{
    const spragProblem *p = &island->problem;
    int joints = 0;
    for (int k = 0; k < island->block_count; ++k)
        joints += island->block[k].part == SPRAG_PART_JOINT || island->block[k].part == SPRAG_PART_TURNING;
    if (joints == 0)
        return 1;
    Held held = {.number = SPRAG_TAKE(&island->lane->arena, int, 3 * island->block_count)};
    if (held.number == NULL)
        return 0;
    held.count = countHeld(world, island, held.number);
    if (held.count == 0 || held.count > HELD_MAX)
        return 1;
    held.first = SPRAG_TAKE(&island->lane->arena, int, held.count);
    held.L = SPRAG_TAKE(&island->lane->arena, double, held.count *held.count);
    held.pivot = SPRAG_TAKE(&island->lane->arena, double, held.count);
    held.Z = SPRAG_TAKE(&island->lane->arena, double, 3 * held.count);
    if (!held.first || !held.L || !held.pivot || !held.Z)
        return 0;
    fill(p, &held);
    spragLdltFactor(held.count, held.first, held.L, held.pivot);
    for (int k = 0; k < island->block_count; ++k)
        if (island->block[k].part == SPRAG_PART_CONTACT)
            reduce(p, island->r, k, &held, &history[k]);
    return 1;
}
