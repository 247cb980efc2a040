/* A house of cards: pairs of leaning cards, a lying card on every two tips.  It stands by friction alone:
 * a card at angle a from the vertical stands while tan(a) / 2 < mu at its foot (lone pair). */
#include <math.h>

#include "scenes/scene.h"

enum { LEVELS, MU, LEAN };

static const SceneKey keys[] = {
    {"levels", SCENE_WHOLE, 2, 1, 6, "storeys"},
    {"mu", "", 0.6, 0, 1e3, "coefficient of friction"},
    {"lean", "deg", 18, 2, 60, "of a card, from the vertical"},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const double card[3] = {0.3, 0.5, 0.01}; /* half width, half length, half thickness, m */

static dBodyID addCard(SceneWorld *world, double x, double z, double angle)
{
    const dBodyID body = SceneAddBox(world, card, (double[3]){x, 0, z}, 0.1, (float[3]){0.9f, 0.85f, 0.75f});
    dMatrix3 rotation; /* card's x axis: up along the card */
    dRFromAxisAndAngle(rotation, 0, 1, 0, angle);
    dBodySetRotation(body, rotation);
    return body;
}

static const char *create(SceneWorld *world, const double *value)
{
    const int levels = (int)value[LEVELS];
    const double lean = value[LEAN] * M_PI / 180, t = card[2], half = card[0];
    /* a leaning card rests on its lower edge, and meets its twin in the plane x = 0 of the pair */
    const double height = 2 * (half * cos(lean) + t * sin(lean));
    const double centre = half * sin(lean) + t * cos(lean) - 0.5 * SCENE_OVERLAP;
    const double pitch = 2 * half * 1.02;
    SceneSetStacked(world);
    world->surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = value[MU]};
    for (int level = 0; level < levels; ++level) {
        const double floor = level * (height + 2 * t - 2 * SCENE_OVERLAP) - SCENE_OVERLAP;
        const int pairs = levels - level;
        for (int i = 0; i < pairs; ++i) {
            const double x = (i - 0.5 * (pairs - 1)) * pitch;
            addCard(world, x - centre, floor + 0.5 * height, lean - 0.5 * M_PI);
            addCard(world, x + centre, floor + 0.5 * height, -lean - 0.5 * M_PI);
        }
        for (int i = 0; i + 1 < pairs; ++i)
            addCard(world, (i + 0.5 - 0.5 * (pairs - 1)) * pitch, floor + height + t - SCENE_OVERLAP, 0);
    }
    SceneAddGround(world, 3);
    return NULL;
}

const Scene scene_card_house = {
    .name = "card-house",
    .line = "a house of cards: held up by friction alone",
    .keys = keys,
    .step_size = 1e-3,
    .duration = 2,
    .camera = {1.2, -3.2, 1.3, 0, 0, 0.5},
    .create = create,
};
