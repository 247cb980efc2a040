/* The contacts of a world that stock ODE steps, told as Sprag tells its own: forces from joint feedback, slip from the
 * velocities that the step ended with.  p and b stay 0: stock ODE knows nothing of them. */
#ifndef DEMOS_SCENES_RECORD_H
#define DEMOS_SCENES_RECORD_H

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

typedef struct SceneRecord SceneRecord;

/* NULL: no memory. */
SceneRecord *SceneRecordCreate(void);
void SceneRecordDestroy(SceneRecord *record); /* NULL will do */

/* Before a step: none. */
void SceneRecordClear(SceneRecord *record);
/* A contact joint attached to these bodies, in this order. */
void SceneRecordAdd(SceneRecord *record, dJointID joint, const dContact *contact, dBodyID body1, dBodyID body2);
/* After the step. */
void SceneRecordRead(SceneRecord *record);
/* How many, and what they are until the next SceneRecordClear. */
int SceneRecordGet(const SceneRecord *record, const spragContact **contacts);

#endif
