/* sprag.h: contact problems with exact Coulomb friction, without ODE.
 *
 * The problem.  Find impulses r and relative velocities u, three numbers per contact k in its frame [n t1 t2], with
 *
 *     u = W r + q,
 *     r_n >= 0,  u_n >= 0,  r_n u_n = 0,
 *     |r_t| <= mu r_n,   u_t != 0  =>  r_t = -mu r_n u_t / |u_t|.
 *
 * W is the Delassus operator J M^-1 J^T (plus compliance on its diagonal), q the velocity the contacts would have at
 * the end of the step without impulses.  A two-sided contact has u_n = 0, r_n of either sign and |r_t| <= mu |r_n|.
 *
 * Units are SI: impulses N s, velocities m/s, W 1/kg.  All arrays are caller's memory, row-major, double.
 * Functions that can fail return spragStatus; nothing here prints, aborts or keeps a pointer after it returns.
 * Any number of threads may call these functions on different data.
 */
#ifndef SPRAG_SPRAG_H
#define SPRAG_SPRAG_H

#include <stddef.h>

#define SPRAG_VERSION_MAJOR 0
#define SPRAG_VERSION_MINOR 1
#define SPRAG_VERSION_PATCH 0
#define SPRAG_VERSION "0.1.0"

#if defined(_WIN32)
#define SPRAG_API
#else
#define SPRAG_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ status */

/* code, text.  Codes are stable: new ones go at the end. */
#define SPRAG_STATUS_LIST(X)                                                                                           \
    X(OK, "ok")                                                                                                        \
    X(ERROR_NULL, "a required pointer is NULL")                                                                        \
    X(ERROR_NOT_FINITE, "a number is NaN or infinite")                                                                 \
    X(ERROR_RANGE, "a number is out of its range")                                                                     \
    X(ERROR_SIZE, "sizes or indices do not fit together")                                                              \
    X(ERROR_NOT_SYMMETRIC, "W is not symmetric")                                                                       \
    X(ERROR_INDEFINITE, "W is not positive semidefinite")                                                              \
    X(ERROR_MEMORY, "out of memory")                                                                                   \
    X(ERROR_FILE, "a file could not be opened, read or written")                                                       \
    X(ERROR_FORMAT, "a file does not have the expected format")                                                        \
    X(ERROR_UNSUPPORTED, "not supported by this build or for this input")                                              \
    X(ERROR_ORDER, "called in the wrong order")                                                                        \
    X(ERROR_STALE, "an object was destroyed")                                                                          \
    X(ERROR_ODE, "the ODE library does not match this build of Sprag")                                                 \
    X(NOT_CONVERGED, "the best answer found is above the tolerance")                                                   \
    X(NO_SOLUTION, "no solution exists")                                                                               \
    X(LIMIT, "the limit on time or iterations was reached")

typedef enum spragStatus {
#define SPRAG_STATUS_ENUM(code, text) SPRAG_##code,
    SPRAG_STATUS_LIST(SPRAG_STATUS_ENUM)
#undef SPRAG_STATUS_ENUM
        SPRAG_STATUS_COUNT
} spragStatus;

/* One line of English for a status; never NULL.  The text is static. */
SPRAG_API const char *spragStatusText(spragStatus status);

/* What exactly was wrong if this thread's last call into Sprag returned an error: names the argument, the file and
 * line, or the index.  "" if it did not.  Valid until the thread's next call into Sprag. */
SPRAG_API const char *spragStatusDetail(void);

/* SPRAG_VERSION of the library that is loaded.  The text is static. */
SPRAG_API const char *spragVersion(void);

/* ------------------------------------------------------------------ problem */

/* The law of a block of three rows.  It says which r are admissible, below.  Where r lies inside these bounds u = 0; at
 * a lower bound u >= 0, at an upper one u <= 0, and on the edge of a disc r_t points against u_t.
 *   CONTACT      r_n >= 0, |r_t| <= mu r_n (Coulomb).
 *   TWO_SIDED    u_n = 0, |r_t| <= mu |r_n|, mu for r_n > 0 and mu_minus for r_n < 0.
 *   FORCE_LIMIT  r_n >= 0, |r_t| <= mu, which is an impulse, N s (Tresca; ODE with dContactApprox1 off).
 *   BOX          lo <= r <= hi, row by row (limits, motors, contacts with infinite mu).
 *   ROLLING      rows (roll about t1, roll about t2, spin about n): |(r_0, r_1)| <= mu r_n(parent),
 *                |r_2| <= mu_minus r_n(parent); r moments N m s, u rad/s, mu in m.
 * In dumps of a step rows of BOX and ROLLING that turn are multiplied by a length of the bodies, so that u is in m/s, r
 * in N s and mu a number. */
