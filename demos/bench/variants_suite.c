/* `sprag-bench variants`: the search for the variant of m two-sided contacts, from any variant and from the right one,
 * against a factorisation of the same size by ODE, and against the enumeration of all variants.
 *
 * Systems: D0+ the identity and a random part, D0- = -D0+, friction added to both sides; "cycling": blocks of three
 * pairs in which simultaneous flips return for ever (docs/theory.md 3), weakly coupled. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ode/ode.h>

#include "bench/json.h"
#include "bench/suite.h"
#include "scenes/scene.h"

enum { MOST = 20, SYSTEMS = 400, STRIDE = 2 * MOST };

static const int size[] = {3, 6, 10, 16, 20};
static const char *const kind_name[] = {"friction 0.1", "friction 0.3", "cycling"};
enum { SIZES = sizeof size / sizeof *size, KINDS = sizeof kind_name / sizeof *kind_name };

typedef struct System {
    int m;
    double D[STRIDE * MOST], D0[STRIDE * MOST], b[MOST]; /* m x 2m, row-major */
    int start[MOST];
} System;

/* Microseconds, medians and the worst, over all systems of a row. */
typedef struct Row {
    int solved;
    double cold[SYSTEMS], warm[SYSTEMS], peer[SYSTEMS], all[SYSTEMS];
} Row;

static unsigned long long seed;

/* In -1 .. 1. */
static double uniform(void)
{
    return 2 * SceneDraw(&seed) - 1;
}

static void randomSystem(System *s, int m, int kind)
{
    const double friction[] = {0.1, 0.3, 0.1}, spread = 2 / sqrt(m);
    s->m = m;
    for (int r = 0; r < m; ++r) {
        s->b[r] = kind == 2 ? 1 : uniform();
        s->start[r] = uniform() < 0 ? -1 : 1;
        for (int k = 0; k < m; ++k) {
            const double normal = (r == k) + (kind == 2 ? 0 : 0.3 * spread * uniform());
            s->D0[2 * m * r + k] = normal, s->D0[2 * m * r + m + k] = -normal;
            s->D[2 * m * r + k] = normal + friction[kind] * spread * uniform() * (kind == 2 ? 0.3 : 1);
            s->D[2 * m * r + m + k] = -normal + friction[kind] * spread * uniform() * (kind == 2 ? 0.3 : 1);
        }
    }
    for (int k = 0; k < m - m % 3 && kind == 2; ++k) {
        const int next = k - k % 3 + (k + 1) % 3;
        s->D[2 * m * next + m + k] -= 1.5;
    }
}

/* ODE's factorisation of a symmetric matrix of the size, and one solution: half the work of an LU. */
static double peerTime(const System *s)
{
    static dReal L[MOST * (MOST + 4)], d[MOST], x[MOST];
    const int m = s->m, skip = (m + 3) / 4 * 4;
    memset(L, 0, sizeof L);
    for (int r = 0; r < m; ++r) {
        x[r] = (dReal)s->b[r];
        for (int k = 0; k < m; ++k)
            for (int q = 0; q < m; ++q)
                L[skip * r + k] += (dReal)(s->D0[2 * m * q + r] * s->D0[2 * m * q + k]);
    }
    const double begin = benchSeconds();
    dFactorLDLT(L, d, m, skip);
    dSolveLDLT(L, d, x, m, skip);
    return 1e6 * (benchSeconds() - begin);
}

static double searchTime(const System *s, const int *start, spragVariantResult *result)
{
    const double begin = benchSeconds();
    spragVariantSolve(s->m, s->D, s->D0, s->b, start, result);
    return 1e6 * (benchSeconds() - begin);
}

