/* One scene, many solvers: settled once, then each contender runs from that state in a process of its own. */
#ifndef DEMOS_BENCH_WORLD_RUN_H
#define DEMOS_BENCH_WORLD_RUN_H

#include <stdio.h>

#include "scenes/scene.h"

typedef struct WorldPlan {
    const char *scene, *set;   /* keys, "name=value name=value" */
    double step_size;          /* s */
    int settle, warm, measure; /* steps; warm ones are the contender's own and not measured */
    int dense_limit;           /* 0: too large for dWorldStep */
    int settle_quick;          /* 1: dWorldQuickStep settles it, the same for all; 0: what stands by friction alone */
} WorldPlan;

typedef struct WorldContender {
    const char *name;
    spragSolverKind solver; /* STOCK: ODE's stepper alone */
    spragStepper stepper;
    int iterations;    /* of QuickStep or Bullet */
    int bullet;        /* Bullet's solver on the contacts of a world that Sprag steps */
    double tolerance;  /* m/s, 0: the default */
    double time_limit; /* s per step, 0: none */
    int threads;       /* 0: one */
    int patient;       /* spragConfig.patient */
} WorldContender;

typedef struct WorldFigures {
    int done;                       /* 0: error says why */
    int bodies, contacts, islands;  /* of the last step */
    double milliseconds, residual;  /* medians of the measured steps: whole step, m/s */
    double solve_milliseconds;      /* of the solving alone, Sprag's only */
    unsigned long long fingerprint; /* of the bodies' state at the end, bit by bit */
    char error[160];
} WorldFigures;

/* The settled world, or NULL and one line on stderr.  SceneDestroy. */
SceneWorld *worldSettle(const WorldPlan *plan);
/* Brings it to rest, a twentieth of all speed lost in each step: roughly, until all bodies but one in a thousand are
 * slower than 0.1 mm/s, then to the tolerance, until ten steps in a row are solved and all but those are slower than
 * 1 um/s.  longer > 1: most of the way in steps so much longer, and the world's contact surface layer then has what
 * these leave of overlaps.  0: not within the steps that are spent on it. */
int worldCalm(SceneWorld *world, double step_size, double longer, double tolerance);
WorldFigures worldMeasure(SceneWorld *settled, const WorldPlan *plan, const WorldContender *contender);

/* The same by turns, for contenders that are to have the same weather: each is a process that waits for its turn, and
 * what slows the machine down for a while falls on all of them.  NULL: no process. */
typedef struct WorldRunner WorldRunner;
WorldRunner *worldRunnerStart(SceneWorld *settled, const WorldPlan *plan, const WorldContender *contender);
/* So many steps, under the contender's limit and tolerance as they are now, and their
 * figures; counted: they belong to those of all. */
WorldFigures worldRunnerTurn(WorldRunner *runner, const WorldContender *contender, int steps, int counted);
/* Of all counted steps so far. */
WorldFigures worldRunnerFigures(const WorldRunner *runner);
void worldRunnerEnd(WorldRunner *runner); /* NULL will do */

/* "12.3 ms, 4.5e-09", or why not. */
void worldPrintCell(FILE *out, const WorldFigures *figures);
/* One JSON object, with a comma before it unless first. */
void worldPrintJson(FILE *out, int first, const WorldPlan *plan, const WorldContender *contender,
                    const WorldFigures *figures);

#endif
