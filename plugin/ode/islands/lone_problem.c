/* The problem of an island that was solved without one, for those who want to see it. */
#include "ode/islands/lone.h"

#include <math.h>

#include "linalg/vec3.h"
#include "ode/islands/lone_group.h"
#include "ode/ledger/record.h"
#include "ode/rows/rows.h"

/* (3 x 6) velocity of the contact along n, t1, t2. */
static void jacobian(const spragLoneContact *c, double J[3][6])
{
    double arm[3];
    spragLoneVector(arm, c->arm, 0);
    const dVector3 n = {(dReal)c->n[0][0], (dReal)c->n[1][0], (dReal)c->n[2][0], 0};
    dVector3 t1, t2;
    dPlaneSpace(n, t1, t2);
    for (int i = 0; i < 3; ++i)
        J[0][i] = c->n[i][0], J[1][i] = t1[i], J[2][i] = t2[i];
    for (int row = 0; row < 3; ++row)
        spragCross3(J[row] + 3, arm, J[row]);
}

static void historyOf(const struct spragWorld *world, const spragIsland *island, const spragLoneRow *row, int k,
                      double J[3][6], spragContactHistory *past)
{
    const spragJointState *joint = &world->snapshot.joint[island->joint[k]];
    const int memory = joint->memory;
    const double sign = spragLoneSign(island, joint);
    double slip[3];
    spragLoneVector(slip, row->slip, 0);
    past->fresh = memory < 0;
    past->free_acceleration = row->b[0];
    for (int i = 0; i < 2; ++i)
        past->slip[i] = spragDot3(J[1 + i], slip);
    if (memory >= 0) /* the records have changed places since */
        spragRecordRecall(&world->next_memory[memory], J[1], J[2], past);
    for (int i = 0; i < 2; ++i)
        past->previous_slip[i] *= sign;
}

/* W_kl = J_k M^-1 J_l^T and its mirror image, to the bits that ode/matrix/delassus.c gets. */
static void couple(const spragBodyState *body, double Jk[3][6], double Jl[3][6], double *block, double *mirror)
{
    for (int j = 0; j < 3; ++j) {
        const double own = body->inverse_mass, Y[3] = {own * Jl[j][0], own * Jl[j][1], own * Jl[j][2]};
        double spin[3];
        spragMul33(spin, body->inverse_inertia, Jl[j] + 3);
        for (int i = 0; i < 3; ++i)
            if (block != mirror || i <= j)
                mirror[3 * j + i] = block[3 * i + j] = spragDot3(Jk[i], Y) + spragDot3(Jk[i] + 3, spin);
    }
}

static int otherBody(const spragSnapshot *s, const spragIsland *island, int k)
{
    const int *body = s->joint[island->joint[k]].body;
    return body[body[0] == island->body[0]];
}

/* Of an infinite coefficient: what presses is held; bound (6): lo, hi. */
static void boundsOf(int presses, double bound[6])
{
    const double most = presses ? INFINITY : 0;
    bound[0] = 0, bound[3] = INFINITY;
    for (int row = 1; row < 3; ++row)
        bound[row] = -most, bound[3 + row] = most;
}

int spragLoneProblem(const struct spragWorld *world, const spragIsland *island, spragArena *arena,
                     spragProblem *problem)
{
    const spragSnapshot *s = &world->snapshot;
    const spragBodyState *body = &s->body[island->body[0]];
    const int n = island->joint_count;
    const spragLoneGroup *group = spragLoneAgain(world, island, arena);
    double(*J)[3][6] = spragArenaTake(arena, (size_t)n, sizeof *J);
    double *W = SPRAG_TAKE(arena, double, 9 * n * n), *q = SPRAG_TAKE(arena, double, 3 * n),
           *mu = SPRAG_TAKE(arena, double, n), *bound = SPRAG_TAKE(arena, double, 6 * n);
    unsigned char *kind = SPRAG_TAKE(arena, unsigned char, n); /* 0: CONTACT */
    int *row_start = SPRAG_TAKE(arena, int, n + 1), *column = SPRAG_TAKE(arena, int, n *n),
        *bodies = SPRAG_TAKE(arena, int, 2 * n);
    spragContactHistory *history = SPRAG_TAKE(arena, spragContactHistory, n);
    if (!group || !J || !W || !q || !mu || !bound || !kind || !row_start || !column || !bodies || !history)
        return 0;
    int boxes = 0;
    for (int k = 0; k < n; ++k) {
        const spragLoneContact *c = &group->bodies.contact[k];
        double free[3];
        jacobian(c, J[k]);
        spragLoneVector(free, c->q, 0);
        for (int i = 0; i < 3; ++i)
            q[3 * k + i] = spragDot3(J[k][i], free);
        mu[k] = c->mu[0];
        if (mu[k] >= SPRAG_COEFFICIENT_INFINITE) {
            mu[k] = 0, kind[k] = SPRAG_BLOCK_BOX, boxes = 1;
            boundsOf(world->memory[island->first_record + k].mode != SPRAG_MODE_OPEN, bound + 6 * k);
        }
        bodies[2 * k] = island->body[0], bodies[2 * k + 1] = otherBody(s, island, k);
        historyOf(world, island, &group->row[k], k, J[k], &history[k]);
        row_start[k + 1] = n * (k + 1);
    }
    for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l) {
            column[n * k + l] = l;
            if (l >= k)
                couple(body, J[k], J[l], W + 9 * (n * k + l), W + 9 * (n * l + k));
            if (k == l)
                W[9 * (n * k + k)] += group->bodies.contact[k].compliance[0];
        }
    *problem = (spragProblem){.contact_count = n,
                              .block_count = n * n,
                              .row_start = row_start,
                              .column = column,
                              .W = W,
                              .q = q,
                              .mu = mu,
                              .kind = boxes ? kind : NULL,
                              .bound = boxes ? bound : NULL,
                              .body = bodies,
                              .history = history,
                              .step = s->step};
    return 1;
}
