/* A round arch of dry stones (voussoirs).  It stands while the line of thrust stays inside the stones: thickness over
 * mean radius above 0.1136 for a half circle (Milankovitch 1907; Ochsendorf 2006 gives 0.1075 for radial joints), and
 * friction holds the joints.  Wedges meet face to face: every joint has four contacts, the corners of one stone's face
 * on the plane of its neighbour's. */
#include <math.h>

#include "scenes/scene.h"

enum { STONES, MU, RADIUS, THICKNESS, DEPTH };

static const SceneKey keys[] = {
    {"stones", SCENE_WHOLE, 11, 3, 100, "voussoirs"},
    {"mu", "", 0.7, 0, 1e3, "coefficient of friction"},
    {"radius", "m", 1, 0.1, 100, "mean radius"},
    {"thickness", "", 0.2, 0.01, 0.9, "radial thickness over mean radius"},
    {"depth", "m", 0.4, 0.01, 10, "across the arch"},
    {NULL, NULL, 0, 0, 0, NULL},
};

/* Body frame of a stone: x outwards along its middle radius, y across, z against the sense of the arch. */
static const char *create(SceneWorld *world, const double *value)
{
    const int stones = (int)value[STONES];
    const double r = value[RADIUS], half = 0.5 * value[THICKNESS] * r, deep = 0.5 * value[DEPTH];
    const double wedge = M_PI / stones;
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    /* centre of mass of a ring sector, from the centre of the ring */
    const double outer = r + half, inner = r - half;
    const double centre = 4 * sin(0.5 * wedge) * (outer * outer * outer - inner * inner * inner) /
                          (3 * wedge * (outer * outer - inner * inner));
    world->state[0] = centre;
    const double wide = r * wedge; /* inertia: of the box of the same size */
    for (int i = 0; i < stones; ++i) {
        const double angle = (i + 0.5) * wedge;
        const dBodyID body = SceneAddBody(world);
        dMass mass;
        dMassSetBoxTotal(&mass, 2000 * 4 * half * deep * wide, 2 * half, 2 * deep, wide);
        dBodySetMass(body, &mass);
        dMatrix3 rotation;
        dRFromAxisAndAngle(rotation, 0, 1, 0, -angle);
        dBodySetRotation(body, rotation);
        dBodySetPosition(body, centre * cos(angle), 0, centre * sin(angle));
        const float shade = 0.55f + 0.15f * (float)(i % 2);
        SceneAddShape(world, &(SceneShape){.kind = SCENE_BOX,
                                           .body = body,
                                           .size = {half, deep, 0.5 * inner * wedge},
                                           .color = {shade, 0.5f, 0.42f}});
    }
    SceneAddGround(world, 3 * r);
    return NULL;
}

/* Corners of the face at -wedge/2 (side -1) or +wedge/2 (side +1) of a stone, in its own frame. */
static void corner(const SceneWorld *world, int side, int which, double point[3])
{
    const double *value = world->value;
    const double wedge = M_PI / (int)value[STONES], half = 0.5 * value[THICKNESS] * value[RADIUS];
    const double radius = value[RADIUS] + (which & 1 ? half : -half);
    point[0] = radius * cos(0.5 * wedge) - world->state[0];
    point[1] = (which & 2 ? 0.5 : -0.5) * value[DEPTH];
    point[2] = side * radius * sin(0.5 * wedge);
}

/* Corners of `stone`'s face on the plane through `base` with this normal (into the stone). */
static void joinFace(SceneWorld *world, int stone, int side, dBodyID other, const double base[3],
                     const double normal[3])
{
    const double reach = 1e-3 * world->value[RADIUS]; /* kept within a small gap */
    for (int k = 0; k < 4; ++k) {
        double local[3];
        corner(world, side, k, local);
        dVector3 point;
        dBodyGetRelPointPos(world->body[stone], local[0], local[1], local[2], point);
        double gap = 0;
        for (int i = 0; i < 3; ++i)
            gap += (point[i] - base[i]) * normal[i];
        if (gap > reach)
            continue;
        dContact contact = {.surface = world->surface};
        for (int i = 0; i < 3; ++i) {
            contact.geom.pos[i] = point[i];
            contact.geom.normal[i] = normal[i];
        }
        contact.geom.depth = -gap;
        SceneAddContact(world, &contact, world->body[stone], other);
    }
}

static void contacts(SceneWorld *world)
{
    const int stones = (int)world->value[STONES];
    const double wedge = M_PI / stones;
    const double ground[3] = {0, 0, 0}, up[3] = {0, 0, 1};
    joinFace(world, 0, -1, NULL, ground, up);
    joinFace(world, stones - 1, 1, NULL, ground, up);
    for (int i = 0; i + 1 < stones; ++i) { /* corners of stone i on the face of stone i + 1 */
        double local[3];
        corner(world, -1, 0, local);
        dVector3 base, normal;
        dBodyGetRelPointPos(world->body[i + 1], local[0], local[1], local[2], base);
        /* the face at -wedge/2: its outward normal in the stone's frame is (-sin, 0, -cos) of wedge/2 */
        dBodyVectorToWorld(world->body[i + 1], -sin(0.5 * wedge), 0, -cos(0.5 * wedge), normal);
        joinFace(world, i, 1, world->body[i + 1], base, normal);
    }
}

const Scene scene_arch = {
    .name = "arch",
    .line = "a round arch of dry stones; below a thickness of 0.11 it falls",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 2,
    .camera = {1.2, -4, 1.6, 0, 0, 0.5},
    .create = create,
    .contacts = contacts,
};
