/* The reference's sliders (Ivanov 2009, 2 to 4; Vlakhova 2014; Plotnikov 2003): a mass or two on a rough
 * plane under forces given in closed form, stepped in an ODE world.  Where they can rest, how they move,
 * when they stop and start, their cycles. */
#include <stdlib.h>

#include "support/oracle.h"
#include "support/twin.h"

/* One contact of normal force N: the body `rubs` on the plane, or, rubs = -1, body 0 on body 1. */
typedef struct Slider Slider;
struct Slider {
    int bodies, rubs;
    double mass[2], mu, mu_static /* < 0: mu */, belt /* m/s along x */;
    double p[8];
    void (*force)(const Slider *s, double t, const double x[2][2], const double v[2][2], double F[2][2], double *N);
    Twin t;
    double time, x[2][2], v[2][2];
    int mode; /* of the last step: 0 sticks, else the sign of the slip along x of the body that rubs */
    /* a mode counts from its first step on when it has lasted three: within the
     * step in which a slip reverses it can stick */
    int lasting, candidate, count;
    double since; /* s, the end of the first step of `lasting` */
    double candidate_since;
};

static void open(Slider *s)
{
    makeTwin(&s->t, 1);
    dWorldSetGravity(s->t.world, 0, 0, 0);
    dWorldSetCFM(s->t.world, 0);
    for (int k = 0; k < s->bodies; ++k) {
        dMass mass;
        dMassSetParameters(&mass, s->mass[k], 0, 0, 0, 1e9, 1e9, 1e9, 0, 0, 0); /* nothing turns */
        s->t.body[k] = dBodyCreate(s->t.world);
        dBodySetMass(s->t.body[k], &mass);
        dBodySetPosition(s->t.body[k], s->x[k][0], s->x[k][1], 0);
        dBodySetLinearVel(s->t.body[k], s->v[k][0], s->v[k][1], 0);
    }
    s->time = 0;
    s->count = s->candidate = s->lasting = 0;
}

static void stepSlider(Slider *s, double h)
{
    double F[2][2] = {{0}}, N = 1;
    const int a = s->rubs < 0 ? 0 : s->rubs;
    s->force(s, s->time, (const double(*)[2])s->x, (const double(*)[2])s->v, F, &N);
    for (int k = 0; k < s->bodies; ++k)
        dBodyAddForce(s->t.body[k], F[k][0], F[k][1], k == a ? -N : s->rubs < 0 ? N : 0);
    dContact contact = planeContact(s->x[a][0], s->x[a][1], 0, s->mu);
    contact.surface.mode |= dContactFDir1 | dContactMotion1;
    contact.surface.motion1 = s->belt;
    contact.fdir1[0] = 1;
    spragSurface surface = spragSurfaceDefault();
    surface.mu_static = s->mu_static;
    surface.curvature_radius[0] = surface.curvature_radius[1] = 0;
    const dJointID joint = spragJointCreateContactSurface(s->t.sprag, s->t.group, &contact, &surface);
    assert_non_null(joint);
    dJointAttach(joint, s->t.body[a], s->rubs < 0 ? s->t.body[1] : 0);
    assert_int_equal(spragWorldStep(s->t.sprag, h), SPRAG_OK);
    const spragContact *told = NULL;
    assert_int_equal(spragWorldGetContacts(s->t.sprag, &told), 1);
    s->mode = told->mode != SPRAG_MODE_SLIP ? 0 : told->slip[0] > 0 ? 1 : -1;
    dJointGroupEmpty(s->t.group);
    s->time += h;
    if (s->mode != s->candidate || s->count == 0)
        s->candidate = s->mode, s->candidate_since = s->time, s->count = 0;
    if (++s->count == 3)
        s->lasting = s->mode, s->since = s->candidate_since;
    for (int k = 0; k < s->bodies; ++k)
        for (int i = 0; i < 2; ++i) {
            s->x[k][i] = dBodyGetPosition(s->t.body[k])[i];
            s->v[k][i] = dBodyGetLinearVel(s->t.body[k])[i];
        }
}

/* 1: at rest in x it stays. */
static int rests(Slider *s, double x, double y)
{
    s->x[0][0] = x, s->x[0][1] = y;
    s->v[0][0] = s->v[0][1] = 0;
    dBodySetPosition(s->t.body[0], x, y, 0);
    dBodySetLinearVel(s->t.body[0], 0, 0, 0);
    stepSlider(s, 1e-3);
    return hypot(s->v[0][0], s->v[0][1]) < 1e-13;
}

