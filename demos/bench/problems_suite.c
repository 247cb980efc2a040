/* Problem files: Sprag's methods and, where installed, Siconos'; same file, same judge, same run.
 *
 * A method counts on a file if spragProblemResidual is at most 1e-8.  Siconos' tolerances are relative, so each of its
 * solvers runs at 1e-6, 1e-8, ... until the judge agrees, and only that run is timed: the cheapest success. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sprag/sprag.h>

#include "bench/json.h"
#include "json_string.h"
#include "bench/profile.h"
#include "bench/suite.h"
#include "decimal.h"
#ifdef SPRAG_BENCH_SICONOS
#include "bench/siconos_peer.h"
#else
enum { SICONOS_PEER_COUNT = 0 };
#endif

enum { OURS = 4, METHODS = OURS + SICONOS_PEER_COUNT, FILE_MAX = 256, PATH_ROOM = 512 };

static const spragSolverKind our_kind[OURS] = {SPRAG_SOLVER_AUTO, SPRAG_SOLVER_VARIANT, SPRAG_SOLVER_GAUSS_SEIDEL,
                                               SPRAG_SOLVER_NEWTON};
enum { VARIANT_CONTACT_MAX = 200 }; /* the mode search is dense: larger files are left out */

static const double judge_tolerance = 1e-8;

typedef struct Options {
    const char *dir, *json, *svg;
    double time_limit; /* s, per method and file */
    int files;
    char path[FILE_MAX][PATH_ROOM];
} Options;

typedef struct Entry {
    double seconds, residual; /* seconds infinite where the judge did not agree; residual NaN where nothing came back */
} Entry;

/* ---------------------------------------------------------------- arguments */

static int isProblemFile(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".txt") == 0 || strcmp(dot, ".dat") == 0 || strcmp(dot, ".hdf5") == 0 ||
                           strcmp(dot, ".h5") == 0);
}

static int comparePaths(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* 0, or 2 and one line on stderr. */
static int addFolder(Options *options, const char *dir, int required)
{
    DIR *folder = opendir(dir);
    if (folder == NULL) {
        if (!required)
            return 0;
        fprintf(stderr, "sprag-bench problems: %s: %s; --dir says where problem files are\n", dir, strerror(errno));
        return 2;
    }
    const int first = options->files;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL && options->files < FILE_MAX;)
        if (isProblemFile(entry->d_name))
            snprintf(options->path[options->files++], PATH_ROOM, "%s/%s", dir, entry->d_name);
    closedir(folder);
    qsort(options->path[first], (size_t)(options->files - first), PATH_ROOM, comparePaths);
    return 0;
}

static int addFile(Options *options, const char *name)
{
    if (options->files == FILE_MAX || strlen(name) >= PATH_ROOM) {
        fprintf(stderr, "sprag-bench: too many files or too long a name: %s\n", name);
        return 2;
    }
    if (access(name, R_OK) != 0) {
        fprintf(stderr, "sprag-bench problems: %s: %s\n", name, strerror(errno));
        return 2;
    }
    snprintf(options->path[options->files++], PATH_ROOM, "%s", name);
    return 0;
}

/* The files of --dir and its folder fclib. */
static int addFolders(Options *options)
{
    char fclib[PATH_ROOM];
    snprintf(fclib, sizeof fclib, "%s/fclib", options->dir);
    if (addFolder(options, options->dir, 1) != 0 || addFolder(options, fclib, 0) != 0)
        return 2;
    if (options->files == 0)
        fprintf(stderr, "sprag-bench: no *.txt, *.dat or *.hdf5 in %s\n", options->dir);
    return options->files == 0 ? 2 : 0;
}

static int setTimeLimit(Options *options, const char *text)
{
    double *limit = &options->time_limit;
    if (decimalParse(text, limit) && *limit > 0 && *limit <= 86400)
        return 0;
    fprintf(stderr, "sprag-bench: --time-limit %s: expected seconds, above 0, up to 86400\n", text);
    return 2;
}

/* value NULL: there is none. */
static int setOption(Options *options, const char *name, const char *value)
{
    const char **text = strcmp(name, "--dir") == 0    ? &options->dir
                        : strcmp(name, "--json") == 0 ? &options->json
                        : strcmp(name, "--svg") == 0  ? &options->svg
                                                      : NULL;
    if (text == NULL && strcmp(name, "--time-limit") != 0) {
        fprintf(stderr, "sprag-bench: no option %s; there are --dir, --json, --svg, --time-limit\n", name);
        return 2;
    }
    if (value == NULL) {
        fprintf(stderr, "sprag-bench: %s needs a value\n", name);
        return 2;
    }
    if (text == NULL)
        return setTimeLimit(options, value);
    *text = value;
    return 0;
}

