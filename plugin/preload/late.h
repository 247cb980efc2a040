/* What the preload library overrides, and the loader's own dlsym. */
#ifndef SPRAG_PRELOAD_LATE_H
#define SPRAG_PRELOAD_LATE_H

#include <dlfcn.h>

#include <ode/ode.h>

/* X(return type, name, parameters, arguments) */
#define PRELOAD_LIST(X)                                                                                                \
    X(dJointID, dJointCreateContact, (dWorldID world, dJointGroupID group, const dContact *contact),                   \
      (world, group, contact))                                                                                         \
    X(int, dWorldStep, (dWorldID world, dReal stepsize), (world, stepsize))                                            \
    X(int, dWorldQuickStep, (dWorldID world, dReal stepsize), (world, stepsize))                                       \
    X(void, dWorldDestroy, (dWorldID world), (world))

/* As dlsym would without the preload; for RTLD_NEXT after the preload library. */
void *spragLateFind(void *handle, const char *name);

/* The program has a Sprag of its own, which attaches a world: two would take each other's calls for the program's. */
void spragPreloadStandAside(void);

#endif
