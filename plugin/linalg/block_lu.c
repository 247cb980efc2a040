/* Row by row ("up-looking", Davis 2006, 4.8, for LU with a fixed symmetric pattern): row i of A is spread over `work`;
 * for each k < i of the pattern, L_ik = work_k U_kk^-1 and work -= L_ik U_k.; what is left is row i of U.
 *
 * Threads take rows in their order, each with a `work` of its own, and wait for a row k that is not finished.  The order of
 * elimination is that of the tree, so what was begun just before is needed last: even in the dense rows at the end, where
 * every row needs the one before it, two threads hardly wait.  Who computes a row does not change its bits. */
#include "linalg/block_lu.h"

#include <amd.h>
#include <math.h>
#include <string.h>

#include "linalg/vec3.h"

typedef double Vector4 __attribute__((vector_size(32)));

enum { PADDED = 12 };

/* Columns of row i of L: the nodes of the elimination tree reached from row i of A (Davis 2006, 4.2), in
 * stack[top .. n-1]; returns top. */
static int rowPattern(const spragBlockLu *lu, int i, const int *parent, int *mark, int *stack)
{
    int top = lu->n;
    mark[i] = i;
    const int row = lu->order[i];
    for (int e = lu->row_start[row]; e < lu->row_start[row + 1]; ++e) {
        int k = lu->position[lu->column[e]], length = 0;
        if (k >= i)
            continue;
        for (; mark[k] != i; k = parent[k]) {
            stack[length++] = k;
            mark[k] = i;
        }
        while (length > 0)
            stack[--top] = stack[--length];
    }
    return top;
}

static void eliminationTree(const spragBlockLu *lu, int *parent, int *ancestor)
{
    for (int i = 0; i < lu->n; ++i) {
        parent[i] = ancestor[i] = -1;
        const int row = lu->order[i];
        for (int e = lu->row_start[row]; e < lu->row_start[row + 1]; ++e) {
            int k = lu->position[lu->column[e]];
            while (k != -1 && k < i) {
                const int next = ancestor[k];
                ancestor[k] = i;
                if (next == -1)
                    parent[k] = i;
                k = next;
            }
        }
    }
}

/* Approximate minimum degree of the symmetric pattern, in the arena's memory (amd_2 of SuiteSparse; its public amd_order
 * would call malloc). */
static int leastDegreeOrder(spragBlockLu *lu, spragArena *arena)
{
    const int n = lu->n, blocks = lu->row_start[n];
    const int room = blocks + blocks / 5 + n + 1;
    double info[AMD_INFO];
    int *start = SPRAG_TAKE(arena, int, n), *length = SPRAG_TAKE(arena, int, n), *work = SPRAG_TAKE(arena, int, room);
    int *scratch = SPRAG_TAKE(arena, int, 6 * (size_t)n);
    if (start == NULL || length == NULL || work == NULL || scratch == NULL)
        return 0;
    int used = 0;
    for (int i = 0; i < n; ++i) {
        start[i] = used;
        for (int e = lu->row_start[i]; e < lu->row_start[i + 1]; ++e)
            if (lu->column[e] != i)
                work[used++] = lu->column[e];
        length[i] = used - start[i];
    }
    amd_2(n, start, work, length, room, used, scratch, lu->position, lu->order, scratch + n, scratch + 2 * n,
          scratch + 3 * n, scratch + 4 * n, NULL, info);
    return 1;
}

int spragBlockLuAnalyse(spragBlockLu *lu, int n, const int *row_start, const int *column, double products_most,
                        spragArena *arena)
{
    *lu = (spragBlockLu){.n = n,
                         .row_start = row_start,
                         .column = column,
                         .order = SPRAG_TAKE(arena, int, n),
                         .position = SPRAG_TAKE(arena, int, n),
                         .u_start = SPRAG_TAKE(arena, int, n + 1),
                         .l_start = SPRAG_TAKE(arena, int, n + 1),
                         .inverse = SPRAG_TAKE(arena, double, 9 * (size_t)n),
                         .work = SPRAG_TAKE(arena, double, PADDED *(size_t)n),
                         .solution = SPRAG_TAKE(arena, double, 3 * (size_t)n)};
    int *parent = SPRAG_TAKE(arena, int, n), *mark = SPRAG_TAKE(arena, int, n), *stack = SPRAG_TAKE(arena, int, n);
    if (lu->order == NULL || lu->position == NULL || lu->u_start == NULL || lu->l_start == NULL ||
        lu->inverse == NULL || lu->work == NULL || lu->solution == NULL || parent == NULL || mark == NULL ||
        stack == NULL)
        return 0;
    if (!leastDegreeOrder(lu, arena))
        return 0;
    for (int i = 0; i < n; ++i)
        lu->position[lu->order[i]] = i;
    eliminationTree(lu, parent, mark);
    for (int i = 0; i < n; ++i)
        mark[i] = -1;
    for (int i = 0; i < n; ++i) {
        const int top = rowPattern(lu, i, parent, mark, stack);
        lu->l_start[i + 1] = lu->l_start[i] + n - top;
        for (int s = top; s < n; ++s)
            ++lu->u_start[stack[s] + 1];
    }
    for (int i = 0; i < n; ++i)
        lu->u_start[i + 1] += lu->u_start[i];
    const size_t fill = (size_t)lu->l_start[n];
    for (int i = 0; i < n; ++i) { /* row k of U meets every row of L that holds k: its own pattern mirrored */
        const double row = lu->u_start[i + 1] - lu->u_start[i];
        lu->products += row * row;
    }
    if (lu->products > products_most)
        return -1;
    lu->l_column = SPRAG_TAKE(arena, int, fill + 1);
    lu->u_column = SPRAG_TAKE(arena, int, fill + 1);
    lu->L = SPRAG_TAKE_RAW(arena, double, 9 * fill + 1);
    lu->U = SPRAG_TAKE_RAW(arena, double, PADDED *fill + 1);
    int *used = SPRAG_TAKE(arena, int, n);
    if (lu->l_column == NULL || lu->u_column == NULL || lu->L == NULL || lu->U == NULL || used == NULL)
        return 0;
    for (int i = 0; i < n; ++i)
        mark[i] = -1;
    for (int i = 0; i < n; ++i) {
        const int top = rowPattern(lu, i, parent, mark, stack);
        int *columns = lu->l_column + lu->l_start[i];
        memcpy(columns, stack + top, (size_t)(n - top) * sizeof *columns);
        for (int s = 0; s < n - top; ++s)
            lu->u_column[lu->u_start[columns[s]] + used[columns[s]]++] = i;
    }
    return 1;
}

