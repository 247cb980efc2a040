#include "scenes/thin_rod.h"

#include <math.h>

dBodyID ThinRodAdd(SceneWorld *world, const ThinRod *rod)
{
    const double m = rod->mass, l = rod->half_length, angle = rod->angle, omega = rod->omega;
    const double across = m * l * l / 3, along = m * l * l / 5000;
    const dBodyID body = SceneAddBody(world);
    dMass mass;
    dMassSetParameters(&mass, m, 0, 0, 0, across, across, along, 0, 0, 0);
    dBodySetMass(body, &mass);
    dMatrix3 rotation;
    dRFromAxisAndAngle(rotation, 0, 1, 0, 0.5 * M_PI - angle);
    dBodySetRotation(body, rotation);
    dBodySetPosition(body, l * cos(angle), 0, l * sin(angle));
    dBodySetFiniteRotationMode(body, 1);
    /* centre = end + l (cos, sin): velocities differ by omega l (-sin, cos) */
    dBodySetLinearVel(body, rod->slip - omega * l * sin(angle), 0, omega * l * cos(angle));
    dBodySetAngularVel(body, 0, -omega, 0);
    const double radius = l / 50;
    SceneAddShape(world, &(SceneShape){.kind = SCENE_CAPSULE,
                                       .body = body,
                                       .size = {radius, l - radius, 0},
                                       .color = {0.85f, 0.45f, 0.15f}});
    return body;
}
