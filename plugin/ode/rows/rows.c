#include "ode/rows/rows.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "linalg/vec3.h"
#include "ode/shape/velocity_product.h"
#include "solve/contact/policy.h"
#include "solve/greedy/greedy.h"

/* ---------------------------------------------------------------- geometry */

/* before: the contact before it, or NULL; on a plane it has the same frame. */
static void makeFrame(spragBlock *block, const spragBlock *before, const spragJointState *joint)
{
    const dContact *contact = joint->contact;
    spragContactNormal(joint, block->n);
    if (!(contact->surface.mode & dContactFDir1) && before != NULL && before->own_frame &&
        memcmp(before->n, block->n, sizeof block->n) == 0) {
        memcpy(block->t1, before->t1, sizeof block->t1);
        memcpy(block->t2, before->t2, sizeof block->t2);
        block->own_frame = 1;
        return;
    }
    block->own_frame = (unsigned char)spragContactFrame(contact, block->n, block->t1, block->t2);
}

/* Row along direction d: linear d and moment (P - G) x d for body a, the negative for body b. */
void spragBlockRow(const spragSnapshot *s, spragBlock *block, int row, const double d[3])
{
    double point[3];
    spragBlockPoint(block, point);
    for (int side = 0; side < 2; ++side) {
        if (block->body[side] < 0)
            continue;
        const double *G = s->body[block->body[side]].position, sign = side == 0 ? 1 : -1;
        const double arm[3] = {point[0] - G[0], point[1] - G[1], point[2] - G[2]};
        double moment[3];
        spragCross3(moment, arm, d);
        for (int i = 0; i < 3; ++i) {
            block->J[side][row][i] = sign * d[i];
            block->J[side][row][3 + i] = sign * moment[i];
        }
    }
}

void spragBlockOwn(const spragSnapshot *s, const spragBlock *block, double W[9])
{
    memset(W, 0, 9 * sizeof *W);
    for (int side = 0; side < 2; ++side) {
        const spragBodyState *body = block->body[side] < 0 ? NULL : &s->body[block->body[side]];
        for (int j = 0; j < 3 && body != NULL && !body->kinematic; ++j) {
            double spin[3];
            spragMul33(spin, body->inverse_inertia, block->J[side][j] + 3);
            for (int i = 0; i < 3; ++i)
                W[3 * i + j] += body->inverse_mass * spragDot3(block->J[side][i], block->J[side][j]) +
                                spragDot3(block->J[side][i] + 3, spin);
        }
    }
}

double spragBlockVelocity(const spragSnapshot *s, const spragBlock *block, int row)
{
    double u = 0;
    for (int side = 0; side < 2; ++side)
        if (block->body[side] >= 0) {
            const double *v = s->body[block->body[side]].velocity, *J = block->J[side][row];
            u += spragDot3(J, v) + spragDot3(J + 3, v + 3);
        }
    return u;
}

int spragBlockRested(const spragSnapshot *s, const spragBlock *block, const spragContactMemory *record)
{
    if (record != NULL)
        return record->mode == SPRAG_MODE_STICK;
    const double slip[2] = {spragBlockVelocity(s, block, 1) - block->rhs[1],
                            spragBlockVelocity(s, block, 2) - block->rhs[2]};
    return spragNorm2(slip) <= SPRAG_SLIP_TOLERANCE;
}

int spragRestsAt(const spragContactMemory *old, const double slip[2], const double change[3])
{
    return old->mode == SPRAG_MODE_STICK &&
           slip[0] * slip[0] + slip[1] * slip[1] <= SPRAG_REST_SHARE * SPRAG_REST_SHARE * spragDot3(change, change);
}

/* ---------------------------------------------------------------- normal row */

void spragSurfaceSpring(const spragSurface *surface, double step, double *erp, double *cfm)
{
    if (!(surface->stiffness > 0))
        return;
    *cfm = 1 / (step * surface->stiffness + surface->damping);
    *erp = step * surface->stiffness * *cfm;
}

