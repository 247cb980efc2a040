#include "ode/rows/lead.h"

#include <math.h>

#define SETTLE 0.02 /* s */

/* Did it hold along its normal? */
static int held(const spragBlock *block, const spragContactMemory *record)
{
    const double force = block->part == SPRAG_PART_OPPOSITE ? -record->normal_force : record->normal_force;
    return block->kind == SPRAG_BLOCK_TWO_SIDED || force > 0;
}

void spragLead(spragBlock *block, const spragContactMemory *record, double h)
{
    if (record == NULL || !record->is_guide || !held(block, record))
        return;
    const int rows = block->kind != SPRAG_BLOCK_BOX && record->mode == SPRAG_MODE_STICK ? 3 : 1;
    for (int row = 0; row < rows; ++row) {
        const double half = 0.5 * h * block->product[row], slow = fmax(1 - h / SETTLE, 0);
        const double asked = block->rhs[row] - block->lead[row]; /* a working set that grows comes here again */
        const double left = fmax(fmin(block->velocity[row] - asked, fmax(half, 0)), fmin(half, 0));
        block->lead[row] = half + slow * (left - half);
        block->rhs[row] = asked + block->lead[row];
    }
}
