/* What is known of an attached world, and what one step works on.
 *
 * struct spragWorld lives from attach to detach.  A spragSnapshot lives for one step, in the world's arena: bodies and
 * joints in order of creation (ODE's lists reversed), which is the order everything else follows, so that the same
 * calls give the same bits whatever addresses malloc returned. */
#ifndef SPRAG_ODE_WORLD_H
#define SPRAG_ODE_WORLD_H

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>

#include <sprag/sprag_ode.h>

#include "base/arena.h"
#include "base/floats.h"
#include "base/pool.h"
#include "base/prefetch.h"
#include "linalg/block_lu.h"
#include "linalg/quad.h"
#include "ode/event.h"
#include "ode/layout.h"
#include "ode/manner.h"
#include "ode/pipes.h"
#include "ode/pointer_map.h"
#include "problem/bodies.h"
#include "problem/reaches.h"

/* ---------------------------------------------------------------- of one step */

/* Of the numbers of a world.  Beyond it a step overflows somewhere, and ODE ends the program. */
#define SPRAG_GREATEST 1e60

static inline int spragIsUsable(double x) /* 0: NaN, too */
{
    return fabs(x) <= SPRAG_GREATEST;
}

/* In lines of memory, by who reads them together: piles of thousands are walked as fast as these come. */
enum { SPRAG_LINE = 64 }; /* bytes */

typedef struct spragBodyState {
    _Alignas(SPRAG_LINE) dBodyID id;
    double inverse_mass;   /* 1/kg */
    int serial;            /* the same from step to step, and no other body's */
    int enabled;           /* once ODE has put those to sleep that were idle for long enough */
    int kinematic;         /* moves as it likes: inverse mass 0 */
    int component;         /* ODE's island: least body index in it */
    int awake;             /* its component has an enabled body */
    int absurd;            /* not finite, or of no mass: its island stays with ODE (lenient worlds) */
    int island;            /* Sprag's island, or -1 */
    int number;            /* in the list of bodies of its island */
    int place;             /* the same; then that of the first body of its mechanism */
    int articulation;      /* mechanism of the island, or -1 */
    int group;             /* its number in its mechanism */
    int idle;              /* ODE will set it to rest before it solves */
    int held;              /* ODE must not put it to sleep in this step: its island is awake and solved */
    int slept;             /* of held bodies: it was asleep */
    double mass;           /* kg, 0: not looked at yet */
    double impulse[6];     /* of all constraints of the island, N s, N m s */
    double motor_force[6]; /* of motors at their stops, N, N m */
    int counted;           /* of held bodies: auto-disable has counters that are to be kept */
    int isotropic;         /* the inertia is a multiple of 1: no gyroscopic torque */
    int own_gyroscopic;    /* 1: ODE's term is switched off for this step */
    int listened;          /* 1: the user has a moved callback on it */
    /* what follows begins with no value, and has one once the body was read */
    _Alignas(SPRAG_LINE) double velocity[6]; /* linear, angular at the start of the step */
    double free_velocity[6];                 /* at the end of the step without constraint forces */
    double position[3], rotation[9];         /* m; body to world */
    double inertia[9], inverse_inertia[9];   /* (3 x 3) world axes, about the centre of mass */
    double force[6];                         /* ODE's accumulators as found, N, N m */
    double gyroscopic[3];                    /* torque Sprag applies in place of ODE, N m, where it is switched off */
    double idle_velocity[6];                 /* as found, of idle bodies */
    spragIdleState idle_state;               /* as found, of counted bodies */
    spragMovedFn *moved;                     /* the user's callback while ours stands in its place */
} spragBodyState;

/* Who a body is: asked for every contact, so side by side. */
typedef struct spragBodyName {
    dBodyID id;
    int serial;
} spragBodyName;

/* A geom of a body. */
typedef struct spragRound {
    dGeomID geom;  /* or NULL */
    double radius; /* m, of curvature */
    int is_ball;   /* 1: a sphere about the body's centre */
    int is_box;    /* 1: the same of a box */
} spragRound;

