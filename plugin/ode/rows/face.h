/* Faces: contacts of two geoms that lie side by side with one normal n, and the plane in which their friction acts.
 *
 * Points P_i of a face overlap by different depths, so they are at different heights n . P_i.  That all of them stick,
 *
 *     t . (v + w x (P_i - G)) + h t . Jdot v_i = 0,
 *
 * is then more than a rigid body can do.  Where corrections turn it to lie flat its points move by w_t times their
 * heights, each by another; and Jdot v_i, w x (w x (P_i - G)) of points that are fixed in it, would have it stretch.
 * Both are of second order: an overlap, or a turn, times what it changes by in the step; some 1e-7 m/s.  But with rigid
 * contacts that is a slip, and Coulomb's law answers it with all the friction there is: the contacts of a box at rest
 * pull against each other by mu N each, and which of them slip is hard to find (mu = 5: 2000 Newton steps, 4 ms).
 *
 * Where in its overlap a contact has its point nobody knows.  So the points of a face act at one height, that of their
 * mean, and slip by Jdot v of their mean: then t . u_i is the slip of points in one plane of a rigid body, and all can
 * be zero at once.  A contact alone acts where the collider says; the normal velocities do not depend on it.
 *
 * A body that rolls on a line of points (a capsule, a cylinder, the edge of a box) turns about it, all the time, by
 * w_l.  With one height a line that is tilted by phi then goes w_l phi to the side: friction keeps w level, so that the
 * axle goes round w as on a cone, and yaws for as long as corrections take to lay it flat.  With each point's own
 * height the slips across the line ask for w along it, which a rigid body can do by its turning about n.  Along the
 * line the tilt's own w would still draw the points apart.  So across the line the points of one that rolls act each
 * at its own height, and along it at the one of their mean; in islands of few contacts, or with joints, that are never
 * solved without rows, where a contact has but one point (matrix_free.h).  (What turns by more than 0.6 rad in a
 * step, or 0.8 less ERP, keeps one height: it rocks from end to end else.)
 *
 * In islands of more than SPRAG_BLOCKS_MANY joints only where the two bodies move against each other, or one of them
 * turns: colliders name other points of a face from step to step, with another mean, and a wall or a pyramid at rest
 * was solved anew every second time.  No line rolls there (200 dominoes that tip about their edges would take 1500
 * iterations in a step).  Nor is there a face where ODE's answers are judged, which act at the collider's points.
 */
#ifndef SPRAG_ODE_FACE_H
#define SPRAG_ODE_FACE_H

#include "linalg/vec3.h"
#include "ode/world/world.h"

/* Joints begin .. end - 1 of an island, and the mean of their points. */
typedef struct spragFace {
    int begin, end;
    double middle[3];   /* m */
    int rolls;          /* 1: its points lie on a line, and a body turns about that */
    double line[3];     /* if so, along it, of unit length */
    int pair, pair_end; /* the joints pair .. pair_end - 1 have the same two bodies: */
    int moves;          /* 1: which move against each other, or one turns */
} spragFace;

/* The face of contact i of the island; what *face holds is that of another contact, or zero.  Of neighbours in their
 * order a face is found once. */
void spragFaceFind(const struct spragWorld *world, const spragIsland *island, int i, spragFace *face);

/* 1: the contact's bodies turn against each other, fast enough for a face that begins with it to roll. */
int spragFaceTurns(const spragSnapshot *snapshot, const spragJointState *joint);

/* Where a contact with this normal acts, if its face does not roll: at the height of the middle of its face, which is
 * `off` from it. */
static inline void spragFaceLift(const double position[3], const double n[3], const double off[3], double out[3])
{
    const double lift = spragDot3(n, off);
    for (int i = 0; i < 3; ++i)
        out[i] = position[i] + lift * n[i];
}

/* The same, from the middle itself. */
static inline void spragFacePoint(const double position[3], const double n[3], const double middle[3], double out[3])
{
    const double off[3] = {middle[0] - position[0], middle[1] - position[1], middle[2] - position[2]};
    spragFaceLift(position, n, off, out);
}

#endif
