/* What is remembered from one step to the next: records of contacts, forces of limits and motors, surfaces. */
#ifndef SPRAG_ODE_MEMORY_H
#define SPRAG_ODE_MEMORY_H

#include <stddef.h>

#include <sprag/sprag_ode.h>

#include "ode/world/states.h"

/* What becomes of a record in this step.  LEFT: its contact is gone, or sleeps; CONTINUED: it goes on in an island that
 * Sprag solves; KEPT: it goes on in one that ODE solves, and the record stays as it is. */
typedef enum spragRecordFate { SPRAG_RECORD_LEFT, SPRAG_RECORD_CONTINUED, SPRAG_RECORD_KEPT } spragRecordFate;

/* A contact of the last step: what its successor is recognised by and starts from, and what the user is told.  Written
 * by ode/step/report and ode/ledger/record; in cache lines by who reads them: the ledger (who, where), the next problem
 * (what it did), hindsight. */
typedef struct spragContactMemory {
    /* Who it is.  The bodies are compared, never followed; an address may be another body's by now, which its serial
     * tells. */
    _Alignas(SPRAG_LINE) dBodyID body[2];
    int serial[2];
    dGeomID geom[2];
    unsigned long long id;
    double arm;                /* m, distance from the bodies' centres: the scale of a match */
    unsigned char is_guide;    /* recognised by its id, not by its place */
    unsigned char never_stays; /* 1: its geoms are not two boxes of bodies (stay.h) */
    int echoes;                /* 1: `echo` is not 0 */
    /* Where it was, and what its island tells the next one of overlaps and creep. */
    double local[2][3]; /* m, position in the frame of each body */
    double calmed;      /* m/s, spragIsland.calmed */
    double slop;        /* m, spragHindsight.slop */
    /* What it did. */
    double normal_force; /* N, along the normal, < 0 where a guide pushes against it */
    double friction[3];  /* N, on body[0] */
    double slip[3];      /* m/s, the last one other than 0: it is kept while the contact sticks */
    spragMode mode;
    signed char variant;
    unsigned char passed; /* 1: it stuck as its slip passed through zero, and was told of as a reversal (passing.h) */
    unsigned char turned; /* 1: the user named its bodies in the other order */
    /* Its place in the world. */
    double position[3], normal[3];
    double depth;   /* m */
    dJointID joint; /* given to the user, never followed; NULL for guides */
    /* What few have. */
    double echo[3];   /* N, added to its force for the next guess (echo.h) */
    double moment[3]; /* N m, of rolling friction on body[0] */
    /* What its island tells the next one (spragHindsight). */
    int haste, wedged, doubt;
    short step_haste;
    unsigned char heap;          /* 1: its island was a heap in haste (haste.h) */
    unsigned char paradox_class; /* for the user alone */
    short unsqueezed;
    short cone_barred; /* steps left in which no cone takes the place of its law (spragBlock) */
    short accord;
    double trace; /* m */
    double lag;   /* m, of guides (lead.h) */
    /* For the user alone. */
    double slip_now[3]; /* m/s */
    double painleve_p, free_acceleration;
} spragContactMemory;
_Static_assert(offsetof(spragContactMemory, local) == SPRAG_LINE &&
                   offsetof(spragContactMemory, normal_force) == 2 * SPRAG_LINE &&
                   offsetof(spragContactMemory, position) == 3 * SPRAG_LINE &&
                   offsetof(spragContactMemory, echo) == 4 * SPRAG_LINE && sizeof(spragContactMemory) == 6 * SPRAG_LINE,
               "each group begins a cache line");

/* Force of one of a joint's limits or motors in the last step: did it hold, and where does the search start? */
typedef struct spragLoadMemory {
    dJointID joint; /* compared, never followed */
    int serial;     /* of the joint */
    int number;     /* of the row among the joint's limits and motors */
    int next;       /* another record of the joint, or -1 */
    double force;   /* N, N m */
} spragLoadMemory;

/* A contact made with a spragSurface: recognised by its joint and the mark that was put on it. */
typedef struct spragSurfaceRecord {
    dJointID joint; /* compared, never followed */
    int mark;       /* the joint's (layout.h); another one: it is another joint */
    spragSurface surface;
    int used; /* 1: its joint is one of this step (ledger) */
} spragSurfaceRecord;

#endif
