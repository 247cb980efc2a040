/* Blocks of three rows from ODE's contacts.
 *
 * A block gives  u = J_a v_a + J_b v_b - rhs  (3), the velocities its law speaks of, in the frame [n t1 t2] of the
 * contact; n points into body a.  Meaning of the numbers as in ODE 0.16 (contact joints): ERP and the surface layer
 * push out with erp (depth - layer) / h up to the world's greatest correcting velocity, bounce and motion
 * set velocities, soft CFM and slip are compliances (velocity per force), mu a coefficient with
 * dContactApprox1 and a force without.  Three things are exact where ODE's are not: the friction set is
 * round (an ellipse for mu2 != mu), the world's CFM does not soften friction (no creep), and the
 * velocity-product term h Jdot v is there where friction acts. */
#ifndef SPRAG_ODE_ROWS_H
#define SPRAG_ODE_ROWS_H

#include <math.h>
#include <stdint.h>

#include "linalg/vec3.h"
#include "ode/rows/contact_law.h"
#include "ode/rows/face.h"
#include "ode/shape/curvature.h"
#include "ode/world/world.h"

/* What of a joint a block is. */
typedef enum spragBlockPart {
    SPRAG_PART_CONTACT,
    SPRAG_PART_SECOND,   /* right after a contact: friction along t2, where its law is of another kind than along t1 */
    SPRAG_PART_ROLLING,  /* after these: rolling and spinning friction, in proportion to the normal force, or limited */
    SPRAG_PART_JOINT,    /* limits and motors of a joint that is no contact */
    SPRAG_PART_GUIDE,    /* a two-sided contact; with clearance its side that pushes along +normal */
    SPRAG_PART_OPPOSITE, /* right after it: the side that pushes along -normal */
    SPRAG_PART_ACROSS,   /* right after the guide at an end of a sliding bearing: the pair across it */
    SPRAG_PART_TURNING   /* friction of a turning joint */
} spragBlockPart;

/* Is a contact held by mu_static, which is more than its kinetic coefficient? */
typedef enum spragHold {
    SPRAG_HOLD_NOT,    /* no: it slips */
    SPRAG_HOLD_STATIC, /* yes: it rested, or its slip turns round */
    SPRAG_HOLD_LOST    /* no more: it slips all the same */
} spragHold;

struct spragBlock {
    spragBlockKind kind;
    int joint; /* index in the snapshot */
    spragBlockPart part;
    double position[3];           /* m, of contacts and guides */
    double off[3];                /* m, from there to the middle of the contact's face (face.h); 0: it is alone */
    double gap;                   /* m, what is left before it touches; < 0 penetration */
    int parent;                   /* of ROLLING blocks: the block of the contact's force, in the island; else -1 */
    unsigned long long id;        /* of a guide or bearing, 0: as its record says */
    int memory;                   /* index of its record of the last step, or -1; of contacts and guides */
    int body[2];                  /* in the snapshot, -1 = the world */
    int articulation[2], slot[2]; /* mechanisms it touches, its place in their lists; -1 none */
    double rhs[3];                /* m/s */
    double correction;            /* m/s, the part of rhs[0] that corrects position */
    double approach;              /* m/s, normal velocity at the start of the step, less h carried */
    double compliance[3];         /* m/s per N s: cfm / h */
    double product[3];            /* Jdot v, m/s^2, as a step has it (velocity_product.h) */
    double carried[3];            /* m/s^2, what that leaves out; 0 of what is seen for the first time */
    double accord[3];             /* m/s, in rhs: what is changed so that contacts agree (accord.h) */
    double lead[3];               /* m/s, in rhs: what is left of h Jdot v to the next step (lead.h) */
    double lag;                   /* m, the part of a guide's gap that no correction sees yet (lead.h) */
    double velocity[3];           /* J v at the start of the step, less h carried, m/s */
    double free_velocity[3];      /* J v at its end without constraints, m/s */
    double mu, mu_minus;
    double kinetic[2], resting[2]; /* where they differ: mu and mu_minus of one that slips, of one that rests */
    double scale;                  /* mu2 / mu: |(r_1, r_2)| <= mu r_n is an ellipse in N s */
    double n[3], t1[3], t2[3];
    spragCurvature curvature;  /* of the surfaces, of the geoms where they do not say */
    unsigned char curved;      /* 1: it has a velocity-product term */
    unsigned char rolls;       /* 1: its face does, and its friction acts at two heights (face.h) */
    unsigned char own_frame;   /* 1: t1, t2 follow from n alone */
    unsigned char unused[3];   /* 1: the row does not exist (mu = 0 along it) */
    unsigned char locked;      /* bits of rows set aside, as joints hold the normal of this contact (delassus.c) */
    unsigned char number[3];   /* of JOINT rows: among the limits and motors of the joint */
    unsigned char parts;       /* 1: an infinite coefficient, no infinite force: what is not pressed is not held */
    unsigned char let_go;      /* how often such a contact was let go in this solution (parting.h) */
    unsigned char cone_barred; /* steps left in which no cone takes the place of its law, as that did not help */
    unsigned char differ;      /* 1: `kinetic` and `resting` are filled, and differ */
    unsigned char hold;        /* spragHold */
    unsigned char passes;      /* 1: it sticks only as its slip passes through zero (passing.h) */
    double length[3];          /* m, of JOINT and TURNING rows: in J, where they turn; else 1 (spragLengthOf) */
    double lo[3], hi[3];       /* N s, of BOX blocks */
    double J[2][3][6];         /* of either body, linear then angular; row t2 is scaled by `scale` */
};

