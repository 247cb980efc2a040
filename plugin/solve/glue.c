#include "solve/glue.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "linalg/ldlt.h"
#include "linalg/vec3.h"
#include "problem/bodies.h"
#include "problem/residual.h"
#include "solve/anderson.h"
#include "solve/tangent.h"

static const double softness[] = {1e-5, 1e-6, 1e-7, 1e-7, 1e-8, 1e-8}; /* e, of the mean of the diagonal of W_kk */
static const double softness_factored[] = {1e-7, 1e-8};                /* the last one as often as it takes */
enum {
    STAGES = sizeof softness / sizeof *softness,
    STAGES_FACTORED = 30,
    NEWTON_MAX = 12,
    HALVINGS_MAX = 12,
    LOOK = 10,
    PRODUCTS_MOST = 25000, /* dense heaps need half of that */
    HALF_OPEN = 9          /* contacts to a body at most */
};
#define WORK_MOST 7e9 /* products times contacts: two or three minutes; the first step of demo_space_stress takes 6e9 */
#define PRICE_MOST 2e9 /* of a factorisation: some four are made */
#define SECONDS_PER_PRICE 3e-8
#define TIME_SHARE 0.2    /* of a time limit, for one of them */
#define SOLUTION_PRICE 10 /* of a block of the factors: memory's speed */
#define DESCENT 1e-4      /* of what the slope promises */
#define NOISE 1e-13       /* of the function */
#define MARGIN 0.3        /* of the slip: M^-1 g, m/s, where the gradients end, */
#define HALF 0.5
#define ROUNDED 0.1 /* of what the judge says: slips below are less than what 1 / e makes of rounding */
#define SETTLED 3   /* and this many times that where Newton does */

/* A contact as the products see it, in world axes. */
typedef struct Link {
    double n[3], arm[2][3];
    double normal, tangential; /* 1 / (C + soft), 1 / e; kg */
    double soft;               /* e where C is less, or 0: then the normal row has no center */
    int body[2];               /* the last one is the world */
} Link;

typedef struct Pull {
    double q[3], center[3]; /* m/s, N s */
} Pull;

typedef struct Six { /* linear, angular; of the world as well, which does not move */
    double at[6];
} Six;

typedef struct Glue {
    const spragProblem *problem;
    const spragMass *mass; /* (bodies) */
    int links, bodies;
    Link *link;
    Pull *pull;
    unsigned char *pressed; /* (links) r_n > 0 */
    double (*block)[36];    /* (bodies) lower triangles of factors, */
    double (*pivot)[6];     /* and one over their pivots */
    double *r, *u, *best;   /* (3 links) */
    Six *v, *trial, *gradient, *step, *direction, *image, *residual;
    double slip; /* m/s, greatest |q_t + J_t v| */
    double enough, deadline;
    int changed; /* contacts that pressed, or did not, before */
    long products, most;
    double work; /* products times contacts, and what takes as long */
    /* half-open heaps */
    int direct;           /* 1: the preconditioner is a factor of the whole matrix, */
    int factored, stale;  /* which is there; 1: it was made for another e or of others that pressed */
    int rounded;          /* 1: e is so small that rounding decides */
    int patience, needed; /* iterations that are cheaper than another factor; of the last step */
    spragTangent tangent;
    spragAnderson mix;
    double *weight; /* (3 links) */
    int piece[2];
} Glue;

/* ---------------------------------------------------------------- products */

/* Velocity of the first body's point against that of the second. */
static inline void relative(const Link *link, const Six *v, double out[3])
{
    const double *a = v[link->body[0]].at, *b = v[link->body[1]].at, *x = link->arm[0], *y = link->arm[1];
    out[0] = a[0] + a[4] * x[2] - a[5] * x[1] - b[0] - b[4] * y[2] + b[5] * y[1];
    out[1] = a[1] + a[5] * x[0] - a[3] * x[2] - b[1] - b[5] * y[0] + b[3] * y[2];
    out[2] = a[2] + a[3] * x[1] - a[4] * x[0] - b[2] - b[3] * y[1] + b[4] * y[0];
}

