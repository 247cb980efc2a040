/* The criterion of existence and its certificates, each checked by W, q and the cones alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sprag/sprag.h>

#include "linalg/vec3.h"
#include "problem/problem.h"
#include "problem/residual.h"
#include "solve/newton/existence.h"
#include "support/check.h"
#include "support/shared.h"

/* A particle of 1 kg between two walls whose normals make `angle` with the vertical: W = N N', N's rows the frames. */
static spragProblemData *wedge(double angle, double mu, double q_n)
{
    spragProblemData *data = spragProblemCreate(2, 4);
    assert_non_null(data);
    const double c = cos(angle), s = sin(angle);
    const double frame[6][3] = {{s, 0, c}, {c, 0, -s}, {0, 1, 0}, {-s, 0, c}, {c, 0, s}, {0, 1, 0}};
    for (int k = 0; k < 2; ++k) {
        data->row_start[k + 1] = 2 * k + 2;
        data->mu[k] = data->mu_minus[k] = mu;
        data->q[3 * k] = q_n;
        for (int j = 0; j < 2; ++j) {
            data->column[2 * k + j] = j;
            for (int a = 0; a < 9; ++a)
                data->W[9 * (2 * k + j) + a] = spragDot3(frame[3 * k + a / 3], frame[3 * j + a % 3]);
        }
    }
    return data;
}

/* Largest |W r|, kg m/s over kg. */
static double felt(const spragProblem *problem, const double *r)
{
    double *u = malloc(3 * (size_t)problem->contact_count * sizeof *u), most = 0;
    assert_non_null(u);
    spragProblemVelocity(problem, r, u);
    for (int i = 0; i < 3 * problem->contact_count; ++i)
        most = fmax(most, fabs(u[i] - problem->q[i]));
    free(u);
    return most;
}

static void checkWedge(const spragProblem *problem, const double *r, double margin)
{
    double sum = 0, drive = 0;
    for (int k = 0; k < problem->contact_count; ++k) {
        const double load = spragKindOf(problem, k) == SPRAG_BLOCK_TWO_SIDED ? fabs(r[3 * k]) : r[3 * k];
        sum += load;
        drive += spragDot3(r + 3 * k, problem->q + 3 * k);
        assert_true(spragNorm2(r + 3 * k + 1) <= problem->mu[k] * load * (1 + 1e-12));
    }
    CHECK_NEAR(sum, 1, 0.01);
    assert_true(margin < 0);
    CHECK_NEAR(drive / margin, 1, 0.1);
    assert_true(felt(problem, r) < 1e-3);
}

static void checkMotion(const spragProblem *problem, const double *r, double margin)
{
    double *u = malloc(3 * (size_t)problem->contact_count * sizeof *u), least = INFINITY;
    assert_non_null(u);
    spragProblemVelocity(problem, r, u);
    for (int k = 0; k < problem->contact_count; ++k)
        least = fmin(least, u[3 * k] - problem->mu[k] * spragNorm2(u + 3 * k + 1));
    free(u);
    assert_true(least > 0);
    CHECK_NEAR(least, margin, 1e-12);
}

/* The normals are 30 degrees off the line through the contacts: the cones hold that line where mu > tan 30 degrees. */
static void wedgeLocks(void **state)
{
    (void)state;
    const double angle = M_PI / 3, critical = tan(M_PI / 6);
    for (int locked = 0; locked < 2; ++locked) {
        spragProblemData *data = wedge(angle, critical * (locked ? 1.2 : 0.8), -0.1);
        double r[6];
        spragExistence existence;
        assert_int_equal(spragProblemExistence(&data->problem, r, &existence), SPRAG_OK);
        assert_int_equal(existence.assured, !locked);
        if (locked)
            checkWedge(&data->problem, r, existence.margin);
        else
            checkMotion(&data->problem, r, existence.margin);
        spragProblemFree(&data->problem);
    }
}

static void openingWedgeIsNoMatter(void **state)
{
    (void)state;
    spragProblemData *data = wedge(M_PI / 3, 1, 0.1);
    double r[6];
    spragExistence existence;
    assert_int_equal(spragProblemExistence(&data->problem, r, &existence), SPRAG_OK);
    assert_true(existence.assured);
    checkMotion(&data->problem, r, existence.margin);
    spragProblemFree(&data->problem);
}

/* Guides: what friction locks it locks both ways.  A guide and a contact: only as they close. */
static void guidesLockBothWays(void **state)
{
    (void)state;
    const double critical = tan(M_PI / 6);
    for (int guides = 1; guides <= 2; ++guides)
        for (int locked = 0; locked < 2; ++locked)
            for (int opens = 0; opens < 2; ++opens) {
                spragProblemData *data = wedge(M_PI / 3, critical * (locked ? 1.2 : 0.8), opens ? 0.1 : -0.1);
                for (int k = 0; k < guides; ++k)
                    data->kind[k] = SPRAG_BLOCK_TWO_SIDED;
                double r[6];
                spragExistence existence;
                assert_int_equal(spragProblemExistence(&data->problem, r, &existence), SPRAG_OK);
                const int assured = !locked || (guides == 1 && opens);
                assert_int_equal(existence.assured, assured);
                assert_int_equal(existence.margin > 0, assured);
                if (!assured)
                    checkWedge(&data->problem, r, existence.margin);
                spragProblemFree(&data->problem);
            }
}

