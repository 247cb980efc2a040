/* The uniform thin rod of scenes `rod` and `rod-guide`.
 *
 * J = m l^2 / 3 about every axis across it (2 l long).  ODE wants a positive inertia along it too: the rod gets that of
 * a solid cylinder of radius l / 50, m l^2 / 5000; the motion is in the plane x-z and never uses it.
 *
 * Angle theta: from the x axis to the line from the lower end to the centre; omega = d theta / dt, so the angular
 * velocity vector is (0, -omega, 0).  Slip: velocity of the lower end along x. */
#ifndef DEMOS_SCENES_THIN_ROD_H
#define DEMOS_SCENES_THIN_ROD_H

#include "scenes/scene.h"

typedef struct ThinRod {
    double mass, half_length; /* kg, m */
    double angle, omega;      /* rad, rad/s */
    double slip;              /* m/s */
} ThinRod;

/* Body and shape, its lower end at the origin, its axis z from there to the centre. */
dBodyID ThinRodAdd(SceneWorld *world, const ThinRod *rod);

#endif
