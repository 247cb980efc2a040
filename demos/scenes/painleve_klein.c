/* Painleve and Klein: two beads on parallel rough rails, a rod between them (docs/theory.md 7).
 *
 * Bead 1 slides on the upper rail, z = d = l sin angle, bead 2 on the lower, z = 0,
 * x1 - x2 = sqrt((l + extension)^2 - d^2).  Rails hold from both sides: T = -mu |N| sign v.  Constant forces X, Y act
 * on the beads, no gravity.  The force R of the rod (tension) is found with the reactions:
 *     rigid        X* = 2 R + sigma (mu1* |R - Y1*| - mu2* |R + Y2*|),  a broken line: none to three solutions
 *     compliant    R = K delta + C delta',  delta the extension; a distance joint with K and C as its ERP and CFM,
 *                  implicit and stable at any step.
 * The defaults are the worked example; stiffness 100 and damping 10 (k = nu = 1, eps = 0.1) make it compliant: from
 * extension 0.03 it settles to a uniform acceleration, from 0.12 bead 2 stops at 0.802 s, bead 1 turns back at 0.804 s
 * and stops for good at 1.403 s. */
#include <math.h>

#include "scenes/scene.h"

enum { MU1, MU2, ANGLE, LENGTH, X1, Y1, X2, Y2, SPEED, STIFFNESS, DAMPING, EXTENSION };

static const SceneKey keys[] = {
    {"mu-1", "", 0.525, 0, 1e3, "friction of bead 1 (upper rail)"},
    {"mu-2", "", 2.85, 0, 1e3, "friction of bead 2 (lower rail)"},
    {"angle", "deg", 53.130102354155979, 1, 89, "from the rails to the unloaded rod"},
    {"length", "m", 1, 0.1, 10, "of the unloaded rod"},
    {"x-1", "N", 3.6, -1e3, 1e3, "force on bead 1 along the rail"},
    {"y-1", "N", 0.8, -1e3, 1e3, "force on bead 1 across, upwards"},
    {"x-2", "N", 0, -1e3, 1e3, "force on bead 2 along the rail"},
    {"y-2", "N", -2.4, -1e3, 1e3, "force on bead 2 across, upwards"},
    {"speed", "m/s", 10, -1e3, 1e3, "of both beads along the rails"},
    {"stiffness", "N/m", 0, 0, 1e9, "K of the rod; 0: rigid"},
    {"damping", "N s/m", 0, 0, 1e9, "C of the rod, with a stiffness"},
    {"extension", "m", 0, -0.05, 1, "of the compliant rod at the start"},
    {NULL, NULL, 0, 0, 0, NULL},
};

enum { BEADS = 2, ROD = 4 }; /* bodies; the rod's shape, after two rails and two beads */

static dJointID rodJoint(const SceneWorld *world)
{
    return dBodyGetJoint(world->body[0], dBodyGetNumJoints(world->body[0]) - 1); /* the oldest: made first */
}

/* The drawn rod follows the beads: a box of the length between them. */
static void placeRod(SceneWorld *world)
{
    const dReal *a = dBodyGetPosition(world->body[0]), *b = dBodyGetPosition(world->body[1]);
    const double x = a[0] - b[0], z = a[2] - b[2], length = hypot(x, z), c = x / length, s = z / length;
    SceneShape *rod = &world->shape[ROD];
    const double rotation[9] = {c, 0, -s, 0, 1, 0, s, 0, c};
    for (int i = 0; i < 3; ++i)
        rod->position[i] = 0.5 * (a[i] + b[i]);
    for (int i = 0; i < 9; ++i)
        rod->rotation[i] = rotation[i];
    rod->size[0] = 0.5 * length;
}

static void addRail(SceneWorld *world, double z)
{
    for (int side = -1; side <= 1; side += 2)
        SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX,
                                           .position = {22, 0, z + 0.075 * side},
                                           .size = {26, 0.06, 0.02},
                                           .color = {0.55f, 0.57f, 0.60f}});
}

static const char *create(SceneWorld *world, const double *value)
{
    static const double radius = 0.05; /* m, drawn */
    const double d = value[LENGTH] * sin(value[ANGLE] * M_PI / 180);
    const double length = value[LENGTH] + (value[STIFFNESS] > 0 ? value[EXTENSION] : 0);
    if (!(length > d))
        return "extension: the rod is shorter than the distance of the rails";
    dWorldSetGravity(world->world, 0, 0, 0);
    if (world->sprag != NULL)
        dWorldSetCFM(world->world, 0); /* rails that give by 1e-10 m/s per N would show in a jam, 1e6 N in a step */
    const double x[BEADS] = {0, -sqrt(length * length - d * d)};
    for (int k = 0; k < BEADS; ++k) {
        const dBodyID bead = SceneAddBody(world);
        dMass mass;
        dMassSetSphereTotal(&mass, 1, radius);
        dBodySetMass(bead, &mass);
        dBodySetPosition(bead, x[k], 0, k == 0 ? d : 0);
        dBodySetLinearVel(bead, value[SPEED], 0, 0);
    }
    const dJointID rod = dJointCreateDBall(world->world, 0);
    dJointAttach(rod, world->body[0], world->body[1]);
    dJointSetDBallAnchor1(rod, x[0], 0, d);
    dJointSetDBallAnchor2(rod, x[1], 0, 0);
    dJointSetDBallDistance(rod, value[LENGTH]);
    for (int k = 0; k < BEADS; ++k) {
        spragGuideDef def = spragGuideDefDefault();
        def.body = world->body[k];
        def.point[0] = x[k], def.point[2] = k == 0 ? d : 0;
        def.normal[2] = 1;
        def.mu[0] = def.mu[1] = value[k == 0 ? MU1 : MU2];
        if (SceneAddGuide(world, &def) == 0)
            return world->fault;
    }
    addRail(world, d);
    for (int k = 0; k < BEADS; ++k)
        SceneAddShape(world, &(SceneShape){.kind = SCENE_SPHERE,
                                           .body = world->body[k],
                                           .size = {radius, radius, radius},
                                           .color = {0.85f, 0.45f, 0.15f}});
    SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX, .size = {0.5, 0.015, 0.015}, .color = {0.2f, 0.35f, 0.7f}});
    addRail(world, 0);
    placeRod(world);
    return NULL;
}

/* Forces of this step, and the implicit spring of it: ERP h K / (h K + C), CFM 1 / (h K + C). */
static void contacts(SceneWorld *world)
{
    const double *value = world->value, soft = world->step_size * value[STIFFNESS] + value[DAMPING];
    dBodyAddForce(world->body[0], value[X1], 0, value[Y1]);
    dBodyAddForce(world->body[1], value[X2], 0, value[Y2]);
    if (value[STIFFNESS] > 0) {
        dJointSetDBallParam(rodJoint(world), dParamERP, world->step_size * value[STIFFNESS] / soft);
        dJointSetDBallParam(rodJoint(world), dParamCFM, 1 / soft);
    }
}

const Scene scene_painleve_klein = {
    .name = "painleve-klein",
    .line = "two beads on rough rails and a rod, rigid or compliant: none to three motions",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 2,
    .camera = {3.5, -6, 2.5, 3, 0, 0.4},
    .followed = 2,
    .create = create,
    .contacts = contacts,
    .after = placeRod,
};
