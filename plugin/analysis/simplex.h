/* Is there y >= 0 with C y = c?  Small dense systems. */
#ifndef SPRAG_ANALYSIS_SIMPLEX_H
#define SPRAG_ANALYSIS_SIMPLEX_H

enum { SIMPLEX_ROWS = 9, SIMPLEX_COLUMNS = 48 }; /* at most; three contacts have 9 and 24 (program.c) */

/* C (columns x rows), one column after the other, c (rows).  0: there is none, by a vector z with z' C <= 0 < z' c
 * (Farkas) that was checked; solutions beyond 1e7 times the size of c are not asked for.  1: there is one, or none
 * could be shown to be missing; y (columns, may be NULL) is then what was found. */
int spragSimplexFeasible(int rows, int columns, const double *C, const double *c, double *y);

#endif
