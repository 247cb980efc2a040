#include "bench/contact_set.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/scene.h"

static int reserve(void **array, int *capacity, int count, size_t size)
{
    if (count <= *capacity)
        return 1;
    void *grown = realloc(*array, (size_t)count * size);
    if (grown == NULL)
        return 0;
    *array = grown;
    *capacity = count;
    return 1;
}

/* ODE keeps inertia in the body frame, as dMassRotate left it; every scene builds bodies along their principal axes. */
static void readBody(SetBody *out, dBodyID body)
{
    dMass mass;
    dBodyGetMass(body, &mass);
    const dReal *R = dBodyGetRotation(body), *x = dBodyGetPosition(body);
    const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
    out->mass = mass.mass;
    for (int i = 0; i < 3; ++i) {
        out->inertia[i] = mass.I[5 * i];
        out->position[i] = x[i];
        out->velocity[i] = v[i];
        out->velocity[3 + i] = w[i];
        for (int j = 0; j < 3; ++j) {
            out->rotation[3 * i + j] = R[4 * i + j];
            out->inverse_inertia[3 * i + j] = 0;
            for (int k = 0; k < 3; ++k)
                out->inverse_inertia[3 * i + j] += R[4 * i + k] * R[4 * j + k] / mass.I[5 * k];
        }
    }
}

int contactSetBodies(ContactSet *set, SceneWorld *world)
{
    if (!reserve((void **)&set->body, &set->body_capacity, world->body_count, sizeof *set->body))
        return 0;
    set->body_count = world->body_count;
    dVector3 gravity;
    dWorldGetGravity(world->world, gravity);
    for (int i = 0; i < 3; ++i)
        set->gravity[i] = gravity[i];
    for (int i = 0; i < world->body_count; ++i) {
        readBody(&set->body[i], world->body[i]);
        dBodySetData(world->body[i], (void *)(intptr_t)(i + 1));
    }
    return 1;
}

static int numberOf(dBodyID body)
{
    return body == NULL ? -1 : (int)(intptr_t)dBodyGetData(body) - 1;
}

int contactSetContacts(ContactSet *set, SceneWorld *world, double h)
{
    const spragContact *contacts = NULL;
    const int count = SceneGetContacts(world, &contacts);
    if (!reserve((void **)&set->contact, &set->contact_capacity, count, sizeof *set->contact))
        return 0;
    set->contact_count = count;
    set->step = h;
    set->erp = dWorldGetERP(world->world);
    const double layer = dWorldGetContactSurfaceLayer(world->world);
    for (int k = 0; k < count; ++k) {
        SetContact *c = &set->contact[k];
        *c = (SetContact){.id = contacts[k].id,
                          .body = {numberOf(contacts[k].body[0]), numberOf(contacts[k].body[1])},
                          .depth = fmax(contacts[k].depth - layer, 0),
                          .mu = world->surface.mu};
        dVector3 n, t1, t2;
        for (int i = 0; i < 3; ++i)
            n[i] = contacts[k].normal[i];
        dPlaneSpace(n, t1, t2);
        for (int i = 0; i < 3; ++i) {
            c->position[i] = contacts[k].position[i];
            c->frame[i] = n[i], c->frame[3 + i] = t1[i], c->frame[6 + i] = t2[i];
        }
    }
    return 1;
}

void contactSetFree(ContactSet *set)
{
    free(set->body);
    free(set->contact);
    *set = (ContactSet){0};
}

/* ---------------------------------------------------------------- the problem */

/* Row `row` of contact c for its body `side`: linear and angular part. */
static void jacobian(const ContactSet *set, const SetContact *c, int side, int row, double J[6])
{
    const double *axis = c->frame + 3 * row, *x = set->body[c->body[side]].position, sign = side == 0 ? 1 : -1;
    const double arm[3] = {c->position[0] - x[0], c->position[1] - x[1], c->position[2] - x[2]};
    for (int i = 0; i < 3; ++i) {
        J[i] = sign * axis[i];
        J[3 + i] = sign * (arm[(i + 1) % 3] * axis[(i + 2) % 3] - arm[(i + 2) % 3] * axis[(i + 1) % 3]);
    }
}

static void timesInverseMass(const SetBody *body, const double J[6], double out[6])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = J[i] / body->mass;
        out[3 + i] = 0;
        for (int j = 0; j < 3; ++j)
            out[3 + i] += body->inverse_inertia[3 * i + j] * J[3 + j];
    }
}

/* Block (k, l) of W, which is 3 x 3. */
static void block(const ContactSet *set, int k, int l, double W[9])
{
    const SetContact *a = &set->contact[k], *b = &set->contact[l];
    memset(W, 0, 9 * sizeof *W);
    for (int s = 0; s < 2; ++s)
        for (int t = 0; t < 2; ++t) {
            if (a->body[s] < 0 || a->body[s] != b->body[t])
                continue;
            for (int j = 0; j < 3; ++j) {
                double J[6], MJ[6];
                jacobian(set, b, t, j, J);
                timesInverseMass(&set->body[b->body[t]], J, MJ);
                for (int i = 0; i < 3; ++i) {
                    jacobian(set, a, s, i, J);
                    for (int m = 0; m < 6; ++m)
                        W[3 * i + j] += J[m] * MJ[m];
                }
            }
        }
}

