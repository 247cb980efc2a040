/* What is remembered from one step to the next: records of contacts, forces of limits and motors, surfaces. */
#ifndef SPRAG_ODE_MEMORY_H
#define SPRAG_ODE_MEMORY_H

#include <stddef.h>

#include <sprag/sprag_ode.h>

#include "ode/world/states.h"

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
    short vain;       /* as of its block (rows.h), in the next step */
    short accord;     /* as of the island, in the next step (accord.h) */
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

#endif
