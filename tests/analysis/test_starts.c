/* Three contacts at rest in space: the whole set of solutions against Newton's method from many starts, near critical
 * loads, and where the supports are statically indeterminate. */
#include <stdlib.h>

#include "support/check.h"
#include "support/states.h"
#include "support/uniform.h"

#include "linalg/lu.h"

static unsigned long long seed;

/* ---------------------------------------------------------------- random systems */

static void randomFrame(double frame[3][3])
{
    double length = 0;
    while (length < 0.1 || length > 1) {
        length = 0;
        for (int i = 0; i < 3; ++i) {
            frame[0][i] = uniform(&seed);
            length += frame[0][i] * frame[0][i];
        }
    }
    const int axis = fabs(frame[0][0]) < 0.6 * sqrt(length) ? 0 : 1;
    double across = 0;
    for (int i = 0; i < 3; ++i)
        frame[0][i] /= sqrt(length);
    for (int i = 0; i < 3; ++i) {
        frame[1][i] = (i == axis) - frame[0][axis] * frame[0][i];
        across += frame[1][i] * frame[1][i];
    }
    for (int i = 0; i < 3; ++i)
        frame[1][i] /= sqrt(across);
    for (int i = 0; i < 3; ++i)
        frame[2][i] = frame[0][(i + 1) % 3] * frame[1][(i + 2) % 3] - frame[0][(i + 2) % 3] * frame[1][(i + 1) % 3];
}

/* Adds to the rows of contact k the body's six velocities, scaled by mass and inertia (J M^-1/2). */
static void addBody(double (*G)[24], int k, int body, double sign, double frame[3][3], const double *at, double mass,
                    const double *L)
{
    for (int row = 0; row < 3; ++row)
        for (int i = 0; i < 3; ++i) {
            const double *f = frame[row];
            G[3 * k + row][6 * body + i] += sign * f[i] / sqrt(mass);
            const double turn = at[(i + 1) % 3] * f[(i + 2) % 3] - at[(i + 2) % 3] * f[(i + 1) % 3];
            for (int j = 0; j < 3; ++j)
                G[3 * k + row][6 * body + 3 + j] += sign * turn * L[3 * i + j];
        }
}

/* Three contacts on a chain of `bodies` (1 to 3; the last stands on the ground), or, 0 bodies, any nine rows. */
static void randomState(State *s, int bodies, double friction, int two_sided)
{
    double G[ROWS][24] = {{0}}, load[24], L[4][9] = {{0}}, mass[4];
    begin(s, CONTACTS);
    for (int i = 0; i < 24; ++i)
        load[i] = uniform(&seed);
    for (int q = 0; q < 4; ++q) {
        mass[q] = 1 + 0.5 * uniform(&seed);
        for (int i = 0; i < 9; ++i)
            L[q][i] = i % 4 == 0 ? 1.5 + uniform(&seed) : i / 3 > i % 3 ? uniform(&seed) : 0;
    }
    for (int k = 0; k < CONTACTS; ++k) {
        double frame[3][3], at[2][3];
        randomFrame(frame);
        for (int i = 0; i < 6; ++i)
            at[i / 3][i % 3] = uniform(&seed);
        for (int i = 0; i < 27 && bodies == 0; ++i)
            G[3 * k + i / 9][i % 9] = uniform(&seed);
        if (bodies > 0)
            addBody(G, k, k % bodies, 1, frame, at[0], mass[k % bodies], L[k % bodies]);
        if (k % (bodies > 0 ? bodies : 1) + 1 < bodies)
            addBody(G, k, k % bodies + 1, -1, frame, at[1], mass[k % bodies + 1], L[k % bodies + 1]);
        s->mu[k] = friction * fabs(uniform(&seed));
        s->two_sided[k] = (unsigned char)two_sided;
    }
    double pressing = 0;
    for (int i = 0; i < ROWS; ++i)
        for (int c = 0; c < 24; ++c) {
            s->b[i] += G[i][c] * load[c];
            pressing += i % 3 == 0 ? G[i][c] * load[c] : 0;
            for (int j = 0; j < ROWS; ++j)
                s->A[ROWS * i + j] += G[i][c] * G[j][c];
        }
    for (int i = 0; i < ROWS && pressing > 0; ++i)
        s->b[i] = -s->b[i];
}

