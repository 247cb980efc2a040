/* Answers that throw bodies.
 *
 * A row asks for a velocity b_j (ERP's correction of an overlap or of a joint, a motor, a bounce, less h Jdot v and J v
 * of what is kinematic) and has it but for what its law lets be:  (J v+)_j = u_j + b_j,  r_j u_j <= 0.  With p = J^T r
 * and v+ = v + M^-1 p, v the motion without constraints, the kinetic energy grows by
 *     T+ - T = r . J v+ - p . M^-1 p / 2  <=  sum_j b_j r_j.
 * So constraints that ask for nothing never throw a body.  Those that ask may, without limit: where rows nearly depend
 * on each other (a closed loop of sliders that has drifted, a body that joints hold against the floor), what one asks
 * for and the others all but forbid takes the impulse b / (sigma a), a = (J M^-1 J^T)_jj, sigma towards 0, and moves
 * bodies at b / sqrt(sigma).  Stock ODE's dWorldStep gives the same answer; QuickStep's iterations never get there.
 *
 * A correction is no physics: one that moves bodies many times as fast as it asks for is wrong
 * by more than it corrects, since J is that of where the bodies are.  So an answer is refused
 * whose energy grows by more than a twentieth and
 *     sum_j min(b_j r_j, (K c_j^2 + m_j^2) / a_j),      b_j = c_j + m_j
 * (a row alone gives b^2 / 2 a), c the correction and m what is of the motion itself, a bounce and -h Jdot v.  The
 * island is solved again with less asked for, until K = 1 explains it: a throw need not be as great as it could be
 * without being seen.  What forces and momentum want of the rows they still do exactly.
 *
 * First of the equality rows of joints: what can be had without haste, b <- A (A + C)^-1 b with A their J M^-1 J^T and
 * C = s diag A (damped least squares: Wampler, IEEE Trans. Systems, Man, and Cybernetics 16, 1986).  Directions that
 * are not near to singular are corrected as before, but for s, and the bodies get at most sum b^2 / 4 s a of it.  Then,
 * if need be, of all joints and contacts whose impulses are that far out of proportion, by their share of what is
 * explained; and in the end nothing is asked for, and no energy can come.
 *
 * What is bounded by a force is the user's drive, not a correction: motors with a greatest force may do what work they
 * can.  Bodies that move as they like ask as corrections do, and so do belts, along their surface too: friction has no
 * bound where it braces what is pressed on them (a capsule of 2 kg was shot off at 90 m/s by N = 2e5 N s), and so do
 * surfaces that come along their normal (motionN; one that goes away asks for nothing).  But what they carry may be
 * heavy, and touch them by something light, whose row alone explains little.  So their work is explained as well up to
 *     sum_i min(T_i+ - T_i, K m_i c^2 / 2),      c the fastest surface, i the bodies:
 * a belt throws nothing if nothing is many times as fast as it.  (100 kg that rock on a crate of 1 kg were held at half
 * the belt's speed for good, and 150 kg on one of 0.5 kg sank through a lift.) */
#ifndef SPRAG_ODE_SURGE_H
#define SPRAG_ODE_SURGE_H

#include "ode/world/world.h"

#define SPRAG_DAMPING 0.01 /* s */

/* Does the answer, body->impulse and r and lambda of the rows, give the bodies more energy than is explained?  Then
 * less is asked for when the island is assembled again (island->surged, spragJointState.withheld); nothing, if it is
 * the last time. */
int spragSurges(spragSnapshot *snapshot, spragIsland *island, int last);

/* m/s: what a row is asked for by bodies that move as they like, - J v. */
double spragSurgeGiven(const spragSnapshot *snapshot, const int body[2], const double J0[6], const double J1[6]);

/* Takes what is withheld off the rows of an island that is being assembled: their J is there. */
void spragSurgeWithhold(const spragSnapshot *snapshot, spragIsland *island);

#endif
