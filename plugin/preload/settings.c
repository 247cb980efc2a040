#include "preload/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_ode.h"
#include "base/c_locale.h"

#define ENOUGH 1e-6 /* m/s: a game shows nothing less, but it shows a step that takes half a second */

/* A number in [low, high], or a word of a list. */
static int parseNumber(const char *text, double low, double high, double *out)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= low && value <= high))
        return 0;
    *out = value;
    return 1;
}

static int parseWord(const char *text, const char *const *word, int *out)
{
    for (int k = 0; word[k] != NULL; ++k)
        if (strcmp(text, word[k]) == 0) {
            *out = k;
            return 1;
        }
    return 0;
}

static int applyKey(const char *key, const char *value, spragConfig *config)
{
    static const char *const indeterminacy[] = {"history", "lift", "jam", NULL};
    static const char *const gyroscopic[] = {"momentum", "ode", NULL};
    double number;
    int word;
    if (strcmp(key, "solver") == 0) {
        config->solver = spragSolverFind(value);
        return config->solver != SPRAG_SOLVER_COUNT;
    }
    if (strcmp(key, "tolerance") == 0)
        return parseNumber(value, 1e-16, 1, &config->tolerance);
    if (strcmp(key, "enough") == 0)
        return parseNumber(value, 0, 1, &config->enough);
    if (strcmp(key, "time-limit") == 0)
        return parseNumber(value, 0, 1e9, &config->time_limit);
    if (strcmp(key, "restitution") == 0)
        return parseNumber(value, 0, 1, &config->tangential_restitution);
    if (strcmp(key, "indeterminacy") == 0 && parseWord(value, indeterminacy, &word)) {
        config->indeterminacy = (spragIndeterminacy)word;
        return 1;
    }
    if (strcmp(key, "gyroscopic") == 0 && parseWord(value, gyroscopic, &word)) {
        config->gyroscopic = (spragGyroscopic)word;
        return 1;
    }
    int *integer = strcmp(key, "iterations") == 0 ? &config->iteration_limit
                   : strcmp(key, "threads") == 0  ? &config->thread_count
                   : strcmp(key, "analysis") == 0 ? &config->analysis
                   : strcmp(key, "events") == 0   ? &config->event_capacity
                                                  : NULL;
    if (integer == NULL || !parseNumber(value, 0, 1e6, &number))
        return 0;
    *integer = (int)number;
    return 1;
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
    while ((item = strtok_r(rest, ",", &rest)) != NULL) {
        char *value = strchr(item, '=');
        if (value == NULL) {
            snprintf(error, error_size, "SPRAG_CONFIG: '%s' is not key=value", item);
            return 0;
        }
        *value++ = '\0';
        if (!applyKey(item, value, config)) {
            snprintf(error, error_size, "SPRAG_CONFIG: bad key or value in '%s=%s'", item, value);
            return 0;
        }
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
    const char *events = getenv("SPRAG_EVENTS");
    const char *config = getenv("SPRAG_CONFIG"), *solver = getenv("SPRAG_SOLVER"), *dump = getenv("SPRAG_DUMP");
    spragSettings settings = {.config = spragConfigDefault()};
    error[0] = '\0';
    settings.config.enough = ENOUGH;
    settings.report = spragSettingsWantReport();
    settings.events_path = events != NULL && events[0] != '\0' ? events : NULL;
    settings.dump_path = dump != NULL && dump[0] != '\0' ? dump : NULL;
    const spragLocale locale = spragLocaleEnter(); /* the program may have set one with decimal commas */
    if (config != NULL)
        spragSettingsParse(config, &settings.config, error, error_size);
    spragLocaleLeave(locale);
    if (solver != NULL && solver[0] != '\0') {
        settings.config.solver = spragSolverFind(solver);
        if (settings.config.solver == SPRAG_SOLVER_COUNT)
            snprintf(error, error_size, "SPRAG_SOLVER: unknown solver '%s'", solver);
    }
    if (error[0] == '\0' && spragApiCheckConfig(&settings.config) != SPRAG_OK)
        snprintf(error, error_size, "SPRAG_CONFIG: %s", spragStatusDetail());
    return settings;
}
