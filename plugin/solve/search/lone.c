/* Newton as in warm.c, in the six velocities of the body instead of the unknowns of its contacts.
 *
 * At x = r - u / w a contact is open, sticks or slips.  A step in the modes asks of the contact's increment
 *
 *     stick   (lambda w + c n n^T) dr = -(u + J v)
 *     slip    dr = a f + b e,  (lambda w + c) a = -n . (u + J v),  (lambda w + s) b = -e . (u + J v),
 *
 * v the velocity that all increments give the body, f = n + mu d, d = x_t / |x_t|, e = n x d across it, and s as in
 * warm.c.  So dr = -D (u + J v) with a 3 x 3 matrix D for each contact, and M v = sum J^T dr becomes
 *
 *     (M + sum J^T D J) v = -sum J^T D u. */
#include "solve/search/lone.h"

#include "solve/contact/policy.h"
#include "solve/newton/proximal.h"

enum { STEPS = 16, PATIENCE = 8 };
#define STALLED 1e-2 /* part of it that hyperstatic contacts may leave which ask for what no motion gives */
#define CONTENT 0.1  /* the same where none slips, or after PATIENCE steps */
#define LEAP 0.3     /* part of the load by which those that leave more are to change in a step, until one gives way */
#define LAMBDA_SLOW 1e-10 /* where all slip */
/* m/s.  What slips no faster in an answer is held: that is as near to the law, and where friction is all but used up a
 * body at rest went a little faster in every step (tests/ode/test_step.c). */
#define HOLDS SPRAG_SLIP_TOLERANCE
#define TINY 1e-290
#define NOTHING 1e-60 /* N s; what dies away from step to step ends here, not among the slow denormal numbers */

typedef struct Modes {
    spragQuadMask open[SPRAG_LONE_CONTACTS], slips[SPRAG_LONE_CONTACTS]; /* neither: sticks */
    spragQuad d[SPRAG_LONE_CONTACTS][3];
    spragQuad radius[SPRAG_LONE_CONTACTS], beyond[SPRAG_LONE_CONTACTS]; /* mu x_n; w (|x_t| - mu x_n) = s mu x_n */
    spragQuad lambda, inverse_lambda;
} Modes;

/* ---------------------------------------------------------------- velocities and the judge's residual */

SPRAG_QUAD_INLINE void findVelocities(spragLoneBodies *b)
{
    spragQuad P[6] = {{0}}, v[6], moment[3], turn[3];
    for (int k = 0; k < b->count; ++k) {
        const spragLoneContact *c = &b->contact[k];
        spragQuadCross3(moment, c->arm, c->r);
        for (int i = 0; i < 3; ++i) {
            P[i] += c->r[i];
            P[3 + i] += moment[i];
        }
    }
    for (int i = 0; i < 3; ++i)
        v[i] = b->inverse_mass * P[i];
    spragQuadMul33(v + 3, b->inverse_inertia, P + 3);
    for (int i = 0; i < 6; ++i)
        b->impulse[i] = P[i];
    for (int k = 0; k < b->count; ++k) {
        spragLoneContact *c = &b->contact[k];
        const spragQuad soft = c->compliance * spragQuadDot3(c->n, c->r);
        spragQuadCross3(turn, v + 3, c->arm);
        for (int i = 0; i < 3; ++i)
            c->u[i] = c->q[i] + v[i] + turn[i] + soft * c->n[i];
    }
}