static void freeVelocity(const ContactSet *set, int k, double q[3])
{
    const SetContact *c = &set->contact[k];
    for (int row = 0; row < 3; ++row) {
        q[row] = row == 0 ? -set->erp * c->depth / set->step : 0;
        for (int side = 0; side < 2; ++side) {
            if (c->body[side] < 0)
                continue;
            double J[6];
            jacobian(set, c, side, row, J);
            const double *v = set->body[c->body[side]].velocity;
            for (int m = 0; m < 6; ++m)
                q[row] += J[m] * (v[m] + (m < 3 ? set->step * set->gravity[m] : 0));
        }
    }
}

/* The contacts of each body, as lists: start (bodies + 1), list (2 contacts). */
static void listContacts(const ContactSet *set, int *start, int *list)
{
    memset(start, 0, (size_t)(set->body_count + 1) * sizeof *start);
    for (int pass = 0; pass < 2; ++pass) {
        for (int k = 0; k < set->contact_count; ++k)
            for (int side = 0; side < 2; ++side) {
                const int body = set->contact[k].body[side];
                if (body >= 0 && pass == 0)
                    ++start[body + 1];
                else if (body >= 0)
                    list[start[body]++] = k;
            }
        if (pass == 0)
            for (int b = 0; b < set->body_count; ++b)
                start[b + 1] += start[b];
    }
    memmove(start + 1, start, (size_t)set->body_count * sizeof *start); /* filling moved every start to its end */
    start[0] = 0;
}

static int compareInts(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Columns of row k, ascending, without repetition; at most as many as both lists hold. */
static int neighbours(const ContactSet *set, const int *start, const int *list, int k, int *column)
{
    int count = 0, kept = 0;
    for (int side = 0; side < 2; ++side) {
        const int body = set->contact[k].body[side];
        for (int e = body < 0 ? 0 : start[body]; body >= 0 && e < start[body + 1]; ++e)
            column[count++] = list[e];
    }
    qsort(column, (size_t)count, sizeof *column, compareInts);
    for (int e = 0; e < count; ++e)
        if (kept == 0 || column[kept - 1] != column[e])
            column[kept++] = column[e];
    return kept;
}

/* Upper bound on the number of blocks. */
static size_t blockBound(const ContactSet *set, const int *start)
{
    size_t bound = 0;
    for (int k = 0; k < set->contact_count; ++k)
        for (int side = 0; side < 2; ++side)
            if (set->contact[k].body[side] >= 0)
                bound += (size_t)(start[set->contact[k].body[side] + 1] - start[set->contact[k].body[side]]);
    return bound;
}

/* Whose arrays are there. */
static void fillProblem(const ContactSet *set, const int *start, const int *list, int *row, int *column, double *W,
                        double *q, double *mu)
{
    row[0] = 0;
    for (int k = 0; k < set->contact_count; ++k) {
        row[k + 1] = row[k] + neighbours(set, start, list, k, column + row[k]);
        for (int e = row[k]; e < row[k + 1]; ++e)
            block(set, k, column[e], W + 9 * (size_t)e);
        freeVelocity(set, k, q + 3 * k);
        mu[k] = set->contact[k].mu;
    }
}

int contactSetProblem(const ContactSet *set, spragProblem *problem)
{
    const size_t nc = (size_t)set->contact_count;
    int *start = malloc((size_t)(set->body_count + 1) * sizeof *start), *list = malloc((2 * nc + 1) * sizeof *list);
    int *row = malloc((nc + 1) * sizeof *row), *column = NULL;
    double *q = malloc((3 * nc + 1) * sizeof *q), *mu = malloc((nc + 1) * sizeof *mu), *W = NULL;
    if (start != NULL && list != NULL) {
        listContacts(set, start, list);
        const size_t bound = blockBound(set, start);
        column = malloc((bound + 1) * sizeof *column);
        W = malloc((9 * bound + 1) * sizeof *W);
    }
    *problem = (spragProblem){
        .contact_count = set->contact_count, .row_start = row, .column = column, .W = W, .q = q, .mu = mu};
    const int filled = row != NULL && column != NULL && q != NULL && mu != NULL && W != NULL;
    if (filled) {
        fillProblem(set, start, list, row, column, W, q, mu);
        problem->block_count = row[nc];
    } else {
        contactSetProblemFree(problem);
    }
    free(start), free(list);
    return filled;
}

void contactSetProblemFree(spragProblem *problem)
{
    free((void *)problem->row_start), free((void *)problem->column), free((void *)problem->W);
    free((void *)problem->q), free((void *)problem->mu);
    *problem = (spragProblem){0};
}

double contactSetResidual(const ContactSet *set, const double *r)
{
    spragProblem problem;
    if (!contactSetProblem(set, &problem))
        return NAN;
    const double residual = spragProblemResidual(&problem, r);
    contactSetProblemFree(&problem);
    return residual;
}
