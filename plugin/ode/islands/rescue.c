#include "ode/islands/rescue.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/vec3.h"
#include "ode/joints/articulation.h"
#include "ode/matrix/assemble.h"
#include "problem/residual.h"
#include "solve/contact/cone_block.h"

enum {
    SWEEPS_LEAST = 20, /* as many as QuickStep makes */
    SWEEPS_MOST = 200, /* if VISITS_MOST allows */
    SWEEPS_LATE = 4,   /* made under a time limit however short it is */
    LOOK = 10          /* sweeps between two looks of the judge */
};
#define VISITS_MOST 2e7 /* of rows and blocks; beyond it no more than SWEEPS_LEAST are made.  Some seconds */

typedef struct Sweeping {
    const spragSnapshot *s;
    spragIsland *island;
    double (*v)[6];         /* (body_count) m/s, 1/s: what the impulses have changed */
    double *best, *best_of; /* (3 block_count), (row_count): the impulses with the least residual so far */
    double residual;        /* theirs, m/s */
} Sweeping;

static double *changeOf(const Sweeping *sweeping, int body)
{
    const spragSnapshot *s = sweeping->s;
    return spragIsDynamic(s, body) ? sweeping->v[s->body[body].place] : NULL;
}

static double dot6(const double a[6], const double b[6])
{
    return spragDot3(a, b) + spragDot3(a + 3, b + 3);
}

/* v += M^-1 p on one body. */
static void push(const Sweeping *sweeping, int body, const double p[6])
{
    double *v = changeOf(sweeping, body), spin[3];
    if (v == NULL)
        return;
    const spragBodyState *state = &sweeping->s->body[body];
    spragMul33(spin, state->inverse_inertia, p + 3);
    for (int i = 0; i < 3; ++i) {
        v[i] += state->inverse_mass * p[i];
        v[3 + i] += spin[i];
    }
}

/* ---------------------------------------------------------------- blocks */

static void motionOf(const Sweeping *sweeping, int k, double u[3])
{
    const spragBlock *block = &sweeping->island->block[k];
    for (int i = 0; i < 3; ++i)
        u[i] = sweeping->island->problem.q[3 * k + i] + block->compliance[i] * sweeping->island->r[3 * k + i];
    for (int side = 0; side < 2; ++side) {
        const double *v = changeOf(sweeping, block->body[side]);
        for (int i = 0; i < 3 && v != NULL; ++i)
            u[i] += dot6(block->J[side][i], v);
    }
}

static void pushBlock(const Sweeping *sweeping, int k, const double r[3])
{
    const spragBlock *block = &sweeping->island->block[k];
    for (int side = 0; side < 2; ++side) {
        double p[6] = {0};
        for (int row = 0; row < 3; ++row)
            for (int i = 0; i < 6; ++i)
                p[i] += r[row] * block->J[side][row][i];
        push(sweeping, block->body[side], p);
    }
}

static void visitBlock(const Sweeping *sweeping, int k)
{
    spragIsland *island = sweeping->island;
    const spragBlock *block = &island->block[k];
    const double *W = island->W + 9 * (size_t)k, load = block->parent < 0 ? 0 : fmax(0, island->r[3 * block->parent]);
    double q[3], *r = island->r + 3 * k, before[3] = {r[0], r[1], r[2]};
    spragConeBlock cone;
    motionOf(sweeping, k, q);
    for (int i = 0; i < 3; ++i)
        q[i] -= spragDot3(W + 3 * i, r);
    spragConeBlockInit(&cone, W, island->mu[k], spragMuMinusOf(&island->problem, k));
    spragLawSolve(&island->problem, k, W, &cone, load, q, r);
    if (!isfinite(r[0] + r[1] + r[2])) /* a block that asks for the impossible must not spoil all others */
        memcpy(r, before, sizeof before);
    pushBlock(sweeping, k, (double[3]){r[0] - before[0], r[1] - before[1], r[2] - before[2]});
}

/* ---------------------------------------------------------------- rows of joints */

/* m/s, by how much the row is missed. */
static double missOf(const Sweeping *sweeping, const spragEqualityRow *row)
{
    double miss = row->compliance * row->impulse - row->rhs;
    for (int side = 0; side < 2; ++side)
        if (row->body[side] >= 0) {
            const double *v = changeOf(sweeping, row->body[side]);
            miss += dot6(row->J[side], sweeping->s->body[row->body[side]].free_velocity);
            miss += v != NULL ? dot6(row->J[side], v) : 0;
        }
    return miss;
}

static void pushRow(const Sweeping *sweeping, const spragEqualityRow *row, double impulse)
{
    for (int side = 0; side < 2; ++side) {
        double p[6];
        for (int i = 0; i < 6; ++i)
            p[i] = impulse * row->J[side][i];
        push(sweeping, row->body[side], p);
    }
}

