/* The report of islands without blocks (lone.h): no contact of theirs has a paradox.  (report.h says when.) */
#ifndef SPRAG_ODE_LONE_REPORT_H
#define SPRAG_ODE_LONE_REPORT_H

#include "ode/islands/lone_group.h"

/* The records of one of them, as soon as it is solved.  lane: of the group.  0: no memory. */
int spragLoneReport(struct spragWorld *world, spragArena *arena, spragIsland *island, const spragLoneGroup *group,
                    int lane);
void spragLoneReportEvents(struct spragWorld *world, const spragIsland *island);

#endif
