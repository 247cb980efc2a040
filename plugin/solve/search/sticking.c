#include "solve/search/sticking.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "problem/residual.h"
#include "solve/newton/tangent.h"

/* lambda: where it is large a center is found in a few steps, and there are many of them; where it is small one center
 * may be enough, and a step changes the modes of half of the contacts.  So it falls once a center is found in its first
 * step, and rises where one is not found. */
#define LAMBDA_FIRST 1e-3
#define LAMBDA_LEAST 1e-7 /* rounding along self-stresses is 1e-16 / lambda */
#define LAMBDA_MOST 0.1
#define FALL 0.1
#define FALL_WARM 1e-4 /* as long as the modes are those of the guess */
#define FALL_SLOW 0.3  /* once a center was not found */
#define RISE 30
#define MARCH 0.1   /* of the greatest impulse: by so much one center moves on at most, as far as lambda decides that */
#define WITHIN 1e-3 /* of the tolerance: r_n w and u_n may be as negative */
#define CLOSE 0.5   /* of the tolerance: what a center leaves */
#define FEW 0.05    /* of the contacts: where so few have no mode no other lambda would help */

enum {
    STEPS_MOST = 150,
    AGAIN_MOST = 60,   /* contacts, of which those that slide are tried once more: of more it takes longer, in vain, */
    CENTERS_AGAIN = 3, /* with so many centers each */
    TRIES = 3,         /* steps that leave no fewer in the wrong mode */
    FAILS_MOST = 3     /* centers that are not found, after which what has no mode slides, however many they are */
};

typedef enum Mode { HOLDS, AT_LEAST, AT_MOST } Mode;

typedef struct Sticking {
    const spragProblem *problem;
    const unsigned char *parts;
    spragTangent tangent;
    double lambda, within; /* within: m/s */
    double *w;             /* (nc) 1/kg */
    double *r;             /* (3 nc) N s */
    double *center, *u;    /* (3 nc) N s, m/s: of the proximal problem */
    double *step;          /* (3 nc) N s */
    double *answer;        /* (3 nc) N s, in which some contacts slide */
    unsigned char *mode;   /* (3 nc) */
    unsigned char *kept;   /* (3 nc) the modes of the last center */
    unsigned char *slides; /* (nc) 1: it has no tangential impulse, whether it presses or not */
    int stale;             /* 1: the factors are those of other modes, or of another lambda */
    int steps, steps_most; /* the most that the limits pay for */
    double deadline;
} Sticking;

/* The least bound of a row, and its greatest 3 numbers on. */
static const double *boundsOf(const Sticking *s, int row)
{
    return s->problem->bound + 6 * (size_t)(row / 3) + row % 3;
}

int spragStickingSuits(const spragProblem *problem, const unsigned char *parts)
{
    int any = 0;
    if (problem->bound == NULL || problem->kind == NULL)
        return 0;
    for (int k = 0; k < problem->contact_count; ++k) {
        if (spragKindOf(problem, k) != SPRAG_BLOCK_BOX)
            return 0;
        any |= parts[k];
    }
    return any;
}

/* 1; 0: no memory; -1: a factorisation costs more than work_most. */
static int take(Sticking *s, double work_most, spragArena *arena)
{
    const spragProblem *p = s->problem;
    const size_t nc = (size_t)p->contact_count;
    double *room = SPRAG_TAKE_RAW(arena, double, 13 * nc);
    unsigned char *bytes = SPRAG_TAKE(arena, unsigned char, 7 * nc);
    if (room == NULL || bytes == NULL)
        return 0;
    s->w = room, s->center = room + nc, s->u = room + 4 * nc, s->step = room + 7 * nc, s->answer = room + 10 * nc;
    s->mode = bytes, s->kept = bytes + 3 * nc, s->slides = bytes + 6 * nc;
    for (int k = 0; k < p->contact_count; ++k) {
        const double *W = p->W + 9 * (size_t)spragProblemDiagonal(p, k);
        s->w[k] = (W[0] + W[4] + W[8]) / 3;
    }
    const int found = spragTangentInit(&s->tangent, p, NULL, SPRAG_TANGENT_CHEAPER, work_most, arena);
    s->tangent.accuracy = SPRAG_TANGENT_ROUGH;
    if (found > 0)
        s->steps_most = (int)fmin(s->steps_most, work_most / spragTangentCharge(&s->tangent) + 1);
    return found;
}

/* ---------------------------------------------------------------- modes */

/* u = W r + q + lambda w (r - center) */
static void findMotion(Sticking *s)
{
    spragProblemVelocity(s->problem, s->r, s->u);
    for (int i = 0; i < 3 * s->problem->contact_count; ++i)
        s->u[i] += s->lambda * s->w[i / 3] * (s->r[i] - s->center[i]);
}