/* rhs = max(min(correction + motion, greatest correcting velocity), bounce); compliance = cfm / h. */
spragNormalRow spragNormalRowOf(const struct spragWorld *world, const dContact *contact, const spragSurface *surface,
                                double approach)
{
    const dSurfaceParameters *p = &contact->surface;
    const double h = world->snapshot.step;
    double erp = p->mode & dContactSoftERP ? p->soft_erp : world->snapshot.erp;
    double cfm = p->mode & dContactSoftCFM ? p->soft_cfm : world->snapshot.cfm;
    double period = p->mode & dContactSoftERP ? h : world->snapshot.pace;
    if (surface != NULL && surface->stiffness > 0) {
        spragSurfaceSpring(surface, h, &erp, &cfm);
        period = h;
    }
    const double motion = p->mode & dContactMotionN ? p->motionN : 0;
    const double asked = spragCorrection(&world->snapshot, erp, period, contact->geom.depth) + motion;
    spragNormalRow row = {.rhs = fmin(asked, world->snapshot.greatest_correction), .compliance = cfm / h};
    row.correction = fmax(row.rhs - motion, 0);
    if (p->mode & dContactBounce && p->bounce_vel >= 0) {
        const double rebound = p->bounce * (motion - approach) + motion;
        if (motion - approach > p->bounce_vel && rebound > row.rhs) {
            row.rhs = rebound;
            row.correction = 0;
        }
    }
    return row;
}

static void normalRow(const struct spragWorld *world, const dContact *contact, const spragSurface *surface,
                      spragBlock *block)
{
    block->approach = spragBlockVelocity(&world->snapshot, block, 0) - world->snapshot.step * block->carried[0];
    const spragNormalRow row = spragNormalRowOf(world, contact, surface, block->approach);
    block->rhs[0] = row.rhs;
    block->correction = row.correction;
    block->compliance[0] = row.compliance;
}

/* ---------------------------------------------------------------- friction */

/* Two coefficients of one disc: mu, and the scale that makes the second equal to it.
 * A direction without friction has no row. */
static double makeDisc(spragBlock *block, double mu1, double mu2, int row1)
{
    block->scale = mu1 > 0 && mu2 > 0 && !isinf(mu1) ? mu2 / mu1 : 1;
    block->unused[row1] = !(mu1 > 0);
    block->unused[row1 + 1] = !(mu2 > 0);
    return mu1 > 0 ? mu1 : mu2;
}

static void boxRow(spragBlock *block, int row, double lo, double hi)
{
    block->lo[row] = lo;
    block->hi[row] = hi;
}

/* The law of the contact's own block; of t1 alone if t2 has its own. */
static void frictionLaw(const dSurfaceParameters *p, double h, spragBlock *block)
{
    const spragTangentLaw a = spragTangentLawOf(p, 0), b = spragTangentLawOf(p, 1);
    const double mu2 = spragHasSecondLaw(p) ? 0 : b.limit;
    block->scale = 1;
    block->kind = SPRAG_BLOCK_CONTACT;
    if (!(a.limit > 0) && !(mu2 > 0))
        return;
    const double mu = makeDisc(block, a.limit, mu2, 1);
    if (isinf(mu)) {
        block->kind = SPRAG_BLOCK_BOX;
        block->parts = (a.limit > 0 && a.proportional) || (mu2 > 0 && b.proportional);
        boxRow(block, 0, 0, INFINITY);
        for (int row = 1; row < 3; ++row)
            boxRow(block, row, block->unused[row] ? 0 : -INFINITY, block->unused[row] ? 0 : INFINITY);
        return;
    }
    const int coefficient = a.limit > 0 ? a.proportional : b.proportional;
    block->kind = coefficient ? SPRAG_BLOCK_CONTACT : SPRAG_BLOCK_FORCE_LIMIT;
    block->mu = block->mu_minus = coefficient ? mu : mu * h;
}

/* Motion and slip along t1, t2; row t2 carries the scale of the ellipse: u_2' = s u_2, r_2 = s r_2'. */
static void tangentRows(const dSurfaceParameters *p, double h, spragBlock *block)
{
    const double s = block->scale;
    block->rhs[1] = p->mode & dContactMotion1 ? p->motion1 : 0;
    block->rhs[2] = p->mode & dContactMotion2 ? p->motion2 * s : 0;
    block->compliance[1] = p->mode & dContactSlip1 ? p->slip1 / h : 0;
    block->compliance[2] = p->mode & dContactSlip2 ? p->slip2 * s * s / h : 0;
    for (int side = 0; side < 2; ++side)
        for (int i = 0; i < 6; ++i)
            block->J[side][2][i] *= s;
}

int spragSameGeoms(const spragJointState *a, const spragJointState *b)
{
    const dContactGeom *x = &a->contact->geom, *y = &b->contact->geom;
    return a->body[0] == b->body[0] && a->body[1] == b->body[1] && x->g1 == y->g1 && x->g2 == y->g2 &&
           a->reversed == b->reversed;
}

