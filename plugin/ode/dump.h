/* The problems of the last step as files. */
#ifndef SPRAG_ODE_DUMP_H
#define SPRAG_ODE_DUMP_H

#include "ode/world.h"

/* path for the first island, path with "-2", "-3", ... before the extension for the others.  *count, which may be NULL:
 * how many files. */
spragStatus spragDumpIslands(struct spragWorld *world, const char *path, int *count);
/* Removes the files after number kept, up to number last, of a dump. */
void spragDumpRemove(const char *path, int kept, int last);

#endif
