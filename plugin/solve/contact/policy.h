/* Which solution is right where several or none exist: docs/theory.md 6. */
#ifndef SPRAG_SOLVE_POLICY_H
#define SPRAG_SOLVE_POLICY_H

#include <math.h>

#include "solve/contact/local.h"

/* A contact slides where its slip is above this speed, m/s: well above rounding, well below any motion. */
#define SPRAG_SLIP_TOLERANCE 1e-9
/* m/s: a slip below it counts as rest where it is that of an answer with this residual. */
static inline double spragStill(double residual)
{
    return fmin(fmax(SPRAG_SLIP_TOLERANCE, 10 * residual), 1e-6);
}

/* Of one sliding contact, w_n = b + p N. */
typedef enum spragQuadrant {
    SPRAG_QUADRANT_REST,          /* not sliding: no p */
    SPRAG_QUADRANT_SLIDE,         /* p > 0, b < 0 */
    SPRAG_QUADRANT_LIFT,          /* p >= 0, b > 0, or p > 0, b = 0 */
    SPRAG_QUADRANT_INDETERMINATE, /* p < 0, b > 0: lift or jam; history decides */
    SPRAG_QUADRANT_INCONSISTENT   /* p <= 0, b <= 0: no motion; an impulse ends the slip */
} spragQuadrant;

typedef struct spragIndicator {
    spragQuadrant quadrant;
    double p;          /* 1/kg */
    double separatrix; /* N* = -b / p in the indeterminate quadrant, else 0; N */
    int lifts;         /* indeterminate: 1 the policy lifts off, 0 it jams */
} spragIndicator;

/* W (3x3) is the contact's own block. */
spragIndicator spragIndicatorOf(const double W[9], double mu, const spragContactHistory *history,
                                spragIndeterminacy policy);

/* The same of a two-sided contact.  b < 0 is borne by N > 0, b > 0 by N < 0, each with its own slope p of the sliding
 * contact.  p > 0: it slides (SLIDE), and if the other side's p is < 0 a second, unrealisable solution exists
 * (INDETERMINATE, separatrix its N; class 3).  p < 0: none slides (INCONSISTENT).  b = 0: N = 0, it slides. */
spragIndicator spragIndicatorTwoSided(const double W[9], double mu, double mu_minus,
                                      const spragContactHistory *history);

/* Which of a contact's solutions (spragLocalEnumerate) a step (s; 0: unknown) takes: its index, or -1.  It leaves or
 * stays by the policy; of what stays the slide that goes on, if it is realisable, else stick. */
int spragLocalPick(int count, const spragLocalSolution *solution, const spragIndicator *indicator,
                   const spragContactHistory *history, double step, spragIndeterminacy policy, spragSolveInfo *info);

/* m/s, the greatest change of a contact's normal velocity by its own impulse; r (3 contact_count). */
double spragGreatestBlow(const spragProblem *problem, const double *r);
/* 1: contacts (one- or two-sided, some of which slid) brace themselves against each other: their impulses r are out of
 * all proportion to what moves them in the step.  0 where there are blocks of another kind. */
int spragIsBraced(const spragProblem *problem, const double *r);

#endif
