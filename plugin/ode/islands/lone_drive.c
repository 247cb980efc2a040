#include "ode/islands/lone_drive.h"

#include <string.h>

#include "linalg/vec3.h"
#include "ode/rows/rows.h"
#include "ode/shape/velocity_product.h"

/* 1: neither turns, and they have one velocity; -1: the world. */
static int moveAlike(const spragSnapshot *s, int a, int b)
{
    static const double still[6];
    const double *v = a < 0 ? still : s->body[a].velocity, *w = b < 0 ? still : s->body[b].velocity;
    int alike = 1;
    for (int i = 0; i < 3; ++i)
        alike &= v[i] == w[i] && v[3 + i] == 0 && w[3 + i] == 0;
    return alike;
}

int spragLoneDriver(const spragSnapshot *s, const spragIsland *island)
{
    int driver = SPRAG_DRIVE_NONE;
    for (int k = 0; k < island->joint_count; ++k) {
        const spragJointState *joint = &s->joint[island->joint[k]];
        const int other = joint->body[joint->body[0] == island->body[0]];
        if (other >= 0 && !s->body[other].kinematic)
            return SPRAG_DRIVE_SEVERAL;
        if (k > 0 && other != driver && !moveAlike(s, other, driver))
            return SPRAG_DRIVE_SEVERAL;
        driver = other > driver ? other : driver;
    }
    return driver;
}

void spragLoneGiven(const spragBodyState *driver, const spragBodyState *body, double given[6])
{
    spragPointVelocity(given, driver, body->position);
    memcpy(given + 3, driver->velocity + 3, 3 * sizeof *given);
}

void spragLoneDriveFind(const spragSnapshot *s, const spragIsland *island, const spragJointState *joint,
                        const double *middle, spragLoneDrive *drive)
{
    const dContactGeom *geom = &joint->contact->geom;
    const double position[3] = {geom->pos[0], geom->pos[1], geom->pos[2]}, sign = spragLoneSign(island, joint);
    const spragBodyState *body[2];
    spragCurvature curvature;
    double n[3], point[3], across[3], rest[3];
    for (int side = 0; side < 2; ++side)
        body[side] = joint->body[side] < 0 ? NULL : &s->body[joint->body[side]];
    spragContactNormal(joint, n);
    memcpy(point, position, sizeof point);
    if (middle != NULL)
        spragFacePoint(position, n, middle, point);
    spragCurvatureOf(s, joint, position, n, &curvature);
    const spragCurvedContact contact = {
        body, &curvature, n, point, middle, joint->contact->surface.mu, joint->memory >= 0};
    const double along = spragFaceProduct(&contact, s->step, across, rest), normal = spragDot3(n, across),
                 past = joint->memory < 0 ? 0 : 1, off = spragDot3(n, rest);
    for (int i = 0; i < 3; ++i) {
        drive->product[i] = sign * (across[i] + (along - normal) * n[i]);
        drive->rest[i] = sign * past * (rest[i] - off * n[i]);
    }
}