/* One line of memory: most passes through a step are through these. */
typedef struct spragJointState {
    _Alignas(SPRAG_LINE) dJointID id;
    const dContact *contact;      /* of contact joints */
    struct spragGuide *guide;     /* of the null joint that carries a guide */
    struct spragBearing *bearing; /* friction of the joint, or NULL; valid for the step */
    double withheld;              /* the part of its corrections that is not asked for in this step (surge.h) */
    int serial;                   /* as a body's; of contacts the mark of their surface, or 0 */
    int body[2];                  /* ODE's node order: body[0] >= 0 if attached, body[1] = -1 for the world */
    int island;                   /* or -1 */
    int memory;               /* index of the record of the last step, or -1: of contacts and guides; else of a load */
    unsigned type : 8;        /* dJointType */
    unsigned enabled : 1;     /* and attached to a dynamic body: takes part in the step */
    unsigned reversed : 1;    /* attached as (0, body): body[0] is the user's second */
    unsigned listened : 1;    /* the user wants its feedback */
    unsigned alone : 1;       /* a contact: its two bodies have no other one, as far as is known */
    unsigned crowded : 1;     /* they have, and touched in the last step */
    unsigned surges : 1;      /* its impulse is out of proportion to its corrections */
    unsigned stray : 1;       /* a contact that is none (stray.h): it has an island, and is not in its list */
    unsigned never_stays : 1; /* a contact that is not of two boxes of bodies (stay.h) */
} spragJointState;
_Static_assert(sizeof(spragJointState) == SPRAG_LINE, "a joint fills its line");

/* Does Sprag have a law of its own for it?  Then its island is Sprag's, and it is counted and reported as a contact. */
static inline int spragIsContact(const spragJointState *joint)
{
    return joint->contact != NULL || joint->guide != NULL;
}

/* The geom of a contact joint that is body[side]'s, or NULL. */
static inline dGeomID spragGeomOf(const spragJointState *joint, int side)
{
    return (side == 0) != joint->reversed ? joint->contact->geom.g1 : joint->contact->geom.g2;
}

/* Asks for two lines of each of the joint's bodies: how they move, or how they lie. */
static inline void spragAskBodies(const spragBodyState *body, const spragJointState *joint, size_t offset)
{
    for (int side = 0; side < 2; ++side)
        if (joint->body[side] >= 0)
            spragPrefetch((const char *)&body[joint->body[side]] + offset, 2 * SPRAG_LINE);
}
#define SPRAG_HOW_THEY_MOVE offsetof(spragBodyState, velocity)
#define SPRAG_HOW_THEY_LIE offsetof(spragBodyState, position)

typedef struct spragBlock spragBlock;

/* What one thread works with. */
typedef struct spragLane {
    spragArena arena;           /* of its islands, until the next step */
    spragArena scratch;         /* of the assembly of one island */
    double assembling, solving; /* s, in this step */
    double since;               /* s, spragSeconds() when it was last asked for them */
} spragLane;

/* What two or three contacts that slide do together (coupled.h). */
enum { SPRAG_COUPLED_MAX = 3 };

/* Steps after a wedge in which an island is asked for one after its first method: it comes and goes where bodies are
 * caught in each other. */
enum { SPRAG_DOUBT = 10 };
/* Steps in which one that is wedged, but was not squeezed, is not asked for a squeeze. */
enum { SPRAG_UNSQUEEZED = 10 };

typedef struct spragCoupled {
    int examined; /* 0: the island is none of these, the rest is not set */
    int paradox_class;
    double separatrix[SPRAG_COUPLED_MAX]; /* N of each block in a solution that is not realisable, or 0 */
} spragCoupled;

/* What an island may have to go without W, before it is made (delassus.h). */
typedef enum spragWaits {
    SPRAG_WAITS_NOT,
    SPRAG_WAITS_FOR_GUESS, /* its guess is judged, as it seems to rest */
    SPRAG_WAITS_FOR_TRY    /* the first methods have a share of the work */
} spragWaits;

