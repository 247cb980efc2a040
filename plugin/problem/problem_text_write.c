/* Problem files as text: writing. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/status.h"
#include "linalg/vec3.h"
#include "problem/problem_text.h"
#include "problem/residual.h"

const char *const spragKindName[SPRAG_KIND_COUNT] = {"contact", "two-sided", "force-limit", "box", "rolling"};

static void writePlain(FILE *file, const spragProblem *p)
{
    fprintf(file, "# Sprag contact problem: u = W r + q, velocities in m/s, impulses in N s\n%d %d\n", p->contact_count,
            p->block_count);
    for (int k = 0; k < p->contact_count; ++k)
        fprintf(file, "%.17g %d %d\n", p->mu[k], p->body != NULL ? p->body[2 * k] : -1,
                p->body != NULL ? p->body[2 * k + 1] : -1);
    for (int k = 0; k < p->contact_count; ++k)
        fprintf(file, "%.17g %.17g %.17g\n", p->q[3 * k], p->q[3 * k + 1], p->q[3 * k + 2]);
    for (int k = 0; k < p->contact_count; ++k)
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e) {
            fprintf(file, "%d %d", k, p->column[e]);
            for (int a = 0; a < 9; ++a)
                fprintf(file, " %.17g", p->W[9 * (size_t)e + (size_t)a]);
            fputc('\n', file);
        }
}

static int sameHistory(const spragContactHistory *a, const spragContactHistory *b)
{
    return a->slip[0] == b->slip[0] && a->slip[1] == b->slip[1] && a->free_acceleration == b->free_acceleration &&
           a->previous_normal == b->previous_normal && a->previous_slip[0] == b->previous_slip[0] &&
           a->previous_slip[1] == b->previous_slip[1] && a->mode == b->mode && a->variant == b->variant &&
           a->fresh == b->fresh;
}

static void writeExtensions(FILE *file, const spragProblem *p)
{
    static const double none[6] = {0};
    if (p->step != 0)
        fprintf(file, "step %.17g\n", p->step);
    for (int k = 0; k < p->contact_count; ++k) {
        const spragBlockKind kind = spragKindOf(p, k);
        const double mu_minus = spragMuMinusOf(p, k);
        if (kind != SPRAG_BLOCK_CONTACT || mu_minus != p->mu[k]) {
            const double *bound = p->bound != NULL ? p->bound + 6 * (size_t)k : none;
            fprintf(file, "block %d %s %.17g", k, spragKindName[kind], mu_minus);
            for (int a = 0; a < 6; ++a)
                fprintf(file, " %.17g", bound[a]);
            fprintf(file, " %d\n", p->parent != NULL ? p->parent[k] : -1);
        }
    }
    static const spragContactHistory fresh = {.fresh = 1};
    for (int k = 0; p->history != NULL && k < p->contact_count; ++k) {
        const spragContactHistory *h = &p->history[k];
        if (spragNorm3(h->held) > 0) { /* W_nn is among them */
            fprintf(file, "held %d", k);
            for (int a = 0; a < 9; ++a)
                fprintf(file, " %.17g", h->held[a]);
            fprintf(file, "\n");
        }
        if (sameHistory(h, &fresh)) /* what a reader assumes */
            continue;
        fprintf(file, "history %d %.17g %.17g %.17g %.17g %.17g %.17g %d %d %d\n", k, h->slip[0], h->slip[1],
                h->free_acceleration, h->previous_normal, h->previous_slip[0], h->previous_slip[1], h->mode, h->variant,
                h->fresh);
    }
}

spragStatus spragTextWrite(const spragProblem *problem, const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return spragFail(SPRAG_ERROR_FILE, "%s: %s", path, strerror(errno));
    struct stat kind;
    const int regular = fstat(fileno(file), &kind) == 0 && S_ISREG(kind.st_mode);
    writePlain(file, problem);
    writeExtensions(file, problem);
    const int failed = ferror(file);
    if (fclose(file) == 0 && !failed)
        return SPRAG_OK;
    const int why = errno;
    if (regular) /* nothing half-written stays, and a device is not removed */
        remove(path);
    return spragFail(SPRAG_ERROR_FILE, "%s: cannot be written: %s", path, strerror(why));
}
