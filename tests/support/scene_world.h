/* Scenes as tests run them: opened or failed, stepped or failed. */
#ifndef TESTS_SUPPORT_SCENE_WORLD_H
#define TESTS_SUPPORT_SCENE_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "scenes/scene.h"
#include "support/check.h"

static inline void defaults(const Scene *scene, double *value)
{
    for (int i = 0; scene->keys[i].name != NULL; ++i)
        value[i] = scene->keys[i].value;
}

static inline int keyOf(const Scene *scene, const char *name)
{
    for (int k = 0; scene->keys[k].name != NULL; ++k)
        if (strcmp(scene->keys[k].name, name) == 0)
            return k;
    fail_msg("scene %s has no key %s", scene->name, name);
    return -1;
}

static inline SceneWorld *openScene(const char *name, const double *value, SceneSolver solver)
{
    char error[SCENE_ERROR_SIZE];
    const Scene *scene = SceneFind(name);
    assert_non_null(scene);
    SceneWorld *world = SceneCreate(scene, value, solver, NULL, error);
    if (world == NULL)
        fail_msg("%s", error);
    return world;
}

/* With some of its keys set, "count=120 boxes=1", as by printf.  config: NULL for the default. */
__attribute__((format(printf, 4, 5))) static inline SceneWorld *openUnder(SceneSolver solver, const spragConfig *config,
                                                                          const char *name, const char *set, ...)
{
    char text[512], error[SCENE_ERROR_SIZE];
    double value[SCENE_KEY_MAX];
    const Scene *scene = SceneFind(name);
    assert_non_null(scene);
    defaults(scene, value);
    va_list given;
    va_start(given, set);
    vsnprintf(text, sizeof text, set, given);
    va_end(given);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        *equals = '\0';
        value[keyOf(scene, word)] = atof(equals + 1);
    }
    SceneWorld *world = SceneCreate(scene, value, solver, config, error);
    if (world == NULL)
        fail_msg("%s", error);
    return world;
}
#define openWith(...) openUnder(SCENE_SPRAG, NULL, __VA_ARGS__) /* name, set, ... */

static inline void advance(SceneWorld *world, double h, int steps)
{
    for (int i = 0; i < steps; ++i) {
        if (SceneStep(world, h) != SPRAG_OK)
            fail_msg("%s at step %d: %s", world->scene->name, i, spragStatusDetail());
        if (world->sprag != NULL)
            assert_true(spragWorldGetStepInfo(world->sprag).residual <= 1e-8);
    }
}

/* The first event of a type in the last step, or NULL. */
static inline const spragEvent *findEvent(const SceneWorld *world, spragEventType type)
{
    const spragEvent *events = NULL;
    const int count = spragWorldGetEvents(world->sprag, &events);
    for (int i = 0; i < count; ++i)
        if (events[i].type == type)
            return &events[i];
    return NULL;
}

/* Positions and velocities, of two worlds of the same scene. */
static inline void copyState(const SceneWorld *from, SceneWorld *to)
{
    for (int i = 0; i < from->body_count; ++i) {
        const dBodyID a = from->body[i], b = to->body[i];
        const dReal *x = dBodyGetPosition(a), *v = dBodyGetLinearVel(a), *w = dBodyGetAngularVel(a);
        dBodySetPosition(b, x[0], x[1], x[2]);
        dBodySetQuaternion(b, dBodyGetQuaternion(a));
        dBodySetLinearVel(b, v[0], v[1], v[2]);
        dBodySetAngularVel(b, w[0], w[1], w[2]);
    }
}

/* Greatest distance any body has moved from where it was (3 numbers each). */
static inline double drift(const SceneWorld *world, const double *from)
{
    double worst = 0;
    for (int i = 0; i < world->body_count; ++i) {
        const dReal *x = dBodyGetPosition(world->body[i]);
        worst = fmax(worst, hypot(hypot(x[0] - from[3 * i], x[1] - from[3 * i + 1]), x[2] - from[3 * i + 2]));
    }
    return worst;
}

static inline double *places(const SceneWorld *world)
{
    double *x = malloc(3 * sizeof *x * (size_t)world->body_count);
    assert_non_null(x);
    for (int i = 0; i < world->body_count; ++i)
        for (int k = 0; k < 3; ++k)
            x[3 * i + k] = dBodyGetPosition(world->body[i])[k];
    return x;
}

#endif
