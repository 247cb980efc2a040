/* Directions of contact k within h of the angle `middle` lie between two rays; on the circle between the chord and the
 * tangents.  The forces and accelerations of a combination are then sums, with factors >= 0, of
 *
 *     SLIDE  (i, -mu e)             START  (i, -mu p_j), p the corners of that triangle; w_t on the two rays
 *     HOLD   (i, mu_static p_j), p the corners of a polygon around the circle         OPEN  w_n
 *
 * and the program C y = -b asks whether any sum fulfils w = A r + b.  Every row is divided by its largest entry. */
#include "analysis/program.h"

#include <math.h>
#include <string.h>

enum { POLYGON = 8 }; /* corners around the circle of a contact that holds */

static void addForce(Program *p, int contact, double normal, double t1, double t2)
{
    const Enumeration *en = p->en;
    const double *A = en->state->A;
    p->contact[p->columns] = contact;
    memcpy(p->force[p->columns], (double[3]){normal, t1, t2}, sizeof p->force[0]);
    double *C = p->C + p->rows * p->columns++;
    for (int i = 0; i < p->rows; ++i) {
        const double *row = A + en->n * p->row[i] + 3 * contact;
        C[i] = p->scale[i] * (row[0] * normal + row[1] * t1 + row[2] * t2);
    }
}

/* -w in the frame of a contact, of the size that the rows have after scaling. */
static void addMotion(Program *p, int contact, double normal, double t1, double t2)
{
    const double w[3] = {normal, t1, t2};
    p->contact[p->columns] = contact;
    memset(p->force[p->columns], 0, sizeof p->force[0]);
    double *C = p->C + p->rows * p->columns++, size = 0;
    for (int i = 0; i < p->rows; ++i) {
        C[i] = p->row[i] / 3 == contact ? -p->scale[i] * w[p->row[i] % 3] : 0;
        size = fmax(size, fabs(C[i]));
    }
    for (int i = 0; i < p->rows && size > 0; ++i)
        C[i] /= size;
}

static void addRows(Program *p)
{
    const Enumeration *en = p->en;
    p->rows = p->columns = 0;
    for (int row = 0; row < en->n; ++row) {
        const Role role = en->role[row / 3];
        if (en->dead[row] || (row % 3 != 0 && role != HOLD && role != START))
            continue;
        double size = 0;
        for (int j = 0; j < en->n; ++j)
            size = fmax(size, fabs(en->state->A[en->n * row + j]));
        p->row[p->rows] = row;
        p->scale[p->rows] = size > 0 ? 1 / size : 1;
        p->c[p->rows] = -en->state->b[row] * p->scale[p->rows];
        ++p->rows;
    }
}

static void addHold(Program *p, int k)
{
    const double mu = p->en->state->mu_static[k] / cos(M_PI / POLYGON);
    for (int j = 0; j < (mu > 0 ? POLYGON : 1); ++j)
        addForce(p, k, p->en->sign[k], mu * cos(2 * M_PI * j / POLYGON), mu * sin(2 * M_PI * j / POLYGON));
}

static void addStart(Program *p, int k, double middle, double h)
{
    const double mu = p->en->state->mu[k];
    for (int side = -1; side <= 1; ++side) {
        const double angle = middle + side * h, out = side == 0 ? 1 / cos(h) : 1;
        const double e[2] = {cos(angle), sin(angle)};
        addForce(p, k, p->en->sign[k], -mu * out * e[0], -mu * out * e[1]);
        if (side != 0)
            addMotion(p, k, 0, e[0], e[1]);
    }
}

void spragProgramBuild(const Enumeration *en, const double *middle, double h, Program *p)
{
    p->en = en;
    addRows(p);
    for (int k = 0, start = 0; k < en->nc; ++k)
        switch (en->role[k]) {
        case OPEN:
            addMotion(p, k, 1, 0, 0);
            break;
        case HOLD:
            addHold(p, k);
            break;
        case SLIDE:
            addForce(p, k, en->sign[k], -en->state->mu[k] * en->e[k][0], -en->state->mu[k] * en->e[k][1]);
            break;
        default:
            addStart(p, k, middle[start++], h);
        }
}

int spragProgramAllows(const void *combination, const double *middle, double h)
{
    Program p;
    spragProgramBuild(combination, middle, h, &p);
    return spragSimplexFeasible(p.rows, p.columns, p.C, p.c, NULL);
}
