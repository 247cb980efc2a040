/* Combinations in which a contact at rest begins to slip: directions, and the solutions that go with them. */
#ifndef SPRAG_ANALYSIS_STARTS_H
#define SPRAG_ANALYSIS_STARTS_H

#include "analysis/combination.h"

/* Appends all solutions of the combination. */
void spragStartsSolve(Enumeration *en);

/* indeterminate.c: the same where the normal forces do not follow from the directions, so that solutions form continua;
 * one of them is appended. */
void spragIndeterminateSolve(Enumeration *en);

#endif
