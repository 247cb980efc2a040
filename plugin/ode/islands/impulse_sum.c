#include "ode/islands/impulse_sum.h"

#include "base/pool.h"
#include "ode/rows/joint_blocks.h"
#include "ode/rows/rows.h"

static spragBodyState *movingBody(spragSnapshot *s, int body)
{
    return spragIsDynamic(s, body) ? &s->body[body] : NULL;
}

/* Adds the impulse of block k on one of its bodies. */
static void addImpulse(const spragIsland *island, int k, int side, spragBodyState *to)
{
    for (int row = 0; row < 3 && to != NULL; ++row)
        for (int i = 0; i < 6; ++i)
            to->impulse[i] += island->block[k].J[side][row][i] * island->r[3 * k + row];
}

typedef struct Impulses {
    spragSnapshot *snapshot;
    const spragIsland *island;
} Impulses;

/* Sums up the impulses on bodies first .. end - 1, those of each body in the order of the blocks. */
static void sumRange(void *data, int range, int first, int end)
{
    (void)range;
    const Impulses *impulses = data;
    const spragIsland *island = impulses->island;
    for (int i = first; i < end; ++i)
        for (int l = island->on_start[i]; l < island->on_start[i + 1]; ++l) {
            const int k = island->on[l], side = island->block[k].body[0] == island->body[i] ? 0 : 1;
            addImpulse(island, k, side, &impulses->snapshot->body[island->body[i]]);
        }
}

void spragImpulseSum(spragSnapshot *s, const spragIsland *island)
{
    const int bodily = island->on_start != NULL && island->row_count == 0; /* every group is one body */
    if (bodily)
        spragRangesRun(island->body_count, sumRange, &(Impulses){s, island});
    for (int k = 0; k < island->block_count && !bodily; ++k)
        for (int side = 0; side < 2; ++side)
            addImpulse(island, k, side, movingBody(s, island->block[k].body[side]));
    for (int e = 0; e < island->row_count; ++e) {
        const spragEqualityRow *row = &island->row[e];
        for (int side = 0; side < 2; ++side) {
            spragBodyState *to = movingBody(s, row->body[side]);
            for (int i = 0; i < 6 && to != NULL; ++i)
                to->impulse[i] += row->J[side][i] * row->impulse;
        }
    }
}
