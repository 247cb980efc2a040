/* Two boxes slide on a plane, each an island.  With an argument something is absurd from step 50 on: the second box has
 * contacts whose coefficient of friction is NaN (surface), or a position that is NaN (pose), or the world's CFM is
 * negative (world); or the first has contacts whose normal is no unit vector (normal).  Prints where the first box
 * ends. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <ode/ode.h>

static dWorldID world;
static dJointGroupID group;

static void addCorners(dBodyID body, dReal length, dReal mu)
{
    for (int corner = 0; corner < 4; ++corner) {
        dContact contact = {.surface = {.mode = dContactApprox1, .mu = mu}};
        dBodyGetRelPointPos(body, (dReal)(corner & 1 ? 0.5 : -0.5), (dReal)(corner & 2 ? 0.5 : -0.5), (dReal)-0.5,
                            contact.geom.pos);
        contact.geom.normal[2] = length;
        dJointAttach(dJointCreateContact(world, group, &contact), body, 0);
    }
}

int main(int argc, char **argv)
{
    const char *absurd = argc > 1 ? argv[1] : "";
    dInitODE2(0);
    world = dWorldCreate();
    group = dJointGroupCreate(0);
    dWorldSetGravity(world, 0, 0, -10);
    dBodyID body[2];
    for (int k = 0; k < 2; ++k) {
        dMass mass;
        dMassSetBox(&mass, 1, 1, 1, 1);
        body[k] = dBodyCreate(world);
        dBodySetMass(body[k], &mass);
        dBodySetPosition(body[k], 0, 10 * k, (dReal)0.5);
        dBodySetLinearVel(body[k], 1, 1, 0);
    }
    for (int step = 0; step < 200; ++step) {
        const char *now = step >= 50 ? absurd : "";
        if (strcmp(now, "pose") == 0)
            dBodySetPosition(body[1], (dReal)NAN, 10, (dReal)0.5);
        if (strcmp(now, "world") == 0)
            dWorldSetCFM(world, (dReal)-1e-14);
        addCorners(body[0], strcmp(now, "normal") == 0 ? (dReal)0.25 : 1, (dReal)0.5);
        addCorners(body[1], 1, strcmp(now, "surface") == 0 ? (dReal)NAN : (dReal)0.5);
        dWorldStep(world, (dReal)0.005);
        dJointGroupEmpty(group);
    }
    const dReal *p = dBodyGetPosition(body[0]);
    printf("%.17g %.17g %.17g\n", p[0], p[1], p[2]);
    dJointGroupDestroy(group);
    dWorldDestroy(world);
    dCloseODE();
    return 0;
}
