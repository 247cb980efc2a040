/* The velocity-product term of a contact, Jdot v: what the rows J a alone leave out of the acceleration.
 *
 * Let C_a, C_b be the centres of curvature of the two surfaces, n the common normal, P = C_a - rho_a n the contact
 * point.  The slip u = v_a + w_a x (P - G_a) - v_b - w_b x (P - G_b) is watched in the frame (n, t1, t2), which turns
 * with W, W x n = n'.  Differentiating, with P' the velocity of the contact point itself,
 *
 *     u' = (a_a + alpha_a x (P - G_a) - ...) + w_a x (P' - v_a) - w_b x (P' - v_b) - W x u ,
 *
 * and the last three terms are returned.  A plane of body b: n' = w_b x n, W = w_b.  Two spheres:
 * n' = (C_a' - C_b')_t / (rho_a + rho_b), W = n x n'; a pipe is straight along its axis (spragCurvatureAxes).  A
 * rolling ball has no such term; a sharp tip (rho = 0) turning with w on a plane has n . w x (w x r), without which
 * Painleve's rod at omega != 0 is in the wrong quadrant.
 *
 * Rims.  A cylinder (axis a, radius R, normal n into it, c = n . a, s = |a x n|, the sine of its tilt) that leans on a
 * plane touches it with the lowest point of the circle about its end Q,
 *
 *     P = Q - R m,    m = (n - c a) / s,    with the tangent    t = a x n / s.
 *
 * P runs along the circle, P' = v_P + l t, and t turns with the body and by l / R towards m: t' = w x t + (l / R) m.
 * It stays the lowest one: t . n = 0.  With n' = W x n, n . m = s and d = w - W
 *
 *     0 = t' . n + t . n' = - t . (d x n) + (l / R) s,      P' = v_P + (R / s) t t^T (d x n),
 *
 * where a ball has P' = v_P + rho (d x n): along the rim its radius is R / s, and across it the rim is a tip.  A wheel
 * that rolls straight on leaning has no such term along n, as t . (d x n) = s d . a - c d . m: the contact's point goes
 * round by l = R (d . a - (c / s) d . m), the spin, and how fast the direction in which it leans turns.  (As a ball it
 * has w^2 R s (1 - s), which let it sink by h^2 of that over ERP.)
 *
 * As s -> 0 that direction turns without bounds: of a coin that lies, l -> infinity.  But in a step the tilt, a vector
 * of length s, moves by h d . m at right angles to itself; so its direction turns by atan(h d . m / s), no more, and
 * its length grows to sqrt(s^2 + (h d . m)^2), by which c d . m is divided in place of s.
 *
 * What lies on its end or side touches with a face or a line: there it is a ball, as it was, and between both there is
 * some of either (spragCurvatureRim).  So are rims that touch what is round, an edge, or a body of which nothing is
 * known. */
#ifndef SPRAG_ODE_VELOCITY_PRODUCT_H
#define SPRAG_ODE_VELOCITY_PRODUCT_H

#include "ode/shape/curvature.h"

/* m/s, of the body's point at x.  NULL: the world. */
static inline void spragPointVelocity(double out[3], const spragBodyState *body, const double x[3])
{
    out[0] = out[1] = out[2] = 0;
    if (body == NULL)
        return;
    const double r[3] = {x[0] - body->position[0], x[1] - body->position[1], x[2] - body->position[2]};
    spragCross3(out, body->velocity + 3, r);
    for (int i = 0; i < 3; ++i)
        out[i] += body->velocity[i];
}

/* out (3, world axes) m/s^2.  body[1] may be NULL: the world.  n points into body[0]. */
void spragVelocityProduct(const spragBodyState *const body[2], const double radius[2], const double point[3],
                          const double n[3], double out[3]);

/* A contact as the product sees it; arrays of others. */
typedef struct spragCurvedContact {
    const spragBodyState *const *body; /* (2) */
    const spragCurvature *curvature;
    const double *n;      /* (3) */
    const double *point;  /* (3) m, where its forces act */
    const double *middle; /* (3) m, of its face (face.h); NULL: it is alone */
    double mu;            /* its coefficient of friction, or INFINITY; NAN: it may give energy, as guides */
    int known;            /* 1: it was there in the last step */
} spragCurvedContact;

/* What a step has of it, m/s^2.  Along n, returned, it is that of the contact's point; across n, out (3, world axes),
 * that of the middle of its face.  Where one of the bodies is kinematic that is half of it, and half of it as that body
 * sees it, as if it stood still, which is the same if it does not turn.  All are divided by spragProductLimit, and lose
 * what could give energy (spragProductShare).
 *
 * Why half: ODE moves a body by h v, v the velocity at the end of the step.  With all of Jdot v what sticks to a
 * turntable then goes inwards by (w h)^2 / 2 of its radius in each step, without it outwards, and with half of it,
 * which is the velocity of mid-step, along the circle, to third order in h.  As the turntable sees it it does not
 * turn, and there is nothing to halve: what turns on the floor, about its tip, has the law of the step's end.
 *
 * As that body sees it: the term is a quadratic form of the velocities, B(x, x), and x = d + s, d what moves with the
 * driven body.  B(d, x) is halved, B(s, x) = B(s, s) + B(s, d) is not.  B(s, d) is half of Coriolis' acceleration.  Of
 * a load that passes over rollers the two cancel: to a roller it turns back.  (With B(s, s) alone each roller asked for
 * another speed, by h w^2 / 2 times its distance from the load's centre, and plates went at 0.89 of w R.)  A ball that
 * rolls has B(s, s) = 0, and all of it is halved: so B(s, x) has the share |B(s, s)| / (|B(s, s)| + |B(s, d)|).
 *
 * rest (3, world axes): what is left out across n.  What stuck in the last step then has J v = h rest at the start of
 * this one, which is no slip. */
