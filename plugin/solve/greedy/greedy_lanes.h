/* The visits of solve/greedy/greedy.h for large islands, eight contacts at once in single precision.
 *
 * A visit alone waits for itself: a chain of square roots and quotients, a branch for each mode, five lines of memory.
 * Eight contacts that share no body have nothing to wait for: they are the lanes of one computation without branches, a
 * third of the time each.  Every run begins with q + J v in double precision and velocities of zero, and ends with v
 * summed anew, so that nothing but the rounding of r is left of single precision.  Below SPRAG_LANES_FLOOR double
 * precision takes over.
 *
 * Two ways to visit.  Rounds, as in greedy.h, cut down what is worst.  Sweeps of all contacts with Nesterov's
 * momentum (1983; restarted where it leads uphill, O'Donoghue and Candes 2015; on contacts Mazhar et al. 2015) carry a
 * load through a pile: a sixth of a round's time for each visit, as packs of contacts that share no body stay the same
 * from sweep to sweep, and each number of a pack's contacts lies side by side (5 ns in vectors of sixteen, 9 of eight,
 * where rows of eight contacts took 19).  After forty of them a rest of rounds finds a third to a half less
 * residual than rounds alone (1000 boxes 1.3e-2 for 1.6e-2 m/s after 40 visits a contact, 3.9e-3 for 6.6e-3 after 100);
 * before twenty no less.
 *
 * Momentum ends at 0.9, and rounds have a tenth of the visits: of six piles of 300 to 4000 balls or boxes, eight states
 * each, 120 visits a contact leave 0.75 to 0.97 and 240 leave 0.5 to 0.8 of what is left without bound and with three
 * tenths of rounds, in 0.88 of the time; 30 and 40 leave as much in 0.9.  (0.85 and 0.95 leave more, 0.97 twice as
 * much; with 1 sweeps gain nothing after some 150.) */
#ifndef SPRAG_SOLVE_GREEDY_LANES_H
#define SPRAG_SOLVE_GREEDY_LANES_H

#include "base/arena.h"

struct spragGreedy;

#define SPRAG_LANES_FLOOR 1e-4 /* m/s */
/* Slip multipliers, of the trace of K: beyond it slip is against the velocity to all digits.  A ball that slides at 0.4
 * m/s under a load of 1e-13 N s has one of 1e13 1/kg, and what Newton divides by is zero in single precision. */
#define SPRAG_LANES_NU_MOST 1e8F
#define SPRAG_LANES_MU_MOST 1e18 /* its square has room too */
enum {
    SPRAG_LANES_LEAST = 150, /* contacts: among fewer, too many share bodies */
    SPRAG_PACK = 16          /* contacts of a sweep at once: eight and eight where there are no sixteen lanes */
};

/* Rows of four numbers. */
typedef struct spragLaneContact {
    float direction[3][4]; /* the fourth: 1/kg, K of solve/contact/cone_block.h, K_11, K_12, K_22 */
    float arm[2][4];       /* m; the fourth: as in spragGreedyContact */
    float q[4];            /* m/s, q + J v when the run began; the fourth: mu */
    float r[4];            /* N s; the fourth: slip multiplier of the last visit, 1/kg */
    float own[2][4];       /* 1/kg, W_nn, W_n1, W_n2, (J M^-1 J^T)_11; _12, _22, _nn, kg: 1 / W_nn */
} spragLaneContact;

typedef struct spragLaneBody {
    float velocity[2][4]; /* since the run began */
    float inertia[2][4];  /* inverse: xx, xy, xz, inverse mass; yy, yz, zz, 0 */
} spragLaneBody;

typedef struct spragGreedyLanes {
    spragLaneContact *contact; /* (contact_count + 1) the last one is nobody's */
    spragLaneBody *body;       /* (body_count + 1) */
    float *moved;              /* (body_count + 1) moved, seen, gain: as in spragGreedy */
    float *seen, *gain;        /* (contact_count + 1, to a multiple of eight) */
    int *first, *second;       /* (the same) its bodies */
    int *list;                 /* (the same) those of a round */
    int *pass;                 /* (body_count + 1) the last pass that changed it */
    int *pack;                 /* (pack_count x SPRAG_PACK) contacts of a sweep, that share no body */
    void *packed;              /* (pack_count) the same, number by number: Packed of solve/greedy/greedy_sweep.c */
    float (*before)[2][4];     /* (body_count + 1) velocities after the sweep before the last one */
    int passes, pack_count;
    int judged; /* 1: q, r, seen and gain are as the judge saw them */
    int eights; /* 1: sweeps in vectors of eight, though there are longer ones (tests) */
    int ahead;  /* 1: r and gain are newer than in double precision */
    int sticks; /* of visits: 1; 2: some contacts yield along their tangents (slip) */
    int done;   /* 1: nothing is left that single precision sees */
} spragGreedyLanes;

/* NULL: no memory. */
spragGreedyLanes *spragGreedyLanesTake(int contact_count, int body_count, spragArena *arena);

/* Bodies, and what is not filled with the contacts (spragGreedyFill) and by the judge. */
void spragGreedyLanesFill(struct spragGreedy *greedy);

/* From where the judge has looked; and back, with the velocities of the impulses.  In between either or both: */
void spragGreedyLanesBegin(struct spragGreedy *greedy);
void spragGreedyLanesEnd(struct spragGreedy *greedy);

/* Sweeps with momentum for most of the visits and of the time there are, if these are many; else one or none. */
void spragGreedyLanesSweep(struct spragGreedy *greedy, double enough, long least, long most, double deadline);
/* As spragGreedyRun. */
void spragGreedyLanesRun(struct spragGreedy *greedy, double enough, long least, long most, double deadline);

#endif