typedef struct spragIsland {
    /* in lines, as bodies: of ten thousand lone islands every pass walks through the first one */
    _Alignas(SPRAG_LINE) int *body; /* (body_count) dynamic bodies, ascending */
    int *joint;                     /* (joint_count) enabled joints, ascending */
    const char *declined;           /* why ODE solves it, or NULL */
    struct spragLoneLaw *lone;      /* (joint_count) of one body alone, without blocks (lone.h); or NULL */
    struct spragLoneDrive *drive;   /* (joint_count) of such a one on what is driven (lone_drive.h) */
    int body_count, joint_count, contact_count;
    int reported, first_record; /* contacts with a spragContact; the record of the first of them (report.h) */
    int block_count, row_count;
    int failed;                      /* 1: declined as it has no answer, not for what it is */
    struct spragPlainMotion *motion; /* (joint_count) of a lone one that has something to tell, or NULL */
    spragSolveInfo solve;            /* where wedge > 0: of the problem in which contacts yield (soften.h) */
    spragLane *lane;
    /* how much of W it has */
    const char *rescued;    /* why its answer is that of sweeps without W (rescue.h), or NULL */
    struct spragBare *bare; /* solved in its bodies' velocities, without blocks and problem (bare.h); or NULL */
    int loose;              /* 1: W has its diagonal blocks alone, and joints stay rows */
    int lean;               /* 1: W has its diagonal blocks alone, and products go by reaches (delassus.h) */
    int whole;              /* 1: it must not be lean */
    spragWaits waits;       /* for what it is lean until W is made */
    int glued;              /* 1: it is loose, as it is too large a heap of glue (solve/glue.h) */
    int visited;            /* 1: visits of its contacts were not enough (bare.h) */
    /* how much work it has */
    int haste;   /* each of its solutions has 2^-haste of the work (haste.h), */
    int dear;    /* and all of a step together 2^-dear (hindsight.h) */
    int falls;   /* 1: a part of a pile that falls and strikes (fall.h) */
    int stirred; /* 1: a heap that rests, but for a few bodies (heap.h) */
    /* what the last step knew of it (hindsight.h) */
    int wedged_before; /* 1: a contact of it was in a wedged island; 2: whose guides had to yield */
    int doubt;         /* the steps left in which a wedge that one of its contacts was in may come back */
    int unsqueezed;    /* the steps left in which it is not asked for a squeeze */
    int hard_before;   /* 1: a contact of it was in a hard one: the contacts that carried are tried first */
    /* what this step has found out */
    int hard;         /* 1: its answer came late in the chain, or from the contacts that carried before */
    int vain;         /* 1: those were tried in vain, and the chain began anew */
    int surged;       /* 1: its answer threw bodies; its joints and contacts ask for less (surge.h) */
    double wedge;     /* m/s: friction locks a wedge that closes so fast; 0: there is none */
    double rigid;     /* m/s, of a wedged one: the residual of the problem in which nothing yields */
    int squeezed;     /* 1: the wedge closes whatever the friction */
    double yielded;   /* the share of W by which its contacts had to yield so far, or 0 (soften.h), */
    int guides_yield; /* 1: and its guides too */
    int articulation_count;
    /* what follows begins as zeros where the island is not lone (batches.c), and has no value where it is */
    double locked; /* m/s, the fastest that contacts which joints hold were to move, and do not */
    int flat;      /* 1: its bodies lie flat on each other (lies_flat.h) */
    int sticks;    /* 1 or 2: a heap some of whose contacts have mu = infinity (heap.h) */
    int steep;     /* 1: a heap with high coefficients of friction, the same */
    int tumbles;   /* 1: a heap of mechanisms that falls (fall.h) */
    int missed; /* how often it had no answer in this step; it then has less work when it is solved again (release.h) */
    double spent;  /* 3x3 products, of all its solutions in this step so far, */
    double most;   /* and at most (release.h) */
    int tried;     /* 1: methods without W have missed in this step, so that it is made at once (delassus.h) */
    int asked;     /* iterations of passing.c */
    double calmed; /* m/s, of one that rests (bare.h): the creep that Newton's method cannot end; or, negated, that
                      with which the next step may begin where visits end it; or 0 */
    double slop;   /* m: so much of its overlaps stays (slop.h), */
    double trace;  /* and so much if it has few blocks */
    int unsettled; /* 1: the bounds of its joints' friction do not fit their reactions (settle.h) */
    /* its problem */
    int block_total;      /* blocks with those that are not in the working set (working_set.h) */
    spragBlock *block;    /* (block_total) */
    spragQuad (*Y)[2][6]; /* (block_count) M^-1 J^T of bodies that move, lanes are rows; while it is assembled */
    int *on_start, *on;   /* blocks on each group of bodies (delassus_pattern.h); NULL: there is no W */
    struct spragEqualityRow *row;           /* (row_count) of its joints */
    struct spragArticulation *articulation; /* (articulation_count) mechanisms they form */
    spragProblem problem;
    spragBodies bodies;                /* of the problem, where they are given to it (delassus.c) */
    spragLinks links;                  /* of them, where joints hold them (links.c) */
    spragReaches reaches;              /* the joints that each block reaches, for products without W */
    double *mu, *mu_minus, *bound, *W; /* of the problem; between solves release, soften and bearing change them */
    unsigned char *kind;               /* the same; NULL: all are contacts */
    /* its answer */
    double *r, *u;              /* (block_count x 3) N s, m/s */
    double (*echo)[3];          /* (reported) N, of each contact (echo.h), or NULL */
    struct spragGreedy *greedy; /* its contacts are visited greedily, without W (matrix_free.h); or NULL */
    spragCoupled coupled;
} spragIsland;

