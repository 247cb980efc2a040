/* A program that loads ODE itself and asks its handle for every function: a ball falls on a plane and slides.
 * Prints the steps it made, and whether RTLD_NEXT still sees what comes after the program. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include <ode/ode.h>

/* Only types come from the header: every function is the handle's. */
#define ASK(name) __typeof__(&name) ask_##name = (__typeof__(&name))dlsym(ode, #name)

int getppid(void)
{
    int (*const next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "getppid");
    return next != NULL && next != getppid ? next() : -1;
}

int main(int count, char **argument)
{
    void *const ode = dlopen(count > 1 ? argument[1] : "libode.so.8", RTLD_NOW | RTLD_LOCAL);
    if (ode == NULL)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    ASK(dInitODE2);
    ASK(dWorldCreate);
    ASK(dWorldSetGravity);
    ASK(dBodyCreate);
    ASK(dBodySetLinearVel);
    ASK(dJointGroupCreate);
    ASK(dJointGroupEmpty);
    ASK(dJointCreateContact);
    ASK(dJointAttach);
    ASK(dWorldStep);
    ASK(dBodyGetPosition);
    ASK(dWorldDestroy);
    ASK(dCloseODE);
    ask_dInitODE2(0);
    const dWorldID world = ask_dWorldCreate();
    ask_dWorldSetGravity(world, 0, 0, -10);
    const dBodyID body = ask_dBodyCreate(world);
    ask_dBodySetLinearVel(body, 1, 1, 0);
    const dJointGroupID group = ask_dJointGroupCreate(0);
    for (int k = 0; k < 50; ++k) {
        dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5}, .geom = {.normal = {0, 0, 1}}};
        ask_dJointAttach(ask_dJointCreateContact(world, group, &contact), body, 0);
        ask_dWorldStep(world, 0.001);
        ask_dJointGroupEmpty(group);
    }
    printf("%.3f %d\n", ask_dBodyGetPosition(body)[0], getppid() > 0);
    ask_dWorldDestroy(world);
    ask_dCloseODE();
    return dlclose(ode) != 0 || dlsym(RTLD_DEFAULT, "no_such_function") != NULL;
}
