/* Reader of the reference values, tests/data/oracle_open.json: {"cases":[{id,
 * system, kind, inputs, expected, err_est}]}.
 *
 * A small JSON tree.  Numbers are doubles as strtod reads them; true and false are 1 and 0.  What is not there ends the
 * program (tests, benchmark) with its name.  tests/data holds the file as it was given; SPRAG_ORACLE names another. */
#ifndef DEMOS_SCENES_ORACLE_H
#define DEMOS_SCENES_ORACLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program: a reference that cannot be read is no measurement. */
static inline void oracleNeed(int holds, const char *what, const char *name)
{
    if (holds)
        return;
    fprintf(stderr, "reference values: %s%s\n", what, name);
    exit(2);
}

typedef enum JsonKind { JSON_NULL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } JsonKind;

typedef struct Json {
    JsonKind kind;
    double number;
    char *key;          /* in an object: its name */
    char *text;         /* of a string */
    int count;          /* children */
    struct Json *first; /* (count) */
} Json;

static inline const char *jsonSkip(const char *s)
{
    while (*s == ' ' || *s == '\n' || *s == '\t' || *s == '\r')
        ++s;
    return s;
}

/* The text between quotes, backslash kept as the character that follows it: the oracle has no control escapes. */
static inline const char *jsonText(const char *s, char **out)
{
    size_t length = 0;
    const char *end = s + 1;
    for (; *end != '"' && *end != 0; ++end, ++length)
        if (*end == '\\' && end[1] != 0)
            ++end;
    char *text = malloc(length + 1);
    oracleNeed(text != NULL, "no memory", "");
    size_t i = 0;
    for (const char *p = s + 1; p != end; ++p) {
        if (*p == '\\')
            ++p;
        text[i++] = *p;
    }
    text[i] = 0;
    *out = text;
    return *end == '"' ? end + 1 : end;
}

static inline const char *jsonRead(const char *s, Json *out);

static inline const char *jsonReadMembers(const char *s, Json *out, char close)
{
    int capacity = 0;
    s = jsonSkip(s + 1);
    while (*s != close && *s != 0) {
        if (out->count == capacity) {
            capacity = 2 * capacity + 4;
            out->first = realloc(out->first, (size_t)capacity * sizeof *out->first);
            oracleNeed(out->first != NULL, "no memory", "");
        }
        Json *child = &out->first[out->count++];
        memset(child, 0, sizeof *child);
        if (close == '}') {
            char *key = NULL;
            s = jsonSkip(jsonText(s, &key));
            oracleNeed(*s == ':', "a ':' is missing", "");
            s = jsonRead(s + 1, child);
            child->key = key;
        } else {
            s = jsonRead(s, child);
        }
        s = jsonSkip(s);
        if (*s == ',')
            s = jsonSkip(s + 1);
    }
    oracleNeed(*s == close, "an array or object does not end", "");
    return s + 1;
}

static inline const char *jsonRead(const char *s, Json *out)
{
    memset(out, 0, sizeof *out);
    s = jsonSkip(s);
    if (*s == '{' || *s == '[') {
        out->kind = *s == '{' ? JSON_OBJECT : JSON_ARRAY;
        return jsonReadMembers(s, out, *s == '{' ? '}' : ']');
    }
    if (*s == '"') {
        out->kind = JSON_STRING;
        return jsonText(s, &out->text);
    }
    static const struct {
        const char *word;
        JsonKind kind;
        double number;
    } words[] = {{"null", JSON_NULL, 0}, {"true", JSON_NUMBER, 1}, {"false", JSON_NUMBER, 0}};
    for (int i = 0; i < 3; ++i)
        if (strncmp(s, words[i].word, strlen(words[i].word)) == 0) {
            out->kind = words[i].kind;
            out->number = words[i].number;
            return s + strlen(words[i].word);
        }
    char *end = NULL;
    out->kind = JSON_NUMBER;
    out->number = strtod(s, &end);
    oracleNeed(end != s, "no number: ", s);
    return end;
}

static inline void jsonFree(Json *json)
{
    for (int i = 0; i < json->count; ++i)
        jsonFree(&json->first[i]);
    free(json->first);
    free(json->key);
    free(json->text);
}

/* A member of an object, NULL if it has none of that name. */
static inline const Json *jsonFind(const Json *object, const char *key)
{
    for (int i = 0; i < object->count; ++i)
        if (object->first[i].key != NULL && strcmp(object->first[i].key, key) == 0)
            return &object->first[i];
    return NULL;
}

static inline const Json *jsonGet(const Json *object, const char *key)
{
    const Json *found = jsonFind(object, key);
    oracleNeed(found != NULL, "no member ", key);
    return found;
}

static inline double jsonNumber(const Json *object, const char *key)
{
    const Json *found = jsonGet(object, key);
    oracleNeed(found->kind == JSON_NUMBER, "no number in ", key);
    return found->number;
}

/* Copies numbers of an array from `start`; returns how many (stops at what is no number). */
static inline int jsonNumbers(const Json *array, int start, int count, double *out)
{
    int i = 0;
    for (; i < count; ++i)
        out[i] = 0;
    for (i = 0; i < count && start + i < array->count && array->first[start + i].kind == JSON_NUMBER; ++i)
        out[i] = array->first[start + i].number;
    return i;
}

static inline void oracleOpen(Json *oracle)
{
    const char *path = getenv("SPRAG_ORACLE");
    if (path == NULL)
        path = SPRAG_SOURCE_DIR "/tests/data/oracle_open.json";
    FILE *file = fopen(path, "rb");
    oracleNeed(file != NULL && fseek(file, 0, SEEK_END) == 0, "cannot read ", path);
    const long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    oracleNeed(text != NULL, "no memory", "");
    oracleNeed(fread(text, 1, (size_t)size, file) == (size_t)size, "cannot read ", path);
    text[size] = 0;
    fclose(file);
    jsonRead(text, oracle);
    free(text);
}

/* The case of this id. */
static inline const Json *oracleCase(const Json *oracle, const char *id)
{
    const Json *cases = jsonGet(oracle, "cases");
    for (int i = 0; i < cases->count; ++i)
        if (strcmp(jsonGet(&cases->first[i], "id")->text, id) == 0)
            return &cases->first[i];
    oracleNeed(0, "no case ", id);
    return NULL;
}

#endif
