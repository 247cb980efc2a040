/* Can every variant be assumed?  (Nikolsky and Smirnov 1990, condition 4.1; docs/theory.md 3.)
 *
 * A displacement x of the redundant coordinates moves point k away from its surface by
 * nu_k . dr_k = (column k of D0) x.  With gap g of a point in the base variant (0 where it is loaded), variant i asks
 *
 *     g_k + D0_k' x = 0 at the point of pair k that i loads,
 *
 * m equations for x, and leaves g_k + D0_k' x at the other point of the pair, which must be positive. */
#include <math.h>

#include "base/floats.h"
#include "base/status.h"
#include "linalg/lu.h"

#define ZERO_PIVOT 1e-12 /* after equilibration */

static spragStatus check(int m, const double *D0, const int *base, const double *clearance, const double *gap)
{
    if (D0 == NULL || clearance == NULL || gap == NULL)
        return spragFail(SPRAG_ERROR_NULL, "D0, clearance or gap is NULL");
    if (m < 1 || m > SPRAG_ENUMERATE_MAX)
        return spragFail(SPRAG_ERROR_RANGE, "m = %d pairs, expected 1 to %d", m, SPRAG_ENUMERATE_MAX);
    for (int i = 0; i < 2 * m * m; ++i)
        if (!isfinite(D0[i]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "row %d of D0 is not finite", i / (2 * m));
    for (int k = 0; k < m; ++k) {
        if (!(clearance[k] > 0) || isinf(clearance[k]))
            return spragFail(SPRAG_ERROR_RANGE, "clearance[%d] = %g, expected > 0", k, clearance[k]);
        if (base != NULL && base[k] != 1 && base[k] != -1)
            return spragFail(SPRAG_ERROR_RANGE, "base[%d] = %d, expected 1 or -1", k, base[k]);
    }
    return SPRAG_OK;
}

/* What the displacement x leaves at point `column`, which had `gap`. */
static double left(int m, const double *D0, int column, double gap, const double *x)
{
    for (int r = 0; r < m; ++r)
        gap += D0[2 * m * r + column] * x[r];
    return gap;
}

spragStatus spragVariantGaps(int m, const double *D0, const int *base, const double *clearance, double *gap,
                             int *admissible)
{
    SPRAG_FLOATS;
    spragDetailClear();
    const spragStatus status = check(m, D0, base, clearance, gap);
    if (status != SPRAG_OK)
        return status;
    int all_open = 1;
    for (int v = 0; v < 1 << m; ++v) {
        double A[SPRAG_ENUMERATE_MAX * SPRAG_ENUMERATE_MAX], x[SPRAG_ENUMERATE_MAX];
        double row[SPRAG_ENUMERATE_MAX], column[SPRAG_ENUMERATE_MAX];
        int pivot[SPRAG_ENUMERATE_MAX], flipped[SPRAG_ENUMERATE_MAX];
        for (int k = 0; k < m; ++k) {
            const int minus = v >> k & 1;
            flipped[k] = minus != (base != NULL && base[k] < 0);
            for (int r = 0; r < m; ++r)
                A[m * k + r] = D0[2 * m * r + (minus ? m + k : k)];
            x[k] = flipped[k] ? -clearance[k] : 0;
        }
        spragLuEquilibrate(m, A, row, column);
        const int regular = spragLuFactor(m, A, pivot, ZERO_PIVOT) == m;
        if (regular)
            spragLuSolveScaled(m, A, pivot, row, column, x);
        for (int k = 0; k < m; ++k) {
            const int unloaded = v >> k & 1 ? k : m + k;
            const double value = regular ? left(m, D0, unloaded, flipped[k] ? 0 : clearance[k], x) : NAN;
            gap[(size_t)m * (size_t)v + (size_t)k] = value;
            all_open &= value > 0;
        }
    }
    if (admissible != NULL)
        *admissible = all_open;
    return SPRAG_OK;
}
