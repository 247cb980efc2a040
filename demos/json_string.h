/* A JSON string of any bytes, as file names are: what is not UTF-8 becomes U+FFFD. */
#ifndef DEMOS_JSON_STRING_H
#define DEMOS_JSON_STRING_H

#include <stdio.h>

/* Bytes of the UTF-8 character that begins here, or 0: none does (RFC 3629: no surrogate, nothing over-long). */
static inline int jsonCharacter(const unsigned char *c)
{
    const int length = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
    for (int i = 1; i < length; ++i)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    const int wrong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F) || (c[0] == 0xF0 && c[1] < 0x90) ||
                      (c[0] == 0xF4 && c[1] > 0x8F);
    return wrong ? 0 : length;
}

static inline void jsonWriteString(FILE *out, const char *text)
{
    putc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
        const int length = jsonCharacter(c);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < ' ')
            fprintf(out, "\\u%04x", *c);
        else
            fwrite(c, 1, (size_t)length, out);
        c += length > 0 ? length : 1;
    }
    putc('"', out);
}

#endif
