/* sprag-map: the plane of friction and a second key of a scene, coloured by the number of solutions.
 *
 * A row of the picture is one value of the second key.  The scene is built there twice, in the middle and at the end of
 * the friction axis, and steps once with a step too short to move: the dumped problem holds A = W and b = (q - slip) /
 * h, and from both how mu of each contact goes along the row.  Colours: spragParadoxEnumerate at every pixel.  Lines:
 * spragCriticalEnumerate, the exact friction of this row; black the fold or cusp, which no load moves, white where
 * solutions of this load meet.  Hatched: rest is one of the solutions (a drawer that locks, a peg that jams). */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "maps/text.h"
#include "decimal.h"
#include "scenes/output.h"
#include "scenes/scene.h"
#include "viewer/image.h"

enum { CONTACTS = SPRAG_PARADOX_CONTACT_MAX, ROWS = 3 * CONTACTS, COLORS = 7 };
enum { HATCH = 7 /* pixels between the lines where it can rest */ };
enum { LEFT = 80, TOP = 60, RIGHT = 190, BOTTOM = 60 };

typedef struct Axis {
    int key;
    double from, to;
} Axis;

typedef struct Options {
    const Scene *scene;
    double value[SCENE_KEY_MAX];
    Axis x, y;
    int width, height; /* of the plot, pixels */
    const char *png, *title;
} Options;

/* By the number of solutions; the last one: of more. */
static const unsigned char color_of[COLORS][3] = {{178, 24, 43},  {233, 236, 239}, {244, 165, 90}, {67, 147, 195},
                                                  {118, 42, 131}, {27, 120, 55},   {90, 90, 90}};
static const unsigned char black[3] = {20, 22, 28}, white[3] = {255, 255, 255}, gray[3] = {95, 100, 110};

/* ---------------------------------------------------------------- options */

__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...)
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
    refuse("scene %s has no key \"%.*s\"", scene->name, (int)length, name);
    return -1;
}

/* "KEY=NUMBER" or "KEY=NUMBER:NUMBER". */
static int readKey(const Scene *scene, const char *text, int *key, double *from, double *to)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL)
        return refuse("\"%s\" is no KEY=VALUE", text);
    if ((*key = findKey(scene, text, (size_t)(equals - text))) < 0)
        return 0;
    const char *end = decimalRead(equals + 1, from);
    if (end == NULL || *end != (to != NULL ? ':' : 0))
        return refuse("\"%s\": expected %s", text, to != NULL ? "KEY=FROM:TO" : "KEY=VALUE");
    if (to == NULL)
        return 1;
    if (!decimalParse(end + 1, to) || !(*from < *to))
        return refuse("\"%s\": expected KEY=FROM:TO, FROM < TO", text);
    return 1;
}

/* Is an axis inside the range of its key? */
static int checkAxis(const Scene *scene, const Axis *axis)
{
    const SceneKey *key = &scene->keys[axis->key];
    char why[SCENE_ERROR_SIZE];
    return SceneKeyFits(key, axis->from, why) && SceneKeyFits(key, axis->to, why) ? 1 : refuse("%s", why);
}

static void printHelp(void)
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

static int readSize(const char *text, Options *o)
{
    char rest;
    if (sscanf(text, "%dx%d%c", &o->width, &o->height, &rest) != 2 || o->width < 50 || o->height < 50 ||
        o->width > 4000 || o->height > 4000)
        return refuse("--size %s: expected WxH, 50 to 4000", text);
    return 1;
}

static int readOption(const char *name, const char *argument, Options *o)
{
    int key;
    double value;
    if (argument == NULL)
        return refuse("%s needs an argument", name);
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
        return refuse("unknown option %s (--help)", name);
    else if (!readKey(o->scene, argument, &key, &value, NULL))
        return 0;
    else
        o->value[key] = value;
    return 1;
}

static int readOptions(int argc, char **argv, Options *o)
{
    if (argc < 2)
        return refuse("which scene? (--help)");
    if ((o->scene = SceneFind(argv[1])) == NULL)
        return refuse("no scene \"%s\" (sprag-view --list)", argv[1]);
    o->width = 520, o->height = 420;
    o->x.key = o->y.key = -1;
    for (int k = 0; o->scene->keys[k].name != NULL; ++k)
        o->value[k] = o->scene->keys[k].value;
    for (int i = 2; i < argc; i += 2)
        if (!readOption(argv[i], argv[i + 1], o))
            return 0;
    if (o->x.key < 0 || o->y.key < 0 || o->png == NULL)
        return refuse("--x, --y and --png are needed (--help)");
    if (o->x.key == o->y.key)
        return refuse("--x and --y are both %s", o->scene->keys[o->x.key].name);
    return checkAxis(o->scene, &o->x) && checkAxis(o->scene, &o->y);
}

