/* Greedy: block Gauss-Seidel on the velocities of bodies, those contacts first whose visit gains most.  Answers of 1e-1
 * to 1e-4 m/s for large piles in the time that forming W would take.  W is never formed:
 *
 *     u_k = q_k + C_k r_k + J_k v,   v = M^-1 J^T r.
 *
 * CONTACT blocks alone, each of which may have a ROLLING block.
 *
 * Rounds.  The residual is that of the worst contact, so the worst are visited first (Southwell 1940).  A visit
 * changes the velocities of two bodies, and their other contacts have something to gain: what their bodies have moved
 * since their own last visit, times what such a change was worth then.  A round visits, in order, all contacts with
 * more than a share of the greatest gain.  Now and then the judge looks at all; what a contact may gain is then its
 * residual.  Against sweeps of all contacts, residual after the time of ten sweeps: 8e-3 for 5e-2 m/s (300 boxes), 3e-2
 * for 9e-2 (1000 boxes), 5e-3 for 8e-3 (300 balls). */
#ifndef SPRAG_SOLVE_GREEDY_H
#define SPRAG_SOLVE_GREEDY_H

#include <math.h>

#include "base/arena.h"
#include "solve/contact/cone_block.h"

/* Rows of four doubles, the last one zero unless said: one vector each. */
typedef struct spragGreedyBody {
    double velocity[2][4];     /* m/s, 1/s: what the impulses r have changed */
    double inverse_inertia[7]; /* 1/(kg m^2), world axes: xx, xy, xz, 0, yy, yz, zz */
    double inverse_mass;
} spragGreedyBody;

/* At rest; I: its inverse inertia (3 x 3). */
static inline spragGreedyBody spragGreedyBodyOf(double inverse_mass, const double I[9])
{
    return (spragGreedyBody){.inverse_inertia = {I[0], I[1], I[2], 0, I[4], I[5], I[8]}, .inverse_mass = inverse_mass};
}

/* Row i of J_k is direction[i] and arm[0] x direction[i] on the first body, the negative with its own arm on the
 * second.  W_kk = J_k M^-1 J_k^T + C_k, C_k diagonal.  Lines of memory are what all passes wait for: a sum reads three
 * of a contact, the judge four, and a visit one more. */
typedef struct spragGreedyContact {
    double direction[3][4]; /* the fourth: 1/kg, of C_k */
    double arm[2][4];       /* m, from the bodies' centres; the fourth: 1/kg, the body's part of trace(W_kk) / 3 */
    double r[3];            /* N s */
    double nu;              /* slip multiplier of the last visit, 1/kg.  A sum reads no further */
    double q[3];            /* m/s */
    double mu;
    double normal[4]; /* 1/kg, the first column of J_k M^-1 J_k^T; the fourth: trace(W_kk) / 3 */
} spragGreedyContact;

/* What visits alone need besides. */
typedef struct spragGreedyOwn {
    double tangent[2][4]; /* 1/kg, the other columns; the fourth, kg: 1 / W_nn; kg^2: 1 / det K (greedy_row.h) */
} spragGreedyOwn;

/* A coefficient so high that what presses holds, as a rule (greedy_hold.h). */
#define SPRAG_GREEDY_STEEP 4.0
/* mu where it is infinite: tangential rows hold without bound, for ever or (greedy_hold.h) as long as what visits find
 * presses; if it does not they hold nothing. */
#define SPRAG_GREEDY_GLUED (-INFINITY)
#define SPRAG_GREEDY_STICKS INFINITY
#define SPRAG_GREEDY_PARTED (-1.0)

/* Rolling and spinning friction of a contact, its ROLLING block: rows are the length times the bodies' turning against
 * each other about t1, t2 and n.  It is visited right after the contact. */
typedef struct spragGreedyRoll {
    double r[4], q[4];    /* N s, moments over the length; m/s */
    double own[9];        /* 1/kg, W_ww, its block of W */
    double inverse[9];    /* kg */
    double cross[9];      /* 1/kg, W_wr, what its contact's impulse turns */
    double weight[2];     /* 1/kg, each body's part of trace(own) / 3 */
    double length, mu;    /* m; of the contact's load, about any axis */
    spragConeBlock stuck; /* of the contact while nothing turns: W_rr - W_rw W_ww^-1 W_wr */
} spragGreedyRoll;

