/* Is a solution a branch that can last?  docs/theory.md 4. */
#ifndef SPRAG_SOLVE_SMALL_FRICTION_H
#define SPRAG_SOLVE_SMALL_FRICTION_H

#include "solve/newton/proximal.h"

/* 1: the loaded contacts' normal motion does not run away at the solution r with velocities u (3 nc); 0: it does, the
 * solution is a separatrix.  -1: out of memory.  Uses the proximal's factors and matrix. */
int spragSmallFriction(spragProximal *proximal, spragArena *arena, const double *r, const double *u);

/* 1: no eigenvalue of G (m x m) = dw_n / dN, springs in proportion to 1 / w (m, the contacts' own mobilities), is left
 * of the imaginary axis by more than a small part of its size.  G is destroyed. */
int spragSlopesAreStable(int m, const double *w, double *G);

#endif
