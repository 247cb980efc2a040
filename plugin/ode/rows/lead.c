#include "ode/rows/lead.h"

#include <math.h>

#define SETTLE 0.02 /* s */

/* Did it hold along its normal? */
static int held(const spragBlock *block, const spragContactMemory *record)
{
    const double force = block->part == SPRAG_PART_OPPOSITE ? -record->normal_force : record->normal_force;
    return block->kind == SPRAG_BLOCK_TWO_SIDED || force > 0;
}

/* What is left after a step of what fades within SETTLE. */
static double fade(double h)
{
    return fmax(1 - h / SETTLE, 0);
}

void spragLead(spragBlock *block, const spragContactMemory *record, double h)
{
    if (record == NULL || !record->is_guide || !held(block, record))
        return;
    const int rows = block->kind != SPRAG_BLOCK_BOX && record->mode == SPRAG_MODE_STICK ? 3 : 1;
    for (int row = 0; row < rows; ++row) {
        const double half = 0.5 * h * block->product[row];
        const double asked = block->rhs[row] - block->lead[row]; /* a working set that grows comes here again */
        const double left = fmax(fmin(block->velocity[row] - asked, fmax(half, 0)), fmin(half, 0));
        block->lead[row] = half + fade(h) * (left - half);
        block->rhs[row] = asked + block->lead[row];
    }
}

double spragLeadLag(const spragBlock *block, double r, double h)
{
    const int holds = block->kind == SPRAG_BLOCK_TWO_SIDED || r > 0;
    return holds ? fade(h) * block->lag + h * (block->lead[0] - 0.5 * h * block->product[0]) : 0;
}
