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

#define SPRAG_ROUGH 1e-5              /* m/s: a tolerance above it may be reached without W, time limit or not */
enum { SPRAG_MATRIX_FREE_LEAST = 8 }; /* contacts of an island that is solved so, at least */

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
    int glued;              /* 1: it is loose, as it is too large a heap of glue (solve/glue/glue.h) */
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

#endif
