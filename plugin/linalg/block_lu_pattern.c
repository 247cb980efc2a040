/* The pattern of the factors, as a memory of the last one may know it: the order of elimination, its tree, and the
 * columns of every row (Davis 2006, chapter 4). */
#include "linalg/block_lu.h"

#include <amd.h>
#include <string.h>

#include "base/alloc.h"

#define BODY_PRODUCT 8 /* a product of 6x6 blocks takes the time of so many of 3x3 */

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

/* The leader that row i is eliminated with; -1: none, it comes after all. */
static int leaderOf(const spragBlockLu *lu, int i)
{
    return i < lu->leaders ? i : lu->after[i - lu->leaders];
}

/* Those that follow come in, each behind its leader.  follower (leaders): its row, or -1; led: room for as many. */
static void letFollow(spragBlockLu *lu, const int *follower, int *led)
{
    int count = 0;
    memcpy(led, lu->order, (size_t)lu->leaders * sizeof *led);
    for (int i = 0; i < lu->leaders; ++i) {
        lu->order[count++] = led[i];
        if (follower[led[i]] >= 0)
            lu->order[count++] = follower[led[i]];
    }
    for (int i = lu->leaders; i < lu->n; ++i)
        if (leaderOf(lu, i) < 0)
            lu->order[count++] = i;
}

/* Approximate minimum degree of the symmetric pattern, in the arena's memory (amd_2 of SuiteSparse; its public
 * amd_order would call malloc).  What follows counts as one with its leader. */
static int leastDegreeOrder(spragBlockLu *lu, spragArena *arena)
{
    const int n = lu->leaders, blocks = lu->row_start[lu->n];
    const int room = blocks + blocks / 5 + n + 1;
    double info[AMD_INFO];
    int *start = SPRAG_TAKE(arena, int, n), *length = SPRAG_TAKE(arena, int, n), *work = SPRAG_TAKE(arena, int, room);
    int *scratch = SPRAG_TAKE(arena, int, 6 * (size_t)n), *follower = SPRAG_TAKE_RAW(arena, int, 2 * (size_t)n);
    if (start == NULL || length == NULL || work == NULL || scratch == NULL || follower == NULL)
        return 0;
    int used = 0, *seen = follower + n;
    for (int i = 0; i < n; ++i)
        follower[i] = seen[i] = -1;
    for (int i = n; i < lu->n; ++i)
        if (leaderOf(lu, i) >= 0)
            follower[leaderOf(lu, i)] = i;
    for (int i = 0; i < n; ++i) {
        start[i] = used;
        seen[i] = i;
        for (int row = i; row >= 0; row = row == i ? follower[i] : -1)
            for (int e = lu->row_start[row]; e < lu->row_start[row + 1]; ++e) {
                const int other = leaderOf(lu, lu->column[e]);
                if (other < 0 || seen[other] == i)
                    continue;
                seen[other] = i;
                work[used++] = other;
            }
        length[i] = used - start[i];
    }
    amd_2(n, start, work, length, room, used, scratch, lu->position, lu->order, scratch + n, scratch + 2 * n,
          scratch + 3 * n, scratch + 4 * n, NULL, info);
    if (n < lu->n)
        letFollow(lu, follower, seen);
    return 1;
}

/* All but the factors' own.  0: no memory. */
static int begin(spragBlockLu *lu, const spragBlockPattern *A, spragArena *arena)
{
    const int n = A->n;
    const size_t b = (size_t)A->size, padded = b * (size_t)spragBlockLuStride(A->size);
    *lu = (spragBlockLu){.n = n,
                         .size = A->size,
                         .padded = (int)padded,
                         .row_start = A->row_start,
                         .column = A->column,
                         .leaders = n,
                         .order = SPRAG_TAKE_RAW(arena, int, n),
                         .position = SPRAG_TAKE_RAW(arena, int, n),
                         .u_start = SPRAG_TAKE(arena, int, n + 1),
                         .l_start = SPRAG_TAKE(arena, int, n + 1),
                         .inverse = SPRAG_TAKE_RAW(arena, double, b *b *(size_t)n),
                         .bare = SPRAG_TAKE(arena, unsigned char, n),
                         .work = SPRAG_TAKE(arena, double, padded *(size_t)n),
                         .solution = SPRAG_TAKE(arena, double, 4 + padded / b * (size_t)n)};
    if (lu->solution != NULL)
        lu->solution += 4; /* reads begin before it */
    return lu->order != NULL && lu->position != NULL && lu->u_start != NULL && lu->l_start != NULL &&
           lu->bare != NULL && lu->inverse != NULL && lu->work != NULL && lu->solution != NULL;
}

static int takeFactors(spragBlockLu *lu, size_t fill, spragArena *arena)
{
    lu->l_column = SPRAG_TAKE_RAW(arena, int, fill + 1);
    lu->u_column = SPRAG_TAKE_RAW(arena, int, fill + 1);
    const int ever_bare = lu->size == 3 && !lu->symmetric;
    lu->room = ever_bare ? SPRAG_TAKE_RAW(arena, int, 2 * (fill + (size_t)lu->n) + 1) : NULL;
    lu->L = lu->symmetric ? NULL : SPRAG_TAKE_RAW(arena, double, (size_t)(lu->size * lu->size) * fill + 1);
    lu->U = SPRAG_TAKE_RAW(arena, double, (size_t)lu->padded *fill + 1);
    return lu->l_column != NULL && lu->u_column != NULL && (lu->symmetric || lu->L != NULL) &&
           (!ever_bare || lu->room != NULL) && lu->U != NULL;
}