/* The square of |r - P_K(r - (u + mu |u_t| n) / w)| w, as problem/residual.c has it; creep and slip grow. */
SPRAG_QUAD_INLINE spragQuad residualOf(const spragLoneContact *c, double holds, spragQuad *creep, spragQuad *slip)
{
    spragQuad ut[3], x[3], xt[3], difference[3];
    spragQuadTangent(ut, c->u, c->n);
    const spragQuad speed = spragQuadSqrt(spragQuadDot3(ut, ut)), lift = c->mu * speed;
    for (int i = 0; i < 3; ++i)
        x[i] = c->r[i] - (c->u[i] + lift * c->n[i]) * c->inverse_w;
    const spragQuad normal = spragQuadTangent(xt, x, c->n), size = spragQuadSqrt(spragQuadDot3(xt, xt));
    const spragQuadMask polar = c->mu * size <= -normal, inside = size <= c->mu * normal;
    const spragQuad on_ray = (normal + c->mu * size) * c->ray, scale = c->mu * on_ray / (size + TINY);
    *creep = spragQuadSelect(inside | (~polar & (speed <= holds)), spragQuadMax(speed, *creep), *creep);
    *slip = spragQuadSelect(polar, *slip, spragQuadMax(speed, *slip));
    for (int i = 0; i < 3; ++i) {
        const spragQuad edge = on_ray * c->n[i] + scale * xt[i];
        const spragQuad y = spragQuadSelect(polar, spragQuadOf(0), spragQuadSelect(inside, x[i], edge));
        difference[i] = c->r[i] - y;
    }
    return spragQuadDot3(difference, difference) * (c->w * c->w);
}

/* m/s */
SPRAG_QUAD_INLINE double holdsUpTo(const spragLoneBodies *b)
{
    return HOLDS < CONTENT * b->tolerance ? HOLDS : CONTENT * b->tolerance;
}

/* NaN stays. */
SPRAG_QUAD_INLINE void judge(spragLoneBodies *b)
{
    spragQuad worst = spragQuadOf(0);
    b->creep = b->slip = worst;
    for (int k = 0; k < b->count; ++k) {
        const spragQuad square = residualOf(&b->contact[k], holdsUpTo(b), &b->creep, &b->slip);
        worst = spragQuadSelect(square <= worst, worst, square);
    }
    b->residual = spragQuadSqrt(worst);
}

/* ---------------------------------------------------------------- modes */

/* Reads the modes; r of bodies in work goes to what they say of it. */
SPRAG_QUAD_INLINE void readModes(spragLoneBodies *b, spragQuadMask work, Modes *modes)
{
    const spragQuad holds =
        spragQuadSelect(b->residual <= CONTENT * b->tolerance, spragQuadOf(holdsUpTo(b)), spragQuadOf(0));
    for (int k = 0; k < b->count; ++k) {
        spragLoneContact *c = &b->contact[k];
        spragQuad x[3], xt[3];
        for (int i = 0; i < 3; ++i)
            x[i] = c->r[i] - c->u[i] * c->inverse_w;
        const spragQuad normal = spragQuadTangent(xt, x, c->n), size = spragQuadSqrt(spragQuadDot3(xt, xt));
        const spragQuad radius = c->mu * normal, load = spragQuadDot3(c->r, c->n), inverse_size = 1 / (size + TINY);
        modes->open[k] = normal <= 0;
        modes->radius[k] = radius;
        modes->beyond[k] = c->w * (size - radius);
        modes->slips[k] = (modes->beyond[k] > holds) & ~modes->open[k];
        for (int i = 0; i < 3; ++i) {
            modes->d[k][i] = xt[i] * inverse_size;
            const spragQuad slipping = load * c->n[i] + radius * modes->d[k][i];
            c->r[i] = spragQuadSelect(work & modes->open[k], spragQuadOf(0), c->r[i]);
            c->r[i] = spragQuadSelect(work & modes->slips[k], slipping, c->r[i]);
        }
    }
}

/* D (3 x 3) of a contact. */
SPRAG_QUAD_INLINE void responseOf(const spragLoneContact *c, const Modes *modes, int k, spragQuad D[9])
{
    const spragQuad soft = modes->lambda * c->w, normal = 1 / (soft + c->compliance),
                    stiff = modes->inverse_lambda * c->inverse_w,
                    across = modes->radius[k] / (soft * modes->radius[k] + modes->beyond[k]);
    spragQuad e[3];
    spragQuadCross3(e, c->n, modes->d[k]);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const spragQuad nn = c->n[i] * c->n[j];
            const spragQuad stick = normal * nn + stiff * ((i == j ? 1 : 0) - nn);
            const spragQuad slip = normal * (c->n[i] + c->mu * modes->d[k][i]) * c->n[j] + across * e[i] * e[j];
            D[3 * i + j] =
                spragQuadSelect(modes->open[k], spragQuadOf(0), spragQuadSelect(modes->slips[k], slip, stick));
        }
}

