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

#endif
