/* sprag_ode.h: every argument is checked here, then one call goes down. */
#define _GNU_SOURCE
#include <sprag/sprag_ode.h>

#include <dlfcn.h>
#include <math.h>

#include "api/api_ode.h"
#include "api/attachments.h"
#include "base/alloc.h"
#include "base/floats.h"
#include "base/pool.h"
#include "base/status.h"
#include "ode/joints/guide.h"
#include "ode/ledger/ledger.h"
#include "ode/rows/rows.h"
#include "ode/step/dump.h"
#include "ode/step/report.h"
#include "ode/step/step.h"
#include "ode/world/hull.h"
#include "ode/world/lanes.h"
#include "ode/world/layout.h"

enum { CONFIG_COOKIE = 0x53505241 };

/* ---------------------------------------------------------------- config */

spragConfig spragConfigDefault(void)
{
    return (spragConfig){.cookie = CONFIG_COOKIE,
                         .solver = SPRAG_SOLVER_AUTO,
                         .tolerance = 1e-8,
                         .thread_count = 1,
                         .indeterminacy = SPRAG_INDETERMINACY_HISTORY,
                         .analysis = SPRAG_ANALYSIS_CONTACTS,
                         .event_capacity = 1024,
                         .stepper = SPRAG_STEPPER_STEP,
                         .gyroscopic = SPRAG_GYROSCOPIC_MOMENTUM};
}

spragStatus spragApiCheckConfig(const spragConfig *c)
{
    if (c->cookie != CONFIG_COOKIE && c->cookie != 0)
        return spragFail(SPRAG_ERROR_RANGE, "the spragConfig was not made by spragConfigDefault");
    if ((unsigned)c->solver >= SPRAG_SOLVER_COUNT)
        return spragFail(SPRAG_ERROR_RANGE, "config.solver = %d, expected 0 .. %d", (int)c->solver,
                         SPRAG_SOLVER_COUNT - 1);
    if (!(c->tolerance > 0) || !isfinite(c->tolerance))
        return spragFail(SPRAG_ERROR_RANGE, "config.tolerance = %g m/s, expected > 0", c->tolerance);
    if (!(c->enough >= 0) || !isfinite(c->enough))
        return spragFail(SPRAG_ERROR_RANGE, "config.enough = %g m/s, expected >= 0", c->enough);
    if (!(c->time_limit >= 0) || !isfinite(c->time_limit))
        return spragFail(SPRAG_ERROR_RANGE, "config.time_limit = %g s, expected >= 0", c->time_limit);
    if (c->iteration_limit < 0 || c->thread_count < 0 || c->thread_count > SPRAG_THREADS_MOST)
        return spragFail(SPRAG_ERROR_RANGE, "config.iteration_limit = %d, thread_count = %d: expected >= 0 and 0 .. %d",
                         c->iteration_limit, c->thread_count, SPRAG_THREADS_MOST);
    if ((unsigned)c->indeterminacy > SPRAG_INDETERMINACY_JAM || (unsigned)c->stepper > SPRAG_STEPPER_QUICKSTEP ||
        (unsigned)c->gyroscopic > SPRAG_GYROSCOPIC_CONTACTS)
        return spragFail(SPRAG_ERROR_RANGE, "config.indeterminacy = %d, stepper = %d or gyroscopic = %d is none",
                         (int)c->indeterminacy, (int)c->stepper, (int)c->gyroscopic);
    if (!(c->tangential_restitution >= 0 && c->tangential_restitution <= 1))
        return spragFail(SPRAG_ERROR_RANGE, "config.tangential_restitution = %g, expected 0 .. 1",
                         c->tangential_restitution);
    if (c->analysis < SPRAG_ANALYSIS_OFF || c->analysis > SPRAG_ANALYSIS_JUDGE)
        return spragFail(SPRAG_ERROR_RANGE, "config.analysis = %d, expected 0 .. %d", c->analysis,
                         SPRAG_ANALYSIS_JUDGE);
    if (c->event_capacity < 0 || c->event_capacity > 1 << 24)
        return spragFail(SPRAG_ERROR_RANGE, "config.event_capacity = %d, expected 0 .. %d", c->event_capacity, 1 << 24);
    if (c->patient != 0 && c->patient != 1)
        return spragFail(SPRAG_ERROR_RANGE, "config.patient = %d, expected 0 or 1", c->patient);
    if (c->forgetful != 0 && c->forgetful != 1)
        return spragFail(SPRAG_ERROR_RANGE, "config.forgetful = %d, expected 0 or 1", c->forgetful);
    return SPRAG_OK;
}

