#include "bench/reference_table.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "scenes/reference.h"

typedef struct Family {
    const char *scene, *samples; /* name of the member of `expected` */
    int state_count;
    void (*values)(const Json *inputs, double *value);
    void (*state)(const SceneWorld *world, double *state);
} Family;

static void rodState(const SceneWorld *world, double *state)
{
    ReferenceRodState(world, state);
}

static const Family rods = {"rod", "samples_t_x_y_th_vx_vy_om_N_T_mode", REFERENCE_ROD_STATE, ReferenceRodValues,
                            rodState};
static const Family tops = {"top", "samples_t_tip3_axis3_vtip3_om3_R3_mode", REFERENCE_TOP_STATE, ReferenceTopValues,
                            ReferenceTopState};

/* |state - reference| at the last sample, over all components in SI units; NaN if a step was refused. */
static double errorOf(const Json *one, const Family *family, SceneSolver solver, double h)
{
    double value[SCENE_KEY_MAX], state[REFERENCE_TOP_STATE], reference[REFERENCE_TOP_STATE], sum = 0;
    char error[160];
    const Json *samples = jsonGet(jsonGet(one, "expected"), family->samples);
    const Json *last = &samples->first[samples->count - 1];
    family->values(jsonGet(one, "inputs"), value);
    SceneWorld *world = SceneCreate(SceneFind(family->scene), value, solver, NULL, error);
    if (world == NULL)
        return NAN;
    const long steps = lround(last->first[0].number / h);
    int fine = 1;
    for (long k = 0; k < steps && fine; ++k)
        fine = SceneStep(world, h) == SPRAG_OK;
    family->state(world, state);
    SceneDestroy(world);
    jsonNumbers(last, 1, family->state_count, reference);
    for (int i = 0; i < family->state_count; ++i)
        sum += (state[i] - reference[i]) * (state[i] - reference[i]);
    return fine ? sqrt(sum) : NAN;
}

void benchReferenceTable(void)
{
    static const char *const id[] = {"rod_dyn.p+b-.stop-stick",
                                     "rod_dyn.p+b-.stop-reverse",
                                     "rod_dyn.p+b-.long-slide",
                                     "rod_dyn.p+b+.lift",
                                     "rod_dyn.p-b+.lift",
                                     "rod_dyn.p-b-.jam-stick",
                                     "rod_dyn.p-b-.jam-lift",
                                     "rod_dyn.p-b-.left",
                                     "top.slip-stick",
                                     "top.slide",
                                     "top.small",
                                     "top.detach.slide",
                                     "top.sliponset.detach",
                                     "top.detach.at_once"};
    static const struct {
        SceneSolver solver;
        double h;
    } column[] = {
        {SCENE_ODE_STEP, 1e-3}, {SCENE_ODE_QUICK, 1e-3}, {SCENE_SPRAG, 1e-3}, {SCENE_SPRAG, 1e-4}, {SCENE_SPRAG, 1e-5}};
    const char *path = getenv("SPRAG_ORACLE");
    if (access(path != NULL ? path : SPRAG_SOURCE_DIR "/tests/data/oracle_open.json", R_OK) != 0) {
        printf("\nThe reference values are left out: their file is not here (SPRAG_ORACLE=FILE).\n");
        return;
    }
    Json oracle;
    oracleOpen(&oracle);
    printf("\nError of the state at the end against the reference values (integrated without any physics engine).\n\n");
    printf(
        "| case | dWorldStep, h = 1e-3 | QuickStep, 1e-3 | Sprag, 1e-3 | 1e-4 | 1e-5 |\n|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof id / sizeof *id; ++k) {
        printf("| %s |", id[k]);
        for (size_t c = 0; c < sizeof column / sizeof *column; ++c)
            printf(" %.2g |", errorOf(oracleCase(&oracle, id[k]), strncmp(id[k], "rod", 3) == 0 ? &rods : &tops,
                                      column[c].solver, column[c].h));
        printf("\n");
        fflush(stdout);
    }
    jsonFree(&oracle);
}
