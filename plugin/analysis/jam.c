/* The impact that ends a slip without a collision (docs/theory.md 6).
 *
 * Normal impulse N is the time.  While the contact slips, v_t = rho e, e = (cos theta, sin theta):
 *
 *     d v_t / dN = G_tn - mu G_tt e,      d v_n / dN = p(e) = G_nn - mu G_nt . e,
 *     d rho / dN = -f,   f = mu e.G_tt e - e.G_tn;      rho d theta / dN = g,   g = e_perp . (G_tn - mu G_tt e).
 *
 * p < 0 implies f > 0 (G is positive definite): at first the slip slows down.  Over s = -ln rho the direction obeys a
 * regular equation, d theta / ds = g / f, and N = integral of d rho / f; in the plane g = 0 and N = I1 = rho / f
 * exactly.  A direction that turns may pass f = 0 before rho = 0: then it goes on over sigma, dN = rho d sigma,
 *     d theta / d sigma = g,   d ln rho / d sigma = -f.
 * At rho = 0 it sticks if |G_tt^-1 G_tn| <= mu (always, where G is planar or the body a symmetric top), and the rest of
 * the impulse is along p_st = G_nn - G_nt G_tt^-1 G_tn > 0; else it slips on along the direction that carries it away.
 * Compression ends at v_n = 0; restitution returns e^2 of its work (energetic, Stronge),
 * v_n+ dv_n+ / 2 p = e^2 |W_c|. */
#include <math.h>
#include <string.h>

#include <sprag/sprag.h>

#include "base/floats.h"
#include "base/status.h"
#include "linalg/vec3.h"

#define STEP 0.02      /* of ln rho */
#define FINEST 1e-6    /* parts of it, where p passes 0 or the impact ends */
enum { STEPS = 4000 }; /* at most: e^-80 */
#define ENDED 1e-12    /* part of the slip at which it has ended, where it does not run straight to 0 */

typedef struct Rates {
    double p, f, g, turn; /* turn: dg / d theta */
} Rates;

static Rates ratesAt(const double G[9], double mu, double theta)
{
    const double c = cos(theta), s = sin(theta);
    const double a[2] = {G[3] - mu * (G[4] * c + G[5] * s), G[6] - mu * (G[7] * c + G[8] * s)};
    const double f = -(a[0] * c + a[1] * s), across = G[4] * s * s - (G[5] + G[7]) * s * c + G[8] * c * c;
    return (Rates){G[0] - mu * (G[1] * c + G[2] * s), f, a[1] * c - a[0] * s, f - mu * across};
}

static double turnAt(const double G[9], double mu, double theta)
{
    const Rates r = ratesAt(G, mu, theta);
    return r.g / r.f;
}

/* theta after ds of s, by the classical Runge-Kutta rule */
static double turned(const double G[9], double mu, double theta, double ds)
{
    const double k1 = turnAt(G, mu, theta), k2 = turnAt(G, mu, theta + 0.5 * ds * k1),
                 k3 = turnAt(G, mu, theta + 0.5 * ds * k2), k4 = turnAt(G, mu, theta + ds * k3);
    return theta + ds / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
}

/* Velocities (normal, tangential) and impulses so far; work of the normal impulse in compression and restitution. */
typedef struct Impact {
    double restitution;
    double v[3], P[3];
    double compressed, returned; /* J, both >= 0 */
    int over;
} Impact;

/* Adds an impulse of normal part dN under which v_n goes linearly by rate * dN, cut where compression has ended and
 * restitution has given back its share.  Returns the part of dN used. */
