#include "ode/world/event.h"

#include <math.h>

#include "base/alloc.h"
#include "linalg/vec3.h"

enum { ROOM_FIRST = 1024 };

const char *spragEventName(spragEventType type)
{
    static const char *const name[SPRAG_EVENT_TYPE_COUNT] = {"touch",        "detach",   "stick",   "slip",
                                                             "reverse",      "variant",  "jam",     "indeterminate",
                                                             "inconsistent", "fallback", "declined"};
    return (unsigned)type < SPRAG_EVENT_TYPE_COUNT ? name[type] : "unknown";
}

int spragEventLogInit(spragEventLog *log, int limit)
{
    *log = (spragEventLog){.limit = limit};
    return spragGrow((void **)&log->event, &log->room, (size_t)(limit < ROOM_FIRST ? limit : ROOM_FIRST),
                     sizeof *log->event);
}

void spragEventLogFree(spragEventLog *log)
{
    spragFree(log->event);
    *log = (spragEventLog){0};
}

void spragEventLogClear(spragEventLog *log)
{
    log->count = log->lost = 0;
}

void spragEventLogAdd(spragEventLog *log, spragEventType type, const spragEvent *event)
{
    if (log->count >= log->limit ||
        !spragGrow((void **)&log->event, &log->room, (size_t)log->count + 1, sizeof *log->event)) {
        ++log->lost;
        return;
    }
    log->event[log->count] = *event;
    log->event[log->count++].type = type;
}

int spragParadoxClassOf(spragQuadrant quadrant)
{
    return quadrant == SPRAG_QUADRANT_INCONSISTENT ? 1 : quadrant == SPRAG_QUADRANT_INDETERMINATE ? 3 : 0;
}

static void addModeEvents(spragEventLog *log, const spragContactChange *c, int reverses)
{
    const spragEvent *event = &c->event;
    const int back = spragDot3(c->last_slip, event->slip_after) < 0;
    if (c->before == SPRAG_MODE_OPEN && c->after != SPRAG_MODE_OPEN)
        spragEventLogAdd(log, SPRAG_EVENT_TOUCH, event);
    else if (c->before != SPRAG_MODE_OPEN && c->after == SPRAG_MODE_OPEN)
        spragEventLogAdd(log, SPRAG_EVENT_DETACH, event);
    else if (c->after == SPRAG_MODE_STICK && (c->before == SPRAG_MODE_SLIP || c->passed))
        spragEventLogAdd(log, reverses ? SPRAG_EVENT_REVERSE : SPRAG_EVENT_STICK, event);
    else if (c->before == SPRAG_MODE_STICK && c->after == SPRAG_MODE_SLIP && !(c->passed && back))
        spragEventLogAdd(log, SPRAG_EVENT_SLIP, event);
    else if (c->before == SPRAG_MODE_SLIP && c->after == SPRAG_MODE_SLIP && back)
        spragEventLogAdd(log, SPRAG_EVENT_REVERSE, event);
    if (c->variant_before * event->variant < 0)
        spragEventLogAdd(log, SPRAG_EVENT_VARIANT, event);
}

/* m/s: by how much ordinary forces change a velocity in a step. */
static double usualChange(const spragContactChange *c)
{
    return c->step * fmax(fabs(c->event.b), c->gravity);
}

/* Was it a jam (docs/theory.md 6)?  The slip ended within the step and not by a collision; and either no slide was
 * realisable, or the impulse is greater than forces of ordinary size explain. */
static int isJam(const spragContactChange *c, int inconsistent, int indeterminate)
{
    const double usual = usualChange(c);
    const int slid = spragNorm3(c->event.slip_before) > SPRAG_SLIP_TOLERANCE;
    if (!slid || c->after != SPRAG_MODE_STICK || c->approach < -usual)
        return 0;
    if (inconsistent || (indeterminate && !c->may_slide))
        return 1;
    return (indeterminate || spragMayJam(c->indicator.p, c->inverse_mass)) &&
           c->normal_impulse * c->inverse_mass > 10 * usual;
}

int spragEventsOfContact(spragEventLog *log, const spragContactChange *c)
{
    spragContactChange copy = *c;
    const int closed = c->before != SPRAG_MODE_OPEN || c->after != SPRAG_MODE_OPEN;
    const int rested = c->fresh && c->approach <= usualChange(c); /* it could have stayed, and leaves */
    const int leaves = c->after == SPRAG_MODE_OPEN && c->event.b * c->step > SPRAG_SLIP_TOLERANCE;
    const int touched = rested && c->touching && c->approach >= -usualChange(c);
    const int inconsistent = closed && c->indicator.quadrant == SPRAG_QUADRANT_INCONSISTENT;
    const int indeterminate = (closed || rested) && c->indicator.quadrant == SPRAG_QUADRANT_INDETERMINATE;
    copy.event.separatrix = indeterminate ? c->indicator.separatrix : 0;
    copy.event.paradox_class = inconsistent || indeterminate ? c->paradox_class : 0;
    const int jam = isJam(&copy, inconsistent, indeterminate);
    const int reverses = c->passes && c->before == SPRAG_MODE_SLIP && c->after == SPRAG_MODE_STICK && !jam;
    addModeEvents(log, &copy, reverses);
    if (touched && leaves)
        spragEventLogAdd(log, SPRAG_EVENT_DETACH, &copy.event);
    if (inconsistent)
        spragEventLogAdd(log, SPRAG_EVENT_INCONSISTENT, &copy.event);
    if (indeterminate && c->class_before != copy.event.paradox_class)
        spragEventLogAdd(log, SPRAG_EVENT_INDETERMINATE, &copy.event);
    if (jam) {
        copy.event.anticipated = !inconsistent && !(c->indicator.p < 0);
        spragEventLogAdd(log, SPRAG_EVENT_JAM, &copy.event);
    }
    return reverses;
}
