/* What is known of an attached world: struct spragWorld lives from attach to detach.  Its arrays are on the heap and
 * grow, but for those "in the arena", which live until the next step. */
#ifndef SPRAG_ODE_WORLD_H
#define SPRAG_ODE_WORLD_H

#include <sprag/sprag_ode.h>

#include "base/arena.h"
#include "base/floats.h"
#include "base/pool.h"
#include "linalg/block_lu.h"
#include "ode/world/event.h"
#include "ode/world/gone.h"
#include "ode/world/thread_choice.h"
#include "ode/world/memory.h"
#include "ode/world/statics.h"
#include "ode/world/snapshot_state.h"

/* ODE's forces of one contact joint, while its answer is judged (judge.h). */
typedef struct spragHeardJoint {
    dJointFeedback feedback; /* ODE writes to it */
    dJointFeedback *before;  /* the user's own, or NULL */
} spragHeardJoint;

/* Bodies or joints as ODE lists them, newest first. */
typedef struct spragList {
    void **object; /* (capacity) */
    size_t capacity;
    int count; /* of joints; as to bodies the snapshot says it */
} spragList;

/* What a callback of ODE or of Sprag meets. */
typedef enum spragStage { SPRAG_BETWEEN_STEPS, SPRAG_WITHIN_STEP, SPRAG_TELLING_EVENTS } spragStage;

struct spragWorld {
    struct spragWorld *next; /* in the list of live attachments (api/attachments) */
    dWorldID world;          /* NULL once it was destroyed */
    spragConfig config;
    /* 1: the program asked for ODE's step, and has no use for a status: islands with absurd numbers are declined, one
     * by one; 0: the step is refused with a status that says what was wrong */
    int lenient;
    spragStage stage;
    spragFloats floats; /* the host's floating-point environment, while Sprag works */
    unsigned next_serial;
    unsigned long long next_id; /* of contacts, guides and bearings */

    /* Memory, threads and time (world/lanes, world/thread_choice). */
    spragArena arena; /* of the step */
    spragLane *lane;  /* (lane_count) one for each thread */
    int lane_count;
    spragPool *pool;        /* threads; NULL: the caller's alone */
    spragPool *island_pool; /* of these, in this step, for islands: all, or NULL (thread_choice), */
    spragPool *loop_pool;   /* and for loops over joints and bodies; NULL too where these are few */
    spragThreadChoice thread_choice;
    double begin, solved; /* s, spragSeconds() when the step began and when its islands were solved */
    double after;         /* s, what a step takes after that, foreseen from the last ones */
    spragPace pace;       /* how long its steps are */
    int made;             /* contacts that Sprag made since the last step: foretells when threads are needed */

    /* The last step, or the present one (ode/look, ode/islands). */
    spragSnapshot snapshot;  /* stays until the next step: for dumps */
    spragList listed_bodies; /* ODE's; of those that are shown no joints (park.c) ODE's list of them in their place */
    spragList listed_joints; /* those of the last step, until this one has listed its own */
    spragIsland *largest;    /* the island with the most bodies, or NULL: */
    spragBlockLuMemo memo;   /* the last analysis of the graph of its bodies */
    spragStepInfo info;

    /* What the next step is told (ode/ledger, ode/step/report). */
    spragContactMemory *memory, *next_memory; /* records of contacts: of the last step, and being made */
    size_t memory_capacity, next_memory_capacity;
    int memory_count, next_memory_count;
    const void **pair, **next_pair; /* of each record: its two bodies (spragLedgerPair) */
    size_t pair_capacity, next_pair_capacity;
    unsigned char *fate; /* (memory_count) spragRecordFate in this step, in the arena */
    int *noted; /* of each record being made: its number among its island's contacts if it has events to tell, or -1 */
    spragLoadMemory *load; /* forces of limits and motors */
    size_t load_capacity;
    int load_count;
    struct spragManifoldPoint *named, *next_named; /* points that colliders have named (manifold.h) */
    size_t named_capacity, next_named_capacity;
    int named_count, next_named_count;
    int doubt;      /* > 0: steps left in which records may tell of a wedge */
    int forewarned; /* islands of the last step that spent their work, or had to agree (spragHindsight) */

    /* What the program has made, and what of it is gone. */
    struct spragGuide **guide; /* (guide_count) ascending ids */
    size_t guide_capacity;
    int guide_count;
    struct spragBearing *bearing; /* (bearing_count) ascending ids: friction of joints */
    size_t bearing_capacity;
    int bearing_count;
    spragSurfaceRecord *surface; /* of contacts that were made with a spragSurface */
    size_t surface_capacity;
    int surface_count;
    spragStatics statics;    /* geoms without a body that bodies lie on */
    unsigned long long gone; /* how many of the geoms that were destroyed it has been told of (gone.h) */
    int marked; /* 1: serials are on all objects that were there at the last step; ODE's own step takes them off */

    /* What the user is told (ode/step/report). */
    spragContact *contact; /* (contact_count) of the first records, filled when the user first asks */
    size_t contact_capacity;
    int contact_count, contacts_told; /* contacts of the last step; 1: `contact` is filled */
    spragEventLog log;
    spragEventFn *callback;
    void *callback_user;

    /* While ODE makes its step (ode/step/park, ode/step/judge). */
    int parked;            /* 1: the joints of solved islands are disabled; until the first moved callback, or Unpark */
    int hidden;            /* 1: ODE is shown no joints in place of that, */
    void *joints;          /* and these are they (spragLayoutHideJoints) */
    int called;            /* 1: a moved callback of the user's ran: joints may have come and gone */
    int limited;           /* 1: ODE has nothing to solve, and its islands are one thread's; */
    unsigned thread_limit; /* the user's limit */
    spragHeardJoint *heard; /* (joint_count) where ODE's answer is judged, in the arena */
};

/* The serial of an object that bears this mark now (layout.h); a new one if it bears none. */
static inline int spragSerialOf(struct spragWorld *world, int mark)
{
    return mark >= SPRAG_MARK_MIN ? mark : SPRAG_MARK_MIN + (int)(world->next_serial++ % SPRAG_MARK_MIN);
}

/* A copy of the joint's contact takes its place in this step, and may be changed.  NULL: no memory. */
static inline dContact *spragContactOwn(struct spragWorld *world, spragJointState *joint)
{
    dContact *own = SPRAG_TAKE_RAW(&world->arena, dContact, 1);
    if (own != NULL) {
        *own = *joint->contact;
        joint->contact = own;
    }
    return own;
}

#endif
