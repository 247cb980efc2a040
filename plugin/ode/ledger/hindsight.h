/* What the last step knew of an island, and what this one tells the next: was it wedged, did it spend its work?
 *
 * Islands have no identity from step to step, but contacts have: each record keeps what its island was. */
#ifndef SPRAG_ODE_HINDSIGHT_H
#define SPRAG_ODE_HINDSIGHT_H

#include "ode/world/world.h"

enum {
    SPRAG_DOUBT = 10,     /* steps after a wedge in which its contacts' island is asked for one after its first method:
                             it comes and goes where bodies are caught in each other */
    SPRAG_UNSQUEEZED = 10 /* steps in which one that is wedged, but was not squeezed, is not asked for a squeeze */
};

/* Fills wedged, unsqueezed, doubt, step_haste and accord of island->before (spragHindsight) from the records of
 * its contacts, guides and bearings: the largest of each.
 *
 * wedged, 1: one was in a wedged island.  A wedge lasts: a ball that had sunk between two triangles of the
 * ground, with a mu of 2, took 20 ms in every step until all methods had failed.  So in such an island a wedge is
 * looked for right after the mode search, and the other methods come only if there is none (release.c).  2: its
 * guides had to yield too, and do so from the start.
 *
 * unsqueezed: it was asked then whether bodies are squeezed, and they were not; it takes as long to ask as for a wedge,
 * and is asked again after SPRAG_UNSQUEEZED steps.
 *
 * step_haste: a step in which the solutions of an island spent all of their work together (release.h) is followed by
 * one with half of it, down to an eighth: what is jammed by its joints and by mu = infinity stays so.  What spent its
 * work in vain, and is left above 1e-3 m/s, has half of what it spent, down to some 30 ms: contacts that nobody empties
 * have no solution in any step, and took 2 s in each.
 *
 * accord: what contacts ask for is made to agree from the start (accord.h), where it had to be, and did not agree, in
 * one of the last steps; negated: that is not tried, as it was in vain. */
void spragIslandLookBack(const struct spragWorld *world, spragIsland *island);
/* Of a solved island: its step_haste in the next step. */
int spragIslandStepHasteNext(const struct spragWorld *world, const spragIsland *island);
/* Of a solved island: all that the next step is told, for island->next. */
spragHindsight spragIslandLookAhead(const struct spragWorld *world, const spragIsland *island);
/* Copies island->next to the record of one of its contacts. */
void spragIslandNote(const spragIsland *island, spragContactMemory *memory);

#endif