void spragBlockProduct(const spragSnapshot *s, const spragBlock *block, const spragBodyState *const body[2],
                       double product[3], double carried[3])
{
    double point[3], middle[3], across[3], rest[3];
    for (int i = 0; i < 3; ++i)
        product[i] = carried[i] = 0;
    if (!block->curved)
        return;
    spragBlockPoint(block, point);
    for (int i = 0; i < 3; ++i)
        middle[i] = block->position[i] + block->off[i];
    const int alone = !(spragDot3(block->off, block->off) > 0);
    const double mu = block->part != SPRAG_PART_CONTACT    ? (double)NAN
                      : block->kind == SPRAG_BLOCK_CONTACT ? block->mu * fmax(1, block->scale)
                                                           : INFINITY;
    const spragCurvedContact contact = {body, &block->curvature, block->n, point, alone ? NULL : middle,
                                        mu,   block->memory >= 0};
    product[0] = spragFaceProduct(&contact, s->step, across, rest);
    if (block->part == SPRAG_PART_CONTACT && block->memory >= 0) {
        carried[0] = fmin(product[0], 0); /* velocity_product.h, Pressing */
        product[0] -= carried[0];
    }
    if (block->kind == SPRAG_BLOCK_BOX)
        return; /* several that hold: their points on a turning body ask for accelerations no rigid body has */
    product[1] = spragDot3(block->t1, across);
    product[2] = spragDot3(block->t2, across) * block->scale;
    carried[1] = spragDot3(block->t1, rest);
    carried[2] = spragDot3(block->t2, rest) * block->scale;
}

static void addProduct(const spragSnapshot *s, const spragJointState *joint, const spragSurface *surface,
                       spragBlock *block)
{
    const spragBodyState *body[2];
    spragCurvature *curvature = &block->curvature;
    double point[3]; /* on a line that rolls one for all, or Jdot v draws its points apart */
    for (int i = 0; i < 3; ++i)
        point[i] = block->position[i] + (block->rolls ? block->off[i] : 0);
    spragCurvatureOf(s, joint, point, block->n, curvature);
    for (int side = 0; side < 2; ++side) {
        body[side] = joint->body[side] < 0 ? NULL : &s->body[joint->body[side]];
        const double said = surface->curvature_radius[joint->reversed ? 1 - side : side];
        if (body[side] != NULL && said >= 0)
            curvature->radius[side] = said;
        curvature->has_axis &= !(said >= 0);
        if (said >= 0)
            curvature->rim.share = 0;
    }
    block->curved = 1;
    spragBlockProduct(s, block, body, block->product, block->carried);
    if (joint->memory < 0)
        memset(block->carried, 0, sizeof block->carried);
}

/* Row t2 alone, with the motion, slip and product that the contact's block has for it. */
static void secondLaw(const dSurfaceParameters *p, double h, int parent, const spragBlock *contact, spragBlock *block)
{
    const spragTangentLaw law = spragTangentLawOf(p, 1);
    *block = *contact;
    block->part = SPRAG_PART_SECOND;
    block->kind = law.proportional ? SPRAG_BLOCK_ROLLING : SPRAG_BLOCK_BOX;
    block->parent = law.proportional ? parent : -1;
    block->mu = 0;
    block->mu_minus = spragConeOf(law.limit);
    block->parts = 0;
    for (int row = 0; row < 3; ++row) {
        block->unused[row] = row < 2;
        boxRow(block, row, row < 2 ? 0 : -law.limit * h, row < 2 ? 0 : law.limit * h);
    }
}

/* ---------------------------------------------------------------- rolling friction */

double spragLengthOf(const spragSnapshot *s, const int bodies[2])
{
    double translates = 0, turns = 0;
    for (int side = 0; side < 2; ++side)
        if (bodies[side] >= 0) {
            const spragBodyState *body = &s->body[bodies[side]];
            translates += body->inverse_mass;
            turns += (body->inverse_inertia[0] + body->inverse_inertia[4] + body->inverse_inertia[8]) / 3;
        }
    return translates > 0 && turns > 0 ? sqrt(translates / turns) : 1;
}

