/* sprag-solve FILE [options]: solves one contact problem file and says how well.
 *
 * Exit code: 0 solved to the tolerance, 1 not (best answer and its residual are printed), 2 bad argument or file. */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sprag/sprag.h>
#include "decimal.h"
#include "json_string.h"
#include "said.h"

enum { EXIT_SOLVED = 0, EXIT_NOT_CONVERGED = 1, EXIT_BAD_INPUT = 2 };

typedef struct Options {
    const char *file;
    spragSolveOptions solve;
    int json;
} Options;

/* One line, whatever control characters the user's own words have. */
__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (char *c = line; *c != '\0'; ++c)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    fprintf(stderr, "sprag-solve: %s\n", line);
    return EXIT_BAD_INPUT;
}

static void printHelp(void)
{
    puts("usage: sprag-solve FILE [options]\n"
         "Solves a contact problem with exact Coulomb friction: u = W r + q.\n"
         "FILE is in Sprag's text format, Siconos' text, or FCLib's HDF5 where it ends in .hdf5 or .h5.\n"
         "  --solver NAME   auto (default), variant, lemke, gauss-seidel, newton\n"
         "  --tol T         residual to reach, m/s (default 1e-8)\n"
         "  --json          one JSON object on stdout\n"
         "  --              no option follows: FILE may begin with -\n"
         "  --version, --help\n"
         "Exit code: 0 solved, 1 not solved to the tolerance, 2 bad argument or file.");
}

/* 0, or the exit code of a refusal. */
static int setSolver(Options *o, const char *name)
{
    o->solve.solver = spragSolverFind(name);
    if (o->solve.solver == SPRAG_SOLVER_COUNT || o->solve.solver == SPRAG_SOLVER_STOCK)
        return refuse("no solver '%s' for problem files; expected auto, variant, lemke, gauss-seidel or newton", name);
    return 0;
}

static int setTolerance(Options *o, const char *text)
{
    double value;
    if (!decimalParse(text, &value) || value <= 0)
        return refuse("--tol '%s': expected a number > 0, in m/s", text);
    o->solve.tolerance = value;
    return 0;
}

/* After "--" every word is a file. */
static int parse(int argc, char **argv, Options *o)
{
    int named = 0;
    for (int i = 1; i < argc; ++i) {
        const char *word = argv[i];
        int (*set)(Options *, const char *) = NULL;
        if (!named && strcmp(word, "--") == 0) {
            named = 1;
            continue;
        }
        if (named && o->file == NULL)
            o->file = word;
        else if (strcmp(word, "--json") == 0 && !named)
            o->json = 1;
        else if (strcmp(word, "--solver") == 0 && !named)
            set = setSolver;
        else if (strcmp(word, "--tol") == 0 && !named)
            set = setTolerance;
        else if (word[0] == '-' && !named)
            return refuse("unknown option '%s'; --help lists them", word);
        else if (o->file != NULL)
            return refuse("unexpected argument '%s': one file at a time", word);
        else
            o->file = word;
        if (set == NULL)
            continue;
        if (++i == argc)
            return refuse("%s needs a value", word);
        const int refused = set(o, argv[i]);
        if (refused)
            return refused;
    }
    return o->file != NULL ? 0 : refuse("a problem file is needed; --help says more");
}

/* JSON knows no NaN and no infinity. */
static void printJsonNumber(const char *key, double value)
{
    if (isfinite(value))
        printf(",\"%s\":%.17g", key, value);
    else
        printf(",\"%s\":null", key);
}

/* What spragProblemExistence says, and the impulses r (3 nc) of its wedge. */
typedef struct Proof {
    spragExistence existence;
    const double *r;
} Proof;

/* 1: block k is named: it carries a hundredth or more of the wedge, whose normal impulses have the sum 1. */
static int isInWedge(const Proof *proof, int k)
{
    return fabs(proof->r[3 * k]) >= 0.01;
}

/* The contacts of a wedge, and the bodies between them, numbers as in the file. */
static void printWedge(const spragProblem *problem, const Proof *proof)
{
    int last = -2; /* below -1, the world */
    printf("note         the wedge: contacts");
    for (int k = 0; k < problem->contact_count; ++k)
        if (isInWedge(proof, k))
            printf(" %d", k);
    for (int next = INT_MAX; problem->body != NULL; last = next, next = INT_MAX) {
        for (int i = 0; i < 2 * problem->contact_count; ++i)
            if (isInWedge(proof, i / 2) && problem->body[i] > last && problem->body[i] < next)
                next = problem->body[i];
        if (next == INT_MAX)
            break;
        printf(last == -2 ? ", bodies " : " ");
        printf(next < 0 ? "world" : "%d", next);
    }
    puts(" (from 0, as in the file)");
}

