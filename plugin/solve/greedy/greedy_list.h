/* What a round of greedy.h visits: all contacts with more than a threshold to gain, in their order.
 *
 * Gains are kept as the greatest of each eight contacts, those of a round whose greatest is not above the threshold are
 * passed over.  A visit changes what the contacts of two bodies may gain.  So after a round of few visits only the
 * eights that have contacts of its bodies are looked at anew, and the list is the one that a look at all would give. */
#ifndef SPRAG_SOLVE_GREEDY_LIST_H
#define SPRAG_SOLVE_GREEDY_LIST_H

#include "solve/greedy/greedy.h"

enum { SPRAG_GREEDY_SCAN = 16 }; /* eights, to a multiple of which there is room */

/* A body: where those of its eights begin, and when it was last met. */
typedef struct spragGreedyNearBody {
    int first, pass;
} spragGreedyNearBody;

/* In which eights each body has contacts.  Made where many rounds had few visits. */
typedef struct spragGreedyNear {
    spragGreedyNearBody *body; /* (body_count + 1) */
    int *eight;
    int *changed; /* (eights + 1) after the last round */
    int *pass;    /* (eights) when each was last met, */
    int passes;   /* of so many times */
} spragGreedyNear;

/* Fills list and listed from all that is pending.  greedy->listed < 0: nothing is known of what changed since the last
 * list; else it is what visits of that changed.  The greatest gain, m/s. */
double spragGreedyList(spragGreedy *greedy, double threshold);

#endif
