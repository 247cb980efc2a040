/* The problems of the last step as files. */
#ifndef SPRAG_ODE_DUMP_H
#define SPRAG_ODE_DUMP_H

#include "ode/world.h"

/* path for the first island, path with "-2", "-3", ... before the extension for the others. */
spragStatus spragDumpIslands(struct spragWorld *world, const char *path);

#endif
