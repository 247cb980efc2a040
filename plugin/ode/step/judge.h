/* ODE's own answer, judged: the impulses ODE found, in Sprag's problem of the same step, under the one residual. */
#ifndef SPRAG_ODE_JUDGE_H
#define SPRAG_ODE_JUDGE_H

#include "ode/world/world.h"

/* Before ODE's step, after the islands were assembled: listens to every joint. */
spragStatus spragJudgePrepare(struct spragWorld *world);
/* After it: fills r, u and the residual of every island, stops listening. */
void spragJudgeStock(struct spragWorld *world);

#endif
