#include "ode/rows/rows.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "linalg/vec3.h"
#include "ode/shape/velocity_product.h"
#include "solve/greedy/greedy.h"
#include "solve/contact/policy.h"

/* ---------------------------------------------------------------- geometry */

int spragContactFrame(const dContact *contact, const double n[3], double t1[3], double t2[3])
{
    if (contact->surface.mode & dContactFDir1) {
        const double along = contact->fdir1[0] * n[0] + contact->fdir1[1] * n[1] + contact->fdir1[2] * n[2];
        for (int i = 0; i < 3; ++i)
            t1[i] = contact->fdir1[i] - along * n[i];
        const double length = spragNorm3(t1);
        if (length > 1e-6) {
            for (int i = 0; i < 3; ++i)
                t1[i] /= length;
            spragCross3(t2, n, t1);
            return 0;
        }
    }
    const dVector3 axis = {(dReal)n[0], (dReal)n[1], (dReal)n[2], 0};
    dVector3 p, q;
    dPlaneSpace(axis, p, q);
    for (int i = 0; i < 3; ++i) {
        t1[i] = p[i];
        t2[i] = q[i];
    }
    return 1;
}

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

static double inNumbers(double limit)
{
    return limit > SPRAG_FRICTION_GREATEST ? INFINITY : limit > SPRAG_FRICTION_LEAST ? limit : 0;
}

/* What friction along one tangent is bounded by: a coefficient, or a force in N. */
typedef struct TangentLaw {
    double limit;
    int proportional;
} TangentLaw;

static TangentLaw tangentLaw(const dSurfaceParameters *p, int second)
{
    const double mu = second && (p->mode & dContactMu2) ? p->mu2 : p->mu;
    const int proportional = (p->mode & (second ? dContactApprox1_2 : dContactApprox1_1)) != 0;
    return (TangentLaw){proportional && mu >= SPRAG_COEFFICIENT_INFINITE ? INFINITY : inNumbers(mu), proportional};
}

/* A coefficient along one tangent and a force along the other, or one of them
 * infinite: no ellipse, each has its own law. */
static int hasSecondLaw(const dSurfaceParameters *p)
{
    const int mode = p->mode & (dContactMu2 | dContactApprox1_1 | dContactApprox1_2);
    if (mode == 0 || mode == (dContactApprox1_1 | dContactApprox1_2))
        return 0; /* one law for both */
    const TangentLaw a = tangentLaw(p, 0), b = tangentLaw(p, 1);
    return a.limit > 0 && b.limit > 0 && (isinf(a.limit) != isinf(b.limit) || a.proportional != b.proportional);
}

/* The law of the contact's own block; of t1 alone if t2 has its own. */
static void frictionLaw(const dSurfaceParameters *p, double h, spragBlock *block)
{
    const TangentLaw a = tangentLaw(p, 0), b = tangentLaw(p, 1);
    const double mu2 = hasSecondLaw(p) ? 0 : b.limit;
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
    const spragCurvedContact contact = {body, &block->curvature, block->n, point, alone ? NULL : middle, mu};
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
    }
    block->curved = 1;
    spragBlockProduct(s, block, body, block->product, block->carried);
    if (joint->memory < 0)
        memset(block->carried, 0, sizeof block->carried);
}

/* A coefficient so large that it holds whatever is pressed; of rolling friction, times the bodies' own length. */
#define HOLDS 1e3
/* The same of rolling friction about t1 or t2 that has another coefficient about the other one, as that scales a row by
 * their ratio, and W by its square. */
#define HOLDS_BESIDE 30

/* Row t2 alone, with the motion, slip and product that the contact's block has for it. */
static void secondLaw(const dSurfaceParameters *p, double h, int parent, const spragBlock *contact, spragBlock *block)
{
    const TangentLaw law = tangentLaw(p, 1);
    *block = *contact;
    block->part = SPRAG_PART_SECOND;
    block->kind = law.proportional ? SPRAG_BLOCK_ROLLING : SPRAG_BLOCK_BOX;
    block->parent = law.proportional ? parent : -1;
    block->mu = 0;
    block->mu_minus = fmin(law.limit, HOLDS);
    block->parts = 0;
    for (int row = 0; row < 3; ++row) {
        block->unused[row] = row < 2;
        boxRow(block, row, row < 2 ? 0 : -law.limit * h, row < 2 ? 0 : law.limit * h);
    }
}

/* ---------------------------------------------------------------- rolling friction */

/* Friction about t1, t2, n: m in proportion to the normal force, else N m. */
typedef struct Rolling {
    double rho[3];
    int proportional[3];
} Rolling;

