/* Bodies held together by joints, eliminated from the contact problem.
 *
 * The equality rows of the joints of one mechanism are  E v + c lambda = rhs  (c = cfm / h).  With
 *     v = v_free + M^-1 (J^T r + E^T lambda),
 *     A lambda = -(E v_free - rhs) - E M^-1 J^T r,     A = E M^-1 E^T + c = L D L^T,
 * and with Z_k = L^-1 E M^-1 J_k^T, y = L^-1 (E v_free - rhs), what the contacts feel of the mechanism is
 *     W_kl <- W_kl - Z_k^T D^-1 Z_l,     q_k <- q_k - Z_k^T D^-1 y,     lambda = -L^-T D^-1 (y + sum_k Z_k r_k).
 * Where a limit or motor that is taken to hold (joint_blocks.h) breaks its
 * bound the island begins again with a block. */
#ifndef SPRAG_ODE_ARTICULATION_H
#define SPRAG_ODE_ARTICULATION_H

#include "linalg/block_ldlt.h"
#include "linalg/quad.h"
#include "ode/rows/joint_blocks.h"
#include "ode/rows/rows.h"

/* Rows and responses of one joint, side by side as lanes. */
typedef struct spragJointPanel {
    spragQuad J[2][6][2], Y[2][6][2]; /* E^T, M^-1 E^T, of bodies that move */
} spragJointPanel;

/* What of L^-1 E M^-1 J^T is not zero for one block. */
typedef struct spragReach {
    int count;
    int *joint;     /* (count) ascending */
    int is_path;    /* 1: of one body: each joint's successor is its parent */
    spragQuad *Z;   /* (count x 6) lanes are the rows of the block */
    spragQuad *D_Z; /* (count x 6) D^-1 Z */
} spragReach;

struct spragArticulation {
    int joint_count, row_count, block_count, body_count;
    int *row;               /* (row_count) of island->row, in the order of elimination: joint by joint */
    int *first;             /* (joint_count + 1) rows of each joint */
    int (*group)[2];        /* (joint_count) bodies that move, by their number in the mechanism, or -1 */
    int *block;             /* (block_count) of island->block, ascending */
    spragBlockLdlt factor;  /* a block row for every joint */
    spragJointPanel *panel; /* (joint_count) */
    spragQuad *y;           /* (joint_count x 6): lanes L^-1 (E v_free - rhs), L^-1 E (v_free - v) / h */
    spragReach *reach;      /* (block_count) */
};

/* Groups the island's bodies (body.place becomes the number of the group), and factors each mechanism.  Free velocities
 * must be known.  0: no memory. */
int spragArticulationsMake(struct spragWorld *world, spragIsland *island);

/* The same for a copy of the island that has more equality rows, joint by joint, and some of its blocks:
 * spragArticulationCouple then says what these feel.  other: a copy with rows, blocks and Y of its own.  What the
 * bodies know of the island's own mechanisms is put back.  0: no memory. */
int spragArticulationsMakeOther(struct spragWorld *world, spragIsland *other);

/* What blocks feel of the mechanisms, anew, after their rows (and Y with them) have changed. */
void spragArticulationsRespond(const spragSnapshot *s, spragIsland *island);

/* Subtracts the mechanisms' part from W_kl (3x3); from q and b of one block. */
void spragArticulationCouple(const spragIsland *island, int k, int l, double W[9]);
void spragArticulationShift(const spragIsland *island, int k, double q[3], double *free_acceleration);

/* lambda of every equality row from island->r.  0: no memory. */
int spragArticulationsSolve(spragIsland *island);

/* Limits and motors that were taken to hold and do not: their records of the last step are put on the bound, so that
 * they are bounded rows when the island begins again.  Returns how many. */
int spragArticulationsUnhold(struct spragWorld *world, const spragIsland *island);

/* ---------------------------------------------------------------- W_kl, where many are made */

/* What the joint a of p and b of q, the same, add to Z_p^T D^-1 Z_q. */
SPRAG_QUAD_INLINE void spragReachShared(int rows, const spragReach *p, const spragReach *q, int a, int b,
                                        spragQuad sum[3])
{
    const double *Zp = (const double *)(p->Z + SPRAG_JOINED_ROWS * a);
    const spragQuad *D_Zq = q->D_Z + SPRAG_JOINED_ROWS * b;
    for (int c = 0; c < rows; ++c)
        for (int r = 0; r < 3; ++r)
            sum[r] += Zp[SPRAG_QUAD * c + r] * D_Zq[c];
}

/* W -= Z_p^T D^-1 Z_q, over the joints that both reach: of two paths up the tree all from the first that they share on.
 * (A block with both bodies in the mechanism reaches two paths, merged: it may leave the other's and meet it again.) */
SPRAG_QUAD_INLINE void spragReachCouple(const int *size, const spragReach *p, const spragReach *q, spragQuad W[3])
{
    const int paths = p->is_path && q->is_path;
    spragQuad sum[3] = {{0}};
    for (int a = 0, b = 0; a < p->count && b < q->count;) {
        if (p->joint[a] != q->joint[b]) {
            p->joint[a] < q->joint[b] ? ++a : ++b;
            continue;
        }
        do {
            spragReachShared(size[p->joint[a]], p, q, a, b, sum);
            ++a, ++b;
        } while (paths && a < p->count);
    }
    for (int r = 0; r < 3; ++r)
        W[r] -= sum[r];
}

/* As spragArticulationCouple, of a W_kl whose rows are quads. */
SPRAG_QUAD_INLINE void spragArticulationCoupleQuads(const spragIsland *island, int k, int l, spragQuad W[3])
{
    const spragBlock *p = &island->block[k], *q = &island->block[l];
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b)
            if (p->articulation[a] >= 0 && p->articulation[a] == q->articulation[b]) {
                const struct spragArticulation *art = &island->articulation[p->articulation[a]];
                spragReachCouple(art->factor.size, &art->reach[p->slot[a]], &art->reach[q->slot[b]], W);
            }
}

#endif