static double addNormal(Impact *impact, double rate, double dN)
{
    double used = 0, v = impact->v[0];
    if (v < 0 || (v == 0 && rate < 0)) { /* compression, to v = 0 at most */
        const double end = rate > 0 ? fmin(dN, -v / rate) : dN;
        impact->compressed -= end * (v + 0.5 * rate * end);
        used = end;
        v += rate * end;
        if (used < dN)
            v = 0;
    }
    if (used < dN) { /* restitution: (v + v1) / 2 n = what is left, v1 = v + rate n */
        const double left = impact->restitution * impact->restitution * impact->compressed - impact->returned;
        const double root = rate > 0 ? sqrt(v * v + 2 * rate * fmax(left, 0)) : v;
        const double n = left <= 0 ? 0 : rate > 0 ? (root - v) / rate : INFINITY;
        const double end = fmin(dN - used, n);
        impact->returned += end * (v + 0.5 * rate * end);
        used += end;
        v += rate * end;
        impact->over = end == n;
    }
    impact->v[0] = v;
    return used;
}

/* Slip: direction and speed. */
typedef struct Slip {
    double theta, rho;
} Slip;

/* rho, theta and the rates at the beginning, in the middle and at the end of a step, and the factors 1/6, 4/6, 1/6
 * that turn their values into integrals over N (Simpson). */
typedef struct Stretch {
    Slip end;
    double theta[3], weight[3];
    Rates rates[3];
} Stretch;

/* A step ds of -ln rho, or straight to rho = 0; 0: the slip does not slow down enough all the way. */
static int slowDown(const double G[9], double mu, Slip slip, int straight, double ds, Stretch *step)
{
    const double least = 0.1 * mu * (G[4] + G[8]), next = straight ? 0 : slip.rho * exp(-ds);
    const double middle = 0.5 * (slip.rho + next);
    step->rates[0] = ratesAt(G, mu, slip.theta);
    if (!(step->rates[0].f > 0 && (straight || step->rates[0].g == 0 || step->rates[0].f > least)))
        return 0;
    step->theta[0] = slip.theta;
    step->theta[1] = straight ? slip.theta : turned(G, mu, slip.theta, log(slip.rho / middle));
    step->theta[2] = straight ? slip.theta : turned(G, mu, slip.theta, ds);
    for (int i = 0; i < 3; ++i) {
        step->rates[i] = ratesAt(G, mu, step->theta[i]);
        if (!(step->rates[i].f > 0))
            return 0;
        step->weight[i] = (slip.rho - next) / step->rates[i].f;
    }
    step->end = (Slip){step->theta[2], next};
    return 1;
}

/* theta and rho after d of sigma, by the classical Runge-Kutta rule */
static Slip moved(const double G[9], double mu, Slip slip, double d)
{
    const Rates k1 = ratesAt(G, mu, slip.theta), k2 = ratesAt(G, mu, slip.theta + 0.5 * d * k1.g),
                k3 = ratesAt(G, mu, slip.theta + 0.5 * d * k2.g), k4 = ratesAt(G, mu, slip.theta + d * k3.g);
    return (Slip){slip.theta + d / 6 * (k1.g + 2 * k2.g + 2 * k3.g + k4.g),
                  slip.rho * exp(-d / 6 * (k1.f + 2 * k2.f + 2 * k3.f + k4.f))};
}

/* The rates of any direction are of this size. */
static double sizeOf(const double G[9], double mu)
{
    return mu * (G[4] + G[8]) + spragNorm2((double[2]){G[3], G[6]});
}

/* A step of sigma, in which neither the direction nor its rates change by more than some ds. */
static void passBy(const double G[9], double mu, Slip slip, double ds, Stretch *step)
{
    const Rates r = ratesAt(G, mu, slip.theta);
    const double g = fabs(r.g), d = ds / (fabs(r.f) + fabs(r.turn) + g + sqrt(sizeOf(G, mu) * g));
    Slip at = slip;
    for (int i = 0; i < 3; ++i) {
        step->theta[i] = at.theta;
        step->rates[i] = ratesAt(G, mu, at.theta);
        step->weight[i] = d * at.rho;
        step->end = at;
        at = moved(G, mu, at, 0.5 * d);
    }
}

