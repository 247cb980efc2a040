/* What a jam changes within its step.
 *
 * The law of a contact holds at the end of the step, where the bodies will be by then: u = J v+ + h Jdot v, with
 * Jdot v of the motion before (velocity_product.h).  Where forces act that is as good as any other, to h^2.  But a
 * jam changes at once how a body turns, and u = 0 then leaves J v+ + h Jdot v+ = h (Jdot v+ - Jdot v) to the next
 * step: what was brought to rest slips there, jams again, or is thrown off for some steps.  So an island of a few
 * contacts of which one has jammed is solved again, with Jdot of the motion after it.  p and b remain those of the
 * moment before.  Where that motion lifts the contact off it is left as it is: it goes at once.  And where the second
 * answer has no jam the first one stands: what the motion after a jam would allow is no motion from before it. */
#ifndef SPRAG_ODE_BLOW_H
#define SPRAG_ODE_BLOW_H

#include "ode/rows/rows.h"

enum { SPRAG_BLOW_MOST = 8 }; /* blocks */

/* An answer in which a contact jams, with the q it is of. */
typedef struct spragBlow {
    double *q;
    spragAccord accord;
    double change[3 * SPRAG_BLOW_MOST]; /* m/s^2, of Jdot v by the jam */
    double r[3 * SPRAG_BLOW_MOST], u[3 * SPRAG_BLOW_MOST];
    spragSolveInfo solve;
} spragBlow;

/* After its impulses are summed: did a jam change Jdot v of the island's contacts?  Then q is that of the motion after
 * it, the bodies have no impulses yet, and blow has what was.  (0 without memory: the answer stands.) */
int spragBlowLooksBack(struct spragWorld *world, spragIsland *island, spragBlow *blow);

/* After the second solution, before its impulses are summed: 1 if nothing jams in it.  Then all is as it was before. */
int spragBlowIsGone(const struct spragWorld *world, spragIsland *island, const spragBlow *blow);

#endif
