/* Files and JSON have decimal points whatever the host's locale says: between enter and leave, printf and
 * strtod of this thread use the C locale. */
#ifndef SPRAG_BASE_C_LOCALE_H
#define SPRAG_BASE_C_LOCALE_H

#include <locale.h>

typedef struct spragLocale {
    locale_t plain, before;
} spragLocale;

static inline spragLocale spragLocaleEnter(void)
{
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    return (spragLocale){plain, plain != (locale_t)0 ? uselocale(plain) : (locale_t)0};
}

static inline void spragLocaleLeave(spragLocale locale)
{
    if (locale.plain == (locale_t)0)
        return;
    uselocale(locale.before);
    freelocale(locale.plain);
}

#endif
