/* Islands of one body that rests or slides, by plain contacts, on what does not move, which is most of what lies about
 * in a game, or on what moves as it likes, as one body (lone_drive.h): a lift, a turntable.
 *
 * They are four to a group and go from ODE's contacts to impulses without blocks and without W (solve/search/lone.h).
 * What is refused here, or not solved, takes the way of all islands. */
#ifndef SPRAG_ODE_LONE_H
#define SPRAG_ODE_LONE_H

#include "ode/world/world.h"

/* Solves those of the islands first .. end - 1 that it can: island->lone is set, and they are reported.
 * Returns how many. */
int spragLonesSolve(struct spragWorld *world, const spragPointerMap *surfaces, spragLane *lane, int first, int end);

/* Its problem.  0: no memory. */
int spragLoneProblem(const struct spragWorld *world, const spragIsland *island, spragArena *arena,
                     spragProblem *problem);

#endif
