/* Small linear systems that may be rank-deficient, and the points of their solution sets inside friction cones. */
#ifndef SPRAG_ANALYSIS_AFFINE_H
#define SPRAG_ANALYSIS_AFFINE_H

enum { AFFINE_MAX = 9 };

/* K x = c, K (rows x columns) row-major, rows and columns at most AFFINE_MAX.  The solutions are
 * point + sum_j null_j z_j, point the shortest, the null vectors orthonormal. */
typedef struct AffineSet {
    int columns, nulls;
    int consistent; /* 0: no solution */
    double point[AFFINE_MAX];
    double null[AFFINE_MAX][AFFINE_MAX]; /* (nulls x columns) */
} AffineSet;

/* By elimination with complete pivoting.  Rank ends where the largest entry left is below 1e-11 of the largest of K;
 * consistent if what is then left of c is below 1e-9 of `scale`. */
void spragAffineSolve(int rows, int columns, const double *K, const double *c, double scale, AffineSet *out);

/* Cone row of x: |(x[t1], x[t2])| <= mu x[n] sign; an index -1 stands for 0. */
typedef struct AffineCone {
    int n, t1, t2, sign;
    double mu;
} AffineCone;

/* Largest |x_t| - mu sign x_n over the cones: <= 0 where x is inside all of them. */
double spragAffineViolation(int cones, const AffineCone *cone, const double *x);

/* x: a point of the set inside all cones, to 1e-10 of its length; the shortest point if that is inside, else one found
 * by the ellipsoid method.  0: none is inside within a distance of 1e4 times `size`, or the shortest point's length. */
int spragAffineFeasible(const AffineSet *set, int cones, const AffineCone *cone, double size, double *x);

/* For a set that contains 0, the apex of all cones.  x: a point of length `size` along a null vector, in either sense,
 * that is inside all cones.  0: there is none, and x is unchanged. */
int spragAffineOffApex(const AffineSet *set, int cones, const AffineCone *cone, double size, double *x);

#endif
