/* Panels: a few vectors side by side, one in each lane, so that a row of a panel is one quad or two.
 *
 * Y <- Y +- M X, with M read number by number at any strides.  A row has room for `wide` quads, of which the first
 * `quads` are used; the compiler unrolls loops whose numbers are constants at the call. */
#ifndef SPRAG_LINALG_PANEL_H
#define SPRAG_LINALG_PANEL_H

#include "linalg/quad.h"

/* Y (rows) += sign M X, X (depth), M_cd at M[c * down + d * right] */
SPRAG_QUAD_INLINE void spragPanelAdd(int sign, int quads, int wide, int rows, int depth, const double *M, int down,
                                     int right, const spragQuad *X, spragQuad *Y)
{
    for (int c = 0; c < rows; ++c) {
        spragQuad sum[2];
        for (int q = 0; q < quads; ++q)
            sum[q] = Y[c * wide + q];
        for (int d = 0; d < depth; ++d) {
            const spragQuad m = spragQuadOf(M[c * down + d * right]);
            for (int q = 0; q < quads; ++q)
                sum[q] = sign > 0 ? sum[q] + m * X[d * wide + q] : sum[q] - m * X[d * wide + q];
        }
        for (int q = 0; q < quads; ++q)
            Y[c * wide + q] = sum[q];
    }
}

/* X (rows) <- L^-1 X, L unit lower triangular, L_cd at L[c * down + d] */
SPRAG_QUAD_INLINE void spragPanelSubstitute(int quads, int wide, int rows, const double *L, int down, spragQuad *X)
{
    for (int c = 1; c < rows; ++c)
        spragPanelAdd(-1, quads, wide, 1, c, L + c * down, 0, 1, X, X + c * wide);
}

#endif
