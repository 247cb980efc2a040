/* Every `modes` case of the reference: the whole set of solutions, found in both directions. */
#include "support/oracle.h"
#include "support/states.h"
#include "support/uniform.h"

enum { MOST = 8 };

/* One solution the reference has; NAN where it says nothing. */
typedef struct Expected {
    double r[ROWS], w[ROWS];
    double slope;
    int normal_stable, direction_stable; /* -1: not said */
    int family;
} Expected;

static Expected unsaid(void)
{
    Expected e = {.slope = NAN, .normal_stable = -1, .direction_stable = -1};
    for (int i = 0; i < ROWS; ++i)
        e.r[i] = e.w[i] = NAN;
    return e;
}

static double distance(const double *expected, const double *actual, int n)
{
    double d = 0;
    for (int i = 0; i < n; ++i)
        if (!isnan(expected[i]))
            d = fmax(d, fabs(expected[i] - actual[i]) / fmax(1, fabs(expected[i])));
    return d;
}

/* Laws that every solution obeys, whatever the reference says. */
static void checkLaws(const spragContactState *state, const spragParadoxSolution *s)
{
    const int n = 3 * state->contact_count;
    for (int i = 0; i < n; ++i) {
        double w = state->b[i], size = fabs(w);
        for (int j = 0; j < n; ++j) {
            w += state->A[n * i + j] * s->r[j];
            size += fabs(state->A[n * i + j] * s->r[j]);
        }
        CHECK_NEAR(s->w[i], w, 1e-8 * size);
    }
    for (int k = 0; k < state->contact_count; ++k) {
        const double *r = s->r + 3 * k, *w = s->w + 3 * k, *v = state->slip + 2 * k;
        const double friction = hypot(r[1], r[2]), limit = state->mu_static[k] * fabs(r[0]);
        if (s->mode[k] == SPRAG_MODE_OPEN) {
            assert_true(w[0] >= 0 && r[0] == 0 && friction == 0);
            continue;
        }
        assert_true(state->two_sided[k] || r[0] >= -1e-9);
        assert_int_equal(s->variant[k], (r[0] > 0) - (r[0] < 0));
        assert_true(w[0] == 0);
        if (s->mode[k] == SPRAG_MODE_STICK) {
            assert_true(w[1] == 0 && w[2] == 0 && friction <= limit * (1 + 1e-9) + 1e-12);
            continue;
        }
        const double *along = hypot(v[0], v[1]) > 0 ? v : w + 1, length = hypot(along[0], along[1]);
        for (int t = 0; t < 2; ++t)
            CHECK_NEAR(r[1 + t], -state->mu[k] * fabs(r[0]) * along[t] / length, 1e-7 * fmax(1, fabs(r[0])));
    }
}

static int opens(const State *s, const spragParadoxSolution *solution)
{
    for (int k = 0; k < s->state.contact_count; ++k)
        if (solution->mode[k] == SPRAG_MODE_OPEN)
            return 1;
    return 0;
}

/* Equal as sets: as many, and every expected one is there, with its stability.  closed: of those without an open
 * contact, where the reference has no others. */
