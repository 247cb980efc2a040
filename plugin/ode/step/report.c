#include "ode/step/report.h"

#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "base/status.h"
#include "ode/islands/lone_report.h"
#include "ode/joints/bearing.h"
#include "ode/ledger/ledger.h"
#include "ode/ledger/record.h"
#include "ode/rows/rows.h"

typedef struct Counting {
    const spragIsland *island;
    int reported[SPRAG_RANGES_MOST], loads[SPRAG_RANGES_MOST]; /* in each range of blocks */
} Counting;

static void countRange(void *data, int range, int first, int end)
{
    Counting *counting = data;
    int reported = 0, loads = 0;
    for (int b = first; b < end; ++b) {
        reported += spragBlockIsReported(&counting->island->block[b]);
        loads += counting->island->block[b].part == SPRAG_PART_JOINT ? 3 : 0;
    }
    counting->reported[range] = reported, counting->loads[range] = loads;
}

/* Counts the blocks that are reported; returns the most loads they can have. */
static int countBlocks(spragPool *pool, spragIsland *island)
{
    Counting counting;
    int loads = 0;
    counting.island = island;
    spragRangesRunBy(pool, island->block_count, countRange, &counting);
    for (int range = 0; range < spragRangeCount(island->block_count); ++range) {
        island->reported += counting.reported[range];
        loads += counting.loads[range];
    }
    return loads;
}

spragStatus spragReportReserve(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    const int more = world->bearing_count > 0 ? SPRAG_BEARING_ENDS : 0;
    size_t records = 0;
    for (int k = 0; k < s->island_count; ++k) {
        s->island[k].first_record = (int)records;
        records += (size_t)(s->island[k].contact_count + more * s->island[k].joint_count);
    }
    world->noted = SPRAG_TAKE_RAW(&world->arena, int, records);
    records += (size_t)world->memory_count;
    if (world->noted == NULL ||
        !spragGrow((void **)&world->next_memory, &world->next_memory_capacity, records, sizeof *world->next_memory) ||
        !spragGrow((void **)&world->next_pair, &world->next_pair_capacity, records, sizeof *world->next_pair))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory to remember %zu contacts", records);
    return SPRAG_OK;
}

spragStatus spragReportPrepare(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    size_t contacts = 0, loads = 0;
    for (int k = 0; k < s->island_count; ++k) {
        spragIsland *island = &s->island[k];
        island->reported = island->lone != NULL || island->bare != NULL ? island->joint_count : 0;
        loads += (size_t)island->row_count;
        if (island->block_count > 0)
            loads += (size_t)countBlocks(world->loop_pool, island);
        contacts += (size_t)island->reported;
    }
    if (!spragGrow((void **)&world->load, &world->load_capacity, loads, sizeof *world->load) ||
        !spragGrow((void **)&world->contact, &world->contact_capacity, contacts, sizeof *world->contact))
        return spragFail(SPRAG_ERROR_MEMORY, "no memory to report %zu contacts", contacts);
    return SPRAG_OK;
}

void spragReportContacts(struct spragWorld *world)
{
    for (int k = 0; k < world->contact_count && !world->contacts_told; ++k)
        world->contact[k] = spragRecordContact(&world->memory[k]);
    world->contacts_told = 1;
}

/* ---------------------------------------------------------------- what ended, what goes on */

/* A body of a record in the snapshot, or -1: it is gone, or is the world. */
static int indexOf(const spragSnapshot *s, const spragContactMemory *old, int side)
{
    const int body = spragPointerMapGet(&s->body_index, old->body[side]);
    return body >= 0 && s->body[body].serial == old->serial[side] ? body : -1;
}

/* Contacts of the last step that this one does not continue: those of sleepers, and those that ODE solved, are kept as
 * they were; the others have ended. */
static void closeOld(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    for (int k = 0; k < world->memory_count; ++k) {
        const spragContactMemory *old = &world->memory[k];
        if (world->fate[k] == SPRAG_RECORD_CONTINUED)
            continue;
        const int a = indexOf(s, old, 0), b = indexOf(s, old, 1);
        const int gone = a < 0 || (old->body[1] != NULL && b < 0);
        const int sleeps = !gone && !s->body[a].awake && (b < 0 || !s->body[b].awake);
        if (sleeps || world->fate[k] == SPRAG_RECORD_KEPT) {
            world->next_pair[world->next_memory_count] = world->pair[k];
            world->next_memory[world->next_memory_count++] = *old;
            continue;
        }
        if (old->mode == SPRAG_MODE_OPEN)
            continue;
        spragEvent event = {.time = world->info.time,
                            .step = world->info.step,
                            .contact = old->id,
                            .body = {gone ? NULL : old->body[0], gone ? NULL : old->body[1]},
                            .body_number = {spragRecordNumber(old->serial[0]), spragRecordNumber(old->serial[1])}};
        memcpy(event.position, old->position, sizeof event.position);
        memcpy(event.normal, old->normal, sizeof event.normal);
        memcpy(event.slip_before, old->slip, sizeof event.slip_before);
        spragEventLogAdd(&world->log, SPRAG_EVENT_DETACH, &event);
    }
}

static void swapMemory(struct spragWorld *world)
{
    spragContactMemory *memory = world->memory;
    const void **pair = world->pair;
    const size_t capacity = world->memory_capacity, pair_capacity = world->pair_capacity;
    world->memory = world->next_memory;
    world->memory_capacity = world->next_memory_capacity;
    world->memory_count = world->next_memory_count;
    world->next_memory = memory;
    world->next_memory_capacity = capacity;
    world->pair = world->next_pair;
    world->pair_capacity = world->next_pair_capacity;
    world->next_pair = pair;
    world->next_pair_capacity = pair_capacity;
}

