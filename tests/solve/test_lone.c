/* Bodies alone on what does not move, four at once: what is called solved is an answer to the judge, every lane gets
 * the bits it would get alone, and a separatrix is not given back. */
#include "support/check.h"

#include <string.h>

#include <sprag/sprag.h>

#include "linalg/vec3.h"
#include "solve/search/lone.h"
#include "support/random_problem.h"

enum { MOST = SPRAG_LONE_CONTACTS };

/* A box of random size on `count` contacts below it, moved as if it had fallen, slid and turned. */
static void fillLane(spragLoneBodies *b, int lane, unsigned long long seed, double mu)
{
    const double mass = 1.5 + uniform(&seed), size[3] = {1 + 0.5 * uniform(&seed), 1 + 0.5 * uniform(&seed), 0.6};
    const double v[6] = {uniform(&seed),       uniform(&seed),       -0.1 + 0.1 * uniform(&seed),
                         0.3 * uniform(&seed), 0.3 * uniform(&seed), 0.3 * uniform(&seed)};
    b->mass[lane] = mass, b->inverse_mass[lane] = 1 / mass;
    for (int i = 0; i < 9; ++i)
        b->inertia[i][lane] = b->inverse_inertia[i][lane] = 0;
    for (int i = 0; i < 3; ++i) {
        const double a = size[(i + 1) % 3], c = size[(i + 2) % 3], I = mass * (a * a + c * c) / 12;
        b->inertia[4 * i][lane] = I, b->inverse_inertia[4 * i][lane] = 1 / I;
    }
    const double n[3] = {0.1 * uniform(&seed), 0.1 * uniform(&seed), 1}, length = spragNorm3(n);
    for (int k = 0; k < b->count; ++k) {
        spragLoneContact *c = &b->contact[k];
        double turn[3];
        const double arm[3] = {0.5 * size[0] * (k & 1 ? 1 : -1) + 0.01 * k, 0.5 * size[1] * (k & 2 ? 1 : -1), -0.3};
        spragCross3(turn, v + 3, arm);
        for (int i = 0; i < 3; ++i) {
            c->n[i][lane] = n[i] / length;
            c->arm[i][lane] = arm[i];
            c->q[i][lane] = v[i] + turn[i];
            c->r[i][lane] = 0;
        }
        c->mu[lane] = mu * (1.2 + uniform(&seed));
        c->compliance[lane] = k % 2 ? 1e-6 : 0;
    }
}

/* The same problem for the judge, with its answer in the frames of the contacts. */
static double judged(const spragLoneBodies *b, int lane)
{
    double J[MOST][3][6], W[9 * MOST * MOST], q[3 * MOST], r[3 * MOST], mu[MOST];
    int row_start[MOST + 1] = {0}, column[MOST * MOST];
    const int n = b->count;
    for (int k = 0; k < n; ++k) {
        const spragLoneContact *c = &b->contact[k];
        const double arm[3] = {c->arm[0][lane], c->arm[1][lane], c->arm[2][lane]}, x[3] = {1, 0, 0};
        for (int i = 0; i < 3; ++i)
            J[k][0][i] = c->n[i][lane];
        spragCross3(J[k][1], J[k][0], x);
        const double length = spragNorm3(J[k][1]);
        for (int i = 0; i < 3; ++i)
            J[k][1][i] /= length;
        spragCross3(J[k][2], J[k][0], J[k][1]);
        for (int row = 0; row < 3; ++row) {
            spragCross3(J[k][row] + 3, arm, J[k][row]);
            q[3 * k + row] = r[3 * k + row] = 0;
            for (int i = 0; i < 3; ++i) {
                q[3 * k + row] += J[k][row][i] * c->q[i][lane];
                r[3 * k + row] += J[k][row][i] * c->r[i][lane];
            }
        }
        mu[k] = c->mu[lane];
        row_start[k + 1] = n * (k + 1);
    }
    for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l) {
            column[n * k + l] = l;
            for (int i = 0; i < 9; ++i) {
                double sum = k == l && i == 0 ? b->contact[k].compliance[lane] : 0;
                for (int c = 0; c < 3; ++c)
                    sum += J[k][i / 3][c] * J[l][i % 3][c] * b->inverse_mass[lane] +
                           J[k][i / 3][3 + c] * J[l][i % 3][3 + c] * b->inverse_inertia[4 * c][lane];
                W[9 * (n * k + l) + i] = sum;
            }
        }
    const spragProblem problem = {
        .contact_count = n, .block_count = n * n, .row_start = row_start, .column = column, .W = W, .q = q, .mu = mu};
    return spragProblemResidual(&problem, r);
}

static void answersAreAnswers(void **state)
{
    (void)state;
    spragLoneContact contact[MOST];
    int solved = 0, asked = 0;
    for (unsigned long long seed = 1; seed <= 400; ++seed) {
        spragLoneBodies b = {.count = 1 + (int)(seed % MOST), .tolerance = 1e-8, .contact = contact};
        for (int lane = 0; lane < SPRAG_QUAD; ++lane)
            fillLane(&b, lane, 977 * seed + 31 * (unsigned long long)lane, seed % 3 == 0 ? 0.05 : 0.4);
        spragLoneSolve(&b);
        for (int lane = 0; lane < SPRAG_QUAD; ++lane) {
            ++asked;
            if (!b.solved[lane])
                continue;
            ++solved;
            const double residual = judged(&b, lane);
            assert_true(residual <= 1e-9 + 1e-14);
            CHECK_NEAR(residual, b.residual[lane], 1e-13);
        }
    }
    assert_true(solved >= 0.7 * asked);
}

