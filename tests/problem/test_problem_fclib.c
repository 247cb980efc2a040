/* FCLib's files: round trip, the shared ones, and everything that is none. */
#include "support/check.h"
#include "support/shared.h"

#include <string.h>
#include <unistd.h>

#ifdef SPRAG_HAVE_HDF5
#include <hdf5.h>
#endif

#include "base/alloc.h"
#include "problem/problem.h"

static const char *scratchPath(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/sprag-test-fclib-%d.hdf5", (int)getpid());
    return path;
}

static int unsupported(void)
{
    spragProblem *problem;
    return spragProblemRead("/nonexistent.hdf5", &problem) == SPRAG_ERROR_UNSUPPORTED;
}

static spragProblemData *smallProblem(void)
{
    spragProblemData *data = spragProblemCreate(3, 7);
    static const int start[] = {0, 2, 5, 7}, column[] = {0, 1, 0, 1, 2, 1, 2};
    assert_non_null(data);
    memcpy(data->row_start, start, sizeof start);
    memcpy(data->column, column, sizeof column);
    for (int k = 0; k < 3; ++k) {
        data->mu[k] = data->mu_minus[k] = 0.1 * (k + 1);
        data->q[3 * k] = -1.0 / (k + 3);
        for (int e = start[k]; e < start[k + 1]; ++e)
            for (int i = 0; i < 9; ++i)
                data->W[9 * e + i] = column[e] == k ? (i % 4 == 0 ? 3 + 1.0 / 3 : 0.01) : 0.1 / 7;
    }
    return data;
}

static void roundTripKeepsEveryBit(void **state)
{
    (void)state;
    if (unsupported())
        skip();
    spragProblemData *data = smallProblem();
    spragProblem *back = NULL;
    assert_int_equal(spragProblemWrite(&data->problem, scratchPath()), SPRAG_OK);
    assert_int_equal(spragProblemRead(scratchPath(), &back), SPRAG_OK);
    assert_int_equal(back->contact_count, 3);
    assert_int_equal(back->block_count, 7);
    assert_memory_equal(back->row_start, data->row_start, 4 * sizeof(int));
    assert_memory_equal(back->column, data->column, 7 * sizeof(int));
    assert_memory_equal(back->W, data->W, 63 * sizeof(double));
    assert_memory_equal(back->q, data->q, 9 * sizeof(double));
    assert_memory_equal(back->mu, data->mu, 3 * sizeof(double));
    spragProblemFree(back);
    spragProblemFree(&data->problem);
    unlink(scratchPath());
}

static void otherKindsAreRefused(void **state)
{
    (void)state;
    if (unsupported())
        skip();
    spragProblemData *data = smallProblem();
    data->kind[1] = SPRAG_BLOCK_TWO_SIDED;
    assert_int_equal(spragProblemWrite(&data->problem, scratchPath()), SPRAG_ERROR_UNSUPPORTED);
    assert_true(access(scratchPath(), F_OK) != 0);
    data->kind[1] = SPRAG_BLOCK_CONTACT;
    assert_int_equal(spragProblemWrite(&data->problem, "/nonexistent/x.hdf5"), SPRAG_ERROR_FILE);
    spragProblemFree(&data->problem);
}

static void brokenFilesAreRefused(void **state)
{
    (void)state;
    if (unsupported())
        skip();
    static char bytes[1 << 20];
    spragProblem *back = NULL;
    assert_int_equal(spragProblemRead("/nonexistent.hdf5", &back), SPRAG_ERROR_FILE);
    FILE *file = fopen(scratchPath(), "w");
    fputs("hello\n", file);
    fclose(file);
    assert_int_equal(spragProblemRead(scratchPath(), &back), SPRAG_ERROR_FORMAT);
    assert_non_null(strstr(spragStatusDetail(), "Siconos"));
    spragProblemData *data = smallProblem();
    assert_int_equal(spragProblemWrite(&data->problem, scratchPath()), SPRAG_OK);
    spragProblemFree(&data->problem);
    file = fopen(scratchPath(), "r");
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t keep = 64; keep < length; keep += length / 7) { /* truncated */
        file = fopen(scratchPath(), "w");
        fwrite(bytes, 1, keep, file);
        fclose(file);
        const spragStatus status = spragProblemRead(scratchPath(), &back);
        assert_true(status == SPRAG_ERROR_FORMAT || status == SPRAG_ERROR_FILE);
        assert_non_null(strstr(spragStatusDetail(), scratchPath()));
    }
    assert_null(back);
    unlink(scratchPath());
}

