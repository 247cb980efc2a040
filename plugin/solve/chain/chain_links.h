/* The links of the chain (chain.c): which methods a problem meets, in which order, and how far each goes. */
#ifndef SPRAG_SOLVE_CHAIN_LINKS_H
#define SPRAG_SOLVE_CHAIN_LINKS_H

#include "solve/solver.h"

/* Where a method begins, and when its answer takes the place of the best so far. */
typedef enum spragLinkRun {
    SPRAG_IF_BETTER, /* from the best: if its residual is less */
    SPRAG_IF_SOLVED, /* from the best: also if it is within the tolerance */
    SPRAG_FROM_ZERO  /* from r = 0: if its residual is less */
} spragLinkRun;

/* A method, and how far it goes. */
typedef struct spragChainLink {
    const spragSolver *method;
    spragLinkRun run_as;
    int limit;        /* iterations; 0: the method's own */
    int second_limit; /* iterations of a second run, from r = 0, if the first misses; SPRAG_NO_SECOND: there is none */
    double tolerance; /* m/s, what it is asked for; the chain ends where one rougher than the user's is reached */
} spragChainLink;

enum { SPRAG_NO_SECOND = -1, SPRAG_CHAIN_LINKS_MOST = 12 };

typedef struct spragChainLinks {
    const spragProblem *problem;
    const spragSolveOptions *options;
    spragChainLink link[SPRAG_CHAIN_LINKS_MOST];
    int count; /* links */
    int soon;  /* so many of them are those of SPRAG_CHAIN_SOON */
    int usual; /* index of the last one that is no fallback */
} spragChainLinks;

/* Fills links->link, of the problem and options that are there. */
void spragChainLinksOf(spragChainLinks *links, spragChainPart part);

/* Rounds of the mode search where it is shown an answer, or what was one in the last step; 0: no limit. */
int spragChainRoundsKnown(const spragProblem *problem);

/* 3x3 products of a step of Newton's method on a small problem, if its factorisation is dense. */
double spragChainStepWork(int block_count);
/* How many of Newton's steps of such a problem the work pays for. */
int spragChainStepsWorth(int block_count, double work);

#endif
