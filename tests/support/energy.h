/* Kinetic energy of a body of ODE's, J. */
#ifndef TESTS_SUPPORT_ENERGY_H
#define TESTS_SUPPORT_ENERGY_H

#include <ode/ode.h>

static inline double kineticEnergy(dBodyID body)
{
    const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
    dMass mass;
    dVector3 spin, momentum;
    dBodyGetMass(body, &mass);
    dBodyVectorFromWorld(body, w[0], w[1], w[2], spin);
    dMultiply0_331(momentum, mass.I, spin);
    return 0.5 * (mass.mass * dCalcVectorDot3(v, v) + dCalcVectorDot3(spin, momentum));
}

#endif