/* Numbers changed inside a sound file: the dataset is named, and what was expected. */
static void wrongNumbersAreRefused(void **state)
{
    (void)state;
    if (unsupported())
        skip();
    const double mu = 0.2, q = -1.0 / 4, W = 3 + 1.0 / 3;
    const double wrong[] = {-0.2, NAN, INFINITY};
    const int pointers[] = {6, 12, 18}, indices[] = {0, 1, 2, 3, 4, 5}, falling[] = {6, 12, 11},
              beyond[] = {0, 1, 2, 3, 4, 9};
    const struct Change {
        const void *right, *wrong;
        size_t size;
        const char *words;
        spragStatus status;
    } table[] = {
        {&mu, &wrong[0], 8, "dataset fclib_local/vectors/mu: expected mu >= 0, number 1 is -0.2", SPRAG_ERROR_FORMAT},
        {&mu, &wrong[1], 8, "dataset fclib_local/vectors/mu: number 1 is not finite", SPRAG_ERROR_NOT_FINITE},
        {&q, &wrong[2], 8, "dataset fclib_local/vectors/q: number 3 is not finite", SPRAG_ERROR_NOT_FINITE},
        {&W, &wrong[1], 8, "dataset fclib_local/W/x: number 0 is not finite", SPRAG_ERROR_NOT_FINITE},
        {&W, &wrong[0], 8, "diagonal block 0 of W is diag(-0.2", SPRAG_ERROR_INDEFINITE},
        {pointers, falling, sizeof pointers, "dataset fclib_local/W/p: expected pointers", SPRAG_ERROR_FORMAT},
        {indices, beyond, sizeof indices, "dataset fclib_local/W: expected indices", SPRAG_ERROR_FORMAT},
    };
    static char bytes[1 << 20];
    spragProblemData *data = smallProblem();
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        assert_int_equal(spragProblemWrite(&data->problem, scratchPath()), SPRAG_OK);
        FILE *file = fopen(scratchPath(), "r+");
        const size_t length = fread(bytes, 1, sizeof bytes, file);
        size_t at = 0;
        while (at + table[i].size <= length && memcmp(bytes + at, table[i].right, table[i].size) != 0)
            ++at;
        assert_true(at + table[i].size <= length);
        fseek(file, (long)at, SEEK_SET);
        fwrite(table[i].wrong, 1, table[i].size, file);
        fclose(file);
        spragProblem *back = NULL;
        assert_int_equal(spragProblemRead(scratchPath(), &back), table[i].status);
        if (strstr(spragStatusDetail(), table[i].words) == NULL)
            fail_msg("'%s' does not say '%s'", spragStatusDetail(), table[i].words);
    }
    spragProblemFree(&data->problem);
    unlink(scratchPath());
}

static void everyFailingAllocationIsReported(void **state)
{
    (void)state;
    if (unsupported())
        skip();
    spragProblemData *data = smallProblem();
    spragStatus status = spragProblemWrite(&data->problem, scratchPath());
    spragProblemFree(&data->problem);
    for (unsigned long n = 1; status != SPRAG_OK || n == 1; ++n) {
        spragProblem *back = NULL;
        assert_in_range(n, 1, 1000);
        spragAllocFailAt(n);
        status = spragProblemRead(scratchPath(), &back);
        spragAllocFailAt(0);
        assert_true(status == SPRAG_OK ? n > 15 : status == SPRAG_ERROR_MEMORY && back == NULL);
        spragProblemFree(back);
    }
    unlink(scratchPath());
}

