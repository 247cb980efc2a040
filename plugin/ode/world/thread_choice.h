/* Is a step made by all threads or by one?  Threads hand each other lines of memory, some fifty for a contact, and
 * where their cores have no cache in common that may take longer than what they share out: steps of 1000 balls at rest
 * by two threads took 0.64 of those by one in some runs and 1.35 in others, on the same virtual machine (a line went to
 * and fro in 80 ns or in 400; stages that only one thread works on took twice to five times as long).  No figure known
 * before tells these runs apart, so steps are timed: in every period some are made in the other choice, and it is kept
 * if it took clearly less for each joint than the steps before and than those after.  (Than those before alone: where a
 * pile comes to rest whatever is tried later seems to take less, and 3000 balls were left to one of two threads.)  The
 * bits are the same in both.
 *
 * Long steps always have all threads: there what is computed counts.  After one nothing is tried until the next period:
 * piles at rest have a long step now and then, and each was followed by another trial (of 1000 balls five of the seven
 * steps that the benchmark measures were made alone for that, in 1.7 times the time).  But where one thread was the
 * faster way it is tried at once: else a long step in every hundred would keep all threads for ever. */
#ifndef SPRAG_ODE_THREAD_CHOICE_H
#define SPRAG_ODE_THREAD_CHOICE_H

enum { SPRAG_THREAD_CHOICE_COUNTED = 5 }; /* steps whose median counts */

typedef struct spragThreadChoice {
    int alone; /* 1: steps are one thread's, but for those that try the other choice */
    int step;  /* of the period */
    double cost[3]
               [SPRAG_THREAD_CHOICE_COUNTED]; /* s a joint, of its own steps, of those that try, and of its own again */
} spragThreadChoice;

/* 1: the next step is one thread's. */
int spragThreadChoiceIsAlone(const spragThreadChoice *choice);
/* What that step took; joints > 0. */
void spragThreadChoiceNote(spragThreadChoice *choice, double seconds, int joints);

#endif
