/* W = H' M^-1 H and q = H' M^-1 f + w.
 *
 * Of a symmetric M LMGC90 writes the upper triangle alone: where nothing is below the diagonal, or nothing above it, M
 * is its own mirror image.
 *
 * M couples the unknowns of one body only: it is factored part by part, a part being a set of unknowns that M connects
 * (union and find, Tarjan 1975).  A part adds H_P' M_P^-1 H_P to the contact rows that H ties to it. */
#include "problem/problem_global.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/status.h"
#include "linalg/lu.h"

enum { PART_MOST = 8192 }; /* unknowns: a dense matrix of half a gigabyte */
#define ZERO_PIVOT 1e-14   /* after equilibration: masses and inertias have other units */

/* Entries by rows: those of row i are order[start[i]] ... order[start[i + 1] - 1]. */
typedef struct Rows {
    int *start, *order;
} Rows;

typedef struct Elimination {
    spragGlobal *global;
    const char *path;
    spragArena arena;
    Rows M, H;
    int *part, *next;   /* (n) first unknown of its part; the next unknown of the same part, or -1 */
    int *member;        /* (n) unknowns of the present part */
    int *place;         /* (n) of an unknown in its part */
    int *column, *seen; /* (m) contact rows tied to the present part; place of a row among them, or -1 */
} Elimination;

static int rowsInit(Rows *rows, int count, const spragEntries *entries, spragArena *arena)
{
    rows->start = SPRAG_TAKE(arena, int, (size_t)count + 2);
    rows->order = SPRAG_TAKE(arena, int, entries->count + 1);
    if (rows->start == NULL || rows->order == NULL)
        return 0;
    for (size_t e = 0; e < entries->count; ++e)
        ++rows->start[entries->row[e] + 2];
    for (int i = 0; i < count; ++i)
        rows->start[i + 2] += rows->start[i + 1];
    for (size_t e = 0; e < entries->count; ++e)
        rows->order[rows->start[entries->row[e] + 1]++] = (int)e;
    return 1;
}

/* M of which one triangle alone is given becomes whole.  0: out of memory. */
static int mirror(spragEntries *M)
{
    size_t above = 0, below = 0;
    for (size_t e = 0; e < M->count; ++e) {
        above += M->row[e] < M->column[e] && M->value[e] != 0;
        below += M->row[e] > M->column[e] && M->value[e] != 0;
    }
    if ((above == 0) == (below == 0))
        return 1;
    const size_t given = M->count;
    for (size_t e = 0; e < given; ++e)
        if (M->row[e] != M->column[e] && !spragEntriesAdd(M, M->column[e], M->row[e], M->value[e]))
            return 0;
    return 1;
}

static int rootOf(int *part, int i)
{
    while (part[i] != i)
        i = part[i] = part[part[i]];
    return i;
}

static void findParts(Elimination *s)
{
    const spragEntries *M = &s->global->M;
    int *const last = s->member; /* last unknown so far of a part */
    for (int i = 0; i < s->global->n; ++i)
        s->part[i] = i;
    for (size_t e = 0; e < M->count; ++e) {
        const int a = rootOf(s->part, M->row[e]), b = rootOf(s->part, M->column[e]);
        s->part[a > b ? a : b] = a > b ? b : a;
    }
    for (int i = 0; i < s->global->n; ++i) {
        s->part[i] = rootOf(s->part, i);
        s->next[i] = -1;
        if (s->part[i] != i)
            s->next[last[s->part[i]]] = i;
        last[s->part[i]] = i;
    }
}

static int begin(Elimination *s, spragGlobal *global, const char *path)
{
    const size_t n = (size_t)global->n, m = (size_t)global->m;
    *s = (Elimination){.global = global, .path = path};
    int **const array[] = {&s->part, &s->next, &s->member, &s->place, &s->column, &s->seen};
    for (size_t k = 0; k < sizeof array / sizeof *array; ++k)
        if ((*array[k] = SPRAG_TAKE(&s->arena, int, k < 4 ? n : m)) == NULL)
            return 0;
    global->q = spragAlloc(m, sizeof *global->q);
    if (global->q == NULL || !mirror(&global->M) || !rowsInit(&s->M, global->n, &global->M, &s->arena) ||
        !rowsInit(&s->H, global->n, &global->H, &s->arena))
        return 0;
    for (size_t c = 0; c < m; ++c)
        global->q[c] = global->w[c], s->seen[c] = -1;
    findParts(s);
    return 1;
}

/* Lists the contact rows tied to the part's `size` members; returns how many. */
static int tiedRows(Elimination *s, int size)
{
    int tied = 0;
    for (int a = 0; a < size; ++a)
        for (int e = s->H.start[s->member[a]]; e < s->H.start[s->member[a] + 1]; ++e) {
            const int c = s->global->H.column[s->H.order[e]];
            if (s->seen[c] < 0) {
                s->seen[c] = tied;
                s->column[tied++] = c;
            }
        }
    return tied;
}