/* to += J^T p */
static inline void push(const Link *link, const double p[3], Six *to)
{
    double *a = to[link->body[0]].at, *b = to[link->body[1]].at;
    const double *x = link->arm[0], *y = link->arm[1];
    a[0] += p[0], a[1] += p[1], a[2] += p[2];
    b[0] -= p[0], b[1] -= p[1], b[2] -= p[2];
    a[3] += x[1] * p[2] - x[2] * p[1], a[4] += x[2] * p[0] - x[0] * p[2], a[5] += x[0] * p[1] - x[1] * p[0];
    b[3] -= y[1] * p[2] - y[2] * p[1], b[4] -= y[2] * p[0] - y[0] * p[2], b[5] -= y[0] * p[1] - y[1] * p[0];
}

/* out = M x */
static void momentum(const Glue *glue, const Six *x, Six *out)
{
    for (int i = 0; i < glue->bodies; ++i) {
        for (int j = 0; j < 3; ++j)
            out[i].at[j] = glue->mass[i].mass * x[i].at[j];
        spragMul33(out[i].at + 3, glue->mass[i].inertia, x[i].at + 3);
    }
    memset(&out[glue->bodies], 0, sizeof *out);
}

/* out = (M + J^T S J) x */
static void product(Glue *glue, const Six *x, Six *out)
{
    ++glue->products, glue->work += glue->links;
    momentum(glue, x, out);
    for (int k = 0; k < glue->links; ++k) {
        const Link *link = &glue->link[k];
        double d[3];
        relative(link, x, d);
        const double along = (glue->pressed[k] ? link->normal : 0) - link->tangential, normal = spragDot3(link->n, d);
        for (int i = 0; i < 3; ++i)
            d[i] = link->tangential * d[i] + along * normal * link->n[i];
        push(link, d, out);
    }
    memset(&out[glue->bodies], 0, sizeof *out);
}

/* What one contact adds to the function. */
typedef struct Share {
    double value, r[3], slip; /* r(v), world axes; |q_t + J_t v|^2 */
    unsigned char pressed;    /* r_n > 0: not to be had from r, whose tangential part is a thousand times as large */
} Share;

static Share shareOf(const Link *link, const Pull *pull, const Six *v)
{
    Share share = {0};
    double z[3], square = 0;
    relative(link, v, z);
    for (int i = 0; i < 3; ++i)
        z[i] += pull->q[i];
    const double e = 1 / link->tangential, z_n = spragDot3(link->n, z), c_n = spragDot3(link->n, pull->center);
    const double r_n = fmax(0, (link->soft * c_n - z_n) * link->normal);
    for (int i = 0; i < 3; ++i) {
        const double tangent = z[i] - z_n * link->n[i], t = pull->center[i] - c_n * link->n[i] - tangent / e;
        share.slip += tangent * tangent;
        square += t * t;
        share.r[i] = t + r_n * link->n[i];
    }
    share.pressed = r_n > 0;
    share.value = 0.5 * (r_n * r_n / link->normal + e * square);
    return share;
}

static double inner(const Glue *glue, const Six *a, const Six *b)
{
    double sum = 0;
    for (int i = 0; i < glue->bodies; ++i)
        for (int j = 0; j < 6; ++j)
            sum += a[i].at[j] * b[i].at[j];
    return sum;
}

/* The function, and its gradient g = M v - J^T r(v); who presses, and the slip. */
static double functionAt(Glue *glue, const Six *v, Six *gradient)
{
    ++glue->products, glue->work += glue->links;
    momentum(glue, v, gradient);
    double sum = 0.5 * inner(glue, v, gradient), worst = 0;
    glue->changed = 0;
    for (int k = 0; k < glue->links; ++k) {
        const Share share = shareOf(&glue->link[k], &glue->pull[k], v);
        sum += share.value;
        glue->changed += share.pressed != glue->pressed[k];
        glue->pressed[k] = share.pressed;
        worst = fmax(worst, share.slip);
        push(&glue->link[k], (double[3]){-share.r[0], -share.r[1], -share.r[2]}, gradient);
    }
    memset(&gradient[glue->bodies], 0, sizeof *gradient);
    glue->stale |= glue->changed > 0;
    glue->slip = sqrt(worst);
    return sum;
}

/* ---------------------------------------------------------------- the preconditioner */

static const int dense[6] = {0}; /* envelopes of the blocks */

/* block += J_side^T S J_side, lower triangle. */
static void addBlock(const Link *link, int side, int pressed, double block[36])
{
    const double *x = link->arm[side], *n = link->n;
    const double along = (pressed ? link->normal : 0) - link->tangential;
    double turn[3], rows[6][3]; /* columns of J^T: e_i with x times e_i, by rows of the block */
    spragCross3(turn, x, n);
    const double cross[3][3] = {{0, -x[2], x[1]}, {x[2], 0, -x[0]}, {-x[1], x[0], 0}};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            rows[i][j] = i == j, rows[3 + i][j] = cross[i][j];
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j <= i; ++j) {
            const double a = i < 3 ? n[i] : turn[i - 3], b = j < 3 ? n[j] : turn[j - 3];
            block[6 * i + j] += link->tangential * spragDot3(rows[i], rows[j]) + along * a * b;
        }
}

