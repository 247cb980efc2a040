#include "linalg/block_ldlt.h"

#include <stddef.h>

#include "linalg/ldlt.h"
#include "linalg/panel.h"

enum { ROWS = SPRAG_JOINED_ROWS, STRIDE = SPRAG_JOINED_STRIDE, BLOCK = SPRAG_JOINED_BLOCK };

/* ---------------------------------------------------------------- pattern */

/* The paths from a and from b up to `end`, merged: ascending, since parents come after their children.  A node that has
 * no parent yet gets `end`.  Returns their length; list may be NULL. */
static int climb(int *parent, int a, int b, int end, int *list)
{
    int count = 0;
    while (a < end || b < end) {
        const int k = a < b ? a : b;
        if (list != NULL)
            list[count] = k;
        ++count;
        if (parent[k] < 0)
            parent[k] = end;
        a = a == k ? parent[k] : a;
        b = b == k ? parent[k] : b;
    }
    return count;
}

static int firstOf(const spragBlockLdlt *f, int group, int otherwise)
{
    return group < 0 || f->first[group] > otherwise ? otherwise : f->first[group];
}

int spragBlockLdltAnalyse(spragBlockLdlt *f, spragArena *arena, int n, const int (*group)[2], int group_count)
{
    int *memory = SPRAG_TAKE_RAW(arena, int, 2 * n + 1 + group_count);
    *f = (spragBlockLdlt){.n = n, .group = group, .start = memory};
    if (memory == NULL)
        return 0;
    f->parent = memory + n + 1;
    f->first = f->parent + n;
    for (int g = 0; g < group_count; ++g)
        f->first[g] = n;
    f->start[0] = 0;
    for (int i = 0; i < n; ++i) {
        f->parent[i] = -1;
        const int a = firstOf(f, group[i][0], i), b = firstOf(f, group[i][1], i);
        f->start[i + 1] = f->start[i] + climb(f->parent, a, b, i, NULL);
        for (int side = 0; side < 2; ++side)
            if (group[i][side] >= 0 && f->first[group[i][side]] == n)
                f->first[group[i][side]] = i;
    }
    for (int i = 0; i < n; ++i)
        f->parent[i] = f->parent[i] < 0 ? n : f->parent[i];
    return 1;
}

int spragBlockLdltTake(spragBlockLdlt *f, spragArena *arena)
{
    const int n = f->n, blocks = f->start[n];
    int *number = SPRAG_TAKE_RAW(arena, int, 2 * n + blocks);
    double *value = SPRAG_TAKE_RAW(arena, double, (size_t)BLOCK *(size_t)(blocks + n) + (size_t)(ROWS * n));
    if (number == NULL || value == NULL)
        return 0;
    f->size = number, f->place = f->size + n, f->column = f->place + n;
    f->L = value, f->diagonal = f->L + (size_t)BLOCK * (size_t)blocks,
    f->inverse_pivot = f->diagonal + (size_t)(BLOCK * n);
    for (int i = 0; i < n; ++i) {
        f->size[i] = 0;
        f->place[i] = -1;
        climb(f->parent, firstOf(f, f->group[i][0], i), firstOf(f, f->group[i][1], i), i, f->column + f->start[i]);
    }
    return 1;
}

int spragBlockLdltReach(const spragBlockLdlt *f, const int group[2], int *list)
{
    return climb(f->parent, firstOf(f, group[0], f->n), firstOf(f, group[1], f->n), f->n, list);
}

/* ---------------------------------------------------------------- numbers */

static double *blockOf(const spragBlockLdlt *f, int entry)
{
    return f->L + (size_t)BLOCK * (size_t)entry;
}

static double *diagonalOf(const spragBlockLdlt *f, int i)
{
    return f->diagonal + (size_t)BLOCK * (size_t)i;
}

/* (L D)_ij^T of row i, from A_ij^T: the columns of A left of j are done. */
SPRAG_QUAD_INLINE void eliminate(const spragBlockLdlt *f, int quads, int entry)
{
    const int j = f->column[entry];
    spragQuad *T = (spragQuad *)(void *)blockOf(f, entry);
    for (int e = f->start[j]; e < f->start[j + 1]; ++e) {
        const int k = f->column[e], other = f->place[k];
        if (other >= 0)
            spragPanelAdd(-1, (spragPanelMatrix){blockOf(f, e), f->size[j], f->size[k], 1, STRIDE}, quads, 2,
                          (const spragQuad *)(const void *)blockOf(f, other), T);
    }
    spragPanelSubstitute(quads, 2, f->size[j], diagonalOf(f, j), STRIDE, T);
}

/* A_ii -= (L D)_ij L_ij^T; L D becomes L. */
SPRAG_QUAD_INLINE void takeOff(const spragBlockLdlt *f, int quads, int i, int entry)
{
    const int j = f->column[entry];
    spragQuad *T = (spragQuad *)(void *)blockOf(f, entry), *D = (spragQuad *)(void *)diagonalOf(f, i);
    for (int c = 0; c < f->size[j]; ++c) {
        const spragQuad inverse = spragQuadOf(f->inverse_pivot[ROWS * j + c]);
        spragQuad scaled[2];
        for (int q = 0; q < quads; ++q)
            scaled[q] = T[2 * c + q] * inverse;
        const spragPanelMatrix l = {(const double *)scaled, f->size[i], 1, 1, 0};
        spragPanelAdd(-1, l, quads, 2, T + 2 * c, D);
        for (int q = 0; q < quads; ++q)
            T[2 * c + q] = scaled[q];
    }
}

