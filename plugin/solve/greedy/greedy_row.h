/* Products with the rows of greedy.h, a vector each: what greedy.c, greedy_fill.c and greedy_judge.c share. */
#ifndef SPRAG_SOLVE_GREEDY_ROW_H
#define SPRAG_SOLVE_GREEDY_ROW_H

#include "base/prefetch.h"
#include "linalg/oct.h"
#include "solve/greedy/greedy.h"
#include "solve/greedy/greedy_lanes.h"

#define SPRAG_GREEDY_GAIN 0.5 /* of a contact that was not visited yet */
enum {
    SPRAG_GREEDY_AHEAD = 12, /* contacts that are looked at one after the other, of whose bodies are fetched */
    SPRAG_GREEDY_PAIR = 2 * SPRAG_QUAD /* contacts that are looked at together */
};

/* Room for so many contacts, to a multiple of SPRAG_GREEDY_PAIR. */
static inline int spragGreedyPadded(int count)
{
    return (count + SPRAG_GREEDY_PAIR - 1) / SPRAG_GREEDY_PAIR * SPRAG_GREEDY_PAIR;
}

/* All rows are aligned: the arena aligns the arrays, and their elements are multiples of 32 bytes. */
_Static_assert(sizeof(spragGreedyBody) % sizeof(spragQuad) == 0, "rows of bodies are aligned");
_Static_assert(sizeof(spragGreedyRoll) % sizeof(spragQuad) == 0, "rows of rolling friction are aligned");
_Static_assert(sizeof(spragGreedyContact) % sizeof(spragQuad) == 0, "rows of contacts are aligned");
_Static_assert(sizeof(spragGreedyOwn) % sizeof(spragQuad) == 0, "and those of their own");
#define SPRAG_ROW(x) (*(const spragQuad *)(const void *)(x))
#define SPRAG_ROW_CHANGE(x) (*(spragQuad *)(void *)(x))
#define SPRAG_LANE_ROW(x) (*(spragOctRow *)(void *)(x))
#define SPRAG_ROW_TURNED(x) SPRAG_QUAD_SHUFFLE(x, x, 1, 2, 0, 3)

/* a x b, turned by one place: (z, x, y). */
SPRAG_QUAD_INLINE spragQuad spragGreedyCross(spragQuad a, spragQuad b)
{
    return a * SPRAG_ROW_TURNED(b) - SPRAG_ROW_TURNED(a) * b;
}

/* The sums of three vectors whose fourth numbers are zero. */
SPRAG_QUAD_INLINE spragQuad spragGreedySums(spragQuad a, spragQuad b, spragQuad c)
{
    const spragQuad ab = SPRAG_QUAD_SHUFFLE(a, b, 0, 4, 2, 6) + SPRAG_QUAD_SHUFFLE(a, b, 1, 5, 3, 7);
    const spragQuad cc = SPRAG_QUAD_SHUFFLE(c, c, 0, 4, 2, 6) + SPRAG_QUAD_SHUFFLE(c, c, 1, 5, 3, 7);
    return SPRAG_QUAD_SHUFFLE(ab, cc, 0, 1, 4, 5) + SPRAG_QUAD_SHUFFLE(ab, cc, 2, 3, 6, 7);
}

/* The body's inverse inertia, by rows or columns. */
SPRAG_QUAD_INLINE void spragGreedyInertia(const spragGreedyBody *body, spragQuad I[3])
{
    const spragQuad rest = SPRAG_ROW(body->inverse_inertia + SPRAG_QUAD);
    I[0] = SPRAG_ROW(body->inverse_inertia);
    I[1] = SPRAG_QUAD_SHUFFLE(I[0], rest, 1, 4, 5, 3);
    I[2] = SPRAG_QUAD_SHUFFLE(I[0], rest, 2, 5, 6, 3);
}

/* J_k M^-1 J_k^T r */
SPRAG_QUAD_INLINE spragQuad spragGreedyOwnMotion(const spragGreedyContact *c, const spragGreedyOwn *own,
                                                 const double r[3])
{
    return SPRAG_ROW(c->normal) * r[0] + SPRAG_ROW(own->tangent[0]) * r[1] + SPRAG_ROW(own->tangent[1]) * r[2];
}

#define SPRAG_STIFF_LEAST 1e-13 /* of the trace: what a direction that cannot move is given */

/* K, the Schur complement of W_nn in W_kk: K_11, K_12, K_22, 1/kg.  Made anew in each visit: it has long been there
 * when the bodies' velocities come. */
