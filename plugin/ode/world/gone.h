/* Geoms that the program has destroyed.
 *
 * ODE gives their addresses to new geoms at once, or gives new geoms others: which, malloc tells, and it differs from
 * process to process.  A geom bears no mark, and of one without a body nobody says whether it is alive.  But ODE frees
 * it through the handler of dSetFreeHandler, and there its address is noted (api/attachments).  Before a step whatever
 * was remembered of it is parted from its address:
 *
 *     a contact's record belongs to any geom of its body, or of the world, from then on (SPRAG_GEOM_GONE), as a geom
 *     that is destroyed and made anew, larger or with another mesh, touches where the old one did;
 *     named points (manifold.h) and what is known of pipes (pipes.h) are forgotten.
 *
 * Noted are only addresses that some world remembers, or that lie where one of 65536 such does: what else ODE frees
 * costs no lock. */
#ifndef SPRAG_ODE_GONE_H
#define SPRAG_ODE_GONE_H

#include <ode/ode.h>

#include "ode/world/pointer_map.h"

/* The address of no geom: of one that is gone, in a record. */
#define SPRAG_GEOM_GONE ((dGeomID)(uintptr_t)1)

/* More of them, between two steps of a world, and all geoms count as gone. */
enum { SPRAG_GONE_MOST = 1 << 14 };

/* The geom's address will be remembered.  Any thread; NULL: nothing. */
void spragGoneKnow(const void *geom);

/* ODE frees this block. */
void spragGoneNote(const void *block);

/* What is gone. */
typedef struct spragGone {
    int count, all; /* of the map; 1: all */
    spragPointerMap map;
} spragGone;

/* How many have been noted so far: what a world that begins has read. */
unsigned long long spragGoneSoFar(void);

/* What was noted after the first *read, which becomes the number so far.  0: no memory. */
int spragGoneRead(unsigned long long *read, spragArena *arena, spragGone *gone);

static inline int spragIsGone(const spragGone *gone, const void *geom)
{
    return geom != NULL && (gone->all || spragPointerMapGet(&gone->map, geom) >= 0);
}

#endif
