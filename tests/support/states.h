/* Contact states of the reference's systems, as spragContactState (Ivanov 2009, 5.2 to 5.21; Zobova). */
#ifndef TESTS_SUPPORT_STATES_H
#define TESTS_SUPPORT_STATES_H

#include <math.h>
#include <string.h>

#include <sprag/sprag.h>

#include "analysis/combination.h" /* CONTACTS, ROWS */

typedef struct State {
    spragContactState state;
    double A[ROWS * ROWS], b[ROWS], slip[2 * CONTACTS], mu[CONTACTS];
    unsigned char two_sided[CONTACTS];
} State;

static inline void begin(State *s, int contacts)
{
    memset(s, 0, sizeof *s);
    s->state = (spragContactState){contacts, s->A, s->b, s->slip, s->mu, s->mu, s->two_sided};
}

/* The rod: contact (a, h) below the centre, mass m, central inertia J; frame (n up, t1 right); `second`: the inertia of
 * the other tangent, 0: none. */
static inline void rodState(State *s, double a, double h, double m, double J, double second)
{
    const double A[9] = {1 / m + a * a / J, -a * h / J, 0, -a * h / J, 1 / m + h * h / J, 0, 0, 0, second};
    begin(s, 1);
    memcpy(s->A, A, sizeof A);
}

/* The bipod: contacts at x = -a and +a, H below the centre, weight P, pull F to the right through the centre. */
static inline void bipodState(State *s, double a, double H, double m, double J, double P, double F, double second)
{
    begin(s, 2);
    for (int k = 0; k < 2; ++k) {
        const double x = k == 0 ? -a : a;
        const double row[2][3] = {{0, 1, x}, {1, 0, H}}; /* velocities of G and turning rate; [n t1] */
        for (int j = 0; j < 2; ++j) {
            const double y = j == 0 ? -a : a, other[2][3] = {{0, 1, y}, {1, 0, H}};
            for (int p = 0; p < 2; ++p)
                for (int q = 0; q < 2; ++q)
                    s->A[6 * (3 * k + p) + 3 * j + q] =
                        (row[p][0] * other[q][0] + row[p][1] * other[q][1]) / m + row[p][2] * other[q][2] / J;
        }
        s->A[7 * (3 * k + 2)] = second;
        s->b[3 * k] = -P / m, s->b[3 * k + 1] = F / m;
    }
}

/* Painleve and Klein, rigid: two beads on rails, four coordinates (x1, y1, x2, y2), a weightless rod g = (-c, -s, c, s)
 * between them: a joint row, eliminated,
 *     A = M^-1 - M^-1 g' (g M^-1 g')^-1 g M^-1,   b = A F,
 * of rank three.  Contact k has the normal y_k and the tangent x_k.  The rod's force does not appear: it follows from
 * N_k = -Y_k +- R s. */
static inline void kleinState(State *s, const double m[2], double phi, const double F[4], const double *slip,
                              const double *mu, double second)
{
    begin(s, 2);
    const double g[4] = {-cos(phi), -sin(phi), cos(phi), sin(phi)};
    const int row[4] = {1, 0, 4, 3}; /* x1, y1, x2, y2 in the contacts' order [n t1 t2] */
    double gMg = 0;
    for (int i = 0; i < 4; ++i)
        gMg += g[i] * g[i] / m[i / 2];
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const double A = (i == j) / m[i / 2] - g[i] * g[j] / (m[i / 2] * m[j / 2] * gMg);
            s->A[6 * row[i] + row[j]] = A;
            s->b[row[i]] += A * F[j];
        }
    for (int k = 0; k < 2; ++k) {
        s->A[7 * (3 * k + 2)] = second;
        s->slip[2 * k] = slip[k], s->mu[k] = mu[k], s->two_sided[k] = 1;
    }
}

/* A body in space: m w = F* + B R in (x, y, z); the contact's normal is z. */
static inline void bodyState(State *s, const double B[9], const double Fstar[3], double m, double mu, const double *v,
                             int two_sided)
{
    static const int axis[3] = {2, 0, 1};
    begin(s, 1);
    for (int i = 0; i < 3; ++i) {
        s->b[i] = Fstar[axis[i]] / m;
        for (int j = 0; j < 3; ++j)
            s->A[3 * i + j] = 0.5 * (B[3 * axis[i] + axis[j]] + B[3 * axis[j] + axis[i]]) / m;
    }
    s->slip[0] = v[0], s->slip[1] = v[1];
    s->mu[0] = mu;
    s->two_sided[0] = (unsigned char)two_sided;
}

#endif