/* S of the normal row 1 / (C + soft) or 0, of the others 1 / e. */
static int factorWhole(Glue *glue)
{
    spragTangent *t = &glue->tangent;
    memset(t->A, 0, 9 * (size_t)glue->links * sizeof *t->A);
    memset(t->B, 0, 9 * (size_t)glue->links * sizeof *t->B);
    for (int k = 0; k < glue->links; ++k) {
        double *A = t->A + 9 * (size_t)k, *B = t->B + 9 * (size_t)k;
        A[0] = glue->pressed[k] ? glue->link[k].soft : 1;
        A[4] = A[8] = 1 / glue->link[k].tangential;
        B[0] = glue->pressed[k], B[4] = B[8] = 1;
    }
    glue->work += t->price;
    glue->stale = 0;
    return spragTangentFactor(t);
}

/* 0: the blocks of the bodies have to do. */
static int preconditionWhole(Glue *glue)
{
    if (glue->direct && (!glue->factored || (glue->stale && glue->needed >= glue->patience)))
        glue->direct = glue->factored = factorWhole(glue);
    return glue->direct;
}

static void precondition(Glue *glue)
{
    if (preconditionWhole(glue))
        return;
    memset(glue->block, 0, ((size_t)glue->bodies + 1) * sizeof *glue->block);
    for (int i = 0; i < glue->bodies; ++i)
        for (int j = 0; j < 3; ++j) {
            glue->block[i][7 * j] = glue->mass[i].mass;
            for (int k = 0; k <= j; ++k)
                glue->block[i][6 * (3 + j) + 3 + k] = glue->mass[i].inertia[3 * j + k];
        }
    for (int k = 0; k < glue->links; ++k)
        for (int side = 0; side < 2; ++side)
            addBlock(&glue->link[k], side, glue->pressed[k], glue->block[glue->link[k].body[side]]);
    for (int i = 0; i < glue->bodies; ++i)
        spragLdltFactor(6, dense, glue->block[i], glue->pivot[i]);
}

/* out = block^-1 x, or that of the whole matrix */
static void applyInverse(Glue *glue, const Six *x, Six *out)
{
    memset(&out[glue->bodies], 0, sizeof *out);
    if (glue->direct) {
        memcpy(out, x, (size_t)glue->bodies * sizeof *x);
        spragBlockLuSolve(&glue->tangent.lu, out->at);
        glue->work += SOLUTION_PRICE * (double)glue->tangent.lu.u_start[glue->bodies];
        return;
    }
    for (int b = 0; b < glue->bodies; ++b) {
        double *y = out[b].at;
        memcpy(y, x[b].at, sizeof *x);
        spragLdltForward(6, dense, glue->block[b], 1, 0, y);
        for (int i = 0; i < 6; ++i)
            y[i] *= glue->pivot[b][i];
        spragLdltBackward(6, dense, glue->block[b], y);
    }
}

/* ---------------------------------------------------------------- Newton */

/* to += scale x */
static void add(const Glue *glue, Six *to, double scale, const Six *x)
{
    for (int i = 0; i < glue->bodies; ++i)
        for (int j = 0; j < 6; ++j)
            to[i].at[j] += scale * x[i].at[j];
}

/* The greatest of g / m, m/s: how far r(v) moves a body from where v does. */
static double missOf(const Glue *glue, const Six *g)
{
    double worst = 0;
    for (int i = 0; i < glue->bodies; ++i)
        worst = fmax(worst, spragNorm3(g[i].at) * glue->mass[i].inverse_mass);
    return worst;
}

static int isSpent(const Glue *glue)
{
    return glue->products >= glue->most || glue->work >= WORK_MOST ||
           (glue->deadline > 0 && spragSeconds() > glue->deadline);
}

/* How far the gradients go, of where they begin: not far while contacts come and go; beyond it restarts cost more. */
static double forcingOf(const Glue *glue)
{
    const int changed = glue->changed, all = glue->links;
    return changed > all / 100 ? 1e-2 : changed > all / 2000 ? 1e-3 : changed > 0 ? 1e-5 : 1e-12;
}