/* ---------------------------------------------------------------- a row */

/* Contact state along a row: mu at its left end, and its change over the whole of it. */
typedef struct Row {
    spragContactState state;
    double A[ROWS * ROWS], b[ROWS], slip[2 * CONTACTS], mu[CONTACTS], rate[CONTACTS];
    unsigned char two_sided[CONTACTS];
} Row;

static int readState(const spragProblem *p, double h, Row *row)
{
    const int nc = p->contact_count, n = 3 * nc;
    if (nc < 1 || nc > CONTACTS || p->history == NULL)
        return refuse("an instant with %d contacts, expected 1 to %d", nc, CONTACTS);
    memset(row, 0, sizeof *row);
    row->state = (spragContactState){nc, row->A, row->b, row->slip, row->mu, row->mu, row->two_sided};
    for (int k = 0; k < nc; ++k) {
        const int kind = p->kind != NULL ? p->kind[k] : SPRAG_BLOCK_CONTACT;
        if (kind != SPRAG_BLOCK_CONTACT && kind != SPRAG_BLOCK_TWO_SIDED)
            return refuse("block %d is neither a one-sided nor a two-sided contact", k);
        row->two_sided[k] = kind == SPRAG_BLOCK_TWO_SIDED;
        row->mu[k] = p->mu[k];
        memcpy(row->slip + 2 * k, p->history[k].slip, 2 * sizeof(double));
        for (int i = 0; i < 3; ++i)
            row->b[3 * k + i] = (p->q[3 * k + i] - (i > 0 ? row->slip[2 * k + i - 1] : 0)) / h;
        for (int e = p->row_start[k]; e < p->row_start[k + 1]; ++e)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    row->A[n * (3 * k + i) + 3 * p->column[e] + j] = p->W[9 * e + 3 * i + j];
    }
    return 1;
}

/* The first instant of the scene at these values. */
static int instant(const Options *o, const double *value, const char *scratch, Row *row)
{
    static const double h = 1e-3; /* s: an error of 1e-17 m in a joint counts erp / h^2 in b */
    char error[160];
    SceneWorld *world = SceneCreate(o->scene, value, SCENE_SPRAG, NULL, error);
    if (world == NULL)
        return refuse("%s", error);
    dWorldSetCFM(world->world, 0);
    dWorldSetERP(world->world, 0);
    spragProblem *problem = NULL;
    int done = 0;
    if (SceneStep(world, h) != SPRAG_OK || spragWorldDumpProblem(world->sprag, scratch) != SPRAG_OK ||
        spragProblemRead(scratch, &problem) != SPRAG_OK)
        refuse("%s", SceneDetail(world));
    else
        done = readState(problem, h, row);
    spragProblemFree(problem);
    SceneDestroy(world);
    return done;
}

/* From the right end and the middle: without friction a contact has no tangential rows to read. */
static int makeRow(const Options *o, double y, const char *scratch, Row *row)
{
    double value[SCENE_KEY_MAX];
    Row middle;
    memcpy(value, o->value, sizeof value);
    value[o->y.key] = y;
    value[o->x.key] = 0.5 * (o->x.from + o->x.to);
    if (!instant(o, value, scratch, &middle))
        return 0;
    value[o->x.key] = o->x.to;
    if (!instant(o, value, scratch, row))
        return 0;
    if (middle.state.contact_count != row->state.contact_count || memcmp(middle.A, row->A, sizeof row->A) != 0)
        return refuse("%s is no coefficient of friction: it changes the contacts", o->scene->keys[o->x.key].name);
    for (int k = 0; k < CONTACTS; ++k) {
        row->rate[k] = 2 * (row->mu[k] - middle.mu[k]);
        row->mu[k] -= row->rate[k];
    }
    return 1;
}

/* ---------------------------------------------------------------- the picture */

static void dot(Picture *p, int x, int y, const unsigned char color[3])
{
    if (x >= 0 && x < p->width && y >= 0 && y < p->height)
        memcpy(p->rgb + 3 * (y * p->width + x), color, 3);
}