/* Adds what a stretch does.  v_n goes by the mean of p, linearly.  0, and nothing is added: p changes by much, as where
 * v_n turns back, or the impact would end while p changes, so that a linear v_n misses where, and how much work it was
 * (or, if v_n turns back at once, that it ever fell). */
static int addStretch(Impact *impact, double mu, const Stretch *step, int finest)
{
    static const double simpson[3] = {1.0 / 6, 4.0 / 6, 1.0 / 6};
    const double first = step->rates[0].p, last = step->rates[2].p;
    double dN = 0, dv = 0;
    for (int i = 0; i < 3; ++i) {
        dN += simpson[i] * step->weight[i];
        dv += simpson[i] * step->weight[i] * step->rates[i].p;
    }
    Impact next = *impact;
    const double used = addNormal(&next, dv / dN, dN), part = used / dN;
    if (!finest && first != last && (used < dN || fabs(last - first) > 0.1 * fmax(fabs(first), fabs(last))))
        return 0;
    for (int i = 0; i < 3; ++i) {
        next.P[1] -= part * mu * simpson[i] * step->weight[i] * cos(step->theta[i]);
        next.P[2] -= part * mu * simpson[i] * step->weight[i] * sin(step->theta[i]);
    }
    next.P[0] += used;
    const double bow = used == dN ? (first - last) * dN * dN / 12 : 0; /* J, of the parabola v_n over its chord */
    if (next.v[0] > 0)
        next.returned += bow;
    else
        next.compressed -= bow;
    *impact = next;
    return 1;
}

/* Down to rho = 0, until the direction turns no more, or until the impact is over.  The slip at the end. */
static Slip slip(Impact *impact, const double G[9], double mu)
{
    const double before[2] = {impact->v[1], impact->v[2]}, first = spragNorm2(before), settled = 1e-12 * sizeOf(G, mu);
    Slip now = {atan2(before[1], before[0]), first};
    double part = 1; /* of a whole STEP */
    for (int k = 0; k < STEPS && !impact->over && now.rho > 0; ++k) {
        const Rates rates = ratesAt(G, mu, now.theta);
        const int straight = fabs(rates.g) <= settled && rates.turn < 0; /* a direction that attracts */
        if (straight && rates.f <= 0)
            break;
        Stretch step;
        if (!slowDown(G, mu, now, straight, part * STEP, &step))
            passBy(G, mu, now, part * STEP, &step);
        if (!addStretch(impact, mu, &step, part < FINEST)) {
            part *= 0.5;
            continue;
        }
        part = fmin(1, 2 * part);
        now = step.end;
        if (now.rho < ENDED * first)
            now.rho = 0;
    }
    for (int i = 0; i < 2; ++i) {
        const double *row = G + 3 * (i + 1);
        impact->v[1 + i] = now.rho > 0 || impact->over ? before[i] + spragDot3(row, impact->P) : 0;
    }
    return now;
}

/* Goes on with tangential impulse ratio k per normal impulse until restitution is done. */
static void goOn(Impact *impact, const double G[9], const double k[2])
{
    const double rate = G[0] + G[1] * k[0] + G[2] * k[1];
    if (!(rate > 0))
        return; /* nothing ends it; where it sticks the rate is p_st > 0 */
    const double n = addNormal(impact, rate, INFINITY);
    impact->P[0] += n;
    for (int i = 0; i < 2; ++i) {
        impact->P[1 + i] += k[i] * n;
        impact->v[1 + i] += n * (G[3 + 3 * i] + G[4 + 3 * i] * k[0] + G[5 + 3 * i] * k[1]);
    }
}

