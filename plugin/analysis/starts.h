/* Combinations in which a contact at rest begins to slip: directions, and the solutions that go with them. */
#ifndef SPRAG_ANALYSIS_STARTS_H
#define SPRAG_ANALYSIS_STARTS_H

#include "analysis/combination.h"

void spragStartsSolve(Enumeration *en);

/* Where the normal forces do not follow from the directions. */
void spragIndeterminateSolve(Enumeration *en);

#endif