spragStatus spragApiCheckFree(spragWorldID world)
{
    const spragStatus status = spragAttachmentsCheck(world);
    if (status == SPRAG_OK && world->stage == SPRAG_WITHIN_STEP)
        return spragFail(SPRAG_ERROR_ORDER, "this cannot be called from within a step of the same world");
    return status;
}

spragStatus spragWorldSetConfig(spragWorldID world, const spragConfig *config)
{
    spragStatus status = spragApiCheckFree(world);
    if (status != SPRAG_OK)
        return status;
    if (config == NULL)
        return spragFail(SPRAG_ERROR_NULL, "config is NULL");
    if ((status = spragApiCheckConfig(config)) != SPRAG_OK)
        return status;
    world->log.limit = config->event_capacity;
    world->config = *config;
    return SPRAG_OK;
}

spragStatus spragWorldGetConfig(spragWorldID world, spragConfig *config)
{
    const spragStatus status = spragAttachmentsCheck(world);
    if (status != SPRAG_OK)
        return status;
    if (config == NULL)
        return spragFail(SPRAG_ERROR_NULL, "config is NULL");
    *config = world->config;
    return SPRAG_OK;
}

/* ---------------------------------------------------------------- attach */

static spragStatus makeWorld(dWorldID world, const spragConfig *config, spragWorldID *out)
{
    spragWorldID made = spragAlloc(1, sizeof *made);
    if (made == NULL || !spragEventLogInit(&made->log, config->event_capacity)) {
        spragFree(made);
        return spragFail(SPRAG_ERROR_MEMORY, "no memory to attach a world");
    }
    made->world = world;
    made->config = *config;
    made->gone = spragGoneSoFar();
    spragAttachmentsAdd(made);
    *out = made;
    return SPRAG_OK;
}

spragStatus spragWorldAttach(dWorldID world, const spragConfig *config, spragWorldID *out)
{
    SPRAG_FLOATS;
    spragDetailClear();
    if (world == NULL || out == NULL)
        return spragFail(SPRAG_ERROR_NULL, "%s is NULL", world == NULL ? "the dWorldID" : "out");
    const spragConfig defaults = spragConfigDefault();
    if (config == NULL)
        config = &defaults;
    const spragStatus status = spragApiCheckConfig(config);
    if (status != SPRAG_OK)
        return status;
    if (spragWorldFind(world) != NULL)
        return spragFail(SPRAG_ERROR_ORDER, "the world is attached already");
    (void)dlsym(RTLD_DEFAULT, SPRAG_PRELOAD_NAME); /* a preloaded Sprag hears the question, and stands aside */
    if (!dCheckConfiguration(sizeof(dReal) == sizeof(double) ? "ODE_double_precision" : "ODE_single_precision"))
        return spragFail(SPRAG_ERROR_ODE, "Sprag was built for an ODE of %s precision, and this libode is of the other",
                         sizeof(dReal) == sizeof(double) ? "double" : "single");
    if (!spragLayoutKnown())
        return spragFail(SPRAG_ERROR_ODE, "this libode keeps its worlds in a way this build of Sprag does not know");
    (void)spragHullsKnown(); /* without, hulls have the collider's contacts */
    return makeWorld(world, config, out);
}

void spragWorldDetach(spragWorldID world)
{
    if (spragAttachmentsIsStepping(world)) {
        spragFail(SPRAG_ERROR_ORDER, "a world cannot be detached from within its own step or its event callback");
        return;
    }
    spragDetailClear();
    if (!spragAttachmentsRemove(world)) {
        spragAttachmentsCheck(world); /* says why */
        return;
    }
    while (world->guide_count > 0)
        spragGuideFree(world->guide[world->guide_count - 1]);
    spragFree(world->guide);
    spragFree(world->bearing);
    spragFree(world->memory);
    spragFree(world->next_memory);
    spragFree(world->pair);
    spragFree(world->named);
    spragFree(world->next_named);
    spragFree(world->next_pair);
    spragFree(world->listed_bodies.object);
    spragFree(world->listed_joints.object);
    spragFree(world->load);
    spragBlockLuMemoFree(&world->memo);
    spragFree(world->surface);
    spragFree(world->contact);
    spragEventLogFree(&world->log);
    spragArenaFree(&world->arena);
    spragLanesFree(world);
    spragFree(world);
}

/* ---------------------------------------------------------------- contacts */

spragSurface spragSurfaceDefault(void)
{
    return (spragSurface){.mu_static = -1, .curvature_radius = {-1, -1}};
}