typedef enum spragBlockKind {
    SPRAG_BLOCK_CONTACT,
    SPRAG_BLOCK_TWO_SIDED,
    SPRAG_BLOCK_FORCE_LIMIT,
    SPRAG_BLOCK_BOX,
    SPRAG_BLOCK_ROLLING
} spragBlockKind;

/* What a contact does: it bears no load; it sticks, u_t = 0; it slips. */
typedef enum spragMode { SPRAG_MODE_OPEN, SPRAG_MODE_STICK, SPRAG_MODE_SLIP } spragMode;

/* What is known of a contact at the start of the step.  It chooses between several solutions (docs/theory.md 6), and
 * the search starts from it.  It never contains velocities that position correction (ERP) adds. */
typedef struct spragContactHistory {
    double slip[2];           /* slip velocity at the start of the step, along t1 and t2, m/s */
    double free_acceleration; /* b: normal acceleration with this contact's force removed, m/s^2 */
    double previous_normal;   /* r_n / step of the last step, N; 0 for a fresh contact */
    double previous_slip[2];  /* last slip direction before the contact stuck, or 0 */
    unsigned char mode;       /* spragMode at the end of the last step; OPEN for a fresh contact */
    signed char variant;      /* +1 / -1 of the last step; 0 for a fresh contact */
    unsigned char fresh;      /* 1: first step of this contact */
    double held[9];           /* (3x3) 1/kg, p is that of W_kk - held: motors and limits that hold; 0 without any */
    unsigned char judged;     /* 1: the guess r is the policy's choice already, made for several contacts together */
} spragContactHistory;

/* Const once built.  W is block-sparse: block row k holds blocks row_start[k] .. row_start[k+1]-1, columns ascending,
 * the diagonal block always present, the pattern symmetric.  Without contacts all arrays may be NULL. */
typedef struct spragProblem {
    int contact_count;                  /* nc, blocks of three rows */
    int block_count;                    /* nb, stored 3x3 blocks */
    const int *row_start;               /* (nc + 1) */
    const int *column;                  /* (nb) */
    const double *W;                    /* (nb x 3 x 3) 1/kg */
    const double *q;                    /* (nc x 3) m/s */
    const double *mu;                   /* (nc) */
    const double *mu_minus;             /* (nc), or NULL: = mu */
    const unsigned char *kind;          /* (nc) spragBlockKind, or NULL: all CONTACT */
    const double *bound;                /* (nc x 6) lo[3], hi[3] of BOX blocks, or NULL: none */
    const int *parent;                  /* (nc) block that loads a ROLLING block, else -1; or NULL */
    const int *body;                    /* (nc x 2) body numbers, -1 = world; or NULL.  For reports only */
    const spragContactHistory *history; /* (nc), or NULL: all fresh */
    double step;                        /* s, 0 if unknown.  Turns forces of history into impulses */
    double asymmetry;                   /* max |W - W^T| / max |W| as read, 0 when built exactly symmetric */
    /* For Sprag's own problems of worlds; NULL, NULL, 0 in all others.  spragProblemSolve does not read them. */
    const struct spragBodies *bodies; /* whose velocities u is made of */
    const struct spragBodies *linked; /* in place of them: bodies that joints hold */
    int driven;                       /* 1: springs, motors, limits or friction of joints act on them */
} spragProblem;

/* AUTO and VARIANT know which of several solutions to take (docs/theory.md 6).  LEMKE, GAUSS_SEIDEL and NEWTON are for
 * comparison: of one contact they know it too; of more they return the solution that they come upon, even a separatrix,
 * whatever indeterminacy and history say, and set no `several` or `none`. */
