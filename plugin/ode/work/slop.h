/* Overlap that stays where many contacts meet, and compliance that is left out there: what is not worth it, for a rest
 * that lasts.
 *
 * A contact that overlaps by `depth` asks to part at e m/s (spragCorrection).  In an island of more than
 * SPRAG_BLOCKS_FEW blocks it does not where
 *
 *     e <= max(tolerance, g h / 1000)   or   depth <= slop.
 *
 * Why a thousandth.  Contacts of a pile that hold each other cannot all be corrected: what they ask of W's null space
 * nothing moves, and self-stress grows, sweep after sweep and step after step, until some contact slips.  1000 balls
 * that settle (h = 0.01 s, 1e-3 m/s) ask for 1e-5 m/s, and a step took 1100 sweeps and ended at 2e-6 m/s; with this 16
 * sweeps and 2e-7.  What overlaps by less than 1e-3 g h^2 / ERP stays so: 5e-6 m there.
 *
 * Why a slop.  An answer that leaves a residual of R parts or presses contacts by R h in a step.  Where overlaps are
 * less some contacts open, at random, their forces are gone, and the next guess is wrong by far more than R: 1000 boxes
 * left at 5e-3 m/s began each step at 2 to 3, and gravity gives 0.16.  So a heap whose steps are not solved stirred
 * itself for ever.  A large island, and a heap of more than forty contacts, whose steps may be cut short, therefore
 * keeps
 *
 *     slop = max(before, min(SLOP_TIMES R h, max(a, before (1 + h / GROWS)))),  a = min(g h^2 / 2, d / 20),
 *
 * at most a twentieth of the contacts' mean distance from the nearer of their bodies' centres.  At once it is what
 * bodies fall in a step, but of what is thin, of the thickness d in the mean, no more than a twentieth of that; what is
 * more grows by and by, in heaps so deep, or so thin that bodies are caught in each other, that they go on moving, and
 * not in what lies flat.
 *
 * 1000 boxes rest after 2 to 3 s, 3000 after 3 to 4, 5000 in a bin of 20 layers after 4; none did.  It never falls:
 * what is pushed out moves the pile, and is no truer than what stays.
 *
 * Few contacts keep compliance and corrections: their loads are found exactly at no cost (warm.h), and share as
 * under ODE.  Among many ODE's CFM makes a spring of each, some 1e12 N/m, and its ERP an equilibrium of springs at
 * overlaps of 1e-11 m: loads of redundant points follow the rounding of positions, no step begins where the last one
 * ended, and nothing comes to rest.
 *
 * The few keep a trace of overlap that is hardly more than rounding (spragCorrection), 4e-10 m at 60 steps a second.
 * Where bodies settle, on springs or by joints, points move by more than that in a step at 1e-7 m/s: by the second
 * order of what turns, or as loads go over from one answer to another.  Then a wheel leaves the ground, falls for a
 * step, by mm where a spring pushes it, hits, and all begins anew: cars hopped so for ever.  So what bore a load, whose
 * overlap ERP has worn off to that, and which parts by at most 1e-4 g h^2 in the step, leaves its island with ten times
 * the way as a trace, up to 1e-4 g h^2, 3e-7 m there. */
#ifndef SPRAG_ODE_SLOP_H
#define SPRAG_ODE_SLOP_H

#include "ode/rows/rows.h"

/* m, the slop of an island that is to be solved: from the records of its contacts. */
double spragSlopOf(const struct spragWorld *world, const spragIsland *island);
/* m, that for the next step, once it is solved. */
double spragSlopNext(const struct spragWorld *world, const spragIsland *island);
/* m, the trace of a few contacts, and that for the next step. */
double spragTraceOf(const struct spragWorld *world, const spragIsland *island);
double spragTraceNext(const struct spragWorld *world, const spragIsland *island);
/* Asks its contacts for less, so that the trace stays: with e what a contact was asked for, min(e, 3/2 (e - that of the
 * trace)), as in spragCorrection. */
void spragTraceLeave(const struct spragWorld *world, spragIsland *island);

/* The world's CFM is left out up to this share of the bodies' own mobility: as much as programs set that want stacks to
 * stand (1e-5, with boxes of some kg), not softness.  A blow that it softens is softened by no more than that share.
 * But at rest, within the contact surface layer, where ERP asks for nothing, it is a damper: bodies sink through the
 * layer at CFM times their load, 1 mm in ten seconds and more, and all that while nothing rests. */
#define SPRAG_RIGID_WORLD 3e-2
/* Leaves both out of a contact of this island with so many blocks.  record: of the last step, or -1; depth: m.
 *
 * Bodies that are made to touch exactly would be parted by rounding, and fall, 1 mm at 100 steps a second.  Springs
 * would press them together, but springs that come and go with the load keep an arch moving (5 ms a step, for ever).
 * So a contact that only just touches may sink at once, by a third of what is left of overlaps. */
void spragSlopLeave(const struct spragWorld *world, const spragIsland *island, const int body[2], int record,
                    int blocks, double depth, spragNormalRow *row);

#endif
