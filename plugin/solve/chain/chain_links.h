/* The links of the chain (chain.c): which methods a problem meets, in which order, and how far each goes. */
#ifndef SPRAG_SOLVE_CHAIN_LINKS_H
#define SPRAG_SOLVE_CHAIN_LINKS_H

#include "solve/solver.h"

/* How a method is run.  Its answer is kept if its residual is less than that of r, or (PREFERRED) if it is within the
 * tolerance; FROM_REST: it begins at r = 0. */
typedef enum spragManner { SPRAG_BETTER, SPRAG_PREFERRED, SPRAG_FROM_REST } spragManner;

/* A method, and how far it goes. */
typedef struct spragChainLink {
    const spragSolver *method;
    spragManner manner;
    int limit;        /* iterations; 0: the method's own */
    int from_rest;    /* the same, of a second run from r = 0 where the first fails; SPRAG_NO_SECOND: there is none */
    double tolerance; /* m/s, what it is asked for; the chain ends where one rougher than the user's is reached */
} spragChainLink;

enum { SPRAG_NO_SECOND = -1, SPRAG_CHAIN_LINKS_MOST = 11 };

typedef struct spragChainLinks {
    const spragProblem *problem;
    const spragSolveOptions *options;
    spragChainLink link[SPRAG_CHAIN_LINKS_MOST];
    int count; /* of the links */
    int soon;  /* of those of SPRAG_CHAIN_SOON */
    int usual; /* those after this one are a fallback */
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
