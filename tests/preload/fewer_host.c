/* Three boxes slide on a plane, each alone; then one is left, much faster: rounding is worst there.
 * fewer_host [SPEED GRAVITY]: of the one that is left. */
#include <ode/ode.h>
#include <stdlib.h>

enum { BOXES = 3 };

static dBodyID makeBox(dWorldID world, int k)
{
    const dBodyID body = dBodyCreate(world);
    dMass mass;
    dMassSetBox(&mass, 1, 1, 1, 1);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, 3 * k, 0, (dReal)0.5);
    dBodySetLinearVel(body, 100 + k, 10, -1);
    return body;
}

int main(int argc, char **argv)
{
    const double speed = argc == 3 ? atof(argv[1]) : 1e7, gravity = argc == 3 ? atof(argv[2]) : 10;
    dInitODE2(0);
    const dWorldID world = dWorldCreate();
    const dJointGroupID group = dJointGroupCreate(0);
    dBodyID body[BOXES];
    dWorldSetGravity(world, 0, 0, -10);
    for (int k = 0; k < BOXES; ++k)
        body[k] = makeBox(world, k);
    int boxes = BOXES;
    for (int step = 0; step < 20; ++step) {
        for (; step == 10 && boxes > 1; --boxes)
            dBodyDestroy(body[boxes - 1]);
        if (step == 10) {
            dBodySetLinearVel(body[0], (dReal)speed, (dReal)(speed / 10), -10);
            dWorldSetGravity(world, 0, 0, (dReal)-gravity);
        }
        for (int i = 0; i < 4 * boxes; ++i) {
            dContact contact = {.surface = {.mode = dContactApprox1, .mu = (dReal)0.3}};
            dBodyGetRelPointPos(body[i / 4], (dReal)(i & 1 ? 0.5 : -0.5), (dReal)(i & 2 ? 0.4 : -0.5), (dReal)-0.5,
                                contact.geom.pos);
            contact.geom.normal[2] = 1;
            dJointAttach(dJointCreateContact(world, group, &contact), body[i / 4], 0);
        }
        dWorldStep(world, (dReal)0.005);
        dJointGroupEmpty(group);
    }
    dJointGroupDestroy(group);
    dWorldDestroy(world);
    dCloseODE();
    return 0;
}