/* Of one diagonal block, row by row from above: row c becomes D_c L_rc, r > c.  diagonal: of A. */
SPRAG_QUAD_INLINE void factorDiagonal(int quads, int rows, const double *diagonal, double *D, double *inverse_pivot)
{
    spragQuad *row = (spragQuad *)(void *)D;
    for (int c = 0; c < rows; ++c) {
        const double pivot = D[(STRIDE + 1) * c];
        inverse_pivot[c] = pivot > SPRAG_LDLT_REDUNDANT * diagonal[c] ? 1 / pivot : 0;
        for (int r = c + 1; r < rows; ++r) {
            const double l = D[STRIDE * c + r] * inverse_pivot[c];
            spragPanelAdd(-1, (spragPanelMatrix){&l, 1, 1, 0, 0}, quads, 2, row + 2 * c, row + 2 * r);
        }
    }
    for (int r = 1; r < rows; ++r)
        for (int c = 0; c < r; ++c)
            D[STRIDE * r + c] = D[STRIDE * c + r] * inverse_pivot[c];
}

SPRAG_QUAD_INLINE void factorRow(const spragBlockLdlt *f, int quads, int i)
{
    double *D = diagonalOf(f, i), diagonal[ROWS];
    for (int c = 0; c < f->size[i]; ++c)
        diagonal[c] = D[(STRIDE + 1) * c];
    for (int e = f->start[i]; e < f->start[i + 1]; ++e) {
        eliminate(f, quads, e);
        f->place[f->column[e]] = e;
    }
    for (int e = f->start[i]; e < f->start[i + 1]; ++e) {
        takeOff(f, quads, i, e);
        f->place[f->column[e]] = -1;
    }
    factorDiagonal(quads, f->size[i], diagonal, D, f->inverse_pivot + ROWS * i);
}

SPRAG_QUAD_INLINE void factorRows(const spragBlockLdlt *f)
{
    for (int i = 0; i < f->n; ++i)
        if (f->size[i] <= SPRAG_QUAD)
            factorRow(f, 1, i);
        else
            factorRow(f, 2, i);
}

SPRAG_QUAD_CLONES(factor, factorRows, const spragBlockLdlt)

void spragBlockLdltFactor(spragBlockLdlt *f)
{
    factor(f);
}

typedef struct Panel {
    const spragBlockLdlt *f;
    int count;
    const int *list;
    spragQuad *X;
} Panel;

SPRAG_QUAD_INLINE void forwardRows(const Panel *panel)
{
    const spragBlockLdlt *f = panel->f;
    for (int p = 0; p < panel->count; ++p) {
        const int i = panel->list == NULL ? p : panel->list[p];
        spragQuad *X = panel->X + ROWS * p;
        for (int e = f->start[i]; e < f->start[i + 1]; ++e) {
            const int j = f->column[e], place = f->place[j];
            if (place >= 0)
                spragPanelAdd(-1, (spragPanelMatrix){blockOf(f, e), f->size[i], f->size[j], 1, STRIDE}, 1, 1,
                              panel->X + ROWS * place, X);
        }
        spragPanelSubstitute(1, 1, f->size[i], diagonalOf(f, i), STRIDE, X);
        f->place[i] = p;
    }
    for (int p = 0; p < panel->count; ++p)
        f->place[panel->list == NULL ? p : panel->list[p]] = -1;
}

SPRAG_QUAD_CLONES(forward, forwardRows, const Panel)

void spragBlockLdltForward(const spragBlockLdlt *f, int count, const int *list, double *X)
{
    const Panel panel = {f, count, list, (spragQuad *)(void *)X};
    forward(&panel);
}

typedef struct Back {
    const spragBlockLdlt *f;
    double *x;
} Back;

/* The lanes of L_ij^T beyond the rows of i are zero, and so is what of x is taken there. */
SPRAG_QUAD_INLINE void backwardRows(const Back *back)
{
    const spragBlockLdlt *f = back->f;
    for (int i = f->n - 1; i >= 0; --i) {
        const double *D = diagonalOf(f, i);
        double *xi = back->x + ROWS * i;
        const int rows = f->size[i];
        for (int r = rows - 1; r > 0; --r)
            for (int c = 0; c < r; ++c)
                xi[c] -= D[STRIDE * r + c] * xi[r];
        double lane[STRIDE] = {0};
        for (int r = 0; r < rows; ++r)
            lane[r] = xi[r];
        const spragQuad low = *(const spragQuadLoose *)lane, high = *(const spragQuadLoose *)(lane + SPRAG_QUAD);
        for (int e = f->start[i]; e < f->start[i + 1]; ++e) {
            const int j = f->column[e];
            const spragQuad *L = (const spragQuad *)(const void *)blockOf(f, e);
            double *xj = back->x + ROWS * j;
            for (int c = 0; c < f->size[j]; ++c) {
                const spragQuad sum = rows <= SPRAG_QUAD ? L[2 * c] * low : L[2 * c] * low + L[2 * c + 1] * high;
                xj[c] -= (sum[0] + sum[1]) + (sum[2] + sum[3]);
            }
        }
    }
}

SPRAG_QUAD_CLONES(backward, backwardRows, const Back)

void spragBlockLdltBackward(const spragBlockLdlt *f, double *x)
{
    backward(&(Back){f, x});
}