/* ---------------------------------------------------------------- where it can rest */

/* F = p0 lam + p1 q^2, lam = p7 */
static void foldForce(const Slider *s, double t, const double x[2][2], const double v[2][2], double F[2][2], double *N)
{
    (void)t, (void)v, (void)N;
    F[0][0] = s->p[0] * s->p[7] + s->p[1] * x[0][0] * x[0][0];
}

/* F = lam q - q^3 */
static void duffingForce(const Slider *s, double t, const double x[2][2], const double v[2][2], double F[2][2],
                         double *N)
{
    (void)t, (void)v, (void)N;
    const double q = x[0][0];
    F[0][0] = s->p[7] * q - q * q * q;
}

/* F1 = lam q1 - q1 r^2, F2 = -q2 r^2 */
static void planeForce(const Slider *s, double t, const double x[2][2], const double v[2][2], double F[2][2], double *N)
{
    (void)t, (void)v, (void)N;
    const double r2 = x[0][0] * x[0][0] + x[0][1] * x[0][1];
    F[0][0] = s->p[7] * x[0][0] - x[0][0] * r2;
    F[0][1] = -x[0][1] * r2;
}

static int within(const Json *intervals, double q)
{
    for (int i = 0; i < intervals->count; ++i)
        if (q >= intervals->first[i].first[0].number && q <= intervals->first[i].first[1].number)
            return 1;
    return 0;
}

static void intervalsOfRest(void **state)
{
    (void)state;
    int ends = 0;
    for (int duffing = 0; duffing < 2; ++duffing)
        for (const Json *one = NULL;
             (one = oracleNext(duffing ? "duffing" : "slider_fold", "intervals", one)) != NULL;) {
            const Json *in = jsonGet(one, "inputs"), *points = jsonGet(jsonGet(one, "expected"), "points");
            Slider s = {.bodies = 1, .mass = {1}, .mu = jsonNumber(in, "C"), .mu_static = -1};
            s.force = duffing ? duffingForce : foldForce;
            if (!duffing)
                s.p[0] = jsonNumber(in, "a"), s.p[1] = jsonNumber(in, "b");
            open(&s);
            for (int k = 0; k < points->count; ++k) {
                const Json *list = jsonGet(&points->first[k], "intervals");
                s.p[7] = jsonNumber(&points->first[k], "lam");
                for (int q = -300; q <= 300; ++q)
                    assert_int_equal(rests(&s, 0.0101 * q, 0), within(list, 0.0101 * q));
                for (int i = 0; i < list->count; ++i)
                    for (int side = 0; side < 2; ++side, ++ends) {
                        const double end = list->first[i].first[side].number, out = side == 0 ? -1e-7 : 1e-7;
                        assert_int_equal(rests(&s, end - out, 0), 1);
                        assert_int_equal(rests(&s, end + out, 0), 0);
                    }
            }
            freeTwin(&s.t);
        }
    assert_true(ends > 40);
}

/* Pieces of the cells with this value in a square of side n; cells met get the
 * value 2.  outer: those at the border count. */
static int pieces(unsigned char *cell, int n, int value, int outer)
{
    int count = 0;
    int *stack = malloc((size_t)(n * n) * sizeof *stack);
    assert_non_null(stack);
    for (int start = 0; start < n * n; ++start) {
        int depth = 0, border = 0;
        if (cell[start] != value)
            continue;
        stack[depth++] = start;
        cell[start] = 2;
        while (depth > 0) {
            const int at = stack[--depth], i = at % n, j = at / n;
            border |= i == 0 || j == 0 || i == n - 1 || j == n - 1;
            const int to[4] = {at - 1, at + 1, at - n, at + n};
            const int inside[4] = {i > 0, i<n - 1, j> 0, j < n - 1};
            for (int k = 0; k < 4; ++k)
                if (inside[k] && cell[to[k]] == value) {
                    cell[to[k]] = 2;
                    stack[depth++] = to[k];
                }
        }
        count += outer || !border;
    }
    free(stack);
    return count;
}