/* By x = r - u / w, and its bounds; the mode it has keeps a margin. */
static Mode modeOfRow(const Sticking *s, int row)
{
    const double *lo = boundsOf(s, row), w = s->w[row / 3], margin = s->within / w;
    const double x = s->r[row] - s->u[row] / w;
    const Mode now = (Mode)s->mode[row];
    if (lo[0] == lo[3] || x <= lo[0] + (now == AT_LEAST ? margin : -margin))
        return AT_LEAST;
    return x >= lo[3] - (now == AT_MOST ? margin : -margin) ? AT_MOST : HOLDS;
}

/* Of block k; the tangential rows of what may part go with its normal one. */
static void modesOf(const Sticking *s, int k, unsigned char mode[3])
{
    mode[0] = (unsigned char)modeOfRow(s, 3 * k);
    for (int row = 1; row < 3; ++row)
        if (!s->parts[k])
            mode[row] = (unsigned char)modeOfRow(s, 3 * k + row);
        else
            mode[row] = mode[0] == HOLDS && boundsOf(s, 3 * k + row)[3] > 0 && !s->slides[k] ? HOLDS : AT_LEAST;
}

static int isWrong(const Sticking *s, int k)
{
    unsigned char mode[3];
    modesOf(s, k, mode);
    return memcmp(mode, s->mode + 3 * (size_t)k, sizeof mode) != 0;
}

static int countWrong(const Sticking *s)
{
    int count = 0;
    for (int k = 0; k < s->problem->contact_count; ++k)
        count += isWrong(s, k);
    return count;
}

static void setModes(Sticking *s, int k, const unsigned char mode[3])
{
    memcpy(s->mode + 3 * (size_t)k, mode, 3);
    for (int row = 0; row < 3; ++row) {
        const size_t entry = 9 * (size_t)k + 4 * (size_t)row;
        s->tangent.B[entry] = mode[row] == HOLDS;
        s->tangent.A[entry] = mode[row] == HOLDS ? 0 : s->w[k];
    }
    s->stale = 1;
}

static void changeModes(Sticking *s)
{
    for (int k = 0; k < s->problem->contact_count; ++k) {
        unsigned char mode[3];
        modesOf(s, k, mode);
        setModes(s, k, mode);
    }
}

/* What has no mode has no tangential impulse from now on. */
static void letSlide(Sticking *s)
{
    for (int k = 0; k < s->problem->contact_count; ++k)
        s->slides[k] |= s->parts[k] && isWrong(s, k);
}

/* ---------------------------------------------------------------- steps */

/* r of a row that does not hold. */
static double boundOf(const Sticking *s, int row)
{
    return s->parts[row / 3] ? 0 : boundsOf(s, row)[s->mode[row] == AT_MOST ? 3 : 0];
}

/* r := that of the modes.  0: singular. */
static int solveModes(Sticking *s)
{
    ++s->steps;
    if (s->stale && !spragTangentFactor(&s->tangent))
        return 0;
    s->stale = 0;
    for (int i = 0; i < 3 * s->problem->contact_count; ++i)
        s->step[i] = s->mode[i] == HOLDS ? -s->u[i] : s->w[i / 3] * (boundOf(s, i) - s->r[i]);
    spragTangentSolve(&s->tangent, s->step);
    for (int i = 0; i < 3 * s->problem->contact_count; ++i)
        s->r[i] = s->mode[i] == HOLDS ? s->r[i] + s->step[i] : boundOf(s, i);
    return 1;
}

static int isSpent(const Sticking *s)
{
    return s->steps >= s->steps_most || spragIsLate(s->deadline);
}

/* The problem of one center.  How many steps it took; 0: it was not found. */
static int settle(Sticking *s)
{
    const int before = s->steps;
    int fewest = s->problem->contact_count + 1, tries = TRIES;
    findMotion(s);
    while (!isSpent(s) && solveModes(s)) {
        findMotion(s);
        const int wrong = countWrong(s);
        if (wrong == 0)
            return s->steps - before;
        tries = wrong < fewest ? TRIES : tries - 1;
        fewest = wrong < fewest ? wrong : fewest;
        if (tries == 0)
            break;
        changeModes(s);
    }
    return 0;
}

static void setLambda(Sticking *s, double lambda)
{
    s->stale |= lambda != s->lambda;
    s->lambda = lambda;
    for (int k = 0; k < s->problem->contact_count; ++k)
        s->tangent.soft[k] = lambda * s->w[k];
}

/* The center moves to r.  Returns by how much, m/s, its proximal term changed u of what holds; *most: the greatest
 * w r. */
static double moveCenter(Sticking *s, double *most)
{
    double left = 0;
    *most = 0;
    for (int i = 0; i < 3 * s->problem->contact_count; ++i) {
        const double w = s->w[i / 3];
        *most = fmax(*most, w * fabs(s->r[i]));
        if (s->mode[i] == HOLDS)
            left = fmax(left, s->lambda * w * fabs(s->r[i] - s->center[i]));
        s->center[i] = s->r[i];
    }
    return left;
}

