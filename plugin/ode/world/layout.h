/* Where ODE keeps the bodies and joints of a world, and the dContact of a contact joint.
 *
 * ODE has no public list of either, and a remembered dJointID or dBodyID may have been destroyed (and its address given
 * to another object) since the last step, so a step may follow only what the world itself says is alive.  Facts are
 * needed beyond the public interface: the offsets of the list heads and the threading in a world, of the list head in a
 * body, of link and tag in an object, of the dContact in a contact joint, of the auto-disable counters and the moved
 * callback in a body.  They are found, not assumed: once per process a scratch world is searched for them, and a
 * library in which they cannot be found unambiguously is refused (SPRAG_ERROR_ODE), never guessed at.  All else is
 * asked through ODE's own functions. */
#ifndef SPRAG_ODE_LAYOUT_H
#define SPRAG_ODE_LAYOUT_H

#include <ode/ode.h>

/* 1 if the offsets are known.  ODE must be initialised. */
int spragLayoutKnown(void);

/* Newest first.  Only with spragLayoutKnown.  The number of bodies or joints; the first `most` of them in the array.
 * known: so many it has of the step before: where these lay, memory is asked for before it is read. */
int spragLayoutBodies(dWorldID world, void **bodies, int most);
int spragLayoutJoints(dWorldID world, void **joints, int most, int known);
/* One after the other; NULL at the end. */
dJointID spragLayoutFirstJoint(dWorldID world);
dJointID spragLayoutNextJoint(dJointID joint);

/* The dContact a contact joint was made from; it lives as long as the joint. */
const dContact *spragLayoutContact(dJointID joint);

/* A mark stays on an object until ODE's next step and is on no new object, whatever its address: ODE sets the tags of
 * all objects when it looks for islands and reads them only within a step.  Marks are >= SPRAG_MARK_MIN. */
#define SPRAG_MARK_MIN (1 << 30)
#define SPRAG_MARK_NEW 0 /* of an object that was made since ODE's last step; not of a joint that step found disabled */
int spragLayoutBodyMark(dBodyID body);
void spragLayoutMarkBody(dBodyID body, int mark);
int spragLayoutJointMark(dJointID joint);
void spragLayoutMarkJoint(dJointID joint, int mark);

/* Between the two ODE finds no joint, in the world or at the body, and does not touch them: its step takes the body as
 * free.  (It walks through all joints of a world, and of each body, also through those that are disabled.)  Each Hide
 * returns what its Show needs.  A body that has joints keeps looking like one: only such fall asleep. */
void *spragLayoutHideJoints(dWorldID world);
void spragLayoutShowJoints(dWorldID world, void *joints);
void *spragLayoutHideJointsOf(dBodyID body);
void spragLayoutShowJointsOf(dBodyID body, void *joints);

/* 1 if ODE's next step by h will find the body idle for long enough: before it looks for islands it disables such a
 * body and sets its velocity to zero; an awake island enables it again, at rest. */
int spragLayoutFallsIdle(dBodyID body, dReal h);

/* The threading implementation that the world was given, and its functions; NULL: ODE's default. */
const dThreadingFunctionsInfo *spragLayoutThreading(dWorldID world, dThreadingImplementationID *implementation);

/* What auto-disable remembers of a body. */
typedef struct spragIdleState {
    dReal time_left, sample[2][3]; /* the samples that the next step replaces */
    int steps_left, sample_next, ready;
} spragIdleState;

spragIdleState spragLayoutIdleState(dBodyID body);
void spragLayoutSetIdleState(dBodyID body, const spragIdleState *state);

/* The callback set by dBodySetMovedCallback, which ODE does not give back. */
typedef void spragMovedFn(dBodyID);
spragMovedFn *spragLayoutMovedCallback(dBodyID body);

#endif