static void measure(const System *s, Row *row)
{
    spragVariantResult found, again;
    int right[MOST];
    double cold = INFINITY, warm = INFINITY, peer = INFINITY, all = NAN;
    for (int k = 0; k < BENCH_REPEATS; ++k)
        cold = fmin(cold, searchTime(s, s->start, &found));
    if (!found.realised)
        return;
    for (int k = 0; k < s->m; ++k)
        right[k] = found.variant[k];
    for (int k = 0; k < BENCH_REPEATS; ++k) {
        warm = fmin(warm, searchTime(s, right, &again));
        peer = fmin(peer, peerTime(s));
    }
    if (s->m <= 10) {
        spragVariantSet set;
        const double begin = benchSeconds();
        if (spragVariantEnumerate(s->m, s->D, s->D0, s->b, &set) == SPRAG_OK)
            spragVariantSetFree(&set);
        all = 1e6 * (benchSeconds() - begin);
    }
    const int n = row->solved++;
    row->cold[n] = cold, row->warm[n] = warm, row->peer[n] = peer, row->all[n] = all;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void printRow(const Row *row, int m, int kind, FILE *json, int first)
{
    const int n = row->solved;
    const double cold = row->cold[n / 2], warm = row->warm[n / 2], peer = row->peer[n / 2], all = row->all[n / 2];
    printf("| %d | %s | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f |", m, kind_name[kind], n, cold,
           row->cold[n - 1], warm, row->warm[n - 1], peer, cold / peer, warm / peer);
    printf(isfinite(all) ? " %.0f |\n" : " |\n", all / cold);
    fflush(stdout);
    if (json == NULL)
        return;
    fprintf(json,
            "%s\n {\"m\":%d,\"systems\":\"%s\",\"solved\":%d,\"cold_us\":%.4g,\"cold_worst_us\":%.4g,"
            "\"warm_us\":%.4g,\"warm_worst_us\":%.4g,\"peer_us\":%.4g,\"enumeration_us\":",
            first ? "" : ",", m, kind_name[kind], n, cold, row->cold[n - 1], warm, row->warm[n - 1], peer);
    jsonWriteNumber(json, all);
    fprintf(json, "}");
}

static int run(int count, char **argument)
{
    const char *path = NULL;
    for (int i = 0; i < count; i += 2) {
        if (strcmp(argument[i], "--json") != 0) {
            fprintf(stderr, "sprag-bench variants: no option %s; there is --json\n", argument[i]);
            return 2;
        }
        if (i + 1 == count) {
            fprintf(stderr, "sprag-bench variants: --json needs a value\n");
            return 2;
        }
        path = argument[i + 1];
    }
    Output json = {0};
    if (benchOpen(&json, "variants", path) != 0)
        return 2;
    jsonBegin(json.file, "variants");
    if (json.file != NULL)
        fprintf(json.file, ",\"results\":[");
    printf("Search for the variant of m pairs, microseconds, median and worst of %d systems; "
           "cold: from any variant, warm: from the right one.\n"
           "Peer: one factorisation of that size by ODE (dFactorLDLT, dSolveLDLT; half the work of an LU).\n\n"
           "| m | systems | solved | cold | worst | warm | worst | peer | cold / peer | warm / peer "
           "| enumeration / cold |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
           SYSTEMS);
    static Row row;
    static System system;
    seed = 20;
    for (int k = 0; k < SIZES; ++k)
        for (int kind = 0; kind < KINDS; ++kind) {
            row.solved = 0;
            for (int i = 0; i < SYSTEMS; ++i) {
                randomSystem(&system, size[k], kind);
                measure(&system, &row);
            }
            double *const column[] = {row.cold, row.warm, row.peer, row.all};
            for (int c = 0; c < 4; ++c)
                qsort(column[c], (size_t)row.solved, sizeof(double), ascending);
            if (row.solved > 0)
                printRow(&row, size[k], kind, json.file, k + kind == 0);
        }
    if (json.file != NULL)
        fprintf(json.file, "\n]}\n");
    return benchClose(&json, "variants", 1);
}

const BenchSuite bench_variants = {"variants",
                                   "[--json FILE]: the search for the variant of up to 20 two-sided contacts", run};