/* Direction in which slip leaves rest: g = 0 with f < 0, the fastest.  1: found. */
static int leavingDirection(const double G[9], double mu, double *theta)
{
    enum { SCAN = 720 }; /* half degrees */
    double fastest = 0;
    for (int i = 0; i < SCAN; ++i) {
        double a = 2 * M_PI * i / SCAN, b = 2 * M_PI * (i + 1) / SCAN;
        const int rising = ratesAt(G, mu, a).g < 0;
        if ((ratesAt(G, mu, b).g < 0) == rising)
            continue;
        for (int k = 0; k < 60; ++k) {
            const double m = 0.5 * (a + b);
            if ((ratesAt(G, mu, m).g < 0) == rising)
                a = m;
            else
                b = m;
        }
        const Rates r = ratesAt(G, mu, a);
        if (r.f < fastest) {
            fastest = r.f;
            *theta = a;
        }
    }
    return fastest < 0;
}

static spragStatus check(const double G[9], double mu, double restitution, const double v[3])
{
    for (int i = 0; i < 9; ++i)
        if (!isfinite(G[i]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "G[%d] = %g", i, G[i]);
    for (int i = 0; i < 3; ++i)
        if (!isfinite(v[i]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "v[%d] = %g", i, v[i]);
    if (!(mu >= 0) || isinf(mu))
        return spragFail(SPRAG_ERROR_RANGE, "mu = %g is not in 0 ... inf", mu);
    if (!(restitution >= 0 && restitution <= 1))
        return spragFail(SPRAG_ERROR_RANGE, "restitution = %g is not in 0 ... 1", restitution);
    const double minor = G[0] * G[4] - G[1] * G[3], tangential = G[4] * G[8] - G[5] * G[7];
    const double det = G[0] * tangential - G[1] * (G[3] * G[8] - G[5] * G[6]) + G[2] * (G[3] * G[7] - G[4] * G[6]);
    const double size = fabs(G[0]) + fabs(G[4]) + fabs(G[8]);
    if (fabs(G[1] - G[3]) + fabs(G[2] - G[6]) + fabs(G[5] - G[7]) > 1e-9 * size)
        return spragFail(SPRAG_ERROR_NOT_SYMMETRIC, "G is not symmetric");
    if (!(G[0] > 0 && minor > 0 && tangential > 0 && det > 0))
        return spragFail(SPRAG_ERROR_INDEFINITE, "G is not positive definite: det = %g", det);
    return SPRAG_OK;
}

spragStatus spragJamImpulse(const double G[9], double mu, double restitution, const double v[3], double P[3],
                            double v_after[3])
{
    SPRAG_FLOATS;
    spragDetailClear();
    if (G == NULL || v == NULL || P == NULL || v_after == NULL)
        return spragFail(SPRAG_ERROR_NULL, "spragJamImpulse: G, v, P or v_after is NULL");
    const spragStatus status = check(G, mu, restitution, v);
    if (status != SPRAG_OK)
        return status;
    const double p = spragPainleveSlope(G, mu, v + 1);
    if (!(p < 0))
        return spragFail(SPRAG_NO_SOLUTION, "p = %g is not negative: nothing jams", p);
    Impact impact = {.restitution = restitution, .v = {v[0], v[1], v[2]}};
    Slip last = slip(&impact, G, mu);
    if (!impact.over) {
        const double det = G[4] * G[8] - G[5] * G[7];
        const double hold[2] = {(G[5] * G[6] - G[8] * G[3]) / det, (G[7] * G[3] - G[4] * G[6]) / det};
        if (last.rho == 0 && spragNorm2(hold) <= mu) {
            goOn(&impact, G, hold);
        } else {
            if (last.rho == 0 && !leavingDirection(G, mu, &last.theta))
                return spragFail(SPRAG_NO_SOLUTION, "the contact neither sticks nor slips on");
            goOn(&impact, G, (double[2]){-mu * cos(last.theta), -mu * sin(last.theta)});
        }
    }
    if (!impact.over)
        return spragFail(SPRAG_NOT_CONVERGED, "slip goes on at v_n = %g m/s, and nothing ends it", impact.v[0]);
    memcpy(P, impact.P, sizeof impact.P);
    memcpy(v_after, impact.v, sizeof impact.v);
    return SPRAG_OK;
}