static int analyse(spragBlockLu *lu, double products_most, spragArena *arena)
{
    const int n = lu->n;
    int *parent = SPRAG_TAKE(arena, int, n), *mark = SPRAG_TAKE(arena, int, n), *stack = SPRAG_TAKE(arena, int, n);
    if (parent == NULL || mark == NULL || stack == NULL || !leastDegreeOrder(lu, arena))
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
    for (int i = 0; i < n; ++i) { /* row k of U meets every row of L that holds k: its own pattern mirrored */
        const double row = lu->u_start[i + 1] - lu->u_start[i];
        lu->products += (lu->symmetric ? row * (row + 1) / 2 : row * row) * (lu->size == 6 ? BODY_PRODUCT : 1);
    }
    if (lu->products > products_most)
        return -1;
    int *used = SPRAG_TAKE(arena, int, n);
    if (used == NULL || !takeFactors(lu, (size_t)lu->l_start[n], arena))
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

int spragBlockLuAnalyse(spragBlockLu *lu, const spragBlockPattern *A, double products_most, spragArena *arena)
{
    return begin(lu, A, arena) ? analyse(lu, products_most, arena) : 0;
}

int spragBlockLuAnalyseSaddle(spragBlockLu *lu, const spragBlockPattern *A, int leaders, const int *after,
                              double products_most, spragArena *arena)
{
    if (!begin(lu, A, arena))
        return 0;
    lu->leaders = leaders, lu->after = after;
    return analyse(lu, products_most, arena);
}

int spragBlockLuAnalyseSymmetric(spragBlockLu *lu, const spragBlockPattern *A, double products_most, spragArena *arena)
{
    if (!begin(lu, A, arena))
        return 0;
    lu->symmetric = 1;
    return analyse(lu, products_most, arena);
}

/* ---------------------------------------------------------------- the same again */

static int isKnown(const spragBlockLuMemo *memo, const spragBlockPattern *A)
{
    return memo->size == A->size && memo->n == A->n && memo->blocks == A->row_start[A->n] &&
           memcmp(memo->number, A->row_start, ((size_t)A->n + 1) * sizeof *A->row_start) == 0 &&
           memcmp(memo->number + A->n + 1, A->column, (size_t)memo->blocks * sizeof *A->column) == 0;
}

/* Copies, and moves *number on. */
static void put(int **number, const int *from, int count)
{
    memcpy(*number, from, (size_t)count * sizeof *from);
    *number += count;
}

static void get(const int **number, int *to, int count)
{
    memcpy(to, *number, (size_t)count * sizeof *to);
    *number += count;
}

/* Without memory nothing is known.  whole: more than the pattern and the price. */
static void keep(spragBlockLuMemo *memo, const spragBlockLu *lu, int whole)
{
    const int n = lu->n, blocks = lu->row_start[n], fill = whole ? lu->l_start[n] : 0;
    memo->size = 0;
    if (!spragGrow((void **)&memo->number, &memo->room, 5 * (size_t)n + 3 + (size_t)blocks + 2 * (size_t)fill,
                   sizeof *memo->number))
        return;
    int *at = memo->number;
    put(&at, lu->row_start, n + 1);
    put(&at, lu->column, blocks);
    if (whole) {
        put(&at, lu->order, n);
        put(&at, lu->position, n);
        put(&at, lu->u_start, n + 1);
        put(&at, lu->l_start, n + 1);
        put(&at, lu->u_column, fill);
        put(&at, lu->l_column, fill);
    }
    memo->size = lu->size, memo->n = n, memo->blocks = blocks, memo->products = lu->products, memo->whole = whole;
    memo->refused = !whole;
}

int spragBlockLuAnalyseAgain(spragBlockLu *lu, spragBlockLuMemo *memo, const spragBlockPattern *A, double products_most,
                             spragArena *arena)
{
    const int n = A->n, known = memo != NULL && isKnown(memo, A);
    if (known) {
        memo->refused = memo->products > products_most;
        if (memo->refused)
            return -1;
    }
    if (!known || !memo->whole) {
        const int found = spragBlockLuAnalyse(lu, A, products_most, arena);
        if (found != 0 && memo != NULL)
            keep(memo, lu, found == 1);
        return found;
    }
    if (!begin(lu, A, arena))
        return 0;
    const int *at = memo->number + n + 1 + memo->blocks;
    get(&at, lu->order, n);
    get(&at, lu->position, n);
    get(&at, lu->u_start, n + 1);
    get(&at, lu->l_start, n + 1);
    lu->products = memo->products;
    const int fill = lu->l_start[n];
    if (!takeFactors(lu, (size_t)fill, arena))
        return 0;
    get(&at, lu->u_column, fill);
    get(&at, lu->l_column, fill);
    return 1;
}

void spragBlockLuMemoFree(spragBlockLuMemo *memo)
{
    spragFree(memo->number);
    *memo = (spragBlockLuMemo){0};
}
