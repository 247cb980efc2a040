#include "maps/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maps/row.h"

enum {
    COLORS = 7,
    HATCH = 7, /* pixels between the lines where it can rest */
    FIELD_WIDTH = 24,
    FIELD_HEIGHT = 16,
    FIELD_STEP = 26 /* pixels, of the legend */
};

/* By the number of solutions; the last one: of more. */
static const unsigned char color_of[COLORS][3] = {{178, 24, 43},  {233, 236, 239}, {244, 165, 90}, {67, 147, 195},
                                                  {118, 42, 131}, {27, 120, 55},   {90, 90, 90}};
static const unsigned char black[3] = {20, 22, 28}, white[3] = {255, 255, 255}, gray[3] = {95, 100, 110};

static void dot(Picture *p, int x, int y, const unsigned char color[3])
{
    if (x >= 0 && x < p->width && y >= 0 && y < p->height)
        memcpy(p->rgb + 3 * (y * p->width + x), color, 3);
}

/* Columns of the critical values of a row, by kind and loaded sides: those that
 * agree in both are joined from row to row. */
enum { LINES = 64, GAP = 60 /* pixels */ };
typedef struct Line {
    int count, x[LINES], label[LINES];
    spragCriticalKind kind[LINES];
} Line;

static void join(const MapOptions *o, Picture *p, const Line *before, const Line *now, int y)
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
        for (int x = from; x <= to + 1 && x < o->width; ++x)
            dot(p, MAP_LEFT + x, y, now->kind[k] <= SPRAG_CRITICAL_CUSP ? black : white);
    }
}

/* What a picture shows, for its legend. */
typedef struct Seen {
    int count[COLORS], rest;
    unsigned kinds; /* of lines, bits */
} Seen;

static int drawRow(const MapOptions *o, Picture *p, const MapRow *row, int y, Seen *seen, Line *line)
{
    for (int x = 0; x < o->width; ++x) {
        int count = 0, rests = 0;
        if (!mapCountAt(row, (x + 0.5) / o->width, &count, &rests))
            return 0;
        count = count < COLORS ? count : COLORS - 1;
        seen->count[count] = 1;
        seen->rest |= rests;
        dot(p, MAP_LEFT + x, y, color_of[count]);
        if (rests && (x + y) % HATCH == 0)
            dot(p, MAP_LEFT + x, y, gray);
    }
    const Line before = *line;
    spragCriticalSet critical;
    const double beyond = 1 + (double)GAP / o->width; /* a line that leaves the picture goes on to its edge */
    if (spragCriticalEnumerate(&row->state, row->rate, 0, beyond, &critical) != SPRAG_OK)
        return mapRefuse("%s", spragStatusDetail());
    line->count = 0;
    for (int k = 0; k < critical.count && line->count < LINES; ++k) {
        const spragCritical *c = &critical.critical[k];
        line->x[line->count] = (int)(c->t * o->width);
        line->label[line->count] = (((int)c->kind * 3 + c->variant[0] + 1) * 3 + c->variant[1] + 1) * 3 + c->variant[2];
        line->kind[line->count++] = c->kind;
    }
    spragCriticalSetFree(&critical);
    join(o, p, &before, line, y);
    return 1;
}

