/* A box slides on a plane, as any ODE program would have it.  Prints where it ends.  With an argument it forks; a child
 * may become the same program again (exec), or it ends without C's exit (leave). */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ode/ode.h>

int main(int argc, char **argv)
{
    dInitODE2(0);
    const dWorldID world = dWorldCreate();
    const dJointGroupID group = dJointGroupCreate(0);
    const dBodyID body = dBodyCreate(world);
    dWorldSetGravity(world, 0, 0, -10);
    dMass mass;
    dMassSetBox(&mass, 1, 1, 1, 1);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, 0, 0, (dReal)0.5);
    dBodySetLinearVel(body, 1, 1, 0);
    for (int step = 0; step < 200; ++step) {
        for (int corner = 0; corner < 4; ++corner) {
            dContact contact = {.surface = {.mode = dContactApprox1, .mu = (dReal)0.5}};
            dBodyGetRelPointPos(body, (dReal)(corner & 1 ? 0.5 : -0.5), (dReal)(corner & 2 ? 0.5 : -0.5), (dReal)-0.5,
                                contact.geom.pos);
            contact.geom.normal[2] = 1;
            dJointAttach(dJointCreateContact(world, group, &contact), body, 0);
        }
        dWorldStep(world, (dReal)0.005);
        dJointGroupEmpty(group);
    }
    if (argc > 1 && strcmp(argv[1], "leave") == 0)
        _exit(0);
    if (argc > 1 && fork() == 0) { /* a child that ends at once, in the way of C */
        if (strcmp(argv[1], "exec") == 0)
            execl(argv[0], argv[0], (char *)NULL);
        return 0;
    }
    while (argc > 1 && wait(NULL) > 0)
        ;
    const dReal *p = dBodyGetPosition(body);
    printf("%.5f %.5f\n", p[0], p[1]);
    dJointGroupDestroy(group);
    dWorldDestroy(world);
    dCloseODE();
    return 0;
}
