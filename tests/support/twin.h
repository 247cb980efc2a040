/* A world under Sprag and its twin under stock ODE: boxes on the plane z = 0, contacts made by hand. */
#ifndef TESTS_SUPPORT_TWIN_H
#define TESTS_SUPPORT_TWIN_H

#include "support/check.h"
#include "support/plane_contact.h"

#include <string.h>

#include <sprag/sprag_ode.h>

enum { BODY_MAX = 8 };

/* A world, its twin under stock ODE, boxes on the plane z = 0 under either. */
typedef struct Twin {
    dWorldID world;
    dJointGroupID group;
    spragWorldID sprag; /* NULL: stock */
    dBodyID body[BODY_MAX];
    int count;
} Twin;

static inline void makeTwin(Twin *t, int use_sprag)
{
    *t = (Twin){.world = dWorldCreate(), .group = dJointGroupCreate(0)};
    dWorldSetGravity(t->world, 0, 0, -9.81);
    if (use_sprag)
        assert_int_equal(spragWorldAttach(t->world, NULL, &t->sprag), SPRAG_OK);
}

static inline void freeTwin(Twin *t)
{
    if (t->sprag != NULL)
        spragWorldDetach(t->sprag);
    dJointGroupDestroy(t->group);
    dWorldDestroy(t->world);
}

static inline dBodyID addBox(Twin *t, double x, double y, double z)
{
    dMass mass;
    dMassSetBoxTotal(&mass, 2, 1, 0.8, 0.4);
    dBodyID body = t->body[t->count++] = dBodyCreate(t->world);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x, y, z);
    return body;
}

static inline dJointID addContact(Twin *t, const dContact *contact, dBodyID a, dBodyID b)
{
    dJointID joint = t->sprag != NULL ? spragJointCreateContact(t->sprag, t->group, contact)
                                      : dJointCreateContact(t->world, t->group, contact);
    assert_non_null(joint);
    dJointAttach(joint, a, b);
    return joint;
}

/* Contacts at the four lower corners of a box that lies flat. */
static inline void addCorners(Twin *t, dBodyID box, double mu)
{
    for (int i = 0; i < 4; ++i) {
        dVector3 p;
        dBodyGetRelPointPos(box, i & 1 ? 0.5 : -0.5, i & 2 ? 0.4 : -0.4, -0.2, p);
        dContact contact = planeContact(p[0], p[1], p[2], mu);
        contact.geom.depth = -p[2];
        if (contact.geom.depth >= -1e-9)
            addContact(t, &contact, box, 0);
    }
}

static inline void step(Twin *t, double h)
{
    if (t->sprag != NULL)
        assert_int_equal(spragWorldStep(t->sprag, h), SPRAG_OK);
    else
        dWorldStep(t->world, h);
    dJointGroupEmpty(t->group);
}

/* The contacts of the last step, as many as there have to be. */
static inline const spragContact *lastContacts(const Twin *t, int count)
{
    const spragContact *contact;
    assert_int_equal(spragWorldGetContacts(t->sprag, &contact), count);
    return contact;
}

/* Events of this type in the last step. */
static inline int countEvents(const Twin *t, spragEventType type)
{
    const spragEvent *event;
    int found = 0;
    for (int k = spragWorldGetEvents(t->sprag, &event) - 1; k >= 0; --k)
        found += event[k].type == type;
    return found;
}

static inline double bodyDifference(dBodyID a, dBodyID b)
{
    double d = 0;
    for (int i = 0; i < 3; ++i) {
        d = fmax(d, fabs(dBodyGetPosition(a)[i] - dBodyGetPosition(b)[i]));
        d = fmax(d, fabs(dBodyGetLinearVel(a)[i] - dBodyGetLinearVel(b)[i]));
        d = fmax(d, fabs(dBodyGetAngularVel(a)[i] - dBodyGetAngularVel(b)[i]));
        d = fmax(d, fabs(dBodyGetQuaternion(a)[i] - dBodyGetQuaternion(b)[i]));
    }
    return d;
}

#endif
