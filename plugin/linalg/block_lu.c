/* Row by row ("up-looking", Davis 2006, 4.8, for LU with a fixed symmetric pattern): row i of A is spread over `work`;
 * for each k < i of the pattern, L_ik = work_k U_kk^-1 and work -= L_ik U_k.; what is left is row i of U.  Of a
 * symmetric matrix columns from i on are enough, and work -= R_ki^T R_k.; what is left is R_ii^T times row i of R.
 *
 * Threads take rows in their order, each with a `work` of its own, and wait for a row k that is not
 * finished.  The order of elimination is that of the tree, so what was begun just before is needed last: even
 * in the dense rows at the end, where every row needs the one before it, two threads hardly wait.  Who
 * computes a row does not change its bits.
 *
 * Bare rows.  A_ik of a bare column k is left out of the factors: x_k = A_kk^-1 g_k is known, and goes to the right. */
#include "linalg/block_lu.h"

#include <math.h>
#include <string.h>

#include "linalg/quad.h"
#include "linalg/vec3.h"

#define INLINE SPRAG_QUAD_INLINE /* then b is a constant */

enum { CONTACT = 3, BODY = 6 };

/* Numbers of a row of a block of U and work. */
INLINE int wide(int b)
{
    return spragBlockLuStride(b);
}

/* Gauss-Jordan with row pivots; 0 if singular.  A: rows of wide(b). */
INLINE int inverse(const double *A, double *B, const int b)
{
    double M[BODY][2 * BODY];
    for (int i = 0; i < b; ++i)
        for (int j = 0; j < b; ++j) {
            M[i][j] = A[wide(b) * i + j];
            M[i][b + j] = i == j;
        }
    for (int k = 0; k < b; ++k) {
        int best = k;
        for (int i = k + 1; i < b; ++i)
            if (fabs(M[i][k]) > fabs(M[best][k]))
                best = i;
        if (!(fabs(M[best][k]) > 0))
            return 0;
        for (int j = 0; j < 2 * b; ++j) {
            const double swap = M[k][j];
            M[k][j] = M[best][j], M[best][j] = swap;
        }
        const double scale = 1 / M[k][k];
        for (int j = k; j < 2 * b; ++j)
            M[k][j] *= scale;
        for (int i = 0; i < b; ++i)
            if (i != k) {
                const double factor = M[i][k];
                for (int j = k; j < 2 * b; ++j)
                    M[i][j] -= factor * M[k][j];
            }
    }
    for (int i = 0; i < b; ++i)
        memcpy(B + b * i, M[i] + b, (size_t)b * sizeof *B);
    return 1;
}

/* work -= L_ik U_k. over row k of U, from its entry `first` on; the rows of a block are one vector each, or two. */
INLINE void eliminate(const spragBlockLu *lu, const double *L, int k, int first, double *work, const int b)
{
    const int end = lu->u_end[k], *column = lu->u_live, parts = wide(b) / 4, padded = b * wide(b);
    const double *rows = lu->U;
    double a[BODY * BODY]; /* the compiler cannot know that L is not in `work` */
    for (int i = 0; i < b * b; ++i)
        a[i] = L[i];
    for (int t = first; t < end; ++t) {
        const spragQuad *U = (const spragQuad *)(const void *)(rows + (size_t)padded * (size_t)t);
        spragQuad *C = (spragQuad *)(void *)(work + (size_t)padded * (size_t)column[t]), u[2 * BODY];
        for (int i = 0; i < parts * b; ++i)
            u[i] = U[i];
        for (int i = 0; i < b; ++i)
            for (int part = 0; part < parts; ++part) {
                spragQuad sum = u[part] * a[b * i];
                for (int j = 1; j < b; ++j)
                    sum += u[parts * j + part] * a[b * i + j];
                C[parts * i + part] -= sum;
            }
    }
}