/* ---------------------------------------------------------------- Newton from many starts */

typedef struct Guess {
    Role role[CONTACTS];
    double sign[CONTACTS], x[ROWS]; /* HOLD r, START N, theta, unused */
} Guess;

static void forces(const State *s, const Guess *g, double *r)
{
    memset(r, 0, ROWS * sizeof *r);
    for (int k = 0; k < CONTACTS; ++k) {
        const double *x = g->x + 3 * k;
        const double mu = s->mu[k] * x[0];
        if (g->role[k] == HOLD)
            memcpy(r + 3 * k, x, 3 * sizeof *x);
        if (g->role[k] == START)
            memcpy(r + 3 * k, (double[3]){g->sign[k] * x[0], -mu * cos(x[1]), -mu * sin(x[1])}, 3 * sizeof *x);
    }
}

/* w (9) and what must vanish, F (9); where nothing is asked, the unknown itself. */
static double residual(const State *s, const Guess *g, double *w, double *F)
{
    double r[ROWS], size = 0;
    forces(s, g, r);
    for (int i = 0; i < ROWS; ++i) {
        w[i] = s->b[i];
        for (int j = 0; j < ROWS; ++j)
            w[i] += s->A[ROWS * i + j] * r[j];
    }
    for (int k = 0; k < CONTACTS; ++k) {
        const double *x = g->x + 3 * k, *v = w + 3 * k;
        const double across = -sin(x[1]) * v[1] + cos(x[1]) * v[2];
        memcpy(F + 3 * k,
               g->role[k] == OPEN   ? x
               : g->role[k] == HOLD ? v
                                    : (double[3]){v[0], across, x[2]},
               3 * sizeof *x);
    }
    for (int i = 0; i < ROWS; ++i)
        size = fmax(size, fabs(F[i]));
    return size;
}

static int newton(const State *s, Guess *g, double *w)
{
    double F[ROWS], changed[ROWS], unused[ROWS], J[ROWS * ROWS];
    for (int round = 0; round < 40; ++round) {
        int pivot[ROWS];
        if (residual(s, g, w, F) < 1e-12)
            return 1;
        for (int j = 0; j < ROWS; ++j) {
            const double kept = g->x[j], difference = 1e-7;
            g->x[j] += difference;
            residual(s, g, unused, changed);
            g->x[j] = kept;
            for (int i = 0; i < ROWS; ++i)
                J[ROWS * i + j] = (changed[i] - F[i]) / difference;
        }
        if (spragLuFactor(ROWS, J, pivot, 1e-13) < ROWS)
            return 0;
        spragLuSolve(ROWS, J, pivot, F);
        for (int j = 0; j < ROWS; ++j)
            g->x[j] -= j % 3 == 1 && g->role[j / 3] == START ? fmax(-0.5, fmin(0.5, F[j])) : F[j];
    }
    return 0;
}

static int allowed(const State *s, const Guess *g, const double *w)
{
    for (int k = 0; k < CONTACTS; ++k) {
        const double *x = g->x + 3 * k;
        if (g->role[k] == OPEN   ? w[3 * k] < 0
            : g->role[k] == HOLD ? hypot(x[1], x[2]) > s->mu[k] * g->sign[k] * x[0]
                                 : x[0] < 0 || cos(x[1]) * w[3 * k + 1] + sin(x[1]) * w[3 * k + 2] < 1e-9)
            return 0;
    }
    return 1;
}

static int has(const spragSolutionSet *set, const double *r, const double *w)
{
    for (int k = 0; k < set->count; ++k) {
        double dr = 0, dw = 0, size = 0;
        for (int i = 0; i < ROWS; ++i) {
            dr = fmax(dr, fabs(set->solution[k].r[i] - r[i]));
            dw = fmax(dw, fabs(set->solution[k].w[i] - w[i]));
            size = fmax(size, fabs(r[i]));
        }
        if (dw < 1e-7 && (set->solution[k].family || dr < 1e-6 * size))
            return 1;
    }
    return 0;
}

