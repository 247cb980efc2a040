#include "problem/problem.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

spragProblemData *spragProblemCreate(int contact_count, int block_count)
{
    spragProblemData *data = spragAlloc(1, sizeof *data);
    if (data == NULL)
        return NULL;
    const size_t nc = (size_t)contact_count, nb = (size_t)block_count;
    data->row_start = spragAlloc(nc + 1, sizeof(int));
    data->column = spragAlloc(nb, sizeof(int));
    data->parent = spragAlloc(nc, sizeof(int));
    data->body = spragAlloc(2 * nc, sizeof(int));
    data->W = spragAlloc(9 * nb, sizeof(double));
    data->q = spragAlloc(3 * nc, sizeof(double));
    data->mu = spragAlloc(nc, sizeof(double));
    data->mu_minus = spragAlloc(nc, sizeof(double));
    data->bound = spragAlloc(6 * nc, sizeof(double));
    data->kind = spragAlloc(nc, 1);
    data->history = spragAlloc(nc, sizeof *data->history);
    data->problem = (spragProblem){.contact_count = contact_count,
                                   .block_count = block_count,
                                   .row_start = data->row_start,
                                   .column = data->column,
                                   .W = data->W,
                                   .q = data->q,
                                   .mu = data->mu,
                                   .mu_minus = data->mu_minus,
                                   .kind = data->kind,
                                   .bound = data->bound,
                                   .parent = data->parent,
                                   .body = data->body,
                                   .history = data->history};
    if (!data->row_start || !data->column || !data->parent || !data->body || !data->W || !data->q || !data->mu ||
        !data->mu_minus || !data->bound || !data->kind || !data->history) {
        spragProblemFree(&data->problem);
        return NULL;
    }
    for (size_t k = 0; k < nc; ++k) {
        data->parent[k] = data->body[2 * k] = data->body[2 * k + 1] = -1;
        data->history[k].fresh = 1;
    }
    return data;
}

void spragProblemFree(spragProblem *problem)
{
    if (problem == NULL)
        return;
    spragProblemData *data = (spragProblemData *)problem;
    void *const owned[] = {data->row_start, data->column,   data->parent, data->body, data->W,      data->q,
                           data->mu,        data->mu_minus, data->bound,  data->kind, data->history};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; ++k)
        spragFree(owned[k]);
    spragFree(data);
}

spragStatus spragProblemFinish(spragProblemData *data, const char *path, spragProblem **out)
{
    const spragStatus status = spragProblemCheck(&data->problem);
    if (status != SPRAG_OK) {
        char detail[256];
        strncpy(detail, spragStatusDetail(), sizeof detail - 1);
        detail[sizeof detail - 1] = '\0';
        spragProblemFree(&data->problem);
        return spragFail(status, "%s: %s", path, detail);
    }
    data->problem.asymmetry = spragProblemAsymmetry(&data->problem);
    *out = &data->problem;
    return SPRAG_OK;
}