/* step := -(M + J^T S J)^-1 gradient, nearly; with the factors of those that press. */
static void newtonStep(Glue *glue)
{
    const double forcing = forcingOf(glue), small = MARGIN * fmax(glue->slip, glue->enough);
    memset(glue->step, 0, ((size_t)glue->bodies + 1) * sizeof(Six));
    for (int i = 0; i < glue->bodies; ++i)
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
        for (int i = 0; i < glue->bodies; ++i)
            for (int j = 0; j < 6; ++j)
                glue->direction[i].at[j] = glue->image[i].at[j] + ratio * glue->direction[i].at[j];
        square = next;
    }
}

/* v of the present center. */
static void settle(Glue *glue)
{
    const size_t bytes = ((size_t)glue->bodies + 1) * sizeof(Six);
    double value = functionAt(glue, glue->v, glue->gradient), before = INFINITY;
    for (int k = 0; k < NEWTON_MAX; ++k) {
        const double miss = missOf(glue, glue->gradient), small = MARGIN * fmax(glue->slip, glue->enough);
        if (k > 0 && (miss <= SETTLED * small || (glue->changed == 0 && miss > HALF * before))) /* rounding */
            break;
        before = miss;
        precondition(glue);
        newtonStep(glue);
        const double slope = inner(glue, glue->gradient, glue->step);
        double length = 1, next = value;
        for (int half = 0; half < HALVINGS_MAX; ++half, length *= 0.5) {
            memcpy(glue->trial, glue->v, bytes);
            add(glue, glue->trial, length, glue->step);
            next = functionAt(glue, glue->trial, glue->gradient);
            if (next <= value + DESCENT * length * slope + NOISE * fabs(value))
                break;
        }
        memcpy(glue->v, glue->trial, bytes);
        value = next;
        if (isSpent(glue))
            break;
    }
}

/* ---------------------------------------------------------------- proximal points */

static const double *rowOf(const Glue *glue, int k, int side, int row)
{
    const spragBodies *bodies = glue->problem->bodies;
    return bodies->J + (size_t)k * bodies->stride + 18 * side + 6 * row;
}

static double meanOf(const Glue *glue, int k)
{
    const double *W = glue->problem->W + 9 * (size_t)spragProblemDiagonal(glue->problem, k);
    return (W[0] + W[4] + W[8]) / 3;
}

static const double *complianceOf(const Glue *glue, int k)
{
    const spragBodies *bodies = glue->problem->bodies;
    return bodies->compliance + (size_t)k * bodies->stride;
}

/* e for all contacts. */
static void soften(Glue *glue, double share)
{
    glue->stale = 1;
    for (int k = 0; k < glue->links; ++k) {
        const double e = share * meanOf(glue, k), C = complianceOf(glue, k)[0];
        glue->link[k].tangential = 1 / e;
        glue->link[k].soft = C < e ? e : 0;
        glue->link[k].normal = 1 / (C + glue->link[k].soft);
    }
}

/* Of glue->r: the motion of bodies, u, and what the judge says.  The best so far is kept. */
static double judge(Glue *glue, Six *motion, double *least)
{
    const spragProblem *problem = glue->problem;
    memset(motion, 0, ((size_t)glue->bodies + 1) * sizeof *motion);
    for (int k = 0; k < glue->links; ++k) {
        double p[3] = {0, 0, 0};
        for (int row = 0; row < 3; ++row)
            for (int i = 0; i < 3; ++i)
                p[i] += rowOf(glue, k, 0, row)[i] * glue->r[3 * k + row];
        push(&glue->link[k], p, motion);
    }
    for (int i = 0; i < glue->bodies; ++i) {
        double spin[3];
        spragMul33(spin, glue->mass[i].inverse_inertia, motion[i].at + 3);
        for (int j = 0; j < 3; ++j)
            motion[i].at[j] *= glue->mass[i].inverse_mass, motion[i].at[3 + j] = spin[j];
    }
    memset(&motion[glue->bodies], 0, sizeof *motion);
    for (int k = 0; k < glue->links; ++k) {
        double d[3];
        relative(&glue->link[k], motion, d);
        for (int row = 0; row < 3; ++row)
            glue->u[3 * k + row] = problem->q[3 * k + row] + spragDot3(rowOf(glue, k, 0, row), d) +
                                   complianceOf(glue, k)[row] * glue->r[3 * k + row];
    }
    const double residual = spragVelocityResidual(problem, glue->r, glue->u);
    if (residual < *least) {
        *least = residual;
        memcpy(glue->best, glue->r, 3 * (size_t)glue->links * sizeof *glue->r);
    }
    return residual;
}

