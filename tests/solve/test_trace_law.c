/* One block on the traced path: derivatives against differences, Coulomb's law where the equations hold, modes that
 * meet where a margin is 0, and the way out of the cone. */
#include "support/check.h"

#include "linalg/vec3.h"
#include "solve/trace/trace_law.h"
#include "support/uniform.h"

enum { TIMES = 2000 };
static const double W = 0.7; /* 1/kg */

static void random3(unsigned long long *seed, double x[3])
{
    for (int i = 0; i < 3; ++i)
        x[i] = uniform(seed);
}

/* A, B and share against central differences along (dr, du, dt), at any r and u.  Of F[0] of a slip the turn of e is
 * left out, which is 0 where u_t is along e; F[1] holds mu F[0]. */
static void compareSlope(const spragTraceBlock *block, unsigned long long *seed)
{
    double r[3], u[3], dr[3], du[3];
    random3(seed, r), random3(seed, u), random3(seed, dr), random3(seed, du);
    const double t = 0.5 * (1 + uniform(seed)), dt = uniform(seed), h = 1e-6;
    const int slips = block->mode == SPRAG_TRACE_SLIP;
    const double turn = r[0] < 0 ? -1 : 1, x[2] = {turn * r[1] - u[1] / W, turn * r[2] - u[2] / W};
    if (slips && (spragNorm2(x) < 0.1 || fabs(r[0]) < 2 * h))
        return;
    double difference[3], given[3];
    spragTraceLaw law, side[2];
    spragTraceLawAt(block, r, u, t, &law);
    for (int s = 0; s < 2; ++s) {
        double rs[3], us[3];
        for (int i = 0; i < 3; ++i)
            rs[i] = r[i] + (s ? -h : h) * dr[i], us[i] = u[i] + (s ? -h : h) * du[i];
        spragTraceLawAt(block, rs, us, t + (s ? -h : h) * dt, &side[s]);
    }
    for (int i = 0; i < 3; ++i) {
        difference[i] = (side[0].F[i] - side[1].F[i]) / (2 * h);
        given[i] = law.B[3 * i] * law.share * dt;
        for (int j = 0; j < 3; ++j)
            given[i] += law.A[3 * i + j] * dr[j] + law.B[3 * i + j] * du[j];
    }
    if (slips) {
        difference[1] -= block->mu * difference[0], given[1] -= block->mu * given[0];
        const double e[2] = {x[0] / spragNorm2(x), x[1] / spragNorm2(x)}, across = e[0] * u[2] - e[1] * u[1];
        const double dx[2] = {turn * dr[1] - du[1] / W, turn * dr[2] - du[2] / W};
        given[0] += t * block->mu * across * (e[0] * dx[1] - e[1] * dx[0]) / spragNorm2(x);
    }
    for (int i = 0; i < 3; ++i)
        CHECK_NEAR(given[i], difference[i], 1e-6);
}

static void slopesAreThoseOfTheLaw(void **state)
{
    (void)state;
    unsigned long long seed = 1;
    for (int i = 0; i < TIMES; ++i) {
        spragTraceBlock block = {SPRAG_TRACE_OPEN, W, 0.1 + fabs(uniform(&seed)), fabs(uniform(&seed))};
        for (int mode = SPRAG_TRACE_OPEN; mode <= SPRAG_TRACE_SLIP; ++mode) {
            block.mode = (spragTraceMode)mode;
            compareSlope(&block, &seed);
        }
    }
}

/* The least margin; *next: what comes there. */
static double leastMargin(const spragTraceBlock *block, const double r[3], const double u[3], double t,
                          spragTraceMode *next)
{
    spragTraceMargin margin[SPRAG_TRACE_MARGINS];
    const int count = spragTraceMarginsAt(block, r, u, t, margin);
    double least = INFINITY;
    for (int i = 0; i < count; ++i)
        if (margin[i].value < least)
            least = margin[i].value, *next = margin[i].next;
    return least;
}

/* The largest |F|. */
static double defect(const spragTraceBlock *block, const double r[3], const double u[3], double t)
{
    spragTraceLaw law;
    spragTraceLawAt(block, r, u, t, &law);
    return fmax(fabs(law.F[0]), fmax(fabs(law.F[1]), fabs(law.F[2])));
}

/* Minty's pair of x puts any x on the law's graph: r = P(x), v = w (r - x).  v is u with De Saxce's term, whose share t
 * is held at the slide.  Sets the mode to that of x. */
static void answerOf(spragTraceBlock *block, const double x[3], double t, double r[3], double u[3])
{
    block->mode = spragTraceProject(block, x, r);
    for (int i = 0; i < 3; ++i)
        u[i] = W * (r[i] - x[i]);
    u[0] -= t * block->slide + (1 - t) * block->mu * spragNorm2(u + 1);
}

static spragTraceBlock randomBlock(unsigned long long *seed)
{
    return (spragTraceBlock){SPRAG_TRACE_OPEN, W, 0.1 + fabs(uniform(seed)), fabs(uniform(seed))};
}

