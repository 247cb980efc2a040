/* An island of a step: what is known of it before, the work it may have, its problem, its answer, and what was found
 * out on the way. */
#ifndef SPRAG_ODE_ISLAND_STATE_H
#define SPRAG_ODE_ISLAND_STATE_H

#include <sprag/sprag.h>

#include "base/arena.h"
#include "linalg/quad.h"
#include "ode/world/states.h"
#include "problem/bodies.h"
#include "problem/reaches.h"

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

typedef struct spragCoupled {
    int examined; /* 0: the island is none of these, the rest is not set */
    int paradox_class;
    double separatrix[SPRAG_COUPLED_MAX]; /* N of each block in a solution that is not realisable, or 0 */
} spragCoupled;

#define SPRAG_ROUGH 1e-5              /* m/s: a tolerance above it may be reached without W, time limit or not */
enum { SPRAG_MATRIX_FREE_LEAST = 8 }; /* contacts of an island that is solved so, at least */

/* What the last step knew of an island (before), and what this one tells the next (next).  Islands have no identity
 * from step to step, but contacts have, so their records carry it (ode/ledger/hindsight.h: how each follows). */
typedef struct spragHindsight {
    int haste;      /* each of its solutions has 2^-haste of the work limit (haste.h), */
    int step_haste; /* and all solutions of the step together have 2^-step_haste of theirs */
    double slop;    /* m: overlaps up to this are not corrected where it has many blocks (slop.h), */
    double trace;   /* m: and this much of them is left where it has few */
    int wedged;     /* 1: a contact of it was in a wedged island; 2: in one whose guides had to yield too */
    int doubt;      /* > 0: steps left in which a wedge is looked for right after the first method */
    int unsqueezed; /* > 0: steps left in which nobody asks whether its bodies are squeezed */
    int accord;     /* > 0: steps left in which corrections are made to agree at once (accord.h); < 0: in which not */
} spragHindsight;

/* How its bodies lie and move, as far as its work goes by that (ode/work). */
typedef struct spragPile {
    int flat;    /* 1: they lie flat on each other (lies_flat.h) */
    int sticks;  /* a heap some of whose contacts have mu = infinity: 1 as a force, 2 as a coefficient (heap.h) */
    int steep;   /* 1: a heap with high coefficients of friction (heap.h) */
    int falls;   /* 1: a part of a pile that falls and strikes (fall.h) */
    int tumbles; /* 1: a heap of mechanisms that falls (fall.h); set once its problem is there */
    int stirred; /* 1: a heap that rests, but for a few bodies (bare.c) */
} spragPile;

/* What is tried without W, before it is made (delassus.h). */
typedef enum spragWaits {
    SPRAG_WAITS_NOT,       /* nothing */
    SPRAG_WAITS_FOR_GUESS, /* the guess is judged, as the island seems to rest */
    SPRAG_WAITS_FOR_TRY    /* the first methods, with a share of the work */
} spragWaits;

/* How much of W it has (ode/matrix: assemble, delassus). */
typedef struct spragMatrixState {
    int loose;        /* 1: its diagonal blocks alone, and joints stay rows */
    int lean;         /* 1: its diagonal blocks alone, and products go by reaches (problem/reaches.h) */
    int whole;        /* 1: it must not be lean */
    spragWaits waits; /* why it is lean for the time being */
    int glued;        /* 1: it is loose, as a heap of glue that is too large for W (solve/glue/glue.h) */
    int visited;      /* 1: it was bare, and visits were not enough (bare.h) */
    int tried;        /* 1: methods without W have missed in this step; when it is written anew W is made at once */
} spragMatrixState;

/* The work of its solutions in this step, in products of 3x3 blocks (release.h). */
typedef struct spragWork {
    double spent, most; /* by all of them together; their limit */
    int missed;         /* how many had no answer: those that follow have less */
} spragWork;

/* Does friction lock it?  (ode/islands: soften, release; conflict.h) */
typedef struct spragWedge {
    double speed;   /* m/s: with which the motion closes the wedge; 0: there is none */
    double rigid;   /* m/s: residual of the answer in the rigid problem, in which nothing yields */
    int squeezed;   /* 1: a wedge even without friction */
    int unsqueezed; /* spragHindsight.unsqueezed, for the next step */
    double yielded; /* s of soften.h: contacts yield by s times the mean diagonal of their block of W; 0: they do not */
    int guides;     /* 1: guides yield too */
} spragWedge;

