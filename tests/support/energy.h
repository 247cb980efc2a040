/* Energy of bodies of ODE's, J. */
#ifndef TESTS_SUPPORT_ENERGY_H
#define TESTS_SUPPORT_ENERGY_H

#include <ode/ode.h>

static inline double kineticEnergy(const dBodyID *body, int count)
{
    double sum = 0;
    for (int k = 0; k < count; ++k) {
        const dReal *v = dBodyGetLinearVel(body[k]), *w = dBodyGetAngularVel(body[k]);
        dMass mass;
        dVector3 spin, momentum;
        dBodyGetMass(body[k], &mass);
        dBodyVectorFromWorld(body[k], w[0], w[1], w[2], spin);
        dMultiply0_331(momentum, mass.I, spin);
        sum += 0.5 * (mass.mass * dCalcVectorDot3(v, v) + dCalcVectorDot3(spin, momentum));
    }
    return sum;
}

/* With that of their height under the world's gravity. */
static inline double mechanicalEnergy(const dBodyID *body, int count)
{
    double sum = kineticEnergy(body, count);
    for (int k = 0; k < count; ++k) {
        dMass mass;
        dVector3 gravity;
        dBodyGetMass(body[k], &mass);
        dWorldGetGravity(dBodyGetWorld(body[k]), gravity);
        sum -= mass.mass * dCalcVectorDot3(gravity, dBodyGetPosition(body[k]));
    }
    return sum;
}

#endif