/* Theorem 2 and its example: the places of rest in the plane, their border along rays, their pieces and holes. */
static void regionsOfRest(void **state)
{
    (void)state;
    enum { CELLS = 100 };
    static unsigned char cell[CELLS * CELLS], copy[CELLS * CELLS];
    for (const Json *one = NULL; (one = oracleNext("slider3d", "topology", one)) != NULL;) {
        const Json *points = jsonGet(jsonGet(one, "expected"), "points");
        Slider s = {.bodies = 1, .mass = {1}, .mu = jsonNumber(jsonGet(one, "inputs"), "C"), .mu_static = -1};
        s.force = planeForce;
        open(&s);
        for (int k = 0; k < points->count; ++k) {
            const Json *point = &points->first[k], *rays = jsonGet(point, "boundary_radii");
            s.p[7] = jsonNumber(point, "lam");
            double largest = 0;
            for (int i = 0; i < rays->count; ++i) {
                const double psi = jsonNumber(&rays->first[i], "psi");
                const Json *radii = jsonGet(&rays->first[i], "r");
                for (int q = 0; q < radii->count; ++q) {
                    const double r = radii->first[q].number;
                    for (int side = -1; side <= 1; side += 2) /* inside before an even one */
                        assert_int_equal(rests(&s, (r + side * 1e-7) * cos(psi), (r + side * 1e-7) * sin(psi)),
                                         (q % 2 == 0) == (side < 0));
                    largest = fmax(largest, r);
                }
            }
            for (int i = 0; i < CELLS * CELLS; ++i) {
                const double step = 2.2 * largest / CELLS;
                cell[i] = (unsigned char)rests(&s, (i % CELLS - 0.5 * CELLS + 0.37) * step,
                                               (i / CELLS - 0.5 * CELLS + 0.41) * step);
            }
            memcpy(copy, cell, sizeof cell);
            assert_int_equal(pieces(cell, CELLS, 1, 1), (int)jsonNumber(point, "components"));
            assert_int_equal(pieces(copy, CELLS, 0, 0), (int)jsonNumber(point, "holes"));
        }
        freeTwin(&s.t);
    }
}

/* ---------------------------------------------------------------- runs */

/* Steps until `time`, to the nearest. */
static void runTo(Slider *s, double time, double h)
{
    while (s->time < time - 0.5 * h)
        stepSlider(s, h);
}

static void duffingRuns(void **state)
{
    (void)state;
    static const double h = 2e-4;
    int runs = 0;
    for (const Json *one = NULL; (one = oracleNext("duffing", "trajectory", one)) != NULL; ++runs) {
        const Json *in = jsonGet(one, "inputs"), *out = jsonGet(one, "expected");
        const Json *samples = jsonGet(out, "samples_t_q_v"), *turns = jsonGet(out, "turning_points_t_q");
        Slider s = {.bodies = 1, .mass = {1}, .mu = jsonNumber(in, "C"), .mu_static = -1, .force = duffingForce};
        s.p[7] = jsonNumber(in, "lam");
        s.x[0][0] = jsonNumber(in, "q0"), s.v[0][0] = jsonNumber(in, "v0");
        open(&s);
        for (int k = 0; k < samples->count; ++k) {
            const Json *row = &samples->first[k];
            runTo(&s, row->first[0].number, h);
            CHECK_NEAR(s.x[0][0], row->first[1].number, 2 * h);
            CHECK_NEAR(s.v[0][0], row->first[2].number, 4 * h);
        }
        freeTwin(&s.t);
        /* again, for the turning points and the place where it stays */
        s.x[0][0] = jsonNumber(in, "q0"), s.v[0][0] = jsonNumber(in, "v0");
        open(&s);
        const double rest = jsonNumber(out, "t_rest");
        double before = s.v[0][0];
        int turn = 0;
        while (s.time < rest + 1) {
            stepSlider(&s, h);
            if (before != 0 && s.v[0][0] * before <= 0 && turn < turns->count) {
                CHECK_NEAR(s.time, turns->first[turn].first[0].number, 10 * h);
                CHECK_NEAR(s.x[0][0], turns->first[turn].first[1].number, 5 * h);
                ++turn;
            }
            before = s.v[0][0];
        }
        assert_int_equal(turn, turns->count);
        assert_true(fabs(s.v[0][0]) < 1e-13);
        CHECK_NEAR(s.x[0][0], jsonNumber(out, "rest"), 5 * h);
        freeTwin(&s.t);
    }
    assert_int_equal(runs, 5);
}

