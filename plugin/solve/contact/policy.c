/* The policy for one contact (docs/theory.md 6).  While it slides its normal acceleration is w_n = b + p N:
 *
 *              b < 0                              b > 0
 *     p > 0    slides on with N = -b / p          leaves
 *     p < 0    inconsistent: no motion; an        indeterminate: it leaves if its force before was below the separatrix
 *              impulse ends the slip              N* = -b / p, else it jams
 *
 * A step sees velocities: spragLocalEnumerate lists the solutions of its own problem, and spragLocalPick takes the one
 * that the table asks for.  Position correction shifts those solutions, so it has no say in p and b. */
#include "solve/contact/policy.h"

#include <math.h>

#include "linalg/vec3.h"
#include "problem/residual.h"

double spragPainleveSlope(const double W[9], double mu, const double slip[2])
{
    if (W == NULL || slip == NULL)
        return NAN;
    const double speed = spragNorm2(slip);
    return speed > 0 ? W[0] - mu * (W[1] * slip[0] + W[2] * slip[1]) / speed : W[0];
}

/* 1: with this separatrix the contact leaves, 0: it takes the branch with the force (docs/theory.md 6). */
static int liftsOff(double separatrix, const spragContactHistory *history, spragIndeterminacy policy)
{
    if (policy != SPRAG_INDETERMINACY_HISTORY)
        return policy == SPRAG_INDETERMINACY_LIFT;
    return history->fresh || history->previous_normal < separatrix;
}

spragIndicator spragIndicatorOf(const double W[9], double mu, const spragContactHistory *history,
                                spragIndeterminacy policy)
{
    const double *held = history->held;
    const double normal[9] = {W[0] - held[0], W[1] - held[1], W[2] - held[2]}; /* the row that p is made of */
    if (spragNorm2(history->slip) <= SPRAG_SLIP_TOLERANCE)
        return (spragIndicator){.quadrant = SPRAG_QUADRANT_REST, .p = normal[0]};
    const double p = spragPainleveSlope(normal, mu, history->slip), b = history->free_acceleration;
    if (p > 0 || (p == 0 && b > 0))
        return (spragIndicator){.quadrant = b < 0 ? SPRAG_QUADRANT_SLIDE : SPRAG_QUADRANT_LIFT, .p = p};
    if (b > 0)
        return (spragIndicator){SPRAG_QUADRANT_INDETERMINATE, p, -b / p, liftsOff(-b / p, history, policy)};
    return (spragIndicator){.quadrant = SPRAG_QUADRANT_INCONSISTENT, .p = p};
}

spragIndicator spragIndicatorTwoSided(const double W[9], double mu, double mu_minus, const spragContactHistory *history)
{
    if (spragNorm2(history->slip) <= SPRAG_SLIP_TOLERANCE)
        return (spragIndicator){.quadrant = SPRAG_QUADRANT_REST, .p = W[0]};
    const double b = history->free_acceleration, plus = spragPainleveSlope(W, mu, history->slip),
                 minus = spragPainleveSlope(W, -mu_minus, history->slip);
    const int on_plus = b < 0 || (b == 0 && plus >= minus); /* without load: the side that can slide */
    const double p = on_plus ? plus : minus, other = on_plus ? minus : plus;
    if (!(p > 0))
        return (spragIndicator){.quadrant = SPRAG_QUADRANT_INCONSISTENT, .p = p};
    if (other < 0 && b != 0)
        return (spragIndicator){SPRAG_QUADRANT_INDETERMINATE, p, -b / other, 0};
    return (spragIndicator){.quadrant = SPRAG_QUADRANT_SLIDE, .p = p};
}

/* ---------------------------------------------------------------- choice among the solutions of one contact */

/* The force that separates leaving from staying: that of the branch with negative slope, at velocity level. */
static double separatrixImpulse(int count, const spragLocalSolution *solution)
{
    double least = INFINITY;
    for (int k = 0; k < count; ++k)
        if (!solution[k].normal_stable)
            least = fmin(least, fabs(solution[k].r[0]));
    return least;
}