static const char *verdict(const spragSolveInfo *info)
{
    return info->status == SPRAG_OK ? "solved" : info->status == SPRAG_LIMIT ? "limit" : "not-converged";
}

static void printJson(const Options *o, const spragProblem *problem, const spragSolveInfo *info, const Proof *proof)
{
    const spragExistence *existence = proof != NULL ? &proof->existence : NULL;
    printf("{\"file\":");
    jsonWriteString(stdout, o->file);
    printf(",\"status\":\"%s\",\"solver\":\"%s\",\"iterations\":%d,\"contacts\":%d,\"blocks\":%d", verdict(info),
           spragSolverName(info->solver), info->iterations, problem->contact_count, problem->block_count);
    printJsonNumber("residual", info->residual);
    printJsonNumber("tolerance", o->solve.tolerance);
    printJsonNumber("milliseconds", 1e3 * info->seconds);
    printJsonNumber("asymmetry", problem->asymmetry);
    printf(",\"several\":%s,\"none\":%s", info->several ? "true" : "false", info->none ? "true" : "false");
    if (existence != NULL) {
        printf(",\"solution_assured\":%s", existence->assured ? "true" : "false");
        printJsonNumber("existence_margin", existence->margin);
        if (!existence->assured) {
            const char *before = ",\"wedge_contacts\":[";
            for (int k = 0; k < problem->contact_count; ++k)
                if (isInWedge(proof, k)) {
                    printf("%s%d", before, k);
                    before = ",";
                }
            putchar(']');
        }
    }
    puts("}");
}

static void printText(const Options *o, const spragProblem *problem, const spragSolveInfo *info, const Proof *proof)
{
    const spragExistence *existence = proof != NULL ? &proof->existence : NULL;
    printf("%s: %d contacts, %d blocks\n", o->file, problem->contact_count, problem->block_count);
    printf("status       %s\n", verdict(info));
    printf("residual     %.3g m/s (tolerance %g)\n", info->residual, o->solve.tolerance);
    printf("iterations   %d\n", info->iterations);
    printf("solver       %s\n", spragSolverName(info->solver));
    printf("time         %.4g ms\n", 1e3 * info->seconds);
    if (problem->asymmetry > 1e-12) /* more than rounding */
        printf("note         W is asymmetric by %.2g of its largest entry; solved as given\n", problem->asymmetry);
    if (info->several)
        printf("note         indeterminate: several solutions were seen, history decided\n");
    if (info->none)
        printf("note         inconsistent: sliding on has no solution, an impulse ends it\n");
    if (existence != NULL && existence->assured)
        printf("note         a solution exists: a motion parts all contacts, u_n - mu |u_t| >= %.2g m/s\n",
               existence->margin);
    if (existence != NULL && !existence->assured) {
        printf("note         a solution need not exist: friction locks a wedge that closes at %.2g m/s\n",
               -existence->margin);
        printWedge(problem, proof);
    }
}

static int solveFile(const Options *o)
{
    spragProblem *problem = NULL;
    if (spragProblemRead(o->file, &problem) != SPRAG_OK)
        return refuse("%s", spragStatusDetail());
    const size_t n = 3 * (size_t)problem->contact_count;
    double *r = calloc(n, sizeof *r), *shown = calloc(n, sizeof *shown);
    spragSolveInfo info = {.residual = NAN};
    const spragStatus status =
        r != NULL && shown != NULL ? spragProblemSolve(problem, &o->solve, r, NULL, &info) : SPRAG_ERROR_MEMORY;
    int code = status == SPRAG_OK ? EXIT_SOLVED : EXIT_NOT_CONVERGED;
    Proof proof = {.r = shown};
    const int asked =
        status == SPRAG_NOT_CONVERGED && spragProblemExistence(problem, shown, &proof.existence) == SPRAG_OK;
    if (status == SPRAG_OK || status == SPRAG_NOT_CONVERGED || status == SPRAG_LIMIT || status == SPRAG_NO_SOLUTION)
        (o->json ? printJson : printText)(o, problem, &info, asked ? &proof : NULL);
    else
        code =
            refuse("%s: %s", o->file, spragStatusDetail()[0] != '\0' ? spragStatusDetail() : spragStatusText(status));
    free(r);
    free(shown);
    spragProblemFree(problem);
    return code;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            printHelp();
            return saidAll("sprag-solve", 0);
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("sprag-solve %s\n", spragVersion());
            return saidAll("sprag-solve", 0);
        }
    }
    Options o = {.solve = spragSolveOptionsDefault()};
    const int refused = parse(argc, argv, &o);
    return refused ? refused : saidAll("sprag-solve", solveFile(&o));
}