static void planeRuns(void **state)
{
    (void)state;
    static const double h = 1e-4;
    int runs = 0;
    for (const Json *one = NULL; (one = oracleNext("slider3d", "trajectory", one)) != NULL; ++runs) {
        const Json *in = jsonGet(one, "inputs"), *out = jsonGet(one, "expected");
        const Json *samples = jsonGet(out, "samples_t_q1_q2_v1_v2");
        Slider s = {.bodies = 1, .mass = {1}, .mu = jsonNumber(in, "C"), .mu_static = -1, .force = planeForce};
        s.p[7] = jsonNumber(in, "lam");
        jsonNumbers(jsonGet(in, "q0"), 0, 2, s.x[0]);
        jsonNumbers(jsonGet(in, "v0"), 0, 2, s.v[0]);
        open(&s);
        for (int k = 0; k < samples->count; ++k) {
            double row[5];
            jsonNumbers(&samples->first[k], 0, 5, row);
            runTo(&s, row[0], h);
            for (int i = 0; i < 2; ++i) {
                CHECK_NEAR(s.x[0][i], row[1 + i], 4 * h);
                CHECK_NEAR(s.v[0][i], row[3 + i], 8 * h);
            }
        }
        while (s.lasting != 0 || s.time < 3.5 * h)
            stepSlider(&s, h);
        CHECK_NEAR(s.since, jsonNumber(out, "first_stop_t"), 20 * h);
        for (int i = 0; i < 2; ++i)
            CHECK_NEAR(s.x[0][i], jsonGet(out, "first_stop_q")->first[i].number, 10 * h);
        runTo(&s, s.time + 0.1, h);
        assert_true(hypot(s.v[0][0], s.v[0][1]) < 1e-13);
        freeTwin(&s.t);
    }
    assert_int_equal(runs, 3);
}

/* ---------------------------------------------------------------- the belt */

enum { ALPHA, BETA, AMPLITUDE, NU };

/* The smooth part of T(w), w = u - v, the spring, and V(t). */
static void beltForce(const Slider *s, double t, const double x[2][2], const double v[2][2], double F[2][2], double *N)
{
    (void)N;
    const double w = s->belt - v[0][0];
    F[0][0] = -x[0][0] + s->mu * (-s->p[ALPHA] * w + s->p[BETA] * w * w * w) + s->p[AMPLITUDE] * cos(s->p[NU] * t);
}

static Slider beltOf(const Json *in)
{
    Slider s = {.bodies = 1, .mass = {1}, .mu = jsonNumber(in, "mu"), .mu_static = -1, .force = beltForce};
    s.belt = jsonNumber(in, "u");
    s.p[ALPHA] = jsonNumber(in, "alpha"), s.p[BETA] = jsonNumber(in, "beta");
    s.p[AMPLITUDE] = jsonFind(in, "A") != NULL ? jsonNumber(in, "A") : 0;
    s.p[NU] = jsonFind(in, "nu") != NULL ? jsonNumber(in, "nu") : 0;
    return s;
}

/* Time of the second return to the section v = belt leaving the stick (stick-slip), or v = 0 upwards (slip), and the
 * extremes of x on the way. */
static double returnTime(Slider *s, double h, int stick, double *low, double *high)
{
    double first = -1;
    int mode = 9;
    *low = INFINITY, *high = -INFINITY;
    while (s->time < 400) {
        const double v = s->v[0][0], t = s->time;
        stepSlider(s, h);
        const int left = stick ? mode == 0 && s->lasting != 0 : v < 0 && s->v[0][0] >= 0;
        mode = s->lasting;
        if (first >= 0) {
            *low = fmin(*low, s->x[0][0]);
            *high = fmax(*high, s->x[0][0]);
        }
        const double now = stick ? s->since : t + h * v / (v - s->v[0][0]);
        if (left && first >= 0)
            return now - first;
        if (left)
            first = now;
    }
    fail_msg("no cycle");
    return 0;
}

static void beltCycles(void **state)
{
    (void)state;
    static const double h = 1e-3;
    int stick_slip = 0, slip = 0;
    for (const Json *one = NULL; (one = oracleNext("belt", "cycle", one)) != NULL;) {
        const Json *out = jsonGet(one, "expected");
        const int stick = jsonFind(out, "T") != NULL;
        if (!stick && jsonFind(out, "period") == NULL)
            continue; /* forced: below */
        Slider s = beltOf(jsonGet(one, "inputs"));
        s.x[0][0] = stick ? s.mu : jsonNumber(out, "x1max");
        s.v[0][0] = stick ? s.belt : 0;
        open(&s);
        double low, high;
        runTo(&s, stick ? 1e-9 : 3, h);
        const double T = returnTime(&s, h, stick, &low, &high);
        CHECK_NEAR(T / jsonNumber(out, stick ? "T" : "period"), 1, 1e-3);
        if (jsonFind(out, "x1max") != NULL) { /* not given where it overtakes the belt */
            CHECK_NEAR(high, jsonNumber(out, "x1max"), 4 * h);
            CHECK_NEAR(low, jsonNumber(out, "x1min"), 4 * h);
        }
        stick_slip += stick, slip += !stick;
        freeTwin(&s.t);
    }
    assert_int_equal(stick_slip, 10);
    assert_int_equal(slip, 4);
}