#ifdef SPRAG_HAVE_HDF5
static void put(hid_t file, const char *name, hid_t type, int count, const void *data)
{
    const hsize_t size = (hsize_t)count;
    const hid_t space = H5Screate_simple(1, &size, NULL), parents = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(parents, 1);
    const hid_t set = H5Dcreate2(file, name, type, space, parents, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(set), H5Sclose(space), H5Pclose(parents);
}

/* Triplets. */
static void putMatrix(hid_t file, const char *group, int m, int n, int nz, const int *row, const int *column,
                      const double *x)
{
    static const char *const part[7] = {"m", "n", "nz", "nzmax", "p", "i", "x"};
    const void *const data[7] = {&m, &n, &nz, &nz, column, row, x};
    char name[64];
    for (int k = 0; k < 7; ++k) {
        snprintf(name, sizeof name, "%s/%s", group, part[k]);
        put(file, name, k == 6 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT, k < 4 ? 1 : nz, data[k]);
    }
}

static spragProblem *readBack(hid_t file)
{
    spragProblem *problem = NULL;
    H5Fclose(file);
    if (spragProblemRead(scratchPath(), &problem) != SPRAG_OK)
        fail_msg("%s", spragStatusDetail());
    unlink(scratchPath());
    return problem;
}

/* A local problem in the plane, and a global one in space of whose M the upper triangle alone is given, as LMGC90
 * writes it: M = [2 1 0; 1 2 0; 0 0 4], H = 1. */
static void planesAndHalvesAreRead(void **state)
{
    (void)state;
    static const int row[] = {0, 0, 1, 2}, column[] = {0, 1, 1, 2}, along[] = {0, 1, 2}, two = 2, three = 3;
    static const double M[] = {2, 1, 2, 4}, H[] = {1, 1, 1}, q[] = {-1, 0.25, -2, 0.5}, mu[] = {0.5, 0.7};
    static const int rows[] = {0, 0, 1, 1, 2, 3}, columns[] = {0, 1, 0, 1, 2, 3};
    static const double blocks[] = {2, 0.5, 0.5, 3, 1, 4};
    hid_t file = H5Fcreate(scratchPath(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put(file, "fclib_local/spacedim", H5T_NATIVE_INT, 1, &two);
    putMatrix(file, "fclib_local/W", 4, 4, 6, rows, columns, blocks);
    put(file, "fclib_local/vectors/q", H5T_NATIVE_DOUBLE, 4, q);
    put(file, "fclib_local/vectors/mu", H5T_NATIVE_DOUBLE, 2, mu);
    spragProblem *problem = readBack(file);
    assert_int_equal(problem->contact_count, 2);
    static const double W_space[9] = {2, 0.5, 0, 0.5, 3, 0, 0, 0, 3}, q_space[6] = {-1, 0.25, 0, -2, 0.5, 0};
    assert_memory_equal(problem->W, W_space, sizeof W_space);
    assert_memory_equal(problem->q, q_space, sizeof q_space);
    CHECK_NEAR(problem->mu[1], 0.7, 0);
    spragProblemFree(problem);

    file = H5Fcreate(scratchPath(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put(file, "fclib_global/spacedim", H5T_NATIVE_INT, 1, &three);
    putMatrix(file, "fclib_global/M", 3, 3, 4, row, column, M);
    putMatrix(file, "fclib_global/H", 3, 3, 3, along, along, H);
    put(file, "fclib_global/vectors/f", H5T_NATIVE_DOUBLE, 3, q);
    put(file, "fclib_global/vectors/w", H5T_NATIVE_DOUBLE, 3, H);
    put(file, "fclib_global/vectors/mu", H5T_NATIVE_DOUBLE, 1, mu);
    problem = readBack(file);
    static const double inverse[9] = {2 / 3.0, -1 / 3.0, 0, -1 / 3.0, 2 / 3.0, 0, 0, 0, 0.25};
    for (int i = 0; i < 9; ++i)
        CHECK_NEAR(problem->W[i], inverse[i], 1e-15);
    CHECK_NEAR(problem->q[0], 1 + (2 * q[0] - q[1]) / 3, 1e-15);
    spragProblemFree(problem);
}
#endif

/* Contacts of each file, known from its own header; a solution within the judge's tolerance exists. */
static void sharedFilesAreRead(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int contacts;
        double asymmetry_most;
    } table[] = {{"problems/fclib/Box_Stacks-i0122-82-5.hdf5", 82, 0},
                 {"problems/fclib/Capsules-i125-1213.hdf5", 286, 1e-2},
                 {"problems/fclib/OneObject-i1028-138.hdf5", 23, 1e-2},
                 {"problems/fclib/Spheres-i099-356-679.hdf5", 356, 0},
                 {"problems/fclib/fclib_local_problem_test.hdf5", 48, 1e-2}};
    if (unsupported())
        skip();
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        const char *path = sharedPath(table[i].name);
        if (path == NULL)
            skip();
        spragProblem *problem = NULL;
        const spragStatus status = spragProblemRead(path, &problem);
        if (status != SPRAG_OK)
            fail_msg("%s", spragStatusDetail());
        assert_int_equal(problem->contact_count, table[i].contacts);
        assert_true(problem->asymmetry <= table[i].asymmetry_most);
        assert_int_equal(spragProblemCheck(problem), SPRAG_OK);
        double *r = calloc(3 * (size_t)problem->contact_count, sizeof *r);
        spragSolveInfo info;
        const spragSolveOptions options = spragSolveOptionsDefault();
        assert_int_equal(spragProblemSolve(problem, &options, r, NULL, &info), SPRAG_OK);
        assert_true(spragProblemResidual(problem, r) <= 1e-8);
        free(r);
        spragProblemFree(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(roundTripKeepsEveryBit),
                                       cmocka_unit_test(otherKindsAreRefused),
                                       cmocka_unit_test(brokenFilesAreRefused),
                                       cmocka_unit_test(wrongNumbersAreRefused),
                                       cmocka_unit_test(everyFailingAllocationIsReported),
#ifdef SPRAG_HAVE_HDF5
                                       cmocka_unit_test(planesAndHalvesAreRead),
#endif
                                       cmocka_unit_test(sharedFilesAreRead)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