static void checkSet(const char *id, const State *s, int count, const Expected *expected, int closed)
{
    spragSolutionSet set;
    const int n = 3 * s->state.contact_count;
    assert_int_equal(spragParadoxEnumerate(&s->state, &set), SPRAG_OK);
    int compared = set.count;
    for (int k = 0; k < set.count; ++k)
        compared -= closed && opens(s, &set.solution[k]);
    if (compared != count)
        fail_msg("%s: %d solutions, the reference has %d", id, compared, count);
    assert_false(set.incomplete);
    assert_int_equal(set.inconsistent, set.count == 0);
    assert_int_equal(set.indeterminate, set.count > 1);
    int used[16] = {0}, taken = 0, realisable = 0;
    for (int k = 0; k < set.count; ++k) {
        checkLaws(&s->state, &set.solution[k]);
        assert_int_equal(set.solution[k].multiplicity, 1);
        taken += set.solution[k].taken;
        realisable += set.solution[k].small_friction;
        if (set.solution[k].taken)
            assert_true(set.solution[k].normal_stable); /* a separatrix is never taken */
    }
    assert_int_equal(taken, realisable > 0);
    for (int k = 0; k < count; ++k) {
        int best = -1;
        double near = 1e-9;
        for (int j = 0; j < set.count; ++j) {
            const double d =
                fmax(distance(expected[k].r, set.solution[j].r, n), distance(expected[k].w, set.solution[j].w, n));
            if (!used[j] && d < near && (!expected[k].family || set.solution[j].family))
                near = d, best = j;
        }
        if (best < 0)
            fail_msg("%s: solution %d of the reference was not found", id, k);
        used[best] = 1;
        const spragParadoxSolution *found = &set.solution[best];
        assert_int_equal(found->family, expected[k].family);
        if (!isnan(expected[k].slope))
            CHECK_NEAR(found->slope, expected[k].slope, 1e-9 * fmax(1, fabs(expected[k].slope)));
        if (expected[k].normal_stable >= 0)
            assert_int_equal(found->normal_stable, expected[k].normal_stable);
        if (expected[k].direction_stable >= 0)
            assert_int_equal(found->direction_stable, expected[k].direction_stable);
    }
    spragSolutionSetFree(&set);
}

static double numberOr(const Json *object, const char *key, double otherwise)
{
    const Json *found = jsonFind(object, key);
    return found != NULL && found->kind == JSON_NUMBER ? found->number : otherwise;
}

/* Planar problems have a second tangent: absent (a row of zeros), or decoupled with any inertia and no load. */
static const double across[] = {0, 0.3, 7};

/* ---------------------------------------------------------------- the rod (Ivanov 2009, 5.2 to 5.7) */

static void checkRod(const Json *one, int two_sided)
{
    const Json *in = jsonGet(one, "inputs"), *solutions = jsonGet(jsonGet(one, "expected"), "solutions");
    const double a = jsonNumber(in, "a"), h = jsonNumber(in, "h"), m = jsonNumber(in, "m"), J = jsonNumber(in, "J");
    const double v3 = jsonNumber(in, "v3"), F1 = jsonNumber(in, "F1"), F2 = jsonNumber(in, "F2"),
                 F3 = jsonNumber(in, "F3");
    State s;
    Expected expected[MOST];
    for (int c = 0; c < 3; ++c) {
        rodState(&s, a, h, m, J, across[c]);
        s.b[0] = F2 / m - a * F3 / J + h * v3 * v3;
        s.b[1] = F1 / m + h * F3 / J + a * v3 * v3;
        s.slip[0] = jsonNumber(in, "v1");
        s.mu[0] = jsonNumber(in, "mu");
        s.two_sided[0] = (unsigned char)two_sided;
        CHECK_NEAR(s.b[0], jsonNumber(jsonGet(one, "expected"), "b_free_normal_acc"), 1e-12);
        for (int k = 0; k < solutions->count; ++k) {
            const Json *row = &solutions->first[k];
            /* the reference's w1, w2 are of the contact; its T is along the slip axis */
            expected[k] = unsaid();
            expected[k].r[0] = jsonNumber(row, "N"), expected[k].r[1] = jsonNumber(row, "T"), expected[k].r[2] = 0;
            expected[k].w[0] = jsonNumber(row, "w2"), expected[k].w[1] = jsonNumber(row, "w1"), expected[k].w[2] = 0;
            expected[k].slope = numberOr(row, "slope", NAN);
            if (!isnan(expected[k].slope))
                expected[k].normal_stable = expected[k].slope > 0;
        }
        checkSet(jsonGet(one, "id")->text, &s, solutions->count, expected, 0);
    }
}

/* ---------------------------------------------------------------- the bipod (Ivanov 2009, 5.8 to 5.13)
 * Points at x = -a and +a, H below G; both two-sided contacts keep it from turning, so any J gives the same N, T, w. */

