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

enum { SPRAG_BLOCKS_MOST = 0x7fffffff / 16 }; /* indices of scalars and entries then fit into int */

/* All arrays, zeroed, optional ones too (kind 0 = CONTACT, parent and body -1); NULL: out of memory. */
spragProblemData *spragProblemCreate(int contact_count, int block_count);

/* max |W - W'| / max |W|; infinity if a block has no mirror image. */
double spragProblemAsymmetry(const spragProblem *problem);

/* spragProblemCheck without the search for a negative eigenvalue of the whole of W: linear in the size. */
spragStatus spragProblemCheckQuick(const spragProblem *problem);

/* Checks what a reader of `path` filled and hands it over in *out, or frees it and says what is wrong. */
spragStatus spragProblemFinish(spragProblemData *data, const char *path, spragProblem **out);

#endif
