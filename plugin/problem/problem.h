/* Building and checking problems. */
#ifndef SPRAG_PROBLEM_PROBLEM_H
#define SPRAG_PROBLEM_PROBLEM_H

#include <sprag/sprag.h>

/* The writable side of a problem on the heap; the arrays that `problem` points to are its own. */
typedef struct spragProblemData {
    spragProblem problem; /* first: a spragProblem * of spragProblemRead is one of these */
    int *row_start, *column, *parent, *body;
    double *W, *q, *mu, *mu_minus, *bound;
    unsigned char *kind;
    spragContactHistory *history;
} spragProblemData;

/* All arrays, zeroed, optional ones too (kind 0 = CONTACT, parent and body -1); NULL: out of memory. */
spragProblemData *spragProblemCreate(int contact_count, int block_count);

/* max |W - W'| / max |W|; infinity if a block has no mirror image. */
double spragProblemAsymmetry(const spragProblem *problem);

#endif
