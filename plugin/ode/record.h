/* What is remembered of a contact, and what of that is told. */
#ifndef SPRAG_ODE_RECORD_H
#define SPRAG_ODE_RECORD_H

#include "ode/world.h"

/* The number of a body with this serial, for events; -1: the world. */
int spragRecordNumber(int serial);
/* Fills what a contact is recognised by: geoms, places, serials, arm. */
void spragRecordPlace(const spragSnapshot *snapshot, const spragJointState *joint, spragContactMemory *memory);
/* The record as the user is told of it. */
spragContact spragRecordContact(const spragContactMemory *record);
/* What every event of a contact between these bodies of the snapshot says; of what was before, nothing yet. */
spragContactChange spragRecordChange(const struct spragWorld *world, const int body[2], const spragContact *contact);

#endif