/* Two guides that lock on their + sides and not on the others, where they rub less. */
static void eachSideHasItsFriction(void **state)
{
    (void)state;
    const double critical = tan(M_PI / 6);
    for (int side = 0; side < 2; ++side) {
        spragProblemData *data = wedge(M_PI / 3, 1.2 * critical, side ? 0.1 : -0.1);
        double r[6];
        data->mu_minus[0] = data->mu_minus[1] = 0.8 * critical;
        data->kind[0] = data->kind[1] = SPRAG_BLOCK_TWO_SIDED;
        spragExistence existence;
        assert_int_equal(spragProblemExistence(&data->problem, r, &existence), SPRAG_OK);
        assert_int_equal(existence.assured, side); /* they close on their + sides, or part there */
        spragProblemFree(&data->problem);
    }
}

/* A compliance gives every wedge a motion, at impulses beyond all measure: who wants modest ones is
 * told of the wedge. */
static void complianceIsNoWayOut(void **state)
{
    (void)state;
    const double critical = tan(M_PI / 6);
    for (int modest = 0; modest < 2; ++modest)
        for (int locked = 0; locked < 2; ++locked) {
            spragProblemData *data = wedge(M_PI / 3, critical * (locked ? 1.2 : 0.8), -0.1);
            double *W = data->W, r[6] = {0};
            for (int k = 0; k < 2; ++k)
                for (int i = 0; i < 9; i += 4)
                    W[9 * (size_t)spragProblemDiagonal(&data->problem, k) + (size_t)i] += 1e-6;
            spragArena arena = {0};
            spragExistence existence;
            const spragExistenceAsk ask = {.variants = 1, .closing = INFINITY, .modest = modest};
            assert_int_equal(spragExistenceFind(&data->problem, &ask, &arena, r, &existence), SPRAG_OK);
            assert_int_equal(existence.assured, !(locked && modest));
            spragArenaFree(&arena);
            spragProblemFree(&data->problem);
        }
}

static void sharedProblems(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int assured;
    } file[] = {{"p16_box50_mu0.5.txt", 1}, {"p19_sph200_mu0.3.txt", 1}, {"p26_pyramid10.txt", 1},
                {"p23_sph1000.txt", 1},     {"p14_sph50_mu2.txt", 0},    {"p22_box200_mu1.txt", 0}};
    for (size_t k = 0; k < sizeof file / sizeof *file; ++k) {
        spragProblem *problem = sharedProblem(file[k].name);
        if (problem == NULL)
            skip();
        double *r = calloc(3 * (size_t)problem->contact_count, sizeof *r);
        assert_non_null(r);
        spragExistence existence;
        assert_int_equal(spragProblemExistence(problem, r, &existence), SPRAG_OK);
        assert_int_equal(existence.assured, file[k].assured);
        (existence.assured ? checkMotion : checkWedge)(problem, r, existence.margin);
        free(r);
        spragProblemFree(problem);
    }
}

/* Whether the margin is below -closing is decided as by the margin itself, where that is known so well. */
static void signsAreDecided(void **state)
{
    (void)state;
    static const char *const name[] = {"p16_box50_mu0.5.txt", "p14_sph50_mu2.txt", "p30_drawer_jam8.txt",
                                       "p07_arch11.txt"};
    int closed = 0, open = 0;
    for (size_t k = 0; k < 4 + sizeof name / sizeof *name; ++k) {
        const int shared = k >= 4;
        spragProblemData *data = shared ? NULL : wedge((k % 2 ? 1.5 : 0.5) * M_PI / 4, 1, k < 2 ? -0.2 : 0.2);
        spragProblem *problem = shared ? sharedProblem(name[k - 4]) : &data->problem;
        if (problem == NULL)
            continue;
        spragArena arena = {0};
        spragExistence whole, found;
        spragExistenceAsk ask = {.variants = 1, .closing = INFINITY};
        assert_int_equal(spragExistenceFind(problem, &ask, &arena, NULL, &whole), SPRAG_OK);
        for (double closing = 1e-6; closing < 10; closing *= 3) {
            if (fabs(whole.margin + closing) < 0.2 * closing)
                continue;
            ask.closing = closing;
            assert_int_equal(spragExistenceFind(problem, &ask, &arena, NULL, &found), SPRAG_OK);
            assert_int_equal(found.margin < -closing, whole.margin < -closing);
            closed += found.margin < -closing, open += found.margin >= -closing;
        }
        spragArenaFree(&arena);
        spragProblemFree(problem);
    }
    assert_true(closed > 10 && open > 10);
}

static void refuses(void **state)
{
    (void)state;
    spragProblemData *data = wedge(M_PI / 3, 1, 0.1);
    spragExistence existence;
    assert_int_equal(spragProblemExistence(NULL, NULL, &existence), SPRAG_ERROR_NULL);
    assert_int_equal(spragProblemExistence(&data->problem, NULL, NULL), SPRAG_ERROR_NULL);
    data->kind[1] = SPRAG_BLOCK_BOX;
    assert_int_equal(spragProblemExistence(&data->problem, NULL, &existence), SPRAG_ERROR_RANGE);
    spragProblemFree(&data->problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wedgeLocks),           cmocka_unit_test(openingWedgeIsNoMatter),
        cmocka_unit_test(guidesLockBothWays),   cmocka_unit_test(eachSideHasItsFriction),
        cmocka_unit_test(complianceIsNoWayOut), cmocka_unit_test(sharedProblems),
        cmocka_unit_test(signsAreDecided),      cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