/* Until row k is finished. */
static inline void await(const spragBlockLu *lu, int k)
{
    for (int spins = 0; atomic_load_explicit(&lu->done[k], memory_order_acquire) != lu->round; ++spins)
        spragPoolRest(spins);
}

/* L = w D.  (Of contacts the last number of a row's quad is of the next row, which is written then; not so behind the
 * last one, where another thread's numbers may lie.) */
INLINE void multiply(const double *w, const double *D, double *L, const int b)
{
    if (b == CONTACT) {
        spragQuad row[CONTACT];
        spragQuadRows33(D, row);
        for (int a = 0; a < b; ++a) {
            const spragQuad product =
                row[0] * w[wide(b) * a] + row[1] * w[wide(b) * a + 1] + row[2] * w[wide(b) * a + 2];
            if (a + 1 < b)
                *(spragQuadLoose *)(L + b * a) = product;
            else
                memcpy(L + b * a, &product, (size_t)b * sizeof *L);
        }
        return;
    }
    for (int a = 0; a < b; ++a)
        for (int c = 0; c < b; ++c) {
            double sum = w[wide(b) * a] * D[c];
            for (int j = 1; j < b; ++j)
                sum += w[wide(b) * a + j] * D[b * j + c];
            L[b * a + c] = sum;
        }
}

/* Rows of L and what they leave of row i. */
INLINE void reduceRow(spragBlockLu *lu, int i, double *work, const int b)
{
    const size_t size = (size_t)(b * b), padded = (size_t)(b * wide(b));
    for (int s = lu->l_start[i]; s < lu->l_end[i]; ++s) {
        const int k = lu->l_live[s];
        double *L = lu->L + size * (size_t)s, *w = work + padded * (size_t)k;
        if (lu->pool != NULL)
            await(lu, k);
        multiply(w, lu->inverse + size * (size_t)k, L, b);
        memset(w, 0, padded * sizeof *w);
        eliminate(lu, L, k, lu->u_start[k], work, b);
    }
}

