/* Friction that grows: of several realised solutions a fresh contact has the one that the frictionless one becomes when
 * friction grows from 0 to what it is (docs/theory.md 6, class 4). */
#ifndef SPRAG_SOLVE_GROW_H
#define SPRAG_SOLVE_GROW_H

/* 1: the solution at hand has a continuation at this share of friction, which takes its place.  last: the step is at
 * its shortest, so the continuation may differ in one contact. */
typedef int spragGrowFn(void *data, double share, int last);

/* Follows it to share 1, by steps as short as that where it does not go on; 0: it ends before. */
int spragFrictionGrow(double shortest, spragGrowFn *goes_on, void *data);

#endif