typedef enum spragSolverKind {
    SPRAG_SOLVER_AUTO,         /* the chain: cheapest first, hands over warm */
    SPRAG_SOLVER_STOCK,        /* ODE's own solver (worlds only) */
    SPRAG_SOLVER_VARIANT,      /* search over modes, Newton on the slip directions */
    SPRAG_SOLVER_LEMKE,        /* lexicographic Lemke on the polyhedral LCP, polished to the round cone */
    SPRAG_SOLVER_GAUSS_SEIDEL, /* block Gauss-Seidel with an exact local solver */
    SPRAG_SOLVER_NEWTON,       /* semismooth Newton with proximal regularisation */
    SPRAG_SOLVER_COUNT
} spragSolverKind;

/* "auto", "stock", "variant", "lemke", "gauss-seidel", "newton"; "unknown" for any other number.  Static. */
SPRAG_API const char *spragSolverName(spragSolverKind solver);
/* Returns SPRAG_SOLVER_COUNT for NULL and for an unknown name. */
SPRAG_API spragSolverKind spragSolverFind(const char *name);

typedef enum spragIndeterminacy {
    SPRAG_INDETERMINACY_HISTORY, /* the force before, against the separatrix: docs/theory.md 6 */
    SPRAG_INDETERMINACY_LIFT,    /* always the solution with less force */
    SPRAG_INDETERMINACY_JAM      /* always the solution with more force */
} spragIndeterminacy;

typedef struct spragSolveOptions {
    spragSolverKind solver; /* any but SPRAG_SOLVER_STOCK */
    double tolerance;       /* on the residual, m/s */
    int iteration_limit;    /* of each method, 0 = the method's own */
    double time_limit;      /* s, 0 = none.  However short it is, a few Gauss-Seidel sweeps are made */
    int thread_count;       /* up to 1024; 0 or 1: this thread only.  The same bits for any number */
    spragIndeterminacy indeterminacy;
    /* Limit on the work of each method, of which factorisations are most, in products of 3x3 blocks (some ns each), 0 =
     * none.  It does what a time limit does, with the same bits on every machine. */
    double work_limit;
    /* m/s: a residual at which the solver stops on a hard problem; 0 = only the tolerance ends it.  A problem is hard
     * that is still above the tolerance
     *     with more than 60 contacts, after its sweeps;
     *     with fewer, after some ms of work, or, where more contacts slide faster than 1e4 times this than stick, after
     *     the first method.
     * The same bits on every machine. */
    double enough;
    /* Limit on the work of all methods together, in the unit of work_limit, 0 = none.  The last method may go a little
     * beyond it. */
    double work_total;
} spragSolveOptions;

/* SPRAG_SOLVER_AUTO to 1e-8 m/s on one thread; all else 0. */
SPRAG_API spragSolveOptions spragSolveOptionsDefault(void);

typedef struct spragSolveInfo {
    spragStatus status;
    double residual;        /* m/s, spragProblemResidual of the returned r */
    int iterations;         /* of all methods together */
    spragSolverKind solver; /* the method that found r */
    int method_iterations[SPRAG_SOLVER_COUNT];
    int fallback;   /* 1: the usual methods failed, and a later one of the chain was asked */
    int several;    /* 1: more than one solution was seen, and the policy chose (indeterminate) */
    int none;       /* 1: a slip could not go on, and an impulse ended it (inconsistent) */
    double seconds; /* of the solve alone */
    double work;    /* what it took, in products of 3x3 blocks, about: the same on every machine */
} spragSolveInfo;

/* Solves a contact problem.  options: NULL for the defaults.  r (3 nc) N s: in a guess (zeros will do), out the
 * impulses.  u (3 nc) m/s: out W r + q; may be NULL.  info may be NULL.
 * SPRAG_OK iff the residual is at most the tolerance; SPRAG_NOT_CONVERGED or SPRAG_LIMIT with the best iterate in r;
 * with an error r is untouched, and info->status says which: SPRAG_ERROR_MEMORY, _NULL, _RANGE or _NOT_FINITE of an
 * argument, and what spragProblemCheck finds but for the negative eigenvalue, which is not looked for here. */
SPRAG_API spragStatus spragProblemSolve(const spragProblem *problem, const spragSolveOptions *options, double *r,
                                        double *u, spragSolveInfo *info);

