#include "scenes/trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "scenes/output.h"

/* ---------------------------------------------------------------- trace */

/* Rows grow to the right as slots are needed; the rows written before are padded when the trace is closed. */
struct Trace {
    Output table;
    FILE *rows; /* each as wide as its time needed, after its number of slots; nameless */
    int body_count;
    int slot_count, capacity;
    unsigned long long *slot_id;  /* (capacity) 0 = free */
    const spragContact **contact; /* (capacity) of this step, NULL = free */
};

static const char *const mode_name[] = {"open", "stick", "slip"};

static void writeNumbers(FILE *file, int count, const double *value)
{
    for (int i = 0; i < count; ++i)
        fprintf(file, ",%.17g", value[i]);
}

static void writeBody(FILE *file, dBodyID body)
{
    writeNumbers(file, 3, dBodyGetPosition(body));
    writeNumbers(file, 4, dBodyGetQuaternion(body));
    writeNumbers(file, 3, dBodyGetLinearVel(body));
    writeNumbers(file, 3, dBodyGetAngularVel(body));
}

static void writeContact(FILE *file, const spragContact *contact)
{
    static const spragContact none;
    const spragContact *c = contact != NULL ? contact : &none;
    writeNumbers(file, 1, &c->normal_force);
    writeNumbers(file, 3, c->friction);
    writeNumbers(file, 3, c->slip);
    fprintf(file, ",%s,%.17g,%.17g", mode_name[c->mode], c->painleve_p, c->free_acceleration);
}

static int growSlots(Trace *trace)
{
    const int capacity = 2 * trace->capacity + 8;
    unsigned long long *id = realloc(trace->slot_id, (size_t)capacity * sizeof *id);
    if (id != NULL)
        trace->slot_id = id;
    const spragContact **contact = realloc(trace->contact, (size_t)capacity * sizeof *contact);
    if (contact != NULL)
        trace->contact = contact;
    if (id == NULL || contact == NULL)
        return 0;
    trace->capacity = capacity;
    return 1;
}

/* Gives every contact its slot: its old one, else the lowest free one. */
static int assignSlots(Trace *trace, int count, const spragContact *contacts)
{
    for (int s = 0; s < trace->slot_count; ++s) {
        trace->contact[s] = NULL;
        for (int k = 0; k < count && trace->contact[s] == NULL; ++k)
            if (contacts[k].id == trace->slot_id[s])
                trace->contact[s] = &contacts[k];
        if (trace->contact[s] == NULL)
            trace->slot_id[s] = 0;
    }
    for (int k = 0; k < count; ++k) {
        int s = 0;
        while (s < trace->slot_count && trace->slot_id[s] != contacts[k].id)
            ++s;
        if (s < trace->slot_count)
            continue;
        for (s = 0; s < trace->slot_count && trace->slot_id[s] != 0;)
            ++s;
        if (s == trace->capacity && !growSlots(trace))
            return 0;
        if (s == trace->slot_count)
            trace->slot_count += 1;
        trace->slot_id[s] = contacts[k].id;
        trace->contact[s] = &contacts[k];
    }
    return 1;
}

static int writeRow(Trace *trace, SceneWorld *world)
{
    FILE *file = trace->rows;
    fprintf(file, "%d %.17g", trace->slot_count, world->time);
    for (int i = 0; i < trace->body_count; ++i)
        writeBody(file, world->body[i]);
    for (int s = 0; s < trace->slot_count; ++s)
        writeContact(file, trace->contact[s]);
    fputc('\n', file);
    return !ferror(file);
}

static void traceFree(Trace *trace)
{
    free(trace->slot_id);
    free(trace->contact);
    free(trace);
}