/* Forced: the orbit comes back after so many periods, and what is a little off comes back less so, by the multiplier;
 * where the orbit has a stick the other multiplier is exactly 0. */
static void forcedBelt(void **state)
{
    (void)state;
    int orbits = 0;
    for (const Json *one = NULL; (one = oracleNext("belt", "cycle", one)) != NULL;) {
        const Json *out = jsonGet(one, "expected");
        if (jsonFind(out, "stroboscopic_x_at_t0") == NULL)
            continue;
        const int multiple = (int)jsonNumber(out, "period_multiple");
        double end[3];
        Slider s = beltOf(jsonGet(one, "inputs"));
        const double period = multiple * 2 * 3.14159265358979323846 / s.p[NU];
        const int steps = (int)(period / 4e-4);
        const double off = 2e-2, x0 = jsonGet(out, "stroboscopic_x_at_t0")->first[0].number;
        for (int k = 0; k < 3; ++k) {
            s.x[0][0] = x0 + (k - 1) * off;
            s.v[0][0] = jsonGet(out, "stroboscopic_x_at_t0")->first[1].number;
            open(&s);
            for (int i = 0; i < steps; ++i)
                stepSlider(&s, period / steps);
            end[k] = s.x[0][0];
            freeTwin(&s.t);
        }
        CHECK_NEAR(end[1], x0, 2e-3);
        CHECK_NEAR((end[2] - end[0]) / (2 * off), jsonGet(out, "multipliers")->first[1].number, 1e-2);
        ++orbits;
    }
    assert_int_equal(orbits, 3);
}

static void beltRuns(void **state)
{
    (void)state;
    static const double h = 2e-4;
    int runs = 0;
    for (const Json *one = NULL; (one = oracleNext("belt", "trajectory", one)) != NULL; ++runs) {
        const Json *in = jsonGet(one, "inputs"), *out = jsonGet(one, "expected");
        const Json *samples = jsonGet(out, "samples_t_x1_x2_mode"), *switches = jsonGet(out, "switches_t_to_x1");
        Slider s = beltOf(in);
        s.x[0][0] = jsonGet(in, "x0")->first[0].number, s.v[0][0] = jsonGet(in, "x0")->first[1].number;
        open(&s);
        int k = 0, seen = 0, mode = 9;
        const double end = samples->first[samples->count - 1].first[0].number;
        while (s.time < end + 0.5 * h) {
            stepSlider(&s, h);
            if (k < samples->count && s.time > samples->first[k].first[0].number - 0.5 * h) {
                CHECK_NEAR(s.x[0][0], samples->first[k].first[1].number, 5 * h);
                CHECK_NEAR(s.v[0][0], samples->first[k].first[2].number, 15 * h);
                ++k;
            }
            if (mode != 9 && s.lasting != mode && seen < switches->count) {
                const Json *row = &switches->first[seen++];
                const char *to = row->first[1].text;
                CHECK_NEAR(s.since, row->first[0].number, 10 * h);
                CHECK_NEAR(s.x[0][0], row->first[2].number, 10 * h);
                /* the reference's sign is that of w = u - v */
                assert_int_equal(-s.lasting, strcmp(to, "stick") == 0 ? 0 : strcmp(to, "slip+") == 0 ? 1 : -1);
            }
            mode = s.time > 2.5 * h ? s.lasting : 9;
        }
        assert_int_equal(k, samples->count);
        assert_int_equal(seen, switches->count);
        freeTwin(&s.t);
    }
    assert_int_equal(runs, 3);
}