/* The only judge: with  v = u + (mu |u_t|, 0, 0)  (De Saxce), w_k = trace(W_kk) / 3,
 *     residual = max over k of | r_k - P_K(r_k - v_k / w_k) | w_k,   m/s,
 * P_K the projection on the block's admissible set.  NaN if r has one, or a pointer is missing; sizes and indices are
 * those of a problem that spragProblemCheck accepts. */
SPRAG_API double spragProblemResidual(const spragProblem *problem, const double *r);

/* Does a problem of contacts have a solution?  A sufficient criterion (Klarbring and Pang 1998; Acary, Cadoux,
 * Lemarechal and Malick 2011): it has one if some motion u = W r + q opens every contact faster than it slides,
 * u_n > mu |u_t|.
 *
 * If there is such a motion, `assured` is 1, r (3 nc, may be NULL) are impulses that make it, and margin is its least
 * u_n - mu |u_t|, m/s.  If there is none the question stays open.  Then margin < 0 is the greatest that any motion
 * has, to a tenth, and r is the obstacle: a self-stress in the friction cones, W r = 0, with sum |r_n| = 1 and
 * q.r = margin.  This is a wedge that friction locks and the motion closes.
 *
 * With m two-sided contacts each of the 2^m variants needs such a motion.  Where a contact is loaded on the side with
 * r_n < 0 the motion opens it with -u_n.  r and margin are those of the variant with the least margin.
 *
 * SPRAG_ERROR_RANGE: a block is no contact, or m > SPRAG_ENUMERATE_MAX; SPRAG_ERROR_NULL, _MEMORY, and as
 * spragProblemSolve what spragProblemCheck finds. */
typedef struct spragExistence {
    int assured;   /* 1: a solution exists; 0: not decided */
    double margin; /* m/s; INFINITY without contacts */
} spragExistence;
SPRAG_API spragStatus spragProblemExistence(const spragProblem *problem, double *r, spragExistence *existence);

/* Checks sizes, pattern, finiteness, symmetry (to 1e-2 of the largest entry), mu >= 0, bounds, diagonal >= 0 and
 * W_nn > 0 of contacts, and looks for a negative eigenvalue of W: up to 100 contacts it finds any, in larger problems
 * it may miss one.  SPRAG_OK, or SPRAG_ERROR_NULL, _SIZE, _NOT_FINITE, _RANGE, _NOT_SYMMETRIC, _INDEFINITE, _MEMORY;
 * spragStatusDetail says what and where. */
SPRAG_API spragStatus spragProblemCheck(const spragProblem *problem);

/* Problem files.  With the extension .hdf5 or .h5 FCLib's HDF5 (if Sprag was built with HDF5, which is loaded with the
 * first such file), of local and of global problems; a global one, M v = H r + f, u = H' v + w, becomes u = W r + q.
 * Siconos' text of either, in any of its storages, is known by its first lines, whatever the file's name (not in a
 * pipe, which is taken for text as below).  Problems in the plane (dimension 2) get a second tangent along which
 * nothing acts, so r and u along it are 0.  All others are text,
 *
 *     # comments
 *     nc nblocks
 *     nc lines       mu body1 body2
 *     nc lines       q_n q_t1 q_t2
 *     nblocks lines  i j w00 w01 w02 w10 ... w22     sorted by row, columns ascending
 *
 * with 0-based indices i, j, k, and, where a problem has more than this plain format can say, any number of lines
 *
 *     step H
 *     block k KIND mu_minus lo0 lo1 lo2 hi0 hi1 hi2 parent
 *     history k slip1 slip2 b N_prev prev_slip1 prev_slip2 mode variant fresh
 *     held k h00 h01 h02 h10 ... h22
 *
 * (KIND: contact, two-sided, force-limit, box, rolling), so that an island dumped from a step is the same problem
 * again; the guess that the step began from is not in the file.  Numbers are written with 17 digits.
 *
 * *out is owned by the caller: spragProblemFree.  Asymmetry of W up to 1e-2 of its largest entry is kept as given and
 * reported in ->asymmetry.  SPRAG_ERROR_FILE, _FORMAT (spragStatusDetail names the line or dataset and what was
 * expected), _UNSUPPORTED, _MEMORY, _NULL, or what spragProblemCheck finds; *out is then left as it was. */