/* Newton finds nothing that the set has not. */
static int compare(const State *s, const spragSolutionSet *set, int starts)
{
    int found = 0;
    for (int start = 0; start < starts; ++start) {
        Guess g = {.x = {0}};
        double w[ROWS], r[ROWS];
        const double scale = exp(2 * uniform(&seed));
        for (int k = 0; k < CONTACTS; ++k) {
            const double which = fabs(uniform(&seed));
            g.role[k] = which < 0.2 && !s->two_sided[k] ? OPEN : which < 0.4 ? HOLD : START;
            g.sign[k] = s->two_sided[k] && uniform(&seed) < 0 ? -1 : 1;
            if (g.role[k] == OPEN)
                continue;
            g.x[3 * k] = scale * fabs(uniform(&seed));
            g.x[3 * k + 1] = g.role[k] == START ? 3.1416 * uniform(&seed) : 0;
        }
        if (!newton(s, &g, w) || !allowed(s, &g, w))
            continue;
        forces(s, &g, r);
        ++found;
        if (!has(set, r, w))
            fail_msg("Newton's method found a motion that is not in the set");
    }
    return found;
}

static void newtonFindsNothingElse(void **unused)
{
    (void)unused;
    int found = 0, most = 0, systems = 0;
    seed = 11;
    for (int round = 0; round < 240; ++round) {
        State s;
        spragSolutionSet set;
        randomState(&s, round % 4, round % 3 == 0 ? 1 : 5, round / 4 % 2);
        assert_int_equal(spragParadoxEnumerate(&s.state, &set), SPRAG_OK);
        assert_false(set.incomplete);
        found += compare(&s, &set, 250);
        most = set.count > most ? set.count : most;
        if (round % 4 == 0)
            assert_int_equal(set.count % 2, 1); /* A regular, at rest: the degree of the map is one */
        ++systems;
        spragSolutionSetFree(&set);
    }
    assert_true(found > 300 && most >= 5);
    print_message("%d systems, up to %d motions; Newton's method ended %d times, never elsewhere\n", systems, most,
                  found);
}

/* ---------------------------------------------------------------- near critical loads */

static int countAt(State *s, const double *from, const double *to, double t)
{
    spragSolutionSet set;
    for (int i = 0; i < ROWS; ++i)
        s->b[i] = from[i] + t * (to[i] - from[i]);
    assert_int_equal(spragParadoxEnumerate(&s->state, &set), SPRAG_OK);
    assert_false(set.incomplete);
    const int count = set.count;
    spragSolutionSetFree(&set);
    return count;
}

/* Two motions meet and vanish at a load; as near to it as 1e-7 they are still told apart, on both sides. */
static void motionsThatMeetAreCounted(void **unused)
{
    (void)unused;
    int met = 0;
    seed = 5;
    for (int round = 0; round < 1000 && met < 12; ++round) {
        State s, other;
        double from[ROWS];
        randomState(&s, 0, 5, round % 2);
        randomState(&other, 0, 5, 0);
        memcpy(from, s.b, sizeof from);
        double low = 0, high = 1;
        const int before = countAt(&s, from, other.b, low);
        if (before == countAt(&s, from, other.b, high))
            continue;
        while (high - low > 1e-10) {
            const double middle = 0.5 * (low + high);
            *(countAt(&s, from, other.b, middle) == before ? &low : &high) = middle;
        }
        const int far = countAt(&s, from, other.b, low - 1e-5), past = countAt(&s, from, other.b, high + 1e-5);
        assert_int_equal(abs(far - past), 2);
        for (double near = 1e-6; near > 5e-8; near /= 10) {
            assert_int_equal(countAt(&s, from, other.b, low - near), far);
            assert_int_equal(countAt(&s, from, other.b, high + near), past);
        }
        ++met;
    }
    assert_int_equal(met, 12);
}

