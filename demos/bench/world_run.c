#include "bench/world_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/json.h"
#ifdef SPRAG_BENCH_BULLET
#include "bench/bullet_peer.h"
#endif

enum { MEASURE_MAX = 1000 };

/* ---------------------------------------------------------------- settling */

static void setKeys(const Scene *scene, const char *set, double *value)
{
    for (int k = 0; scene->keys[k].name != NULL; ++k) {
        const size_t length = strlen(scene->keys[k].name);
        value[k] = scene->keys[k].value;
        for (const char *at = set; (at = strstr(at, scene->keys[k].name)) != NULL; at += length)
            if (at[length] == '=' && (at == set || at[-1] == ' '))
                value[k] = atof(at + length + 1);
    }
}

SceneWorld *worldSettle(const WorldPlan *plan)
{
    char error[160] = "no such scene";
    double value[SCENE_KEY_MAX];
    const Scene *scene = SceneFind(plan->scene);
    SceneWorld *world = NULL;
    spragConfig config = spragConfigDefault();
    config.solver = SPRAG_SOLVER_STOCK;
    config.stepper = SPRAG_STEPPER_QUICKSTEP;
    if (scene != NULL) {
        setKeys(scene, plan->set, value);
        dRandSetSeed(1);
        world = SceneCreate(scene, value, SCENE_SPRAG, &config, error);
    }
    for (int k = 0; world != NULL && plan->settle_quick && k < plan->settle; ++k)
        if (SceneStep(world, plan->step_size) != SPRAG_OK) {
            snprintf(error, sizeof error, "%s", SceneDetail(world));
            SceneDestroy(world);
            world = NULL;
        }
    if (world == NULL)
        fprintf(stderr, "sprag-bench: %s %s: %s\n", plan->scene, plan->set, error);
    return world;
}

/* Of every body: what the world says is for bodies still to come. */
static void setDamping(const SceneWorld *world, double share)
{
    for (int i = 0; i < world->body_count; ++i) {
        dBodySetDamping(world->body[i], (dReal)share, (dReal)share);
        dBodySetLinearDampingThreshold(world->body[i], 0);
        dBodySetAngularDampingThreshold(world->body[i], 0);
    }
}

/* m/s, root of the mean square of all bodies. */
static double speedOf(const SceneWorld *world)
{
    double sum = 0;
    for (int i = 0; i < world->body_count; ++i)
        for (int k = 0; k < 3; ++k) {
            const double v = dBodyGetLinearVel(world->body[i])[k];
            sum += v * v;
        }
    return sqrt(sum / fmax(world->body_count, 1));
}

int worldCalm(SceneWorld *world, double step_size, double tolerance)
{
    enum { STAGES = 3, IN_A_ROW = 10 };
    const double share = 0.05, still = 5e-4, stage_tolerance[STAGES] = {1e-2, 1e-3, tolerance};
    const int steps[STAGES] = {300, 600, 200};
    int calm = 0;
    setDamping(world, share);
    for (int stage = 0; stage < STAGES; ++stage) {
        spragConfig config = spragConfigDefault();
        config.tolerance = stage_tolerance[stage];
        spragStatus status = spragWorldSetConfig(world->sprag, &config);
        for (int k = 0; k < steps[stage] && calm < IN_A_ROW && status == SPRAG_OK; ++k) {
            status = SceneStep(world, step_size);
            const int solved = spragWorldGetStepInfo(world->sprag).residual <= tolerance && speedOf(world) <= still;
            calm = stage == STAGES - 1 && solved ? calm + 1 : 0;
        }
    }
    setDamping(world, 0);
    return calm == IN_A_ROW;
}

/* ---------------------------------------------------------------- measuring */

static int compareDoubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int count)
{
    qsort(x, (size_t)count, sizeof *x, compareDoubles);
    return count > 0 ? x[count / 2] : NAN;
}

/* FNV-1a over positions, rotations and velocities. */
static unsigned long long fingerprintOf(const SceneWorld *world)
{
    unsigned long long hash = 14695981039346656037ULL;
    for (int i = 0; i < world->body_count; ++i) {
        const dReal *part[4] = {dBodyGetPosition(world->body[i]), dBodyGetQuaternion(world->body[i]),
                                dBodyGetLinearVel(world->body[i]), dBodyGetAngularVel(world->body[i])};
        for (int k = 0; k < 4; ++k) {
            const unsigned char *byte = (const unsigned char *)part[k];
            for (size_t j = 0; j < (k == 1 ? 4 : 3) * sizeof(dReal); ++j)
                hash = (hash ^ byte[j]) * 1099511628211ULL;
        }
    }
    return hash;
}

/* All stages for Sprag, ODE's own for stock: looking at its answer is not its work. */
static double stepMilliseconds(const spragStepInfo *info, int stock)
{
    double sum = 0;
    for (int k = 0; k <= SPRAG_STAGE_REPORT; ++k)
        if (!stock || k == SPRAG_STAGE_ODE)
            sum += 1e-6 * (double)info->nanoseconds[k];
    return sum;
}

