/* Bodies on joints with friction, in a world without CFM. */
#ifndef TESTS_SUPPORT_JOINT_FRICTION_H
#define TESTS_SUPPORT_JOINT_FRICTION_H

#include "support/twin.h"

static const double G = 9.81, H = 1e-3;     /* m/s^2; s, the step */
static const double LENGTH = 0.4, MASS = 2; /* of a slider and its body: m, kg */

static inline dBodyID makeBody(Twin *t, double m, double J, double x, double y, double z)
{
    dMass mass;
    dMassSetParameters(&mass, m, 0, 0, 0, J, J, J, 0, 0, 0);
    dBodyID body = dBodyCreate(t->world);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x, y, z);
    return body;
}

static inline void open(Twin *t)
{
    makeTwin(t, 1);
    dWorldSetCFM(t->world, 0);
}

static inline void setFriction(Twin *t, dJointID joint, spragJointFriction f)
{
    assert_int_equal(spragJointSetFriction(t->sprag, joint, &f), SPRAG_OK);
}

static inline dJointID hingeAt(Twin *t, dBodyID body, double x, double y, double z)
{
    dJointID hinge = dJointCreateHinge(t->world, 0);
    dJointAttach(hinge, body, 0);
    dJointSetHingeAnchor(hinge, x, y, z);
    dJointSetHingeAxis(hinge, 0, 1, 0);
    return hinge;
}

static inline dJointID sliderOf(Twin *t, dBodyID body, dBodyID rail, int piston)
{
    dJointID joint = piston ? dJointCreatePiston(t->world, 0) : dJointCreateSlider(t->world, 0);
    dJointAttach(joint, body, rail);
    if (piston) {
        const dReal *p = dBodyGetPosition(body);
        dJointSetPistonAnchor(joint, p[0], p[1], p[2]);
        dJointSetPistonAxis(joint, 1, 0, 0);
    } else {
        dJointSetSliderAxis(joint, 1, 0, 0);
    }
    return joint;
}

static inline double drawn(unsigned long long *state) /* (0, 1), splitmix64 */
{
    unsigned long long z = *state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

#endif