/* Gauss-Jordan with row pivots; 0 if singular. */
static int inverse33(const double A[9], double B[9])
{
    double M[3][6] = {{A[0], A[1], A[2], 1, 0, 0}, {A[3], A[4], A[5], 0, 1, 0}, {A[6], A[7], A[8], 0, 0, 1}};
    for (int k = 0; k < 3; ++k) {
        int best = k;
        for (int i = k + 1; i < 3; ++i)
            if (fabs(M[i][k]) > fabs(M[best][k]))
                best = i;
        if (!(fabs(M[best][k]) > 0))
            return 0;
        for (int j = 0; j < 6; ++j) {
            const double swap = M[k][j];
            M[k][j] = M[best][j], M[best][j] = swap;
        }
        const double scale = 1 / M[k][k];
        for (int j = k; j < 6; ++j)
            M[k][j] *= scale;
        for (int i = 0; i < 3; ++i)
            if (i != k) {
                const double factor = M[i][k];
                for (int j = k; j < 6; ++j)
                    M[i][j] -= factor * M[k][j];
            }
    }
    for (int i = 0; i < 9; ++i)
        B[i] = M[i / 3][3 + i % 3];
    return 1;
}

/* work -= L_ik U_k. over row k of U; the rows of a block are one vector each. */
static inline __attribute__((always_inline)) void eliminate(const spragBlockLu *lu, const double L[9], int k,
                                                            double *work)
{
    const int end = lu->u_start[k + 1], *column = lu->u_column;
    const double *rows = lu->U, a0 = L[0], a1 = L[1], a2 = L[2], b0 = L[3], b1 = L[4], b2 = L[5], c0 = L[6], c1 = L[7],
                 c2 = L[8]; /* in registers: the compiler cannot know that they are not in `work` */
    for (int t = lu->u_start[k]; t < end; ++t) {
        const Vector4 *U = (const Vector4 *)(const void *)(rows + PADDED * (size_t)t);
        Vector4 *C = (Vector4 *)(void *)(work + PADDED * (size_t)column[t]);
        const Vector4 u0 = U[0], u1 = U[1], u2 = U[2];
        C[0] -= u0 * a0 + u1 * a1 + u2 * a2;
        C[1] -= u0 * b0 + u1 * b1 + u2 * b2;
        C[2] -= u0 * c0 + u1 * c1 + u2 * c2;
    }
}

/* Until row k is finished. */
static inline void await(const spragBlockLu *lu, int k)
{
    for (int spins = 0; atomic_load_explicit(&lu->done[k], memory_order_acquire) != lu->round; ++spins)
        spragPoolRest(spins);
}

/* Rows of L and what they leave of row i. */
static inline __attribute__((always_inline)) void reduceRow(spragBlockLu *lu, int i, double *work)
{
    for (int s = lu->l_start[i]; s < lu->l_start[i + 1]; ++s) {
        const int k = lu->l_column[s];
        double *L = lu->L + 9 * (size_t)s, *w = work + PADDED * (size_t)k;
        if (lu->pool != NULL)
            await(lu, k);
        const double *D = lu->inverse + 9 * (size_t)k;
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                L[3 * a + b] = w[4 * a] * D[b] + w[4 * a + 1] * D[3 + b] + w[4 * a + 2] * D[6 + b];
        memset(w, 0, PADDED * sizeof *w);
        eliminate(lu, L, k, work);
    }
}

