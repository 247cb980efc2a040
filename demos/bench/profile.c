#include "bench/profile.h"

#include <math.h>

static double fastest(const Profile *profile, int problem)
{
    double best = INFINITY;
    for (int m = 0; m < profile->methods; ++m)
        best = fmin(best, profile->seconds[problem * profile->methods + m]);
    return best;
}

/* Of the problems, that the method solves within t times the fastest. */
static double shareOf(const Profile *profile, int method, double t)
{
    int within = 0;
    for (int p = 0; p < profile->problems; ++p) {
        const double seconds = profile->seconds[p * profile->methods + method];
        within += isfinite(seconds) && seconds <= t * fastest(profile, p);
    }
    return profile->problems > 0 ? (double)within / profile->problems : 0;
}

void profilePrint(const Profile *profile, FILE *out)
{
    static const double factor[] = {1, 2, 5, 10, 100, 1000, 1e9};
    enum { FACTORS = sizeof factor / sizeof *factor };
    fprintf(out, "\nshare of problems solved within a factor of the fastest\n%-14s", "");
    for (int i = 0; i < FACTORS - 1; ++i)
        fprintf(out, " %7g", factor[i]);
    fprintf(out, " %7s\n", "at all");
    for (int m = 0; m < profile->methods; ++m) {
        fprintf(out, "%-14s", profile->name[m]);
        for (int i = 0; i < FACTORS; ++i)
            fprintf(out, " %6.0f%%", 100 * shareOf(profile, m, factor[i]));
        fputc('\n', out);
    }
}

/* Plot area, px; the abscissa is log10 of the factor, 0 .. DECADES. */
enum { LEFT = 60, TOP = 30, WIDTH = 560, HEIGHT = 320, DECADES = 4, STEPS = 400 };

static double abscissa(double t)
{
    return LEFT + WIDTH * log10(t) / DECADES;
}

static double ordinate(double share)
{
    return TOP + HEIGHT * (1 - share);
}

static void writeAxes(FILE *out)
{
    fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#444\"/>\n", LEFT, TOP,
            WIDTH, HEIGHT);
    for (int decade = 0; decade <= DECADES; ++decade)
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", abscissa(pow(10, decade)),
                TOP + HEIGHT + 18, pow(10, decade));
    for (int quarter = 0; quarter <= 4; ++quarter)
        fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d%%</text>\n", LEFT - 6,
                ordinate(quarter / 4.0) + 4, 25 * quarter);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">time / time of the fastest</text>\n", LEFT + WIDTH / 2,
            TOP + HEIGHT + 38);
    fprintf(out, "<text x=\"%d\" y=\"18\">problems solved to residual 1e-8</text>\n", LEFT);
}

void profileWriteSvg(const Profile *profile, FILE *out)
{
    static const char *const color[] = {"#c00000", "#e08000", "#b000b0", "#006000", "#0060c0",
                                        "#00a0a0", "#606060", "#9060ff", "#a0a000", "#404080"};
    enum { COLORS = sizeof color / sizeof *color };
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            LEFT + WIDTH + 140, TOP + HEIGHT + 50);
    writeAxes(out);
    for (int m = 0; m < profile->methods; ++m) {
        fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", color[m % COLORS]);
        double previous = -1;
        for (int i = 0; i <= STEPS; ++i) {
            const double t = pow(10, (double)DECADES * i / STEPS), share = shareOf(profile, m, t);
            if (previous >= 0 && share != previous)
                fprintf(out, "%.1f,%.1f ", abscissa(t), ordinate(previous));
            fprintf(out, "%.1f,%.1f ", abscissa(t), ordinate(share));
            previous = share;
        }
        const int y = TOP + 14 + 18 * m;
        fprintf(out, "\"/>\n<path d=\"M%d %dh20\" stroke=\"%s\" stroke-width=\"4\"/>\n", LEFT + WIDTH + 8, y - 4,
                color[m % COLORS]);
        fprintf(out, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT + WIDTH + 34, y, profile->name[m]);
    }
    fprintf(out, "</svg>\n");
}