static spragStatus configure(SceneWorld *world, const WorldContender *contender)
{
    spragConfig config = spragConfigDefault();
    config.solver = contender->solver;
    config.stepper = contender->stepper;
    config.analysis = contender->solver == SPRAG_SOLVER_STOCK ? SPRAG_ANALYSIS_JUDGE : SPRAG_ANALYSIS_CONTACTS;
    config.tolerance = contender->tolerance > 0 ? contender->tolerance : config.tolerance;
    config.time_limit = contender->time_limit;
    config.thread_count = contender->threads > 0 ? contender->threads : 1;
    if (contender->stepper == SPRAG_STEPPER_QUICKSTEP && contender->iterations > 0)
        dWorldSetQuickStepNumIterations(world->world, contender->iterations);
    return spragWorldSetConfig(world->sprag, &config);
}

#ifdef SPRAG_BENCH_BULLET
/* One step of the world under Sprag; Bullet solves it beside.  0: out of memory. */
static int stepBullet(SceneWorld *world, double h, BulletPeer *peer, ContactSet *set, double *milliseconds,
                      double *residual)
{
    if (!contactSetBodies(set, world) || SceneStep(world, h) != SPRAG_OK || !contactSetContacts(set, world, h))
        return 0;
    double *r = calloc(3 * (size_t)set->contact_count + 1, sizeof *r);
    if (r == NULL)
        return 0;
    *milliseconds = 1e3 * bulletPeerSolve(peer, set, r);
    *residual = contactSetResidual(set, r);
    free(r);
    return 1;
}
#endif

/* In the child. */
static void run(SceneWorld *world, const WorldPlan *plan, const WorldContender *contender, WorldFigures *f)
{
    static double time[MEASURE_MAX], residual[MEASURE_MAX], solve[MEASURE_MAX];
    const int before = plan->warm + (plan->settle_quick ? 0 : plan->settle),
              stock = contender->solver == SPRAG_SOLVER_STOCK;
    spragStatus status = configure(world, contender);
#ifdef SPRAG_BENCH_BULLET
    BulletPeer *peer = contender->bullet ? bulletPeerCreate(contender->iterations) : NULL;
    ContactSet set = {0};
#endif
    for (int k = 0; k < before + plan->measure && status == SPRAG_OK; ++k) {
        double milliseconds = 0, worst = 0;
#ifdef SPRAG_BENCH_BULLET
        if (peer != NULL && !stepBullet(world, plan->step_size, peer, &set, &milliseconds, &worst))
            status = SPRAG_ERROR_MEMORY;
        else if (peer == NULL)
#endif
            status = SceneStep(world, plan->step_size);
        const spragStepInfo info = spragWorldGetStepInfo(world->sprag);
        if (!contender->bullet)
            milliseconds = stepMilliseconds(&info, stock), worst = info.residual;
        if (k >= before) {
            time[k - before] = milliseconds;
            residual[k - before] = worst;
            solve[k - before] = 1e-6 * (double)info.nanoseconds[SPRAG_STAGE_SOLVE];
        }
        f->contacts = info.contacts, f->islands = info.islands;
    }
    if (status != SPRAG_OK) {
        snprintf(f->error, sizeof f->error, "%s", SceneDetail(world));
        return;
    }
    f->bodies = world->body_count;
    f->milliseconds = median(time, plan->measure);
    f->residual = median(residual, plan->measure);
    f->solve_milliseconds = median(solve, plan->measure);
    f->fingerprint = fingerprintOf(world);
    f->done = 1;
}

WorldFigures worldMeasure(SceneWorld *settled, const WorldPlan *plan, const WorldContender *contender)
{
    WorldFigures answer = {.error = "it crashed"};
    WorldFigures *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return answer;
    *shared = answer;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        dRandSetSeed(1);
        run(settled, plan, contender, shared);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    answer = *shared;
    munmap(shared, sizeof *shared);
    return answer;
}

/* ---------------------------------------------------------------- printing */

void worldPrintCell(FILE *out, const WorldFigures *figures)
{
    if (figures->done)
        fprintf(out, " %.3g ms, %.1e |", figures->milliseconds, figures->residual);
    else
        fprintf(out, " %s |", figures->error);
}

void worldPrintJson(FILE *out, int first, const WorldPlan *plan, const WorldContender *contender,
                    const WorldFigures *figures)
{
    fprintf(out,
            "%s\n{\"scene\":\"%s\",\"set\":\"%s\",\"method\":\"%s\",\"step_size\":%.9g,\"steps\":%d,\"bodies\":%d,"
            "\"contacts\":%d,\"islands\":%d,\"milliseconds\":",
            first ? "" : ",", plan->scene, plan->set, contender->name, plan->step_size, plan->measure, figures->bodies,
            figures->contacts, figures->islands);
    jsonNumber(out, figures->done ? figures->milliseconds : NAN);
    fprintf(out, ",\"solve_milliseconds\":");
    jsonNumber(out, figures->done ? figures->solve_milliseconds : NAN);
    fprintf(out, ",\"residual\":");
    jsonNumber(out, figures->done ? figures->residual : NAN);
    fprintf(out, "}");
}