/* L: m, the bodies' own length. */
static Rolling rollingOf(const dSurfaceParameters *p, double L)
{
    static const int bit[3] = {dContactApprox1_1, dContactApprox1_2, dContactApprox1_N};
    const int separate = (p->mode & dContactAxisDep) != 0;
    Rolling rolling = {{p->rho, separate ? p->rho2 : p->rho, separate ? p->rhoN : p->rho}, {0}};
    double *rho = rolling.rho;
    for (int row = 0; row < 3; ++row) {
        rho[row] = inNumbers(rho[row]);
        rolling.proportional[row] = (p->mode & bit[row]) != 0;
    }
    const int both = rolling.proportional[0] && rolling.proportional[1] && rho[0] > 0 && rho[1] > 0;
    const int beside = both && rho[0] != rho[1];
    for (int row = 0; row < 3; ++row)
        if (rolling.proportional[row])
            rho[row] = fmin(rho[row], (row < 2 && beside ? HOLDS_BESIDE : HOLDS) * L);
    return rolling;
}

/* Has it rows of this kind? */
static int hasRolling(const dSurfaceParameters *p, int proportional)
{
    if (!(p->mode & dContactRolling))
        return 0;
    const Rolling rolling = rollingOf(p, INFINITY);
    int has = 0;
    for (int row = 0; row < 3; ++row)
        has |= rolling.rho[row] > 0 && rolling.proportional[row] == proportional;
    return has;
}

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
    const Rolling rolling = rollingOf(p, L);
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

enum { COMPLIANT = dContactSoftCFM | dContactSlip1 | dContactSlip2 };

static spragStatus checkSurface(const dSurfaceParameters *p)
{
    const struct {
        int mode;
        dReal value;
        const char *name;
        int any; /* 1: DBL_MAX is as good as another */
    } field[] = {{dContactBounce, p->bounce, "bounce", 0},      {dContactBounce, p->bounce_vel, "bounce_vel", 1},
                 {dContactSoftERP, p->soft_erp, "soft_erp", 0}, {dContactSoftCFM, p->soft_cfm, "soft_cfm", 1},
                 {dContactMotion1, p->motion1, "motion1", 0},   {dContactMotion2, p->motion2, "motion2", 0},
                 {dContactMotionN, p->motionN, "motionN", 0},   {dContactSlip1, p->slip1, "slip1", 1},
                 {dContactSlip2, p->slip2, "slip2", 1}};
    for (size_t i = 0; i < sizeof field / sizeof *field; ++i)
        if ((p->mode & field[i].mode) &&
            !(field[i].any ? isfinite(field[i].value) : spragIsUsable((double)field[i].value)))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "contact surface: %s = %g, beyond 1e60 or NaN", field[i].name,
                             (double)field[i].value);
    for (size_t i = 0; i < sizeof field / sizeof *field; ++i)
        if ((p->mode & field[i].mode & COMPLIANT) && field[i].value < 0)
            return spragFail(SPRAG_ERROR_RANGE, "contact surface: %s = %g, expected >= 0", field[i].name,
                             (double)field[i].value);
    return SPRAG_OK;
}

/* Coefficients may be infinite. */
static spragStatus checkFriction(const dSurfaceParameters *p, int lenient)
{
    const struct {
        int mode; /* all of these bits */
        dReal value;
        const char *name;
    } field[] = {{0, p->mu, "mu"},
                 {dContactMu2, p->mu2, "mu2"},
                 {dContactRolling, p->rho, "rho"},
                 {dContactRolling | dContactAxisDep, p->rho2, "rho2"},
                 {dContactRolling | dContactAxisDep, p->rhoN, "rhoN"}};
    for (size_t i = 0; i < sizeof field / sizeof *field; ++i) {
        if ((p->mode & field[i].mode) != field[i].mode)
            continue;
        if (isnan(field[i].value))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "contact surface: %s is NaN", field[i].name);
        if (field[i].value < 0 && !lenient)
            return spragFail(SPRAG_ERROR_RANGE, "contact surface: %s = %g, expected >= 0", field[i].name,
                             (double)field[i].value);
    }
    return SPRAG_OK;
}

/* 0: its normal is 0, or NaN. */
static int hasDirection(const dContactGeom *geom)
{
    const double square = spragNormalSquare(geom);
    return square >= 1 / (SPRAG_GREATEST * SPRAG_GREATEST) && square <= SPRAG_GREATEST * SPRAG_GREATEST;
}

