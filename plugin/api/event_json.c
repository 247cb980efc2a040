/* One event as a line of JSON (spragEventJson). */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include <sprag/sprag_ode.h>

#include "base/c_locale.h"

typedef struct Writer {
    char *buffer;
    size_t size, length; /* length: characters the whole text has, without its end */
} Writer;

__attribute__((format(printf, 2, 3))) static void append(Writer *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const size_t room = out->length < out->size ? out->size - out->length : 0;
    const int n = vsnprintf(room > 0 ? out->buffer + out->length : NULL, room, format, args);
    va_end(args);
    if (n > 0)
        out->length += (size_t)n;
}

/* JSON has no NaN or infinity. */
static void appendNumber(Writer *out, const char *before, double x)
{
    if (isfinite(x))
        append(out, "%s%.17g", before, x);
    else
        append(out, "%snull", before);
}

static void appendVector(Writer *out, const char *key, const double x[3])
{
    append(out, ",\"%s\":", key);
    appendNumber(out, "[", x[0]);
    appendNumber(out, ",", x[1]);
    appendNumber(out, ",", x[2]);
    append(out, "]");
}

size_t spragEventJson(const spragEvent *event, const int body[2], char *buffer, size_t size)
{
    if (buffer == NULL)
        size = 0;
    if (size > 0)
        buffer[0] = '\0';
    if (event == NULL)
        return 0;
    const spragLocale locale = spragLocaleEnter();
    Writer out = {buffer, size, 0};
    append(&out, "{\"type\":\"%s\"", spragEventName(event->type));
    appendNumber(&out, ",\"time\":", event->time);
    append(&out, ",\"step\":%ld,\"contact\":%llu", event->step, event->contact);
    if (body == NULL)
        body = event->body_number;
    append(&out, ",\"body\":[%d,%d]", body[0], body[1]);
    appendVector(&out, "position", event->position);
    appendVector(&out, "normal", event->normal);
    appendVector(&out, "impulse", event->impulse);
    appendVector(&out, "slip_before", event->slip_before);
    appendVector(&out, "slip_after", event->slip_after);
    appendNumber(&out, ",\"p\":", event->p);
    appendNumber(&out, ",\"b\":", event->b);
    appendNumber(&out, ",\"separatrix\":", event->separatrix);
    append(&out, ",\"anticipated\":%d,\"paradox_class\":%d,\"variant\":%d", event->anticipated, event->paradox_class,
           event->variant);
    if (event->reason != NULL)
        append(&out, ",\"reason\":\"%s\"", event->reason);
    append(&out, "}");
    spragLocaleLeave(locale);
    return out.length;
}