SPRAG_API spragStatus spragProblemRead(const char *path, spragProblem **out);
/* Writes a problem file: FCLib's HDF5 by the same extensions, else text.  SPRAG_ERROR_UNSUPPORTED: FCLib has one-sided
 * contacts only, or there is no HDF5; _SIZE: a problem without contacts cannot be written; _FILE, _MEMORY, _NULL, or
 * as spragProblemSolve what spragProblemCheck finds. */
SPRAG_API spragStatus spragProblemWrite(const spragProblem *problem, const char *path);
/* Frees a problem that spragProblemRead made; NULL is nothing to do. */
SPRAG_API void spragProblemFree(spragProblem *problem);

/* 1/kg: p = W_nn - mu W_nt . e (docs/theory.md 2), with W (3x3) 1/kg the contact's own block, rows [n t1 t2], and e the
 * direction of slip (2), m/s.  W_nn where slip is 0, NaN where W or slip is NULL. */
SPRAG_API double spragPainleveSlope(const double W[9], double mu, const double slip[2]);

/* ------------------------------------------------------------------ variants (docs/theory.md 3) */

#define SPRAG_VARIANT_MAX 64   /* pairs in a search */
#define SPRAG_ENUMERATE_MAX 16 /* pairs in an enumeration */

/* m pairs of antipodal contact points; of each pair one point is loaded.  The variant i_k = +1 / -1 says which, and its
 * forces N (each along the normal into the body at the loaded point) are the solution of
 *
 *     sum over k of D[r][k'] N_k = b[r],   r = 0 .. m - 1,   k' = k where i_k = +1, m + k where i_k = -1.
 *
 * D is (m x 2m) row-major; D0 has its shape, and is D without friction; b has m numbers.  Their units are the caller's.
 * A variant is accepted where all N >= 0, and realisable where it also has small friction, det D det D0 > 0.
 *
 * Class 0: one variant is accepted, and realisable; 1: none is accepted; 2: some are, none is realisable; 3: several
 * are, and one is realisable; 4: several are realisable: then the one of history (m of +-1, or NULL) is taken if it is
 * among them, else the one that the frictionless solution becomes as friction grows.  Variants that differ in pairs
 * with N_k = 0 alone are one motion and count once for the class. */
typedef struct spragVariantResult {
    int m;
    signed char variant[SPRAG_VARIANT_MAX]; /* +1 / -1 per pair */
    double N[SPRAG_VARIANT_MAX];            /* >= 0 where realised, in the units of b / D */
    int realised;                           /* 1: all N >= 0 and small friction */
    int small_friction;                     /* 1: det D has its frictionless sign: det D det D0 > 0 */
    int minors;       /* 1: so have the determinants with friction in any subset of pairs; -1: m > 6, not examined */
    int singular;     /* 1: det D = 0 within the stated test */
    double det, det0; /* may overflow to inf for large m; signs are always right */
    int det_sign, det0_sign; /* -1, 0, +1 */
    int paradox_class;       /* 0..4; -1 where only an enumeration would tell (found by search, more than 6 pairs) */
    int flips;               /* of the search */
    int fallback;            /* 1: simultaneous flips cycled and single flips ended it */
} spragVariantResult;

/* One variant of an enumeration, whatever its N; as spragVariantResult. */
typedef struct spragVariantMember {
    signed char variant[SPRAG_ENUMERATE_MAX];
    double N[SPRAG_ENUMERATE_MAX];
    double det, det0;
    int accepted; /* all N >= 0 */
    int small_friction;
    int singular;
} spragVariantMember;

typedef struct spragVariantSet {
    int m;
    int count;                  /* 2^m, all variants in binary order: bit k set = pair k on its - side */
    spragVariantMember *member; /* (count) owned: spragVariantSetFree */
    int accepted_count, realised_count;
    int paradox_class;
    int selected; /* index the step would take, -1 = none (jam) */
} spragVariantSet;

