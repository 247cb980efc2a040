/* After the step: the contacts as the user sees them, the events, and what the next step starts from. */
#ifndef SPRAG_ODE_REPORT_H
#define SPRAG_ODE_REPORT_H

#include "ode/world/world.h"

/* Memory for the records of this snapshot, with room for each island's; before its islands are solved. */
spragStatus spragReportReserve(struct spragWorld *world);
/* Memory for the rest of the report; before the world is touched. */
spragStatus spragReportPrepare(struct spragWorld *world);
/* Makes the records of all contacts, on other threads where there are some, while this one runs own(own_data), which
 * may be NULL.  It reads the dContacts of ODE's joints.  Neither it nor what follows can fail after
 * spragReportPrepare. */
void spragReportRecords(struct spragWorld *world, spragOwnFn *own, void *own_data);
/* The rest: events, and the records become those of the last step. */
void spragReport(struct spragWorld *world);
/* Its parts, for one island with blocks, or solved without (lone_report.h, bare.h).  First the records, which threads
 * share out, with world->noted (of lone islands as soon as they are solved); then, one island after the other, the
 * events of those that are noted, and new ids. */
void spragReportBlocks(struct spragWorld *world, const spragIsland *island);
void spragReportBlockEvents(struct spragWorld *world, const spragIsland *island);
void spragReportBare(struct spragWorld *world, const spragIsland *island);
void spragReportBareEvents(struct spragWorld *world, const spragIsland *island);
/* Fills world->contact, if that was not done since the last step. */
void spragReportContacts(struct spragWorld *world);

#endif
