/* A quantity over the time of a run: what a plot keeps, its scales and the places of its ticks.  Nothing is drawn here,
 * so that a test reads it. */
#ifndef DEMOS_VIEWER_PLOT_H
#define DEMOS_VIEWER_PLOT_H

#include <stddef.h>

#define PLOT_ROUNDING 1e-6 /* N, m/s: below that it is no force and no motion */

/* Each value is the greatest of `stride` steps.  Where memory is full neighbours become one, so no spike is lost. */
typedef struct Plot {
    float *value;      /* (count) */
    int count, stride; /* steps a value */
    int filled;        /* steps in the last value */
} Plot;

/* 0: no memory. */
int plotCreate(Plot *plot);
void plotDestroy(Plot *plot);
void plotAdd(Plot *plot, double value);

double plotGreatest(const Plot *plot);
/* The top of the plot: the greatest value, or four times the mean where a single impulse would flatten the rest. */
double plotScale(const Plot *plot);

/* Of 1, 2, 5, 10, ... the least distance with which at most `most` ticks lie in (0, range], and at least one;
 * range > 0, most > 1. */
double plotTickStep(double range, int most);
/* "0.25 s": the label of a tick; the unit may be "". */
void plotTickText(char *out, size_t size, double at, double step, const char *unit);

#endif
