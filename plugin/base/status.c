#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char detail[512];

spragStatus spragFail(spragStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    return status;
}

void spragDetailClear(void)
{
    detail[0] = '\0';
}

const char *spragStatusDetail(void)
{
    return detail;
}

const char *spragStatusText(spragStatus status)
{
    static const char *const text[] = {
#define SPRAG_STATUS_TEXT(code, words) words,
        SPRAG_STATUS_LIST(SPRAG_STATUS_TEXT)
#undef SPRAG_STATUS_TEXT
    };
    const unsigned index = (unsigned)status;
    return index < (unsigned)SPRAG_STATUS_COUNT ? text[index] : "unknown status";
}

const char *spragVersion(void)
{
    return SPRAG_VERSION;
}
