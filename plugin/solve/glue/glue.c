#include "solve/glue/glue.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/ldlt.h"
#include "linalg/vec3.h"
#include "problem/bodies.h"
#include "problem/residual.h"
#include "solve/glue/glue_coarse.h"
#include "solve/glue/glue_factor.h"
#include "solve/solver.h"

enum {
    CENTERS_MOST = 12,     /* proximal points */
    NEWTON_MOST = 25,      /* steps of Newton's method for one of them */
    SEARCHES_MOST = 8,     /* points of a line search */
    LOOK = 10,             /* conjugate gradients between two looks at what they leave */
    PRODUCTS_MOST = 25000, /* with M + J^T S J */
    HALF_OPEN = 9,         /* contacts a body: up to so many a factor is the preconditioner */
    SMALL_HEAP = 5000,     /* contacts: up to so many the tolerance takes milliseconds, and `enough` is not asked for */
    CONTACTS_LINK = 1000,  /* up to so many, of which some have parted, Newton's method with W takes some 10 ms, */
    PRODUCTS_LINK = 500,   /* and more than so many are in vain */
    PARTS_MOST = 60        /* of the heap, that move as a whole */
};
#define SOFT 1e-10          /* e, part of the mean diagonal of W_kk: with less the gradients are slower */
#define SOFT_FACTORED 1e-13 /* the same where there is a factor */
#define MARGIN 0.3          /* part of the slip: gradients end where M^-1 g, m/s, is below it, */
#define SETTLED 3           /* and Newton's method where it is below this many times as much */
#define HALF 0.5            /* part of the last residual: one that falls by less has met rounding */
#define OVER 0.5       /* part of the first slope: the line search ends where the slope is no steeper, up or down */
#define NEAREST 0.1    /* part of the bracket: a point of the line search keeps so far from its ends */
#define UNIT 1e-9      /* by which the square of a unit direction may be off */
#define WORK_MOST 7e9  /* products times contacts: two or three minutes */
#define WORK_SHARE 0.2 /* part of the chain's work, as one of its links */
#define PRICE_MOST 2e9 /* products of 3x3 blocks, of a factorisation */
#define SECONDS_PER_PRICE 3e-8 /* s, of one of these, about */
#define TIME_SHARE 0.2         /* part of a time limit, for a factorisation */
#define SOLUTION_PRICE 10      /* contacts' worth of work, to read a block of the factors: memory is slow */

typedef spragGlueContact Contact;
typedef spragTwist Twist;

/* Row by row: slips are 1e-12 of normal velocities, and would drown in the rounding of a vector of both. */
typedef struct Pull {
    double z[3], center[3]; /* q + J v, m/s; N s */
} Pull;

typedef struct Glue {
    const spragProblem *problem;
    spragGlueHeap heap;
    Pull *pull;              /* (contacts) */
    double (*change)[3];     /* (contacts) J step */
    double (*compliance)[3]; /* (contacts) C of the rows */
    double (*block)[36];     /* (bodies) lower triangles of factors, */
    double (*pivot)[6];      /* and one over their pivots */
    double *r, *u, *best;    /* (3 contacts) */
    Twist *v, *gradient, *step, *direction, *image, *residual;
    double slip; /* m/s, greatest |q_t + J_t v + C r_t| */
    double enough, deadline;
    int brief;   /* 1: without factors it ends */
    int changed; /* contacts that press now and did not before, or the other way round */
    long products, most;
    double work, work_most; /* products times contacts, and what takes as long */
    spragGlueCoarse coarse;
    /* half-open heaps */
    int direct;           /* 1: the preconditioner is a factor of the whole matrix, */
    int factored, stale;  /* which is there; 1: others pressed when it was made */
    int patience, needed; /* iterations that cost as much as another factor; iterations of the last step */
    spragGlueFactor factor;
} Glue;

/* ---------------------------------------------------------------- products */

