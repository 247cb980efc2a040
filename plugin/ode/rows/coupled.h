/* Two or three contacts that slide together: the paradoxes of their determinants (docs/theory.md 5; plugin/analysis
 * says the same of any contact state, at leisure; this is what a step can afford, and of what rests it is asked).
 *
 * All contacts of the island slide, e_k along the slip.  For every choice S of the loaded ones and their sides i
 *
 *     M N = -b_n,   column j:  W_n,j (i_j, -mu_j e_j),   N >= 0;   w_n >= 0 where open.
 *
 * A solution is realisable iff all principal minors of M diag(i) are positive (small friction).  Class as in
 * docs/theory.md 5: 0 one solution and it is realisable, 1 none, 2 none realisable, 3 several and one realisable,
 * 4 several realisable. */
#ifndef SPRAG_ODE_COUPLED_H
#define SPRAG_ODE_COUPLED_H

#include "ode/rows/rows.h"

/* Fills island->coupled.  Where small friction does not exclude paradoxes, island->r becomes the realisable solution
 * that history prefers (without one, that which friction leads to as it grows), times the step, and the blocks' history
 * says so: the search of the step starts from motion, and a jam is what is left if there is none. */
void spragCoupledExamine(const struct spragWorld *world, spragIsland *island, spragContactHistory *history);

/* After its solution, where some contacts slid and others rested: if one would be in a paradox alone, or impulses are
 * out of all proportion, or the laws hold barely (in a step so short that the tolerance is rough for it), all motions
 * of the instant are listed (spragParadoxEnumerate), and island->coupled says so. */
void spragCoupledLookBack(const struct spragWorld *world, spragIsland *island);

#endif