/* Number of solutions, and whether one of them is rest. */
static int countAt(const Row *row, double t, int *count, int *rests)
{
    double mu[CONTACTS];
    spragContactState state = row->state;
    for (int k = 0; k < state.contact_count; ++k)
        mu[k] = fmax(row->mu[k] + t * row->rate[k], 0);
    state.mu = state.mu_static = mu;
    spragSolutionSet set;
    if (spragParadoxEnumerate(&state, &set) != SPRAG_OK)
        return refuse("%s", spragStatusDetail());
    *count = set.count;
    *rests = 0;
    for (int k = 0; k < set.count; ++k) {
        int held = 1;
        for (int c = 0; c < state.contact_count; ++c)
            held &= set.solution[k].mode[c] == SPRAG_MODE_STICK;
        *rests |= held;
    }
    spragSolutionSetFree(&set);
    return 1;
}

/* Columns of the critical values of a row, by kind and loaded sides: those that
 * agree in both are joined from row to row. */
enum { LINES = 64, GAP = 40 };
typedef struct Line {
    int count, x[LINES], label[LINES];
    spragCriticalKind kind[LINES];
} Line;

static void join(Picture *p, const Line *before, const Line *now, int y)
{
    for (int k = 0; k < now->count; ++k) {
        int from = now->x[k], to = now->x[k], least = GAP;
        for (int j = 0; j < before->count; ++j) {
            const int distance = abs(before->x[j] - now->x[k]);
            if (before->label[j] != now->label[k] || distance >= least)
                continue;
            least = distance;
            from = before->x[j] < now->x[k] ? before->x[j] : now->x[k];
            to = before->x[j] < now->x[k] ? now->x[k] : before->x[j];
        }
        for (int x = from; x <= to + 1; ++x)
            dot(p, LEFT + x, y, now->kind[k] <= SPRAG_CRITICAL_CUSP ? black : white);
    }
}

/* What a picture shows, for its legend. */
typedef struct Seen {
    int count[COLORS], rest;
    unsigned kinds; /* of lines, bits */
} Seen;

static int drawRow(const Options *o, Picture *p, const Row *row, int y, Seen *seen, Line *line)
{
    for (int x = 0; x < o->width; ++x) {
        int count = 0, rests = 0;
        if (!countAt(row, (x + 0.5) / o->width, &count, &rests))
            return 0;
        count = count < COLORS ? count : COLORS - 1;
        seen->count[count] = 1;
        seen->rest |= rests;
        dot(p, LEFT + x, y, color_of[count]);
        if (rests && (x + y) % HATCH == 0)
            dot(p, LEFT + x, y, gray);
    }
    const Line before = *line;
    spragCriticalSet critical;
    if (spragCriticalEnumerate(&row->state, row->rate, 0, 1, &critical) != SPRAG_OK)
        return refuse("%s", spragStatusDetail());
    line->count = 0;
    for (int k = 0; k < critical.count && line->count < LINES; ++k) {
        const spragCritical *c = &critical.critical[k];
        line->x[line->count] = (int)(c->t * o->width);
        line->label[line->count] = (((int)c->kind * 3 + c->variant[0] + 1) * 3 + c->variant[1] + 1) * 3 + c->variant[2];
        line->kind[line->count++] = c->kind;
    }
    spragCriticalSetFree(&critical);
    join(p, &before, line, y);
    return 1;
}