/* Rows: L times the relative angular velocity about t1, t2, n; impulses of rolling are moments / L. */
static void rollingBlock(const spragSnapshot *s, const dSurfaceParameters *p, int proportional, int parent,
                         const spragBlock *contact, spragBlock *block)
{
    const double L = spragLengthOf(s, contact->body);
    const spragRolling rolling = spragRollingOf(p, L);
    const double *axis[3] = {contact->t1, contact->t2, contact->n};
    double rho[3];
    *block = (spragBlock){.joint = contact->joint,
                          .part = SPRAG_PART_ROLLING,
                          .kind = proportional ? SPRAG_BLOCK_ROLLING : SPRAG_BLOCK_BOX,
                          .parent = proportional ? parent : -1,
                          .memory = -1,
                          .scale = 1};
    memcpy(block->body, contact->body, sizeof block->body);
    for (int row = 0; row < 3; ++row) {
        rho[row] = rolling.proportional[row] == proportional ? rolling.rho[row] / L : 0;
        block->unused[row] = !(rho[row] > 0);
        const double most = block->unused[row] ? 0 : rho[row] * s->step;
        boxRow(block, row, -most, most);
    }
    if (proportional) {
        block->mu = makeDisc(block, rho[0], rho[1], 0);
        block->mu_minus = rho[2];
    }
    for (int row = 0; row < 3; ++row)
        for (int side = 0; side < 2; ++side)
            for (int i = 0; i < 3 && block->body[side] >= 0; ++i)
                block->J[side][row][3 + i] = (side == 0 ? L : -L) * (row == 1 ? block->scale : 1) * axis[row][i];
}

/* ---------------------------------------------------------------- contact */

/* On a line that rolls: along it friction acts at the height of the middle all the same. */
static void level(const spragFace *face, spragBlock *block)
{
    double line[3], moment[3];
    const double lift = spragDot3(block->n, block->off), part = spragDot3(block->n, face->line);
    for (int i = 0; i < 3; ++i)
        line[i] = face->line[i] - part * block->n[i];
    const double square = spragDot3(line, line);
    if (!(square > 0))
        return;
    spragCross3(moment, block->n, line);
    for (int row = 1; row < 3; ++row) {
        const double share = lift * spragDot3(row == 1 ? block->t1 : block->t2, line) / square;
        for (int side = 0; side < 2; ++side)
            for (int i = 0; i < 3 && block->body[side] >= 0; ++i)
                block->J[side][row][3 + i] += (side == 0 ? share : -share) * moment[i];
    }
}

void spragContactBlocks(const struct spragWorld *world, int j, const spragSurface *surface, const spragFace *face,
                        int first, const spragBlock *before, spragBlock *block)
{
    const spragSnapshot *s = &world->snapshot;
    const spragJointState *joint = &s->joint[j];
    const dContact *contact = joint->contact;
    *block = (spragBlock){.joint = j,
                          .parent = -1,
                          .memory = joint->memory,
                          .body = {joint->body[0], joint->body[1]},
                          .articulation = {-1, -1}}; /* as of what joins a working set later */
    if (before != NULL && before->part != SPRAG_PART_CONTACT)
        before = NULL;
    makeFrame(block, before, joint);
    for (int i = 0; i < 3; ++i) {
        block->position[i] = contact->geom.pos[i];
        block->off[i] = face->middle[i] - block->position[i];
    }
    block->rolls = (unsigned char)face->rolls;
    block->gap = -contact->geom.depth;
    spragBlockRow(s, block, 0, block->n);
    spragBlockRow(s, block, 1, block->t1);
    spragBlockRow(s, block, 2, block->t2);
    frictionLaw(&contact->surface, s->step, block);
    if (block->rolls)
        level(face, block);
    tangentRows(&contact->surface, s->step, block);
    if (block->kind != SPRAG_BLOCK_CONTACT || block->mu > 0)
        addProduct(s, joint, surface, block);
    normalRow(world, contact, surface, block);
    const spragContactMemory *record = joint->memory >= 0 ? &world->memory[joint->memory] : NULL;
    block->cone_barred = record == NULL ? 0 : (unsigned char)record->cone_barred;
    const double resting = spragConeOf(surface->mu_static);
    if (block->kind == SPRAG_BLOCK_CONTACT && resting > block->mu)
        spragBlockHold(block, resting, resting, spragBlockRested(s, block, record));
    spragBlock *next = block + 1;
    if (spragHasSecondLaw(&contact->surface))
        secondLaw(&contact->surface, s->step, first, block, next++);
    for (int proportional = 1; proportional >= 0; --proportional)
        if (spragHasRolling(&contact->surface, proportional))
            rollingBlock(s, &contact->surface, proportional, first, block, next++);
}
