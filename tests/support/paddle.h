/* A capsule of 1.7 kg that a kinematic paddle presses on the floor, and along it at 0.35 m/s: friction braces it, and
 * with a hundred meganewtons it would be shot off at 48 m/s (ode/joints/surge.h). */
#ifndef TESTS_SUPPORT_PADDLE_H
#define TESTS_SUPPORT_PADDLE_H

#include <ode/ode.h>

#define PADDLE_SPIN 0.857 /* rad/s */
#define PADDLE_STEP (1.0 / 60)

typedef enum PaddleKind { PADDLE_TURNS, PADDLE_RESTS, PADDLE_IS_BELT } PaddleKind;

/* Of a world with gravity 9.81; its contacts are in the group. */
static inline dBodyID pressedCapsule(dWorldID world, dJointGroupID group, PaddleKind kind)
{
    static const double point[3][3] = {{-0.3967, 0.1958, 0.0708},
                                       {-0.2938, 0.1260, -0.0340},
                                       {-0.3928, 0.2104, -0.0117}},
                        normal[3][3] = {{0.1663, 0.4290, -0.8878}, {0, 0, 1}, {0, 0, 1}},
                        depth[3] = {0.0470, 0.0340, 0.0117};
    const dBodyID capsule = dBodyCreate(world), paddle = dBodyCreate(world);
    dBodySetKinematic(paddle);
    dBodySetPosition(paddle, 0, 0, 0.5);
    dBodySetAngularVel(paddle, 0, 0, kind == PADDLE_TURNS ? PADDLE_SPIN : 0);
    dMass mass;
    dMassSetParameters(&mass, 1.737, 0, 0, 0, 0.0076, 0.0076, 0.00244, 0, 0, 0);
    dBodySetMass(capsule, &mass);
    dBodySetPosition(capsule, -0.3433, 0.1682, 0.0320);
    dBodySetQuaternion(capsule, (const dQuaternion){0.5623, 0.7171, 0.2645, 0.3153});
    dBodySetLinearVel(capsule, -0.2257, -0.1955, 0.0125);
    dBodySetAngularVel(capsule, -8.0975, 13.9877, 19.9805);
    for (int k = 0; k < 3; ++k) {
        dContact contact = {.surface = {.mode = dContactApprox1, .mu = 2}, .geom = {.depth = depth[k]}};
        for (int i = 0; i < 3; ++i)
            contact.geom.pos[i] = point[k][i], contact.geom.normal[i] = normal[k][i];
        if (k == 0 &&
            kind == PADDLE_IS_BELT) { /* the same motion along the face, which it has none of its own across */
            contact.surface.mode |= dContactFDir1 | dContactMotion1;
            contact.surface.motion1 = 0.35;
            contact.fdir1[0] = -0.1958, contact.fdir1[1] = -0.3967;
        }
        dJointAttach(dJointCreateContact(world, group, &contact), capsule, k == 0 ? paddle : 0);
    }
    return capsule;
}

#endif
