/* The contacts of one step of a scene as plain data, for solvers that are no part of ODE, and the problem by which
 * their answers are judged: u = W r + q with
 *
 *     W = J M^-1 J',    q = J (v + h M^-1 f) - erp depth / h
 *
 * (the last in normal rows, depth beyond the surface layer), as ODE's own solvers have it: no velocity-product and no
 * gyroscopic term.  Bodies without joints only. */
#ifndef DEMOS_BENCH_CONTACT_SET_H
#define DEMOS_BENCH_CONTACT_SET_H

#include <sprag/sprag.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SceneWorld SceneWorld;

typedef struct SetBody {
    double mass, inverse_inertia[9]; /* kg, world frame, 1/(kg m^2) */
    double inertia[3], rotation[9];  /* principal moments and axes in columns, kg m^2 */
    double position[3], velocity[6]; /* m; m/s, rad/s, at the start of the step */
} SetBody;

typedef struct SetContact {
    unsigned long long id;        /* as spragContact.id: the same from step to step */
    int body[2];                  /* -1: the world */
    double position[3], frame[9]; /* m; rows n, t1, t2; n points into body[0] */
    double depth, mu;
} SetContact;

typedef struct ContactSet {
    int body_count, contact_count;
    int body_capacity, contact_capacity;
    SetBody *body;       /* (body_count) */
    SetContact *contact; /* (contact_count) */
    double gravity[3], step, erp;
} ContactSet;

/* Before the step: bodies as they are.  0: out of memory. */
int contactSetBodies(ContactSet *set, SceneWorld *world);
/* After it: the contacts of the step. */
int contactSetContacts(ContactSet *set, SceneWorld *world, double h);
void contactSetFree(ContactSet *set);

/* The problem.  0: out of memory. */
int contactSetProblem(const ContactSet *set, spragProblem *problem);
void contactSetProblemFree(spragProblem *problem);

/* Natural-map residual (m/s) of impulses r (contact_count x 3) in the frames of the set; NaN: out of memory. */
double contactSetResidual(const ContactSet *set, const double *r);

#ifdef __cplusplus
}
#endif
#endif
