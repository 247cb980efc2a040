#include "preload/settings.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_ode.h"
#include "base/c_locale.h"
#include "base/floats.h"

#define ENOUGH 1e-6   /* m/s: a game shows nothing less, but it shows a step that takes half a second */
#define EARTH 9.81    /* m/s^2 */
#define UNIT_MOST 1e4 /* of a metre: nobody's world is smaller, but absurd gravity may stand for any */

typedef enum Kind { NUMBER, WHOLE, WORD } Kind;

typedef struct Key {
    const char *name;
    size_t at; /* of a double, an int or an enum in spragConfig */
    Kind kind;
    double low, high;
    const char *words; /* of WORD, in the order of their values */
} Key;

#define SOLVERS "auto, stock, variant, lemke, gauss-seidel, newton"

static const Key key_list[] = {
    {"solver", offsetof(spragConfig, solver), WORD, 0, 0, SOLVERS},
    {"tolerance", offsetof(spragConfig, tolerance), NUMBER, 1e-16, 1, NULL},
    {"enough", offsetof(spragConfig, enough), NUMBER, 0, 1, NULL},
    {"iterations", offsetof(spragConfig, iteration_limit), WHOLE, 0, 1e6, NULL},
    {"time-limit", offsetof(spragConfig, time_limit), NUMBER, 0, 1e9, NULL},
    {"threads", offsetof(spragConfig, thread_count), WHOLE, 0, 1024, NULL},
    {"restitution", offsetof(spragConfig, tangential_restitution), NUMBER, 0, 1, NULL},
    {"analysis", offsetof(spragConfig, analysis), WHOLE, SPRAG_ANALYSIS_OFF, SPRAG_ANALYSIS_JUDGE, NULL},
    {"events", offsetof(spragConfig, event_capacity), WHOLE, 0, 1e6, NULL},
    {"indeterminacy", offsetof(spragConfig, indeterminacy), WORD, 0, 0, "history, lift, jam"},
    {"gyroscopic", offsetof(spragConfig, gyroscopic), WORD, 0, 0, "momentum, ode, contacts"},
    {"patient", offsetof(spragConfig, patient), WHOLE, 0, 1, NULL},
    {"forgetful", offsetof(spragConfig, forgetful), WHOLE, 0, 1, NULL},
};
enum { KEYS = sizeof key_list / sizeof *key_list };

/* Its place in "one, two, three", or -1. */
static int findWord(const char *words, const char *text)
{
    const size_t length = strlen(text);
    for (int k = 0; words != NULL; ++k) {
        const size_t end = strcspn(words, ",");
        if (length == end && memcmp(words, text, end) == 0)
            return k;
        words = words[end] == ',' ? words + end + 2 : NULL;
    }
    return -1;
}

static int applyKey(const Key *key, const char *text, spragConfig *config)
{
    char *end;
    const double number = strtod(text, &end);
    const int word = key->kind == WORD ? findWord(key->words, text) : (int)fmax(-1, fmin(number, INT_MAX));
    if (key->kind == WORD ? word < 0 : end == text || *end != '\0' || !(number >= key->low && number <= key->high))
        return 0;
    if (key->kind == WHOLE && word != number)
        return 0;
    if (key->kind == NUMBER)
        memcpy((char *)config + key->at, &number, sizeof number);
    else
        memcpy((char *)config + key->at, &word, sizeof word);
    return 1;
}

static void sayKeys(const char *name, char *error, size_t error_size)
{
    int length = snprintf(error, error_size, "SPRAG_CONFIG: no key '%s', expected", name);
    for (int k = 0; k < KEYS && length > 0 && (size_t)length < error_size; ++k)
        length += snprintf(error + length, error_size - (size_t)length, "%s %s", k > 0 ? "," : "", key_list[k].name);
}

