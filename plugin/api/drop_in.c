/* ODE's signatures over Sprag's API; the preload library is made of the same functions. */
#define SPRAG_DROP_IN_NO_NAMES
#include "api/drop_in.h"

#include <sprag/drop_in.h>

#include "ode/world/world.h"

static spragConfig anyConfig(dWorldID world)
{
    (void)world;
    return spragConfigDefault();
}

static spragConfig (*config_source)(dWorldID) = anyConfig;
static void (*attach_hook)(spragWorldID);

void spragDropInSetup(spragConfig (*config)(dWorldID), void (*attached)(spragWorldID))
{
    config_source = config;
    attach_hook = attached;
}

/* NULL where Sprag cannot attach: the caller then leaves all to ODE. */
static spragWorldID attachment(dWorldID world)
{
    spragWorldID sprag = spragWorldFind(world);
    if (sprag == NULL && world != NULL) {
        const spragConfig config = config_source(world);
        if (spragWorldAttach(world, &config, &sprag) != SPRAG_OK)
            return NULL;
        if (attach_hook != NULL)
            attach_hook(sprag);
    }
    return sprag;
}

dJointID spragDropInJointCreateContact(dWorldID world, dJointGroupID group, const dContact *contact)
{
    const spragWorldID sprag = attachment(world);
    const dJointID joint = sprag != NULL ? spragJointCreateContact(sprag, group, contact) : NULL;
    return joint != NULL ? joint : dJointCreateContact(world, group, contact);
}

static int step(dWorldID world, dReal stepsize, spragStepper stepper)
{
    const spragWorldID sprag = attachment(world);
    spragConfig config;
    spragStatus status = SPRAG_ERROR_ORDER;
    if (sprag != NULL && spragWorldGetConfig(sprag, &config) == SPRAG_OK) {
        if (config.stepper != stepper) {
            config.stepper = stepper;
            spragWorldSetConfig(sprag, &config);
        }
        sprag->lenient = 1;
        status = spragWorldStep(sprag, stepsize);
        sprag->lenient = 0;
        if (status == SPRAG_OK)
            return 1;
    }
    /* dWorldStep's memory grows like the square of the contacts. */
    const int quick = stepper == SPRAG_STEPPER_QUICKSTEP || status == SPRAG_ERROR_MEMORY;
    return quick ? dWorldQuickStep(world, stepsize) : dWorldStep(world, stepsize);
}

int spragDropInWorldStep(dWorldID world, dReal stepsize)
{
    return step(world, stepsize, SPRAG_STEPPER_STEP);
}

int spragDropInWorldQuickStep(dWorldID world, dReal stepsize)
{
    return step(world, stepsize, SPRAG_STEPPER_QUICKSTEP);
}

void spragDropInWorldDestroy(dWorldID world)
{
    const spragWorldID sprag = spragWorldFind(world);
    if (sprag != NULL)
        spragWorldDetach(sprag);
    dWorldDestroy(world);
}
