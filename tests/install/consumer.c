/* A stranger's program: solves one contact, steps a world, and names the version. */
#include <math.h>
#include <stdio.h>

#include <sprag/sprag_ode.h>

/* A point of 1 kg slides at 45 degrees over a plane, mu = 0.5: it loses mu g h, in the direction it has. */
static int slides(void)
{
    enum { STEPS = 10 };
    const double h = 0.01, g = 10;
    dInitODE2(0);
    const dWorldID world = dWorldCreate();
    const dBodyID body = dBodyCreate(world);
    const dJointGroupID group = dJointGroupCreate(0);
    dContact contact = {.surface = {.mode = dContactApprox1, .mu = (dReal)0.5}, .geom = {.normal = {0, 0, 1}}};
    spragWorldID sprag;
    dWorldSetGravity(world, 0, 0, (dReal)-g);
    dBodySetLinearVel(body, 1, 1, 0);
    if (spragWorldAttach(world, NULL, &sprag) != SPRAG_OK) {
        puts(spragStatusDetail());
        return 0;
    }
    for (int k = 0; k < STEPS; ++k) {
        for (int i = 0; i < 3; ++i)
            contact.geom.pos[i] = dBodyGetPosition(body)[i];
        dJointAttach(spragJointCreateContact(sprag, group, &contact), body, 0);
        if (spragWorldStep(sprag, (dReal)h) != SPRAG_OK)
            return 0;
        dJointGroupEmpty(group);
    }
    const dReal *v = dBodyGetLinearVel(body);
    const double left = sqrt((double)(v[0] * v[0] + v[1] * v[1])), lost = 0.5 * g * h * STEPS;
    /* In single precision ODE's own CFM is 1e-5: a thousandth of the first step's load. */
    const double enough = sizeof(dReal) == sizeof(double) ? 1e-6 : 1e-4;
    const int right = fabs(left - (sqrt(2) - lost)) < enough && spragWorldGetStepInfo(sprag).contacts == 1;
    spragWorldDetach(sprag);
    dJointGroupDestroy(group);
    dWorldDestroy(world);
    dCloseODE();
    return right;
}

int main(void)
{
    const int row_start[] = {0, 1}, column[] = {0};
    const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1, 0, 0}, mu[1] = {0.5};
    const spragProblem problem = {
        .contact_count = 1, .block_count = 1, .row_start = row_start, .column = column, .W = W, .q = q, .mu = mu};
    double r[3] = {0, 0, 0};
    if (spragProblemSolve(&problem, NULL, r, NULL, NULL) != SPRAG_OK || r[0] != 1 || !slides())
        return 1;
    printf("sprag %s\n", spragVersion());
    return 0;
}