/* Velocity of the first body's point against that of the second. */
static inline void relative(const Contact *contact, const Twist *v, double out[3])
{
    const double *a = v[contact->body[0]].at, *b = v[contact->body[1]].at, *x = contact->arm[0], *y = contact->arm[1];
    out[0] = a[0] + a[4] * x[2] - a[5] * x[1] - b[0] - b[4] * y[2] + b[5] * y[1];
    out[1] = a[1] + a[5] * x[0] - a[3] * x[2] - b[1] - b[5] * y[0] + b[3] * y[2];
    out[2] = a[2] + a[3] * x[1] - a[4] * x[0] - b[2] - b[3] * y[1] + b[4] * y[0];
}

/* to += J^T p */
static inline void push(const Contact *contact, const double p[3], Twist *to)
{
    double *a = to[contact->body[0]].at, *b = to[contact->body[1]].at;
    const double *x = contact->arm[0], *y = contact->arm[1];
    a[0] += p[0], a[1] += p[1], a[2] += p[2];
    b[0] -= p[0], b[1] -= p[1], b[2] -= p[2];
    a[3] += x[1] * p[2] - x[2] * p[1], a[4] += x[2] * p[0] - x[0] * p[2], a[5] += x[0] * p[1] - x[1] * p[0];
    b[3] -= y[1] * p[2] - y[2] * p[1], b[4] -= y[2] * p[0] - y[0] * p[2], b[5] -= y[0] * p[1] - y[1] * p[0];
}

/* out = M x */
static void momentum(const Glue *glue, const Twist *x, Twist *out)
{
    for (int i = 0; i < glue->heap.bodies; ++i) {
        for (int j = 0; j < 3; ++j)
            out[i].at[j] = glue->heap.mass[i].mass * x[i].at[j];
        spragMul33(out[i].at + 3, glue->heap.mass[i].inertia, x[i].at + 3);
    }
    memset(&out[glue->heap.bodies], 0, sizeof *out);
}

/* out = (M + J^T S J) x */
static void product(Glue *glue, const Twist *x, Twist *out)
{
    ++glue->products, glue->work += glue->heap.contacts;
    momentum(glue, x, out);
    for (int k = 0; k < glue->heap.contacts; ++k) {
        const Contact *contact = &glue->heap.contact[k];
        double d[3];
        relative(contact, x, d);
        const double along = (glue->heap.pressed[k] ? contact->normal : 0) - contact->tangential,
                     normal = spragDot3(contact->n, d);
        for (int i = 0; i < 3; ++i)
            d[i] = contact->tangential * d[i] + along * normal * contact->n[i];
        push(contact, d, out);
    }
    memset(&out[glue->heap.bodies], 0, sizeof *out);
}

static const double *rowOf(const Glue *glue, int k, int side, int row)
{
    const spragBodies *bodies = glue->problem->bodies;
    return bodies->J + (size_t)k * bodies->stride + 18 * side + 6 * row;
}

/* out = J_k v */
static void motionOf(const Glue *glue, int k, const Twist *v, double out[3])
{
    double d[3];
    relative(&glue->heap.contact[k], v, d);
    for (int row = 0; row < 3; ++row)
        out[row] = spragDot3(rowOf(glue, k, 0, row), d);
}

/* to += sign J_k^T r */
static void pushRows(const Glue *glue, int k, double sign, const double r[3], Twist *to)
{
    double p[3] = {0, 0, 0};
    for (int row = 0; row < 3; ++row)
        for (int i = 0; i < 3; ++i)
            p[i] += sign * rowOf(glue, k, 0, row)[i] * r[row];
    push(&glue->heap.contact[k], p, to);
}

/* r(v) of a contact.  1: it presses. */
static int pressOf(const Contact *contact, const Pull *pull, double r[3])
{
    const double *z = pull->z, *c = pull->center, *soft = contact->soft;
    r[0] = fmax(0, (soft[0] * c[0] - z[0]) * contact->normal);
    r[1] = (soft[1] * c[1] - z[1]) * contact->tangential;
    r[2] = (soft[2] * c[2] - z[2]) * contact->tangential;
    return r[0] > 0;
}