/* A body that comes down on three to eight points and that friction holds: solved in a few steps, and at rest where it
 * is pressed and friction has more to give. */
static void whatFrictionHoldsRests(void **state)
{
    (void)state;
    spragLoneContact contact[MOST];
    for (unsigned long long seed = 1; seed <= 100; ++seed) {
        spragLoneBodies b = {.count = 3 + (int)(seed % (MOST - 2)), .tolerance = 1e-8, .contact = contact};
        for (int lane = 0; lane < SPRAG_QUAD; ++lane) {
            fillLane(&b, lane, 577 * seed + (unsigned long long)lane, 0.4);
            const unsigned long long push = seed + (unsigned long long)lane;
            for (int k = 0; k < b.count; ++k) { /* along the contacts' normal, and a tenth of what friction bears */
                contact[k].mu[lane] = 0.5;
                contact[k].compliance[lane] = 0;
                for (int i = 0; i < 3; ++i)
                    contact[k].q[i][lane] = -0.1 * contact[k].n[i][lane];
                contact[k].q[0][lane] += 0.005 * cos((double)push), contact[k].q[1][lane] += 0.005 * sin((double)push);
            }
        }
        spragLoneSolve(&b);
        for (int lane = 0; lane < SPRAG_QUAD; ++lane) {
            assert_true(b.solved[lane] && b.iterations[lane] <= 8);
            assert_true(judged(&b, lane) <= 1e-9);
            for (int k = 0; k < b.count; ++k) {
                const spragLoneContact *c = &contact[k];
                double load = 0, size = 0;
                for (int i = 0; i < 3; ++i)
                    load += c->n[i][lane] * c->r[i][lane], size += c->r[i][lane] * c->r[i][lane];
                for (int i = 0; i < 3 && size - load * load < 0.2 * load * load; ++i)
                    CHECK_NEAR(c->u[i][lane], 0, load > 1e-6 ? 1e-9 : INFINITY);
            }
        }
    }
}

/* Whoever is in the other lanes, and in whichever lane it is. */
static void lanesAreAlone(void **state)
{
    (void)state;
    spragLoneContact one[MOST], other[MOST];
    for (unsigned long long seed = 1; seed <= 60; ++seed) {
        const int lane = (int)(seed % SPRAG_QUAD);
        spragLoneBodies a = {.count = 4, .tolerance = 1e-8, .contact = one}, b = a;
        b.contact = other;
        for (int i = 0; i < SPRAG_QUAD; ++i) {
            fillLane(&a, i, seed, 0.4);
            fillLane(&b, i, i == lane ? seed : 1000 * seed + (unsigned long long)i, i == lane ? 0.4 : 0.1);
        }
        spragLoneSolve(&a);
        spragLoneSolve(&b);
        assert_int_equal(a.solved[0], b.solved[lane]);
        assert_true(a.iterations[0] == b.iterations[lane]);
        for (int k = 0; k < 4; ++k)
            for (int i = 0; i < 3; ++i)
                assert_true(one[k].r[i][0] == other[k].r[i][lane]);
    }
}

/* A rod on its tip, p = W_nn - mu W_nt < 0, b > 0: slip is a solution, and a separatrix. */
static void separatrixIsRefused(void **state)
{
    (void)state;
    spragLoneContact contact[1];
    spragLoneBodies b = {.count = 1, .tolerance = 1e-8, .contact = contact};
    const double mu = 2, arm[3] = {-0.5, 0, -0.7}, inertia = 0.1;
    const double Wnn = 1 + arm[0] * arm[0] / inertia, Wnt = -arm[0] * arm[2] / inertia; /* t = x */
    const double q[3] = {1, 0, 0.01}, p = Wnn + mu * Wnt * (Wnt < 0 ? 1 : -1);
    assert_true(p < 0);
    const double slip = Wnt < 0 ? 1 : -1, N = -q[2] / p; /* friction along +slip lowers u_n */
    memset(contact, 0, sizeof contact);
    for (int lane = 0; lane < SPRAG_QUAD; ++lane) {
        b.mass[lane] = b.inverse_mass[lane] = 1;
        for (int i = 0; i < 9; i += 4)
            b.inertia[i][lane] = inertia, b.inverse_inertia[i][lane] = 1 / inertia;
        for (int i = 0; i < 3; ++i)
            contact[0].arm[i][lane] = arm[i];
        contact[0].n[2][lane] = 1;
        contact[0].mu[lane] = mu;
        contact[0].r[0][lane] = slip * mu * N, contact[0].r[2][lane] = N;
        contact[0].q[0][lane] = -10 * slip; /* it slides against the friction, fast */
        contact[0].q[2][lane] = q[2];
    }
    assert_true(judged(&b, 0) < 1e-12);
    spragLoneSolve(&b);
    for (int lane = 0; lane < SPRAG_QUAD; ++lane)
        assert_true(!b.solved[lane]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answersAreAnswers),
        cmocka_unit_test(whatFrictionHoldsRests),
        cmocka_unit_test(lanesAreAlone),
        cmocka_unit_test(separatrixIsRefused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
