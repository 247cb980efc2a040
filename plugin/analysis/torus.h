/* All zeros of a system of trigonometric polynomials on the torus, s equations in s <= 3 angles. */
#ifndef SPRAG_ANALYSIS_TORUS_H
#define SPRAG_ANALYSIS_TORUS_H

enum {
    TORUS_DIMENSION = 3,
    TORUS_SIDE = 5, /* degree two in every angle: 1, cos, sin, cos 2, sin 2 */
    TORUS_SIZE = TORUS_SIDE * TORUS_SIDE * TORUS_SIDE,
    TORUS_SIGNS = 7,   /* side conditions */
    TORUS_ZEROS = 512, /* kept */
    TORUS_BOXES = 8192 /* of one size, undecided */
};

typedef struct TorusPolynomial {
    double coefficient[TORUS_SIZE]; /* (5 x 5 x 5), the last angle fastest */
    double size;                    /* bound of the value */
} TorusPolynomial;

/* Zeros of f[0..s-1] where one sign t = +1 or -1 makes t sign[k] > least[k] for every side condition. */
typedef struct TorusSystem {
    int angles, sign_count;
    TorusPolynomial f[TORUS_DIMENSION], sign[TORUS_SIGNS];
    double least[TORUS_SIGNS];
    /* 0 if a zero in the box |theta - c| <= h can be excluded for other reasons */
    int (*possible)(const void *context, const double *c, double h);
    const void *context;
} TorusSystem;

typedef struct TorusZero {
    double angle[TORUS_DIMENSION];
    int multiplicity; /* 1: the Jacobian is regular there; 2: more than one, or a touching */
    int curve;        /* 1: one of a continuum */
} TorusZero;

typedef struct TorusBox {
    double c[TORUS_DIMENSION];
} TorusBox;

typedef struct TorusZeros {
    int count;
    int incomplete; /* 1: the limit on zeros or boxes was reached */
    TorusBox list[2][TORUS_BOXES];
    TorusZero zero[TORUS_ZEROS];
} TorusZeros;

/* Coefficients from the values at the grid theta_i = 2 pi j_i / 5 (last angle fastest; angles past the number of angles
 * do not matter, the values repeat there), and the bounds. */
void spragTorusInterpolate(TorusPolynomial *p, const double value[TORUS_SIZE]);
/* Value at theta (3), and the gradient (3) where not NULL. */
double spragTorusValue(const TorusPolynomial *p, const double *theta, double *gradient);
void spragTorusSolve(const TorusSystem *system, TorusZeros *zeros);

#endif
