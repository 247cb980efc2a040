/* Geoms, and joints with friction, that the program has destroyed.
 *
 * ODE gives their addresses to new geoms at once, or gives new geoms others: which, malloc tells, and it differs from
 * process to process.  A geom bears no mark, and of one without a body nobody says whether it is alive.  But ODE frees
 * it through the handler of dSetFreeHandler, and there its address is noted (api/attachments).  Before a step whatever
 * was remembered of it is parted from its address:
 *
 *     a contact's record belongs to any geom of its body, or of the world, from then on (SPRAG_GEOM_GONE), as a geom
 *     that is destroyed and made anew, larger or with another mesh, touches where the old one did;
 *     named points (manifold.h), what is known of statics (statics.h) and the friction of joints are forgotten.
 *
 * (Joints have marks (layout.h), but none before the first step, and none after a step of ODE's own.)
 *
 * Noted are only addresses that some world remembers, or that lie where one of 65536 such does: what else ODE frees
 * costs no lock. */
#ifndef SPRAG_ODE_GONE_H
#define SPRAG_ODE_GONE_H

#include <ode/ode.h>

#include "ode/world/pointer_map.h"

/* The address of no geom: of one that is gone, in a record. */
#define SPRAG_GEOM_GONE ((dGeomID)(uintptr_t)1)

/* So many, of all worlds, between two steps of one of them; of more, the last.  (What went before these has its address
 * still, as whoever has that now is taken for it.  Were all to count as gone, the steps of a world would go by what is
 * destroyed elsewhere, on other threads perhaps.) */
enum { SPRAG_GONE_MOST = 1 << 16 };

/* The address of a geom, or of a joint, will be remembered.  Any thread; NULL: nothing. */
void spragGoneKnow(const void *object);

/* ODE frees this block. */
void spragGoneNote(const void *block);

/* What is gone. */
typedef struct spragGone {
    unsigned long long first; /* how many had been noted before */
    int count;                /* with those that went twice, at one address */
    spragPointerMap map;      /* to the last place in the order in which they were noted, from 0 */
} spragGone;

/* How many have been noted so far: what a world that begins has read. */
unsigned long long spragGoneSoFar(void);

/* What was noted after the first *read, of that the last SPRAG_GONE_MOST; *read becomes the number so far.  0: no
 * memory. */
int spragGoneRead(unsigned long long *read, spragArena *arena, spragGone *gone);

/* 1: what is made at this address after so many had been noted (spragGoneSoFar) is gone, for certain. */
static inline int spragIsGoneSince(const spragGone *gone, const void *object, unsigned long long since)
{
    const int last = gone->count > 0 ? spragPointerMapGet(&gone->map, object) : -1;
    return last >= 0 && gone->first + (unsigned long long)last >= since;
}

static inline int spragIsGone(const spragGone *gone, const void *geom)
{
    return gone->count > 0 && spragPointerMapGet(&gone->map, geom) >= 0;
}

#endif
