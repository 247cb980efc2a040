#include "ode/look/stray.h"

#include <math.h>
#include <string.h>

#include "linalg/vec3.h"
#include "ode/look/between.h"
#include "ode/look/field.h"
#include "ode/rows/rows.h"
#include "ode/shape/curvature.h"
#include "ode/shape/flat.h"

#define RADIAL 1e-3   /* of the radius, by which a normal misses the centre that leads to it */
#define SAME 1e-6     /* by which two unit vectors of one direction differ */
#define ROUNDING 1e-6 /* of the coordinates: those of triangles are in single precision */
/* The same, of overlap that is left: where a facet lies by less nobody knows, and what it bears is not named there in
 * some steps, and falls by g h^2. */
#define LEFT 2.5e-7
#define REACH 16 /* m */
enum { FEET_MOST = 8 };
enum { AHEAD = 16 }; /* joints: memory is asked for those that come so much later */

/* Joints first .. end - 1, of two geoms, one of which is a ball's. */
typedef struct Run {
    spragSnapshot *s;
    int first, end;
    dGeomID ball;
    double radius, sign; /* m; sign * the normal leads into the ball */
} Run;

/* Colliders number triangles, and nothing else; in contacts made by hand both may be 0, and normals of any length. */
static int hasTriangle(const dContactGeom *geom)
{
    return (geom->side1 >= 0) != (geom->side2 >= 0);
}

static int goesOn(const spragJointState *a, const spragJointState *b)
{
    if (b->body[0] != a->body[0] || b->body[1] != a->body[1] || a->contact == NULL || b->contact == NULL || !b->enabled)
        return 0;
    const dContactGeom *x = &a->contact->geom, *y = &b->contact->geom;
    return x->g1 == y->g1 && x->g2 == y->g2 && a->reversed == b->reversed && spragNormalIsUnit(x) &&
           spragNormalIsUnit(y);
}

/* A geom of the body, which is alive as such, and a sphere? */
static int isBallOf(dBodyID body, dGeomID geom)
{
    if (geom != dBodyGetFirstGeom(body)) /* as a rule it is */
        return spragCurvatureIsRound(spragCurvatureRadius(body, geom)) && dGeomGetClass(geom) == dSphereClass;
    return geom != NULL && dGeomGetClass(geom) == dSphereClass;
}

static int findBall(Run *run)
{
    const spragJointState *joint = &run->s->joint[run->first];
    const dContactGeom *geom = &joint->contact->geom;
    for (int side = 0; side < 2 && joint->body[side] >= 0; ++side) {
        run->ball = spragGeomOf(joint, side);
        if (!isBallOf(run->s->body[joint->body[side]].id, run->ball))
            continue;
        run->radius = dGeomSphereGetRadius(run->ball);
        run->sign = run->ball == geom->g1 ? 1 : -1;
        return 1;
    }
    return 0;
}

static const dContactGeom *geomOf(const Run *run, int j)
{
    return &run->s->joint[j].contact->geom;
}

/* Does the normal lead to the centre? */
static int isFoot(const Run *run, int j)
{
    const dContactGeom *geom = geomOf(run, j);
    const double point[3] = {geom->pos[0], geom->pos[1], geom->pos[2]},
                 n[3] = {geom->normal[0], geom->normal[1], geom->normal[2]};
    double arm[3];
    spragCurvatureArm(run->ball, point, arm);
    const double along = run->sign * spragDot3(arm, n), limit = RADIAL * run->radius;
    return along > 0 && spragDot3(arm, arm) - along * along <= limit * limit;
}

/* Does contact j lie on the plane of the foot, or below it?  Another foot does if the plane is the same. */
static int isBelow(const Run *run, int foot, int j, int is_foot)
{
    const dContactGeom *x = geomOf(run, foot), *y = geomOf(run, j);
    double height = 0, apart = 0, size = run->radius;
    for (int i = 0; i < 3; ++i) {
        height += run->sign * x->normal[i] * (y->pos[i] - x->pos[i]);
        apart += (double)(x->normal[i] - y->normal[i]) * (x->normal[i] - y->normal[i]);
        size += fabs(x->pos[i]);
    }
    return height <= ROUNDING * size && (!is_foot || apart <= SAME * SAME);
}