static void checkBipod(const Json *one, double J, int two_sided)
{
    const Json *in = jsonGet(one, "inputs");
    const Json *solutions = jsonGet(jsonGet(one, "expected"), two_sided ? "solutions" : "unilateral_solutions");
    const double a = jsonNumber(in, "a"), H = jsonNumber(in, "H"), m = jsonNumber(in, "m");
    State s;
    Expected expected[MOST];
    for (int c = 0; c < 3; ++c) {
        bipodState(&s, a, H, m, J, jsonNumber(in, "P"), jsonNumber(in, "F"), across[c]);
        for (int k = 0; k < 2; ++k) {
            s.slip[2 * k] = jsonNumber(in, "v");
            s.mu[k] = jsonNumber(in, k == 0 ? "mu1" : "mu2");
            s.two_sided[k] = (unsigned char)two_sided;
        }
        for (int k = 0; k < solutions->count; ++k) {
            const Json *row = &solutions->first[k];
            expected[k] = unsaid();
            expected[k].family = strcmp(jsonGet(row, "mode")->text, "rest") == 0;
            for (int i = 0; i < 2; ++i) {
                expected[k].r[3 * i] = jsonNumber(row, i == 0 ? "N1" : "N2");
                expected[k].r[3 * i + 1] = numberOr(row, i == 0 ? "T1" : "T2", NAN);
                expected[k].r[3 * i + 2] = 0;
                expected[k].w[3 * i] = 0, expected[k].w[3 * i + 1] = jsonNumber(row, "w");
            }
            if (!expected[k].family)
                expected[k].normal_stable = jsonNumber(row, "det") > 0;
        }
        checkSet(jsonGet(one, "id")->text, &s, solutions->count, expected, !two_sided);
    }
}

/* ---------------------------------------------------------------- Painleve and Klein, rigid (Zobova) */

static void checkKlein(const Json *one)
{
    const Json *in = jsonGet(one, "inputs"), *solutions = jsonGet(jsonGet(one, "expected"), "solutions");
    const double m[2] = {jsonNumber(in, "m1"), jsonNumber(in, "m2")}, v = jsonNumber(in, "v");
    const double F[4] = {jsonNumber(in, "X1"), jsonNumber(in, "Y1"), jsonNumber(in, "X2"), jsonNumber(in, "Y2")};
    State s;
    Expected expected[MOST];
    for (int c = 0; c < 3; ++c) {
        kleinState(&s, m, jsonNumber(in, "phi"), F, (double[2]){v, v},
                   (double[2]){jsonNumber(in, "mu1"), jsonNumber(in, "mu2")}, across[c]);
        for (int k = 0; k < solutions->count; ++k) {
            const Json *row = &solutions->first[k];
            expected[k] = unsaid();
            expected[k].family = strcmp(jsonGet(row, "mode")->text, "rest") == 0;
            for (int i = 0; i < 2; ++i) {
                expected[k].r[3 * i] = numberOr(row, i == 0 ? "N1" : "N2", NAN);
                expected[k].r[3 * i + 1] = numberOr(row, i == 0 ? "T1" : "T2", NAN);
                expected[k].w[3 * i] = 0, expected[k].w[3 * i + 1] = numberOr(row, "xdd", 0);
            }
            if (!expected[k].family)
                expected[k].normal_stable = (int)jsonNumber(row, "stable");
        }
        checkSet(jsonGet(one, "id")->text, &s, solutions->count, expected, 0);
    }
}

/* Digest 4.6: only the first rail is rough; X'' = lam cos al for the second body, so x1 carries q and lam is -R. */
static void checkPlotnikov(const Json *one)
{
    const Json *in = jsonGet(one, "inputs");
    const double k = jsonNumber(in, "k"), alpha = jsonNumber(in, "alpha"), q = jsonNumber(in, "q");
    for (int side = 0; side < 2; ++side) {
        const Json *solutions = jsonGet(jsonGet(one, "expected"), side == 0 ? "right" : "left");
        const double v = side == 0 ? 1 : -1;
        State s;
        Expected expected[MOST];
        kleinState(&s, (double[2]){1, 1}, alpha, (double[4]){q, 0, 0, 0}, (double[2]){v, v}, (double[2]){k, 0}, 0);
        for (int i = 0; i < solutions->count; ++i) {
            const double lam = jsonNumber(&solutions->first[i], "lam"), x = jsonNumber(&solutions->first[i], "Xdd");
            expected[i] = unsaid();
            expected[i].r[0] = lam * sin(alpha), expected[i].r[1] = -k * fabs(lam) * sin(alpha) * v;
            expected[i].r[3] = -lam * sin(alpha), expected[i].r[4] = 0;
            expected[i].w[1] = expected[i].w[4] = x;
        }
        checkSet(jsonGet(one, "id")->text, &s, solutions->count, expected, 0);
    }
}

