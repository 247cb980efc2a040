/* What is known of an attached world: struct spragWorld lives from attach to detach. */
#ifndef SPRAG_ODE_WORLD_H
#define SPRAG_ODE_WORLD_H

#include <sprag/sprag_ode.h>

#include "base/arena.h"
#include "base/floats.h"
#include "base/pool.h"
#include "linalg/block_lu.h"
#include "ode/world/event.h"
#include "ode/world/gone.h"
#include "ode/world/manner.h"
#include "ode/world/memory.h"
#include "ode/world/pipes.h"
#include "ode/world/snapshot_state.h"

/* ODE's forces of one contact joint, while its answer is judged (judge.h). */
typedef struct spragHeardJoint {
    dJointFeedback feedback, *before;
} spragHeardJoint;

/* Objects of ODE's. */
typedef struct spragList {
    void **object; /* (capacity) */
    size_t capacity;
    int count; /* of joints; as to bodies the snapshot says it */
} spragList;

/* What a callback of ODE or of Sprag meets. */
typedef enum spragStage { SPRAG_BETWEEN_STEPS, SPRAG_WITHIN_STEP, SPRAG_TELLING_EVENTS } spragStage;

struct spragWorld {
    struct spragWorld *next; /* in the list of live attachments */
    dWorldID world;          /* NULL once it was destroyed */
    spragConfig config;
    spragStage stage;
    spragFloats floats;    /* the host's, while Sprag works */
    spragArena arena;      /* of the step */
    spragPool *pool;       /* threads, or NULL */
    spragPool *hired;      /* the same, or NULL in a step that one thread makes, */
    spragPool *crew;       /* or in one that has too little for others to share but its islands */
    spragManner manner;    /* which of them are */
    spragLane *lane;       /* (lane_count) one for each thread */
    spragIsland *largest;  /* the island of this step with the most bodies, or NULL: the memo is its own */
    spragBlockLuMemo memo; /* of the graph of its bodies */
    int lane_count;
    double begin, solved; /* s, spragSeconds() when the step began and when its islands were solved */
    double after;         /* s, what steps take after that */
    int wedges, hard;     /* islands of the last step that were so; hard: or dear */
    spragPace pace;       /* of its steps */
    /* 1: the program asked for ODE's step, and has no use for a status: islands with absurd numbers are declined, one
     * by one; 0: the step is refused with a status that says what was wrong */
    int lenient;
    spragSnapshot snapshot;  /* of the last step: for dumps */
    spragList listed_bodies; /* while they are looked at; then, of each that is shown no joints, ODE's list of them */
    spragList listed_joints; /* those of the last step, until this one has listed its own */
    spragContactMemory *memory, *next_memory;
    size_t memory_capacity, next_memory_capacity;
    int memory_count, next_memory_count;
    const void **pair, **next_pair; /* of each record: its two bodies (spragLedgerPair) */
    size_t pair_capacity, next_pair_capacity;
    unsigned char *fate; /* (memory_count) spragRecordFate in this step, in the arena */
    int *noted; /* of the records being made: which of its island's contacts it is if it has something to tell, or -1 */
    spragLoadMemory *load;
    size_t load_capacity;
    int load_count;
    struct spragGuide **guide; /* (guide_count) ascending ids */
    size_t guide_capacity;
    int guide_count;
    struct spragBearing *bearing; /* (bearing_count) ascending ids */
    size_t bearing_capacity;
    int bearing_count;
    struct spragManifoldPoint *named, *next_named; /* points that colliders have named (manifold.h) */
    size_t named_capacity, next_named_capacity;
    int named_count, next_named_count;
    spragPipes pipes;
    unsigned long long gone; /* how many of the geoms that were destroyed it has been told of (gone.h) */
    unsigned long long next_id;
    unsigned next_serial;
    int marked; /* 1: serials are on all objects that were there at the last step; ODE's own step takes them off */
    spragSurfaceRecord *surface;
    size_t surface_capacity;
    int surface_count;
    spragContact *contact; /* of the first contact_count records, once they have been asked for */
    size_t contact_capacity;
    int contact_count, contacts_told;
    spragEventLog log;
    spragEventFn *callback;
    void *callback_user;
    int parked;   /* the joints of solved islands are disabled: between spragPark and the first callback, or Unpark */
    int made;     /* contacts since the last step, as far as Sprag made them */
    int hidden;   /* 1: or ODE is shown no joints in this step, */
    void *joints; /* and these are they */
    int called;   /* a moved callback of the user's ran in this step: joints may have come and gone */
    int limited;  /* in a step in which ODE has nothing to solve: islands are one thread's, */
    unsigned thread_limit;  /* and this the user's limit */
    spragHeardJoint *heard; /* (joint_count), in the arena */
    spragStepInfo info;
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
