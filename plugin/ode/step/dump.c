#include "ode/step/dump.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ode/islands/bare.h"
#include "ode/islands/lone.h"
#include "ode/matrix/assemble.h"

enum { NUMBER_LENGTH = 16 };

static void makeName(char *name, size_t size, const char *path, int number)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash == NULL ? path : slash, '.');
    const int stem = (int)(dot == NULL ? strlen(path) : (size_t)(dot - path));
    if (number == 1)
        snprintf(name, size, "%s", path);
    else
        snprintf(name, size, "%.*s-%d%s", stem, path, number, dot == NULL ? "" : dot);
}

static spragStatus writeLone(const struct spragWorld *world, const spragIsland *island, const char *name)
{
    spragArena arena = {0};
    spragProblem problem;
    const spragStatus status = spragLoneProblem(world, island, &arena, &problem)
                                   ? spragProblemWrite(&problem, name)
                                   : spragFail(SPRAG_ERROR_MEMORY, "no memory for the problem of an island");
    spragArenaFree(&arena);
    return status;
}

static spragStatus writeIsland(struct spragWorld *world, spragIsland *island, const char *name)
{
    if (island->lone != NULL)
        return writeLone(world, island, name);
    if (island->bare != NULL ? !spragBareProblem(world, island)
                             : (island->greedy != NULL || island->matrix.lean) && !spragAssembleCouple(world, island))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for W of an island");
    if (island->declined != NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "%s", island->declined);
    return spragProblemWrite(&island->problem, name);
}

void spragDumpRemove(const char *path, int kept, int last)
{
    const size_t size = strlen(path) + NUMBER_LENGTH;
    char *name = kept < last ? spragAlloc(size, 1) : NULL;
    for (int number = kept + 1; name != NULL && number <= last; ++number) {
        makeName(name, size, path, number);
        remove(name);
    }
    spragFree(name);
}

spragStatus spragDumpIslands(struct spragWorld *world, const char *path, spragDumped *dumped)
{
    spragSnapshot *s = &world->snapshot;
    const size_t size = strlen(path) + NUMBER_LENGTH;
    char *name = spragAlloc(size, 1);
    if (name == NULL)
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for the name of a file");
    spragStatus status = SPRAG_OK;
    int number = 0, worst = 0;
    double residual = -1;
    for (int k = 0; status == SPRAG_OK && k < s->island_count; ++k)
        if (s->island[k].declined == NULL && !s->island[k].matrix.loose) { /* of the latter there is no W */
            makeName(name, size, path, ++number);
            status = writeIsland(world, &s->island[k], name);
            if (!(s->island[k].solve.residual <= residual))
                worst = number, residual = s->island[k].solve.residual;
        }
    spragFree(name);
    if (dumped != NULL)
        *dumped = (spragDumped){number, worst};
    if (status == SPRAG_OK && number == 0)
        return spragFail(SPRAG_ERROR_ORDER,
                         "the last step solved no island whose matrix fits into memory: nothing to write");
    return status;
}
