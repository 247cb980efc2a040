/* sprag_ode.h: every argument is checked here, then one call goes down. */
#include <sprag/sprag_ode.h>

#include <math.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ode/dump.h"
#include "ode/layout.h"
#include "ode/ledger.h"
#include "ode/rows.h"
#include "ode/step.h"

enum { CONFIG_COOKIE = 0x53505241, GUIDE_COOKIE = 0x47554944 };

/* ---------------------------------------------------------------- live attachments */

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static spragWorldID list; /* every attachment between attach and detach */

spragWorldID spragWorldFind(dWorldID world)
{
    pthread_mutex_lock(&list_lock);
    spragWorldID found = list;
    while (found != NULL && found->world != world)
        found = found->next;
    pthread_mutex_unlock(&list_lock);
    return found;
}

static int isLive(spragWorldID world)
{
    pthread_mutex_lock(&list_lock);
    spragWorldID found = list;
    while (found != NULL && found != world)
        found = found->next;
    pthread_mutex_unlock(&list_lock);
    return found != NULL;
}

/* First line of every function: clears the detail, refuses NULL and what was detached. */
static spragStatus checkWorld(spragWorldID world)
{
    spragDetailClear();
    if (world == NULL)
        return spragFail(SPRAG_ERROR_NULL, "the spragWorldID is NULL");
    if (!isLive(world))
        return spragFail(SPRAG_ERROR_STALE, "the spragWorldID was detached, or is none");
    return SPRAG_OK;
}

/* ---------------------------------------------------------------- config */

spragConfig spragConfigDefault(void)
{
    return (spragConfig){.cookie = CONFIG_COOKIE,
                         .solver = SPRAG_SOLVER_AUTO,
                         .tolerance = 1e-8,
                         .thread_count = 1,
                         .indeterminacy = SPRAG_INDETERMINACY_HISTORY,
                         .analysis = 1,
                         .event_capacity = 1024,
                         .stepper = SPRAG_STEPPER_STEP,
                         .gyroscopic = SPRAG_GYROSCOPIC_MOMENTUM};
}

static spragStatus checkConfig(const spragConfig *c)
{
    if (c->cookie != CONFIG_COOKIE)
        return spragFail(SPRAG_ERROR_RANGE, "the spragConfig was not made by spragConfigDefault");
    if ((unsigned)c->solver >= SPRAG_SOLVER_COUNT)
        return spragFail(SPRAG_ERROR_RANGE, "config.solver = %d, expected 0 .. %d", (int)c->solver,
                         SPRAG_SOLVER_COUNT - 1);
    if (!(c->tolerance > 0) || !isfinite(c->tolerance))
        return spragFail(SPRAG_ERROR_RANGE, "config.tolerance = %g m/s, expected > 0", c->tolerance);
    if (!(c->time_limit >= 0) || !isfinite(c->time_limit))
        return spragFail(SPRAG_ERROR_RANGE, "config.time_limit = %g s, expected >= 0", c->time_limit);
    if (c->iteration_limit < 0 || c->thread_count < 0 || c->thread_count > 1024)
        return spragFail(SPRAG_ERROR_RANGE,
                         "config.iteration_limit = %d, thread_count = %d: expected >= 0 and 0 .. 1024",
                         c->iteration_limit, c->thread_count);
    if ((unsigned)c->indeterminacy > SPRAG_INDETERMINACY_JAM || (unsigned)c->stepper > SPRAG_STEPPER_QUICKSTEP ||
        (unsigned)c->gyroscopic > SPRAG_GYROSCOPIC_ODE)
        return spragFail(SPRAG_ERROR_RANGE, "config.indeterminacy = %d, stepper = %d or gyroscopic = %d is none",
                         (int)c->indeterminacy, (int)c->stepper, (int)c->gyroscopic);
    if (!(c->tangential_restitution >= 0 && c->tangential_restitution <= 1))
        return spragFail(SPRAG_ERROR_RANGE, "config.tangential_restitution = %g, expected 0 .. 1",
                         c->tangential_restitution);
    if (c->event_capacity < 0 || c->event_capacity > 1 << 24)
        return spragFail(SPRAG_ERROR_RANGE, "config.event_capacity = %d, expected 0 .. %d", c->event_capacity, 1 << 24);
    return SPRAG_OK;
}

