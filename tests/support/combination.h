/* One combination of a contact state, with everything that spragParadoxEnumerate would give it. */
#ifndef TESTS_SUPPORT_COMBINATION_H
#define TESTS_SUPPORT_COMBINATION_H

#include "support/check.h"
#include "support/states.h"

#include "analysis/torus.h"

typedef struct Combination {
    Enumeration en;
    spragSolutionSet set;
} Combination;

/* All contacts on their + side, in the given role; directions are the slips', else t1. */
static inline void combinationOf(Combination *c, const State *s, Role role)
{
    static TorusSystem torus;
    static TorusZeros zeros;
    memset(c, 0, sizeof *c);
    Enumeration *en = &c->en;
    *en = (Enumeration){.state = &s->state,
                        .nc = s->state.contact_count,
                        .n = 3 * s->state.contact_count,
                        .multiplicity = 1,
                        .direction_stable = 1,
                        .torus = &torus,
                        .zeros = &zeros,
                        .set = &c->set};
    for (int i = 0; i < en->n; ++i) {
        en->b_size = fmax(en->b_size, fabs(s->b[i]));
        en->dead[i] = s->b[i] == 0;
        for (int j = 0; j < en->n; ++j) {
            en->a_size = fmax(en->a_size, fabs(s->A[en->n * i + j]));
            en->dead[i] &= s->A[en->n * i + j] == 0;
        }
    }
    for (int k = 0; k < en->nc; ++k) {
        const double *slip = s->slip + 2 * k, speed = hypot(slip[0], slip[1]);
        en->role[k] = role, en->sign[k] = 1;
        en->e[k][0] = speed > 0 ? slip[0] / speed : 1, en->e[k][1] = speed > 0 ? slip[1] / speed : 0;
    }
}

#endif
