#include "maps/row.h"

#include <math.h>
#include <string.h>

static int readState(const spragProblem *p, double h, MapRow *row)
{
    const int nc = p->contact_count, n = 3 * nc;
    if (nc < 1 || nc > MAP_CONTACTS || p->history == NULL)
        return mapRefuse("an instant with %d contacts, expected 1 to %d", nc, MAP_CONTACTS);
    memset(row, 0, sizeof *row);
    row->state = (spragContactState){nc, row->A, row->b, row->slip, row->mu, row->mu, row->two_sided};
    for (int k = 0; k < nc; ++k) {
        const int kind = p->kind != NULL ? p->kind[k] : SPRAG_BLOCK_CONTACT;
        if (kind != SPRAG_BLOCK_CONTACT && kind != SPRAG_BLOCK_TWO_SIDED)
            return mapRefuse("block %d is neither a one-sided nor a two-sided contact", k);
        row->two_sided[k] = kind == SPRAG_BLOCK_TWO_SIDED;
        row->mu[k] = p->mu[k];
        memcpy(row->slip + 2 * k, p->history[k].slip, 2 * sizeof(double));
        for (int i = 0; i < 3; ++i)
            row->b[3 * k + i] = (p->q[3 * k + i] - (i > 0 ? row->slip[2 * k + i - 1] : 0)) / h;
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    row->A[n * (3 * k + i) + 3 * p->column[e] + j] = p->W[9 * e + 3 * i + j];
    }
    return 1;
}

/* The first instant of the scene at these values. */
static int instant(const MapOptions *o, const double *value, const char *scratch, MapRow *row)
{
    static const double h = 1e-3; /* s: an error of 1e-17 m in a joint counts erp / h^2 in b */
    char error[160];
    SceneWorld *world = SceneCreate(o->scene, value, SCENE_SPRAG, NULL, error);
    if (world == NULL)
        return mapRefuse("%s", error);
    dWorldSetCFM(world->world, 0);
    dWorldSetERP(world->world, 0);
    spragProblem *problem = NULL;
    int done = 0;
    if (SceneStep(world, h) != SPRAG_OK || spragWorldDumpProblem(world->sprag, scratch) != SPRAG_OK ||
        spragProblemRead(scratch, &problem) != SPRAG_OK)
        mapRefuse("%s", SceneDetail(world));
    else
        done = readState(problem, h, row);
    spragProblemFree(problem);
    SceneDestroy(world);
    return done;
}

/* Not from the left end: without friction a contact has no tangential rows to read. */
int mapMakeRow(const MapOptions *o, double y, const char *scratch, MapRow *row)
{
    double value[SCENE_KEY_MAX];
    MapRow middle;
    memcpy(value, o->value, sizeof value);
    value[o->y.key] = y;
    value[o->x.key] = 0.5 * (o->x.from + o->x.to);
    if (!instant(o, value, scratch, &middle))
        return 0;
    value[o->x.key] = o->x.to;
    if (!instant(o, value, scratch, row))
        return 0;
    if (middle.state.contact_count != row->state.contact_count || memcmp(middle.A, row->A, sizeof row->A) != 0)
        return mapRefuse("%s is no coefficient of friction: it changes the contacts", o->scene->keys[o->x.key].name);
    for (int k = 0; k < MAP_CONTACTS; ++k) {
        row->rate[k] = 2 * (row->mu[k] - middle.mu[k]);
        row->mu[k] -= row->rate[k];
    }
    return 1;
}

int mapCountAt(const MapRow *row, double t, int *count, int *rests)
{
    double mu[MAP_CONTACTS];
    spragContactState state = row->state;
    for (int k = 0; k < state.contact_count; ++k)
        mu[k] = fmax(row->mu[k] + t * row->rate[k], 0);
    state.mu = state.mu_static = mu;
    spragSolutionSet set;
    if (spragParadoxEnumerate(&state, &set) != SPRAG_OK)
        return mapRefuse("%s", spragStatusDetail());
    *count = set.count;
    *rests = 0;
    for (int k = 0; k < set.count; ++k) {
        int held = 1;
        for (int c = 0; c < state.contact_count; ++c)
            held &= set.solution[k].mode[c] == SPRAG_MODE_STICK;
        *rests |= held;
    }
    spragSolutionSetFree(&set);
    return 1;
}