/* Where column i is in row k. */
static inline int entryOf(const spragBlockLu *lu, int k, int i)
{
    int low = lu->u_start[k], high = lu->u_start[k + 1] - 1;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (lu->u_column[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

INLINE void reduceSymmetric(const spragBlockLu *lu, int i, double *work, const int b)
{
    for (int s = lu->l_start[i]; s < lu->l_start[i + 1]; ++s) {
        const int k = lu->l_column[s];
        if (lu->pool != NULL)
            await(lu, k);
        const int t = entryOf(lu, k, i);
        const double *R = lu->U + (size_t)lu->padded * (size_t)t;
        double turned[BODY * BODY];
        for (int a = 0; a < b; ++a)
            for (int c = 0; c < b; ++c)
                turned[b * a + c] = R[wide(b) * c + a];
        eliminate(lu, turned, k, t, work, b);
    }
}

/* The inverse of R, R^T R = A; 0: A is not positive definite. */
INLINE int inverseRoot(const double *A, double *B, const int b)
{
    double R[BODY][BODY];
    for (int i = 0; i < b; ++i)
        for (int j = i; j < b; ++j) {
            double sum = A[wide(b) * i + j];
            for (int k = 0; k < i; ++k)
                sum -= R[k][i] * R[k][j];
            if (i == j && !(sum > 0))
                return 0;
            R[i][j] = i == j ? sqrt(sum) : sum / R[i][i];
        }
    for (int j = 0; j < b; ++j)
        for (int i = b - 1; i >= 0; --i) {
            double sum = i == j;
            for (int k = i + 1; k <= j; ++k)
                sum -= R[i][k] * B[b * k + j];
            B[b * i + j] = i <= j ? sum / R[i][i] : 0;
        }
    return 1;
}

/* R_it = R_ii^-T work_t */
INLINE void divide(const double *inverse, const double *work, double *R, const int b)
{
    for (int a = 0; a < b; ++a)
        for (int c = 0; c < wide(b); ++c) {
            double sum = inverse[a] * work[c];
            for (int j = 1; j <= a; ++j)
                sum += inverse[b * j + a] * work[wide(b) * j + c];
            R[wide(b) * a + c] = sum;
        }
}

/* Row i of L and U, or of R.  0: its diagonal block is singular, or not positive definite. */
INLINE int factorRow(spragBlockLu *lu, int i, double *work, const int b)
{
    const size_t size = (size_t)(b * b), padded = (size_t)(b * wide(b));
    const int row = lu->order[i];
    const int symmetric = lu->symmetric, some_bare = lu->bare_count > 0;
    for (int e = lu->row_start[row]; e < lu->row_start[row + 1]; ++e) {
        const int position = lu->position[lu->column[e]];
        double *w = work + padded * (size_t)position;
        if (symmetric ? position < i : some_bare && lu->bare[position] && position != i)
            continue;
        if (b == CONTACT) {
            const spragQuadMask three = {-1, -1, -1, 0};
            spragQuad *to = (spragQuad *)(void *)w, from[CONTACT];
            spragQuadRows33(lu->A + size * (size_t)e, from);
            for (int a = 0; a < b; ++a)
                to[a] = (spragQuad)((spragQuadMask)from[a] & three);
            continue;
        }
        for (int a = 0; a < b; ++a)
            memcpy(w + wide(b) * a, lu->A + size * (size_t)e + b * a, (size_t)b * sizeof *w);
    }
    if (lu->symmetric)
        reduceSymmetric(lu, i, work, b);
    else
        reduceRow(lu, i, work, b);
    double *w = work + padded * (size_t)i, *D = lu->inverse + size * (size_t)i;
    const int regular = lu->symmetric ? inverseRoot(w, D, b) : inverse(w, D, b);
    memset(w, 0, padded * sizeof *w);
    for (int t = lu->u_start[i]; t < lu->u_end[i]; ++t) {
        w = work + padded * (size_t)lu->u_live[t];
        if (lu->symmetric)
            divide(D, w, lu->U + padded * (size_t)t, b);
        else
            memcpy(lu->U + padded * (size_t)t, w, padded * sizeof *w);
        memset(w, 0, padded * sizeof *w);
    }
    return regular;
}

typedef struct Row {
    spragBlockLu *lu;
    int i;
    double *work;
    int regular;
} Row;

INLINE void factorEither(Row *row)
{
    row->regular = row->lu->size == BODY ? factorRow(row->lu, row->i, row->work, BODY)
                                         : factorRow(row->lu, row->i, row->work, CONTACT);
}

SPRAG_QUAD_CLONES(factor, factorEither, Row)

static int rowOf(spragBlockLu *lu, int i, double *work)
{
    Row row = {.lu = lu, .i = i, .work = work};
    factor(&row);
    return row.regular;
}

/* Rows are taken in order, so that those a thread waits for are being worked on. */
static void factorRows(void *data, int worker, int thread)
{
    (void)worker;
    spragBlockLu *lu = data;
    double *work = lu->works + (size_t)lu->padded * (size_t)lu->n * (size_t)thread;
    for (int i; (i = atomic_fetch_add_explicit(&lu->next, 1, memory_order_relaxed)) < lu->n;) {
        if (!rowOf(lu, i, work))
            atomic_store_explicit(&lu->failed, 1, memory_order_relaxed);
        atomic_store_explicit(&lu->done[i], lu->round, memory_order_release);
    }
}

int spragBlockLuShare(spragBlockLu *lu, spragPool *pool, spragArena *arena)
{
    lu->works = SPRAG_TAKE(arena, double, (size_t)lu->padded *(size_t)lu->n *(size_t)spragPoolSize(pool));
    lu->done = SPRAG_TAKE(arena, atomic_int, lu->n);
    lu->pool = lu->works != NULL && lu->done != NULL ? pool : NULL;
    return lu->pool != NULL;
}

static int isBare(const spragBlockLu *lu, int row)
{
    for (int e = lu->row_start[row]; e < lu->row_start[row + 1]; ++e)
        for (const double *at = lu->A + 9 * (size_t)e, *end = at + 9; at < end && lu->column[e] != row; ++at)
            if (*at != 0)
                return 0;
    return 1;
}

/* `all` of row i from `start` on without bare rows, into `live`; returns its end. */
static int leaveOut(const spragBlockLu *lu, int i, const int *start, const int *all, int *live)
{
    int end = start[i];
    for (int t = start[i]; t < start[i + 1] && !lu->bare[i]; ++t)
        if (!lu->bare[all[t]])
            live[end++] = all[t];
    return end;
}

static void findBare(spragBlockLu *lu)
{
    const int n = lu->n, fill = lu->l_start[n], known = lu->room != NULL && lu->u_live == lu->room;
    int changed = 0;
    lu->bare_count = 0;
    lu->u_live = lu->u_column, lu->l_live = lu->l_column;
    lu->u_end = lu->u_start + 1, lu->l_end = lu->l_start + 1;
    if (lu->room == NULL)
        return;
    for (int row = 0; row < n; ++row) {
        const int bare = isBare(lu, row);
        changed |= lu->bare[lu->position[row]] != bare;
        lu->bare[lu->position[row]] = (unsigned char)bare;
        lu->bare_count += bare;
    }
    if (lu->bare_count == 0)
        return;
    int *const u_live = lu->room, *const l_live = u_live + fill, *const u_end = l_live + fill, *const l_end = u_end + n;
    for (int i = 0; i < n && (changed || !known); ++i) {
        u_end[i] = leaveOut(lu, i, lu->u_start, lu->u_column, u_live);
        l_end[i] = leaveOut(lu, i, lu->l_start, lu->l_column, l_live);
    }
    lu->u_live = u_live, lu->l_live = l_live;
    lu->u_end = u_end, lu->l_end = l_end;
}

int spragBlockLuFactor(spragBlockLu *lu, const double *A)
{
    lu->A = A;
    findBare(lu);
    if (lu->pool == NULL) {
        for (int i = 0; i < lu->n; ++i)
            if (!rowOf(lu, i, lu->work))
                return 0;
        return 1;
    }
    ++lu->round;
    atomic_store(&lu->next, 0);
    atomic_store(&lu->failed, 0);
    spragPoolRun(lu->pool, factorRows, lu, spragPoolSize(lu->pool));
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

INLINE spragQuad at(const double *x)
{
    return *(const spragQuadLoose *)x;
}

INLINE double total(spragQuad x)
{
    return x[0] + x[1] + (x[2] + x[3]);
}

/* sum -= L_i. y, before the diagonal.  The rows of L lie close to each other: the last of three is read from the number
 * before it on, and of six each pair is three vectors. */
INLINE void takeLower(const spragBlockLu *lu, int i, const double *y, double *sum, const int b)
{
    spragQuad part[3 * BODY / 2] = {{0}};
    for (int s = lu->l_start[i]; s < lu->l_end[i]; ++s) {
        const double *L = lu->L + (size_t)(b * b) * (size_t)s, *z = y + wide(b) * lu->l_live[s];
        const spragQuad front = at(z), back = at(z + b - 4); /* contacts: 0 and the three */
        if (b == CONTACT) {
            part[0] += at(L) * front;
            part[1] += at(L + 3) * front;
            part[2] += at(L + 5) * back;
            continue;
        }
        const spragQuad both = SPRAG_QUAD_SHUFFLE(back, front, 2, 3, 4, 5);
        for (int p = 0; p < BODY / 2; ++p) {
            part[3 * p] += at(L + 12 * p) * front;
            part[3 * p + 1] += at(L + 12 * p + 4) * both;
            part[3 * p + 2] += at(L + 12 * p + 8) * back;
        }
    }
    for (int a = 0; a < CONTACT && b == CONTACT; ++a)
        sum[a] -= total(part[a]);
    for (int p = 0; p < BODY / 2 && b == BODY; ++p) {
        const spragQuad shared = part[3 * p + 1];
        sum[2 * p] -= total(part[3 * p]) + (shared[0] + shared[1]);
        sum[2 * p + 1] -= shared[2] + shared[3] + total(part[3 * p + 2]);
    }
}

/* sum -= U_i. y, behind the diagonal */
INLINE void takeUpper(const spragBlockLu *lu, int i, const double *y, double *sum, const int b)
{
    const int parts = wide(b) / 4;
    spragQuad part[2 * BODY] = {{0}};
    for (int t = lu->u_start[i]; t < lu->u_end[i]; ++t) {
        const double *U = lu->U + (size_t)(b * wide(b)) * (size_t)t, *z = y + wide(b) * lu->u_live[t];
        for (int a = 0; a < parts * b; ++a)
            part[a] += at(U + 4 * a) * at(z + 4 * (a % parts));
    }
    for (int a = 0; a < b; ++a)
        sum[a] -= total(parts == 1 ? part[a] : part[2 * a] + part[2 * a + 1]);
}

/* x of bare rows, and what their columns leave of the others. */
static void solveBare(const spragBlockLu *lu, double *x)
{
    int moved = 0;
    for (int i = 0; i < lu->n; ++i)
        if (lu->bare[i]) {
            double *own = x + CONTACT * lu->order[i], g[CONTACT];
            memcpy(g, own, sizeof g);
            spragMul33(own, lu->inverse + 9 * (size_t)i, g);
            moved |= own[0] != 0 || own[1] != 0 || own[2] != 0;
        }
    for (int row = 0; row < lu->n && moved; ++row)
        for (int e = lu->row_start[row]; e < lu->row_start[row + 1] && !lu->bare[lu->position[row]]; ++e) {
            double product[CONTACT];
            if (!lu->bare[lu->position[lu->column[e]]])
                continue;
            spragMul33(product, lu->A + 9 * (size_t)e, x + CONTACT * lu->column[e]);
            for (int a = 0; a < CONTACT; ++a)
                x[CONTACT * row + a] -= product[a];
        }
}

INLINE void solve(const spragBlockLu *lu, double *x, const int b)
{
    const size_t size = (size_t)(b * b), bytes = (size_t)b * sizeof *x;
    double *y = lu->solution, sum[BODY];
    for (int i = 0; i < lu->n; ++i) {
        memcpy(sum, x + b * lu->order[i], bytes);
        takeLower(lu, i, y, sum, b);
        memcpy(y + wide(b) * i, sum, bytes);
    }
    for (int i = lu->n - 1; i >= 0; --i) {
        if (lu->bare[i])
            continue;
        double *own = y + wide(b) * i;
        memcpy(sum, own, bytes);
        takeUpper(lu, i, y, sum, b);
        const double *D = lu->inverse + size * (size_t)i;
        for (int a = 0; a < b; ++a) {
            double part = D[b * a] * sum[0];
            for (int j = 1; j < b; ++j)
                part += D[b * a + j] * sum[j];
            own[a] = part;
        }
        memcpy(x + b * lu->order[i], own, bytes);
    }
}

/* R^T y = x by columns, then R x = y by rows: both as R lies in memory. */
INLINE void solveSymmetric(const spragBlockLu *lu, double *x, const int b)
{
    const size_t size = (size_t)(b * b), padded = (size_t)(b * wide(b));
    const int parts = wide(b) / 4;
    double *y = lu->solution, sum[BODY];
    memset(y, 0, (size_t)(wide(b) * lu->n) * sizeof *y); /* what is not finite would stay beside the blocks */
    for (int i = 0; i < lu->n; ++i)
        memcpy(y + wide(b) * i, x + b * lu->order[i], (size_t)b * sizeof *y);
    for (int i = 0; i < lu->n; ++i) {
        const double *D = lu->inverse + size * (size_t)i;
        for (int a = 0; a < b; ++a) {
            sum[a] = 0;
            for (int j = 0; j <= a; ++j)
                sum[a] += D[b * j + a] * y[wide(b) * i + j];
        }
        memcpy(y + wide(b) * i, sum, (size_t)b * sizeof *y);
        for (int t = lu->u_start[i]; t < lu->u_start[i + 1]; ++t) {
            const double *R = lu->U + padded * (size_t)t;
            double *z = y + wide(b) * lu->u_column[t];
            for (int p = 0; p < parts; ++p) {
                spragQuad part = at(R + 4 * p) * sum[0];
                for (int j = 1; j < b; ++j)
                    part += at(R + wide(b) * j + 4 * p) * sum[j];
                part = at(z + 4 * p) - part;
                *(spragQuadLoose *)(z + 4 * p) = part;
            }
        }
    }
    for (int i = lu->n - 1; i >= 0; --i) {
        double *own = y + wide(b) * i;
        memcpy(sum, own, (size_t)b * sizeof *y);
        takeUpper(lu, i, y, sum, b);
        const double *D = lu->inverse + size * (size_t)i;
        for (int a = 0; a < b; ++a) {
            own[a] = 0;
            for (int j = a; j < b; ++j)
                own[a] += D[b * a + j] * sum[j];
        }
        memcpy(x + b * lu->order[i], own, (size_t)b * sizeof *x);
    }
}

typedef struct Solution {
    const spragBlockLu *lu;
    double *x;
} Solution;

INLINE void solveEither(Solution *s)
{
    if (s->lu->symmetric)
        s->lu->size == BODY ? solveSymmetric(s->lu, s->x, BODY) : solveSymmetric(s->lu, s->x, CONTACT);
    else if (s->lu->size == BODY)
        solve(s->lu, s->x, BODY);
    else
        solve(s->lu, s->x, CONTACT);
}

SPRAG_QUAD_CLONES(solveAll, solveEither, Solution)

void spragBlockLuSolve(spragBlockLu *lu, double *x)
{
    if (lu->bare_count > 0)
        solveBare(lu, x);
    solveAll(&(Solution){lu, x});
}

/* out = M x, M with rows of `stride` numbers. */
INLINE void productFour(const double *M, const int stride, const spragQuad x[CONTACT], spragQuad out[CONTACT])
{
    for (int a = 0; a < CONTACT; ++a)
        out[a] = x[0] * M[stride * a] + x[1] * M[stride * a + 1] + x[2] * M[stride * a + 2];
}

/* sum -= M x */
INLINE void takeFour(const double *M, const int stride, const spragQuad x[CONTACT], spragQuad sum[CONTACT])
{
    spragQuad product[CONTACT];
    productFour(M, stride, x, product);
    for (int a = 0; a < CONTACT; ++a)
        sum[a] -= product[a];
}

typedef struct Four {
    const spragBlockLu *lu;
    spragQuad *x, *y;
} Four;

/* As solveBare. */
INLINE void solveBareFour(const spragBlockLu *lu, spragQuad *x)
{
    for (int i = 0; i < lu->n; ++i)
        if (lu->bare[i]) {
            spragQuad *own = x + CONTACT * lu->order[i], g[CONTACT];
            memcpy(g, own, sizeof g);
            productFour(lu->inverse + 9 * (size_t)i, CONTACT, g, own);
        }
    for (int row = 0; row < lu->n; ++row)
        for (int e = lu->row_start[row]; e < lu->row_start[row + 1] && !lu->bare[lu->position[row]]; ++e)
            if (lu->bare[lu->position[lu->column[e]]])
                takeFour(lu->A + 9 * (size_t)e, CONTACT, x + CONTACT * lu->column[e], x + CONTACT * row);
}

/* x = U^-1 y; bare: of bare rows too. */
INLINE void backwardFour(const spragBlockLu *lu, spragQuad *x, spragQuad *y, int bare)
{
    for (int i = lu->n - 1; i >= 0; --i) {
        spragQuad sum[CONTACT];
        if (lu->bare[i] && !bare)
            continue;
        memcpy(sum, y + CONTACT * i, sizeof sum);
        for (int t = lu->u_start[i]; t < lu->u_end[i]; ++t)
            takeFour(lu->U + 12 * (size_t)t, 4, y + CONTACT * lu->u_live[t], sum);
        productFour(lu->inverse + 9 * (size_t)i, CONTACT, sum, y + CONTACT * i);
        memcpy(x + CONTACT * lu->order[i], y + CONTACT * i, sizeof sum);
    }
}

INLINE void solveFour(const Four *four)
{
    const spragBlockLu *lu = four->lu;
    spragQuad *const x = four->x, *const y = four->y, sum[CONTACT];
    if (lu->bare_count > 0)
        solveBareFour(lu, x);
    for (int i = 0; i < lu->n; ++i) {
        memcpy(sum, x + CONTACT * lu->order[i], sizeof sum);
        for (int s = lu->l_start[i]; s < lu->l_end[i]; ++s)
            takeFour(lu->L + 9 * (size_t)s, CONTACT, y + CONTACT * lu->l_live[s], sum);
        memcpy(y + CONTACT * i, sum, sizeof sum);
    }
    backwardFour(lu, x, y, 0);
}

SPRAG_QUAD_CLONES(solveLanes, solveFour, const Four)

void spragBlockLuSolveFour(const spragBlockLu *lu, double *x, double *work)
{
    solveLanes(&(Four){lu, (spragQuad *)(void *)x, (spragQuad *)(void *)work});
}

/* sum = -A_rk A_kk^-1, k a bare row: by columns, as spragBlockLuColumns has them. */
INLINE void takeColumn(const spragBlockLu *lu, int row, int k, spragQuad sum[CONTACT])
{
    const double *D = lu->inverse + 9 * (size_t)lu->position[k];
    for (int e = lu->row_start[row]; e < lu->row_start[row + 1]; ++e)
        for (int i = 0; i < 9 && lu->column[e] == k; ++i) {
            const double *A = lu->A + 9 * (size_t)e + 3 * (i / 3);
            sum[i / 3][i % 3] = -(A[0] * D[i % 3] + A[1] * D[3 + i % 3] + A[2] * D[6 + i % 3]);
        }
}

typedef struct Columns {
    const spragBlockLu *lu;
    int k;
    double *columns, *work;
} Columns;

INLINE void columnsOf(Columns *of)
{
    const spragBlockLu *lu = of->lu;
    const spragQuad zero = {0};
    spragQuad *x = (spragQuad *)(void *)of->columns, *y = (spragQuad *)(void *)of->work;
    const int k = of->k, own = lu->position[k], is_bare = lu->bare[own], first = is_bare ? 0 : own;
    for (int i = 0; i < CONTACT * first; ++i)
        y[i] = zero;
    for (int i = first; i < lu->n; ++i) {
        spragQuad sum[CONTACT] = {zero, zero, zero};
        for (int a = 0; a < CONTACT && i == own; ++a)
            sum[a][a] = 1;
        if (is_bare && !lu->bare[i])
            takeColumn(lu, lu->order[i], k, sum);
        for (int s = lu->l_start[i]; s < lu->l_end[i]; ++s) {
            const double *L = lu->L + 9 * (size_t)s;
            const spragQuad *z = y + CONTACT * lu->l_live[s];
            if (lu->l_live[s] >= first)
                takeFour(L, CONTACT, z, sum);
        }
        memcpy(y + CONTACT * i, sum, sizeof sum);
    }
    backwardFour(lu, x, y, 1);
}

SPRAG_QUAD_CLONES(findColumns, columnsOf, Columns)

void spragBlockLuColumns(const spragBlockLu *lu, int k, double *inverse_columns, double *work)
{
    findColumns(&(Columns){lu, k, inverse_columns, work});
}
