/* Disjoint sets of the numbers 0 .. n - 1 (union-find): parent[i] <= i, and i is the least of its set where they are
 * equal.  At the start parent[i] = i. */
#ifndef SPRAG_BASE_SETS_H
#define SPRAG_BASE_SETS_H

/* The least of the set of i.  Halves the path on its way. */
static inline int spragSetFind(int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Makes one set of those of i and j.  0: they were one. */
static inline int spragSetJoin(int *parent, int i, int j)
{
    i = spragSetFind(parent, i);
    j = spragSetFind(parent, j);
    if (i < j)
        parent[j] = i;
    else
        parent[i] = j;
    return i != j;
}

#endif