/* ---------------------------------------------------------------- the step */

static const char *const wedged = "friction locks a wedge that closes: no rigid solution, so the contacts yield";
static const char *const squeezed =
    "bodies are squeezed, a wedge that closes whatever the friction: no rigid solution, so the contacts yield";
static const char *const missed = "no method came within the tolerance; the best answer is used";
static const char *const unsettled = "no friction of its joints was found that fits their reactions";

static const char *reasonOf(const struct spragWorld *world, const spragIsland *island, spragEventType type)
{
    if (type == SPRAG_EVENT_DECLINED)
        return island->declined;
    if (type == SPRAG_EVENT_JAM)
        return island->wedge.squeezed ? squeezed : wedged;
    if (type != SPRAG_EVENT_FALLBACK)
        return NULL;
    return island->rescued != NULL                                ? island->rescued
           : island->wedge.speed > 0                              ? (island->wedge.squeezed ? squeezed : wedged)
           : island->unsettled                                    ? unsettled
           : !(island->solve.residual <= world->config.tolerance) ? missed
                                                                  : NULL;
}

/* Adds an event of an island as a whole; its first body stands for it. */
static void addIslandEvent(struct spragWorld *world, const spragIsland *island, spragEventType type)
{
    const spragBodyState *body = &world->snapshot.body[island->body[0]];
    spragEvent event = {.time = world->info.time,
                        .step = world->info.step,
                        .body = {body->id, NULL},
                        .body_number = {spragRecordNumber(body->serial), -1},
                        .paradox_class = type == SPRAG_EVENT_INCONSISTENT    ? 1
                                         : type == SPRAG_EVENT_INDETERMINATE ? 3
                                                                             : 0,
                        .reason = reasonOf(world, island, type)};
    memcpy(event.position, body->position, sizeof event.position);
    spragEventLogAdd(&world->log, type, &event);
}

/* Adds paradoxes that only the island as a whole shows: several contacts together may have several solutions, or none,
 * though each one alone is regular (the determinants of docs/theory.md 4; the solver's small-friction test). */
static void addIslandParadox(struct spragWorld *world, const spragIsland *island, int first_event)
{
    int seen[SPRAG_EVENT_TYPE_COUNT] = {0};
    for (int k = first_event; k < world->log.count; ++k)
        seen[world->log.event[k].type] = 1;
    if (!world->config.analysis || island->contact_count < 2)
        return;
    if (island->solve.none && !seen[SPRAG_EVENT_INCONSISTENT])
        addIslandEvent(world, island, SPRAG_EVENT_INCONSISTENT);
    if (island->solve.several && !seen[SPRAG_EVENT_INDETERMINATE])
        addIslandEvent(world, island, SPRAG_EVENT_INDETERMINATE);
}

/* Makes the records of islands first .. end - 1. */
static void makeRecords(void *data, int range, int first, int end)
{
    (void)range;
    struct spragWorld *world = data;
    for (int k = first; k < end; ++k) {
        const spragIsland *island = &world->snapshot.island[k];
        if (island->declined != NULL || island->lone != NULL)
            continue;
        if (island->bare != NULL)
            spragReportBare(world, island);
        else
            spragReportBlocks(world, island);
    }
}

static void reportIsland(struct spragWorld *world, const spragIsland *island)
{
    if (island->declined != NULL) {
        addIslandEvent(world, island, SPRAG_EVENT_DECLINED);
        spragLedgerKeep(world, island);
        return;
    }
    if (island->lone != NULL) {
        spragLoneReportEvents(world, island);
        return;
    }
    if (island->bare != NULL) {
        spragReportBareEvents(world, island);
        return;
    }
    if (island->solve.fallback)
        addIslandEvent(world, island, SPRAG_EVENT_FALLBACK);
    if (island->wedge.speed > 0)
        addIslandEvent(world, island, SPRAG_EVENT_JAM);
    const int first_event = world->log.count;
    spragReportBlockEvents(world, island);
    spragBearingsRemember(world, island);
    if (!island->coupled.examined)
        addIslandParadox(world, island, first_event);
}

/* Gives the island's records their place, `first`.  Those of lone islands are there already: they move up if an island
 * before them had less to tell than there was room for. */
static void placeRecords(struct spragWorld *world, spragIsland *island, int first)
{
    const int from = island->first_record;
    const size_t count = (size_t)island->reported;
    island->first_record = first;
    if (island->lone == NULL || from == first)
        return;
    memmove(&world->next_memory[first], &world->next_memory[from], count * sizeof *world->next_memory);
    memmove(&world->next_pair[first], &world->next_pair[from], count * sizeof *world->next_pair);
    memmove(&world->noted[first], &world->noted[from], count * sizeof *world->noted);
}

void spragReportRecords(struct spragWorld *world, spragOwnFn *own, void *own_data)
{
    const spragSnapshot *s = &world->snapshot;
    world->next_memory_count = 0;
    for (int k = 0; k < s->island_count; ++k) {
        placeRecords(world, &s->island[k], world->next_memory_count);
        world->next_memory_count += s->island[k].declined == NULL ? s->island[k].reported : 0;
    }
    spragRangesRunBeside(world->loop_pool, s->island_count, makeRecords, world, own, own_data);
}

void spragReport(struct spragWorld *world)
{
    const spragSnapshot *s = &world->snapshot;
    world->contact_count = world->next_memory_count;
    world->contacts_told = world->load_count = 0;
    spragEventLogClear(&world->log);
    for (int k = 0; k < s->island_count; ++k)
        reportIsland(world, &s->island[k]);
    closeOld(world);
    swapMemory(world);
    world->info.events = world->log.count;
    world->info.events_lost = world->log.lost;
}