spragStatus spragApiCheckSurface(const spragSurface *s)
{
    if (isnan(s->mu_static) || isnan(s->curvature_radius[0]) || isnan(s->curvature_radius[1]) ||
        !isfinite(s->stiffness) || !isfinite(s->damping))
        return spragFail(SPRAG_ERROR_NOT_FINITE,
                         "surface: mu_static = %g, curvature_radius = %g %g, stiffness = %g, "
                         "damping = %g",
                         s->mu_static, s->curvature_radius[0], s->curvature_radius[1], s->stiffness, s->damping);
    if (s->stiffness < 0 || s->damping < 0)
        return spragFail(SPRAG_ERROR_RANGE, "surface: stiffness = %g, damping = %g, expected >= 0", s->stiffness,
                         s->damping);
    return SPRAG_OK;
}

static spragStatus checkContact(const dContact *contact)
{
    if (contact == NULL)
        return spragFail(SPRAG_ERROR_NULL, "contact is NULL");
    return spragContactCheck(contact, 0);
}

dJointID spragJointCreateContact(spragWorldID world, dJointGroupID group, const dContact *contact)
{
    if (spragAttachmentsCheck(world) != SPRAG_OK || checkContact(contact) != SPRAG_OK)
        return NULL;
    spragStepContactMade(world);
    return dJointCreateContact(world->world, group, contact);
}

dJointID spragJointCreateContactSurface(spragWorldID world, dJointGroupID group, const dContact *contact,
                                        const spragSurface *surface)
{
    if (spragAttachmentsCheck(world) != SPRAG_OK || checkContact(contact) != SPRAG_OK)
        return NULL;
    if (surface == NULL) {
        spragFail(SPRAG_ERROR_NULL, "surface is NULL");
        return NULL;
    }
    if (spragApiCheckSurface(surface) != SPRAG_OK)
        return NULL;
    spragStepContactMade(world);
    dJointID joint = dJointCreateContact(world->world, group, contact);
    if (joint != NULL && spragLedgerAddSurface(world, joint, surface) != SPRAG_OK) {
        if (group == NULL) /* one of a group lives on, with the default surface */
            dJointDestroy(joint);
        return NULL;
    }
    return joint;
}

/* ---------------------------------------------------------------- step */

spragStatus spragWorldStep(spragWorldID world, dReal stepsize)
{
    const spragStatus status = spragAttachmentsCheck(world);
    if (status != SPRAG_OK)
        return status;
    if (!isfinite(stepsize))
        return spragFail(SPRAG_ERROR_NOT_FINITE, "stepsize = %g s", (double)stepsize);
    if (!(stepsize >= 1e-30 && stepsize <= 1e30)) /* beyond, m / h or v h over- or underflows */
        return spragFail(SPRAG_ERROR_RANGE, "stepsize = %g s, expected > 0, 1e-30 to 1e30", (double)stepsize);
    if (world->stage != SPRAG_BETWEEN_STEPS)
        return spragFail(SPRAG_ERROR_ORDER, "a step cannot be made from within a step of the same world");
    const spragStatus stepped = spragStep(world, stepsize);
    if (stepped == SPRAG_OK)
        spragDetailClear(); /* what callbacks were refused is theirs */
    return stepped;
}

/* ---------------------------------------------------------------- results */

int spragWorldGetContacts(spragWorldID world, const spragContact **contacts)
{
    SPRAG_FLOATS;
    const int ok = spragAttachmentsCheck(world) == SPRAG_OK;
    if (ok)
        spragReportContacts(world);
    if (contacts != NULL)
        *contacts = ok ? world->contact : NULL;
    return ok ? world->contact_count : 0;
}

int spragWorldGetEvents(spragWorldID world, const spragEvent **events)
{
    const int ok = spragAttachmentsCheck(world) == SPRAG_OK;
    if (events != NULL)
        *events = ok ? world->log.event : NULL;
    return ok ? world->log.count : 0;
}

void spragWorldSetEventCallback(spragWorldID world, spragEventFn *callback, void *user)
{
    if (spragAttachmentsCheck(world) != SPRAG_OK)
        return;
    world->callback = callback;
    world->callback_user = user;
}

spragStepInfo spragWorldGetStepInfo(spragWorldID world)
{
    return spragAttachmentsCheck(world) == SPRAG_OK ? world->info : (spragStepInfo){0};
}

spragStatus spragWorldDumpProblem(spragWorldID world, const char *path)
{
    SPRAG_FLOATS;
    const spragStatus status = spragApiCheckFree(world);
    if (status != SPRAG_OK)
        return status;
    if (path == NULL || path[0] == '\0')
        return spragFail(SPRAG_ERROR_NULL, "path is NULL or empty");
    return spragDumpIslands(world, path, NULL);
}
