/* Friction in joints, proportional to the joint's own reaction.
 *
 * Turning (hinge, universal, ball).  Load F = |force that the joint hands on|; friction about an axis |M| <= mu R F, R
 * the bearing's radius.  The reaction follows from the solution, so the bound of the row is iterated to it:
 *     solve with M_max,   M_max <- mu R F,   until what the change is worth is below the tolerance (bounded.h).
 * The gain is of the size mu R / length of the links: two or three solves.  In closed loops it may be beyond -1, and
 * this would go to and fro for ever: after a few rounds the loads of all joints are mixed (anderson.h).  A gain
 * above 1 leads up to where the joint is locked, and its reaction follows the bound no more.  Whatever the bound,
 * friction is between its bounds and against the motion: it takes energy, never gives any.  Ball: across the load a
 * round disc of torques, about the load itself mu R F apart; the load's direction is that of the last step, or where it
 * is new that of this one, found by solving again.
 *
 * Sliding (slider, piston).  A bearing of length L and half-width w about the axis d bears at its two ends.  An end is
 * a pair of antipodal points, TWO_SIDED: normal n along the end's reaction, and friction along d (and, of a piston,
 * around it) at the face that is loaded; beside it a row across n that holds and does not rub.  n begins as in the last
 * step; where the row across has to bear, both are turned and the island is solved again, after some rounds only half
 * the way.  They replace the joint's own rows across d; of a slider the one that keeps it from turning about d stays.
 * The bearing of a slider is at the centre of its first body, that of a piston at its anchor.  Pulled at e from the
 * axis it jams where 2 mu e > L. */
#ifndef SPRAG_ODE_BEARING_H
#define SPRAG_ODE_BEARING_H

#include "ode/joints/articulation.h"
#include "solve/sweep/anderson.h"

enum { SPRAG_BEARING_ENDS = 2 };

struct spragBearing {
    dJointID joint;
    int serial;               /* of the joint */
    unsigned long long since; /* how many had gone when it was given friction (gone.h) */
    dJointType type;
    dBodyID body[2]; /* compared, never followed; NULL until the joint is attached */
    spragJointFriction law;
    unsigned long long id;                /* of the contacts at the ends: id, id + 1 */
    int memory[SPRAG_BEARING_ENDS];       /* indices of their records of the last step, or -1 */
    double normal[SPRAG_BEARING_ENDS][3]; /* in the frame of the second body, or the world; 0: not known yet */
    int side[SPRAG_BEARING_ENDS];         /* +1: the face that n leaves is loaded, this step; -1: its opposite */
    double load;                          /* N, of the last step */
    double direction[3];                  /* of the load, world axes; 0: not known yet */
    double torque[3];                     /* N m, world axes, of turning friction on the first body in the last step */
    int stuck;                            /* 1: they did not turn, -1: not known yet */
    spragHold hold;                       /* this step */
    int first_row, row_count;             /* equality rows of the joint in its island, this step */
};

/* Joints that can have friction. */
int spragBearingKnows(dJointType type);
/* Sets, changes or (mu = 0) removes the friction of a joint.  ERROR_MEMORY or OK. */
spragStatus spragBearingSet(struct spragWorld *world, dJointID joint, const spragJointFriction *law);

/* Forgets those of joints that are gone. */
void spragBearingsForget(struct spragWorld *world, const spragGone *gone);
/* Marks the joints of the snapshot that have friction; forgets those that are gone, or were attached elsewhere. */
int spragBearingsFind(struct spragWorld *world);
/* The bearing with a contact of this id, or NULL. */
struct spragBearing *spragBearingById(const struct spragWorld *world, unsigned long long id);

/* Blocks it adds to those of its joint. */
int spragBearingBlockCount(const struct spragBearing *bearing);
/* Adds them to the island; changes the rows that the joint brought: from `first` on. */
void spragBearingBlocks(const struct spragWorld *world, int joint, int first, spragIsland *island);

/* The iteration of a step: from its first bounds on.  Loads in N. */
typedef struct spragBearingRounds {
    int count, round;            /* turning bearings of the island; solutions mixed so far */
    double *set, *tried, *found; /* (count) loads of the present bounds; of those solved with, and what they gave */
    double *next, *r;            /* (count) the loads that Mix chose, (3 block_count) from which impulses */
    double *best;                /* (3 block_count) */
    double *bound, *best_bound;  /* (block_count) N m s: which the last answer was found for, and the best one */
    double *weight;              /* (count) N m of bound per N */
    spragAnderson anderson;
    int part[2]; /* its only piece: 0, count */
} spragBearingRounds;
/* 0: no memory. */
int spragBearingsBegin(const struct spragWorld *world, const spragIsland *island, spragBearingRounds *rounds);
/* Bounds of turning friction from the reactions just found.  Returns what the greatest change is worth, m/s or rad/s; 0
 * in islands without such joints. */
double spragBearingsUpdate(const struct spragWorld *world, spragIsland *island, spragBearingRounds *rounds);
/* Bounds of turning friction from these loads (count), N. */
void spragBearingsSet(const struct spragWorld *world, spragIsland *island, const double *load,
                      spragBearingRounds *rounds);
/* After the update of a solution: the bounds to solve with next, mixed from those of all solutions. */
void spragBearingsMix(const struct spragWorld *world, spragIsland *island, spragBearingRounds *rounds);
/* Back to the impulses and bounds of the last mix. */
void spragBearingsReturn(const struct spragWorld *world, spragIsland *island, spragBearingRounds *rounds);
/* Keeps the impulses of the best answer so far; takes them again, with their bounds and the joints' forces (0: no
 * memory). */
void spragBearingsKeep(const spragIsland *island, spragBearingRounds *rounds);
int spragBearingsBest(spragIsland *island, const spragBearingRounds *rounds);
/* The bounds that the last answer was found for: the problem is that which it solves. */
void spragBearingsStay(spragIsland *island, const spragBearingRounds *rounds);
/* Turns the ends of sliding bearings along the reactions just found, and to the faces they load, and a ball's axes
 * where its load is new; round: how often before in this step.  off: m/s, what ends off their reactions were worth the
 * last time (INFINITY: not known, as after another face), and are now; unless that is less by a fifth they stay as they
 * are.  1: some were turned; the problem is to be made and solved anew. */
int spragBearingsTurn(const struct spragWorld *world, spragIsland *island, int round, double *off);
/* Keeps what the next step starts from. */
void spragBearingsRemember(struct spragWorld *world, const spragIsland *island);

#endif
