/* The first phase of the simplex method (Dantzig 1963): artificial unknowns a >= 0,
 *
 *     C y + a = c,   min sum a,          rows signed so that c >= 0.
 *
 * At the minimum the multipliers z of the rows have z' C <= 0 and z' c = sum a (duality).  The answer "none" rests on
 * them and not on the tableau: C y = c, y >= 0 gives z' c = sum (z' C_j) y_j <= max_j (z' C_j) sum y. */
#include "analysis/simplex.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STRIDE = SIMPLEX_COLUMNS + SIMPLEX_ROWS + 1, PIVOTS = 200 };

#define LARGEST 1e7 /* of sum y, where c and the rows of C are of size one */

typedef struct Tableau {
    int rows, columns;
    double T[(SIMPLEX_ROWS + 1) * STRIDE]; /* [C I c]; the last row: reduced costs, minus the cost */
    int basis[SIMPLEX_ROWS];
    double sign[SIMPLEX_ROWS]; /* of the rows as given */
} Tableau;

static void pivotOn(Tableau *t, int row, int column)
{
    const int width = t->columns + t->rows + 1;
    double *R = t->T + STRIDE * row;
    const double factor = 1 / R[column];
    for (int j = 0; j < width; ++j)
        R[j] *= factor;
    for (int i = 0; i <= t->rows; ++i) {
        double *other = t->T + STRIDE * i;
        const double take = other[column];
        if (i == row || take == 0)
            continue;
        for (int j = 0; j < width; ++j)
            other[j] -= take * R[j];
        other[column] = 0;
    }
    t->basis[row] = column;
}

/* The steepest column; after a while the first, which cannot cycle (Bland 1977).  -1: at the minimum. */
static int entering(const Tableau *t, int pivots)
{
    const double *cost = t->T + STRIDE * t->rows;
    int best = -1;
    double least = -1e-12;
    for (int j = 0; j < t->columns; ++j)
        if (cost[j] < least) {
            best = j;
            if (pivots > PIVOTS / 2)
                break;
            least = cost[j];
        }
    return best;
}

static int leaving(const Tableau *t, int column)
{
    const int right = t->columns + t->rows;
    int best = -1;
    double least = INFINITY;
    for (int i = 0; i < t->rows; ++i) {
        const double *R = t->T + STRIDE * i;
        if (R[column] <= 1e-11)
            continue;
        const double ratio = R[right] / R[column];
        if (ratio < least || (ratio == least && t->basis[i] < t->basis[best]))
            best = i, least = ratio;
    }
    return best;
}

/* The artificial unknowns are the basis, a = c / size. */
static void begin(Tableau *t, int rows, int columns, const double *C, const double *c, double size)
{
    const int right = columns + rows;
    double *cost = t->T + STRIDE * rows;
    t->rows = rows, t->columns = columns;
    memset(cost, 0, STRIDE * sizeof *cost);
    for (int i = 0; i < rows; ++i) {
        double *R = t->T + STRIDE * i;
        t->sign[i] = c[i] < 0 ? -1 : 1;
        for (int j = 0; j < columns; ++j)
            cost[j] -= R[j] = t->sign[i] * C[rows * j + i];
        for (int j = 0; j < rows; ++j)
            R[columns + j] = i == j;
        cost[right] -= R[right] = t->sign[i] * c[i] / size;
        t->basis[i] = columns + i;
    }
}

/* 1: the multipliers prove that there is no y with sum y <= LARGEST size. */
static int provesNone(const Tableau *t, const double *C, const double *c, double size)
{
    const double *cost = t->T + STRIDE * t->rows;
    double z[SIMPLEX_ROWS], value = 0, above = DBL_EPSILON;
    for (int i = 0; i < t->rows; ++i) {
        z[i] = t->sign[i] * (1 - cost[t->columns + i]);
        value += z[i] * c[i] / size;
    }
    for (int j = 0; j < t->columns; ++j) {
        double sum = 0;
        for (int i = 0; i < t->rows; ++i)
            sum += z[i] * C[t->rows * j + i];
        above = fmax(above, sum);
    }
    return value > above * LARGEST;
}

int spragSimplexFeasible(int rows, int columns, const double *C, const double *c, double *y)
{
    Tableau t;
    double size = 0;
    for (int i = 0; i < rows; ++i)
        size = fmax(size, fabs(c[i]));
    if (y != NULL)
        memset(y, 0, (size_t)columns * sizeof *y);
    if (size == 0)
        return 1;
    begin(&t, rows, columns, C, c, size);
    for (int pivots = 0; pivots < PIVOTS; ++pivots) {
        const int column = entering(&t, pivots), row = column < 0 ? -1 : leaving(&t, column);
        if (row < 0)
            break;
        pivotOn(&t, row, column);
    }
    if (provesNone(&t, C, c, size))
        return 0;
    for (int i = 0; i < rows && y != NULL; ++i)
        if (t.basis[i] < columns)
            y[t.basis[i]] = t.T[STRIDE * i + columns + rows] * size;
    return 1;
}