/* M (size x size) and H' (tied x size) of the part. */
static void gather(const Elimination *s, size_t size, double *M, double *H)
{
    const spragGlobal *g = s->global;
    for (size_t a = 0; a < size; ++a) {
        const int i = s->member[a];
        for (int k = s->M.start[i]; k < s->M.start[i + 1]; ++k) {
            const int e = s->M.order[k];
            M[a * size + (size_t)s->place[g->M.column[e]]] += g->M.value[e];
        }
        for (int k = s->H.start[i]; k < s->H.start[i + 1]; ++k) {
            const int e = s->H.order[k];
            H[(size_t)s->seen[g->H.column[e]] * size + a] += g->H.value[e];
        }
    }
}

static int isSymmetric(size_t n, const double *M)
{
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < i; ++j)
            if (M[i * n + j] != M[j * n + i])
                return 0;
    return 1;
}

/* W_dc += value; and its mirror image, bit by bit, if M is symmetric. */
static int addEntry(Elimination *s, int d, int c, int mirrored, double value)
{
    spragEntries *W = &s->global->W;
    return spragEntriesAdd(W, s->column[d], s->column[c], value) &&
           (!mirrored || d == c || spragEntriesAdd(W, s->column[c], s->column[d], value));
}

static spragStatus outOfMemory(const Elimination *s)
{
    return spragFail(SPRAG_ERROR_MEMORY, "%s: out of memory", s->path);
}

static spragStatus addPart(Elimination *s, int size, int tied)
{
    spragGlobal *g = s->global;
    const size_t n = (size_t)size;
    double *M = SPRAG_TAKE(&s->arena, double, n *n), *H = SPRAG_TAKE(&s->arena, double, (size_t)tied *n);
    double *x = SPRAG_TAKE(&s->arena, double, n), *row = SPRAG_TAKE(&s->arena, double, n),
           *column = SPRAG_TAKE(&s->arena, double, n);
    int *pivot = SPRAG_TAKE(&s->arena, int, n);
    if (M == NULL || H == NULL || x == NULL || row == NULL || column == NULL || pivot == NULL)
        return outOfMemory(s);
    gather(s, n, M, H);
    const int symmetric = isSymmetric(n, M);
    spragLuEquilibrate(size, M, row, column);
    if (spragLuFactor(size, M, pivot, ZERO_PIVOT) < size)
        return spragFail(SPRAG_ERROR_INDEFINITE, "%s: matrix M: singular at unknown %d", s->path, s->member[0]);
    for (int c = -1; c < tied; ++c) { /* -1: f */
        for (size_t a = 0; a < n; ++a)
            x[a] = c < 0 ? g->f[s->member[a]] : H[(size_t)c * n + a];
        spragLuSolveScaled(size, M, pivot, row, column, x);
        for (int d = symmetric && c > 0 ? c : 0; d < tied; ++d) {
            double sum = 0;
            for (size_t a = 0; a < n; ++a)
                sum += H[(size_t)d * n + a] * x[a];
            if (c < 0)
                g->q[s->column[d]] += sum;
            else if (!addEntry(s, d, c, symmetric, sum))
                return outOfMemory(s);
        }
    }
    return SPRAG_OK;
}

static spragStatus eliminatePart(Elimination *s, int first)
{
    int size = 0;
    for (int i = first; i >= 0; i = s->next[i]) {
        s->place[i] = size;
        s->member[size++] = i;
    }
    const int tied = tiedRows(s, size);
    if (tied == 0)
        return SPRAG_OK;
    if (size > PART_MOST)
        return spragFail(SPRAG_ERROR_UNSUPPORTED, "%s: matrix M: connects %d unknowns, at most %d", s->path, size,
                         PART_MOST);
    const spragArenaMark mark = spragArenaMarkGet(&s->arena);
    const spragStatus status = addPart(s, size, tied);
    spragArenaRelease(&s->arena, mark);
    for (int c = 0; c < tied; ++c)
        s->seen[s->column[c]] = -1;
    return status;
}

spragStatus spragGlobalEliminate(spragGlobal *global, const char *path)
{
    Elimination s;
    spragStatus status = begin(&s, global, path) ? SPRAG_OK : outOfMemory(&s);
    for (int first = 0; status == SPRAG_OK && first < global->n; ++first)
        if (s.part[first] == first)
            status = eliminatePart(&s, first);
    spragArenaFree(&s.arena);
    return status;
}

void spragGlobalFree(spragGlobal *global)
{
    spragEntriesFree(&global->M);
    spragEntriesFree(&global->H);
    spragEntriesFree(&global->W);
    spragFree(global->f);
    spragFree(global->w);
    spragFree(global->q);
    *global = (spragGlobal){0};
}