Trace *TraceOpen(const char *path, SceneWorld *world, char *error)
{
    Trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL) {
        snprintf(error, OUTPUT_ERROR_SIZE, "out of memory");
        return NULL;
    }
    trace->body_count = world->body_count;
    if (!outputOpen(&trace->table, path, error)) {
        free(trace);
        return NULL;
    }
    if ((trace->rows = tmpfile()) == NULL || !writeRow(trace, world)) {
        snprintf(error, OUTPUT_ERROR_SIZE, "cannot write %.80s", path);
        TraceClose(trace, 0);
        return NULL;
    }
    return trace;
}

int TraceStep(Trace *trace, SceneWorld *world)
{
    const spragContact *contacts = NULL;
    const int count = SceneGetContacts(world, &contacts);
    return assignSlots(trace, count, contacts) && writeRow(trace, world);
}

static void writeHeader(FILE *file, int bodies, int slots)
{
    fputs("time", file);
    for (int i = 0; i < bodies; ++i)
        fprintf(file, ",b%d_x,b%d_y,b%d_z,b%d_qw,b%d_qx,b%d_qy,b%d_qz,b%d_vx,b%d_vy,b%d_vz,b%d_wx,b%d_wy,b%d_wz", i, i,
                i, i, i, i, i, i, i, i, i, i, i);
    for (int s = 0; s < slots; ++s)
        fprintf(file,
                ",c%d_normal_force,c%d_friction_x,c%d_friction_y,c%d_friction_z,c%d_slip_x,c%d_slip_y,c%d_slip_z,"
                "c%d_mode,c%d_p,c%d_b",
                s, s, s, s, s, s, s, s, s, s);
    fputc('\n', file);
}

/* Second pass: header, then every row padded to the same width. */
static int writeTable(Trace *trace)
{
    FILE *rows = trace->rows, *table = trace->table.file;
    writeHeader(table, trace->body_count, trace->slot_count);
    rewind(rows);
    int slots;
    while (fscanf(rows, "%d ", &slots) == 1) {
        for (int c = getc(rows); c != '\n' && c != EOF; c = getc(rows))
            putc(c, table);
        for (int s = slots; s < trace->slot_count; ++s)
            writeContact(table, NULL);
        putc('\n', table);
    }
    return !ferror(rows) && !ferror(table);
}

int TraceClose(Trace *trace, int keep)
{
    if (trace == NULL)
        return 0;
    const int written = !keep || writeTable(trace);
    const int good = outputClose(&trace->table, keep && written) && written;
    if (trace->rows != NULL)
        fclose(trace->rows);
    traceFree(trace);
    return good;
}

/* ---------------------------------------------------------------- events */

struct EventLog {
    Output output;
};

EventLog *EventLogOpen(const char *path, char *error)
{
    EventLog *log = calloc(1, sizeof *log);
    if (log == NULL)
        snprintf(error, OUTPUT_ERROR_SIZE, "out of memory");
    else if (!outputOpen(&log->output, path, error)) {
        free(log);
        return NULL;
    }
    return log;
}

/* Place of a body in the trace, -1 = the world. */
static int bodyIndex(const SceneWorld *world, dBodyID body)
{
    for (int i = 0; i < world->body_count; ++i)
        if (world->body[i] == body)
            return i;
    return -1;
}

static void writeEvent(FILE *file, const SceneWorld *world, const spragEvent *e)
{
    const int body[2] = {bodyIndex(world, e->body[0]), bodyIndex(world, e->body[1])};
    char line[1024];
    spragEventJson(e, body, line, sizeof line);
    fprintf(file, "%s\n", line);
}

int EventLogStep(EventLog *log, SceneWorld *world)
{
    const spragEvent *events = NULL;
    const int count = world->sprag != NULL ? spragWorldGetEvents(world->sprag, &events) : 0;
    for (int i = 0; i < count; ++i)
        writeEvent(log->output.file, world, &events[i]);
    const int lost = world->sprag != NULL ? spragWorldGetStepInfo(world->sprag).events_lost : 0;
    return lost == 0 && !ferror(log->output.file);
}

int EventLogClose(EventLog *log, int keep)
{
    if (log == NULL)
        return 0;
    const int good = outputClose(&log->output, keep);
    free(log);
    return good;
}
