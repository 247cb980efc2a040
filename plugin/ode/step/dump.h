/* The problems of the last step as files. */
#ifndef SPRAG_ODE_DUMP_H
#define SPRAG_ODE_DUMP_H

#include "ode/world/world.h"

/* How many files, and which of them, from 1, is of the island with the greatest residual. */
typedef struct spragDumped {
    int count, worst;
} spragDumped;

/* path for the first island, path with "-2", "-3", ... before the extension for the others.  dumped may be NULL. */
spragStatus spragDumpIslands(struct spragWorld *world, const char *path, spragDumped *dumped);
/* Removes the files after number kept, up to number last, of a dump. */
void spragDumpRemove(const char *path, int kept, int last);

#endif