/* m, the length L that makes m/s of the bodies' turning, so that the residual and all tolerances mean the same in any
 * units: L^2 = sum 1/m / (sum tr I^-1 / 3).  It does not change as they turn.  A row that is multiplied by it has a
 * moment / L for an impulse. */
double spragLengthOf(const spragSnapshot *s, const int body[2]);

/* N s, the impulse of `row`, which turns, in a moment (3, N m s) on the first body; its rows are orthogonal. */
static inline double spragMomentAlong(const spragBlock *block, int row, const double moment[3])
{
    const double L = block->length[row];
    return spragDot3(block->J[0][row] + 3, moment) / (L * L);
}

/* mu, mu_minus: its coefficients at rest, which it has at once if it rested; those that it has become kinetic. */
static inline void spragBlockHold(spragBlock *block, double mu, double mu_minus, int rested)
{
    block->kinetic[0] = block->mu, block->kinetic[1] = block->mu_minus;
    block->resting[0] = mu, block->resting[1] = mu_minus;
    block->differ = 1;
    if (!rested)
        return;
    block->mu = mu, block->mu_minus = mu_minus;
    block->hold = SPRAG_HOLD_STATIC;
}

/* Is there a spragContact of it?  (Of the two sides of a guide there is one.) */
static inline int spragBlockIsReported(const spragBlock *block)
{
    return block->part == SPRAG_PART_CONTACT || block->part == SPRAG_PART_GUIDE;
}

/* point (3) m: where its forces act, at the height of its face, or, where that rolls, at its own. */
static inline void spragBlockPoint(const spragBlock *block, double point[3])
{
    const double none[3] = {0, 0, 0};
    spragFaceLift(block->position, block->n, block->rolls ? none : block->off, point);
}

/* A key for two bodies (-1: the world), the same in either order, never NULL. */
static inline const void *spragBodyPair(const int body[2])
{
    const int low = body[0] < body[1] ? body[0] : body[1], high = body[0] < body[1] ? body[1] : body[0];
    return (const void *)(((uintptr_t)(high + 1) << 24) + (uintptr_t)(low + 2));
}

