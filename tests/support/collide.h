/* Contacts where two geoms meet, as a program's near callback makes them. */
#ifndef TESTS_SUPPORT_COLLIDE_H
#define TESTS_SUPPORT_COLLIDE_H

#include "support/check.h"

#include <string.h>

#include <sprag/sprag_ode.h>

/* Up to eight, all with one surface.  feedback: of each, so that the last one's stays; or NULL. */
static inline void makeContacts(spragWorldID sprag, dJointGroupID group, dGeomID a, dGeomID b,
                                const dSurfaceParameters *surface, dJointFeedback *feedback)
{
    enum { MOST = 8 };
    dContact contact[MOST];
    memset(contact, 0, sizeof contact);
    const int count = dCollide(a, b, MOST, &contact[0].geom, sizeof *contact);
    for (int i = 0; i < count; ++i) {
        contact[i].surface = *surface;
        const dJointID joint = spragJointCreateContact(sprag, group, &contact[i]);
        assert_non_null(joint);
        if (feedback != NULL)
            dJointSetFeedback(joint, feedback);
        dJointAttach(joint, dGeomGetBody(a), dGeomGetBody(b));
    }
}

#endif