/* ---------------------------------------------------------------- six equations */

SPRAG_QUAD_INLINE void massMatrix(const spragLoneBodies *b, spragQuad A[36])
{
    for (int i = 0; i < 36; ++i)
        A[i] = spragQuadOf(0);
    for (int i = 0; i < 3; ++i) {
        A[7 * i] = b->mass;
        for (int j = 0; j < 3; ++j)
            A[6 * (3 + i) + 3 + j] = b->inertia[3 * i + j];
    }
}

/* A += J^T D J */
SPRAG_QUAD_INLINE void addResponse(const spragQuad arm[3], const spragQuad D[9], spragQuad A[36])
{
    spragQuad X[9], column[3], out[3]; /* X = D [arm x]^T */
    for (int i = 0; i < 3; ++i)
        spragQuadCross3(X + 3 * i, arm, D + 3 * i);
    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) {
            A[6 * i + j] += D[3 * i + j];
            A[6 * i + 3 + j] += X[3 * i + j];
            column[i] = D[3 * i + j];
        }
        spragQuadCross3(out, arm, column);
        for (int i = 0; i < 3; ++i) {
            A[6 * (3 + i) + j] += out[i];
            column[i] = X[3 * i + j];
        }
        spragQuadCross3(out, arm, column);
        for (int i = 0; i < 3; ++i)
            A[6 * (3 + i) + 3 + j] += out[i];
    }
}

/* A = L U in place, without pivoting: the modes of a regular problem need none, others do not converge. */
SPRAG_QUAD_INLINE void factor(spragQuad A[36])
{
    for (int k = 0; k < 6; ++k) {
        A[7 * k] = 1 / A[7 * k];
        for (int i = k + 1; i < 6; ++i) {
            const spragQuad factor = A[6 * i + k] *= A[7 * k];
            for (int j = k + 1; j < 6; ++j)
                A[6 * i + j] -= factor * A[6 * k + j];
        }
    }
}

/* x := A^-1 x */
SPRAG_QUAD_INLINE void substitute(const spragQuad A[36], spragQuad x[6])
{
    for (int i = 1; i < 6; ++i)
        for (int j = 0; j < i; ++j)
            x[i] -= A[6 * i + j] * x[j];
    for (int i = 5; i >= 0; --i) {
        for (int j = i + 1; j < 6; ++j)
            x[i] -= A[6 * i + j] * x[j];
        x[i] *= A[7 * i];
    }
}

/* What is below NOTHING is zero. */
SPRAG_QUAD_INLINE spragQuad settle(spragQuadMask work, spragQuad before, spragQuad after)
{
    return spragQuadSelect(work, spragQuadSelect((after < NOTHING) & (after > -NOTHING), spragQuadOf(0), after),
                           before);
}

