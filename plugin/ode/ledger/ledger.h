/* What outlives a step: surfaces given to contacts, and the contacts of the last step.
 *
 * ODE reuses the addresses of destroyed bodies and joints at once, so identity is a serial number, kept on the
 * object itself from one step to the next (layout.h).  A surface belongs to a joint that is alive now (the
 * world's own list says so) and bears the mark it was given when it was created.  A contact of this step
 * continues one of the last if it joins the same bodies and geoms and its point moved less, in the frame of one
 * of the bodies, than it can have moved in a step; the nearest one not yet taken.  A body that was put elsewhere,
 * by more than the size of the bodies, has no past. */
#ifndef SPRAG_ODE_LEDGER_H
#define SPRAG_ODE_LEDGER_H

#include "ode/world/world.h"

/* Remembers the surface of a contact just created. */
spragStatus spragLedgerAddSurface(spragWorldID world, dJointID joint, const spragSurface *surface);
/* After ODE's step, which takes all marks away: puts those of joints on again, as spragUnpark does those of bodies. */
void spragLedgerMark(spragWorldID world);
/* Fills map joint -> record of the surfaces that are still valid and forgets the others. */
spragStatus spragLedgerFindSurfaces(spragWorldID world, spragPointerMap *map);
/* Parts records from geoms that are gone: they belong to any geom of the same body, or of the world. */
void spragLedgerForget(spragWorldID world, const spragGone *gone);
typedef spragStatus spragMeanwhileFn(spragWorldID world);
/* Fills joint.memory of every contact in an island.  The islands are found by own(world), while other threads list the
 * records; where it fails its status is returned. */
spragStatus spragLedgerMatch(spragWorldID world, spragMeanwhileFn *own);
/* The records of an island that ODE solved stay as they are. */
void spragLedgerKeep(spragWorldID world, const spragIsland *island);

/* A key for the pair of bodies, the same in either order; never NULL. */
const void *spragLedgerPair(const dBodyID body[2]);
/* The same contact with its bodies in the other order: forces and slip are those of the other body. */
void spragLedgerTurn(spragContactMemory *memory);

/* m, the position of a contact in the frame of each body (the world's frame for none). */
void spragContactLocal(const spragSnapshot *snapshot, const spragJointState *joint, double local[2][3]);

#endif