static double inner(const Glue *glue, const Twist *a, const Twist *b)
{
    double sum = 0;
    for (int i = 0; i < glue->heap.bodies; ++i)
        for (int j = 0; j < 6; ++j)
            sum += a[i].at[j] * b[i].at[j];
    return sum;
}

static double meanOf(const Glue *glue, int k)
{
    const double *W = glue->problem->W + 9 * (size_t)spragProblemDiagonal(glue->problem, k);
    return (W[0] + W[4] + W[8]) / 3;
}

/* 0: it has parted (ode/islands/parting.h): no tangential impulse. */
static int holds(const spragProblem *problem, int k)
{
    return problem->bound[6 * (size_t)k + 4] > 0;
}

/* e for all contacts. */
static void soften(Glue *glue, double share)
{
    glue->stale = 1;
    for (int k = 0; k < glue->heap.contacts; ++k) {
        const double e = share * meanOf(glue, k), *C = glue->compliance[k];
        const double normal = fmax(C[0], e), tangential = fmax(fmax(C[1], C[2]), e);
        Contact *contact = &glue->heap.contact[k];
        contact->normal = 1 / normal, contact->tangential = 1 / tangential;
        contact->soft[0] = normal - C[0], contact->soft[1] = tangential - C[1], contact->soft[2] = tangential - C[2];
        if (!holds(glue->problem, k))
            contact->tangential = contact->soft[1] = contact->soft[2] = 0;
    }
}

/* gradient = M v - J^T r(v); which contacts press, and the slip. */
static void evaluate(Glue *glue)
{
    ++glue->products, glue->work += glue->heap.contacts;
    momentum(glue, glue->v, glue->gradient);
    double worst = 0;
    for (int k = 0; k < glue->heap.contacts; ++k) {
        const Pull *pull = &glue->pull[k];
        double r[3];
        const unsigned char pressed = (unsigned char)pressOf(&glue->heap.contact[k], pull, r);
        glue->changed += pressed != glue->heap.pressed[k];
        glue->heap.pressed[k] = pressed;
        const double *soft = glue->heap.contact[k].soft, *c = pull->center;
        const double slip[2] = {soft[1] * (c[1] - r[1]), soft[2] * (c[2] - r[2])};
        worst = fmax(worst, slip[0] * slip[0] + slip[1] * slip[1]);
        pushRows(glue, k, -1, r, glue->gradient);
    }
    memset(&glue->gradient[glue->heap.bodies], 0, sizeof *glue->gradient);
    glue->stale |= glue->changed > 0;
    glue->slip = sqrt(worst);
}

/* ---------------------------------------------------------------- the preconditioner */

static const int dense[6] = {0}; /* envelopes of the blocks */

/* block += J_side^T S J_side, lower triangle. */
static void addBlock(const Contact *contact, int side, int pressed, double block[36])
{
    const double *x = contact->arm[side], *n = contact->n;
    const double along = (pressed ? contact->normal : 0) - contact->tangential;
    double turn[3], rows[6][3]; /* columns of J^T: e_i with x times e_i, by rows of the block */
    spragCross3(turn, x, n);
    const double cross[3][3] = {{0, -x[2], x[1]}, {x[2], 0, -x[0]}, {-x[1], x[0], 0}};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            rows[i][j] = i == j, rows[3 + i][j] = cross[i][j];
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j <= i; ++j) {
            const double a = i < 3 ? n[i] : turn[i - 3], b = j < 3 ? n[j] : turn[j - 3];
            block[6 * i + j] += contact->tangential * spragDot3(rows[i], rows[j]) + along * a * b;
        }
}

