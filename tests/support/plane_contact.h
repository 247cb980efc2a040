/* A contact with a horizontal plane, normal up, friction proportional to its force. */
#ifndef TESTS_SUPPORT_PLANE_CONTACT_H
#define TESTS_SUPPORT_PLANE_CONTACT_H

#include <string.h>

#include <ode/ode.h>

static inline dContact planeContact(double x, double y, double z, double mu)
{
    dContact contact;
    memset(&contact, 0, sizeof contact);
    contact.surface.mode = dContactApprox1;
    contact.surface.mu = mu;
    contact.geom.pos[0] = x;
    contact.geom.pos[1] = y;
    contact.geom.pos[2] = z;
    contact.geom.normal[2] = 1;
    return contact;
}

#endif