/* One contact has but three equations, (1 + D W) dr = -D u. */
SPRAG_QUAD_INLINE void takeSingleStep(spragLoneBodies *b, const Modes *modes, spragQuadMask work)
{
    static const double axis[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    spragLoneContact *c = &b->contact[0];
    spragQuad D[9], A[9], force[3], minors[3][3], r[3] = {{0}};
    responseOf(c, modes, 0, D);
    spragQuadMul33(force, D, c->u);
    for (int j = 0; j < 3; ++j) {
        spragQuad e[3] = {spragQuadOf(axis[j][0]), spragQuadOf(axis[j][1]), spragQuadOf(axis[j][2])}, W[3], DW[3];
        spragLoneOwn(b, c->arm, e, W);
        spragQuadMul33(DW, D, W);
        for (int i = 0; i < 3; ++i)
            A[3 * i + j] = e[i] + DW[i];
    }
    for (int i = 0; i < 3; ++i)
        spragQuadCross3(minors[i], A + 3 * ((i + 1) % 3), A + 3 * ((i + 2) % 3));
    const spragQuad scale = -1 / spragQuadDot3(A, minors[0]);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            r[j] += scale * force[i] * minors[i][j];
    for (int i = 0; i < 3; ++i)
        c->r[i] = settle(work, c->r[i], c->r[i] + r[i]);
}

SPRAG_QUAD_INLINE void takeStep(spragLoneBodies *b, const Modes *modes, spragQuadMask work)
{
    spragQuad D[SPRAG_LONE_CONTACTS][9], A[36], v[6] = {{0}}, force[3], moment[3], u[3];
    massMatrix(b, A);
    for (int k = 0; k < b->count; ++k) {
        const spragLoneContact *c = &b->contact[k];
        responseOf(c, modes, k, D[k]);
        addResponse(c->arm, D[k], A);
        spragQuadMul33(force, D[k], c->u);
        spragQuadCross3(moment, c->arm, force);
        for (int i = 0; i < 3; ++i) {
            v[i] -= force[i];
            v[3 + i] -= moment[i];
        }
    }
    factor(A);
    substitute(A, v);
    for (int k = 0; k < b->count; ++k) {
        spragLoneContact *c = &b->contact[k];
        spragQuadCross3(u, v + 3, c->arm);
        for (int i = 0; i < 3; ++i)
            u[i] += c->u[i] + v[i];
        spragQuadMul33(force, D[k], u);
        for (int i = 0; i < 3; ++i)
            c->r[i] = settle(work, c->r[i], c->r[i] - force[i]);
    }
}

/* ---------------------------------------------------------------- does the slip last? */

/* Sums of the principal minors of H (4 x 4) of order 1, 2, 3. */
SPRAG_QUAD_INLINE void invariants(const spragQuad H[16], spragQuad c[3])
{
    c[0] = H[0] + H[5] + H[10] + H[15];
    c[1] = c[2] = spragQuadOf(0);
    for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j) {
            c[1] += H[5 * i] * H[5 * j] - H[4 * i + j] * H[4 * j + i];
            for (int k = j + 1; k < 4; ++k)
                c[2] += H[5 * i] * (H[5 * j] * H[5 * k] - H[4 * j + k] * H[4 * k + j]) -
                        H[4 * i + j] * (H[4 * j + i] * H[5 * k] - H[4 * j + k] * H[4 * k + i]) +
                        H[4 * i + k] * (H[4 * j + i] * H[4 * k + j] - H[5 * j] * H[4 * k + i]);
        }
}

/* The normal motions of loaded slipping contacts, G_ij = N_i M_s^-1 F_j, N = (n, a x n), F = (f, a x f), M_s
 * with the sticking ones held, must not run away (small_friction.h).  Where they have one normal, N_i = P_i B
 * with B the motions along n and about the three axes and P_i = (1, a_i x n), so that G has the eigenvalues
 * of H = sum (B M_s^-1 F_i) P_i and zeros.  H has rank 3 at most: Routh's criterion for the cubic.  Contacts
 * of several normals are not decided here. */