/* In equilibrium it stays; near it, it comes back or leaves at the rate of the eigenvalue. */
static void beltEquilibria(void **state)
{
    (void)state;
    static const double h = 2e-4, small = 1e-3;
    int found = 0;
    for (const Json *one = NULL; (one = oracleNext("belt", "stationary", one)) != NULL; ++found) {
        const Json *out = jsonGet(one, "expected");
        const double x0 = jsonNumber(out, "x0"), rate = jsonNumber(out, "eig_real"), spin = jsonNumber(out, "eig_imag");
        Slider s = beltOf(jsonGet(one, "inputs"));
        s.x[0][0] = x0;
        open(&s);
        runTo(&s, 5, h);
        CHECK_NEAR(s.x[0][0], x0, 1e-9);
        freeTwin(&s.t);
        s.x[0][0] = x0 + small, s.v[0][0] = 0;
        open(&s);
        const double T = 2 * 3.14159265358979323846 / spin;
        runTo(&s, T, h);
        CHECK_NEAR((s.x[0][0] - x0) / small, exp(rate * T), 1e-2);
        freeTwin(&s.t);
    }
    assert_int_equal(found, 4);
}

/* ---------------------------------------------------------------- pre-displacement */

enum { DAMP, SPRING, HOLD_DAMP, HOLD_SPRING, DRIVE_A, DRIVE_B, DRIVE_W, SQUARE };

static double drive(const Slider *s, double t)
{
    const double a = s->p[DRIVE_A], b = s->p[DRIVE_B], w = s->p[DRIVE_W];
    return s->p[SQUARE] != 0 ? (cos(w * t) > 0 ? b : a) : a + b * sin(w * t);
}

/* Closed Coulomb: M alone on the plane.  A: M holds m by spring and damper, m rubs on the plane.  B: m is held by the
 * base, M rubs on m. */
static void deviceForce(const Slider *s, double t, const double x[2][2], const double v[2][2], double F[2][2],
                        double *N)
{
    (void)N;
    F[0][0] = drive(s, t) - s->p[DAMP] * v[0][0] - s->p[SPRING] * x[0][0];
    if (s->bodies == 1)
        return;
    const double dx = s->rubs < 0 ? x[1][0] : x[1][0] - x[0][0], dv = s->rubs < 0 ? v[1][0] : v[1][0] - v[0][0];
    const double hold = s->p[HOLD_DAMP] * dv + s->p[HOLD_SPRING] * dx;
    F[1][0] = -hold;
    F[0][0] += s->rubs < 0 ? 0 : hold;
}

static void checkDevice(const Json *one, double h, double most)
{
    const Json *in = jsonGet(one, "inputs"), *out = jsonGet(one, "expected"), *force = jsonGet(in, "force");
    const Json *samples = jsonGet(out, "samples_t_X_V_x_v_F_mode"), *events = jsonGet(out, "events_t_old_new_X_V_x_v");
    const char model = jsonGet(in, "model")->text[0];
    Slider s = {.bodies = model == 'C' ? 1 : 2, .rubs = model == 'C' ? 0 : model == 'A' ? 1 : -1, .force = deviceForce};
    s.mass[0] = jsonNumber(in, "M"), s.mass[1] = jsonNumber(in, "m");
    s.mu = jsonNumber(in, "f"), s.mu_static = jsonFind(in, "fs") != NULL ? jsonNumber(in, "fs") : -1;
    s.p[DAMP] = jsonNumber(in, "nu"), s.p[SPRING] = jsonNumber(in, "sig");
    s.p[HOLD_DAMP] = jsonNumber(in, "n"), s.p[HOLD_SPRING] = jsonNumber(in, "c");
    s.p[SQUARE] = strcmp(force->first[0].text, "square") == 0;
    s.p[DRIVE_A] = force->first[1].number, s.p[DRIVE_B] = force->first[2].number, s.p[DRIVE_W] = force->first[3].number;
    open(&s);
    int k = 0, seen = 0, was = 9;
    while (k < samples->count && samples->first[k].first[0].number <= most) {
        stepSlider(&s, h);
        const int jump = s.bodies == 1 && was == 0 && s.p[SQUARE] != 0; /* of the drive: no event of the reference */
        if (was != 9 && s.lasting != was && !jump && seen < events->count) {
            const Json *row = &events->first[seen];
            if (!(fabs(s.since - row->first[0].number) <= 30 * h) || (s.lasting != 0) != (row->first[2].number != 0))
                fail_msg("%s: event %d at %.6f to %d, expected %.6f to %g", jsonGet(one, "id")->text, seen, s.since,
                         s.lasting, row->first[0].number, row->first[2].number);
            ++seen;
        }
        was = s.time > 2.5 * h ? s.lasting : 9;
        const Json *row = &samples->first[k];
        if (s.time < row->first[0].number - 0.5 * h)
            continue;
        CHECK_NEAR(s.x[0][0], row->first[1].number, 4 * h);
        CHECK_NEAR(s.v[0][0], row->first[2].number, 8 * h);
        if (s.bodies == 2)
            CHECK_NEAR(s.x[1][0], row->first[3].number, 4 * h);
        ++k;
    }
    int expected = 0;
    while (expected < events->count && events->first[expected].first[0].number < s.time)
        ++expected;
    assert_int_equal(seen, expected);
    freeTwin(&s.t);
}

