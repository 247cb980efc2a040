/* What a guide leaves of h Jdot v to the second half of a step.
 *
 * A contact holds at the end of the step, J v+ + h Jdot v = 0, and its impulse acts along J, as the bodies are at the
 * beginning.  Where their motion turns J, by a = w h in a step, the two give energy: a body about a pin has its v
 * turned by a, with an impulse across v, so |v+| = |v| / cos a.  (With J v+ = 0, ODE's rows of joints, |v+| =
 * |v| cos a.)  At the middle of the step,
 *     J v+ + h Jdot v = e,   e = h Jdot v / 2,
 * force and motion are symmetric, |v+| = |v|: leapfrog, with ODE's velocities those of mid-steps.  The next step begins
 * with J v = e, and its impulse is that of h Jdot v again.
 *
 * A guide that begins has J v = 0, and b wants all of h Jdot v in its first impulse.  From there e, read off J v at the
 * beginning of each step, goes to its half within SETTLE: the reaction misses h / SETTLE of the half at most, and
 * h SETTLE w^2 of the energy stays.
 *
 * Until then a step adds h (e - h Jdot v / 2) to the gap.  ERP would take that back at once, by erp Jdot v / 2 in the
 * second step, however short: up to half of what Jdot v bears, as a load that is none, and rods at rest slipped away by
 * it, and others jammed.  So of the gap corrections do not see the lag, the sum of what steps have added, which fades
 * within SETTLE.  It is h SETTLE Jdot v / 5 at most.
 *
 * Contacts that do not press have all of h Jdot v, unless it is much (velocity_product.h): a tip that turns about the
 * point where it rests leaves it soon.  (Tried: contacts of the last step as guides.  Without ERP ragdolls whose feet
 * turn on the ground gain up to 0.03 J of 600 in a step, 5 runs of 24; but the oracle's rods miss their acceptance at
 * h = 1e-3 after a jam.) */
#ifndef SPRAG_ODE_LEAD_H
#define SPRAG_ODE_LEAD_H

#include "ode/rows/rows.h"

/* Adds e of a guide's rows to their rhs.  record: of its last step, or NULL; velocity is filled. */
void spragLead(spragBlock *block, const spragContactMemory *record, double h);
/* m, the lag after a step in which the guide's normal impulse was r; lead, lag and product are the step's. */
double spragLeadLag(const spragBlock *block, double r, double h);

#endif
