/* Guides and joint friction of sprag_ode.h: every argument is checked here, then one call goes down. */
#include <math.h>

#include "api/api_ode.h"
#include "api/attachments.h"
#include "base/floats.h"
#include "base/status.h"
#include "ode/joints/bearing.h"
#include "ode/joints/guide.h"
#include "ode/rows/joint_rows.h"
#include "ode/world/layout.h"

enum { GUIDE_COOKIE = 0x47554944 };

/* ---------------------------------------------------------------- guides */

spragGuideDef spragGuideDefDefault(void)
{
    return (spragGuideDef){.cookie = GUIDE_COOKIE, .surface = {spragSurfaceDefault(), spragSurfaceDefault()}};
}

static spragStatus checkGuideBodies(spragWorldID world, const spragGuideDef *def)
{
    if (def->body == NULL)
        return spragFail(SPRAG_ERROR_NULL, "guide: body is NULL; the guided point needs a body");
    if (def->body == def->guide)
        return spragFail(SPRAG_ERROR_RANGE, "guide: body and guide are the same body");
    if (dBodyGetWorld(def->body) != world->world || (def->guide != NULL && dBodyGetWorld(def->guide) != world->world))
        return spragFail(SPRAG_ERROR_RANGE, "guide: %s belongs to another world",
                         dBodyGetWorld(def->body) != world->world ? "body" : "guide");
    return SPRAG_OK;
}

static spragStatus checkGuide(const spragGuideDef *def)
{
    const double *const mu = def->mu;
    double length = 0;
    for (int i = 0; i < 3; ++i) {
        if (!isfinite(def->point[i]) || !isfinite(def->normal[i]))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "guide: point[%d] = %g, normal[%d] = %g", i, (double)def->point[i],
                             i, (double)def->normal[i]);
        length += (double)def->normal[i] * def->normal[i];
    }
    if (fabs(length - 1) > 1e-3)
        return spragFail(SPRAG_ERROR_RANGE, "guide: the normal has length %g, expected 1", sqrt(length));
    if (!isfinite(mu[0]) || !isfinite(mu[1]) || !isfinite(def->clearance))
        return spragFail(SPRAG_ERROR_NOT_FINITE, "guide: mu = %g, %g, clearance = %g m", mu[0], mu[1], def->clearance);
    if (mu[0] < 0 || mu[1] < 0 || def->clearance < 0)
        return spragFail(SPRAG_ERROR_RANGE, "guide: mu = %g, %g, clearance = %g m, expected >= 0", mu[0], mu[1],
                         def->clearance);
    for (int side = 0; side < 2; ++side) {
        const spragStatus status = spragApiCheckSurface(&def->surface[side]);
        if (status != SPRAG_OK)
            return status;
        if (isinf(def->surface[side].mu_static))
            return spragFail(SPRAG_ERROR_NOT_FINITE, "guide: surface[%d].mu_static is infinite", side);
    }
    return SPRAG_OK;
}

spragStatus spragGuideCreate(spragWorldID world, const spragGuideDef *def, spragGuideID *out)
{
    SPRAG_FLOATS;
    spragStatus status = spragApiCheckFree(world);
    if (status != SPRAG_OK)
        return status;
    if (def == NULL || out == NULL)
        return spragFail(SPRAG_ERROR_NULL, "%s is NULL", def == NULL ? "def" : "out");
    if (def->cookie != GUIDE_COOKIE && def->cookie != 0)
        return spragFail(SPRAG_ERROR_RANGE, "the spragGuideDef was not made by spragGuideDefDefault");
    if ((status = checkGuideBodies(world, def)) != SPRAG_OK || (status = checkGuide(def)) != SPRAG_OK)
        return status;
    return spragGuideMake(world, def, out);
}

void spragGuideDestroy(spragGuideID guide)
{
    spragDetailClear();
    if (guide == NULL)
        return;
    const spragWorldID world = spragAttachmentsOfGuide(guide);
    if (world == NULL)
        spragFail(SPRAG_ERROR_STALE, "the spragGuideID is none, or was destroyed");
    else if ((world->world == NULL || spragApiCheckFree(world) == SPRAG_OK) && !spragGuideFree(guide))
        spragFail(SPRAG_ERROR_STALE, "the guide has ended with %s",
                  world->world == NULL ? "its dWorld" : "one of its bodies");
}

/* ---------------------------------------------------------------- joint friction */

spragJointFriction spragJointFrictionDefault(void)
{
    return (spragJointFriction){.mu_static = -1};
}

static int isOfWorld(spragWorldID world, dJointID joint)
{
    dJointID each = spragLayoutFirstJoint(world->world);
    while (each != NULL && each != joint)
        each = spragLayoutNextJoint(each);
    return each != NULL;
}

static spragStatus checkFriction(dJointType type, const spragJointFriction *f)
{
    if (!isfinite(f->mu) || !isfinite(f->mu_static) || !isfinite(f->radius) || !isfinite(f->length) ||
        !isfinite(f->half_width))
        return spragFail(SPRAG_ERROR_NOT_FINITE,
                         "joint friction: mu = %g, mu_static = %g, radius = %g, length = %g, half_width = %g", f->mu,
                         f->mu_static, f->radius, f->length, f->half_width);
    if (f->mu < 0 || f->radius < 0 || f->length < 0 || f->half_width < 0)
        return spragFail(SPRAG_ERROR_RANGE,
                         "joint friction: mu = %g, radius = %g m, length = %g m, half_width = %g m, expected >= 0",
                         f->mu, f->radius, f->length, f->half_width);
    const int slides = type == dJointTypeSlider || type == dJointTypePiston;
    if (slides && f->mu + fmax(f->mu_static, 0) > 0 && !(f->length > 0))
        return spragFail(SPRAG_ERROR_RANGE, "joint friction: length = %g m, a sliding bearing needs > 0", f->length);
    return SPRAG_OK;
}

spragStatus spragJointSetFriction(spragWorldID world, dJointID joint, const spragJointFriction *friction)
{
    SPRAG_FLOATS;
    spragStatus status = spragApiCheckFree(world);
    if (status != SPRAG_OK)
        return status;
    if (joint == NULL || friction == NULL)
        return spragFail(SPRAG_ERROR_NULL, "%s is NULL", joint == NULL ? "the dJointID" : "friction");
    if (!isOfWorld(world, joint))
        return spragFail(SPRAG_ERROR_RANGE, "joint friction: the world has no such joint");
    if (!spragBearingKnows(dJointGetType(joint)))
        return spragFail(SPRAG_ERROR_UNSUPPORTED,
                         "joint friction: a joint of type %s; expected hinge, slider, ball, universal or piston",
                         spragJointTypeName(dJointGetType(joint)));
    if (!spragJointRowsAvailable())
        return spragFail(SPRAG_ERROR_UNSUPPORTED, "joint friction: the rows of joints cannot be had from this libode");
    if ((status = checkFriction(dJointGetType(joint), friction)) != SPRAG_OK)
        return status;
    return spragBearingSet(world, joint, friction);
}