/* ---------------------------------------------------------------- the body in space (Ivanov 2009, 5.14 to 5.21) */

static void readBodySolutions(const Json *solutions, double m, Expected *expected)
{
    for (int k = 0; k < solutions->count; ++k) {
        const Json *row = &solutions->first[k];
        double R[3], mw[3];
        jsonNumbers(jsonGet(row, "R"), 0, 3, R);
        jsonNumbers(jsonGet(row, "mw"), 0, 3, mw);
        expected[k] = unsaid();
        for (int i = 0; i < 3; ++i) {
            static const int axis[3] = {2, 0, 1};
            expected[k].r[i] = R[axis[i]], expected[k].w[i] = mw[axis[i]] / m;
        }
        const double dn = numberOr(row, "dn", NAN);
        expected[k].slope = dn / m;
        if (!isnan(dn))
            expected[k].normal_stable = dn > 0;
        expected[k].direction_stable = (int)numberOr(row, "direction_stable", -1);
    }
}

static void checkBody(const Json *one)
{
    const Json *in = jsonGet(one, "inputs"), *out = jsonGet(one, "expected"), *solutions = jsonGet(out, "solutions");
    double B[9], Fstar[3], v[2] = {0};
    State s;
    Expected expected[MOST];
    for (int i = 0; i < 3; ++i)
        jsonNumbers(&jsonGet(out, "B")->first[i], 0, 3, B + 3 * i);
    jsonNumbers(jsonGet(in, "Fstar"), 0, 3, Fstar);
    jsonNumbers(jsonGet(in, "v"), 0, 2, v);
    const double m = jsonNumber(in, "m");
    bodyState(&s, B, Fstar, m, jsonNumber(in, "mu"), v, (int)jsonNumber(in, "bilateral"));
    readBodySolutions(solutions, m, expected);
    checkSet(jsonGet(one, "id")->text, &s, solutions->count, expected, 0);
}