/* Fills row `row` of both sides: velocity along d (unit, world axes) at the block's point. */
void spragBlockRow(const spragSnapshot *snapshot, spragBlock *block, int row, const double d[3]);
/* m/s, the value of a row at the start of the step. */
double spragBlockVelocity(const spragSnapshot *snapshot, const spragBlock *block, int row);
/* W (3x3) 1/kg: the block's own, without compliance. */
void spragBlockOwn(const spragSnapshot *snapshot, const spragBlock *block, double W[9]);
/* product, carried (3) m/s^2: Jdot v along its rows as these bodies move (NULL: the world), and what a step leaves out
 * of it (velocity_product.h); 0 where it has none. */
void spragBlockProduct(const spragSnapshot *snapshot, const spragBlock *block, const spragBodyState *const body[2],
                       double product[3], double carried[3]);

/* Was the point at rest along the plane: so it ended the last step (a record of it, or NULL), or it is seen for the
 * first time and does not slip.  Then the static coefficient holds.  Rows must be filled. */
int spragBlockRested(const spragSnapshot *snapshot, const spragBlock *block, const spragContactMemory *record);

/* A surface with stiffness k and damping d is an implicit spring: *erp becomes h k / (h k + d), *cfm 1 / (h k + d); a
 * rigid one leaves both as they are. */
void spragSurfaceSpring(const spragSurface *surface, double step, double *erp, double *cfm);

/* 1: two contacts of the same geoms and bodies, in one order. */
int spragSameGeoms(const spragJointState *a, const spragJointState *b);

/* m/s: how fast a contact that overlaps by `depth` m is asked to part.
 *
 * ERP's is e = erp (depth - layer) / T, T the step or, where the world's steps were longer of late, their pace
 * (spragSnapshot): what long steps leave is no kick in a short one, and what that gives does not carry bodies apart in
 * the next long one.  A contact with an ERP of its own, or a spring, has T = h, as these are made for a step.  With no
 * layer and no CFM that takes the overlap to nothing; then rounding parts the bodies, and the upper one falls for
 * a step, 1 mm at 100 steps a second, and hits at 0.1 m/s.  Five boxes on each other did so in every third step, for
 * ever.  So a trace of the overlap stays, T least / erp, 2e-10 m there, with
 *     min(e, max(0, 3/2 (e - least))),
 * which is e from 3 least on.  It is more than answers within the tolerance part them by in a step (with a tenth of it
 * one of some thousand steps did).  Continuous, as springs (CFM) rock where a force has a step. */
static inline double spragCorrection(const spragSnapshot *s, double erp, double period, double depth)
{
    const double e = erp * fmax(depth - s->layer, 0) / period;
    return fmin(e, fmax(0, 1.5 * (e - s->least_correction)));
}

/* What is asked for along the normal: m/s, the part of it that corrects position, cfm / h. */
typedef struct spragNormalRow {
    double rhs, correction, compliance;
} spragNormalRow;
/* approach: m/s, the normal velocity at the start of the step; surface: or NULL. */
spragNormalRow spragNormalRowOf(const struct spragWorld *world, const dContact *contact, const spragSurface *surface,
                                double approach);
/* Blocks, or joints: islands of up to FEW keep CFM and small corrections (slop.h); in those of more than MANY points
 * and faces stay as they were at rest (stay.h, face.h). */
enum { SPRAG_BLOCKS_FEW = 12, SPRAG_BLOCKS_MANY = 60 };

/* The frame of a sticking contact turns within the step, which leaves a slip of second order in h.  Below this share of
 * what the step's own acceleration gives it is none. */
#define SPRAG_REST_SHARE 0.05
/* 1: it stuck, and its slip (2, m/s) is none.  change (3): m/s, of the contact's velocity in this step without contact
 * forces. */
int spragRestsAt(const spragContactMemory *old, const double slip[2], const double change[3]);

/* Fills the blocks of a contact (spragContactBlockCount); first: the number of the first in the island; before: a block
 * that may be of the same face, to save work, or NULL. */
void spragContactBlocks(const struct spragWorld *world, int joint, const spragSurface *surface, const spragFace *face,
                        int first, const spragBlock *before, spragBlock *block);

#endif
