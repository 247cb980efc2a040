/* Contact problems in the velocities of bodies, as foreign formats have them. */
#ifndef SPRAG_PROBLEM_PROBLEM_GLOBAL_H
#define SPRAG_PROBLEM_PROBLEM_GLOBAL_H

#include "problem/problem_entries.h"

/* M v = H r + f,  u = H' v + w. */
typedef struct spragGlobal {
    int n, m;       /* velocities, contact rows */
    spragEntries M; /* (n x n), or one of its triangles; whole afterwards */
    spragEntries H; /* (n x m) */
    double *f, *w;  /* (n), (m) */
    double *q;      /* (m) out: H' M^-1 f + w */
    spragEntries W; /* (m x m) out: H' M^-1 H */
} spragGlobal;

/* Eliminates the velocities.  SPRAG_OK; ERROR_INDEFINITE: M is singular; ERROR_MEMORY; ERROR_UNSUPPORTED: M connects
 * too many unknowns.  The sentence begins with `path`. */
spragStatus spragGlobalEliminate(spragGlobal *global, const char *path);
void spragGlobalFree(spragGlobal *global);

#endif