SPRAG_QUAD_INLINE spragQuadMask slipLasts(const spragLoneBodies *b, const Modes *modes)
{
    static const double rounding = 1e-9;
    spragQuad A[36], D[9], X[4][6] = {{{0}}}, H[16], n[3] = {{0}};
    spragQuadMask any = {0}, one_normal = {-1, -1, -1, -1};
    massMatrix(b, A);
    for (int k = 0; k < b->count; ++k) {
        const spragLoneContact *c = &b->contact[k];
        const spragQuad soft = SPRAG_LAMBDA_WARM * c->w,
                        held = spragQuadSelect(modes->open[k] | modes->slips[k], spragQuadOf(0), 1 / soft);
        spragQuad apart = spragQuadOf(0);
        for (int i = 0; i < 9; ++i)
            D[i] = i % 4 == 0 ? held : spragQuadOf(0);
        addResponse(c->arm, D, A);
        for (int i = 0; i < 3; ++i) {
            n[i] = spragQuadSelect(modes->slips[k] & ~any, c->n[i], n[i]);
            apart += (c->n[i] - n[i]) * (c->n[i] - n[i]);
        }
        one_normal &= (apart <= rounding * rounding) | ~modes->slips[k];
        any |= modes->slips[k];
    }
    factor(A);
    for (int i = 0; i < 3; ++i) {
        X[0][i] = n[i];
        X[1 + i][3 + i] = spragQuadOf(1);
    }
    for (int a = 0; a < 4; ++a)
        substitute(A, X[a]);
    for (int i = 0; i < 16; ++i)
        H[i] = spragQuadOf(0);
    for (int k = 0; k < b->count; ++k) {
        const spragLoneContact *c = &b->contact[k];
        spragQuad f[3], moment[3], P[4] = {spragQuadOf(1)};
        for (int i = 0; i < 3; ++i)
            f[i] = spragQuadSelect(modes->slips[k], c->n[i] + c->mu * modes->d[k][i], spragQuadOf(0));
        spragQuadCross3(moment, c->arm, f);
        spragQuadCross3(P + 1, c->arm, c->n);
        for (int a = 0; a < 4; ++a) {
            const spragQuad work = spragQuadDot3(X[a], f) + spragQuadDot3(X[a] + 3, moment);
            for (int j = 0; j < 4; ++j)
                H[4 * a + j] += work * P[j];
        }
    }
    spragQuad c[3];
    invariants(H, c);
    const spragQuad cube = c[0] * c[0] * c[0];
    const spragQuadMask stable = (c[0] > 0) & (c[1] >= -rounding * c[0] * c[0]) & (c[2] >= -rounding * cube) &
                                 (c[0] * c[1] - c[2] >= -rounding * cube);
    return ~any | (one_normal & stable);
}

/* The same of one contact: G = n . W f. */
SPRAG_QUAD_INLINE spragQuadMask oneSlipLasts(const spragLoneBodies *b, const Modes *modes)
{
    const spragLoneContact *c = &b->contact[0];
    spragQuad f[3], response[3];
    for (int i = 0; i < 3; ++i)
        f[i] = c->n[i] + c->mu * modes->d[0][i];
    spragLoneOwn(b, c->arm, f, response);
    return ~modes->slips[0] | (spragQuadDot3(c->n, response) > 0);
}

/* ---------------------------------------------------------------- the solver */

SPRAG_QUAD_INLINE void scales(spragLoneBodies *b)
{
    const spragQuad *I = b->inverse_inertia, trace = I[0] + I[4] + I[8];
    for (int k = 0; k < b->count; ++k) {
        spragLoneContact *c = &b->contact[k];
        spragQuad Ia[3];
        spragQuadMul33(Ia, I, c->arm);
        const spragQuad turning = spragQuadDot3(c->arm, c->arm) * trace - spragQuadDot3(c->arm, Ia);
        c->w = (3 * b->inverse_mass + turning + c->compliance) * (1.0 / 3);
        c->inverse_w = 1 / c->w;
        c->ray = 1 / (1 + c->mu * c->mu);
    }
}

/* lambda for contacts that come no nearer. */
SPRAG_QUAD_INLINE spragQuad softer(const spragLoneBodies *b, const Modes *modes)
{
    spragQuad load = spragQuadOf(TINY); /* m/s, the largest normal velocity that a contact's impulse stands for */
    spragQuadMask all = {-1, -1, -1, -1};
    for (int k = 0; k < b->count; ++k) {
        load = spragQuadMax(load, b->contact[k].w * spragQuadDot3(b->contact[k].n, b->contact[k].r));
        all &= modes->slips[k];
    }
    return spragQuadMin(spragQuadSelect(all, spragQuadOf(LAMBDA_SLOW), b->residual / (LEAP * load)), modes->lambda);
}

/* Reads the modes, steps in them and judges.  Bodies in work that come no nearer have reached what their modes allow:
 * they keep what they had. */
