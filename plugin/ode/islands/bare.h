/* Islands of plain contacts, also with rolling friction, whose answer may be rough, or must come soon: from ODE's
 * contacts to the velocities of bodies (greedy.h) without blocks and without W.  In the time of QuickStep's
 * twenty iterations that is half of the work.  And large ones that rest, whose answer is their guess: to see that needs
 * neither.
 *
 * Refused, and written in blocks: joints, guides, surfaces, feedback, contacts that are not plain, pairs that may be a
 * slot (opposed.h), contacts that slide with p <= 0.  So no contact of a bare island has a paradox. */
#ifndef SPRAG_ODE_BARE_H
#define SPRAG_ODE_BARE_H

#include "ode/matrix/matrix_free.h"

typedef struct spragBareContact {
    double slip[2];      /* m/s, at the start of the step; 0 where it rests */
    double approach;     /* m/s, normal velocity at the start of the step, less h carried */
    double acceleration; /* m/s^2, free of all contact forces */
    double position[3];  /* m, as its collider names it, */
    double depth;        /* m; both for the report: by then ODE's contact is no more in the cache */
} spragBareContact;

typedef struct spragBare {
    spragGreedy greedy; /* its contacts are the island's joints, in their order */
    spragBareContact *contact;
    double *others;  /* (contact_count) m/s, normal velocity from the guesses of the others */
    double *u;       /* (contact_count x 3) m/s */
    spragRest rests; /* as it seems; what rests at all is asked for an exact answer */
} spragBare;

/* Makes island->bare where the island is one of these; else, or if there is no memory, it stays NULL. */
void spragBareMake(struct spragWorld *world, const spragPointerMap *surfaces, spragIsland *island);

/* The island's bodies get their impulses.  0: it is not solved, and W is worth
 * forming: island->bare stays as the guess. */
int spragBareSolve(struct spragWorld *world, const spragSolveOptions *options, spragIsland *island);

/* After an island that rested, but crept by `before` m/s, was solved with blocks, so that Newton's method might end the
 * creep: m/s, what is left if that did not help, for spragIsland.calmed, else 0.  In the next steps as much creep is
 * left alone.  (Towers of eight cubes side by side creep at 7e-13 m/s, whatever is done: 17 ms in every step.) */
double spragBareCalmed(const spragIsland *island, double before);

/* Of an island that was bare and has blocks now: which of its contacts this block is. */
int spragBareContactOf(const spragIsland *island, int block);

/* The bodies are as before spragBareMake, so that the island can be assembled. */
void spragBareUndo(struct spragWorld *world, const spragIsland *island);

/* p of a contact that slides so, 1/kg. */
double spragBareSlope(const spragGreedyContact *contact, const double slip[2]);

/* Minimal blocks, W, q and history of a solved island: its problem, for those who want to see it.  0: no memory. */
int spragBareProblem(struct spragWorld *world, spragIsland *island);

#endif
