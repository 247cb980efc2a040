#include "viewer/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CAPACITY = 1 << 16 }; /* values */

int plotCreate(Plot *plot)
{
    *plot = (Plot){.value = malloc(CAPACITY * sizeof *plot->value), .stride = 1};
    return plot->value != NULL;
}

void plotDestroy(Plot *plot)
{
    free(plot->value);
    *plot = (Plot){0};
}

static void halve(Plot *plot)
{
    plot->count /= 2;
    plot->stride *= 2;
    for (int k = 0; k < plot->count; ++k)
        plot->value[k] = fmaxf(plot->value[2 * k], plot->value[2 * k + 1]);
    plot->filled = plot->stride;
}

void plotAdd(Plot *plot, double value)
{
    if (plot->count > 0 && plot->filled < plot->stride) {
        float *last = &plot->value[plot->count - 1];
        *last = fmaxf(*last, (float)value);
        ++plot->filled;
        return;
    }
    if (plot->count == CAPACITY)
        halve(plot);
    plot->value[plot->count++] = (float)value;
    plot->filled = 1;
}

double plotGreatest(const Plot *plot)
{
    float greatest = 0;
    for (int k = 0; k < plot->count; ++k)
        greatest = fmaxf(greatest, plot->value[k]);
    return (double)greatest;
}

double plotScale(const Plot *plot)
{
    double sum = 0;
    for (int k = 0; k < plot->count; ++k)
        sum += (double)plot->value[k];
    const double greatest = plotGreatest(plot), mean = plot->count > 0 ? sum / plot->count : 0;
    return greatest > 8 * mean && mean > PLOT_ROUNDING ? 4 * mean : fmax(greatest, PLOT_ROUNDING);
}

double plotTickStep(double range, int most)
{
    double step = pow(10, floor(log10(range / most)));
    for (int k = 0; floor(range / step * (1 + 1e-9)) > most; ++k)
        step *= k % 3 == 1 ? 2.5 : 2; /* 1, 2, 5, 10 */
    return step;
}

void plotTickText(char *out, size_t size, double at, double step, const char *unit)
{
    const int decimals = (int)fmax(0, ceil(-log10(step) - 1e-9));
    const char *gap = unit[0] != '\0' ? " " : "";
    if (decimals > 4 || fabs(at) >= 1e5)
        snprintf(out, size, "%.3g%s%s", at, gap, unit);
    else
        snprintf(out, size, "%.*f%s%s", decimals, at, gap, unit);
}