/* About five round values between from and to. */
static double tickStep(double from, double to)
{
    const double raw = (to - from) / 5, power = pow(10, floor(log10(raw))), part = raw / power;
    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

static void drawTicks(const MapOptions *o, Picture *p)
{
    char text[64];
    const int bottom = MAP_TOP + o->height;
    for (double d = tickStep(o->x.from, o->x.to), x = ceil(o->x.from / d) * d; x <= o->x.to * (1 + 1e-12); x += d) {
        const int at = MAP_LEFT + (int)((x - o->x.from) / (o->x.to - o->x.from) * o->width);
        for (int k = 0; k < 6; ++k)
            dot(p, at, bottom + k, black);
        snprintf(text, sizeof text, "%g", fabs(x) < 1e-9 * d ? 0 : x);
        textDraw(p, at - textWidth(0, text) / 2, bottom + 9, 0, black, text);
    }
    for (double d = tickStep(o->y.from, o->y.to), y = ceil(o->y.from / d) * d; y <= o->y.to * (1 + 1e-12); y += d) {
        const int at = bottom - (int)((y - o->y.from) / (o->y.to - o->y.from) * o->height);
        for (int k = 1; k < 7; ++k)
            dot(p, MAP_LEFT - k, at, black);
        snprintf(text, sizeof text, "%g", fabs(y) < 1e-9 * d ? 0 : y);
        textDraw(p, MAP_LEFT - 11 - textWidth(0, text), at - 7, 0, black, text);
    }
}

/* What fills the field of a legend's entry at (u, v). */
typedef const unsigned char *Fill(int which, int u, int v);

static int isEdge(int u, int v)
{
    return v == 0 || v == FIELD_HEIGHT - 1 || u == 0 || u == FIELD_WIDTH - 1;
}

static const unsigned char *fillCount(int count, int u, int v)
{
    return isEdge(u, v) ? gray : color_of[count];
}

static const unsigned char *fillRest(int unused, int u, int v)
{
    (void)unused;
    return isEdge(u, v) || (u + v) % HATCH == 0 ? gray : color_of[1];
}

static const unsigned char *fillLine(int kind, int u, int v)
{
    (void)u;
    const int dark = kind <= SPRAG_CRITICAL_CUSP;
    return v == FIELD_HEIGHT / 2 - 1 || v == FIELD_HEIGHT / 2 ? (dark ? black : white)
                                                              : color_of[dark ? 1 : COLORS - 1];
}

/* One entry, below the last one at *at. */
static void drawEntry(Picture *p, int left, int *at, Fill *fill, int which, const char *text)
{
    *at += FIELD_STEP;
    for (int v = 0; v < FIELD_HEIGHT; ++v)
        for (int u = 0; u < FIELD_WIDTH; ++u)
            dot(p, left + u, *at + v, fill(which, u, v));
    textDraw(p, left + FIELD_WIDTH + 10, *at + 1, 0, black, text);
}

static void drawLegend(const MapOptions *o, Picture *p, const Seen *seen)
{
    static const char *const number[COLORS] = {"none", "one", "two", "three", "four", "five", "more"};
    static const char *const line[] = {"fold", "cusp", "solutions meet", "begins to slip"};
    const int left = MAP_LEFT + o->width + 20;
    int at = MAP_TOP;
    textDraw(p, left, at, 0, gray, "solutions");
    for (int count = 0; count < COLORS; ++count)
        if (seen->count[count])
            drawEntry(p, left, &at, fillCount, count, number[count]);
    if (seen->rest)
        drawEntry(p, left, &at, fillRest, 0, "it can rest");
    for (int kind = 0; kind < 4; ++kind)
        if (seen->kinds >> kind & 1)
            drawEntry(p, left, &at, fillLine, kind, line[kind]);
}

static void drawFrame(const MapOptions *o, Picture *p, const Seen *seen)
{
    char text[200];
    const SceneKey *x = &o->scene->keys[o->x.key], *y = &o->scene->keys[o->y.key];
    snprintf(text, sizeof text, "%s", o->title != NULL ? o->title : o->scene->name);
    textDraw(p, MAP_LEFT, 10, 1, black, text);
    snprintf(text, sizeof text, "%s%s%s%s", y->name, *y->unit ? ", " : "", y->unit, " (up)");
    textDraw(p, MAP_LEFT, 36, 0, gray, text);
    snprintf(text, sizeof text, "%s%s%s", x->name, *x->unit ? ", " : "", x->unit);
    textDraw(p, MAP_LEFT + o->width - textWidth(0, text), MAP_TOP + o->height + 30, 0, gray, text);
    drawTicks(o, p);
    drawLegend(o, p, seen);
}

int mapDraw(const MapOptions *o, const char *scratch, Picture *p)
{
    Seen seen = {0};
    Line line = {0};
    memset(p->rgb, 255, 3 * (size_t)p->width * (size_t)p->height);
    for (int y = 0; y < o->height; ++y) {
        MapRow row;
        const double value = o->y.to - (o->y.to - o->y.from) * (y + 0.5) / o->height;
        if (!mapMakeRow(o, value, scratch, &row) || !drawRow(o, p, &row, MAP_TOP + y, &seen, &line))
            return 0;
        for (int k = 0; k < line.count; ++k)
            if (line.x[k] < o->width)
                seen.kinds |= 1u << line.kind[k];
    }
    drawFrame(o, p, &seen);
    return 1;
}
