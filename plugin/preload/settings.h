/* What the preload library reads from the environment. */
#ifndef SPRAG_PRELOAD_SETTINGS_H
#define SPRAG_PRELOAD_SETTINGS_H

#include <sprag/sprag_ode.h>

typedef struct spragSettings {
    spragConfig config;
    int report;              /* SPRAG_REPORT is set and not 0 */
    const char *events_path; /* SPRAG_EVENTS, or NULL */
    const char *dump_path;   /* SPRAG_DUMP, or NULL */
} spragSettings;

/* 1: SPRAG_REPORT is set. */
int spragSettingsWantReport(void);
/* Defaults plus the environment.  error gets one line that names a bad key or value, "" if all was good. */
spragSettings spragSettingsFromEnvironment(char *error, size_t error_size);

/* Applies "key=value,key=value" to a config.  1, or 0 with error filled and the config as far as it was read. */
int spragSettingsParse(const char *text, spragConfig *config, char *error, size_t error_size);

#endif
