/* A stranger's program: solves one contact and names the version. */
#include <sprag/sprag_ode.h>
#include <stdio.h>

int main(void)
{
    const int row_start[] = {0, 1}, column[] = {0};
    const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1, 0, 0}, mu[1] = {0.5};
    const spragProblem problem = {
        .contact_count = 1, .block_count = 1, .row_start = row_start, .column = column, .W = W, .q = q, .mu = mu};
    double r[3] = {0, 0, 0};
    if (spragProblemSolve(&problem, NULL, r, NULL, NULL) != SPRAG_OK || r[0] != 1)
        return 1;
    printf("sprag %s\n", spragVersion());
    return 0;
}