spragStatus spragContactCheck(const dContact *contact, int lenient)
{
    const dContactGeom *geom = &contact->geom;
    for (int i = 0; i < 3; ++i) {
        if (!spragIsUsable((double)geom->pos[i]) || !spragIsUsable((double)geom->normal[i]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "contact: pos[%d] = %g, normal[%d] = %g, beyond 1e60 or NaN", i,
                             (double)geom->pos[i], i, (double)geom->normal[i]);
        if ((contact->surface.mode & dContactFDir1) && !spragIsUsable((double)contact->fdir1[i]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "contact: fdir1[%d] = %g, beyond 1e60 or NaN", i,
                             (double)contact->fdir1[i]);
    }
    if (!spragIsUsable((double)geom->depth))
        return spragFail(SPRAG_ERROR_NOT_FINITE, "contact: depth = %g, beyond 1e60 or NaN", (double)geom->depth);
    if (!hasDirection(geom))
        return spragFail(SPRAG_ERROR_RANGE, "contact: the normal has length %g, expected 1",
                         sqrt(spragNormalSquare(geom)));
    const spragStatus status = checkFriction(&contact->surface, lenient);
    return status == SPRAG_OK ? checkSurface(&contact->surface) : status;
}

enum {
    PLAIN = dContactApprox1 | dContactSoftERP | dContactSoftCFM | dContactBounce | dContactFDir1 | dContactMotion1 |
            dContactMotion2,
    PROPORTIONAL = dContactApprox1_1 | dContactApprox1_2
};

/* slip1 or slip2, m/s per N, beyond which single precision has no room for squares (solve/greedy/greedy_lanes.h). */
#define SLIP_GREATEST 1e12

static double usableSlip(double slip)
{
    return slip >= 0 && slip <= SLIP_GREATEST ? slip : (double)NAN;
}

/* `mode`: bits of contact->surface.mode; slips: may it have dContactSlip1, dContactSlip2? */
static int isPlain(const dContact *contact, int mode, int slips)
{
    const dSurfaceParameters *p = &contact->surface;
    const dContactGeom *g = &contact->geom;
    const dReal *x = g->pos;
    double sum = fabs((double)x[0]) + fabs((double)x[1]) + fabs((double)x[2]) + fabs((double)g->depth);
    if ((mode & ~(slips ? PLAIN | dContactSlip1 | dContactSlip2 : PLAIN)) != 0)
        return 0;
    if (p->mode & dContactSoftERP)
        sum += fabs((double)p->soft_erp);
    if (p->mode & dContactSoftCFM)
        sum += p->soft_cfm >= 0 ? p->soft_cfm : (double)NAN;
    if (p->mode & dContactBounce)
        sum += fabs((double)p->bounce) + 0 * (double)p->bounce_vel; /* DBL_MAX will do */
    if (p->mode & dContactMotion1)
        sum += fabs((double)p->motion1);
    if (p->mode & dContactMotion2)
        sum += fabs((double)p->motion2);
    if (p->mode & dContactSlip1)
        sum += usableSlip((double)p->slip1);
    if (p->mode & dContactSlip2)
        sum += usableSlip((double)p->slip2);
    if (p->mode & dContactFDir1)
        sum += fabs((double)contact->fdir1[0]) + fabs((double)contact->fdir1[1]) + fabs((double)contact->fdir1[2]);
    return sum <= SPRAG_GREATEST && hasDirection(g);
}

static int hasCoefficient(const dSurfaceParameters *p)
{
    return (p->mode & PROPORTIONAL) == PROPORTIONAL && p->mu > SPRAG_FRICTION_LEAST;
}

int spragContactIsPlain(const dContact *contact, int slips)
{
    const dSurfaceParameters *p = &contact->surface;
    return hasCoefficient(p) && !spragFrictionIsInfinite(p) && isPlain(contact, p->mode, slips);
}

int spragContactSticks(const dContact *contact, int slips)
{
    const dSurfaceParameters *p = &contact->surface;
    return isinf(tangentLaw(p, 0).limit) && isinf(tangentLaw(p, 1).limit) && isPlain(contact, p->mode, slips);
}

double spragPlainMu(const dContact *contact)
{
    const dSurfaceParameters *p = &contact->surface;
    return !spragFrictionIsInfinite(p) ? p->mu : p->mode & PROPORTIONAL ? SPRAG_GREEDY_STICKS : SPRAG_GREEDY_GLUED;
}

int spragContactIsRoller(const dContact *contact, int slips)
{
    const dSurfaceParameters *p = &contact->surface;
    return (p->mode & dContactRolling) && hasCoefficient(p) && p->rho > SPRAG_FRICTION_LEAST &&
           isPlain(contact, p->mode & ~dContactRolling, slips);
}

double spragRollerBound(const dContact *contact, double L)
{
    return rollingOf(&contact->surface, L).rho[0] / L;
}

int spragContactBlockCount(const dContact *contact)
{
    const dSurfaceParameters *p = &contact->surface;
    return 1 + hasSecondLaw(p) + hasRolling(p, 1) + hasRolling(p, 0);
}

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
    const double resting = spragConeOf(surface->mu_static);
    if (block->kind == SPRAG_BLOCK_CONTACT && resting > block->mu)
        spragBlockHold(block, resting, resting, spragBlockRested(s, block, record));
    spragBlock *next = block + 1;
    if (hasSecondLaw(&contact->surface))
        secondLaw(&contact->surface, s->step, first, block, next++);
    for (int proportional = 1; proportional >= 0; --proportional)
        if (hasRolling(&contact->surface, proportional))
            rollingBlock(s, &contact->surface, proportional, first, block, next++);
}