/* Files where some are named, else all of a folder.  After "--" every word is a file. */
static int parse(Options *options, int count, char **argument)
{
    int named = 0;
    for (int i = 0; i < count; ++i) {
        if (!named && strcmp(argument[i], "--") == 0) {
            named = 1;
            continue;
        }
        const int is_option = !named && strncmp(argument[i], "--", 2) == 0;
        const int refused = is_option ? setOption(options, argument[i], i + 1 < count ? argument[i + 1] : NULL)
                                      : addFile(options, argument[i]);
        if (refused)
            return refused;
        i += is_option;
    }
    return options->files > 0 ? 0 : addFolders(options);
}

/* ---------------------------------------------------------------- runs */

static Entry runOurs(const spragProblem *problem, spragSolverKind kind, double time_limit, double *r)
{
    Entry entry = {INFINITY, NAN};
    if (kind == SPRAG_SOLVER_VARIANT && problem->contact_count > VARIANT_CONTACT_MAX)
        return entry;
    spragSolveOptions options = spragSolveOptionsDefault();
    options.solver = kind, options.tolerance = judge_tolerance, options.time_limit = time_limit;
    double least = INFINITY;
    for (int repeat = 0; repeat < BENCH_REPEATS; ++repeat) {
        spragSolveInfo info;
        memset(r, 0, 3 * (size_t)problem->contact_count * sizeof *r);
        const spragStatus status = spragProblemSolve(problem, &options, r, NULL, &info);
        if (status != SPRAG_OK && status != SPRAG_NOT_CONVERGED && status != SPRAG_LIMIT)
            return entry;
        least = fmin(least, info.seconds);
        if (info.seconds > 0.1)
            break;
    }
    entry.residual = spragProblemResidual(problem, r);
    if (entry.residual <= judge_tolerance)
        entry.seconds = least;
    return entry;
}

#ifdef SPRAG_BENCH_SICONOS
static Entry runPeer(const spragProblem *problem, int peer, double time_limit)
{
    static const double tolerance[] = {1e-6, 1e-8, 1e-10, 1e-12, 1e-14};
    Entry entry = {INFINITY, NAN};
    double left = time_limit;
    for (size_t i = 0; i < sizeof tolerance / sizeof *tolerance && left > 0.01; ++i) {
        const PeerResult result = siconosPeerRun(problem, peer, tolerance[i], left, BENCH_REPEATS);
        if (!result.done)
            return entry;
        entry.residual = result.residual;
        if (result.residual <= judge_tolerance) {
            entry.seconds = result.seconds;
            return entry;
        }
        left -= result.seconds;
    }
    return entry;
}
#endif

static void printEntry(const Entry *entry)
{
    if (isfinite(entry->seconds))
        printf(" %13.3f", 1e3 * entry->seconds);
    else if (isnan(entry->residual))
        printf(" %13s", "-");
    else
        printf("   (%9.1e)", entry->residual);
}

/* Fastest of the peers, infinity if none got there. */
static double fastestPeer(const Entry *entry)
{
    double best = INFINITY;
    for (int m = OURS; m < METHODS; ++m)
        best = fmin(best, entry[m].seconds);
    return best;
}

/* ---------------------------------------------------------------- JSON */

static void writeJson(FILE *out, const Options *options, const char *const *name, const Entry *entry)
{
    jsonBegin(out, "problems");
    fprintf(out, ",\"tolerance\":%g,\"time_limit\":%g,\"results\":[", judge_tolerance, options->time_limit);
    for (int f = 0; f < options->files; ++f)
        for (int m = 0; m < METHODS; ++m) {
            const char *slash = strrchr(options->path[f], '/');
            fprintf(out, "%s\n{\"file\":", f + m > 0 ? "," : "");
            jsonWriteString(out, slash != NULL ? slash + 1 : options->path[f]);
            fprintf(out, ",\"method\":\"%s\",\"seconds\":", name[m]);
            jsonWriteNumber(out, entry[f * METHODS + m].seconds);
            fprintf(out, ",\"residual\":");
            jsonWriteNumber(out, entry[f * METHODS + m].residual);
            fprintf(out, "}");
        }
    fprintf(out, "\n]}\n");
}

/* ---------------------------------------------------------------- the suite */

