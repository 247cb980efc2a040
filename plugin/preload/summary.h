/* SPRAG_REPORT: what all worlds of this process did, counted in every step and told at exit.
 *
 * What is counted belongs to the process that did it.  After a fork the child begins at nought, but for the worlds,
 * which are its own too; so nothing is told twice, and a child that never steps tells nothing. */
#ifndef SPRAG_PRELOAD_SUMMARY_H
#define SPRAG_PRELOAD_SUMMARY_H

#include "preload/settings.h"

/* Before all others.  The settings stay the caller's. */
void spragSummaryBegin(const spragSettings *settings);
void spragSummaryAddWorld(void);
/* Counted, and written to the file of events if there is one. */
void spragSummaryAddEvent(const spragEvent *event);
/* After a step.  steps_before: the world's spragStepInfo.step before it; seconds: what it took. */
void spragSummaryAddStep(dWorldID world, long steps_before, double seconds);

/* active: 1, calls go to Sprag.  1: the process has something to tell. */
int spragSummaryIsWanted(int active);
/* On stderr. */
void spragSummaryPrint(void);

#endif
