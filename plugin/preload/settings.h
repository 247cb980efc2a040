/* What the preload library reads from the environment. */
#ifndef SPRAG_PRELOAD_SETTINGS_H
#define SPRAG_PRELOAD_SETTINGS_H

#include <sprag/sprag_ode.h>

typedef struct spragSettings {
    spragConfig config;      /* of a world in metres */
    int tolerance, enough;   /* 1: given; else they are in the units of each world */
    int report;              /* SPRAG_REPORT is set and not 0 */
    const char *events_path; /* SPRAG_EVENTS, or NULL */
    const char *dump_path;   /* SPRAG_DUMP, or NULL */
} spragSettings;

/* 1: SPRAG_REPORT is set. */
int spragSettingsWantReport(void);
/* Defaults plus the environment.  error gets one line that names a bad key or value, "" if all was good. */
spragSettings spragSettingsFromEnvironment(char *error, size_t error_size);

/* For a world of this gravity, which tells the units: 386 and 800 are of inches, 981 of centimetres.  A speed that was
 * not given is 2^k times as large as in metres, 2^k 9.81 <= gravity < 2^(k + 1) 9.81, k >= 0; but no tolerance is
 * raised above an `enough` that was given. */
spragConfig spragSettingsFor(const spragSettings *settings, const dReal gravity[3]);

/* Applies "key=value,key=value" to a config.  1, or 0 with error filled and the config as far as it was read. */
int spragSettingsParse(const char *text, spragConfig *config, char *error, size_t error_size);

#endif
