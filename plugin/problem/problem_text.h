/* Problem files as text.
 *
 *     # comments
 *     nc nblocks
 *     nc lines       mu body1 body2
 *     nc lines       q_n q_t1 q_t2
 *     nblocks lines  i j w00 w01 w02 w10 ... w22     sorted by row, columns ascending
 *
 * and, where a problem has more than the plain format can say, any number of lines
 *
 *     step H
 *     block k KIND mu_minus lo0 lo1 lo2 hi0 hi1 hi2 parent
 *     history k slip1 slip2 b N_prev prev_slip1 prev_slip2 mode variant fresh
 *     held k h00 h01 h02 h10 ... h22
 *
 * so that an island dumped from a step is solved again exactly as it was.  Numbers are written with 17 digits.
 */
#ifndef SPRAG_PROBLEM_PROBLEM_TEXT_H
#define SPRAG_PROBLEM_PROBLEM_TEXT_H

#include "problem/problem.h"

/* Words for spragBlockKind. */
enum { SPRAG_KIND_COUNT = SPRAG_BLOCK_ROLLING + 1 };
extern const char *const spragKindName[SPRAG_KIND_COUNT];

/* In the C locale. */
spragStatus spragTextRead(const char *path, spragProblem **out);
spragStatus spragTextWrite(const spragProblem *problem, const char *path);

#endif
