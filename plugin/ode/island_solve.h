/* One island, from its contacts to the impulses of its bodies.
 *
 * What begins again, and why, from the inside out:
 *
 *     solution      the chain of solvers (solve/chain), or without W where that is enough
 *     bounds        of friction in turning joints, which follow from the answer (bounded)
 *     turns         the ends of sliding bearings, which lie along the answer (bearing)
 *     lean          W is made after all, where methods without it fail
 *     growth        contacts that were left out and do carry (working_set)
 *     held          limits and motors that were taken to hold, and do not
 *     blow, surge   a jam changed how a body turns; the answer throws bodies */
#ifndef SPRAG_ODE_ISLAND_SOLVE_H
#define SPRAG_ODE_ISLAND_SOLVE_H

#include "ode/world.h"

/* Why an island is declined, of a lenient world. */
extern const char *const spragAbsurdity;

/* What the solvers are asked for under the world's configuration, in so many seconds; 0: no limit. */
spragSolveOptions spragIslandSolveOptions(const spragConfig *config, double seconds);
/* Its problem.  0: the step fails; of a lenient world bad input declines the island alone. */
int spragIslandAssemble(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island);
/* Of an island with a problem, or rows without blocks (bare): r, u, how it was solved, and the impulses of its bodies,
 * or why it is declined.  0: the step fails. */
int spragIslandSolve(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island, double seconds);

#endif
