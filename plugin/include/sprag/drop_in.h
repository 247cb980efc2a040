/* drop_in.h: two lines make an ODE program a Sprag program.
 *
 *     #include <ode/ode.h>
 *     #include <sprag/drop_in.h>          and link -lsprag
 *
 * In this translation unit the ODE names below now mean Sprag's functions of the same signature.  A world is attached
 * when its first contact is made or its first step taken, and detached when it is destroyed.  Whatever Sprag refuses is
 * done by ODE.  Include it in every file that makes contacts, steps or destroys worlds.
 *
 * C++: dWorld::step and the other classes of ODE call what these names mean where <ode/ode.h> is read.  Programs
 * that use them put this header before it.
 *
 * spragWorldFind(world) gives the attachment, for events, contacts and the config.
 *
 * SPRAG_DROP_IN_NO_NAMES, defined before: the functions below are declared, and ODE's names stay ODE's.
 */
#ifndef SPRAG_DROP_IN_H
#define SPRAG_DROP_IN_H

#ifndef SPRAG_DROP_IN_NO_NAMES
#define dJointCreateContact spragDropInJointCreateContact
#define dWorldStep spragDropInWorldStep
#define dWorldQuickStep spragDropInWorldQuickStep
#define dWorldDestroy spragDropInWorldDestroy
#endif

#include <sprag/sprag_ode.h>

#ifdef __cplusplus
extern "C" {
#endif

SPRAG_API dJointID spragDropInJointCreateContact(dWorldID world, dJointGroupID group, const dContact *contact);
SPRAG_API int spragDropInWorldStep(dWorldID world, dReal stepsize);
SPRAG_API int spragDropInWorldQuickStep(dWorldID world, dReal stepsize);
SPRAG_API void spragDropInWorldDestroy(dWorldID world);

#ifdef __cplusplus
}
#endif

#endif