/* About five round values between from and to. */
static double tickStep(double from, double to)
{
    const double raw = (to - from) / 5, power = pow(10, floor(log10(raw))), part = raw / power;
    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

static void drawTicks(const Options *o, Picture *p)
{
    char text[64];
    const int bottom = TOP + o->height;
    for (double d = tickStep(o->x.from, o->x.to), x = ceil(o->x.from / d) * d; x <= o->x.to * (1 + 1e-12); x += d) {
        const int at = LEFT + (int)((x - o->x.from) / (o->x.to - o->x.from) * o->width);
        for (int k = 0; k < 6; ++k)
            dot(p, at, bottom + k, black);
        snprintf(text, sizeof text, "%g", fabs(x) < 1e-9 * d ? 0 : x);
        textDraw(p, at - textWidth(0, text) / 2, bottom + 9, 0, black, text);
    }
    for (double d = tickStep(o->y.from, o->y.to), y = ceil(o->y.from / d) * d; y <= o->y.to * (1 + 1e-12); y += d) {
        const int at = bottom - (int)((y - o->y.from) / (o->y.to - o->y.from) * o->height);
        for (int k = 1; k < 7; ++k)
            dot(p, LEFT - k, at, black);
        snprintf(text, sizeof text, "%g", fabs(y) < 1e-9 * d ? 0 : y);
        textDraw(p, LEFT - 11 - textWidth(0, text), at - 7, 0, black, text);
    }
}

static void drawFrame(const Options *o, Picture *p, const Seen *seen)
{
    char text[200];
    const SceneKey *x = &o->scene->keys[o->x.key], *y = &o->scene->keys[o->y.key];
    snprintf(text, sizeof text, "%s", o->title != NULL ? o->title : o->scene->name);
    textDraw(p, LEFT, 10, 1, black, text);
    snprintf(text, sizeof text, "%s%s%s%s", y->name, *y->unit ? ", " : "", y->unit, " (up)");
    textDraw(p, LEFT, 36, 0, gray, text);
    snprintf(text, sizeof text, "%s%s%s", x->name, *x->unit ? ", " : "", x->unit);
    textDraw(p, LEFT + o->width - textWidth(0, text), TOP + o->height + 30, 0, gray, text);
    drawTicks(o, p);
    const int left = LEFT + o->width + 20;
    int at = TOP;
    textDraw(p, left, at, 0, gray, "solutions");
    for (int count = 0; count < COLORS; ++count) {
        if (!seen->count[count])
            continue;
        at += 26;
        for (int v = 0; v < 16; ++v)
            for (int u = 0; u < 24; ++u)
                dot(p, left + u, at + v, v == 0 || v == 15 || u == 0 || u == 23 ? gray : color_of[count]);
        static const char *const name[COLORS] = {"none", "one", "two", "three", "four", "five", "more"};
        textDraw(p, left + 34, at + 1, 0, black, name[count]);
    }
    if (seen->rest) {
        at += 26;
        for (int v = 0; v < 16; ++v)
            for (int u = 0; u < 24; ++u)
                dot(p, left + u, at + v,
                    v == 0 || v == 15 || u == 0 || u == 23 || (u + v) % HATCH == 0 ? gray : color_of[1]);
        textDraw(p, left + 34, at + 1, 0, black, "it can rest");
    }
    static const char *const line[] = {"fold", "cusp", "solutions meet", "begins to slip"};
    for (unsigned kind = 0; kind < 4; ++kind) {
        if (!(seen->kinds >> kind & 1))
            continue;
        at += 26;
        for (int v = 0; v < 16; ++v)
            for (int u = 0; u < 24; ++u)
                dot(p, left + u, at + v, v == 7 || v == 8 ? (kind < 2 ? black : white) : color_of[kind < 2 ? 1 : 6]);
        textDraw(p, left + 34, at + 1, 0, black, line[kind]);
    }
}

static int draw(const Options *o, const char *scratch, Picture *p)
{
    Seen seen = {0};
    Line line = {0};
    memset(p->rgb, 255, 3 * (size_t)p->width * (size_t)p->height);
    for (int y = 0; y < o->height; ++y) {
        Row row;
        const double value = o->y.to - (o->y.to - o->y.from) * (y + 0.5) / o->height;
        if (!makeRow(o, value, scratch, &row) || !drawRow(o, p, &row, TOP + y, &seen, &line))
            return 0;
        for (int k = 0; k < line.count; ++k)
            seen.kinds |= 1u << line.kind[k];
    }
    drawFrame(o, p, &seen);
    return 1;
}

int main(int argc, char **argv)
{
    static Output png;
    Options o = {0};
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return printHelp(), 0;
    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        return printf("sprag-map %s\n", spragVersion()), 0;
    char scratch[] = "/tmp/sprag-map-XXXXXX", error[200];
    if (!readOptions(argc, argv, &o))
        return 2;
    if (!outputOpen(&png, o.png, error))
        return refuse("--png: %s", error), 2;
    const int file = mkstemp(scratch);
    Picture p = {o.width + LEFT + RIGHT, o.height + TOP + BOTTOM, NULL};
    p.rgb = malloc(3 * (size_t)p.width * (size_t)p.height);
    int done = 0;
    if (file < 0 || p.rgb == NULL || !textOpen())
        refuse("%s", file < 0 ? strerror(errno) : "out of memory, or no font");
    else
        done = draw(&o, scratch, &p);
    if (done && !imageWritePng(png.file, p.width, p.height, p.rgb, error, sizeof error))
        done = refuse("--png %s: %s", o.png, error);
    if (!outputClose(&png, done) && done)
        done = refuse("--png %s: cannot be written", o.png);
    if (file >= 0) {
        close(file);
        unlink(scratch);
    }
    textClose();
    free(p.rgb);
    return done ? 0 : 2;
}
