#include "solve/glue/glue_coarse.h"

#include <string.h>

#include "linalg/ldlt.h"
#include "linalg/vec3.h"

enum { MODES = 7 }; /* translations, turns, growth */

/* ---------------------------------------------------------------- parts */

int spragGlueSides(const spragGlueHeap *heap, int **first, int **list, spragArena *arena)
{
    const int bodies = heap->bodies, contacts = heap->contacts;
    const spragGlueContact *contact = heap->contact;
    int *at = *first = SPRAG_TAKE(arena, int, bodies + 3);
    *list = SPRAG_TAKE_RAW(arena, int, 2 * (size_t)contacts);
    if (at == NULL || *list == NULL)
        return 0;
    for (int s = 0; s < 2 * contacts; ++s)
        ++at[contact[s / 2].body[s % 2] + 2];
    for (int i = 2; i <= bodies + 2; ++i)
        at[i] += at[i - 1];
    for (int s = 0; s < 2 * contacts; ++s)
        (*list)[at[contact[s / 2].body[s % 2] + 1]++] = s;
    return 1;
}

/* place := relative to the first body that is found of each connected heap, from contact to contact.  0: no memory. */
static int findPlaces(spragGlueCoarse *coarse, spragArena *arena)
{
    const int n = coarse->heap->bodies;
    int *first, *list, *queue = SPRAG_TAKE_RAW(arena, int, n + 1);
    unsigned char *seen = SPRAG_TAKE(arena, unsigned char, n + 1);
    if (!spragGlueSides(coarse->heap, &first, &list, arena) || queue == NULL || seen == NULL)
        return 0;
    seen[n] = 1; /* the world */
    for (int root = 0; root < n; ++root) {
        int end = 0;
        if (!seen[root])
            queue[end++] = root, seen[root] = 1;
        for (int head = 0; head < end; ++head) {
            const int a = queue[head];
            for (int l = first[a]; l < first[a + 1]; ++l) {
                const spragGlueContact *by = &coarse->heap->contact[list[l] / 2];
                const int side = list[l] % 2, b = by->body[1 - side];
                for (int i = 0; i < 3 && !seen[b]; ++i)
                    coarse->place[b][i] = coarse->place[a][i] + by->arm[side][i] - by->arm[1 - side][i];
                if (!seen[b])
                    queue[end++] = b, seen[b] = 1;
            }
        }
    }
    return 1;
}

/* Around bodies each of which is farthest from all before.  0: no memory. */
static int cut(spragGlueCoarse *coarse, int parts, spragArena *arena)
{
    const int n = coarse->heap->bodies;
    const spragMass *mass = coarse->heap->mass;
    double *distance = SPRAG_TAKE_RAW(arena, double, n),
           (*center)[4] = spragArenaTake(arena, (size_t)parts, sizeof *center);
    if (distance == NULL || center == NULL)
        return 0;
    for (int part = 0, seed = 0; part < parts; ++part) {
        int next = seed;
        for (int i = 0; i < n; ++i) {
            const double square = spragDistanceSquared3(coarse->place[i], coarse->place[seed]);
            if (part == 0 || square < distance[i])
                distance[i] = square, coarse->part[i] = MODES * part;
            next = distance[i] > distance[next] ? i : next;
        }
        seed = next;
    }
    for (int i = 0; i < n; ++i) {
        double *c = center[coarse->part[i] / MODES];
        for (int j = 0; j < 3; ++j)
            c[j] += mass[i].mass * coarse->place[i][j];
        c[3] += mass[i].mass;
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < 3; ++j)
            coarse->place[i][j] -= center[coarse->part[i] / MODES][j] / center[coarse->part[i] / MODES][3];
    return 1;
}

int spragGlueCoarseInit(spragGlueCoarse *coarse, const spragGlueHeap *heap, int parts, spragArena *arena)
{
    const int bodies = heap->bodies, most = parts < bodies ? parts : bodies;
    const size_t size = (size_t)(MODES * most);
    *coarse = (spragGlueCoarse){.heap = heap,
                                .size = (int)size,
                                .part = SPRAG_TAKE(arena, int, bodies),
                                .place = spragArenaTake(arena, (size_t)bodies + 1, sizeof *coarse->place),
                                .matrix = SPRAG_TAKE(arena, double, size *size),
                                .pivot = SPRAG_TAKE(arena, double, size),
                                .y = SPRAG_TAKE(arena, double, size),
                                .first = SPRAG_TAKE(arena, int, size)};
    if (coarse->part == NULL || coarse->place == NULL || coarse->matrix == NULL || coarse->pivot == NULL ||
        coarse->y == NULL || coarse->first == NULL)
        return 0;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const int done = findPlaces(coarse, arena) && cut(coarse, most, arena);
    spragArenaRelease(arena, mark);
    return done;
}

/* ---------------------------------------------------------------- Z */

/* y += Z_i^T x */
static void gather(const spragGlueCoarse *coarse, int i, const double x[6], double *y)
{
    const double *p = coarse->place[i];
    double turn[3];
    spragCross3(turn, p, x);
    for (int j = 0; j < 3; ++j)
        y[j] += x[j], y[3 + j] += turn[j] + x[3 + j];
    y[6] += spragDot3(p, x);
}