spragStatus spragWorldSetConfig(spragWorldID world, const spragConfig *config)
{
    spragStatus status = checkWorld(world);
    if (status != SPRAG_OK)
        return status;
    if (config == NULL)
        return spragFail(SPRAG_ERROR_NULL, "config is NULL");
    if ((status = checkConfig(config)) != SPRAG_OK)
        return status;
    if (!spragEventLogResize(&world->log, config->event_capacity))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory for %d events", config->event_capacity);
    world->config = *config;
    return SPRAG_OK;
}

spragStatus spragWorldGetConfig(spragWorldID world, spragConfig *config)
{
    const spragStatus status = checkWorld(world);
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
    if (made == NULL || !spragEventLogResize(&made->log, config->event_capacity)) {
        spragFree(made);
        return spragFail(SPRAG_ERROR_MEMORY, "no memory to attach a world");
    }
    made->world = world;
    made->config = *config;
    pthread_mutex_lock(&list_lock);
    made->next = list;
    list = made;
    pthread_mutex_unlock(&list_lock);
    *out = made;
    return SPRAG_OK;
}

spragStatus spragWorldAttach(dWorldID world, const spragConfig *config, spragWorldID *out)
{
    spragDetailClear();
    if (world == NULL || out == NULL)
        return spragFail(SPRAG_ERROR_NULL, "%s is NULL", world == NULL ? "the dWorldID" : "out");
    const spragConfig defaults = spragConfigDefault();
    if (config == NULL)
        config = &defaults;
    const spragStatus status = checkConfig(config);
    if (status != SPRAG_OK)
        return status;
    if (spragWorldFind(world) != NULL)
        return spragFail(SPRAG_ERROR_ORDER, "the world is attached already");
    if (!spragLayoutKnown())
        return spragFail(SPRAG_ERROR_ODE, "this libode keeps its worlds in a way this build of Sprag does not know");
    return makeWorld(world, config, out);
}

void spragWorldDetach(spragWorldID world)
{
    if (checkWorld(world) != SPRAG_OK)
        return;
    pthread_mutex_lock(&list_lock);
    spragWorldID *at = &list;
    while (*at != world)
        at = &(*at)->next;
    *at = world->next;
    pthread_mutex_unlock(&list_lock);
    for (int i = 0; i < world->link_count; ++i)
        dJointDestroy(world->link[i]);
    spragFree(world->link);
    spragFree(world->memory);
    spragFree(world->next_memory);
    spragFree(world->load);
    spragFree(world->surface);
    spragFree(world->contact);
    spragEventLogFree(&world->log);
    spragArenaFree(&world->arena);
    spragFree(world);
}

/* ---------------------------------------------------------------- contacts */

spragSurface spragSurfaceDefault(void)
{
    return (spragSurface){.mu_static = -1, .curvature_radius = {-1, -1}};
}

static spragStatus checkSurface(const spragSurface *s)
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
    const dSurfaceParameters *p = &contact->surface;
    if (p->mu < 0 || ((p->mode & dContactMu2) && p->mu2 < 0))
        return spragFail(SPRAG_ERROR_RANGE, "contact surface: mu = %g, mu2 = %g, expected >= 0", (double)p->mu,
                         p->mode & dContactMu2 ? (double)p->mu2 : (double)p->mu);
    return spragContactCheck(contact);
}

dJointID spragJointCreateContact(spragWorldID world, dJointGroupID group, const dContact *contact)
{
    if (checkWorld(world) != SPRAG_OK || checkContact(contact) != SPRAG_OK)
        return NULL;
    return dJointCreateContact(world->world, group, contact);
}