/* A factor of the whole matrix.  0: there is none, so blocks of the bodies have to do, with an e that suits them. */
static int preconditionWhole(Glue *glue)
{
    if (!glue->direct || (glue->factored && !(glue->stale && glue->needed >= glue->patience)))
        return glue->direct;
    glue->direct = glue->factored = spragGlueFactorMake(&glue->factor);
    glue->work += glue->factor.lu.products;
    glue->stale = 0;
    if (!glue->direct) {
        glue->most = glue->brief ? glue->products : glue->most;
        soften(glue, SOFT);
        evaluate(glue);
    }
    return glue->direct;
}

static void precondition(Glue *glue)
{
    if (preconditionWhole(glue))
        return;
    memset(glue->block, 0, ((size_t)glue->heap.bodies + 1) * sizeof *glue->block);
    for (int i = 0; i < glue->heap.bodies; ++i)
        for (int j = 0; j < 3; ++j) {
            glue->block[i][7 * j] = glue->heap.mass[i].mass;
            for (int k = 0; k <= j; ++k)
                glue->block[i][6 * (3 + j) + 3 + k] = glue->heap.mass[i].inertia[3 * j + k];
        }
    for (int k = 0; k < glue->heap.contacts; ++k)
        for (int side = 0; side < 2; ++side)
            addBlock(&glue->heap.contact[k], side, glue->heap.pressed[k],
                     glue->block[glue->heap.contact[k].body[side]]);
    for (int i = 0; i < glue->heap.bodies; ++i)
        spragLdltFactor(6, dense, glue->block[i], glue->pivot[i]);
    spragGlueCoarseFactor(&glue->coarse);
}

/* out = block^-1 x, or that of the whole matrix */
static void applyInverse(Glue *glue, const Twist *x, Twist *out)
{
    memset(&out[glue->heap.bodies], 0, sizeof *out);
    if (glue->direct) {
        memcpy(out, x, (size_t)glue->heap.bodies * sizeof *x);
        spragBlockLuSolve(&glue->factor.lu, out->at);
        glue->work += SOLUTION_PRICE * (double)glue->factor.lu.u_start[glue->heap.bodies];
        return;
    }
    for (int b = 0; b < glue->heap.bodies; ++b) {
        double *y = out[b].at;
        memcpy(y, x[b].at, sizeof *x);
        spragLdltForward(6, dense, glue->block[b], 1, 0, y);
        for (int i = 0; i < 6; ++i)
            y[i] *= glue->pivot[b][i];
        spragLdltBackward(6, dense, glue->block[b], y);
    }
    spragGlueCoarseAdd(&glue->coarse, x, out);
}

/* ---------------------------------------------------------------- Newton */

/* to += scale x */
static void add(const Glue *glue, Twist *to, double scale, const Twist *x)
{
    for (int i = 0; i < glue->heap.bodies; ++i)
        for (int j = 0; j < 6; ++j)
            to[i].at[j] += scale * x[i].at[j];
}

/* The greatest of g / m, m/s: by how much the motion that r(v) gives a body differs from v. */
static double missOf(const Glue *glue, const Twist *g)
{
    double worst = 0;
    for (int i = 0; i < glue->heap.bodies; ++i)
        worst = fmax(worst, spragNorm3(g[i].at) * glue->heap.mass[i].inverse_mass);
    return worst;
}

static int isSpent(const Glue *glue)
{
    return glue->products >= glue->most || glue->work >= glue->work_most || spragIsLate(glue->deadline);
}

/* Part of the residual that conjugate gradients leave.  While contacts come and go a step is not worth many of them. */
static double forcingOf(const Glue *glue)
{
    const int changed = glue->changed, all = glue->heap.contacts;
    return changed > all / 100 ? 1e-2 : changed > all / 2000 ? 1e-3 : changed > 0 ? 1e-5 : 1e-12;
}