static void reduceRowPlain(spragBlockLu *lu, int i, double *work)
{
    reduceRow(lu, i, work);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void reduceRowAvx2(spragBlockLu *lu, int i, double *work)
{
    reduceRow(lu, i, work);
}

static int hasAvx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define reduceRowAvx2 reduceRowPlain
static int hasAvx2(void)
{
    return 0;
}
#endif

/* Row i of L and U.  0: its diagonal block is singular. */
static int factorRow(spragBlockLu *lu, int i, double *work)
{
    const int row = lu->order[i];
    for (int e = lu->row_start[row]; e < lu->row_start[row + 1]; ++e)
        for (int a = 0; a < 9; ++a)
            work[PADDED * (size_t)lu->position[lu->column[e]] + (size_t)(a + a / 3)] = lu->A[9 * (size_t)e + (size_t)a];
    if (hasAvx2())
        reduceRowAvx2(lu, i, work);
    else
        reduceRowPlain(lu, i, work);
    double pivot[9], *w = work + PADDED * (size_t)i;
    for (int a = 0; a < 9; ++a)
        pivot[a] = w[a + a / 3];
    const int regular = inverse33(pivot, lu->inverse + 9 * (size_t)i);
    memset(w, 0, PADDED * sizeof *w);
    for (int t = lu->u_start[i]; t < lu->u_start[i + 1]; ++t) {
        w = work + PADDED * (size_t)lu->u_column[t];
        memcpy(lu->U + PADDED * (size_t)t, w, PADDED * sizeof *w);
        memset(w, 0, PADDED * sizeof *w);
    }
    return regular;
}

/* Rows are taken in order, so that those a thread waits for are being worked on. */
static void factorRows(void *data, int thread)
{
    spragBlockLu *lu = data;
    double *work = lu->works + PADDED * (size_t)lu->n * (size_t)thread;
    for (int i; (i = atomic_fetch_add_explicit(&lu->next, 1, memory_order_relaxed)) < lu->n;) {
        if (!factorRow(lu, i, work))
            atomic_store_explicit(&lu->failed, 1, memory_order_relaxed);
        atomic_store_explicit(&lu->done[i], lu->round, memory_order_release);
    }
}

int spragBlockLuShare(spragBlockLu *lu, spragPool *pool, spragArena *arena)
{
    lu->works = SPRAG_TAKE(arena, double, PADDED *(size_t)lu->n *(size_t)pool->count);
    lu->done = SPRAG_TAKE(arena, atomic_int, lu->n);
    lu->pool = lu->works != NULL && lu->done != NULL ? pool : NULL;
    return lu->pool != NULL;
}

int spragBlockLuFactor(spragBlockLu *lu, const double *A)
{
    lu->A = A;
    if (lu->pool == NULL) {
        for (int i = 0; i < lu->n; ++i)
            if (!factorRow(lu, i, lu->work))
                return 0;
        return 1;
    }
    ++lu->round;
    atomic_store(&lu->next, 0);
    atomic_store(&lu->failed, 0);
    spragPoolRun(lu->pool, factorRows, lu, lu->pool->count);
    return !atomic_load(&lu->failed);
}

int spragBlockLuSign(const spragBlockLu *lu)
{
    int sign = 1;
    for (int i = 0; i < lu->n; ++i) {
        const double *D = lu->inverse + 9 * (size_t)i;
        double cross[3];
        spragCross3(cross, D + 3, D + 6);
        const double det = spragDot3(D, cross);
        sign = det > 0 ? sign : det < 0 ? -sign : 0;
    }
    return sign;
}

void spragBlockLuSolve(spragBlockLu *lu, double *x)
{
    double *y = lu->solution;
    for (int i = 0; i < lu->n; ++i) {
        double sum[3];
        memcpy(sum, x + 3 * (size_t)lu->order[i], sizeof sum);
        for (int s = lu->l_start[i]; s < lu->l_start[i + 1]; ++s) {
            const double *L = lu->L + 9 * (size_t)s, *z = y + 3 * (size_t)lu->l_column[s];
            for (int a = 0; a < 3; ++a)
                sum[a] -= L[3 * a] * z[0] + L[3 * a + 1] * z[1] + L[3 * a + 2] * z[2];
        }
        memcpy(y + 3 * (size_t)i, sum, sizeof sum);
    }
    for (int i = lu->n - 1; i >= 0; --i) {
        double sum[3];
        memcpy(sum, y + 3 * (size_t)i, sizeof sum);
        for (int t = lu->u_start[i]; t < lu->u_start[i + 1]; ++t) {
            const double *U = lu->U + PADDED * (size_t)t, *z = y + 3 * (size_t)lu->u_column[t];
            for (int a = 0; a < 3; ++a)
                sum[a] -= U[4 * a] * z[0] + U[4 * a + 1] * z[1] + U[4 * a + 2] * z[2];
        }
        const double *D = lu->inverse + 9 * (size_t)i;
        for (int a = 0; a < 3; ++a)
            y[3 * i + a] = D[3 * a] * sum[0] + D[3 * a + 1] * sum[1] + D[3 * a + 2] * sum[2];
        memcpy(x + 3 * (size_t)lu->order[i], y + 3 * (size_t)i, 3 * sizeof *x);
    }
}