SPRAG_QUAD_INLINE spragQuadMask advance(spragLoneBodies *b, Modes *modes, spragQuadMask work, int step)
{
    spragQuad kept[SPRAG_LONE_CONTACTS][3];
    const spragQuad before = b->residual, crept = b->creep;
    for (int k = 0; k < b->count; ++k)
        for (int i = 0; i < 3; ++i)
            kept[k][i] = b->contact[k].r[i];
    readModes(b, work, modes);
    findVelocities(b);
    if (b->count == 1)
        takeSingleStep(b, modes, work);
    else
        takeStep(b, modes, work);
    findVelocities(b);
    judge(b);
    b->iterations += spragQuadSelect(work, spragQuadOf(1), spragQuadOf(0));
    spragQuadMask slips = {0};
    for (int k = 0; k < b->count; ++k)
        slips |= modes->slips[k];
    const spragQuad enough = spragQuadSelect(slips & (step < PATIENCE ? -1 : 0), spragQuadOf(STALLED * b->tolerance),
                                             spragQuadOf(CONTENT * b->tolerance));
    const spragQuadMask calmer = (b->residual <= CONTENT * b->tolerance) & (b->creep < 0.5 * crept),
                        slow = work & ~((b->residual < 0.5 * before) | calmer), ends = slow & (before <= enough);
    const spragQuadMask stuck = slow & (b->residual <= b->tolerance);
    if (spragQuadAny(stuck)) {
        modes->lambda = spragQuadSelect(stuck, softer(b, modes), modes->lambda);
        modes->inverse_lambda = 1 / modes->lambda;
    }
    if (!spragQuadAny(ends))
        return work;
    for (int k = 0; k < b->count; ++k)
        for (int i = 0; i < 3; ++i)
            b->contact[k].r[i] = spragQuadSelect(ends, kept[k][i], b->contact[k].r[i]);
    findVelocities(b);
    judge(b);
    return work & ~ends;
}

SPRAG_QUAD_INLINE void solveBodies(spragLoneBodies *b)
{
    Modes modes;
    spragQuadMask work = {-1, -1, -1, -1}, slips = {0};
    scales(b);
    modes.lambda = spragQuadOf(SPRAG_LAMBDA_WARM);
    modes.inverse_lambda = spragQuadOf(1 / SPRAG_LAMBDA_WARM);
    b->iterations = spragQuadOf(0);
    findVelocities(b);
    judge(b);
    /* Who begins with the answer rests, and must not creep; what its modes leave of that is others' to find. */
    const spragQuadMask rests = b->residual <= CONTENT * b->tolerance;
    for (int step = 0; step < STEPS; ++step) {
        /* Hyperstatic contacts: it may be all that their modes allow. */
        const double near = b->count > 3 ? STALLED : SPRAG_EXACT;
        work &= ~((b->residual <= near * b->tolerance) & (b->creep <= SPRAG_EXACT * b->tolerance));
        if (!spragQuadAny(work))
            break;
        work = advance(b, &modes, work, step);
    }
    b->solved = (b->residual <= CONTENT * b->tolerance) & (~rests | (b->creep <= SPRAG_EXACT * b->tolerance));
    const spragQuad still = spragQuadMax(10 * b->residual, spragQuadOf(SPRAG_SLIP_TOLERANCE));
    if (!spragQuadAny(b->slip > still))
        return;
    readModes(b, (spragQuadMask){0}, &modes);
    for (int k = 0; k < b->count; ++k) {
        spragQuad ut[3];
        spragQuadTangent(ut, b->contact[k].u, b->contact[k].n);
        modes.slips[k] &= spragQuadDot3(ut, ut) > still * still; /* else it is at rest on the edge of its cone */
        slips |= modes.slips[k];
    }
    if (spragQuadAny(slips))
        b->solved &= b->count == 1 ? oneSlipLasts(b, &modes) : slipLasts(b, &modes);
}

SPRAG_QUAD_CLONES(solve, solveBodies, spragLoneBodies)

void spragLoneSolve(spragLoneBodies *bodies)
{
    solve(bodies);
}
