/* A stranger's program in C++: ODE's classes step under Sprag where drop_in.h comes before ode.h. */
#include <sprag/drop_in.h>

#include <ode/ode.h>

#include <cmath>

/* A point of 1 kg slides at 45 degrees over a plane, mu = 0.5: it loses mu g h, in the direction it has. */
static bool slides(bool quick)
{
    const int steps = 10;
    const double h = 0.01, g = 10;
    dWorld world;
    dJointGroup group;
    dBody body(world);
    world.setGravity(0, 0, dReal(-g));
    body.setLinearVel(1, 1, 0);
    for (int k = 0; k < steps; ++k) {
        dContact contact = dContact();
        contact.surface.mode = dContactApprox1;
        contact.surface.mu = dReal(0.5);
        contact.geom.normal[2] = 1;
        for (int i = 0; i < 3; ++i)
            contact.geom.pos[i] = body.getPosition()[i];
        dContactJoint(world, group, &contact).attach(body, 0);
        if (quick)
            world.quickStep(dReal(h));
        else
            world.step(dReal(h));
        group.empty();
    }
    const dReal *v = body.getLinearVel();
    /* In single precision ODE's own CFM is 1e-5: a thousandth of the first step's load. */
    const double enough = sizeof(dReal) == sizeof(double) ? 1e-6 : 1e-4;
    return std::fabs(std::sqrt(double(v[0] * v[0] + v[1] * v[1])) - (std::sqrt(2.0) - 0.5 * g * h * steps)) < enough &&
           spragWorldGetStepInfo(spragWorldFind(world)).contacts == 1;
}

int main()
{
    dInitODE2(0);
    const bool right = slides(false) && slides(true);
    dCloseODE();
    return right ? 0 : 1;
}
