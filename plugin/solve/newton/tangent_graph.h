/* The graph of bodies that touch, and of the joints between them: where the matrix of tangent_bodies.h has blocks. */
#ifndef SPRAG_SOLVE_TANGENT_GRAPH_H
#define SPRAG_SOLVE_TANGENT_GRAPH_H

#include "solve/newton/tangent.h"

/* Joints between the bodies. */
static inline int spragTangentLinks(const spragTangent *tangent)
{
    return tangent->bodies->links != NULL ? tangent->bodies->links->count : 0;
}

/* Fills tangent->first, list, entry, link_entry and the pattern of lu: a row for each body, then one for each joint.
 * 1; 0: no memory; -1: a factorisation would take more than price_most products of 3x3 blocks. */
int spragTangentGraphAnalyse(spragTangent *tangent, double price_most, spragArena *arena);

#endif
