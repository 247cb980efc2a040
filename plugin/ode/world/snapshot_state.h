/* What one step works on.  A spragSnapshot lives for one step, in the world's arena: bodies and joints in order of
 * creation (ODE's lists reversed), which is the order everything else follows, so that the same calls give the same
 * bits whatever addresses malloc returned. */
#ifndef SPRAG_ODE_SNAPSHOT_STATE_H
#define SPRAG_ODE_SNAPSHOT_STATE_H

#include <stdatomic.h>

#include "ode/world/island_state.h"
#include "ode/world/pointer_map.h"
#include "ode/world/states.h"

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
    double layer, greatest_correction; /* m, m/s: ODE's contact surface layer and greatest correcting velocity */
    double slow;                       /* m/s, a millionth of what gravity gives in a step */
    double least_correction;           /* m/s, half the tolerance, or less where the step is short (ode/rows/rows.h) */
    int body_count, joint_count, island_count;
    int active_count; /* joints that are enabled, and whose bodies are awake */
    int stray_count;  /* contacts that are none (stray.h) */
    spragBodyState *body;
    spragBodyName *name;          /* (body_count) as body[].id, serial */
    dGeomID *geom;                /* (body_count) the first geom of each, or NULL: here, as ODE's bodies lie anywhere */
    spragGeomRadius *geom_radius; /* (body_count) of that geom, filled for bodies that have rows (bare_fill.c) */
    spragJointState *joint;
    spragIsland *island;
    int listened;               /* 1: some joint has feedback */
    int watched;                /* 1: some body has a moved callback */
    int numbered;               /* 1: some joint has a serial */
    double (*carried)[3];       /* (joint_count) N on body[0], added to the guess, of points that are no more (carry.h);
                                   or NULL */
    double (*local)[2][3];      /* (joint_count) m, of contacts that have a record: where they are in the frame of each
                                   body, or were when the collider named them; or NULL */
    struct spragStayBox *boxes; /* (body_count) what stay.c knows of its box; or NULL */
    dContact *stays;            /* (joint_count) contacts in the place of their records (stay.h); or NULL */
    atomic_int stayed;          /* how many of them are in use */
    spragPointerMap body_index;
} spragSnapshot;

/* Do forces move it?  body: in the snapshot, -1 = the world. */
static inline int spragIsDynamic(const spragSnapshot *snapshot, int body)
{
    return body >= 0 && !snapshot->body[body].kinematic;
}

#endif
