/* What bearing.c asks of its two parts, bearing_turning.c and bearing_sliding.c. */
#ifndef SPRAG_ODE_BEARING_PARTS_H
#define SPRAG_ODE_BEARING_PARTS_H

#include "ode/bearing.h"

/* The blocks of a joint's friction, each begun as `like`.  Of a sliding bearing
 * they replace its rows across the axis. */
void spragTurningBlocks(const struct spragWorld *world, struct spragBearing *bearing, const spragBlock *like,
                        spragBlock *block);
void spragSlidingBlocks(const struct spragWorld *world, struct spragBearing *bearing, const spragBlock *like,
                        const spragEqualityRow *row, int count, spragBlock *block);
/* Is block k the first of a ball that bore no load in the last step?  Then its axes are turned along the reaction just
 * found, after some rounds only half the way.  1: they were off. */
int spragBallTurn(const struct spragWorld *world, spragIsland *island, int k, int round);
/* Of a slider's rows only the one about its axis stays.  Returns their number. */
int spragSlidingKeepRoll(spragEqualityRow *row, int count);

/* Keeps what block k found: load and torque (second: of a ball's second block); the direction of an end. */
void spragTurningRemember(const struct spragWorld *world, const spragIsland *island, int k, int second,
                          struct spragBearing *bearing);
void spragSlidingRemember(const struct spragWorld *world, const spragIsland *island, int k, double known[3]);

#endif