double spragFaceProduct(const spragCurvedContact *contact, double step, double out[3], double rest[3]);

/* Jdot v, at most w^2 r, foretells the step as long as a body turns by less than a radian in it.  Beyond that it is
 * kept at r / h^2, which moves a point by no more than its arm: divided by (w h)^2.  (Without this thrown bodies became
 * ever faster.)  turn: w h, rad. */
static inline double spragProductLimit(double turn)
{
    return turn > 1 ? turn * turn : 1;
}

/* How much is left of what of Jdot v could give energy.
 *
 * The impulses r of contacts work by r . (u_f + u) / 2, where u_f and u = u_f + W r are J v at the end of the step,
 * without and with them.  Their laws are those of u + c, c = h Jdot v, with r . (u + c) <= 0.  So they give
 *
 *     r . u - r . W r / 2  <=  - r . c - r . W r / 2,
 *
 * nothing, if c lies in the dual of the friction cone, mu |c_t| <= c_n.  What lies outside, d, gives m |d|^2 / 2 at
 * most, m the bodies' reduced mass, as W >= 1 / m.  That is as much as they have where they turn by half a radian in a
 * step, and bodies of 60 rad/s had up to twelve times their energy after a step of 1/60 s.  So of d the share
 * e / (m |d|^2 / 2) is left where that is below 1, e a small part (SPRAG_PRODUCT_GIVES) of the energy of the bodies'
 * turning and of their motion against each other.  Where they turn by less than some hundredths of a radian it is all
 * there; where it is not, the contact goes by J v = 0 in that direction, as ODE's do, and takes energy.  (That is of
 * each contact alone: a light body between a heavy one and the floor gained 1 % in one step of 2000.)  c_n >= 0, of
 * which b and all paradoxes are made, is never changed, nor is c_t of a tip with mu |c_t| <= c_n.  On what is driven
 * all this is as that sees it.
 *
 * Pressing.  Where c_n < 0 the surfaces turn into each other: a plank that rocks on a log, a die on the wall of a drum.
 * With all of c_n, u_n = 0 at the end of the step, they part by h^2 |c_n| / 2 in each: in ODE's surface layer that is
 * energy, and without a layer they leave each other, fall by g h^2, and are pushed back.  (So a plank keeps 0.6 to 1.1
 * of its energy in 5 s, 60 steps a second; with what follows 0.98.)  Half of it would keep their distance to third
 * order, but at a depth of nothing they leave all the same.  So of a contact that was there in the last step a negative
 * c_n is left to the next, at whose start J v = h c_n: they sink by h^2 |c_n| / 2 a step, which ERP makes up for.  b
 * has all of it.  Nor is that J v an approach, which would bounce.
 *
 * And where c_n < 0 in the middle of the face, half of c_t is left to the next step, as of what is on a turntable: what
 * sticks and turns gains (w h)^2 / 2 of its speed in a step with all of it, and as it presses it sticks for long.
 * (Coins that spin on their edges had up to 1.08 of their energy after 8 s of 240 steps a second.)
 *
 * Halves.  A rim sticks for as long as the coin spins, and so it keeps its energy by more than that.  Where its contact
 * was there in the last step, and its face has no other point but nearby (colliders name two for one point of a rim on
 * a box, SPRAG_RIM_LOWEST), half of d is left to the next step, also where c_n >= 0, as of a coin that rocks upright,
 * and nothing is taken from it.  Then a step begins with J v = h d / 2 and ends with - h d / 2, so that
 * r . (J v_k + J v_k+1) = 0: what sticks does no work.  (Where d was cut, and half of what was left of it was left,
 * steps began with more than they ended with: discs put down to spin, Euler's, gained 0.07 of their energy by it in 8 s
 * of 240 steps a second.)  What is no rim goes on as it was: of a tip the error would no longer be
 * of first order, nor would what jams stick in its first step.  Where several points share a face its middle is not
 * where it bears: a coin that is deep in the floor, at 60 steps a second, has 2 or 3 of them, and with all of d gained
 * half of its energy in 8 s.  There a rim that presses leaves six tenths of c_t, as what turns on it gains otherwise.
 *
 * (The axle of a wheel that turns with W, and spins with s, has s W b of a rim at b from its middle, and its hinge
 * holds by J v = 0: what the rim foretold lifted the wheel; worlds_wheels.)
 *
 * energy, mass: J and kg; square: of d. */
#define SPRAG_PRODUCT_GIVES 1e-3
#define SPRAG_LEFT_TO_NEXT 0.5
/* rim: its share; halves: by how much it goes by halves. */
#define SPRAG_PRESSING_LEAVES(rim, halves) (SPRAG_LEFT_TO_NEXT + 0.1 * ((rim) - (halves)))
static inline double spragProductShare(double energy, double mass, double square)
{
    const double gives = 0.5 * mass * square;
    return gives > SPRAG_PRODUCT_GIVES * energy ? SPRAG_PRODUCT_GIVES * energy / gives : 1;
}

#endif
