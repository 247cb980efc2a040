/* What contacts ask for, as far as a motion can give it.
 *
 * In a corner, or between walls, contacts with high friction hold a body against each other's corrections: one wall
 * pushes it out along x, and the next one holds it along x.  To second order so do all contacts about which bodies
 * turn, as h Jdot v differs from point to point.  Friction that locks them answers by a self-stress, W r = 0, that
 * only the CFM bounds (1e5 N s where 0.1 would do), or by slips of 1e-7 m/s at the edges of many cones.  Neither is
 * found soon, and neither is of use in the next step: impulses of 1e5 N s give 1e-3 m/s where normals turn by 1e-8.
 *
 * With b what contacts ask for in their three rows, ERP's corrections along the normals less h Jdot v,
 *     b <- (W (W + D)^-1)^3 b,      D = SHARE w_k I,  w_k = trace(W_kk) / 3,
 * of all contacts that touch.  A direction in which W has the eigenvalue e w keeps 1 - 3 SHARE / e of what it asks for:
 * all but the self-stresses are asked for as before, and these for nothing.  In a corner the body is pushed out of both
 * walls at half the pace, and the points where it touches are let slip along them as fast.  Forces, momentum, bounce
 * and surfaces that move stay in q as they are: what these alone lock stays locked. */
#ifndef SPRAG_ODE_ACCORD_H
#define SPRAG_ODE_ACCORD_H

#include "ode/rows/rows.h"

/* 1: it may be asked for: an island of up to 100 contacts (2000, if friction of all is infinite), limits and motors,
 * not of guides or joint friction, whose bounds go by the answer; with W, and with high or infinite friction. */
int spragAccordSuits(const spragIsland *island);

/* m/s: the greatest change of what a contact asks for; INFINITY: no memory.  Changes nothing. */
double spragAccordApart(const spragIsland *island);

/* Changes rhs of the contacts and q; fills island->accord.  0: no memory. */
int spragAccordMake(spragIsland *island);

/* As it was, as that was of no use. */
void spragAccordTakeBack(spragIsland *island);

#endif
