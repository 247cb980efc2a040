/* What outlives a step: surfaces given to contacts, and the contacts of the last step.
 *
 * A dJointID is reused by ODE as soon as its contact is destroyed, so it identifies nothing by itself.  A surface
 * belongs to a joint that is alive now (the world's own list says so) and still has the geometry it was created with.
 * A contact of this step continues one of the last if it joins the same bodies and geoms and its point moved less, in
 * the frame of one of the bodies, than it can have moved in a step; the nearest one not yet taken. */
#ifndef SPRAG_ODE_LEDGER_H
#define SPRAG_ODE_LEDGER_H

#include "ode/world.h"

/* Remembers the surface of a contact just created. */
spragStatus spragLedgerAddSurface(spragWorldID world, dJointID joint, const dContactGeom *geom,
                                  const spragSurface *surface);
/* Fills map joint -> record of the surfaces that are still valid and forgets the others. */
spragStatus spragLedgerFindSurfaces(spragWorldID world, spragPointerMap *map);
/* Fills joint.memory of every contact in an island. */
spragStatus spragLedgerMatch(spragWorldID world);

/* m, the position of a contact in the frame of each body (the world's frame for none). */
void spragContactLocal(const spragSnapshot *snapshot, const spragJointState *joint, double local[2][3]);

#endif