/* c := r(v) */
static void moveCenter(Glue *glue)
{
    for (int k = 0; k < glue->links; ++k) {
        const Share share = shareOf(&glue->link[k], &glue->pull[k], glue->v);
        memcpy(glue->pull[k].center, share.r, sizeof share.r);
        for (int row = 0; row < 3; ++row)
            glue->r[3 * k + row] = spragDot3(rowOf(glue, k, 0, row), share.r);
    }
}

static void setCenter(Glue *glue, int k, const double *r)
{
    double *center = glue->pull[k].center;
    memset(center, 0, 3 * sizeof *center);
    for (int row = 0; row < 3; ++row)
        for (int i = 0; i < 3; ++i)
            center[i] += r[3 * k + row] * rowOf(glue, k, 0, row)[i];
}

/* Rows of side s are +-(d_i, x times d_i): x = 1/2 sum d_i times (x times d_i). */
static void fillLink(Glue *glue, int k)
{
    const spragProblem *problem = glue->problem;
    Link *link = &glue->link[k];
    Pull *pull = &glue->pull[k];
    *link = (Link){.n = {0}};
    *pull = (Pull){.q = {0}};
    memcpy(link->n, rowOf(glue, k, 0, 0), sizeof link->n);
    for (int side = 0; side < 2; ++side) {
        const int body = problem->bodies->of[2 * k + side];
        link->body[side] = body < 0 ? glue->bodies : body;
        for (int row = 0; row < 3; ++row) {
            double part[3];
            spragCross3(part, rowOf(glue, k, side, row), rowOf(glue, k, side, row) + 3);
            for (int i = 0; i < 3; ++i)
                link->arm[side][i] += 0.5 * part[i];
        }
    }
    for (int row = 0; row < 3; ++row)
        for (int i = 0; i < 3; ++i)
            pull->q[i] += problem->q[3 * k + row] * rowOf(glue, k, 0, row)[i];
    setCenter(glue, k, glue->r);
}

/* 0: no memory. */
static int take(Glue *glue, const spragProblem *problem, spragArena *arena)
{
    const int n = problem->bodies->count;
    glue->problem = problem;
    glue->mass = problem->bodies->mass;
    glue->links = problem->contact_count, glue->bodies = n;
    glue->link = SPRAG_TAKE_RAW(arena, Link, glue->links);
    glue->pull = SPRAG_TAKE_RAW(arena, Pull, glue->links);
    glue->pressed = SPRAG_TAKE(arena, unsigned char, glue->links);
    glue->best = SPRAG_TAKE_RAW(arena, double, 3 * (size_t)glue->links);
    glue->block = spragArenaTakeRaw(arena, (size_t)n + 1, sizeof *glue->block);
    glue->pivot = spragArenaTakeRaw(arena, (size_t)n, sizeof *glue->pivot);
    Six **const all[] = {&glue->v,         &glue->trial, &glue->gradient, &glue->step,
                         &glue->direction, &glue->image, &glue->residual};
    int taken = glue->link != NULL && glue->pull != NULL && glue->pressed != NULL && glue->best != NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        *all[i] = spragArenaTake(arena, (size_t)n + 1, sizeof(Six));
        taken = taken && *all[i] != NULL;
    }
    return taken && glue->block != NULL && glue->pivot != NULL;
}

/* From the guess, or from nothing if that is better: center, v, and the judge's word. */
static double begin(Glue *glue, double *least)
{
    const size_t bytes = 3 * (size_t)glue->links * sizeof *glue->r;
    for (int k = 0; k < glue->links; ++k)
        fillLink(glue, k);
    const double guessed = judge(glue, glue->v, least);
    memset(glue->r, 0, bytes);
    const double nothing = judge(glue, glue->trial, least);
    if (guessed <= nothing) {
        memcpy(glue->r, glue->best, bytes);
        return guessed;
    }
    for (int k = 0; k < glue->links; ++k)
        memset(glue->pull[k].center, 0, sizeof glue->pull[k].center);
    memset(glue->v, 0, ((size_t)glue->bodies + 1) * sizeof *glue->v);
    return nothing;
}

/* ---------------------------------------------------------------- half-open heaps */

