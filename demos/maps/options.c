#include "maps/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "decimal.h"

int mapRefuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("sprag-map: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return 0;
}

static int findKey(const Scene *scene, const char *name, size_t length)
{
    for (int k = 0; scene->keys[k].name != NULL; ++k)
        if (strlen(scene->keys[k].name) == length && strncmp(scene->keys[k].name, name, length) == 0)
            return k;
    mapRefuse("scene %s has no key \"%.*s\"", scene->name, (int)length, name);
    return -1;
}

/* "KEY=NUMBER" or "KEY=NUMBER:NUMBER". */
static int readKey(const Scene *scene, const char *text, int *key, double *from, double *to)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL)
        return mapRefuse("\"%s\" is no KEY=VALUE", text);
    if ((*key = findKey(scene, text, (size_t)(equals - text))) < 0)
        return 0;
    const char *end = decimalRead(equals + 1, from);
    if (end == NULL || *end != (to != NULL ? ':' : 0))
        return mapRefuse("\"%s\": expected %s", text, to != NULL ? "KEY=FROM:TO" : "KEY=VALUE");
    if (to == NULL)
        return 1;
    if (!decimalParse(end + 1, to) || !(*from < *to))
        return mapRefuse("\"%s\": expected KEY=FROM:TO, FROM < TO", text);
    return 1;
}

/* Is an axis inside the range of its key? */
static int checkAxis(const Scene *scene, const MapAxis *axis)
{
    const SceneKey *key = &scene->keys[axis->key];
    char why[SCENE_ERROR_SIZE];
    return SceneKeyFits(key, axis->from, why) && SceneKeyFits(key, axis->to, why) ? 1 : mapRefuse("%s", why);
}

void mapPrintHelp(void)
{
    puts("usage: sprag-map SCENE --x FRICTION=FROM:TO --y KEY=FROM:TO --png FILE [options]\n"
         "  colours the plane by the number of solutions of the scene's first instant\n"
         "  --x mu=0:3             a key that is a coefficient of friction, across\n"
         "  --y angle=1:179        any key, upwards\n"
         "  --set KEY=VALUE        another key, repeatable (sprag-view --list shows them)\n"
         "  --title TEXT           above the picture\n"
         "  --size WxH             of the plot in pixels, default 520x420\n"
         "  --version, --help");
}

static int readSize(const char *text, MapOptions *o)
{
    char rest;
    if (sscanf(text, "%dx%d%c", &o->width, &o->height, &rest) != 2 || o->width < 50 || o->height < 50 ||
        o->width > 4000 || o->height > 4000)
        return mapRefuse("--size %s: expected WxH, 50 to 4000", text);
    return 1;
}

static int readOption(const char *name, const char *argument, MapOptions *o)
{
    int key;
    double value;
    if (argument == NULL)
        return mapRefuse("%s needs an argument", name);
    if (strcmp(name, "--x") == 0)
        return readKey(o->scene, argument, &o->x.key, &o->x.from, &o->x.to);
    if (strcmp(name, "--y") == 0)
        return readKey(o->scene, argument, &o->y.key, &o->y.from, &o->y.to);
    if (strcmp(name, "--size") == 0)
        return readSize(argument, o);
    if (strcmp(name, "--png") == 0)
        o->png = argument;
    else if (strcmp(name, "--title") == 0)
        o->title = argument;
    else if (strcmp(name, "--set") != 0)
        return mapRefuse("unknown option %s (--help)", name);
    else if (!readKey(o->scene, argument, &key, &value, NULL))
        return 0;
    else
        o->value[key] = value;
    return 1;
}

int mapReadOptions(int argc, char **argv, MapOptions *o)
{
    if (argc < 2)
        return mapRefuse("which scene? (--help)");
    if ((o->scene = SceneFind(argv[1])) == NULL)
        return mapRefuse("no scene \"%s\" (sprag-view --list)", argv[1]);
    o->width = 520, o->height = 420;
    o->x.key = o->y.key = -1;
    for (int k = 0; o->scene->keys[k].name != NULL; ++k)
        o->value[k] = o->scene->keys[k].value;
    for (int i = 2; i < argc; i += 2)
        if (!readOption(argv[i], argv[i + 1], o))
            return 0;
    if (o->x.key < 0 || o->y.key < 0 || o->png == NULL)
        return mapRefuse("--x, --y and --png are needed (--help)");
    if (o->x.key == o->y.key)
        return mapRefuse("--x and --y are both %s", o->scene->keys[o->x.key].name);
    return checkAxis(o->scene, &o->x) && checkAxis(o->scene, &o->y);
}
