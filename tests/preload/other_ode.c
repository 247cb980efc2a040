/* Stands in for another libode: the functions that the preload looks at, and what a program that only steps needs.
 * OTHER_PRECISION: built the other way; else it is another version. */
#include <stdio.h>
#include <string.h>

#include <ode/ode.h>

int dCheckConfiguration(const char *token)
{
    const char *own = sizeof(dReal) == sizeof(double) ? "ODE_double_precision" : "ODE_single_precision";
#ifdef OTHER_PRECISION
    return strcmp(token, own) != 0;
#else
    return strcmp(token, own) == 0;
#endif
}

dJointID dJointCreateContact(dWorldID world, dJointGroupID group, const dContact *contact)
{
    (void)world, (void)group, (void)contact;
    return NULL;
}

int dWorldStep(dWorldID world, dReal step)
{
    (void)world, (void)step;
    puts("stepped by the other");
    return 1;
}

int dWorldQuickStep(dWorldID world, dReal step)
{
    return dWorldStep(world, step);
}

void dWorldDestroy(dWorldID world)
{
    (void)world;
}