static int isStray(const Run *run, int j, int is_foot, const int *foot, int count)
{
    int below = 0;
    for (int k = 0; k < count && !run->s->joint[j].listened; ++k)
        below |= isBelow(run, foot[k], j, is_foot);
    return below;
}

static void leaveOut(const Run *run, int j)
{
    run->s->joint[j].stray = 1;
    ++run->s->stray_count;
}

static void mark(const Run *run)
{
    int foot[FEET_MOST], count = 0;
    for (int j = run->first; j < run->end; ++j) {
        if (!isFoot(run, j))
            continue;
        if (isStray(run, j, 1, foot, count))
            leaveOut(run, j);
        else if (count < FEET_MOST)
            foot[count++] = j;
    }
    for (int j = run->first; j < run->end; ++j)
        if (!isFoot(run, j) && isStray(run, j, 0, foot, count))
            leaveOut(run, j);
}

/* m.  The same for all within 16 m of the origin, within 256 m, ...: where it differs bodies lean, and wheels slip. */
static double unknownOf(const dReal *pos)
{
    const double size = fabs(pos[0]) + fabs(pos[1]) + fabs(pos[2]);
    double reach = REACH;
    while (reach < size)
        reach *= REACH;
    return LEFT * reach;
}

/* 1: its bodies move against each other by hardly more than what falls for a step. */
static int rests(const spragSnapshot *s, const spragJointState *joint)
{
    const spragBodyState *a = &s->body[joint->body[0]], *b = joint->body[1] < 0 ? NULL : &s->body[joint->body[1]];
    double v[3];
    for (int i = 0; i < 3; ++i)
        v[i] = a->velocity[i] - (b == NULL ? 0 : b->velocity[i]);
    return spragNorm3(v) <= 1.5 * s->step * spragNorm3(s->gravity);
}

/* Leaves some of the overlap with a mesh, as much as nobody knows of it. */
static void leaveRounding(struct spragWorld *world, spragJointState *joint)
{
    dContact *own = spragContactOwn(world, joint);
    if (own != NULL)
        own->geom.depth = (dReal)fmax(own->geom.depth - unknownOf(own->geom.pos), 0);
}

static void mendDepths(struct spragWorld *world)
{
    spragSnapshot *s = &world->snapshot;
    const double *load = NULL;
    for (int j = 0; j < s->joint_count; ++j) {
        spragJointState *joint = &s->joint[j];
        if (joint->contact == NULL || !joint->enabled || joint->stray || !(joint->contact->geom.depth > 0))
            continue;
        if (!hasTriangle(&joint->contact->geom))
            spragFieldMend(world, joint, &load);
        else if (rests(s, joint))
            leaveRounding(world, joint);
    }
}

static void findStrays(struct spragWorld *world)
{
    spragSnapshot *s = &world->snapshot;
    for (int j = 1; j < s->joint_count; ++j) {
        const spragJointState *joint = &s->joint[j];
        if (j + AHEAD < s->joint_count && joint[AHEAD].contact != NULL)
            __builtin_prefetch(&joint[AHEAD].contact->geom.side1);
        if (memcmp(joint->body, joint[-1].body, sizeof joint->body) != 0 || joint->contact == NULL ||
            !hasTriangle(&joint->contact->geom) || !joint[-1].enabled || !goesOn(&joint[-1], joint))
            continue;
        Run run = {.s = s, .first = j - 1, .end = j + 1};
        while (run.end < s->joint_count && goesOn(&s->joint[run.end - 1], &s->joint[run.end]))
            ++run.end;
        if (findBall(&run)) {
            mark(&run);
        } else {
            spragFlatTurn(world, run.first, run.end);
            spragBetweenLeaveOut(s, run.first, run.end);
        }
        j = run.end - 1;
    }
}

void spragStraysFind(struct spragWorld *world)
{
    if (world->config.solver == SPRAG_SOLVER_STOCK)
        return;
    findStrays(world);
    mendDepths(world);
}

void spragStraysPlace(spragSnapshot *s)
{
    for (int j = 0, left = s->stray_count; left > 0; ++j) {
        spragJointState *joint = &s->joint[j];
        if (!joint->stray)
            continue;
        const int body = joint->body[spragIsDynamic(s, joint->body[0]) ? 0 : 1];
        joint->island = body >= 0 ? s->body[body].island : -1;
        --left;
    }
}
