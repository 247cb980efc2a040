/* What happened in a step: events, told from a contact before and after. */
#ifndef SPRAG_ODE_EVENT_H
#define SPRAG_ODE_EVENT_H

#include <sprag/sprag_ode.h>

#include "solve/contact/policy.h"

/* Events of one step.  Memory for as many as most programs ask for is taken at once, beyond that as they come. */
typedef struct spragEventLog {
    spragEvent *event; /* (room) */
    size_t room;
    int count, limit;
    int lost; /* events beyond the limit, or beyond memory: counted, not kept */
} spragEventLog;

/* An empty log; its limit may be changed at any time.  0: no memory. */
int spragEventLogInit(spragEventLog *log, int limit);
void spragEventLogFree(spragEventLog *log);
void spragEventLogClear(spragEventLog *log);
void spragEventLogAdd(spragEventLog *log, spragEventType type, const spragEvent *event);

/* One contact over one step.  `event` holds all but the type: what every event of this contact says. */
typedef struct spragContactChange {
    spragEvent event;
    int fresh;           /* first step of this contact */
    int touching;        /* no gap that the step does not see */
    int passes;          /* it sticks only as its slip passes through zero (passing.h) */
    int passed;          /* so it did in the last step, which told of a reversal */
    double last_slip[3]; /* m/s, at the end of the last step: slip_before is the same motion seen in a turned frame */
    spragMode before, after;
    int variant_before;       /* of the last step, 0: fresh */
    int may_slide;            /* two-sided, or judged with others: in class 3 and 4 a slide can be realisable */
    int class_before;         /* of such a contact: it can slide on, and says so once */
    spragIndicator indicator; /* p, b at the start of the step */
    int paradox_class;        /* of the contact, alone or with the others of its island */
    double approach;          /* m/s, normal velocity at the start of the step, less h carried */
    double inverse_mass;      /* W_nn, 1/kg */
    double normal_impulse;    /* N s */
    double gravity;           /* m/s^2, magnitude */
    double step;              /* s */
} spragContactChange;

/* Class (docs/theory.md 5) of one one-sided contact: 1 nothing repels, 3 two repel and one is realisable. */
int spragParadoxClassOf(spragQuadrant quadrant);

/* Can a regular contact jam?  Before p reaches 0 a force b / p of ten times the usual size needs p < W_nn / 10; a
 * larger one is somebody else's blow, handed on. */
static inline int spragMayJam(double p, double inverse_mass)
{
    return p < 0.1 * inverse_mass;
}

/* Touch, detach, stick, slip, reverse from the modes; inconsistent, indeterminate, jam from p, b and the impulse.
 * 1: it sticks in passing, and was told of as a reversal. */
int spragEventsOfContact(spragEventLog *log, const spragContactChange *change);

#endif