/* How far a solution continues the motion before: cosine between its slip and the slip at the start. */
static double continues(const spragLocalSolution *s, const double before[2])
{
    const double a = spragNorm2(s->u + 1), b = spragNorm2(before);
    return a > 0 && b > 0 ? (s->u[1] * before[0] + s->u[2] * before[1]) / (a * b) : 0;
}

/* The greater, the rather: a direction that attracts before any that does not,
 * then what continues the motion before. */
static double slipScore(const spragLocalSolution *s, const double before[2])
{
    enum { ATTRACTS = 4 }; /* more than cosines differ */
    return continues(s, before) + (s->direction_stable ? ATTRACTS : 0);
}

int spragLocalPick(int count, const spragLocalSolution *solution, const spragIndicator *indicator,
                   const spragContactHistory *history, double step, spragIndeterminacy policy, spragSolveInfo *info)
{
    const int slides = indicator->quadrant != SPRAG_QUADRANT_REST,
              inconsistent = indicator->quadrant == SPRAG_QUADRANT_INCONSISTENT;
    const double *before = slides ? history->slip : history->previous_slip;
    int open = -1, stick = -1, slip = -1, realisable = 0;
    for (int k = 0; k < count; ++k) {
        if (!solution[k].normal_stable)
            continue; /* a separatrix is never returned */
        ++realisable;
        if (solution[k].mode == SPRAG_MODE_OPEN)
            open = k;
        else if (solution[k].mode == SPRAG_MODE_STICK)
            stick = k;
        else if (slip < 0 || slipScore(&solution[k], before) > slipScore(&solution[slip], before))
            slip = k;
    }
    info->several |= realisable > 1;
    info->none |= inconsistent;
    const int closed = stick >= 0 ? stick : slip;
    if (open >= 0 && closed >= 0) {
        /* from p and b where it slides: position correction, which shifts the velocity-level branches, has no say */
        const double impulse = separatrixImpulse(count, solution);
        const int leaves = indicator->quadrant == SPRAG_QUADRANT_INDETERMINATE
                               ? indicator->lifts
                               : liftsOff(step > 0 ? impulse / step : impulse, history, policy);
        return leaves ? open : closed;
    }
    if (open >= 0 || stick < 0 || slip < 0)
        return open >= 0 ? open : closed;
    /* At rest it stays at rest; a slip that can go on, goes on (docs/theory.md 6).  In three dimensions
     * both can exist with p > 0, b < 0 (tests/data/oracle_open.json, top.algebra.p+b-.2): the sticking
     * one would be an impulse without a reason. */
    return slides && !inconsistent && continues(&solution[slip], history->slip) > 0 ? slip : stick;
}

/* ---------------------------------------------------------------- impulses without a reason */

static int isFrictional(const spragProblem *problem, int k)
{
    return spragKindOf(problem, k) <= SPRAG_BLOCK_TWO_SIDED;
}

double spragGreatestBlow(const spragProblem *problem, const double *r)
{
    double greatest = 0;
    for (int k = 0; k < problem->contact_count; ++k)
        if (isFrictional(problem, k))
            greatest = fmax(greatest, fabs(r[3 * k]) * problem->W[9 * (size_t)spragProblemDiagonal(problem, k)]);
    return greatest;
}

int spragIsBraced(const spragProblem *problem, const double *r)
{
    static const double proportion = 100;
    double asked = 0; /* m/s, by what acts in the step, and impacts */
    int slid = 0;
    for (int k = 0; k < problem->contact_count; ++k) {
        const double *q = problem->q + 3 * k, *slip = problem->history[k].slip;
        if (!isFrictional(problem, k))
            return 0;
        asked = fmax(asked, fmax(fabs(q[0]), hypot(q[1] - slip[0], q[2] - slip[1])));
        slid |= spragNorm2(slip) > SPRAG_SLIP_TOLERANCE;
    }
    return slid && spragGreatestBlow(problem, r) > proportion * asked;
}
