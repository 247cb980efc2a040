/* Balls inside each other, as solve/glue/glue sees them: contacts, masses, and the product M + J^T S J. */
#ifndef TESTS_SUPPORT_BALL_HEAP_H
#define TESTS_SUPPORT_BALL_HEAP_H

#include <string.h>

#include "linalg/vec3.h"
#include "solve/glue/glue_coarse.h"
#include "support/uniform.h"

enum { BALLS = 60, BALL_CONTACTS = BALLS * (BALLS + 1) / 2 };

typedef struct BallHeap {
    int bodies, contacts;
    spragMass mass[BALLS];
    double center[BALLS][3];
    spragGlueContact contact[BALL_CONTACTS];
    unsigned char pressed[BALL_CONTACTS];
} BallHeap;

/* As solve/glue/glue_coarse.h and solve/glue/glue_factor.h take it; `heap` keeps it. */
static inline spragGlueHeap glueHeapOf(BallHeap *heap)
{
    return (spragGlueHeap){heap->bodies, heap->contacts, heap->mass, heap->contact, heap->pressed};
}

static inline void joinBalls(BallHeap *heap, int a, int b, const double n[3], const double point[3], double stiff)
{
    spragGlueContact *contact = &heap->contact[heap->contacts];
    *contact = (spragGlueContact){.normal = 5, .tangential = stiff, .body = {a, b}};
    memcpy(contact->n, n, sizeof contact->n);
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < 3 && contact->body[side] < heap->bodies; ++i)
            contact->arm[side][i] = point[i] - heap->center[contact->body[side]][i];
    heap->pressed[heap->contacts] = heap->contacts % 3 > 0;
    ++heap->contacts;
}

/* Centers in a cube of 2 edge m, radii of 0.3 m; those below z = 0.3 - edge lie on the world, if it is there. */
static inline void makeBallHeap(BallHeap *heap, double edge, double stiff, int world, unsigned long long *seed)
{
    const double radius = 0.3;
    *heap = (BallHeap){.bodies = BALLS};
    for (int i = 0; i < BALLS; ++i) {
        spragMass *mass = &heap->mass[i];
        mass->mass = 0.02 + 0.2 * (uniform(seed) + 1);
        mass->inverse_mass = 1 / mass->mass;
        for (int j = 0; j < 3; ++j) {
            mass->inertia[4 * j] = 0.4 * mass->mass * radius * radius;
            mass->inverse_inertia[4 * j] = 1 / mass->inertia[4 * j];
            heap->center[i][j] = edge * uniform(seed);
        }
    }
    for (int i = 0; i < BALLS; ++i) {
        const double *x = heap->center[i];
        if (world && x[2] < radius - edge)
            joinBalls(heap, i, BALLS, (double[3]){0, 0, 1}, (double[3]){x[0], x[1], -edge}, stiff);
        for (int j = 0; j < i; ++j) {
            const double *y = heap->center[j], d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]}, length = spragNorm3(d);
            if (length < 2 * radius)
                joinBalls(heap, i, j, (double[3]){d[0] / length, d[1] / length, d[2] / length},
                          (double[3]){(x[0] + y[0]) / 2, (x[1] + y[1]) / 2, (x[2] + y[2]) / 2}, stiff);
        }
    }
}

/* J_k x, world axes */
static inline void ballSlip(const BallHeap *heap, int k, const spragTwist *x, double out[3])
{
    for (int i = 0; i < 3; ++i)
        out[i] = 0;
    for (int side = 0; side < 2; ++side) {
        const int body = heap->contact[k].body[side];
        double turn[3];
        if (body == heap->bodies)
            continue;
        spragCross3(turn, x[body].at + 3, heap->contact[k].arm[side]);
        for (int i = 0; i < 3; ++i)
            out[i] += (side == 0 ? 1 : -1) * (x[body].at[i] + turn[i]);
    }
}

/* out = (M + J^T S J) x */
static inline void ballProduct(const BallHeap *heap, const spragTwist *x, spragTwist *out)
{
    for (int i = 0; i < heap->bodies; ++i) {
        for (int j = 0; j < 3; ++j)
            out[i].at[j] = heap->mass[i].mass * x[i].at[j];
        spragMul33(out[i].at + 3, heap->mass[i].inertia, x[i].at + 3);
    }
    for (int k = 0; k < heap->contacts; ++k) {
        const spragGlueContact *contact = &heap->contact[k];
        double d[3], p[3];
        ballSlip(heap, k, x, d);
        const double normal = spragDot3(contact->n, d),
                     along = (heap->pressed[k] ? contact->normal : 0) - contact->tangential;
        for (int i = 0; i < 3; ++i)
            p[i] = contact->tangential * d[i] + along * normal * contact->n[i];
        for (int side = 0; side < 2; ++side) {
            double turn[3];
            spragCross3(turn, contact->arm[side], p);
            for (int i = 0; i < 3 && contact->body[side] < heap->bodies; ++i) {
                out[contact->body[side]].at[i] += side == 0 ? p[i] : -p[i];
                out[contact->body[side]].at[3 + i] += side == 0 ? turn[i] : -turn[i];
            }
        }
    }
}

#endif