static void cross(double out[3], const double a[3], const double b[3])
{
    for (int i = 0; i < 3; ++i)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* The top: r = -l d, B = E + k (E - d d'), k = m l^2 / J1,
 * F* = F + m (J^-1 (M - W x J W)) x r + m W x (W x r), weight along -z. */
static void checkTop(const Json *one)
{
    const Json *in = jsonGet(one, "inputs"), *solutions = jsonGet(jsonGet(one, "expected"), "modes");
    const double m = jsonNumber(in, "m"), l = jsonNumber(in, "l"), J1 = jsonNumber(in, "J1"), J3 = jsonNumber(in, "J3");
    double y[12], B[9], Fstar[3], r[3], JW[3], torque[3], turning[3], Wr[3], centripetal[3], along = 0;
    assert_int_equal(jsonNumbers(jsonGet(in, "z_tip_axis_vtip_omega"), 0, 12, y), 12);
    const double *d = y + 3, *v = y + 6, *W = y + 9;
    for (int i = 0; i < 3; ++i)
        along += d[i] * W[i];
    for (int i = 0; i < 3; ++i) {
        r[i] = -l * d[i];
        JW[i] = J1 * W[i] + (J3 - J1) * along * d[i];
        for (int j = 0; j < 3; ++j)
            B[3 * i + j] = (i == j) + m * l * l / J1 * ((i == j) - d[i] * d[j]);
    }
    cross(torque, JW, W); /* -W x J W */
    double axial = 0;
    for (int i = 0; i < 3; ++i)
        axial += torque[i] * d[i];
    for (int i = 0; i < 3; ++i)
        torque[i] = torque[i] / J1 + (1 / J3 - 1 / J1) * axial * d[i];
    cross(turning, torque, r);
    cross(Wr, W, r);
    cross(centripetal, W, Wr);
    for (int i = 0; i < 3; ++i)
        Fstar[i] = m * (turning[i] + centripetal[i]) - (i == 2 ? m * jsonNumber(in, "g") : 0);
    State s;
    Expected expected[MOST];
    bodyState(&s, B, Fstar, m, jsonNumber(in, "mu"), v, 0);
    CHECK_NEAR(s.b[0], jsonNumber(jsonGet(one, "expected"), "b"), 1e-9);
    CHECK_NEAR(spragPainleveSlope(s.A, s.mu[0], v), jsonNumber(jsonGet(one, "expected"), "p"), 1e-9);
    readBodySolutions(solutions, m, expected);
    checkSet(jsonGet(one, "id")->text, &s, solutions->count, expected, 0);
}

/* ---------------------------------------------------------------- all of them */

static void referenceSetsAgree(void **unused)
{
    (void)unused;
    int count = 0;
    for (const Json *one = NULL; (one = oracleNext(NULL, "modes", one)) != NULL;) {
        const char *system = jsonGet(one, "system")->text;
        ++count;
        if (strcmp(system, "rod_bilateral") == 0)
            checkRod(one, 1);
        else if (strcmp(system, "rod_unilateral") == 0)
            checkRod(one, 0);
        else if (strcmp(system, "bipod") == 0)
            checkBipod(one, 1, 1), checkBipod(one, 0.2, 1), checkBipod(one, 0.5, 0);
        else if (strcmp(system, "pk_rigid") == 0)
            checkKlein(one);
        else if (strcmp(system, "painleve_predisp") == 0)
            checkPlotnikov(one);
        else if (strcmp(system, "body3d") == 0)
            checkBody(one);
        else if (strcmp(system, "top") == 0)
            checkTop(one);
        else
            fail_msg("%s: no reader for system %s", jsonGet(one, "id")->text, system);
    }
    assert_int_equal(count, 108);
}

/* ---------------------------------------------------------------- how many */

static unsigned long long seed = 5;

/* A body at rest on one point, any inertia, any load: one or three motions if one-sided, one, three or five if
 * two-sided, and one that can last in every case. */
static void theNumberAtRestIsOdd(void **unused)
{
    (void)unused;
    int seen[2][6] = {{0}};
    for (int round = 0; round < 20000; ++round) {
        /* B = E - m [r] J^-1 [r], J^-1 = L L' */
        double B[9], r[3], L[9] = {0}, load[3], K[9];
        for (int i = 0; i < 3; ++i) {
            r[i] = 2 * uniform(&seed);
            load[i] = uniform(&seed);
            for (int j = 0; j <= i; ++j)
                L[3 * i + j] = i == j ? 1.5 + uniform(&seed) : uniform(&seed);
        }
        load[2] = round % 3 == 0 ? load[2] : -fabs(load[2]);
        const double R[9] = {0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                K[3 * i + j] = 0;
                for (int k = 0; k < 3; ++k)
                    K[3 * i + j] += R[3 * i + k] * L[3 * k + j];
            }
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                B[3 * i + j] = i == j;
                for (int k = 0; k < 3; ++k)
                    B[3 * i + j] += K[3 * i + k] * K[3 * j + k];
            }
        const int two_sided = round % 2;
        State s;
        spragSolutionSet set;
        bodyState(&s, B, load, 1, 0.1 + 3 * fabs(uniform(&seed)), (double[2]){0, 0}, two_sided);
        assert_int_equal(spragParadoxEnumerate(&s.state, &set), SPRAG_OK);
        assert_false(set.incomplete);
        if (set.count % 2 == 0 || set.count > (two_sided ? 5 : 3))
            fail_msg("round %d: %d motions", round, set.count);
        ++seen[two_sided][set.count];
        int taken = 0;
        for (int k = 0; k < set.count; ++k) {
            checkLaws(&s.state, &set.solution[k]);
            taken += set.solution[k].taken;
        }
        assert_int_equal(taken, 1);
        spragSolutionSetFree(&set);
    }
    assert_true(seen[0][1] > 0 && seen[0][3] > 0 && seen[1][1] > 0 && seen[1][3] > 0);
    print_message("one-sided: %d with one motion, %d with three; two-sided: %d, %d, %d with five\n", seen[0][1],
                  seen[0][3], seen[1][1], seen[1][3], seen[1][5]);
}

/* Class 4 of two guided beads that slide: taken is the variant that spragVariantEnumerate finds at the end of the path
 * from no friction. */
static void frictionGrowsToWhatIsTaken(void **unused)
{
    (void)unused;
    int tried = 0;
    for (int round = 0; round < 4000; ++round) {
        State s;
        spragSolutionSet set;
        spragVariantSet variants;
        const double mu[2] = {1.5 + 1.5 * uniform(&seed), 1.5 + 1.5 * uniform(&seed)}, v = uniform(&seed);
        const double F[4] = {uniform(&seed), uniform(&seed), uniform(&seed), uniform(&seed)};
        double D[8], D0[8], b[2];
        kleinState(&s, (double[2]){1, 1.5 + uniform(&seed)}, 0.9 + 0.5 * uniform(&seed), F, (double[2]){v, v}, mu, 0);
        for (int i = 0; i < 2; ++i) {
            b[i] = -s.b[3 * i];
            for (int k = 0; k < 2; ++k) {
                const double normal = s.A[18 * i + 3 * k], rub = (v > 0 ? mu[k] : -mu[k]) * s.A[18 * i + 3 * k + 1];
                D0[4 * i + k] = normal, D0[4 * i + 2 + k] = -normal;
                D[4 * i + k] = normal - rub, D[4 * i + 2 + k] = -normal - rub;
            }
        }
        assert_int_equal(spragParadoxEnumerate(&s.state, &set), SPRAG_OK);
        assert_int_equal(spragVariantEnumerate(2, D, D0, b, &variants), SPRAG_OK);
        for (int k = 0; k < set.count && set.paradox_class == 4; ++k) {
            const signed char *selected = variants.member[variants.selected].variant;
            const int same = set.solution[k].variant[0] == selected[0] && set.solution[k].variant[1] == selected[1];
            assert_int_equal(set.solution[k].taken, same);
            tried += same;
        }
        spragVariantSetFree(&variants);
        spragSolutionSetFree(&set);
    }
    print_message("%d states of class 4\n", tried);
    assert_true(tried >= 50);
}

/* The same contact two or three times: more solutions, which share its load, and the same motions. */
static void copiesAreNoParadox(void **state)
{
    (void)state;
    const double A[9] = {2, 0.7, 0.1, 0.7, 1.5, 0, 0.1, 0, 1.2};
    for (int n = 0; n < 8; ++n) {
        int alone[3] = {0};
        for (int copies = 1; copies <= CONTACTS; ++copies) {
            State s;
            spragSolutionSet set;
            begin(&s, copies);
            for (int k = 0; k < copies; ++k) {
                s.mu[k] = n & 1 ? 4 : 0.5;
                s.slip[2 * k] = n & 2 ? 1 : 0;
                s.b[3 * k] = n & 4 ? 9 : -9, s.b[3 * k + 1] = 1, s.b[3 * k + 2] = 2;
            }
            for (int i = 0; i < 9 * copies * copies; ++i)
                s.A[i] = A[3 * (i / (3 * copies) % 3) + i % 3];
            assert_int_equal(spragParadoxEnumerate(&s.state, &set), SPRAG_OK);
            const int told[3] = {set.paradox_class, set.inconsistent, set.indeterminate};
            if (copies == 1)
                memcpy(alone, told, sizeof told);
            assert_memory_equal(told, alone, sizeof told);
            spragSolutionSetFree(&set);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theNumberAtRestIsOdd),
        cmocka_unit_test(frictionGrowsToWhatIsTaken),
        cmocka_unit_test(referenceSetsAgree),
        cmocka_unit_test(copiesAreNoParadox),
    };
    return cmocka_run_group_tests(tests, oracleSetup, oracleTeardown);
}