dJointID spragJointCreateContactSurface(spragWorldID world, dJointGroupID group, const dContact *contact,
                                        const spragSurface *surface)
{
    if (checkWorld(world) != SPRAG_OK || checkContact(contact) != SPRAG_OK)
        return NULL;
    if (surface == NULL) {
        spragFail(SPRAG_ERROR_NULL, "surface is NULL");
        return NULL;
    }
    if (checkSurface(surface) != SPRAG_OK)
        return NULL;
    dJointID joint = dJointCreateContact(world->world, group, contact);
    if (joint != NULL && spragLedgerAddSurface(world, joint, &contact->geom, surface) != SPRAG_OK) {
        if (group == NULL) /* one of a group lives on, with the default surface */
            dJointDestroy(joint);
        return NULL;
    }
    return joint;
}

/* ---------------------------------------------------------------- step */

spragStatus spragWorldStep(spragWorldID world, dReal stepsize)
{
    const spragStatus status = checkWorld(world);
    if (status != SPRAG_OK)
        return status;
    if (!isfinite(stepsize))
        return spragFail(SPRAG_ERROR_NOT_FINITE, "stepsize = %g s", (double)stepsize);
    if (!(stepsize > 0))
        return spragFail(SPRAG_ERROR_RANGE, "stepsize = %g s, expected > 0", (double)stepsize);
    return spragStep(world, stepsize);
}

/* ---------------------------------------------------------------- guides and joint friction */

spragGuideDef spragGuideDefDefault(void)
{
    return (spragGuideDef){.cookie = GUIDE_COOKIE, .surface = {spragSurfaceDefault(), spragSurfaceDefault()}};
}

spragStatus spragGuideCreate(spragWorldID world, const spragGuideDef *def, spragGuideID *out)
{
    const spragStatus status = checkWorld(world);
    if (status != SPRAG_OK)
        return status;
    if (def == NULL || out == NULL)
        return spragFail(SPRAG_ERROR_NULL, "%s is NULL", def == NULL ? "def" : "out");
    if (def->cookie != GUIDE_COOKIE)
        return spragFail(SPRAG_ERROR_RANGE, "the spragGuideDef was not made by spragGuideDefDefault");
    return spragFail(SPRAG_ERROR_UNSUPPORTED, "guides are not part of version %s", SPRAG_VERSION);
}

void spragGuideDestroy(spragGuideID guide)
{
    spragDetailClear();
    if (guide != NULL)
        spragFail(SPRAG_ERROR_STALE, "the spragGuideID is none");
}

spragJointFriction spragJointFrictionDefault(void)
{
    return (spragJointFriction){.mu_static = -1};
}

spragStatus spragJointSetFriction(spragWorldID world, dJointID joint, const spragJointFriction *friction)
{
    const spragStatus status = checkWorld(world);
    if (status != SPRAG_OK)
        return status;
    if (joint == NULL || friction == NULL)
        return spragFail(SPRAG_ERROR_NULL, "%s is NULL", joint == NULL ? "the dJointID" : "friction");
    return spragFail(SPRAG_ERROR_UNSUPPORTED, "joint friction is not part of version %s", SPRAG_VERSION);
}

/* ---------------------------------------------------------------- results */

int spragWorldGetContacts(spragWorldID world, const spragContact **contacts)
{
    const int ok = checkWorld(world) == SPRAG_OK;
    if (contacts != NULL)
        *contacts = ok ? world->contact : NULL;
    return ok ? world->contact_count : 0;
}

int spragWorldGetEvents(spragWorldID world, const spragEvent **events)
{
    const int ok = checkWorld(world) == SPRAG_OK;
    if (events != NULL)
        *events = ok ? world->log.event : NULL;
    return ok ? world->log.count : 0;
}

void spragWorldSetEventCallback(spragWorldID world, spragEventFn *callback, void *user)
{
    if (checkWorld(world) != SPRAG_OK)
        return;
    world->callback = callback;
    world->callback_user = user;
}

spragStepInfo spragWorldGetStepInfo(spragWorldID world)
{
    return checkWorld(world) == SPRAG_OK ? world->info : (spragStepInfo){0};
}

spragStatus spragWorldDumpProblem(spragWorldID world, const char *path)
{
    spragStatus status = checkWorld(world);
    if (status != SPRAG_OK)
        return status;
    if (path == NULL || path[0] == '\0')
        return spragFail(SPRAG_ERROR_NULL, "path is NULL or empty");
    return spragDumpIslands(world, path);
}