/* In its own mode an answer solves the equations and no margin is below 0; in any other one of the two is not so. */
static void answersAreThoseOfTheirMode(void **state)
{
    (void)state;
    unsigned long long seed = 2;
    int seen[SPRAG_TRACE_SLIP + 1] = {0};
    for (int i = 0; i < TIMES; ++i) {
        spragTraceBlock block = randomBlock(&seed);
        const double t = 0.5 * (1 + uniform(&seed));
        double x[3], r[3], u[3];
        random3(&seed, x);
        answerOf(&block, x, t, r, u);
        const spragTraceMode mode = block.mode;
        ++seen[mode];
        for (int other = SPRAG_TRACE_OPEN; other <= SPRAG_TRACE_SLIP; ++other) {
            block.mode = (spragTraceMode)other;
            spragTraceMode next;
            const double least = leastMargin(&block, r, u, t, &next);
            if (other == (int)mode)
                assert_true(defect(&block, r, u, t) < 1e-14 && least > -1e-14);
            else
                assert_true(defect(&block, r, u, t) > 1e-9 || least < -1e-9);
        }
    }
    for (int mode = 0; mode <= SPRAG_TRACE_SLIP; ++mode)
        assert_true(seen[mode] > 0);
}

/* Between two answers of different modes one of them ends: there its least margin is 0 and names the next, and the
 * equations of both hold. */
static void modesMeetWhereAMarginEnds(void **state)
{
    (void)state;
    unsigned long long seed = 3;
    int met = 0;
    for (int i = 0; i < TIMES; ++i) {
        spragTraceBlock block = randomBlock(&seed);
        const double t = 0.5 * (1 + uniform(&seed));
        double from[3], to[3], r[3], u[3];
        random3(&seed, from), random3(&seed, to);
        const spragTraceMode mode = spragTraceProject(&block, from, r);
        double near = 0, far = 1;
        while (far - near > 1e-14) {
            double x[3];
            const double middle = (near + far) / 2;
            for (int j = 0; j < 3; ++j)
                x[j] = from[j] + middle * (to[j] - from[j]);
            *(spragTraceProject(&block, x, r) == mode ? &near : &far) = middle;
        }
        if (near > 1 - 1e-13)
            continue; /* of one mode all the way */
        double x[3];
        for (int j = 0; j < 3; ++j)
            x[j] = from[j] + far * (to[j] - from[j]);
        answerOf(&block, x, t, r, u);
        const spragTraceMode after = block.mode;
        block.mode = mode;
        spragTraceMode next = mode;
        CHECK_NEAR(leastMargin(&block, r, u, t, &next), 0, 1e-12);
        assert_int_equal(next, after);
        CHECK_NEAR(defect(&block, r, u, t), 0, 1e-12);
        ++met;
    }
    assert_true(met > TIMES / 4);
}

/* mu^2 r_n^2 - |r_t|^2 at r + far dr: above 0 inside of the double cone. */
static double inside(double mu, const double r[3], const double dr[3], double far)
{
    double x[3];
    for (int i = 0; i < 3; ++i)
        x[i] = r[i] + far * dr[i];
    return mu * mu * x[0] * x[0] - x[1] * x[1] - x[2] * x[2];
}

static void exitIsWhereTheConeEnds(void **state)
{
    (void)state;
    unsigned long long seed = 4;
    int ever = 0, never = 0;
    for (int i = 0; i < TIMES; ++i) {
        const double mu = 0.1 + fabs(uniform(&seed)), turn = 3.2 * uniform(&seed);
        const int entered = i % 2;
        double r[3] = {0.1 + fabs(uniform(&seed)), 0, 0}, dr[3];
        const double size = (entered ? 1 : 0.99 * fabs(uniform(&seed))) * mu * r[0];
        r[1] = size * cos(turn), r[2] = size * sin(turn);
        random3(&seed, dr);
        const double slope = mu * mu * r[0] * dr[0] - r[1] * dr[1] - r[2] * dr[2];
        if (entered && slope < 1e-3)
            continue; /* it does not come in */
        const double far = spragTraceExit(mu, r, dr, entered);
        for (double part = 0.05; part < 1; part += 0.05)
            assert_true(inside(mu, r, dr, part * fmin(far, 1e3)) > 0);
        if (isinf(far)) {
            ++never;
            continue;
        }
        ++ever;
        assert_true(far > 0);
        CHECK_NEAR(inside(mu, r, dr, far), 0, 1e-12 * (1 + far * far));
        assert_true(inside(mu, r, dr, 1.001 * far) < 0);
    }
    assert_true(ever > TIMES / 8 && never > TIMES / 40);
    const double apex[3] = {1, 0, 0}, down[3] = {-1, 0.1, 0};
    assert_true(spragTraceExit(0.5, apex, down, 0) < 1); /* before the apex, not behind it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopesAreThoseOfTheLaw),
        cmocka_unit_test(answersAreThoseOfTheirMode),
        cmocka_unit_test(modesMeetWhereAMarginEnds),
        cmocka_unit_test(exitIsWhereTheConeEnds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
