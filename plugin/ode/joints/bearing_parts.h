/* What bearing.c asks of its two parts, bearing_turning.c and bearing_sliding.c. */
#ifndef SPRAG_ODE_BEARING_PARTS_H
#define SPRAG_ODE_BEARING_PARTS_H

#include "ode/joints/bearing.h"

/* Fills the blocks of a joint's friction; each begins as a copy of `like`.  Those of a sliding bearing take the place
 * of the joint's rows across the axis. */
void spragTurningBlocks(const struct spragWorld *world, struct spragBearing *bearing, const spragBlock *like,
                        spragBlock *block);
void spragSlidingBlocks(const struct spragWorld *world, struct spragBearing *bearing, const spragBlock *like,
                        const spragEqualityRow *row, int count, spragBlock *block);
/* If block k is the first of a ball that bore no load in the last step, turns its axes along the reaction just found,
 * after some rounds only half the way.  1: they were off. */
int spragBallTurn(const struct spragWorld *world, spragIsland *island, int k, int round);
/* Leaves of a slider's rows only the one about its axis.  Returns the number of rows left, 1. */
int spragSlidingKeepRoll(spragEqualityRow *row, int count);

/* Keep what block k found for the next step: load and torque (second: k is a ball's second block); direction of an
 * end. */
void spragTurningRemember(const struct spragWorld *world, const spragIsland *island, int k, int second,
                          struct spragBearing *bearing);
void spragSlidingRemember(const struct spragWorld *world, const spragIsland *island, int k, double known[3]);

#endif
