/* One island, from its contacts to the impulses of its bodies:  u = W r + q  with the law of each contact (sprag.h).
 *
 * Some data of the problem follow from its own answer, so it is solved again until both fit.  The loops, from the
 * inside out:
 *
 *     solution      the chain of solvers (solve/chain/chain), or without W where that is enough
 *     bounds        of friction in turning joints, |M| <= mu R F, F the joint's reaction (bounded)
 *     turns         of the ends of sliding bearings, which lie along their reactions (bearing)
 *     lean          W is made after all, if methods without it fail
 *     growth        of the working set, by contacts that were left out and do carry load (working_set)
 *     held          limits and motors that were taken to hold, and do not, become bounded rows
 *     blow          a jam changed how a body turns, and with it Jdot v
 *     surge         the answer throws bodies: corrections are reduced */
#ifndef SPRAG_ODE_ISLAND_SOLVE_H
#define SPRAG_ODE_ISLAND_SOLVE_H

#include "ode/world/world.h"

/* Why an island is declined, of a lenient world. */
extern const char *const spragAbsurdity;

/* The options of the solvers under the world's configuration; seconds: their time limit, 0 none. */
spragSolveOptions spragIslandSolveOptions(const spragConfig *config, double seconds);
/* Writes its problem.  0: the step fails; in a lenient world bad input declines this island alone. */
int spragIslandAssemble(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island);
/* Solves an island that has a problem, or rows without blocks (bare).  Fills r, u, solve and the impulses of its
 * bodies; or declined.  0: the step fails. */
int spragIslandSolve(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island, double seconds);

#endif
