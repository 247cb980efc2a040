/* Siconos' fc3d solvers on a spragProblem.  Built only where libsiconos-numerics is installed. */
#ifndef DEMOS_BENCH_SICONOS_PEER_H
#define DEMOS_BENCH_SICONOS_PEER_H

#include <sprag/sprag.h>

enum { SICONOS_PEER_COUNT = 6 };
extern const char *const siconos_peer_name[SICONOS_PEER_COUNT];

typedef struct PeerResult {
    int done;        /* 0: crashed, was killed at the time limit, or does not take this problem */
    double residual; /* by spragProblemResidual */
    double seconds;  /* of fc3d_driver alone, min of the repeats */
} PeerResult;

/* One solver at one tolerance of its own, from r = 0, in a child process: a peer that hangs or crashes costs only its
 * entry.  Runs again (min of `repeats`) while the first run took less than 0.1 s. */
PeerResult siconosPeerRun(const spragProblem *problem, int peer, double tolerance, double time_limit, int repeats);

#endif
