#include "viewer/options.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "decimal.h"

__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("sprag-view: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return -1;
}

static void printHelp(void)
{
    puts("usage: sprag-view SCENE [options]\n"
         "  --solver sprag|ode-step|ode-quick|both|both-quick   who steps (both: stock ODE left, Sprag right;\n"
         "                         beyond 30 bodies, and with both-quick, stock ODE is dWorldQuickStep)\n"
         "  --set KEY=VALUE        a key of the scene, repeatable; --list shows them\n"
         "  --step-size H          s\n"
         "  --steps N              stop after N steps\n"
         "  --headless             no window; no display or OpenGL needed unless --png or --video\n"
         "  --size WxH             pixels, default 1280x720\n"
         "  --trace FILE.csv       positions, velocities and contacts of every step\n"
         "  --events FILE.jsonl    events, one JSON object a line\n"
         "  --png FILE             picture of the last step, without a window\n"
         "  --video FILE.mp4       the run at 60 frames a second, without a window (needs ffmpeg)\n"
         "  --list                 scenes and their keys\n"
         "  --version, --help\n"
         "keys in the window: space pause, N step, R reset, up/down mu, drag orbit, right-drag pan, wheel zoom,\n"
         "  F follow, 1 cones, 2 forces, 3 slip, 4 text, H help, Esc quit");
}

static void printScenes(void)
{
    for (const Scene *const *s = scene_table; *s != NULL; ++s) {
        printf("%-16s %s\n", (*s)->name, (*s)->line);
        for (const SceneKey *k = (*s)->keys; k->name != NULL; ++k)
            printf("    %s=%g%s%s  [%g, %g]  %s\n", k->name, k->value, k->unit[0] != '\0' ? " " : "", k->unit, k->min,
                   k->max, k->text);
    }
}

static int setKey(Options *o, const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL)
        return refuse("--set %s: expected KEY=VALUE", text);
    const size_t length = (size_t)(equals - text);
    for (int k = 0; o->scene->keys[k].name != NULL; ++k) {
        const SceneKey *key = &o->scene->keys[k];
        if (strlen(key->name) != length || strncmp(key->name, text, length) != 0)
            continue;
        char why[SCENE_ERROR_SIZE];
        if (!decimalParse(equals + 1, &o->value[k]))
            return refuse("--set %s: '%s' is not a decimal number", text, equals + 1);
        return SceneKeyFits(key, o->value[k], why) ? 1 : refuse("--set %s: %s", text, why);
    }
    return refuse("--set %s: scene '%s' has no key '%.*s'; sprag-view --list shows its keys", text, o->scene->name,
                  (int)length, text);
}

static int setSolver(Options *o, const char *name)
{
    o->view_count = 1;
    if (strcmp(name, "sprag") == 0) {
        o->solver[0] = SCENE_SPRAG;
    } else if (strcmp(name, "ode-step") == 0) {
        o->solver[0] = SCENE_ODE_STEP;
    } else if (strcmp(name, "ode-quick") == 0) {
        o->solver[0] = SCENE_ODE_QUICK;
    } else if (strcmp(name, "both") == 0 || strcmp(name, "both-quick") == 0) {
        o->solver[0] = strcmp(name, "both") == 0 ? SCENE_ODE_STEP : SCENE_ODE_QUICK;
        o->solver[1] = SCENE_SPRAG;
        o->view_count = 2;
    } else {
        return refuse("--solver %s: expected sprag, ode-step, ode-quick, both or both-quick", name);
    }
    return 1;
}

static int setSize(Options *o, const char *text)
{
    char rest;
    if (sscanf(text, "%dx%d%c", &o->width, &o->height, &rest) != 2 || o->width < 64 || o->height < 64 ||
        o->width > 8192 || o->height > 8192)
        return refuse("--size %s: expected WIDTHxHEIGHT, 64 to 8192 pixels each", text);
    return 1;
}

static int takesValue(const char *name)
{
    static const char *const option[] = {"--set",   "--solver", "--size", "--step-size", "--steps",
                                         "--trace", "--events", "--png",  "--video"};
    for (size_t k = 0; k < sizeof option / sizeof *option; ++k)
        if (strcmp(name, option[k]) == 0)
            return 1;
    return 0;
}

/* One option that takesValue. */
static int setValue(Options *o, const char *name, const char *value)
{
    double number;
    if (strcmp(name, "--set") == 0)
        return setKey(o, value);
    if (strcmp(name, "--solver") == 0)
        return setSolver(o, value);
    if (strcmp(name, "--size") == 0)
        return setSize(o, value);
    if (strcmp(name, "--step-size") == 0) {
        if (!decimalParse(value, &number) || !(number > 0) || number > 1)
            return refuse("--step-size %s: expected seconds, above 0, at most 1", value);
        o->step_size = number;
        return 1;
    }
    if (strcmp(name, "--steps") == 0) {
        if (!decimalParse(value, &number) || number < 1 || number > 1e9 || number != floor(number))
            return refuse("--steps %s: expected a whole number from 1 to 1e9", value);
        o->steps = (long)number;
        return 1;
    }
    const char **path = strcmp(name, "--trace") == 0    ? &o->trace
                        : strcmp(name, "--events") == 0 ? &o->events
                        : strcmp(name, "--png") == 0    ? &o->png
                                                        : &o->video;
    if (value[0] == '\0')
        return refuse("%s: the file name is empty", name);
    *path = value;
    return 1;
}

static int findScene(Options *o, const char *name)
{
    o->scene = SceneFind(name);
    if (o->scene == NULL)
        return refuse("no scene '%s'; sprag-view --list shows all", name);
    for (int k = 0; o->scene->keys[k].name != NULL; ++k)
        o->value[k] = o->scene->keys[k].value;
    o->step_size = o->scene->step_size;
    return 1;
}

/* Each output has its own file. */
static int checkFiles(const Options *o)
{
    const char *const path[] = {o->trace, o->events, o->png, o->video};
    for (int k = 0; k < 4; ++k)
        for (int j = 0; j < k; ++j)
            if (path[j] != NULL && path[k] != NULL && strcmp(path[j], path[k]) == 0)
                return refuse("two outputs are to be written to %s", path[k]);
    return 1;
}

int optionsParse(int argc, char **argv, Options *out)
{
    *out = (Options){.solver = {SCENE_SPRAG}, .view_count = 1, .width = 1280, .height = 720};
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return printHelp(), 0;
        if (strcmp(argv[i], "--list") == 0)
            return printScenes(), 0;
        if (strcmp(argv[i], "--version") == 0)
            return printf("sprag-view %s\n", spragVersion()), 0;
    }
    if (argc < 2 || argv[1][0] == '-')
        return refuse("the first argument is the scene; sprag-view --list shows all, --help the options");
    if (findScene(out, argv[1]) < 0)
        return -1;
    for (int i = 2; i < argc; ++i) {
        if (strcmp(argv[i], "--headless") == 0) {
            out->headless = 1;
            continue;
        }
        if (argv[i][0] != '-')
            return refuse("unexpected argument '%s'", argv[i]);
        if (!takesValue(argv[i]))
            return refuse("unknown option '%s'; --help shows all", argv[i]);
        if (i + 1 >= argc)
            return refuse("%s needs a value", argv[i]);
        if (setValue(out, argv[i], argv[i + 1]) < 0)
            return -1;
        ++i;
    }
    if (out->png != NULL || out->video != NULL)
        out->headless = 1; /* pictures are of a run from beginning to end, whatever a window would show */
    return checkFiles(out);
}
