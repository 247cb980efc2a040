/* Four contact problems at once, each of one body on things that do not move, all with the same number of contacts.
 *
 * Coulomb's law (sprag.h) in world axes, which saves the tangents: the body's mass matrix M is 6 x 6, contact k at the
 * arm a_k has J_k v = v_lin + v_ang x a_k, and
 *
 *     u_k = q_k + J_k M^-1 sum_l J_l^T r_l + c_k (n_k . r_k) n_k.
 *
 * What is no problem of this kind, has several solutions or none, or does not converge, is not solved here. */
#ifndef SPRAG_SOLVE_LONE_H
#define SPRAG_SOLVE_LONE_H

#include "linalg/quad.h"

enum { SPRAG_LONE_CONTACTS = 8 };

typedef struct spragLoneContact {
    spragQuad n[3];         /* unit, into the body */
    spragQuad arm[3];       /* m, from the centre of mass */
    spragQuad q[3];         /* m/s */
    spragQuad mu;           /* > 0 */
    spragQuad compliance;   /* c, m/s per N s */
    spragQuad r[3];         /* N s; in: guess */
    spragQuad u[3];         /* m/s */
    spragQuad w, inverse_w; /* 1/kg, trace of the contact's own block of W / 3; kg */
    spragQuad ray;          /* 1 / (1 + mu^2) */
} spragLoneContact;

typedef struct spragLoneBodies {
    int count;                                /* contacts of each body */
    double tolerance;                         /* m/s */
    spragQuad mass, inverse_mass;             /* kg, 1/kg */
    spragQuad inertia[9], inverse_inertia[9]; /* world axes */
    spragLoneContact *contact;                /* (count) */
    spragQuad impulse[6];                     /* of all contacts, N s, N m s */
    spragQuad residual;                       /* m/s, where the steps end; whether they did the judge says */
    spragQuad creep, slip; /* m/s, the fastest slip of a contact that sticks, of any that is not open */
    spragQuad iterations;
    spragQuadMask solved; /* claimed: residual within tolerance, sticking contacts at rest, slip that lasts */
} spragLoneBodies;

/* Newton's steps for all four at once; fills r and u of the contacts, and what follows them here. */
void spragLoneSolve(spragLoneBodies *bodies);

/* out (3) = own block of W without compliance, times x. */
SPRAG_QUAD_INLINE void spragLoneOwn(const spragLoneBodies *b, const spragQuad arm[3], const spragQuad x[3],
                                    spragQuad out[3])
{
    spragQuad moment[3], spin[3];
    spragQuadCross3(moment, arm, x);
    spragQuadMul33(spin, b->inverse_inertia, moment);
    spragQuadCross3(out, spin, arm);
    for (int i = 0; i < 3; ++i)
        out[i] += b->inverse_mass * x[i];
}

#endif
