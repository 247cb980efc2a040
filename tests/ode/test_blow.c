/* A jam changes at once how a rod turns: the step after it finds the tip at rest, and has nothing to tell. */
#include "support/scene_world.h"
#include "support/uniform.h"

enum { MASS, LENGTH, MU, ANGLE, OMEGA, SLIP, GRAVITY }; /* keys of rod and rod-guide */

static const double step = 1e-4;

/* Contact with (a, h) from the tip to the centre: forces T, N give  (At, Atn; Atn, An) (T, N). */
typedef struct Tip {
    double At, An, Atn, a, h, J;
} Tip;

static Tip tipOf(const double *value)
{
    const double l = 0.5 * value[LENGTH], angle = value[ANGLE] * M_PI / 180, m = value[MASS], J = m * l * l / 3;
    const double a = l * cos(angle), h = l * sin(angle);
    return (Tip){1 / m + h * h / J, 1 / m + a * a / J, -a * h / J, a, h, J};
}

/* Does the rod jam at once, and hold well within its cone with what it then turns at? */
static int jamsAndHolds(const double *value, int two_sided)
{
    const Tip tip = tipOf(value);
    const double g = value[GRAVITY], omega = value[OMEGA], v = value[SLIP], s = v > 0 ? 1 : -1;
    const double det = tip.At * tip.An - tip.Atn * tip.Atn, b = -g + tip.h * omega * omega;
    const double p = tip.An - s * value[MU] * tip.Atn, other = tip.An + s * value[MU] * tip.Atn;
    const double margin = 0.2 / value[MASS];
    if (two_sided ? fabs(p) < margin || fabs(other) < margin || -b / p > 0 || b / other > 0
                  : p > -margin || b > -0.3 * g)
        return 0; /* slides on: N = -b / p, or with N < 0 and friction the other way b + other N = 0 */
    const double T = -v * tip.An / det, N = v * tip.Atn / det;
    const double after = omega + (-tip.a * N + tip.h * T) / tip.J, w = after * after;
    if (fabs(w - omega * omega) * value[LENGTH] < 0.5 * fabs(g))
        return 0;
    int holds = 1;
    double last = 0;
    for (int k = 0; k < 2; ++k) { /* ERP, which takes back what the jam's step misses, asks for up to w^2 h / 2 more */
        const double bt = tip.a * w, bn = -g + (1 - 0.5 * k) * tip.h * w;
        const double hold_t = (-bt * tip.An + bn * tip.Atn) / det, hold_n = (-bn * tip.At + bt * tip.Atn) / det;
        holds &= fabs(hold_t) < 0.8 * value[MU] * fabs(hold_n) && last * hold_n >= 0;
        holds &= two_sided || hold_n > 0.2 * value[MASS] * g;
        last = hold_n;
    }
    return holds;
}

static int runs(const char *name, const double *value)
{
    SceneWorld *world = openScene(name, value, SCENE_SPRAG);
    advance(world, step, 1);
    assert_non_null(findEvent(world, SPRAG_EVENT_JAM));
    for (int i = 0; i < 10; ++i) {
        const spragContact *contacts = NULL;
        const spragEvent *events = NULL;
        advance(world, step, 1);
        const int count = spragWorldGetEvents(world->sprag, &events);
        for (int k = 0; k < count; ++k) /* the jam may push where rest pulls */
            if (i > 0 || events[k].type != SPRAG_EVENT_VARIANT)
                fail_msg("%s: %s in step %d", name, spragEventName(events[k].type), i + 1);
        assert_int_equal(spragWorldGetContacts(world->sprag, &contacts), 1);
        assert_int_equal(contacts[0].mode, SPRAG_MODE_STICK);
    }
    SceneDestroy(world);
    return 1;
}

static void jams(const char *name, int two_sided, int least)
{
    double value[SCENE_KEY_MAX];
    unsigned long long seed = 5;
    int tried = 0;
    for (int round = 0; round < 2000; ++round) {
        defaults(SceneFind(name), value);
        value[MASS] = pow(10, uniform(&seed));
        value[LENGTH] = pow(10, 0.5 * uniform(&seed));
        value[MU] = 2.7 + 1.3 * uniform(&seed);
        value[ANGLE] = 90 + 75 * uniform(&seed);
        value[OMEGA] = 4 * uniform(&seed);
        value[SLIP] = 2 * uniform(&seed);
        if (two_sided && round % 2)
            value[GRAVITY] = -value[GRAVITY];
        if (jamsAndHolds(value, two_sided))
            tried += runs(name, value);
    }
    print_message("%s: %d jams\n", name, tried);
    assert_true(tried >= least);
}

static void aJamIsToldOnce(void **state)
{
    (void)state;
    jams("rod", 0, 50);
}

static void aJamOfAGuideIsToldOnce(void **state)
{
    (void)state;
    jams("rod-guide", 1, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aJamIsToldOnce),
        cmocka_unit_test(aJamOfAGuideIsToldOnce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