/* Searches from history by the flip rule (docs/theory.md 3); where that is not enough, small systems
 * (m <= SPRAG_ENUMERATE_MAX) are enumerated.  history (m) of +-1, or NULL.  SPRAG_OK: out is a realised variant, the
 * policy's choice.  SPRAG_NO_SOLUTION: none was found; out says where the search ended, and the class where it is
 * known.  SPRAG_ERROR_NULL, _RANGE, _NOT_FINITE, _MEMORY.  Takes 150 kB of the thread's stack. */
SPRAG_API spragStatus spragVariantSolve(int m, const double *D, const double *D0, const double *b, const int *history,
                                        spragVariantResult *out);
/* All 2^m variants, m <= SPRAG_ENUMERATE_MAX.  SPRAG_OK whether or not one is realised; with an error, as above, out is
 * left as it was. */
SPRAG_API spragStatus spragVariantEnumerate(int m, const double *D, const double *D0, const double *b,
                                            spragVariantSet *out);
/* Frees what set owns, and empties it; NULL is nothing to do. */
SPRAG_API void spragVariantSetFree(spragVariantSet *set);

/* Gap conditions (docs/theory.md 3).  In the variant `base` (m of +-1; NULL: all +) the bodies touch at the loaded
 * point of every pair, and clearance (m) > 0, in metres, is left at the antipode of each.  Another variant is reached
 * by a displacement x of the redundant coordinates that closes the gaps of the flipped pairs and keeps the other pairs
 * in touch.  x opens the gap of point k by (column k of D0) . x, with D0 (m x 2m) as above: its columns are the normals
 * into the body.
 *
 * gap (2^m x m) m, in the order of spragVariantEnumerate: what is then left at the unloaded point of each pair; NaN
 * where D0 of the variant is singular.  *admissible (may be NULL): 1 if all gaps are > 0, so that every variant can be
 * assumed.  m <= SPRAG_ENUMERATE_MAX.  SPRAG_ERROR_NULL, _RANGE, _NOT_FINITE. */
SPRAG_API spragStatus spragVariantGaps(int m, const double *D0, const int *base, const double *clearance, double *gap,
                                       int *admissible);

/* ------------------------------------------------------------------ paradoxes (acceleration level) */

/* Acceleration level, nc <= 3 contacts, frame [n t1 t2]: w = A r + b.  A contact slides (slip != 0: friction mu
 * opposes the slip velocity), or is at rest (slip = 0: it holds with |r_t| <= mu_static r_n and w_t = 0, or begins to
 * slip with mu against w_t), or detaches (one-sided: r = 0, w_n >= 0); w_n = 0 while it lasts.  All solutions. */
typedef struct spragContactState {
    int contact_count;
    const double *A /* (3 nc x 3 nc) 1/kg */, *b /* (3 nc) m/s^2 */, *slip /* (2 nc) m/s */;
    const double *mu, *mu_static;   /* (nc) */
    const unsigned char *two_sided; /* (nc), or NULL: none */
} spragContactState;

#define SPRAG_PARADOX_CONTACT_MAX 3

typedef struct spragParadoxSolution {
    unsigned char mode[SPRAG_PARADOX_CONTACT_MAX]; /* spragMode: OPEN detaches, STICK holds, SLIP slides or begins to */
    signed char variant[SPRAG_PARADOX_CONTACT_MAX]; /* sign of r_n, 0 where open */
    double r[3 * SPRAG_PARADOX_CONTACT_MAX];        /* N */
    double w[3 * SPRAG_PARADOX_CONTACT_MAX];        /* m/s^2 */
    int multiplicity;                               /* 1 for an isolated simple solution */
    int family;        /* 1: one point of a continuum (statically indeterminate); w is then unique unless slips begin */
    double slope;      /* 1/kg, dw_n/dr_n along the branch (single contact: p); its sign decides normal stability */
    int normal_stable; /* slope > 0, or det D det D0 > 0 for several contacts */
    int direction_stable; /* beginning slip: the direction attracts (docs/theory.md 6); 1 otherwise */
    int small_friction;   /* normal_stable for the determinant and all its principal minors */
    int taken;            /* the step would take this one for a fresh contact */
} spragParadoxSolution;

