/* Traces (CSV, one row a step) and event logs (JSON, one object a line) of a scene.
 *
 * Trace columns: time; per body its position (3), quaternion (4), linear (3) and angular (3) velocity; per contact slot
 * normal force, friction (3), slip (3), mode, p, b.  A contact keeps its slot as long as it lives (by its id; under
 * stock ODE by its place in the list); a free slot is zeros with mode "open".  There are as many slots as the run ever
 * needed at once, in every row.  Numbers have 17 digits: what is read back is what was stepped, bit for bit.
 *
 * Both are whole or absent (output.h). */
#ifndef DEMOS_SCENES_TRACE_H
#define DEMOS_SCENES_TRACE_H

#include "scenes/scene.h"

typedef struct Trace Trace;
/* Writes nothing but the first row (the start) yet.  error (>= 160 bytes) gets one line where NULL is returned. */
Trace *TraceOpen(const char *path, SceneWorld *world, char *error);
/* After each SceneStep.  0: writing failed. */
int TraceStep(Trace *trace, SceneWorld *world);
/* keep 0: throws the file away.  0: it could not be written, nothing is left behind. */
int TraceClose(Trace *trace, int keep);

typedef struct EventLog EventLog;
EventLog *EventLogOpen(const char *path, char *error);
/* After each SceneStep.  0: writing failed, or the world kept fewer events than there were
 * (spragConfig.event_capacity). */
int EventLogStep(EventLog *log, SceneWorld *world);
int EventLogClose(EventLog *log, int keep);

#endif
