/* An entry of L U is finished at once: all that is taken off it stays in a register ("left-looking", Golub and Van Loan
 * 2013, 3.2).  A long double is slow to load on x86, and slower to store.  The terms and their order are those of
 * elimination row by row. */
#include "linalg/fine.h"

#include <stddef.h>

enum { ABREAST = 4 };

static void swap(spragFine *a, spragFine *b)
{
    const spragFine kept = *a;
    *a = *b, *b = kept;
}

/* How many of x[0], x[apart], .. are 0 before the first that is not: matrices of contacts have bands. */
static int zerosBefore(int count, const spragFine *x, size_t apart)
{
    int m = 0;
    while (m < count && x[(size_t)m * apart] == 0)
        ++m;
    return m;
}

/* x_i -= sum of a_m b_im, m < count, of so many x at once.  From one to the next: of x, of a in m, of b in m, of b in
 * i. */
typedef struct Strides {
    size_t x, a, b, across;
} Strides;

static inline void reduceAbreast(int count, spragFine *x, const spragFine *a, const spragFine *b, Strides next)
{
    spragFine x0 = x[0], x1 = x[next.x], x2 = x[2 * next.x], x3 = x[3 * next.x];
    for (int m = 0; m < count; ++m, a += next.a, b += next.b) {
        x0 -= *a * b[0];
        x1 -= *a * b[next.across];
        x2 -= *a * b[2 * next.across];
        x3 -= *a * b[3 * next.across];
    }
    x[0] = x0, x[next.x] = x1, x[2 * next.x] = x2, x[3 * next.x] = x3;
}

static inline void reduce(int many, int count, spragFine *x, const spragFine *a, const spragFine *b, Strides next)
{
    const int zeros = zerosBefore(count, a, next.a);
    a += (size_t)zeros * next.a, b += (size_t)zeros * next.b, count -= zeros;
    for (; many >= ABREAST; many -= ABREAST, x += ABREAST * next.x, b += ABREAST * next.across)
        reduceAbreast(count, x, a, b, next);
    for (; many > 0; --many, x += next.x, b += next.across) {
        spragFine sum = *x;
        for (int m = 0; m < count; ++m)
            sum -= a[(size_t)m * next.a] * b[(size_t)m * next.b];
        *x = sum;
    }
}

int spragFineFactor(int n, spragFine *A, int *pivot)
{
    const size_t row = (size_t)n;
    int sign = 1;
    for (int k = 0; k < n; ++k) {
        spragFine *const row_k = A + (size_t)k * row, *const column_k = A + k;
        reduce(n - k, k, row_k + k, column_k, row_k, (Strides){.x = row, .a = row, .b = 1, .across = row});
        int best = k;
        for (int i = k + 1; i < n; ++i)
            if (fabsl(column_k[(size_t)i * row]) > fabsl(column_k[(size_t)best * row]))
                best = i;
        pivot[k] = best;
        for (int j = 0; j < n && best != k; ++j)
            swap(&row_k[j], &A[(size_t)best * row + (size_t)j]);
        if (row_k[k] == 0)
            return 0;
        sign = (row_k[k] < 0) != (best != k) ? -sign : sign;
        const spragFine inverse = 1 / row_k[k];
        for (int i = k + 1; i < n; ++i)
            column_k[(size_t)i * row] *= inverse;
        reduce(n - k - 1, k, row_k + k + 1, row_k, column_k + 1, (Strides){.x = 1, .a = 1, .b = row, .across = 1});
    }
    return sign;
}

void spragFineSolve(int n, const spragFine *A, const int *pivot, spragFine *x)
{
    for (int k = 0; k < n; ++k)
        if (pivot[k] != k)
            swap(&x[k], &x[pivot[k]]);
    for (int i = 1; i < n; ++i) {
        spragFine sum = x[i];
        for (int j = 0; j < i; ++j)
            sum -= A[(size_t)i * (size_t)n + (size_t)j] * x[j];
        x[i] = sum;
    }
    for (int i = n - 1; i >= 0; --i) {
        spragFine sum = x[i];
        for (int j = i + 1; j < n; ++j)
            sum -= A[(size_t)i * (size_t)n + (size_t)j] * x[j];
        x[i] = sum / A[(size_t)i * (size_t)n + (size_t)i];
    }
}