SPRAG_QUAD_INLINE void spragGreedySchur(const spragGreedyContact *c, const spragGreedyOwn *own, double K[3])
{
    const double *w = c->normal, inverse_nn = own->tangent[0][3];
    K[0] = own->tangent[0][1] + c->direction[1][3] - w[1] * w[1] * inverse_nn;
    K[1] = own->tangent[0][2] - w[1] * w[2] * inverse_nn;
    K[2] = own->tangent[1][2] + c->direction[2][3] - w[2] * w[2] * inverse_nn;
    const double least = SPRAG_STIFF_LEAST * (K[0] + K[2] + w[0] + c->direction[0][3]);
    if (K[0] * K[2] - K[1] * K[1] < least * (K[0] + K[2] + least))
        K[0] += least, K[2] += least;
}

/* J_k v */
SPRAG_QUAD_INLINE spragQuad spragGreedyVelocity(const spragGreedyContact *c, const spragGreedyBody *a,
                                                const spragGreedyBody *b)
{
    const spragQuad turning = spragGreedyCross(SPRAG_ROW(a->velocity[1]), SPRAG_ROW(c->arm[0])) -
                              spragGreedyCross(SPRAG_ROW(b->velocity[1]), SPRAG_ROW(c->arm[1]));
    const spragQuad v = SPRAG_ROW(a->velocity[0]) - SPRAG_ROW(b->velocity[0]) + SPRAG_ROW_TURNED(turning);
    return spragGreedySums(SPRAG_ROW(c->direction[0]) * v, SPRAG_ROW(c->direction[1]) * v,
                           SPRAG_ROW(c->direction[2]) * v);
}

/* how a body turns by a moment m */
SPRAG_QUAD_INLINE spragQuad spragGreedyTurn(const spragGreedyBody *body, double x, double y, double z)
{
    spragQuad I[3];
    spragGreedyInertia(body, I);
    return I[0] * x + I[1] * y + I[2] * z;
}

/* M^-1 J_k^T r into the velocities */
SPRAG_QUAD_INLINE void spragGreedyPush(const spragGreedyContact *c, const double r[3], spragGreedyBody *a,
                                       spragGreedyBody *b)
{
    const spragQuad all = SPRAG_ROW(c->direction[0]) * r[0] + SPRAG_ROW(c->direction[1]) * r[1] +
                          SPRAG_ROW(c->direction[2]) * r[2],
                    p = SPRAG_QUAD_SHUFFLE(all, (spragQuad){0}, 0, 1, 2, 7);
    const spragQuad s = spragGreedyCross(SPRAG_ROW(c->arm[0]), p), t = spragGreedyCross(SPRAG_ROW(c->arm[1]), p);
    SPRAG_ROW_CHANGE(a->velocity[0]) += p * a->inverse_mass;
    SPRAG_ROW_CHANGE(b->velocity[0]) -= p * b->inverse_mass;
    SPRAG_ROW_CHANGE(a->velocity[1]) += spragGreedyTurn(a, s[1], s[2], s[0]);
    SPRAG_ROW_CHANGE(b->velocity[1]) -= spragGreedyTurn(b, t[1], t[2], t[0]);
}

/* The same of its rolling friction: how the bodies turn against each other, */
SPRAG_QUAD_INLINE spragQuad spragGreedyTurning(const spragGreedyContact *c, const spragGreedyRoll *roll,
                                               const spragGreedyBody *a, const spragGreedyBody *b)
{
    const spragQuad w = (SPRAG_ROW(a->velocity[1]) - SPRAG_ROW(b->velocity[1])) * roll->length;
    return spragGreedySums(SPRAG_ROW(c->direction[1]) * w, SPRAG_ROW(c->direction[2]) * w,
                           SPRAG_ROW(c->direction[0]) * w);
}

/* and what r does to both. */
SPRAG_QUAD_INLINE void spragGreedyTwist(const spragGreedyContact *c, const spragGreedyRoll *roll, const double r[3],
                                        spragGreedyBody *a, spragGreedyBody *b)
{
    const spragQuad m =
        (SPRAG_ROW(c->direction[1]) * r[0] + SPRAG_ROW(c->direction[2]) * r[1] + SPRAG_ROW(c->direction[0]) * r[2]) *
        roll->length;
    SPRAG_ROW_CHANGE(a->velocity[1]) += spragGreedyTurn(a, m[0], m[1], m[2]);
    SPRAG_ROW_CHANGE(b->velocity[1]) -= spragGreedyTurn(b, m[0], m[1], m[2]);
}

/* Asks the memory for the bodies of contact k, which need not exist. */
SPRAG_QUAD_INLINE void spragGreedyAskBodies(const spragGreedy *greedy, int k, size_t bytes)
{
    for (int side = 0; side < 2 && k < greedy->contact_count; ++side)
        spragPrefetch(&greedy->body[greedy->pair[k][side]], bytes);
}

#endif
