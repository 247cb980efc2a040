/* What a box of starting directions allows, as a linear program. */
#ifndef SPRAG_ANALYSIS_PROGRAM_H
#define SPRAG_ANALYSIS_PROGRAM_H

#include "analysis/combination.h"
#include "analysis/simplex.h"

/* C y = c, y >= 0; every row divided by its largest entry. */
typedef struct Program {
    const Enumeration *en;
    int rows, columns;
    double C[SIMPLEX_ROWS * SIMPLEX_COLUMNS], c[SIMPLEX_ROWS];
    int row[SIMPLEX_ROWS];            /* (rows) of A */
    double scale[SIMPLEX_ROWS];       /* (rows) one over the largest entry */
    int contact[SIMPLEX_COLUMNS];     /* (columns) whose force, or motion, a column is */
    double force[SIMPLEX_COLUMNS][3]; /* (columns) in its frame; 0: a motion */
} Program;

/* The program of the combination where its starting directions are within h of `middle` (one angle per start). */
void spragProgramBuild(const Enumeration *en, const double *middle, double h, Program *p);
/* 0: no solution of the combination (an Enumeration) has its starting directions in the box. */
int spragProgramAllows(const void *combination, const double *middle, double h);

#endif
