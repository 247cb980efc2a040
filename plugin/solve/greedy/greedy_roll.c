/* Sweeps with Nesterov's momentum, as greedy_lanes.c has them, of contacts with rolling friction, in double
 * precision. */
#include "solve/greedy/greedy_roll.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

#define MOMENTUM_MOST 0.9

typedef struct RollingSweep {
    spragGreedy *greedy;
    double (*before)[2][4]; /* (body_count) velocities after the sweep before */
    double (*last)[6];      /* (contact_count) r and m after the sweep before */
    double momentum, along; /* along: how much of the change goes along with that since the last sweep */
} RollingSweep;

SPRAG_QUAD_INLINE void sweepRolling(RollingSweep *sweep)
{
    spragGreedy *greedy = sweep->greedy;
    const double momentum = sweep->momentum;
    for (int b = 0; b < greedy->body_count; ++b)
        for (int i = 0; i < 2; ++i) {
            const spragQuad now = SPRAG_ROW(greedy->body[b].velocity[i]);
            SPRAG_ROW_CHANGE(greedy->body[b].velocity[i]) = now + momentum * (now - SPRAG_ROW(sweep->before[b][i]));
            SPRAG_ROW_CHANGE(sweep->before[b][i]) = now;
        }
    sweep->along = 0;
    for (int k = 0; k < greedy->contact_count; ++k) {
        spragGreedyContact *c = &greedy->contact[k];
        spragGreedyRoll *roll = &greedy->roll[k];
        double *last = sweep->last[k], from[6], now[6], twisted;
        memcpy(now, c->r, 3 * sizeof *now);
        memcpy(now + 3, roll->r, 3 * sizeof *now);
        for (int i = 0; i < 6; ++i)
            from[i] = now[i] + momentum * (now[i] - last[i]);
        memcpy(last, now, sizeof now);
        const int *pair = greedy->pair[k];
        spragGreedyVisitFrom(c, &greedy->own[k], roll, &greedy->body[pair[0]], &greedy->body[pair[1]], from, from + 3,
                             &twisted);
        for (int i = 0; i < 3; ++i)
            sweep->along +=
                ((c->r[i] - from[i]) * (c->r[i] - now[i])) * (c->arm[0][3] + c->arm[1][3]) +
                ((roll->r[i] - from[3 + i]) * (roll->r[i] - now[3 + i])) * (roll->weight[0] + roll->weight[1]);
    }
    greedy->visits += greedy->contact_count;
}

SPRAG_QUAD_CLONES(sweepRollingRows, sweepRolling, RollingSweep)

void spragGreedyRollSweep(spragGreedy *greedy, long most, double deadline)
{
    static const double share = 0.9; /* of the visits: the rest is for rounds */
    const long until = greedy->visits + (long)(share * (double)(most - greedy->visits));
    const spragArenaMark mark = spragArenaMarkGet(greedy->arena);
    RollingSweep sweep = {.greedy = greedy,
                          .before = spragArenaTake(greedy->arena, (size_t)greedy->body_count, sizeof *sweep.before),
                          .last = spragArenaTake(greedy->arena, (size_t)greedy->contact_count, sizeof *sweep.last)};
    double t = 1;
    while (sweep.before != NULL && sweep.last != NULL && greedy->visits < until) {
        sweepRollingRows(&sweep);
        if (spragSeconds() > deadline)
            break;
        if (sweep.along < 0)
            t = 1;
        const double next = 0.5 * (1 + sqrt(1 + 4 * t * t));
        sweep.momentum = fmin((t - 1) / next, MOMENTUM_MOST);
        t = next;
    }
    spragArenaRelease(greedy->arena, mark);
    spragGreedySum(greedy);
}
