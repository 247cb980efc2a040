/* The bipod: a body on two feet is pulled along a rough plane (Ivanov 2009, 5.8 to 5.13).
 *
 * Feet at x = -a (1) and +a (2), a height H below the centre; the pull F acts through the centre.  Scaled coefficients
 * mu^ = mu H / 2a: while k3 = mu1^ + mu2^ < 1 there is one motion.  Feet that the plane holds from both sides
 * (two-sided 1) have, sliding right beyond k3 = 1, two motions if mu2^ < 1/2 and none if mu2^ > 1/2: the body jams.
 * With ordinary feet the rear one leaves the ground instead. */
#include <math.h>

#include "scenes/scene.h"

enum { MASS, HALF_WIDTH, HEIGHT, MU1, MU2, PULL, SLIP, GRAVITY, TWO_SIDED };

static const SceneKey keys[] = {
    {"mass", "kg", 1, 1e-3, 1e3, "of the body"},
    {"half-width", "m", 0.5, 1e-2, 10, "a, half the distance of the feet"},
    {"height", "m", 1, 1e-2, 10, "H, of the centre above the plane"},
    {"mu-1", "", 0.3, 0, 1e3, "friction of the foot at -a"},
    {"mu-2", "", 0.3, 0, 1e3, "friction of the foot at +a"},
    {"pull", "N", 2, -1e4, 1e4, "F, force along x through the centre"},
    {"slip", "m/s", 1, -1e3, 1e3, "velocity along x"},
    {"gravity", "m/s^2", 9.81, 0, 1e3, "downwards"},
    {"two-sided", SCENE_WHOLE, 1, 0, 1, "1: the plane holds the feet from both sides; 0: they can leave it"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static void addLeg(SceneWorld *world, double a, double H)
{
    const double length = hypot(a, H), angle = atan2(a, H); /* from the centre, outwards and down */
    const double c = cos(angle), s = sin(angle), radius = 0.03 * length;
    SceneAddShape(world, &(SceneShape){.kind = SCENE_CAPSULE,
                                       .body = world->body[0],
                                       .position = {0.5 * a, 0, -0.5 * H},
                                       .rotation = {c, 0, -s, 0, 1, 0, s, 0, c},
                                       .size = {radius, 0.5 * length - radius, 0},
                                       .color = {0.85f, 0.45f, 0.15f}});
}

static const char *create(SceneWorld *world, const double *value)
{
    const double m = value[MASS], a = value[HALF_WIDTH], H = value[HEIGHT];
    const double J = m * (a * a + H * H) / 3; /* about the centre, of a body of that size; the same about every axis */
    const dBodyID body = SceneAddBody(world);
    dMass mass;
    dMassSetParameters(&mass, m, 0, 0, 0, J, J, J, 0, 0, 0);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, 0, 0, H);
    dBodySetLinearVel(body, value[SLIP], 0, 0);
    dWorldSetGravity(world->world, 0, 0, -value[GRAVITY]);
    if (world->sprag != NULL)
        dWorldSetCFM(world->world, 0); /* a jam is 1e5 N and more in a step: feet must not give by 1e-10 m/s per N */
    for (int k = 0; k < 2 && value[TWO_SIDED] >= 0.5; ++k) {
        spragGuideDef def = spragGuideDefDefault();
        def.body = body;
        def.point[0] = k == 0 ? -a : a;
        def.normal[2] = 1;
        def.mu[0] = def.mu[1] = value[k == 0 ? MU1 : MU2];
        if (SceneAddGuide(world, &def) == 0)
            return world->fault;
    }
    addLeg(world, -a, H);
    addLeg(world, a, H);
    const double radius = 0.12 * hypot(a, H);
    SceneAddShape(
        world, &(SceneShape){
                   .kind = SCENE_SPHERE, .body = body, .size = {radius, radius, radius}, .color = {0.2f, 0.35f, 0.7f}});
    SceneAddGround(world, 4 * (a + H));
    return NULL;
}

static void contacts(SceneWorld *world)
{
    const double *value = world->value, a = value[HALF_WIDTH], H = value[HEIGHT];
    dBodyAddForce(world->body[0], value[PULL], 0, 0);
    for (int k = 0; k < 2 && value[TWO_SIDED] < 0.5; ++k) {
        dVector3 foot;
        dBodyGetRelPointPos(world->body[0], k == 0 ? -a : a, 0, -H, foot);
        world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[k == 0 ? MU1 : MU2]};
        SceneAddTip(world, k, world->body[0], foot, NULL, sqrt(value[GRAVITY] * H));
    }
}

const Scene scene_bipod = {
    .name = "bipod",
    .line = "a body on two feet pulled along a rough plane: one, two or no motions",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 1,
    .camera = {1, -5, 1.6, 0.6, 0, 0.6},
    .followed = 1,
    .create = create,
    .contacts = contacts,
};
