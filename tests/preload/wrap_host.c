/* A program with a dWorldStep of its own, around the one that comes after it.  Linked with host.c, whose main is
 * host_main here.  Prints how often it was called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include <ode/ode.h>

int host_main(int argc, char **argv);

static int calls;

int dWorldStep(dWorldID world, dReal stepsize)
{
    int (*next)(dWorldID, dReal);
    *(void **)&next = dlsym(RTLD_NEXT, "dWorldStep");
    ++calls;
    return next(world, stepsize);
}

int main(int argc, char **argv)
{
    const int result = host_main(argc, argv);
    printf("%d calls\n", calls);
    return result;
}
