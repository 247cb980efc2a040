/* One scene, many solvers: each contender steps the settled world (bench/settle.h) in a process of its own. */
#ifndef DEMOS_BENCH_WORLD_RUN_H
#define DEMOS_BENCH_WORLD_RUN_H

#include <stdio.h>

#include "bench/contact_peer.h"
#include "bench/settle.h"

typedef struct WorldContender {
    const char *name;
    spragSolverKind solver; /* STOCK: ODE's stepper alone */
    spragStepper stepper;
    int iterations;        /* of QuickStep or the peer */
    ContactPeerMake *peer; /* on the contacts of a world that Sprag steps; or NULL */
    int cubic;             /* 1: its time grows as the cube of the contacts */
    double tolerance;      /* m/s, 0: the default */
    double time_limit;     /* s per step, 0: none */
    int threads;           /* 0: one */
    int patient;           /* spragConfig.patient */
} WorldContender;

typedef struct WorldFigures {
    int done;                       /* 0: error says why */
    int bodies, contacts, islands;  /* of the last step */
    double milliseconds, residual;  /* medians of the measured steps: whole step, m/s */
    double solve_milliseconds;      /* of the solving alone, Sprag's only */
    unsigned long long fingerprint; /* of the bodies' state at the end, bit by bit */
    char error[160];
} WorldFigures;

WorldFigures worldMeasure(SceneWorld *settled, const WorldPlan *plan, const WorldContender *contender);

/* The same by turns, so that what slows the machine down for a while falls on all contenders: each is a process that
 * waits for its turn.  NULL: no process. */
typedef struct WorldRunner WorldRunner;
WorldRunner *worldRunnerStart(SceneWorld *settled, const WorldPlan *plan, const WorldContender *contender);
/* Makes so many steps under the contender's present limit and tolerance; returns the figures of these alone.  counted:
 * 1, they are among those of worldRunnerFigures. */
WorldFigures worldRunnerTurn(WorldRunner *runner, const WorldContender *contender, int steps, int counted);
/* The figures of all counted steps so far. */
WorldFigures worldRunnerFigures(const WorldRunner *runner);
void worldRunnerEnd(WorldRunner *runner); /* NULL will do */

/* "12.3 ms, 4.5e-09", or why not. */
void worldPrintCell(FILE *out, const WorldFigures *figures);
/* One JSON object, with a comma before it unless first. */
void worldPrintJson(FILE *out, int first, const WorldPlan *plan, const WorldContender *contender,
                    const WorldFigures *figures);

#endif