/* step := -(M + J^T S J)^-1 gradient, nearly; S of the contacts that press. */
static void newtonStep(Glue *glue)
{
    const double forcing = forcingOf(glue), small = MARGIN * fmax(glue->slip, glue->enough);
    memset(glue->step, 0, ((size_t)glue->heap.bodies + 1) * sizeof(Twist));
    for (int i = 0; i < glue->heap.bodies; ++i)
        for (int j = 0; j < 6; ++j)
            glue->residual[i].at[j] = -glue->gradient[i].at[j];
    applyInverse(glue, glue->residual, glue->direction);
    double square = inner(glue, glue->residual, glue->direction);
    const double enough = forcing * forcing * square;
    for (glue->needed = 0; square > enough; ++glue->needed) {
        if ((glue->direct || glue->needed % LOOK == 0) && (missOf(glue, glue->residual) <= small || isSpent(glue)))
            break;
        if (glue->direct && glue->stale && glue->needed >= glue->patience)
            break;
        product(glue, glue->direction, glue->image);
        const double length = square / inner(glue, glue->direction, glue->image);
        if (!(length > 0))
            break;
        add(glue, glue->step, length, glue->direction);
        add(glue, glue->residual, -length, glue->image);
        applyInverse(glue, glue->residual, glue->image);
        const double next = inner(glue, glue->residual, glue->image), ratio = next / square;
        for (int i = 0; i < glue->heap.bodies; ++i)
            for (int j = 0; j < 6; ++j)
                glue->direction[i].at[j] = glue->image[i].at[j] + ratio * glue->direction[i].at[j];
        square = next;
    }
}

/* v += length step, z with it. */
static void move(Glue *glue, double length)
{
    add(glue, glue->v, length, glue->step);
    for (int k = 0; k < glue->heap.contacts; ++k)
        for (int i = 0; i < 3; ++i)
            glue->pull[k].z[i] += length * glue->change[k][i];
    evaluate(glue);
}

/* Line search: to where the function ends to fall, whose slope along the step only rises.  z is moved with v, not made
 * anew: 1 / e then multiplies the rounding of the step, not that of v. */
static void search(Glue *glue)
{
    ++glue->products, glue->work += glue->heap.contacts;
    for (int k = 0; k < glue->heap.contacts; ++k)
        motionOf(glue, k, glue->step, glue->change[k]);
    const double falls = inner(glue, glue->gradient, glue->step);
    glue->changed = 0;
    move(glue, 1);
    double low = 0, high = 1, at = 1, below = falls, above = inner(glue, glue->gradient, glue->step);
    int done = !(above > -OVER * falls);
    for (int n = 0; n < SEARCHES_MOST && falls < 0 && !done; ++n) {
        const double next = low + (high - low) * fmin(fmax(below / (below - above), NEAREST), 1 - NEAREST);
        move(glue, next - at);
        at = next;
        const double slope = inner(glue, glue->gradient, glue->step);
        if (slope < 0)
            low = at, below = slope;
        else
            high = at, above = slope;
        done = fabs(slope) <= -OVER * falls;
    }
}

/* v of the present center. */
static void settle(Glue *glue)
{
    double before = INFINITY;
    glue->changed = 0;
    evaluate(glue);
    for (int k = 0; k < NEWTON_MOST && !isSpent(glue); ++k) {
        const double miss = missOf(glue, glue->gradient), small = MARGIN * fmax(glue->slip, glue->enough);
        if (k > 0 && (miss <= SETTLED * small || (glue->changed == 0 && miss > HALF * before))) /* rounding */
            break;
        before = miss;
        precondition(glue);
        newtonStep(glue);
        search(glue);
    }
}

/* ---------------------------------------------------------------- proximal points */