static void devices(void **state)
{
    (void)state;
    static const char *const system[] = {"coulomb_closed", "predisp_A", "predisp_B"};
    int runs = 0;
    for (int k = 0; k < 3; ++k)
        for (const Json *one = NULL; (one = oracleNext(system[k], "trajectory", one)) != NULL; ++runs) {
            checkDevice(one, k == 0 ? 5e-4 : 1e-4, k == 0 ? 50 : 6);
        }
    assert_int_equal(runs, 12);
}

/* Painleve's carriage with pre-displacement (5.5): 2 X'' = q - Phi, m x'' = Phi + F, |F| <= g |q - Phi|. */
static void carriageForce(const Slider *s, double t, const double x[2][2], const double v[2][2], double F[2][2],
                          double *N)
{
    (void)t;
    const double Phi = s->p[HOLD_DAMP] * (v[0][0] - v[1][0]) + s->p[HOLD_SPRING] * (x[0][0] - x[1][0]);
    F[0][0] = s->p[DRIVE_A] - Phi;
    F[1][0] = Phi;
    *N = fabs(s->p[DRIVE_A] - Phi);
}

static void carriages(void **state)
{
    (void)state;
    static const double h = 5e-6;
    int runs = 0;
    for (const Json *one = NULL; (one = oracleNext("painleve_predisp", "trajectory", one)) != NULL; ++runs) {
        const Json *in = jsonGet(one, "inputs"), *out = jsonGet(one, "expected");
        const Json *samples = jsonGet(out, "samples_t_X_V_x_v_Phi_mode_K1"),
                   *events = jsonGet(out, "events_t_old_new_state");
        Slider s = {.bodies = 2, .rubs = 1, .mass = {2, jsonNumber(in, "m")}, .mu_static = -1, .force = carriageForce};
        s.mu = 0.5 * jsonNumber(in, "k") * tan(jsonNumber(in, "alpha"));
        s.p[HOLD_DAMP] = jsonNumber(in, "n"), s.p[HOLD_SPRING] = jsonNumber(in, "c"),
        s.p[DRIVE_A] = jsonNumber(in, "q");
        s.x[0][0] = jsonNumber(in, "X0"), s.v[0][0] = jsonNumber(in, "V0"), s.v[1][0] = jsonNumber(in, "xdot0");
        open(&s);
        int seen = 0, was = 9;
        for (int k = 0; k < samples->count && samples->first[k].first[0].number <= 0.11;) {
            stepSlider(&s, h);
            while (seen < events->count &&
                   events->first[seen].first[1].first[0].number == events->first[seen].first[2].first[0].number)
                ++seen; /* q - Phi changes its sign */
            if (was != 9 && (s.lasting != 0) != (was != 0) && seen < events->count) {
                CHECK_NEAR(s.since, events->first[seen].first[0].number, 40 * h);
                ++seen;
            }
            was = s.time > 2.5 * h ? s.lasting : 9;
            const Json *row = &samples->first[k];
            if (s.time < row->first[0].number - 0.5 * h)
                continue;
            CHECK_NEAR(s.x[0][0], row->first[1].number, 2e-5);
            CHECK_NEAR(s.v[0][0], row->first[2].number, 1e-3);
            CHECK_NEAR(s.x[1][0], row->first[3].number, 2e-5);
            ++k;
        }
        freeTwin(&s.t);
    }
    assert_int_equal(runs, 8);
}

/* ---------------------------------------------------------------- creep (Vlakhova 2014) */

/* A carriage M on a guide along x, its wheel m in a slot at the angle gam, the wheel's axle across d: creep is
 * first-order slip, u = eps P / nuN where |P| < nuN.  F(t) on the carriage, -k y + G in the slot. */