static void sayValue(const Key *key, const char *value, char *error, size_t error_size)
{
    if (key->kind == WORD)
        snprintf(error, error_size, "SPRAG_CONFIG: '%s=%s', expected one of %s", key->name, value, key->words);
    else
        snprintf(error, error_size, "SPRAG_CONFIG: '%s=%s', expected a %snumber from %g to %g", key->name, value,
                 key->kind == WHOLE ? "whole " : "", key->low, key->high);
}

int spragSettingsParse(const char *text, spragConfig *config, char *error, size_t error_size)
{
    char copy[512];
    if (strlen(text) >= sizeof copy) {
        snprintf(error, error_size, "SPRAG_CONFIG is longer than %zu characters", sizeof copy - 1);
        return 0;
    }
    strcpy(copy, text);
    char *rest = copy, *item;
    while ((item = strtok_r(rest, ", ", &rest)) != NULL) {
        char *value = strchr(item, '=');
        if (value == NULL) {
            snprintf(error, error_size, "SPRAG_CONFIG: '%s' is not key=value", item);
            return 0;
        }
        *value++ = '\0';
        int k = 0;
        while (k < KEYS && strcmp(key_list[k].name, item) != 0)
            ++k;
        if (k == KEYS)
            sayKeys(item, error, error_size);
        else if (!applyKey(&key_list[k], value, config))
            sayValue(&key_list[k], value, error, error_size);
        else
            continue;
        return 0;
    }
    return 1;
}

int spragSettingsWantReport(void)
{
    const char *report = getenv("SPRAG_REPORT");
    return report != NULL && report[0] != '\0' && strcmp(report, "0") != 0;
}

spragSettings spragSettingsFromEnvironment(char *error, size_t error_size)
{
    SPRAG_FLOATS; /* NaN may be given, or a number too small */
    const char *events = getenv("SPRAG_EVENTS");
    const char *config = getenv("SPRAG_CONFIG"), *solver = getenv("SPRAG_SOLVER"), *dump = getenv("SPRAG_DUMP");
    spragSettings settings = {.config = spragConfigDefault()};
    error[0] = '\0';
    settings.config.tolerance = settings.config.enough = NAN; /* not given */
    settings.report = spragSettingsWantReport();
    settings.events_path = events != NULL && events[0] != '\0' ? events : NULL;
    settings.dump_path = dump != NULL && dump[0] != '\0' ? dump : NULL;
    const spragLocale locale = spragLocaleEnter(); /* the program may have set one with decimal commas */
    if (config != NULL)
        spragSettingsParse(config, &settings.config, error, error_size);
    spragLocaleLeave(locale);
    settings.tolerance = !isnan(settings.config.tolerance);
    settings.enough = !isnan(settings.config.enough);
    settings.config.tolerance = settings.tolerance ? settings.config.tolerance : spragConfigDefault().tolerance;
    settings.config.enough = settings.enough ? settings.config.enough : ENOUGH;
    if (solver != NULL && solver[0] != '\0') {
        settings.config.solver = spragSolverFind(solver);
        if (settings.config.solver == SPRAG_SOLVER_COUNT)
            snprintf(error, error_size, "SPRAG_SOLVER: unknown solver '%s', expected one of " SOLVERS, solver);
    }
    if (error[0] == '\0' && spragApiCheckConfig(&settings.config) != SPRAG_OK)
        snprintf(error, error_size, "SPRAG_CONFIG: %s", spragStatusDetail());
    return settings;
}

spragConfig spragSettingsFor(const spragSettings *settings, const dReal gravity[3])
{
    spragConfig config = settings->config;
    const double times = sqrt(gravity[0] * gravity[0] + gravity[1] * gravity[1] + gravity[2] * gravity[2]) / EARTH;
    const double unit = times >= 1 && times <= UNIT_MOST ? exp2(floor(log2(times))) : 1;
    if (!settings->tolerance) /* no looser than what is said to be enough */
        config.tolerance *= settings->enough ? fmax(1, fmin(unit, config.enough / config.tolerance)) : unit;
    config.enough *= settings->enough ? 1 : unit;
    return config;
}
