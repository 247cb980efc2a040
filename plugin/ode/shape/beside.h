/* Cylinders that lie side by side: logs on logs, barrels, pipes; or a cylinder and a capsule.
 *
 * ODE leaves them to libccd, an iteration, which names one point anywhere along the line on which they touch, with a
 * normal that is right to 1e-3 or 1e-2, and another one in the next step.  So a heap of logs never rests: under ODE's
 * own steppers it rolls apart.  What is looked for is known in closed form.
 *
 * Let the axes be p + s e, |s| <= a, and q + t f, |t| <= b, the radii R and S.  Along them the pipes lie side by side
 * where each point has its foot on the other axis: from the end of one to that of the same or the other.  There their
 * distance is a convex function of s, so the overlap R + S - |p + s e - q - t f| is least at one of the two ends of
 * that stretch.  What touches at both ends rests on both.  What does not touches at one of them, or between, if the
 * axes cross there: where they are nearest, and along what is between them.
 *
 * Of two cylinders whose axes are parallel to 0.045 rad ODE looks at the middle of the thinner one first, and finds
 * nothing if that does not overlap, however deep an end does.  Then the bodies fall, by millimetres, and are pushed
 * out, once or twice a second.  So an end is pushed out only as far as that middle overlaps: by twice as much, as it
 * does where the other end only just touches.
 *
 * At its end c a cylinder touches with its rim: of the circle about c the point x that is nearest to the other axis,
 *
 *     x = c - R w,   w the part of c - foot(c) across e, of length 1;   n = x - foot(x),   overlap S - |n|.
 *
 * A capsule touches with the ball about its end. */
#ifndef SPRAG_ODE_BESIDE_H
#define SPRAG_ODE_BESIDE_H

/* A cylinder or a capsule. */
typedef struct spragBesidePipe {
    double middle[3], axis[3], half, radius; /* m; half: of its length, without a capsule's caps */
    int is_capsule;
} spragBesidePipe;

typedef struct spragBesidePoint {
    double x[3], normal[3], depth; /* m, midway between the surfaces; into the first pipe; < 0: a gap */
} spragBesidePoint;

/* m, the overlap at which the collider looks before it looks on; INFINITY: it looks everywhere. */
double spragBesideSeen(const spragBesidePipe pipe[2]);

/* At which ends of the stretch they touch, along the first one's axis.  0: they cross, or do not lie side by side. */
int spragBesideFind(const spragBesidePipe pipe[2], spragBesidePoint point[2]);

/* Where they touch if their axes cross, that is are nearest to each other between the ends of both.  0: they do not. */
int spragBesideCross(const spragBesidePipe pipe[2], spragBesidePoint *point);

#endif
