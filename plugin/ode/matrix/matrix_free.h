/* Large islands of plain contacts whose answer may be rough, or must come soon: which ones, and their problems for
 * solve/greedy, on the velocities of their bodies.  W is formed only if that is not enough. */
#ifndef SPRAG_ODE_MATRIX_FREE_H
#define SPRAG_ODE_MATRIX_FREE_H

#include "ode/rows/rows.h"
#include "solve/greedy/greedy.h"

/* Of an island, each more than the one before. */
typedef enum spragRest {
    SPRAG_REST_NONE, /* it moves */
    SPRAG_REST_MOST, /* but for a few bodies */
    SPRAG_REST_SLOW, /* but some still stir the others */
    SPRAG_REST_FULL
} spragRest;

/* By how its bodies move against the one before, more often than not one of their neighbours.  (So a pile on a platform
 * that moves, or on a belt, rests on it.) */
spragRest spragMatrixFreeRests(const struct spragWorld *world, const spragIsland *island);
/* 1: under a time limit with time for more than visits. */
int spragMatrixFreeIsEasy(const struct spragWorld *world);
/* 1: by its limits and its size an island of so many contacts is one of these. */
int spragMatrixFreeWanted(const struct spragWorld *world, const spragIsland *island, int contacts);

/* Room for so many contacts; with the lists that many visits need, where these are to be expected.  rolls: some have
 * rolling friction.  0: no memory. */
int spragMatrixFreeInit(const struct spragWorld *world, const spragIsland *island, int contacts, int rolls,
                        spragGreedy *greedy);

/* What visits know of the body; it is at rest. */
void spragMatrixFreeBody(const spragBodyState *state, spragGreedyBody *body);

/* Makes island->greedy where the island is of that kind.  0: no memory. */
int spragMatrixFreeChoose(struct spragWorld *world, spragIsland *island);

/* Fills it if there is one, and the diagonal blocks of W in a problem that has no others.  0: no memory. */
int spragMatrixFreeDiagonal(const spragSnapshot *snapshot, spragIsland *island);

/* free_acceleration of each contact: what the others' guesses add. */
void spragMatrixFreeOthers(const spragIsland *island, double step, spragContactHistory *history);

/* spragGreedySolve of an island with blocks. */
spragStatus spragMatrixFreeSolveBlocks(const spragSolveOptions *options, spragIsland *island);

/* After any of greedy_solve.h: impulses of the island's bodies, from their velocities. */
void spragMatrixFreeImpulses(spragSnapshot *snapshot, const spragIsland *island, spragGreedy *greedy);

#endif