/* glue->r: its motion of bodies, its u, and what the judge says.  The best r so far is kept. */
static double judge(Glue *glue, Twist *motion, double *least)
{
    const spragProblem *problem = glue->problem;
    memset(motion, 0, ((size_t)glue->heap.bodies + 1) * sizeof *motion);
    for (int k = 0; k < glue->heap.contacts; ++k)
        pushRows(glue, k, 1, glue->r + 3 * k, motion);
    for (int i = 0; i < glue->heap.bodies; ++i) {
        double spin[3];
        spragMul33(spin, glue->heap.mass[i].inverse_inertia, motion[i].at + 3);
        for (int j = 0; j < 3; ++j)
            motion[i].at[j] *= glue->heap.mass[i].inverse_mass, motion[i].at[3 + j] = spin[j];
    }
    memset(&motion[glue->heap.bodies], 0, sizeof *motion);
    for (int k = 0; k < glue->heap.contacts; ++k) {
        double d[3];
        motionOf(glue, k, motion, d);
        for (int row = 0; row < 3; ++row)
            glue->u[3 * k + row] = problem->q[3 * k + row] + d[row] + glue->compliance[k][row] * glue->r[3 * k + row];
    }
    const double residual = spragVelocityResidual(problem, glue->r, glue->u);
    if (residual < *least) {
        *least = residual;
        memcpy(glue->best, glue->r, 3 * (size_t)glue->heap.contacts * sizeof *glue->r);
    }
    return residual;
}

/* c := r(v) */
static void moveCenter(Glue *glue)
{
    for (int k = 0; k < glue->heap.contacts; ++k) {
        pressOf(&glue->heap.contact[k], &glue->pull[k], glue->r + 3 * k);
        memcpy(glue->pull[k].center, glue->r + 3 * k, sizeof glue->pull[k].center);
    }
}

/* Rows of side s are +-(d_i, x times d_i): x = 1/2 sum d_i times (x times d_i). */
static void fillLink(Glue *glue, int k)
{
    const spragProblem *problem = glue->problem;
    Contact *contact = &glue->heap.contact[k];
    Pull *pull = &glue->pull[k];
    *contact = (Contact){.n = {0}};
    *pull = (Pull){.z = {0}};
    memcpy(contact->n, rowOf(glue, k, 0, 0), sizeof contact->n);
    for (int side = 0; side < 2; ++side) {
        const int body = problem->bodies->of[2 * k + side];
        contact->body[side] = body < 0 ? glue->heap.bodies : body;
        for (int row = 0; row < 3; ++row) {
            double part[3];
            spragCross3(part, rowOf(glue, k, side, row), rowOf(glue, k, side, row) + 3);
            for (int i = 0; i < 3; ++i)
                contact->arm[side][i] += 0.5 * part[i];
        }
    }
    memcpy(pull->z, problem->q + 3 * k, sizeof pull->z);
    memcpy(pull->center, glue->r + 3 * k, sizeof pull->center);
}

/* The diagonal of C_k = W_kk - J_k M^-1 J_k^T. */
static void findCompliance(Glue *glue, int k)
{
    const double *W = glue->problem->W + 9 * (size_t)spragProblemDiagonal(glue->problem, k);
    for (int row = 0; row < 3; ++row) {
        double own = 0;
        for (int side = 0; side < 2; ++side) {
            const int body = glue->problem->bodies->of[2 * k + side];
            const double *J = rowOf(glue, k, side, row);
            double turned[3];
            if (body < 0)
                continue;
            spragMul33(turned, glue->heap.mass[body].inverse_inertia, J + 3);
            own += glue->heap.mass[body].inverse_mass * spragDot3(J, J) + spragDot3(J + 3, turned);
        }
        glue->compliance[k][row] = fmax(0, W[4 * row] - own);
    }
}