/* ---------------------------------------------------------------- indeterminate supports */

/* A body of unit mass and inertia on points half a metre below its centre, normals up. */
static void tableState(State *s, const double (*at)[2], double mu, const double *load)
{
    double G[ROWS][6];
    begin(s, CONTACTS);
    for (int k = 0; k < CONTACTS; ++k) {
        const double x = at[k][0], y = at[k][1], z = -0.5;
        const double rows[3][6] = {{0, 0, 1, y, -x, 0}, {1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}};
        memcpy(G[3 * k], rows, sizeof rows);
        s->mu[k] = mu;
    }
    for (int i = 0; i < ROWS; ++i)
        for (int c = 0; c < 6; ++c) {
            s->b[i] += G[i][c] * load[c];
            for (int j = 0; j < ROWS; ++j)
                s->A[ROWS * i + j] += G[i][c] * G[j][c];
        }
}

static const spragParadoxSolution *ofModes(const spragSolutionSet *set, int a, int b, int c)
{
    for (int k = 0; k < set->count; ++k) {
        const unsigned char *mode = set->solution[k].mode;
        if (mode[0] == a && mode[1] == b && mode[2] == c)
            return &set->solution[k];
    }
    return NULL;
}

static void supportsOnALineAreAFamily(void **unused)
{
    (void)unused;
    static const double line[3][2] = {{1, 0}, {0, 0}, {-1, 0}}, triangle[3][2] = {{1, 0}, {-0.5, 0.8}, {-0.5, -0.8}};
    State s;
    spragSolutionSet set;
    /* pulled along the line, mu = 0.3: a = 0.5 - 0.3, how the weight is shared is open */
    tableState(&s, line, 0.3, (double[6]){0.5, 0, -1, 0, 0, 0});
    assert_int_equal(spragParadoxEnumerate(&s.state, &set), SPRAG_OK);
    assert_false(set.incomplete);
    const spragParadoxSolution *slide = ofModes(&set, SPRAG_MODE_SLIP, SPRAG_MODE_SLIP, SPRAG_MODE_SLIP);
    assert_non_null(slide);
    assert_true(slide->family);
    for (int k = 0; k < CONTACTS; ++k) {
        CHECK_NEAR(slide->w[3 * k + 1], 0.2, 1e-9);
        CHECK_NEAR(slide->w[3 * k + 2], 0, 1e-9);
    }
    CHECK_NEAR(slide->r[0] + slide->r[3] + slide->r[6], 1, 1e-9);
    spragSolutionSetFree(&set);
    /* the weight alone: friction at its limit can balance itself in many directions, none of which slips */
    tableState(&s, triangle, 0.3, (double[6]){0, 0, -1, 0, 0, 0});
    assert_int_equal(spragParadoxEnumerate(&s.state, &set), SPRAG_OK);
    assert_false(set.incomplete);
    assert_int_equal(set.count, 1);
    assert_non_null(ofModes(&set, SPRAG_MODE_STICK, SPRAG_MODE_STICK, SPRAG_MODE_STICK));
    assert_true(set.solution[0].family && set.solution[0].taken);
    spragSolutionSetFree(&set);
    /* turned about the vertical: all slide, in the directions of the turning */
    tableState(&s, triangle, 0.3, (double[6]){0, 0, -1, 0, 0, 1});
    assert_int_equal(spragParadoxEnumerate(&s.state, &set), SPRAG_OK);
    assert_false(set.incomplete);
    assert_int_equal(set.count, 1);
    assert_non_null(ofModes(&set, SPRAG_MODE_SLIP, SPRAG_MODE_SLIP, SPRAG_MODE_SLIP));
    assert_false(set.solution[0].family);
    CHECK_NEAR(set.solution[0].r[0] + set.solution[0].r[3] + set.solution[0].r[6], 1, 1e-9);
    spragSolutionSetFree(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newtonFindsNothingElse),
        cmocka_unit_test(motionsThatMeetAreCounted),
        cmocka_unit_test(supportsOnALineAreAFamily),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