/* What its contacts ask for, made to agree (accord.h). */
typedef struct spragAccord {
    int made;     /* 1: the blocks, as they are now, agree */
    int wanted;   /* 1: whenever blocks are written in this step they are made to */
    int vain;     /* 1: they were made to, and it was not solved for that: taken back */
    double apart; /* m/s: the greatest change of what a contact asks for */
} spragAccord;

typedef struct spragIsland {
    /* Who it is (look/island), and who solves it (islands/lone, bare, rescue).  In cache lines, as bodies: of ten
     * thousand lone islands every pass reads the first one. */
    _Alignas(SPRAG_LINE) int *body; /* (body_count) dynamic bodies, ascending */
    int *joint;                     /* (joint_count) enabled joints, ascending */
    const char *declined;           /* why ODE solves it, or NULL */
    struct spragLoneLaw *lone;      /* (joint_count) of one body alone, without blocks (lone.h); or NULL */
    struct spragLoneDrive *drive;   /* (joint_count) of such a one on what is driven (lone_drive.h) */
    int body_count, joint_count, contact_count;
    int reported, first_record; /* contacts with a spragContact; the record of the first of them (report.h) */
    int block_count, row_count, articulation_count;
    int failed;                      /* 1: declined as it has no answer, not for what it is */
    struct spragPlainMotion *motion; /* (joint_count) of a lone one that has events to tell, or NULL (lone_report.h) */
    spragSolveInfo solve;            /* of its answer; of a wedged one: of the problem in which contacts yield */
    spragLane *lane;                 /* memory of the thread that works on it */
    struct spragBare *bare; /* solved in its bodies' velocities, without blocks and problem (bare.h); or NULL */
    const char *rescued;    /* why its answer is that of sweeps without W (rescue.h), or NULL */
    spragMatrixState matrix;
    int surged; /* 1: its answer threw bodies; its joints and contacts ask for less (surge.h) */
    spragWedge wedge;
    /* What follows begins as zeros where the island is not lone (batches.c), and has no value where it is.
     *
     * What it is like, and the work that it may have: set before it has a problem (batches.c, ode/work, ode/ledger), */
    spragPile pile;
    spragHindsight before, next;
    spragWork work;
    /* and what was found out while it was solved: */
    spragAccord accord;
    double locked; /* m/s, the fastest that contacts whose normal joints hold should have moved (assemble.c) */
    double calmed; /* m/s, of one that rests (bare.h).  > 0: creep that Newton's method cannot end; < 0: negated, the
                      creep that the next step may begin with where visits end it */
    int asked;     /* iterations that passing.c has spent */
    int unsettled; /* 1: the bounds of its joints' friction do not fit their reactions (settle.h) */
    /* Its problem (ode/matrix/assemble; the arrays of `problem` are those below). */
    int block_total;      /* blocks with those that are not in the working set (working_set.h) */
    spragBlock *block;    /* (block_total) */
    spragQuad (*Y)[2][6]; /* (block_count) M^-1 J^T of bodies that move, lanes are rows; while it is assembled */
    int *on_start, *on;   /* blocks on group g, a body or a mechanism: on[on_start[g]] .. on[on_start[g + 1] - 1]
                             (delassus_pattern.h); NULL: there is no W */
    struct spragEqualityRow *row;           /* (row_count) of its joints */
    struct spragArticulation *articulation; /* (articulation_count) mechanisms they form */
    spragProblem problem;
    spragBodies bodies;                    /* of the problem, where they are given to it (delassus.c) */
    spragLinks links;                      /* of them, where joints hold them (links.c) */
    spragReaches reaches;                  /* the joints that each block reaches, for products without W */
    double *mu, *mu_minus, *bound, *W, *q; /* the problem's, which release, soften and bearing change between solves */
    unsigned char *kind;                   /* the problem's too; NULL: all are contacts */
    /* Its answer. */
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

#endif