typedef struct spragSolutionSet {
    int count;
    int capacity;
    spragParadoxSolution *solution; /* (count) owned: spragSolutionSetFree */
    int paradox_class;              /* 0: one; else as spragVariantResult */
    int inconsistent;               /* 1: no solution */
    int indeterminate;              /* 1: more than one motion: history decides.  (Contacts that share a load as they
                                     * like have many solutions of one motion, and no paradox) */
    int incomplete;                 /* 1: some combination was too degenerate to search all of it: contacts that can be
                                     * braced against each other without bound */
} spragSolutionSet;

/* All solutions of a state of one to three contacts; A symmetric to 1e-9, A_nn > 0, 0 <= mu <= mu_static < infinity.
 * SPRAG_OK whether or not there is a solution (out->count may be 0).  With SPRAG_ERROR_NULL, _RANGE, _NOT_FINITE,
 * _NOT_SYMMETRIC, _INDEFINITE or _MEMORY out is left as it was. */
SPRAG_API spragStatus spragParadoxEnumerate(const spragContactState *state, spragSolutionSet *out);
/* Frees what set owns, and empties it; NULL is nothing to do. */
SPRAG_API void spragSolutionSetFree(spragSolutionSet *set);

/* What happens to the solutions of a state at a critical friction. */
typedef enum spragCriticalKind {
    SPRAG_CRITICAL_FOLD,   /* sliding: det = 0, a solution passes through infinity, whatever the load */
    SPRAG_CRITICAL_CUSP,   /* at rest: det = 0, as of a fold */
    SPRAG_CRITICAL_BORDER, /* for this load: solutions meet where a normal force is 0 */
    SPRAG_CRITICAL_REST    /* for this load: a contact can hold, begins to slip, or has two ways to begin that meet */
} spragCriticalKind;

typedef struct spragCritical {
    spragCriticalKind kind;
    double t; /* as in spragCriticalEnumerate */
    double mu[SPRAG_PARADOX_CONTACT_MAX];
    signed char variant[SPRAG_PARADOX_CONTACT_MAX]; /* side loaded there, 0: open */
    int before, after;                              /* number of solutions of this state below and above */
} spragCritical;

typedef struct spragCriticalSet {
    int count;
    spragCritical *critical; /* (count) by ascending t; owned: spragCriticalSetFree */
    int incomplete;          /* 1: more than 512 candidates: some values may be missing */
} spragCriticalSet;

/* Critical friction: the values of t in from < t < to at which the solutions change as friction grows by
 * mu_k + t rate_k (rate: nc; mu has to stay >= 0).  Source: Ivanov 2009 (docs/theory.md).
 *
 * A sliding contact keeps its direction.  At rest a single contact is taken in its worst direction, in which friction
 * adds most to the normal force; several are taken in the directions in which they would begin to slip without
 * friction.  FOLD and CUSP are properties of the bodies and always listed; BORDER and REST are listed where they change
 * the number of solutions for the load b.  To find where directions in which contacts at rest can begin to slip meet,
 * that number is counted in steps of a 64th of the range or less: two changes nearer to each other may both be missed,
 * as are all between continua (family).  SPRAG_ERROR_* as of spragParadoxEnumerate; out is then left as it was. */
SPRAG_API spragStatus spragCriticalEnumerate(const spragContactState *state, const double *rate, double from, double to,
                                             spragCriticalSet *out);
/* Frees what set owns, and empties it; NULL is nothing to do. */
SPRAG_API void spragCriticalSetFree(spragCriticalSet *set);

/* The impulse that ends a slip without a continuation: an impact by friction, without a collision (docs/theory.md 6;
 * Stronge 2000).  G (3x3) 1/kg: inverse inertia that the contact feels; v (3) m/s: its velocity before, [n t1 t2];
 * restitution 0..1, energetic.  Writes the impulse P (3) N s and the velocity after it, v_after (3) m/s.
 * SPRAG_NO_SOLUTION: nothing jams, as p >= 0, or no direction of slip leads on; SPRAG_NOT_CONVERGED: nothing ends the
 * slip; SPRAG_ERROR_NULL, _NOT_FINITE, _RANGE, _NOT_SYMMETRIC, _INDEFINITE: of the arguments. */
SPRAG_API spragStatus spragJamImpulse(const double G[9], double mu, double restitution, const double v[3], double P[3],
                                      double v_after[3]);

#ifdef __cplusplus
}
#endif
#endif
