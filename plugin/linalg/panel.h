/* Panels: a few vectors side by side, one in each lane, so that a row of a panel is one quad or two.
 *
 * A row of a panel has room for `wide` quads, of which the first `quads` are used, two at most; the compiler unrolls
 * loops whose numbers are constants at the call. */
#ifndef SPRAG_LINALG_PANEL_H
#define SPRAG_LINALG_PANEL_H

#include "linalg/quad.h"

/* A matrix read number by number: M_cd at at[c * down + d * right]. */
typedef struct spragPanelMatrix {
    const double *at;
    int rows, columns, down, right;
} spragPanelMatrix;

/* Y (rows) += sign M X, X (columns) */
SPRAG_QUAD_INLINE void spragPanelAdd(int sign, spragPanelMatrix M, int quads, int wide, const spragQuad *X,
                                     spragQuad *Y)
{
    for (int c = 0; c < M.rows; ++c) {
        spragQuad sum[2];
        for (int q = 0; q < quads; ++q)
            sum[q] = Y[c * wide + q];
        for (int d = 0; d < M.columns; ++d) {
            const spragQuad m = spragQuadOf(M.at[c * M.down + d * M.right]);
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
        spragPanelAdd(-1, (spragPanelMatrix){L + c * down, 1, c, 0, 1}, quads, wide, X, X + c * wide);
}

#endif