static void visitRow(const Sweeping *sweeping, spragEqualityRow *row)
{
    double own = row->compliance;
    for (int side = 0; side < 2; ++side) {
        const spragBodyState *body = row->body[side] < 0 ? NULL : &sweeping->s->body[row->body[side]];
        double spin[3];
        if (body == NULL || body->kinematic)
            continue;
        spragMul33(spin, body->inverse_inertia, row->J[side] + 3);
        own += body->inverse_mass * spragDot3(row->J[side], row->J[side]) + spragDot3(row->J[side] + 3, spin);
    }
    const double wanted = -missOf(sweeping, row) / own, change = isfinite(wanted) ? wanted : 0;
    row->impulse += change;
    pushRow(sweeping, row, change);
}

/* ---------------------------------------------------------------- all of them */

static void sweep(const Sweeping *sweeping)
{
    spragIsland *island = sweeping->island;
    for (int e = 0; e < island->row_count; ++e)
        visitRow(sweeping, &island->row[e]);
    for (int k = 0; k < island->block_count; ++k)
        visitBlock(sweeping, k);
}

/* Computes v from the impulses anew, free of summed rounding; then u, and the residual.  Keeps the best answer so
 * far. */
static void look(Sweeping *sweeping)
{
    spragIsland *island = sweeping->island;
    memset(sweeping->v, 0, (size_t)island->body_count * sizeof *sweeping->v);
    for (int e = 0; e < island->row_count; ++e)
        pushRow(sweeping, &island->row[e], island->row[e].impulse);
    for (int k = 0; k < island->block_count; ++k)
        pushBlock(sweeping, k, island->r + 3 * k);
    for (int k = 0; k < island->block_count; ++k)
        motionOf(sweeping, k, island->u + 3 * k);
    double residual = spragVelocityResidual(&island->problem, island->r, island->u);
    for (int e = 0; e < island->row_count && !isnan(residual); ++e) {
        const double miss = fabs(missOf(sweeping, &island->row[e]));
        residual = miss <= residual ? residual : miss;
    }
    if (!(residual < sweeping->residual))
        return;
    sweeping->residual = residual;
    memcpy(sweeping->best, island->r, 3 * (size_t)island->block_count * sizeof *island->r);
    for (int e = 0; e < island->row_count; ++e)
        sweeping->best_of[e] = island->row[e].impulse;
}

/* Takes the best answer again, with its u; 0: none was finite. */
static int takeBest(Sweeping *sweeping)
{
    spragIsland *island = sweeping->island;
    if (!isfinite(sweeping->residual))
        return 0;
    memcpy(island->r, sweeping->best, 3 * (size_t)island->block_count * sizeof *island->r);
    for (int e = 0; e < island->row_count; ++e)
        island->row[e].impulse = sweeping->best_of[e];
    sweeping->residual = INFINITY;
    look(sweeping);
    return 1;
}

static int sweepAll(Sweeping *sweeping, const spragSolveOptions *options)
{
    const spragIsland *island = sweeping->island;
    const double end = options->time_limit > 0 ? spragSeconds() + options->time_limit : INFINITY;
    const double paid = VISITS_MOST / (island->block_count + island->row_count + 1);
    const int most = (int)fmin(SWEEPS_MOST, fmax(SWEEPS_LEAST, paid));
    int done = 0;
    look(sweeping); /* at the guess */
    for (int late = 0; done < most && !late && sweeping->residual > options->tolerance;) {
        sweep(sweeping);
        ++done;
        late = done >= SWEEPS_LATE && spragSeconds() > end;
        if (done % LOOK == 0 || done == most || late)
            look(sweeping);
    }
    return done;
}

/* Begins with the impulses of the last step, but with 0 in place of those that are not finite. */
static void begin(spragIsland *island)
{
    for (int e = 0; e < island->row_count; ++e)
        island->row[e].impulse = 0;
    for (int i = 0; i < 3 * island->block_count; ++i)
        island->r[i] = isfinite(island->r[i]) ? island->r[i] : 0;
}

int spragRescue(struct spragWorld *world, const spragPointerMap *surfaces, const spragSolveOptions *options,
                spragIsland *island)
{
    const char *why = island->declined;
    island->declined = NULL;
    island->rescued = why;
    spragArena *arena = &island->lane->arena;
    spragAssembleReset(world, island);
    int done = spragAssemble(world, surfaces, island) == SPRAG_OK && island->declined == NULL;
    if (done) {
        Sweeping sweeping = {.s = &world->snapshot, .island = island, .residual = INFINITY};
        sweeping.v = spragArenaTake(arena, (size_t)island->body_count, sizeof *sweeping.v);
        sweeping.best = SPRAG_TAKE_RAW(arena, double, 3 * (size_t)island->block_count + (size_t)island->row_count);
        done = sweeping.v != NULL && sweeping.best != NULL;
        if (done) {
            sweeping.best_of = sweeping.best + 3 * (size_t)island->block_count;
            begin(island);
            const int sweeps = sweepAll(&sweeping, options);
            done = takeBest(&sweeping);
            island->solve = (spragSolveInfo){.solver = SPRAG_SOLVER_GAUSS_SEIDEL,
                                             .status = sweeping.residual <= options->tolerance ? SPRAG_OK : SPRAG_LIMIT,
                                             .iterations = sweeps,
                                             .residual = sweeping.residual,
                                             .fallback = 1};
        }
    }
    if (!done) {
        spragAssembleReset(world, island);
        island->declined = why;
        island->rescued = NULL;
    }
    return done;
}