typedef struct spragGreedy {
    int contact_count, body_count;
    spragGreedyContact *contact; /* (contact_count) */
    spragGreedyOwn *own;         /* (contact_count) */
    spragGreedyRoll *roll;       /* (contact_count) or NULL: no contact has any */
    spragGreedyBody *body;       /* (body_count + 1) */
    double *moved;               /* (body_count + 1) m/s, sum of all changes of velocity at its contacts */
    /* By a visit a contact may gain  gain (moved of its bodies - seen).
     * Each to a multiple of eight; the rest gains nothing. */
    double *seen;   /* (contact_count) m/s, what its bodies had moved when it was visited */
    double *gain;   /* (contact_count) how much of that was its own error the last time */
    int (*pair)[2]; /* (contact_count) its bodies: the last one is the world, which has no inverse mass */
    int *list;      /* (contact_count) those of a round: */
    int listed;     /* so many; -1: something else than its visits changed what is pending (greedy_list.h) */
    int rounds_few; /* rounds of few visits so far */
    struct spragGreedyNear *near; /* or NULL */
    double *greatest;             /* (contact_count / 8) m/s, that one of eight contacts may gain */
    /* Sums and large rounds without a deadline are shared: bodies come in parts of as many, which depend on their
     * number alone.  Contacts within one part share no body with those of another; those between two come last. */
    unsigned char *part; /* (contact_count) part_count: between two */
    int part_count;
    double part_each; /* of a body: its part is part_each times its number */
    double *best; /* N s, r where the judge said least, best_residual: (contact_count x 3), and of rolling friction as
                     many more; NULL: nobody asks for it */
    double begun, best_residual; /* m/s, of the guess; of the best r */
    double creep;                /* m/s, that the judge saw (problem/creep.h) */
    double energy;               /* J, the same: r.q + r.W r / 2, what r gives the bodies */
    long visits;
    int many;                       /* 1: spragGreedyWiden was asked for */
    struct spragGreedyLanes *lanes; /* of large problems with many visits, or NULL */
    spragArena *arena;
} spragGreedy;

/* 1: by its contacts a body, a heap of balls: of these 2.2 to 2.9, of boxes 3.5 to 5, of as many of either kind 3.1. */
static inline int spragGreedyIsBalls(const spragGreedy *greedy)
{
    return greedy->contact_count < 3 * greedy->body_count;
}

/* Room for a problem.  The caller fills the bodies' inverse masses and inertias, and of contacts direction, arm, C_k,
 * pair, mu, q, r and nu.  0: no memory. */
int spragGreedyInit(spragGreedy *greedy, int contact_count, int body_count, spragArena *arena);

/* Right after that: the contacts have rolling friction.  The caller fills length, mu, q and r.  0: no memory. */
int spragGreedyRolls(spragGreedy *greedy);

/* For many visits: solve/greedy/greedy_lanes.h, if the problem is large and nothing rolls; else spragGreedyRun does
 * it when it comes to that.  0: no memory. */
int spragGreedyWiden(spragGreedy *greedy);

/* The rest of contacts first .. end - 1. */
void spragGreedyFill(spragGreedy *greedy, int first, int end);
/* Those of lanes that came after the contacts were filled. */
void spragGreedyFillLanes(spragGreedy *greedy);

/* velocities of the bodies from all r, to rounding */
void spragGreedySum(spragGreedy *greedy);

/* J_k v (3) */
void spragGreedyMotion(const spragGreedy *greedy, int contact, double u[3]);

/* Begins anew from the guess r, made shorter where it is from a greater load: the judge looks at it.  others
 * (contact_count) or NULL: m/s, the normal velocity that the guesses of the others give a contact.  u: as below. */
void spragGreedyBegin(spragGreedy *greedy, double *others, double *u);
/* r = 0 in place of r, whose residual is given, where that is more than `share` times the worst of r = 0; the residual.
 * Two contacts that squeezed a body with 3e4 N s in the last step, and hardly turned since, have the least energy as
 * they are, and throw it: of 4943 blows on boxes with mu = 2 one ended at 13 m/s. */
double spragGreedyDrop(spragGreedy *greedy, double share, double residual, double *others, double *u);
/* m/s, max |q| of contacts: the residual of r = 0 is no greater, as what bears no load may turn. */
double spragGreedyNone(const spragGreedy *greedy);
/* Rounds of the worst contacts until none is likely to change by more than `enough` (m/s), greedy->visits is `most`, or
 * `deadline` (s, spragSeconds) is past, but for `least` visits. */
void spragGreedyRun(spragGreedy *greedy, double enough, long least, long most, double deadline);

/* The share of the greatest gain from which on a round visits a contact.  It falls where few contacts were visited, as
 * a round looks at all of them, and rises again. */
#define SPRAG_GREEDY_SHARE 0.5
static inline double spragGreedyShare(double share, int visited, int contacts)
{
    const double few = 0.1, least = 0.05, lower = 0.8;
    return visited < few * contacts ? fmax(least, share * lower) : fmin(SPRAG_GREEDY_SHARE, share / lower);
}

/* What the judge (problem/residual.h) says of all r; u (contact_count x 3) or NULL.  Each contact's residual is what it
 * may hope for from then on. */
double spragGreedyResidual(spragGreedy *greedy, double *u);
/* The same of the best r so far, which is r again: where friction is high, rounds may lead away. */
double spragGreedyBest(spragGreedy *greedy, double *u);

#endif