/* Factors of the whole matrix, if they are cheap enough and there is memory. */
static void beginFactored(Glue *glue, double time_limit, spragArena *arena)
{
    const double price_most =
        time_limit > 0 ? fmin(PRICE_MOST, TIME_SHARE * time_limit / SECONDS_PER_PRICE) : PRICE_MOST;
    if (glue->links > HALF_OPEN * glue->bodies)
        return;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    spragTangent *t = &glue->tangent;
    spragPool *pool = spragPoolHere();
    glue->piece[1] = 3 * glue->links;
    glue->weight = SPRAG_TAKE(arena, double, 3 * (size_t)glue->links);
    glue->direct = glue->weight != NULL &&
                   spragTangentInit(t, glue->problem, NULL, SPRAG_TANGENT_BODIES, price_most, arena) > 0 &&
                   (pool == NULL || spragBlockLuShare(&t->lu, pool, arena)) &&
                   spragAndersonInit(&glue->mix, 1, glue->piece, glue->weight, NULL, arena);
    if (glue->direct)
        glue->patience = (int)(0.5 * t->price / (SOLUTION_PRICE * (double)t->lu.u_start[glue->bodies] + glue->links));
    else
        spragArenaRelease(arena, mark);
}

static int stagesOf(const Glue *glue)
{
    return glue->direct ? STAGES_FACTORED : STAGES;
}

static double softnessOf(const Glue *glue, int stage)
{
    if (!glue->direct)
        return softness[stage < STAGES ? stage : STAGES - 1];
    return softness_factored[stage > 0 && !glue->rounded];
}

static void startMix(Glue *glue)
{
    for (int k = 0; k < glue->links; ++k)
        glue->weight[3 * k + 1] = glue->weight[3 * k + 2] = 1 / glue->link[k].tangential;
    memcpy(glue->mix.x, glue->r, 3 * (size_t)glue->links * sizeof *glue->r);
    spragAndersonRestart(&glue->mix);
}

/* c goes on from a mix of what stages of one e were given and made of it; |.| is that of the slips. */
static void mixCenters(Glue *glue)
{
    memcpy(glue->mix.G, glue->r, 3 * (size_t)glue->links * sizeof *glue->r);
    spragAndersonGather(&glue->mix, 0);
    spragAndersonLook(&glue->mix);
    spragAndersonMix(&glue->mix);
    for (int k = 0; k < glue->links; ++k)
        setCenter(glue, k, glue->mix.x);
}

/* What the judge says after the stage. */
static double runStage(Glue *glue, int stage, double *least)
{
    soften(glue, softnessOf(glue, stage));
    settle(glue);
    moveCenter(glue);
    const double residual = judge(glue, glue->image, least);
    glue->rounded = glue->slip < ROUNDED * residual;
    if (glue->direct && stage >= 1 && !glue->rounded)
        mixCenters(glue);
    else if (glue->direct)
        startMix(glue);
    return residual;
}

spragStatus spragGlueSolve(const spragProblem *problem, const spragSolveOptions *options, spragArena *arena, double *r,
                           double *u, spragSolveInfo *info)
{
    Glue glue = {.r = r, .u = u, .enough = fmax(options->tolerance, options->enough)};
    const spragArenaMark mark = spragArenaMarkGet(arena);
    *info = (spragSolveInfo){.solver = SPRAG_SOLVER_NEWTON, .status = SPRAG_ERROR_MEMORY};
    if (!take(&glue, problem, arena)) {
        spragArenaRelease(arena, mark);
        return info->status;
    }
    glue.deadline = options->time_limit > 0 ? spragSeconds() + options->time_limit : 0;
    glue.most = PRODUCTS_MOST;
    if (options->iteration_limit > 0 && options->iteration_limit < glue.most)
        glue.most = options->iteration_limit;
    double least = INFINITY, residual = begin(&glue, &least);
    if (residual > glue.enough)
        beginFactored(&glue, options->time_limit, arena);
    for (int k = 0; k < stagesOf(&glue) && residual > glue.enough && !isSpent(&glue); ++k)
        residual = runStage(&glue, k, &least);
    if (!(residual <= least)) {
        memcpy(r, glue.best, 3 * (size_t)glue.links * sizeof *r);
        residual = judge(&glue, glue.image, &least);
    }
    spragArenaRelease(arena, mark);
    info->residual = residual;
    info->iterations = info->method_iterations[SPRAG_SOLVER_NEWTON] = (int)glue.products;
    return info->status = residual <= options->tolerance ? SPRAG_OK : SPRAG_LIMIT;
}
