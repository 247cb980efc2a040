/* The rods and tops of the reference values (scenes/oracle.h) as scenes: the values of their keys, and their state in
 * the reference's terms.  For tests and the benchmark. */
#ifndef DEMOS_SCENES_REFERENCE_H
#define DEMOS_SCENES_REFERENCE_H

#include "scenes/oracle.h"
#include "scenes/scene.h"

enum { REFERENCE_ROD_STATE = 6, REFERENCE_TOP_STATE = 12 };

/* value[key of the scene] = number; ends the program where there is no such key. */
void ReferencePut(const char *scene, const char *key, double number, double *value);

/* value (SCENE_KEY_MAX) of scene `rod` for a case of system rod_dynamics or rod_jam. */
void ReferenceRodValues(const Json *inputs, double *value);
/* (x, y, theta, vx, vy, omega) of the lower end, theta in 0 .. 2 pi.  Returns how far it has left its plane, m. */
double ReferenceRodState(const SceneWorld *world, double state[REFERENCE_ROD_STATE]);

/* value (SCENE_KEY_MAX) of scene `top`: the body of a case; its motion at the start too. */
void ReferenceTopBody(const Json *inputs, double *value);
void ReferenceTopValues(const Json *inputs, double *value);
/* (tip, axis, velocity of the tip, omega), 3 each. */
void ReferenceTopState(const SceneWorld *world, double state[REFERENCE_TOP_STATE]);

#endif