/* 0: no memory. */
static int take(Glue *glue, const spragProblem *problem, spragArena *arena)
{
    const int n = problem->bodies->count;
    glue->problem = problem;
    glue->heap.mass = problem->bodies->mass;
    glue->heap.contacts = problem->contact_count, glue->heap.bodies = n;
    glue->heap.contact = SPRAG_TAKE_RAW(arena, Contact, glue->heap.contacts);
    glue->pull = SPRAG_TAKE_RAW(arena, Pull, glue->heap.contacts);
    glue->heap.pressed = SPRAG_TAKE(arena, unsigned char, glue->heap.contacts);
    glue->best = SPRAG_TAKE_RAW(arena, double, 3 * (size_t)glue->heap.contacts);
    glue->block = spragArenaTakeRaw(arena, (size_t)n + 1, sizeof *glue->block);
    glue->pivot = spragArenaTakeRaw(arena, (size_t)n, sizeof *glue->pivot);
    glue->change = spragArenaTakeRaw(arena, (size_t)glue->heap.contacts, sizeof *glue->change);
    glue->compliance = spragArenaTakeRaw(arena, (size_t)glue->heap.contacts, sizeof *glue->compliance);
    Twist **const all[] = {&glue->v, &glue->gradient, &glue->step, &glue->direction, &glue->image, &glue->residual};
    int taken = glue->change != NULL && glue->compliance != NULL && glue->heap.contact != NULL && glue->pull != NULL &&
                glue->heap.pressed != NULL && glue->best != NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        *all[i] = spragArenaTake(arena, (size_t)n + 1, sizeof(Twist));
        taken = taken && *all[i] != NULL;
    }
    if (!taken || glue->block == NULL || glue->pivot == NULL)
        return 0;
    for (int k = 0; k < glue->heap.contacts; ++k)
        fillLink(glue, k), findCompliance(glue, k);
    return spragGlueCoarseInit(&glue->coarse, &glue->heap, PARTS_MOST, arena);
}

/* Center, v and residual of the guess, or of r = 0 if that is the better one. */
static double begin(Glue *glue, double *least)
{
    const size_t bytes = 3 * (size_t)glue->heap.contacts * sizeof *glue->r;
    double residual = judge(glue, glue->v, least);
    memset(glue->r, 0, bytes);
    const double nothing = judge(glue, glue->step, least);
    if (residual <= nothing) {
        memcpy(glue->r, glue->best, bytes);
    } else {
        residual = nothing;
        for (int k = 0; k < glue->heap.contacts; ++k)
            memset(glue->pull[k].center, 0, sizeof glue->pull[k].center);
        memset(glue->v, 0, ((size_t)glue->heap.bodies + 1) * sizeof *glue->v);
    }
    for (int k = 0; k < glue->heap.contacts; ++k) {
        double moved[3];
        motionOf(glue, k, glue->v, moved);
        for (int i = 0; i < 3; ++i)
            glue->pull[k].z[i] += moved[i];
    }
    return residual;
}

/* Looks whether factors of the whole matrix are cheap enough, and whether there is memory for them. */
static void beginFactored(Glue *glue, double time_limit, spragArena *arena)
{
    const double price_most =
        time_limit > 0 ? fmin(PRICE_MOST, TIME_SHARE * time_limit / SECONDS_PER_PRICE) : PRICE_MOST;
    if (glue->heap.contacts > HALF_OPEN * glue->heap.bodies)
        return;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    const spragBlockLu *lu = &glue->factor.lu;
    glue->direct = spragGlueFactorInit(&glue->factor, &glue->heap, price_most, arena) > 0;
    if (glue->direct)
        glue->patience =
            (int)(0.5 * lu->products / (SOLUTION_PRICE * (double)lu->u_start[glue->heap.bodies] + glue->heap.contacts));
    else
        spragArenaRelease(arena, mark);
}

