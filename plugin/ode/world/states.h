/* Bodies and joints of a step, as they were found: what all later stages ask of them. */
#ifndef SPRAG_ODE_STATES_H
#define SPRAG_ODE_STATES_H

#include <math.h>
#include <stddef.h>

#include <ode/ode.h>

#include "base/prefetch.h"
#include "ode/world/layout.h"

/* Of the numbers of a world.  Beyond it a step overflows somewhere, and ODE ends the program. */
#define SPRAG_GREATEST 1e60

static inline int spragIsUsable(double x) /* 0: NaN, too */
{
    return fabs(x) <= SPRAG_GREATEST;
}

static inline int spragAreUsable(const double *x, int count)
{
    int usable = 1;
    for (int i = 0; i < count; ++i)
        usable &= spragIsUsable(x[i]);
    return usable;
}

/* States are laid out in cache lines, by who reads them together: piles of thousands are walked as fast as these come
 * from memory. */
enum { SPRAG_LINE = 64 }; /* bytes */

typedef struct spragBodyState {
    _Alignas(SPRAG_LINE) dBodyID id;
    double inverse_mass;   /* 1/kg */
    int serial;            /* the same from step to step, and no other body's */
    int enabled;           /* 1: awake, as ODE will find it: not where it has been idle for long enough (snapshot) */
    int kinematic;         /* 1: moves as it likes: inverse mass 0 */
    int component;         /* ODE's island: least body index in it (look/island) */
    int awake;             /* 1: its component has an enabled body */
    int absurd;            /* 1: not finite, or of no mass: its island stays with ODE (lenient worlds) */
    int island;            /* Sprag's island, or -1 */
    int number;            /* in the list of bodies of its island */
    int place;             /* its group in the pattern of W: `number`, or, of a mechanism, that of its first body */
    int articulation;      /* mechanism of the island, or -1 (joints/mechanism) */
    int group;             /* its number in its mechanism */
    int idle;              /* 1: ODE will set it to rest before it solves (snapshot) */
    int held;              /* 1: ODE must not put it to sleep in this step: its island is awake and solved (park) */
    int slept;             /* of held bodies: 1: it was asleep */
    double mass;           /* kg, 0: not looked at yet */
    double impulse[6];     /* the answer: of all constraints of the island, N s, N m s (impulse_sum) */
    double motor_force[6]; /* of motors at their stops, N, N m (joint_blocks) */
    int counted;           /* of held bodies: 1: auto-disable has counters that are to be kept (park) */
    int isotropic;         /* 1: the inertia is a multiple of the identity: no gyroscopic torque */
    int own_gyroscopic;    /* 1: Sprag's gyroscopic torque takes the place of ODE's in this step (free_motion) */
    int listened;          /* 1: the user has a moved callback on it */
    /* What follows begins with no value, and has one once the body was read. */
    _Alignas(SPRAG_LINE) double velocity[6]; /* m/s, rad/s, linear, angular, at the start of the step */
    double free_velocity[6];                 /* at its end, if no constraint acted (free_motion) */
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

/* How a geom of a body is curved (ode/shape/curvature). */
typedef struct spragGeomRadius {
    dGeomID geom;  /* or NULL */
    double radius; /* m, of curvature; INFINITY: flat; NAN: unknown */
    int is_ball;   /* 1: a sphere about the body's centre */
    int is_box;    /* 1: a box about the body's centre */
} spragGeomRadius;

/* One cache line: most passes of a step are over these. */
typedef struct spragJointState {
    _Alignas(SPRAG_LINE) dJointID id;
    const dContact *contact;      /* of contact joints */
    struct spragGuide *guide;     /* of the null joint that carries a guide */
    struct spragBearing *bearing; /* friction of the joint, or NULL; valid for the step */
    double withheld;              /* 0 to 1, the part of its corrections that is not asked for in this step (surge.h) */
    int serial;                   /* as a body's; of contacts the mark of their spragSurface, or 0 */
    int body[2];                  /* ODE's node order: body[0] >= 0 if attached, body[1] = -1 for the world */
    int island;                   /* or -1 */
    int memory;               /* its record of the last step, or -1: in world->memory; of other joints in world->load */
    unsigned type : 8;        /* dJointType */
    unsigned enabled : 1;     /* it takes part in the step: enabled, and attached to a dynamic body */
    unsigned reversed : 1;    /* attached as (0, body): body[0] is the user's second */
    unsigned listened : 1;    /* the user wants its feedback */
    unsigned alone : 1;       /* a contact whose bodies have no other one, as far as is known (ledger) */
    unsigned crowded : 1;     /* a contact whose bodies have others, and touched in the last step (ledger) */
    unsigned surges : 1;      /* its impulse is out of proportion to its corrections (surge.h) */
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

#endif
