/* When an iteration ends. */
#ifndef SPRAG_SOLVE_STOP_H
#define SPRAG_SOLVE_STOP_H

#include <sprag/sprag.h>

#include "base/clock.h"

typedef struct spragStop {
    double tolerance; /* m/s: at this residual, */
    double deadline;  /* s: at this time of spragSeconds (0: none), */
    int limit;        /* or after so many steps, a factorisation each */
} spragStop;

/* What the options ask for, from now on; limit: of the steps, where they have none. */
static inline spragStop spragStopOf(const spragSolveOptions *options, int limit)
{
    return (spragStop){.tolerance = options->tolerance,
                       .deadline = spragDeadline(options->time_limit),
                       .limit = options->iteration_limit > 0 ? options->iteration_limit : limit};
}

#endif