/* It has no answer. */
static inline void spragIslandFail(spragIsland *island, const char *why)
{
    island->declined = why;
    island->failed = 1;
}

/* How long a program's steps are: their mean over as many as a window has, 1, 2, 4, ... and then 128.  It stays until
 * that of another window differs by a quarter: what changes little by little disturbs a pile at rest in every step.  (A
 * wall that goes over from 60 to 240 steps a second moved for 400 steps in place of 13.) */
typedef struct spragPace {
    double length;     /* s, 0 before the first step */
    double sum;        /* s, of the `count` steps in the window */
    int count, window; /* window: 0 before the first step */
} spragPace;

typedef struct spragSnapshot {
    double step;                       /* s */
    double pace;                       /* s, the step or, if that is longer, the pace of the last ones (spragPace) */
    double gravity[3];                 /* m/s^2 */
    double erp, cfm;                   /* the world's */
    double layer, greatest_correction; /* m, m/s, of contacts */
    double slow;                       /* m/s, a millionth of what gravity gives in a step */
    double least_correction;           /* m/s, half the tolerance, or less where the step is short (ode/rows.h) */
    int body_count, joint_count, island_count;
    int active_count; /* joints that are enabled, and whose bodies are awake */
    int stray_count;  /* contacts that are none (stray.h) */
    spragBodyState *body;
    spragBodyName *name; /* (body_count) the same as body[].id, serial */
    dGeomID *geom;       /* (body_count) the first geom of each, or NULL: ODE's bodies lie anywhere */
    spragRound *round;   /* (body_count) the same, of bodies that have rows (bare.c) */
    spragJointState *joint;
    spragIsland *island;
    int listened;          /* 1: some joint has feedback */
    int watched;           /* 1: some body has a moved callback */
    int numbered;          /* 1: some joint has a serial */
    double (*carried)[3];  /* (joint_count) N on body[0], added to the guess: of points that are no more; or NULL */
    double (*local)[2][3]; /* (joint_count) m, of contacts that have a record: where they are in the frame of each
                              body, or were when the collider named them; or NULL */
    struct spragStayBox *boxes; /* (body_count) or NULL (stay.c) */
    dContact *stays;            /* (joint_count) of contacts that take the place of their records (stay.h); or NULL */
    atomic_int stayed;          /* so many of them */
    spragPointerMap body_index;
} spragSnapshot;

/* Do forces move it?  body: in the snapshot, -1 = the world. */
static inline int spragIsDynamic(const spragSnapshot *snapshot, int body)
{
    return body >= 0 && !snapshot->body[body].kinematic;
}

/* ---------------------------------------------------------------- of an attachment */

