#include "viewer/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viewer/plot.h"

static const struct {
    const char *name;
    int width, decimals; /* width: with the gap before it */
} column[] = {{"N [N]", 11, 3},      {"T [N]", 10, 3},    {"T/(mu N)", 10, 4},
              {"slip [m/s]", 12, 4}, {"p [1/kg]", 10, 3}, {"b [m/s2]", 10, 3}};

enum { MODE_WIDTH = 5, CELL = 32 };
_Static_assert(sizeof column / sizeof *column == WORDS_COLUMNS, "as many as words.h says");

void wordsNumber(char *out, size_t size, int width, int decimals, double x)
{
    const double shown =
        fabs(x) < 0.5 * pow(10, -decimals) ? 0 : x; /* what is zero in all decimals has no sign either */
    for (int d = decimals; d >= 0; --d)
        if (snprintf(out, size, "%.*f", d, shown) <= width)
            return;
    for (int digits = 3; digits >= 0; --digits)
        if (snprintf(out, size, "%.*e", digits, x) <= width)
            return;
}

static void line(char *out, size_t size, int columns, const char *const cell[WORDS_COLUMNS])
{
    int n = snprintf(out, size, "%*s", MODE_WIDTH, "");
    for (int k = 0; k < columns; ++k)
        n += snprintf(out + n, size - (size_t)n, "%*s", column[k].width, cell[k]);
}

int wordsTableWidth(int columns)
{
    int width = MODE_WIDTH;
    for (int k = 0; k < columns; ++k)
        width += column[k].width;
    return width;
}

void wordsTableHead(char *out, size_t size, int columns)
{
    const char *cell[WORDS_COLUMNS];
    for (int k = 0; k < WORDS_COLUMNS; ++k)
        cell[k] = column[k].name;
    line(out, size, columns, cell);
    memcpy(out, "mode", 4);
}

void wordsContact(char *out, size_t size, int columns, const spragContact *c, double mu, int indicators)
{
    const double friction = dCalcVectorLength3(c->friction);
    /* stock ODE's friction may stay where the normal force has gone to rounding: no ratio to speak of */
    const int compared = mu > 0 && c->mode != SPRAG_MODE_OPEN && fabs(c->normal_force) > 1e-9 * friction;
    const double value[WORDS_COLUMNS] = {c->normal_force,
                                         friction,
                                         compared ? friction / (mu * fabs(c->normal_force)) : NAN,
                                         dCalcVectorLength3(c->slip),
                                         indicators ? c->painleve_p : NAN,
                                         indicators ? c->free_acceleration : NAN};
    char text[WORDS_COLUMNS][CELL];
    const char *cell[WORDS_COLUMNS];
    for (int k = 0; k < WORDS_COLUMNS; ++k) {
        if (isnan(value[k]))
            snprintf(text[k], CELL, "-");
        else
            wordsNumber(text[k], CELL, column[k].width - 1, column[k].decimals, value[k]);
        cell[k] = text[k];
    }
    line(out, size, columns, cell);
}

void wordsPlot(char *out, size_t size, const char *title, const char *unit, double greatest)
{
    snprintf(out, size, "%s %s %.3g %s", title, greatest > PLOT_ROUNDING ? "up to" : "below",
             fmax(greatest, PLOT_ROUNDING), unit);
}

void wordsSolvers(char *out, size_t size, const spragStepInfo *info)
{
    int n = 0;
    out[0] = '\0';
    for (int k = 0; k < SPRAG_SOLVER_COUNT; ++k) {
        const int count = info->solved[k];
        if (count == 0)
            continue;
        const char *what = n > 0 ? "" : count == 1 ? " island" : " islands";
        n += snprintf(out + n, size - (size_t)n, "%s%d%s by %s", n > 0 ? ", " : "", count, what,
                      spragSolverName((spragSolverKind)k));
    }
}

int wordsVerdict(char *out, size_t size, double residual)
{
    const int missed = !(residual <= WORDS_KEPT);
    if (residual < 1e-15)
        snprintf(out, size, "kept Coulomb's law exactly");
    else
        snprintf(out, size, missed ? "missed Coulomb's law by up to %.1g m/s" : "kept Coulomb's law to %.1g m/s",
                 residual);
    return missed;
}
