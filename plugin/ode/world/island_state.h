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

/* What the last step knew of an island, and what this one tells the next: islands have no identity from step to step,
 * but contacts have, so their records carry it (hindsight.h). */
typedef struct spragHindsight {
    int haste;      /* each of its solutions has 2^-haste of the work (haste.h), */
    int dear;       /* and all of a step together 2^-dear */
    double slop;    /* m: so much of its overlaps stays (slop.h), */
    double trace;   /* and so much if it has few blocks */
    int wedged;     /* 1: a contact of it was in a wedged island; 2: whose guides had to yield */
    int doubt;      /* the steps left in which a wedge that one of its contacts was in may come back */
    int unsqueezed; /* the steps left in which it is not asked for a squeeze */
    int hard;       /* 1: a contact of it was in a hard one: the contacts that carried are tried first */
    int accord;     /* the steps left in which what its contacts ask for is made to agree (accord.h); negated: not */
} spragHindsight;

/* How its bodies lie and move, as far as its work goes by that (ode/work). */
typedef struct spragPile {
    int flat;    /* 1: they lie flat on each other (lies_flat.h) */
    int sticks;  /* 1 or 2: a heap some of whose contacts have mu = infinity (heap.h) */
    int steep;   /* 1: a heap with high coefficients of friction, the same */
    int falls;   /* 1: a part of a pile that falls and strikes (fall.h) */
    int tumbles; /* 1: a heap of mechanisms that falls, the same; once its problem is there */
    int stirred; /* 1: a heap that rests, but for a few bodies (bare.c) */
} spragPile;

/* What an island may have to go without W, before it is made (delassus.h). */
typedef enum spragWaits {
    SPRAG_WAITS_NOT,
    SPRAG_WAITS_FOR_GUESS, /* its guess is judged, as it seems to rest */
    SPRAG_WAITS_FOR_TRY    /* the first methods have a share of the work */
} spragWaits;

/* How much of W it has (ode/matrix). */
typedef struct spragMatrixManner {
    int loose;        /* 1: its diagonal blocks alone, and joints stay rows */
    int lean;         /* 1: its diagonal blocks alone, and products go by reaches (delassus.h) */
    int whole;        /* 1: it must not be lean */
    spragWaits waits; /* for what it is lean until W is made */
    int glued;        /* 1: it is loose, as it is too large a heap of glue (solve/glue/glue.h) */
    int visited;      /* 1: visits of its contacts were not enough (bare.h) */
    int tried;        /* 1: methods without W have missed in this step, so that it is made at once (delassus.h) */
} spragMatrixManner;

/* The work of its solutions in this step, in products of 3x3 blocks (release.h). */
typedef struct spragWork {
    double spent, most;
    int missed; /* how often it had no answer; it then has less work when it is solved again */
} spragWork;

/* Does friction lock it?  (ode/islands: soften, release; conflict.h) */
typedef struct spragWedge {
    double speed;   /* m/s: with which the wedge closes; 0: there is none */
    double rigid;   /* m/s: the residual of the problem in which nothing yields */
    int squeezed;   /* 1: it closes whatever the friction */
    int unsqueezed; /* as spragHindsight's, of this step */
    double yielded; /* the share of W by which its contacts had to yield so far, or 0 (soften.h), */
    int guides;     /* 1: and its guides too */
} spragWedge;

/* What its contacts ask for, made to agree (accord.h). */
typedef struct spragAccord {
    int made;     /* 1: of the blocks as they are */
    int wanted;   /* 1: of all blocks that it has in this step */
    int vain;     /* 1: it was of no use */
    double apart; /* m/s: the greatest change of what a contact asks for */
} spragAccord;

/* What came of the contacts that carried before, where they were tried first (SPRAG_CHAIN_AGAIN). */
typedef enum spragShortcut {
    SPRAG_SHORTCUT_NONE,   /* they were not tried, or the guess was enough */
    SPRAG_SHORTCUT_SOLVED, /* the answer is theirs */
    SPRAG_SHORTCUT_IN_VAIN /* the chain began anew, and does not try them again in this step */
} spragShortcut;

typedef struct spragIsland {
    /* Who it is (look/island).  In lines, as bodies: of ten thousand lone islands every pass walks through the first
     * one. */
    _Alignas(SPRAG_LINE) int *body; /* (body_count) dynamic bodies, ascending */
    int *joint;                     /* (joint_count) enabled joints, ascending */
    const char *declined;           /* why ODE solves it, or NULL */
    struct spragLoneLaw *lone;      /* (joint_count) of one body alone, without blocks (lone.h); or NULL */
    struct spragLoneDrive *drive;   /* (joint_count) of such a one on what is driven (lone_drive.h) */
    int body_count, joint_count, contact_count;
    int reported, first_record; /* contacts with a spragContact; the record of the first of them (report.h) */
    int block_count, row_count, articulation_count;
    int failed;                      /* 1: declined as it has no answer, not for what it is */
    struct spragPlainMotion *motion; /* (joint_count) of a lone one that has something to tell, or NULL */
    spragSolveInfo solve;            /* of its answer; of a wedged one: of the problem in which contacts yield */
    spragLane *lane;
    struct spragBare *bare; /* solved in its bodies' velocities, without blocks and problem (bare.h); or NULL */
    const char *rescued;    /* why its answer is that of sweeps without W (rescue.h), or NULL */
    spragMatrixManner matrix;
    int surged; /* 1: its answer threw bodies; its joints and contacts ask for less (surge.h) */
    spragWedge wedge;
    /* what follows begins as zeros where the island is not lone (batches.c), and has no value where it is */
    spragPile pile;
    spragHindsight before, next;
    spragWork work;
    spragAccord accord;
    spragShortcut shortcut; /* release.c */
    double locked;          /* m/s, the fastest that contacts which joints hold were to move, and do not (assemble.c) */
    double calmed; /* m/s, of one that rests (bare.h): the creep that Newton's method cannot end; or, negated, that
                         with which the next step may begin where visits end it; or 0 */
    int asked;     /* iterations of passing.c */
    int unsettled; /* 1: the bounds of its joints' friction do not fit their reactions (settle.h) */
    /* its problem */
    int block_total;      /* blocks with those that are not in the working set (working_set.h) */
    spragBlock *block;    /* (block_total) */
    spragQuad (*Y)[2][6]; /* (block_count) M^-1 J^T of bodies that move, lanes are rows; while it is assembled */
    int *on_start, *on;   /* blocks on each group of bodies (delassus_pattern.h); NULL: there is no W */
    struct spragEqualityRow *row;           /* (row_count) of its joints */
    struct spragArticulation *articulation; /* (articulation_count) mechanisms they form */
    spragProblem problem;
    spragBodies bodies;                    /* of the problem, where they are given to it (delassus.c) */
    spragLinks links;                      /* of them, where joints hold them (links.c) */
    spragReaches reaches;                  /* the joints that each block reaches, for products without W */
    double *mu, *mu_minus, *bound, *W, *q; /* of the problem; between solves release, soften and bearing change them */
    unsigned char *kind;                   /* the same; NULL: all are contacts */
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

#endif