static void creepEnd(const Json *in, double eps, double h, double *out)
{
    const double gam = jsonNumber(in, "gam"), toe = eps * jsonNumber(in, "beta"), c = jsonNumber(in, "c");
    const double slot[2] = {cos(gam), sin(gam)}, d[2] = {-sin(toe), cos(toe)}, bound = jsonNumber(in, "nuN");
    const int steps = (int)lround(jsonNumber(in, "T") / h);
    Twin t;
    makeTwin(&t, 1);
    dWorldSetGravity(t.world, 0, 0, 0);
    dWorldSetCFM(t.world, 0);
    for (int k = 0; k < 2; ++k) {
        dMass mass;
        dMassSetParameters(&mass, jsonNumber(in, k == 0 ? "M" : "m"), 0, 0, 0, 1, 1, 1, 0, 0, 0);
        t.body[k] = dBodyCreate(t.world);
        dBodySetMass(t.body[k], &mass);
        dBodySetLinearVel(t.body[k], jsonNumber(in, "v0"), 0, 0);
    }
    const double y0 = jsonNumber(in, "y0");
    dBodySetPosition(t.body[1], y0 * slot[0], y0 * slot[1], 0);
    for (int k = 0; k < 2; ++k) {
        const dJointID joint = dJointCreateSlider(t.world, 0);
        dJointAttach(joint, t.body[k], k == 0 ? 0 : t.body[0]);
        dJointSetSliderAxis(joint, k == 0 ? 1 : slot[0], k == 0 ? 0 : slot[1], 0);
    }
    for (int i = 0; i < steps; ++i) {
        const dReal *x = dBodyGetPosition(t.body[0]), *w = dBodyGetPosition(t.body[1]),
                    *v = dBodyGetLinearVel(t.body[0]);
        const double y = (w[0] - x[0]) * slot[0] + (w[1] - x[1]) * slot[1];
        const double drive = jsonNumber(in, "F0") + jsonNumber(in, "F1") * sin(jsonNumber(in, "w") * i * h);
        const double hold = -jsonNumber(in, "k") * y + jsonNumber(in, "G");
        dBodyAddForce(t.body[0], drive - c * v[0] - hold * slot[0], -hold * slot[1], 0);
        dBodyAddForce(t.body[1], hold * slot[0], hold * slot[1], 0);
        dContact contact = planeContact(w[0], w[1], 0, bound);
        contact.surface.mode = dContactFDir1 | dContactMu2 | dContactSlip1; /* mu: a force */
        contact.surface.mu2 = 0;
        contact.surface.slip1 = eps / bound;
        contact.fdir1[0] = d[0], contact.fdir1[1] = d[1];
        addContact(&t, &contact, t.body[1], 0);
        step(&t, h);
    }
    const dReal *x = dBodyGetPosition(t.body[0]), *w = dBodyGetPosition(t.body[1]);
    const dReal *v = dBodyGetLinearVel(t.body[0]), *u = dBodyGetLinearVel(t.body[1]);
    out[0] = x[0], out[1] = (w[0] - x[0]) * slot[0] + w[1] * slot[1];
    out[2] = v[0], out[3] = (u[0] - v[0]) * slot[0] + u[1] * slot[1];
    freeTwin(&t);
}

static void creepingCarriage(void **state)
{
    (void)state;
    const Json *one = oracleCase(&oracle, "creep.carriage"), *rows = jsonGet(jsonGet(one, "expected"), "rows");
    for (int k = 0; k < rows->count; ++k) {
        const double eps = jsonNumber(&rows->first[k], "eps"), h = 4e-4;
        double end[2][4], full[4];
        jsonNumbers(jsonGet(&rows->first[k], "full"), 0, 4, full);
        creepEnd(jsonGet(one, "inputs"), eps, h, end[0]);
        creepEnd(jsonGet(one, "inputs"), eps, 0.5 * h, end[1]);
        for (int i = 0; i < 4; ++i) {
            CHECK_NEAR(end[1][i], full[i], 2 * h);
            CHECK_NEAR(2 * end[1][i] - end[0][i], full[i], 2e-5); /* of first order */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervalsOfRest), cmocka_unit_test(regionsOfRest),   cmocka_unit_test(duffingRuns),
        cmocka_unit_test(planeRuns),       cmocka_unit_test(beltCycles),      cmocka_unit_test(forcedBelt),
        cmocka_unit_test(beltRuns),        cmocka_unit_test(beltEquilibria),  cmocka_unit_test(devices),
        cmocka_unit_test(carriages),       cmocka_unit_test(creepingCarriage)};
    dInitODE2(0);
    const int failed = cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
    dCloseODE();
    return failed;
}