/* Centers, one after the other.  1: the last one is the answer. */
static int findCenters(Sticking *s, double close)
{
    const size_t rows = 3 * (size_t)s->problem->contact_count;
    double fall = FALL_WARM;
    for (int fails = 0; !isSpent(s);) {
        memcpy(s->kept, s->mode, rows);
        const int steps = settle(s);
        fall = steps == 1 ? fall : fmax(fall, FALL);
        if (steps > 0) {
            double most;
            const double left = moveCenter(s, &most);
            if (left <= close)
                return 1;
            if (steps == 1)
                setLambda(s, fmin(s->lambda, fmax(fmax(LAMBDA_LEAST, fall * s->lambda), left / (MARCH * most))));
        } else if (s->lambda >= LAMBDA_MOST || ++fails > FAILS_MOST ||
                   countWrong(s) <= FEW * s->problem->contact_count) {
            letSlide(s);
            changeModes(s);
        } else {
            setLambda(s, fmin(LAMBDA_MOST, RISE * s->lambda));
            fall = FALL_SLOW;
            memcpy(s->r, s->center, rows * sizeof *s->r);
            for (int k = 0; k < s->problem->contact_count; ++k)
                setModes(s, k, s->kept + 3 * (size_t)k);
        }
    }
    return 0;
}

/* 1: with the modes as they are the last center is the answer, and none has slid for it. */
static int sticksAfterAll(Sticking *s, double close)
{
    for (int center = 0; center < CENTERS_AGAIN && settle(s) > 0; ++center) {
        double most;
        if (moveCenter(s, &most) <= close)
            return 1;
    }
    return 0;
}

/* What slides in the answer, and presses, may stick now that all others have a mode: one after the other. */
static void holdAgain(Sticking *s, double close)
{
    const int count = s->problem->contact_count;
    const size_t rows = 3 * (size_t)count;
    for (int k = 0; k < count && !isSpent(s); ++k) {
        if (!s->slides[k] || s->mode[3 * k] != HOLDS)
            continue;
        memcpy(s->answer, s->r, rows * sizeof *s->answer);
        memcpy(s->kept, s->mode, rows);
        s->slides[k] = 0;
        changeModes(s);
        if (sticksAfterAll(s, close))
            continue;
        s->slides[k] = 1;
        memcpy(s->r, s->answer, rows * sizeof *s->r);
        memcpy(s->center, s->answer, rows * sizeof *s->center);
        for (int i = 0; i < count; ++i)
            setModes(s, i, s->kept + 3 * (size_t)i);
        findMotion(s);
    }
}

/* Fills sticks, and takes r back into its bounds. */
static void give(const Sticking *s, unsigned char *sticks)
{
    for (int k = 0; k < s->problem->contact_count; ++k)
        sticks[k] = s->mode[3 * k] == HOLDS && !s->slides[k];
    for (int i = 0; i < 3 * s->problem->contact_count; ++i)
        s->r[i] = fmin(fmax(s->r[i], boundsOf(s, i)[0]), boundsOf(s, i)[3]);
}

spragStatus spragStickingSolve(const spragProblem *problem, const unsigned char *parts,
                               const spragSolveOptions *options, spragArena *arena, double *r, unsigned char *sticks,
                               spragSolveInfo *info)
{
    const int asked = options->iteration_limit;
    const spragArenaMark mark = spragArenaMarkGet(arena);
    Sticking s = {.problem = problem,
                  .parts = parts,
                  .within = WITHIN * options->tolerance,
                  .r = r,
                  .steps_most = asked > 0 && asked < STEPS_MOST ? asked : STEPS_MOST,
                  .deadline = spragDeadline(options->time_limit)};
    memset(sticks, 1, (size_t)problem->contact_count);
    int found = take(&s, options->work_limit > 0 ? options->work_limit : INFINITY, arena);
    if (found > 0) {
        memcpy(s.center, r, 3 * (size_t)problem->contact_count * sizeof *r);
        setLambda(&s, LAMBDA_FIRST);
        findMotion(&s);
        changeModes(&s);
        found = findCenters(&s, CLOSE * options->tolerance) ? 1 : -1;
        if (found > 0 && problem->contact_count <= AGAIN_MOST)
            holdAgain(&s, CLOSE * options->tolerance);
        give(&s, sticks);
        info->iterations += s.steps;
        info->work += s.steps * spragTangentCharge(&s.tangent);
    }
    spragArenaRelease(arena, mark);
    return found > 0 ? SPRAG_OK : found < 0 ? SPRAG_NOT_CONVERGED : SPRAG_ERROR_MEMORY;
}
