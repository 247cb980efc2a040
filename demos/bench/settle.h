/* The world that all contenders of a scene begin with. */
#ifndef DEMOS_BENCH_SETTLE_H
#define DEMOS_BENCH_SETTLE_H

#include "scenes/scene.h"

typedef struct WorldPlan {
    const char *scene, *set;   /* keys, "name=value name=value" */
    double step_size;          /* s */
    int settle, warm, measure; /* steps; warm ones are the contender's own and not measured */
    int dense_limit;           /* 0: too large for dWorldStep */
    int settle_quick;          /* 1: dWorldQuickStep settles it, the same for all; 0: what stands by friction alone */
} WorldPlan;

/* The settled world, or NULL and one line on stderr.  SceneDestroy. */
SceneWorld *worldSettle(const WorldPlan *plan);
/* Brings it to rest, until ten steps in a row are solved to the tolerance, all bodies but two in a thousand are slower
 * than 1 um/s, and those slower than 1 mm/s: by steps at 60 Hz, then by these, in which a twentieth of all speed is
 * lost.  The world's contact surface layer then has what its overlaps need.  0: not within the steps that are spent on
 * it. */
int worldCalm(SceneWorld *world, double step_size, double tolerance);

#endif