/* What becomes of a record in this step.  LEFT: its contact is gone, or sleeps; CONTINUED: it goes on in an island that
 * Sprag solves; KEPT: it goes on in one that ODE solves, and the record stays as it is. */
typedef enum spragRecordFate { SPRAG_RECORD_LEFT, SPRAG_RECORD_CONTINUED, SPRAG_RECORD_KEPT } spragRecordFate;

/* A contact of the last step: what its successor is recognised by and starts from, and what the user is told.  In lines
 * by who reads them: the ledger who, where and its place, the next problem what it did. */
typedef struct spragContactMemory {
    /* the bodies are compared, never followed; an address may be another body's by now, which its serial tells */
    _Alignas(SPRAG_LINE) dBodyID body[2];
    int serial[2];
    dGeomID geom[2];
    unsigned long long id;
    double arm;                /* m, distance from the bodies' centres: the scale of a match */
    unsigned char is_guide;    /* recognised by its id, not by its place */
    unsigned char never_stays; /* 1: its geoms are not two boxes of bodies (stay.h) */
    int echoes;                /* 1: `echo` is not 0 */
    /* where it was */
    double local[2][3]; /* m, position in the frame of each body */
    double calmed;      /* m/s, of its island (bare.h) */
    double slop;        /* m, the same (slop.h) */
    /* what it did */
    double normal_force; /* N, along the normal, < 0 where a guide pushes against it */
    double friction[3];  /* N, on body[0] */
    double slip[3];      /* m/s; the last one, kept while it sticks */
    spragMode mode;
    signed char variant;
    unsigned char passed; /* 1: it stuck as its slip passed through zero, and was told of as a reversal (passing.h) */
    unsigned char turned; /* 1: the user named its bodies in the other order */
    /* its place in the world */
    double position[3], normal[3];
    double depth;   /* m */
    dJointID joint; /* given to the user, never followed; NULL for guides */
    /* what few have */
    double echo[3];   /* N, added to its force for the next guess (echo.h) */
    double moment[3]; /* N m, of rolling friction on body[0] */
    int haste;        /* of its island (haste.h) */
    int wedged;       /* 1: its island was (soften.h); 2: and its guides had to yield */
    int doubt;        /* as of the island, in the next step */
    short hard;       /* 1: the same, by a later link of the chain, or by what carried before (hindsight.h) */
    short dear;       /* as of the island, in the next step */
    short heap;       /* 1: its island was a heap in haste (haste.h) */
    short unsqueezed; /* as of the island, in the next step */
    double trace;     /* m, of an island of few contacts (slop.h) */
    /* for the user alone */
    double slip_now[3]; /* m/s */
    double painleve_p, free_acceleration;
    int paradox_class;
} spragContactMemory;
_Static_assert(offsetof(spragContactMemory, local) == SPRAG_LINE &&
                   offsetof(spragContactMemory, normal_force) == 2 * SPRAG_LINE &&
                   offsetof(spragContactMemory, position) == 3 * SPRAG_LINE &&
                   offsetof(spragContactMemory, echo) == 4 * SPRAG_LINE && sizeof(spragContactMemory) == 6 * SPRAG_LINE,
               "each begins with a line");

/* Force of one of a joint's limits and motors in the last step: whether it held, and where the search starts. */
typedef struct spragLoadMemory {
    dJointID joint; /* compared, never followed */
    int serial;     /* of the joint */
    int number;     /* of the row among the joint's limits and motors */
    int next;       /* another record of the joint, or -1 */
    double force;   /* N, N m */
} spragLoadMemory;

/* A contact made with a spragSurface: recognised by its joint and the mark that was put on it. */
typedef struct spragSurfaceRecord {
    dJointID joint;
    int mark;
    spragSurface surface;
    int used;
} spragSurfaceRecord;

/* ODE's forces of one contact joint, while its answer is judged (judge.h). */
typedef struct spragHeardJoint {
    dJointFeedback feedback, *before;
} spragHeardJoint;

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
    spragSnapshot snapshot; /* of the last step: for dumps */
    /* bodies, then joints, while they are looked at; then, of each body that is shown no joints, ODE's list of them */
    void **listed;
    size_t listed_capacity;
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

#endif
