#include "scenes/reference.h"

#include <math.h>

void ReferencePut(const char *scene, const char *key, double number, double *value)
{
    const SceneKey *keys = SceneFind(scene)->keys;
    for (int i = 0; keys[i].name != NULL; ++i)
        if (strcmp(keys[i].name, key) == 0) {
            value[i] = number;
            return;
        }
    oracleNeed(0, "no key ", key);
}

static double number(const SceneWorld *world, const char *key)
{
    for (int i = 0; world->scene->keys[i].name != NULL; ++i)
        if (strcmp(world->scene->keys[i].name, key) == 0)
            return world->value[i];
    oracleNeed(0, "no key ", key);
    return NAN;
}

static void defaults(const char *scene, double *value)
{
    for (int i = 0; SceneFind(scene)->keys[i].name != NULL; ++i)
        value[i] = SceneFind(scene)->keys[i].value;
}

void ReferenceRodValues(const Json *inputs, double *value)
{
    defaults("rod", value);
    ReferencePut("rod", "length", 2 * jsonNumber(inputs, "l"), value);
    ReferencePut("rod", "mu", jsonNumber(inputs, "mu"), value);
    ReferencePut("rod", "gravity", jsonNumber(inputs, "g"), value);
    ReferencePut("rod", "angle", jsonNumber(inputs, "theta0") * 180 / M_PI, value);
    ReferencePut("rod", "omega", jsonNumber(inputs, "om0"), value);
    ReferencePut("rod", "slip", jsonNumber(inputs, "v_tip0"), value);
}

double ReferenceRodState(const SceneWorld *world, double state[REFERENCE_ROD_STATE])
{
    const dBodyID body = world->body[0];
    const double l = 0.5 * number(world, "length");
    const dReal *R = dBodyGetRotation(body), *w = dBodyGetAngularVel(body);
    dVector3 tip, velocity;
    dBodyGetRelPointPos(body, 0, 0, -l, tip);
    dBodyGetRelPointVel(body, 0, 0, -l, velocity);
    state[0] = tip[0];
    state[1] = tip[2];
    state[2] = atan2(-R[10], -R[2]) + M_PI; /* the reference counts on past pi */
    state[3] = velocity[0];
    state[4] = velocity[2];
    state[5] = -w[1];
    return fabs(tip[1]) + fabs(velocity[1]) + fabs(w[0]) + fabs(w[2]);
}

void ReferenceTopBody(const Json *inputs, double *value)
{
    memset(value, 0, SCENE_KEY_MAX * sizeof *value);
    ReferencePut("top", "mu", jsonNumber(inputs, "mu"), value);
    ReferencePut("top", "mass", jsonNumber(inputs, "m"), value);
    ReferencePut("top", "height", jsonNumber(inputs, "l"), value);
    ReferencePut("top", "inertia-axial", jsonNumber(inputs, "J3"), value);
    ReferencePut("top", "inertia-transverse", jsonNumber(inputs, "J1"), value);
    ReferencePut("top", "gravity", jsonNumber(inputs, "g"), value);
}

void ReferenceTopValues(const Json *inputs, double *value)
{
    double slip[2];
    ReferenceTopBody(inputs, value);
    ReferencePut("top", "spin", jsonNumber(inputs, "psidot0"), value);
    ReferencePut("top", "tilt", jsonNumber(inputs, "theta0") * 180 / M_PI, value);
    ReferencePut("top", "heading", jsonNumber(inputs, "phi0"), value);
    ReferencePut("top", "precession", jsonNumber(inputs, "phidot0"), value);
    ReferencePut("top", "nutation", jsonNumber(inputs, "thetadot0"), value);
    oracleNeed(jsonNumbers(jsonGet(inputs, "v_tip0"), 0, 2, slip) == 2, "two numbers are missing in ", "v_tip0");
    ReferencePut("top", "slip-x", slip[0], value);
    ReferencePut("top", "slip-y", slip[1], value);
}

void ReferenceTopState(const SceneWorld *world, double state[REFERENCE_TOP_STATE])
{
    const dBodyID body = world->body[0];
    const dReal *R = dBodyGetRotation(body), *w = dBodyGetAngularVel(body);
    const double height = number(world, "height");
    dVector3 tip, velocity;
    dBodyGetRelPointPos(body, 0, 0, -height, tip);
    dBodyGetRelPointVel(body, 0, 0, -height, velocity);
    for (int i = 0; i < 3; ++i) {
        state[i] = tip[i];
        state[3 + i] = R[4 * i + 2];
        state[6 + i] = velocity[i];
        state[9 + i] = w[i];
    }
}
