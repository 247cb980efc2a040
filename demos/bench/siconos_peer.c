#include "bench/siconos_peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/suite.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#pragma GCC diagnostic pop

const char *const siconos_peer_name[SICONOS_PEER_COUNT] = {"NSGS", "NSGS-quartic", "NSN-AC", "PROX", "ADMM", "ACLMFP"};

static const struct {
    int id, local;    /* solver, local solver of NSGS or 0 */
    NM_types storage; /* the one it is made for */
    int iteration_limit;
} peer_table[SICONOS_PEER_COUNT] = {
    {SICONOS_FRICTION_3D_NSGS, 0, NM_SPARSE_BLOCK, 10000000},
    {SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC, NM_SPARSE_BLOCK, 10000000},
    {SICONOS_FRICTION_3D_NSN_AC, 0, NM_SPARSE, 2000},
    {SICONOS_FRICTION_3D_PROX, 0, NM_SPARSE, 10000},
    {SICONOS_FRICTION_3D_ADMM, 0, NM_SPARSE, 1000000},
    {SICONOS_FRICTION_3D_ACLMFP, 0, NM_SPARSE_BLOCK, 100000},
};

static NumericsMatrix *sparseBlocks(const spragProblem *problem)
{
    const unsigned int nc = (unsigned int)problem->contact_count, nb = (unsigned int)problem->block_count;
    SparseBlockStructuredMatrix *blocks = SBM_new();
    blocks->nbblocks = nb;
    blocks->blocknumber0 = blocks->blocknumber1 = nc;
    blocks->block = malloc(nb * sizeof *blocks->block);
    blocks->blocksize0 = malloc(nc * sizeof *blocks->blocksize0);
    blocks->blocksize1 = blocks->blocksize0;
    blocks->filled1 = nc + 1;
    blocks->filled2 = nb;
    blocks->index1_data = malloc((nc + 1) * sizeof *blocks->index1_data);
    blocks->index2_data = malloc(nb * sizeof *blocks->index2_data);
    for (unsigned int k = 0; k < nc; ++k)
        blocks->blocksize0[k] = 3 * (k + 1);
    for (unsigned int k = 0; k <= nc; ++k)
        blocks->index1_data[k] = (size_t)problem->row_start[k];
    for (unsigned int e = 0; e < nb; ++e) {
        blocks->index2_data[e] = (size_t)problem->column[e];
        blocks->block[e] = malloc(9 * sizeof(double));
        for (int i = 0; i < 3; ++i) /* Siconos: column-major */
            for (int j = 0; j < 3; ++j)
                blocks->block[e][i + 3 * j] = problem->W[9 * e + (unsigned int)(3 * i + j)];
    }
    return NM_new_SBM((int)(3 * nc), (int)(3 * nc), blocks);
}

static NumericsMatrix *sparseEntries(const spragProblem *problem)
{
    const int nc = problem->contact_count;
    NumericsMatrix *matrix = NM_create(NM_SPARSE, 3 * nc, 3 * nc);
    NM_triplet_alloc(matrix, 9 * problem->block_count);
    for (int k = 0; k < nc; ++k)
        for (int e = problem->row_start[k]; e < problem->row_start[k + 1]; ++e)
            for (int i = 0; i < 9; ++i)
                NM_entry(matrix, 3 * k + i / 3, 3 * problem->column[e] + i % 3, problem->W[9 * e + i]);
    NM_csc(matrix);
    return matrix;
}

/* In the child.  A fresh matrix and fresh options for every run: Siconos keeps factors and conversions in them. */
static void run(const spragProblem *problem, int peer, double tolerance, int repeats, PeerResult *result)
{
    const int n = 3 * problem->contact_count;
    double *q = malloc((size_t)n * sizeof *q), *mu = malloc((size_t)problem->contact_count * sizeof *mu);
    double *r = malloc((size_t)n * sizeof *r), *u = malloc((size_t)n * sizeof *u);
    for (int repeat = 0; repeat < repeats; ++repeat) {
        memcpy(q, problem->q, (size_t)n * sizeof *q);
        memcpy(mu, problem->mu, (size_t)problem->contact_count * sizeof *mu);
        memset(r, 0, (size_t)n * sizeof *r);
        memset(u, 0, (size_t)n * sizeof *u);
        NumericsMatrix *matrix =
            peer_table[peer].storage == NM_SPARSE_BLOCK ? sparseBlocks(problem) : sparseEntries(problem);
        FrictionContactProblem *siconos =
            frictionContactProblem_new_with_data(3, problem->contact_count, matrix, q, mu);
        SolverOptions *options = solver_options_create(peer_table[peer].id);
        if (peer_table[peer].local != 0)
            solver_options_update_internal(options, 0, peer_table[peer].local);
        options->dparam[SICONOS_DPARAM_TOL] = tolerance;
        options->iparam[SICONOS_IPARAM_MAX_ITER] = peer_table[peer].iteration_limit;
        const double start = benchSeconds();
        fc3d_driver(siconos, r, u, options);
        const double seconds = benchSeconds() - start;
        if (repeat == 0 || seconds < result->seconds)
            result->seconds = seconds;
        result->residual = spragProblemResidual(problem, r);
        result->done = 1;
        if (seconds > 0.1)
            break;
    }
}

PeerResult siconosPeerRun(const spragProblem *problem, int peer, double tolerance, double time_limit, int repeats)
{
    PeerResult answer = {0, NAN, NAN};
    PeerResult *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return answer;
    *shared = answer;
    const pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        alarm((unsigned int)ceil(time_limit));
        run(problem, peer, tolerance, repeats, shared);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    answer = *shared;
    munmap(shared, sizeof *shared);
    return answer;
}
