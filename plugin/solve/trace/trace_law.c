#include "solve/trace/trace_law.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "problem/cone.h"

/* x of a contact that slips; its length.  Behind the apex, where r_n < 0, with r_t turned round: e points against the
 * slip on both sides, and the law is as smooth there as before it. */
static double slipPoint(double w, const double r[3], const double u[3], double x[2])
{
    const double side = r[0] < 0 ? -1 : 1;
    x[0] = side * r[1] - u[1] / w, x[1] = side * r[2] - u[2] / w;
    return spragNorm2(x);
}

static void slipLaw(const spragTraceBlock *block, const double *r, const double *u, double t, spragTraceLaw *law)
{
    const double w = block->w, mu = block->mu;
    double x[2];
    const double size = slipPoint(w, r, u, x), side = r[0] < 0 ? -1 : 1;
    const double e[2] = {x[0] / size, x[1] / size}, p[2] = {-e[1], e[0]}; /* against the slip, and across it */
    const double slip = e[0] * u[1] + e[1] * u[2], push = e[0] * r[1] + e[1] * r[2], off = p[0] * r[1] + p[1] * r[2];
    law->share = block->slide + mu * slip;
    law->F[0] = u[0] + t * law->share;
    law->B[1] = t * mu * e[0], law->B[2] = t * mu * e[1];
    law->F[1] = w * (push - mu * r[0]) + mu * law->F[0];
    law->F[2] = w * off;
    law->A[3] = -mu * w, law->B[3] = mu;
    for (int j = 0; j < 2; ++j) {
        const double turned = off / size * p[j];
        law->A[4 + j] = w * (e[j] + side * turned), law->B[4 + j] = mu * law->B[1 + j] - turned;
        law->A[7 + j] = -slip / size * p[j], law->B[7 + j] = push / size * p[j];
    }
}

double spragTraceExit(double mu, const double r[3], const double dr[3], int entered)
{
    const double square = mu * mu * dr[0] * dr[0] - dr[1] * dr[1] - dr[2] * dr[2];
    const double slope = mu * mu * r[0] * dr[0] - r[1] * dr[1] - r[2] * dr[2];
    const double here = entered ? 0 : fmax(0, mu * mu * r[0] * r[0] - r[1] * r[1] - r[2] * r[2]);
    const double root = slope * slope - square * here;
    if (slope < 0 && root >= 0)
        return here / (-slope + sqrt(root));
    return square < 0 ? (slope + sqrt(fmax(0, root))) / -square : INFINITY;
}

spragTraceMode spragTraceProject(const spragTraceBlock *block, const double x[3], double r[3])
{
    spragConeProject(block->mu, x, r);
    return r[0] <= 0 ? SPRAG_TRACE_OPEN : spragNorm2(x + 1) <= block->mu * x[0] ? SPRAG_TRACE_STICK : SPRAG_TRACE_SLIP;
}

void spragTraceLawAt(const spragTraceBlock *block, const double r[3], const double u[3], double t, spragTraceLaw *law)
{
    memset(law, 0, sizeof *law);
    if (block->mode == SPRAG_TRACE_OPEN) {
        for (int i = 0; i < 3; ++i)
            law->F[i] = block->w * r[i], law->A[4 * i] = block->w;
    } else if (block->mode == SPRAG_TRACE_STICK) {
        law->F[0] = u[0] + t * block->slide, law->F[1] = u[1], law->F[2] = u[2];
        law->B[0] = law->B[4] = law->B[8] = 1, law->share = block->slide;
    } else {
        law->B[0] = 1;
        slipLaw(block, r, u, t, law);
    }
}

int spragTraceMarginsAt(const spragTraceBlock *block, const double r[3], const double u[3], double t,
                        spragTraceMargin margin[SPRAG_TRACE_MARGINS])
{
    const double w = block->w, mu = block->mu;
    if (block->mode == SPRAG_TRACE_OPEN) {
        margin[0] = (spragTraceMargin){u[0] + t * (block->slide - mu * spragNorm2(u + 1)), SPRAG_TRACE_SLIP};
        return 1;
    }
    if (block->mode == SPRAG_TRACE_STICK) {
        margin[0] = (spragTraceMargin){w * (mu * r[0] - spragNorm2(r + 1)), SPRAG_TRACE_SLIP};
        return 1;
    }
    double x[2];
    const double size = slipPoint(w, r, u, x);
    margin[0] = (spragTraceMargin){-(x[0] * u[1] + x[1] * u[2]) / size, SPRAG_TRACE_STICK};
    margin[1] = (spragTraceMargin){w * r[0], SPRAG_TRACE_OPEN};
    return 2;
}