spragStatus spragGlueSolve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                           double *u, spragSolveInfo *info)
{
    const double content = fmax(options->tolerance, options->enough);
    const int small = problem->contact_count < SMALL_HEAP;
    Glue glue = {.r = r, .u = u, .enough = small ? options->tolerance : content, .work_most = WORK_MOST};
    const spragArenaMark mark = spragArenaMarkGet(arena);
    *info = (spragSolveInfo){.solver = SPRAG_SOLVER_NEWTON, .status = SPRAG_ERROR_MEMORY};
    if (!take(&glue, problem, arena)) {
        spragArenaRelease(arena, mark);
        return info->status;
    }
    glue.deadline = spragDeadline(options->time_limit);
    glue.most = PRODUCTS_MOST;
    if (options->work_limit > 0)
        glue.work_most = fmin(WORK_MOST, options->work_limit);
    if (options->iteration_limit > 0 && options->iteration_limit < glue.most)
        glue.most = options->iteration_limit, glue.brief = 1;
    double least = INFINITY, residual = begin(&glue, &least);
    if (residual > glue.enough)
        beginFactored(&glue, options->time_limit, arena);
    soften(&glue, glue.direct ? SOFT_FACTORED : SOFT);
    for (int k = 0; k < CENTERS_MOST && residual > glue.enough && !isSpent(&glue); ++k) {
        const double before = residual;
        settle(&glue);
        moveCenter(&glue);
        residual = judge(&glue, glue.image, &least);
        if (least <= content && residual > HALF * before) /* rounding */
            break;
    }
    if (!(residual <= least)) {
        memcpy(r, glue.best, 3 * (size_t)glue.heap.contacts * sizeof *r);
        residual = judge(&glue, glue.image, &least);
    }
    spragArenaRelease(arena, mark);
    info->residual = residual;
    info->iterations = info->method_iterations[SPRAG_SOLVER_NEWTON] = (int)glue.products;
    info->work = glue.work;
    return info->status = residual <= options->tolerance ? SPRAG_OK : SPRAG_LIMIT;
}

/* 1: a tangential row yields by more than e: it slides, and that the preconditioner takes to be held. */
static int slides(const spragProblem *problem, int k)
{
    const spragBodies *bodies = problem->bodies;
    const double *W = problem->W + 9 * (size_t)spragProblemDiagonal(problem, k),
                 *C = bodies->compliance + (size_t)k * bodies->stride;
    return fmax(C[1], C[2]) > SOFT * (W[0] + W[4] + W[8]) / 3;
}

int spragGlueSuits(const spragProblem *problem)
{
    const spragBodies *bodies = problem->bodies;
    if (bodies == NULL || problem->bound == NULL || !spragProblemIsGlued(problem))
        return 0;
    for (int k = 0; k < problem->contact_count; ++k) {
        const double *lo = problem->bound + 6 * (size_t)k, *hi = lo + 3;
        if (lo[0] != 0 || !isinf(hi[0]) || slides(problem, k))
            return 0;
        for (int row = 0; row < 3; ++row) {
            const double *d = bodies->J + (size_t)k * bodies->stride + 6 * row;
            const int free = isinf(lo[row]) && isinf(hi[row]), none = lo[row] == 0 && hi[row] == 0;
            if ((row > 0 && !(holds(problem, k) ? free : none)) || fabs(spragDot3(d, d) - 1) > UNIT)
                return 0;
        }
    }
    return 1;
}

static int someParted(const spragProblem *problem)
{
    int some = 0;
    for (int k = 0; k < problem->contact_count && !some; ++k)
        some = !holds(problem, k);
    return some;
}

/* As a link of the chain, where Newton's method with W comes next: only with a share of the work. */
static spragStatus solveLink(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena,
                             double *r, spragSolveInfo *info)
{
    const spragArenaMark mark = spragArenaMarkGet(arena);
    double *u = SPRAG_TAKE_RAW(arena, double, 3 * (size_t)problem->contact_count);
    if (u == NULL)
        return SPRAG_ERROR_MEMORY;
    spragSolveOptions own = *options;
    own.work_limit *= WORK_SHARE;
    if (own.iteration_limit == 0 && problem->contact_count <= CONTACTS_LINK && someParted(problem))
        own.iteration_limit = PRODUCTS_LINK;
    spragSolveInfo found;
    const spragStatus status = spragGlueSolve(problem, &own, arena, r, u, &found);
    info->iterations += found.iterations;
    info->work += found.work;
    spragArenaRelease(arena, mark);
    return status;
}

const spragSolver spragSolverGlue = {.kind = SPRAG_SOLVER_NEWTON, .solve = solveLink};