static int runFile(const char *path, double time_limit, Entry *entry)
{
    spragProblem *problem;
    if (spragProblemRead(path, &problem) != SPRAG_OK) {
        fprintf(stderr, "sprag-bench: %s\n", spragStatusDetail());
        return 2;
    }
    double *r = calloc(3 * (size_t)problem->contact_count + 1, sizeof *r);
    if (r == NULL) {
        fprintf(stderr, "sprag-bench: out of memory\n");
        spragProblemFree(problem);
        return 2;
    }
    const char *slash = strrchr(path, '/');
    printf("%-30.30s %5d", slash != NULL ? slash + 1 : path, problem->contact_count);
    for (int m = 0; m < METHODS; ++m) {
#ifdef SPRAG_BENCH_SICONOS
        entry[m] = m < OURS ? runOurs(problem, our_kind[m], time_limit, r) : runPeer(problem, m - OURS, time_limit);
#else
        entry[m] = runOurs(problem, our_kind[m], time_limit, r);
#endif
        printEntry(&entry[m]);
        fflush(stdout);
    }
    const double peer = fastestPeer(entry);
    if (METHODS > OURS && isfinite(entry[0].seconds) && isfinite(peer))
        printf(" %9.1f\n", peer / entry[0].seconds);
    else
        printf(" %9s\n", METHODS > OURS && isfinite(entry[0].seconds) ? "alone" : "-");
    free(r);
    spragProblemFree(problem);
    return 0;
}

static int summary(const Options *options, const Entry *entry)
{
    double log_sum = 0;
    int compared = 0, solved = 0, slower = 0;
    for (int f = 0; f < options->files; ++f) {
        const Entry *row = entry + f * METHODS;
        const double peer = fastestPeer(row);
        solved += isfinite(row[0].seconds);
        if (isfinite(peer) && isfinite(row[0].seconds)) {
            log_sum += log(peer / fmax(row[0].seconds, 1e-9));
            slower += peer < row[0].seconds;
            ++compared;
        }
    }
    printf("\nauto: %d of %d files to %g", solved, options->files, judge_tolerance);
    if (compared > 0)
        printf("; against the fastest peer on each: geometric mean %.1f times faster, slower on %d of %d",
               exp(log_sum / compared), slower, compared);
    printf("\n");
    return solved == options->files ? 0 : 1;
}

static void printHeader(const char *const *name)
{
    printf("ms, min of %d; in brackets the residual of what did not reach %g; ratio: fastest peer / auto\n",
           BENCH_REPEATS, judge_tolerance);
    printf("%-30s %5s", "file", "nc");
    for (int m = 0; m < METHODS; ++m)
        printf(" %13s", name[m]);
    printf(" %9s\n", "ratio");
}

/* All files, then the profile and the sums; JSON and SVG where their files are open. */
static int runAll(const Options *options, FILE *json, FILE *svg)
{
    const char *name[METHODS];
    for (int m = 0; m < OURS; ++m)
        name[m] = spragSolverName(our_kind[m]);
#ifdef SPRAG_BENCH_SICONOS
    for (int m = OURS; m < METHODS; ++m)
        name[m] = siconos_peer_name[m - OURS];
#endif
    Entry *entry = calloc((size_t)options->files * METHODS, sizeof *entry);
    double *seconds = calloc((size_t)options->files * METHODS, sizeof *seconds);
    int status = 0;
    if (entry == NULL || seconds == NULL) {
        fprintf(stderr, "sprag-bench: out of memory\n");
        status = 2;
    } else {
        printHeader(name);
    }
    for (int f = 0; f < options->files && status == 0; ++f)
        status = runFile(options->path[f], options->time_limit, entry + f * METHODS);
    if (status == 0) {
        for (int i = 0; i < options->files * METHODS; ++i)
            seconds[i] = entry[i].seconds;
        const Profile profile = {METHODS, options->files, name, seconds};
        profilePrint(&profile, stdout);
        if (json != NULL)
            writeJson(json, options, name, entry);
        if (svg != NULL)
            profileWriteSvg(&profile, svg);
        status = summary(options, entry);
    }
    free(entry), free(seconds);
    return status;
}

static int run(int count, char **argument)
{
    static Options options;
    static Output json, svg;
    options = (Options){.dir = "../shared/problems", .time_limit = 10};
    if (parse(&options, count, argument) != 0 || benchOpen(&json, "problems", options.json) != 0)
        return 2;
    int status = benchOpen(&svg, "problems", options.svg);
    status = status == 0 ? runAll(&options, json.file, svg.file) : status;
    if (benchClose(&json, "problems", status < 2) != 0 || benchClose(&svg, "problems", status < 2) != 0)
        status = 2;
    return status;
}

const BenchSuite bench_problems = {
    "problems", "[--dir DIR (../shared/problems)] [--json FILE] [--svg FILE] [--time-limit S] [FILE...]", run};
