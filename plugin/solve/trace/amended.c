#include "solve/trace/amended.h"

#include <string.h>

#include "linalg/lu.h"
#include "linalg/vec3.h"

int spragAmendedInit(spragAmended *amended, spragTangent *tangent, spragArena *arena)
{
    const size_t nc = (size_t)tangent->problem->contact_count;
    const size_t m = SPRAG_AMENDED_MOST;
    *amended = (spragAmended){.tangent = tangent,
                              .place = SPRAG_TAKE_RAW(arena, int, nc),
                              .A = SPRAG_TAKE(arena, double, 9 * m),
                              .B = SPRAG_TAKE(arena, double, 9 * m),
                              .Z = SPRAG_TAKE_RAW(arena, double, 9 * m * nc),
                              .small = SPRAG_TAKE_RAW(arena, double, 9 * m * m),
                              .y = SPRAG_TAKE_RAW(arena, double, 3 * m),
                              .columns = SPRAG_TAKE_RAW(arena, double, 12 * nc),
                              .work = SPRAG_TAKE_RAW(arena, double, 12 * nc)};
    if (amended->place == NULL || amended->A == NULL || amended->B == NULL || amended->Z == NULL ||
        amended->small == NULL || amended->y == NULL || amended->columns == NULL || amended->work == NULL)
        return 0;
    for (size_t k = 0; k < nc; ++k)
        amended->place[k] = -1;
    return 1;
}

int spragAmendedFactor(spragAmended *amended)
{
    for (int i = 0; i < amended->count; ++i)
        amended->place[amended->contact[i]] = -1;
    amended->count = 0;
    return spragTangentFactor(amended->tangent);
}

int spragAmendedPlace(spragAmended *amended, int k)
{
    spragTangent *t = amended->tangent;
    const size_t n = 3 * (size_t)t->problem->contact_count;
    if (amended->place[k] >= 0)
        return amended->place[k];
    if (amended->count == SPRAG_AMENDED_MOST)
        return -1;
    const int place = amended->count++;
    amended->place[k] = place, amended->contact[place] = k;
    memcpy(amended->A + 9 * place, t->A + 9 * (size_t)k, 9 * sizeof *t->A);
    memcpy(amended->B + 9 * place, t->B + 9 * (size_t)k, 9 * sizeof *t->B);
    spragBlockLuColumns(&t->lu, k, amended->columns, amended->work);
    for (int j = 0; j < 3; ++j) {
        double *const restrict z = amended->Z + (size_t)(3 * place + j) * n;
        for (size_t i = 0; i < n; ++i)
            z[i] = amended->columns[4 * i + (size_t)j];
    }
    return place;
}

/* out = V_i x, the changed rows of contact c_i. */
static void changeOf(const spragAmended *amended, int i, const double *x, double out[3])
{
    const spragTangent *t = amended->tangent;
    const spragProblem *p = t->problem;
    const int k = amended->contact[i];
    const double *own = x + 3 * (size_t)k, *A = t->A + 9 * (size_t)k, *B = t->B + 9 * (size_t)k;
    double dA[9], dB[9], u[3] = {t->soft[k] * own[0], t->soft[k] * own[1], t->soft[k] * own[2]};
    for (int j = 0; j < 9; ++j)
        dA[j] = amended->A[9 * i + j] - A[j], dB[j] = amended->B[9 * i + j] - B[j];
    for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
        spragMulAdd33(u, p->W + 9 * (size_t)e, x + 3 * (size_t)p->column[e]);
    spragMul33(out, dA, own);
    spragMulAdd33(out, dB, u);
}

int spragAmendedUpdate(spragAmended *amended)
{
    const size_t n = 3 * (size_t)amended->tangent->problem->contact_count;
    const int m = 3 * amended->count;
    for (int j = 0; j < m; ++j)
        for (int i = 0; i < amended->count; ++i) {
            double change[3];
            changeOf(amended, i, amended->Z + (size_t)j * n, change);
            for (int a = 0; a < 3; ++a)
                amended->small[(3 * i + a) * m + j] = change[a] + (3 * i + a == j);
        }
    return spragLuFactor(m, amended->small, amended->pivot, 0) == m;
}

int spragAmendedSign(const spragAmended *amended)
{
    const int sign = spragTangentSign(amended->tangent);
    return amended->count > 0 ? sign * spragLuSign(3 * amended->count, amended->small, amended->pivot) : sign;
}

void spragAmendedSolve(spragAmended *amended, double *x)
{
    const size_t n = 3 * (size_t)amended->tangent->problem->contact_count;
    const int m = 3 * amended->count;
    spragTangentSolve(amended->tangent, x);
    for (int i = 0; i < amended->count; ++i)
        changeOf(amended, i, x, amended->y + 3 * i);
    spragLuSolve(m, amended->small, amended->pivot, amended->y);
    for (int j = 0; j < m; ++j) {
        const double *const restrict z = amended->Z + (size_t)j * n, y = amended->y[j];
        for (size_t i = 0; i < n; ++i)
            x[i] -= y * z[i];
    }
}