/* x += Z_i y */
static void spread(const spragGlueCoarse *coarse, int i, const double *y, double x[6])
{
    const double *p = coarse->place[i];
    double turn[3];
    spragCross3(turn, y + 3, p);
    for (int j = 0; j < 3; ++j)
        x[j] += y[j] + turn[j] + y[6] * p[j], x[3 + j] += y[3 + j];
}

/* ---------------------------------------------------------------- Z^T A Z */

static void addBody(spragGlueCoarse *coarse, int i)
{
    const spragMass *mass = &coarse->heap->mass[i];
    const size_t n = (size_t)coarse->size, from = (size_t)coarse->part[i];
    for (int m = 0; m < MODES; ++m) {
        double y[MODES] = {0}, x[6] = {0}, p[6], column[MODES] = {0};
        y[m] = 1;
        spread(coarse, i, y, x);
        for (int j = 0; j < 3; ++j)
            p[j] = mass->mass * x[j];
        spragMul33(p + 3, mass->inertia, x + 3);
        gather(coarse, i, p, column);
        for (size_t l = 0; l < MODES; ++l)
            coarse->matrix[(from + l) * n + from + (size_t)m] += column[l];
    }
}

/* row (2 x 7) += of both parts, direction . J Z */
static void rowOf(const spragGlueCoarse *coarse, const spragGlueContact *contact, const double direction[3],
                  double row[2][MODES])
{
    for (int side = 0; side < 2; ++side) {
        double x[6];
        for (int i = 0; i < 3; ++i)
            x[i] = side == 0 ? direction[i] : -direction[i];
        spragCross3(x + 3, contact->arm[side], x);
        if (contact->body[side] < coarse->heap->bodies)
            gather(coarse, contact->body[side], x, row[side]);
    }
}

/* Within one part a contact feels growth alone. */
static void addInside(spragGlueCoarse *coarse, const spragGlueContact *contact, double normal)
{
    const size_t n = (size_t)coarse->size, at = (size_t)coarse->part[contact->body[0]] + MODES - 1;
    double apart[3];
    for (int i = 0; i < 3; ++i)
        apart[i] = contact->arm[1][i] - contact->arm[0][i];
    const double along = spragDot3(contact->n, apart), square = spragDot3(apart, apart);
    coarse->matrix[at * n + at] += contact->tangential * (square - along * along) + normal * along * along;
}

static void addBetween(spragGlueCoarse *coarse, const spragGlueContact *contact, double normal)
{
    const size_t n = (size_t)coarse->size;
    double row[3][2][MODES] = {{{0}}}, N[2][MODES] = {{0}};
    for (int i = 0; i < 3; ++i)
        rowOf(coarse, contact, (double[3]){i == 0, i == 1, i == 2}, row[i]);
    for (int side = 0; side < 2; ++side)
        for (int m = 0; m < MODES; ++m)
            for (int i = 0; i < 3; ++i)
                N[side][m] += contact->n[i] * row[i][side][m];
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) {
            if (contact->body[a] == coarse->heap->bodies || contact->body[b] == coarse->heap->bodies)
                continue;
            double *block =
                coarse->matrix + (size_t)coarse->part[contact->body[a]] * n + (size_t)coarse->part[contact->body[b]];
            for (int m = 0; m < MODES; ++m)
                for (int l = 0; l < MODES; ++l)
                    block[(size_t)m * n + (size_t)l] +=
                        contact->tangential *
                            (row[0][a][m] * row[0][b][l] + row[1][a][m] * row[1][b][l] + row[2][a][m] * row[2][b][l]) +
                        (normal - contact->tangential) * N[a][m] * N[b][l];
        }
}

void spragGlueCoarseFactor(spragGlueCoarse *coarse)
{
    const spragGlueHeap *heap = coarse->heap;
    const int bodies = heap->bodies;
    memset(coarse->matrix, 0, (size_t)coarse->size * (size_t)coarse->size * sizeof *coarse->matrix);
    for (int i = 0; i < bodies; ++i)
        addBody(coarse, i);
    for (int k = 0; k < heap->contacts; ++k) {
        const spragGlueContact *contact = &heap->contact[k];
        const int a = contact->body[0], b = contact->body[1];
        const double normal = heap->pressed[k] ? contact->normal : 0;
        if (a < bodies && b < bodies && coarse->part[a] == coarse->part[b])
            addInside(coarse, contact, normal);
        else
            addBetween(coarse, contact, normal);
    }
    spragLdltFactor(coarse->size, coarse->first, coarse->matrix, coarse->pivot);
}

void spragGlueCoarseAdd(const spragGlueCoarse *coarse, const spragTwist *x, spragTwist *out)
{
    double *y = coarse->y;
    memset(y, 0, (size_t)coarse->size * sizeof *y);
    for (int i = 0; i < coarse->heap->bodies; ++i)
        gather(coarse, i, x[i].at, y + coarse->part[i]);
    spragLdltForward(coarse->size, coarse->first, coarse->matrix, 1, 0, y);
    for (int i = 0; i < coarse->size; ++i)
        y[i] *= coarse->pivot[i];
    spragLdltBackward(coarse->size, coarse->first, coarse->matrix, y);
    for (int i = 0; i < coarse->heap->bodies; ++i)
        spread(coarse, i, y + coarse->part[i], out[i].at);
}
