/* One block on the path of trace.c: the equations of its mode, and how far it is from where that mode ends.
 *
 * r and u are the block's own, t the share of De Saxce's term that is held at the slide s, w = trace(W_kk) / 3.
 * With the mode held the equations F(r, u, t) = 0 are smooth.
 *
 *     open    r = 0
 *     stick   u_n + t s = 0,   u_t = 0
 *     slip    u_n + t (s + mu e . u_t) = 0,   e . r_t = mu r_n,   p . r_t = 0,
 *             x = r_t - u_t / w,   e = x / |x|,   p across e.
 *
 * The equations of a slip are those of proximal.h, but |u_t| is -e . u_t, which a turn of r_t changes in second
 * order of u_t alone.  As w (|x| - mu r_n) it changes in second order of r_t, far more than the slips of 1e-9 m/s
 * with which most contacts begin, and in a wedged pile the normal row answers with 1 / SOFT times that: paths of
 * five events took a thousand factorisations.
 *
 * A mode ends where the first of its margins is 0, m/s:
 *
 *     open   u_n + t (s - mu |u_t|)    stick   w (mu r_n - |r_t|)    slip   -e . u_t, to stick;  w r_n, to open */
#ifndef SPRAG_SOLVE_TRACE_LAW_H
#define SPRAG_SOLVE_TRACE_LAW_H

typedef enum spragTraceMode { SPRAG_TRACE_OPEN, SPRAG_TRACE_STICK, SPRAG_TRACE_SLIP } spragTraceMode;

enum { SPRAG_TRACE_MARGINS = 2 }; /* of a contact, at most */

typedef struct spragTraceBlock {
    spragTraceMode mode;
    double w, mu, slide; /* 1/kg; its coefficient, and its s, m/s */
} spragTraceBlock;

/* F, m/s, and dF = A dr + B du + B (share, 0, 0) dt. */
typedef struct spragTraceLaw {
    double F[3], A[9], B[9], share;
} spragTraceLaw;

/* An end of a mode: how far it is, m/s, and what comes next there. */
typedef struct spragTraceMargin {
    double value;
    spragTraceMode next;
} spragTraceMargin;

/* r, the projection of x on the cone, whatever its mode; the mode that x is in. */
spragTraceMode spragTraceProject(const spragTraceBlock *block, const double x[3], double r[3]);
void spragTraceLawAt(const spragTraceBlock *block, const double r[3], const double u[3], double t, spragTraceLaw *law);
/* Returns how many margins there are. */
int spragTraceMarginsAt(const spragTraceBlock *block, const double r[3], const double u[3], double t,
                        spragTraceMargin margin[SPRAG_TRACE_MARGINS]);
/* How far along dr a contact that sticks stays in its cone; entered: r has just come into it, and is on its boundary.
 * INFINITY: for ever. */
double spragTraceExit(double mu, const double r[3], const double dr[3], int entered);

#endif
