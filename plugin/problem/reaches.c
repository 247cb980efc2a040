#include "problem/reaches.h"

#include <float.h>
#include <string.h>

#include "problem/residual.h"

void spragReachesClear(const spragBodies *bodies)
{
    const spragReaches *reaches = bodies->reaches;
    memset(reaches->v, 0, 6 * (size_t)bodies->count * sizeof *reaches->v);
    memset(reaches->s, 0, SPRAG_REACH_ROWS * (size_t)reaches->joints * sizeof *reaches->s);
}

typedef struct Product {
    const spragProblem *problem;
    const double *x;
    double *u;
} Product;

SPRAG_QUAD_INLINE void product(const Product *product)
{
    const spragProblem *problem = product->problem;
    const spragBodies *bodies = spragBodiesOf(problem);
    const double *x = product->x;
    spragReachesClear(bodies);
    for (int k = 0; k < problem->contact_count; ++k)
        spragReachesPush(bodies, k, x + 3 * (size_t)k);
    for (int k = 0; k < problem->contact_count; ++k) {
        const double *W = problem->W + 9 * (size_t)spragProblemDiagonal(problem, k), *own = bodies->own + 9 * (size_t)k;
        double u[3], C[9]; /* C: from W as it is now, its diagonal may have been softened since it was made */
        for (int i = 0; i < 9; ++i)
            C[i] = W[i] - own[i];
        spragReachesFeel(bodies, k, u);
        spragMulAdd33(u, C, x + 3 * (size_t)k);
        memcpy(product->u + 3 * (size_t)k, u, sizeof u);
    }
}

SPRAG_QUAD_CLONES(multiply, product, const Product)

void spragReachesProduct(const spragProblem *problem, const double *x, double *u)
{
    multiply(&(Product){problem, x, u});
}

double spragReachesRounding(const spragProblem *problem, const double *x)
{
    const double *mobility = spragReachesOf(problem)->free;
    double sum = 0, most = 0;
    for (int k = 0; k < problem->contact_count; ++k) {
        const double *W = problem->W + 9 * (size_t)spragProblemDiagonal(problem, k);
        const double root = sqrt(fmax(mobility[k], W[0] + W[4] + W[8]));
        sum += root * spragNorm3(x + 3 * (size_t)k);
        most = fmax(most, root);
    }
    return SPRAG_ROUNDINGS * DBL_EPSILON * most * sum;
}
