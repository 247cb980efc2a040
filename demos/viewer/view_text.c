/* What a view says in words, numbers and plots.
 *
 *     title                                     how well the contact laws are kept
 *     scene, time, ...
 *     (what happened, once)
 *
 *     legend
 *     table of contacts
 *     events               normal force over time       slip over time
 *
 * Text is never smaller than TEXT_LEAST pixels: what does not fit is left out, the least important first. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viewer/hud.h"
#include "viewer/palette.h"
#include "viewer/view.h"
#include "viewer/words.h"

static const HudColor ink = {28, 34, 44, 255}, faint = {88, 98, 112, 255}, paper = {255, 255, 255, 205};
static const HudColor warning = {176, 16, 92, 255}, grid = {205, 211, 219, 255};
static const float TEXT_LEAST = 10;  /* pixels */
static const float MONO = 0.61f;     /* width of a character of one width, in its size */
static const float LINE = 1.4f;      /* from line to line, in the size of the text */
static const float HEADER = 4.3f;    /* height of the header, in the size of the text */
static const float PLOT_LEAST = 105; /* pixels: a plot of less is left out */

static const char *const mode_name[3] = {"open", "stick", "slip"};

static const char *solverTitle(SceneSolver solver)
{
    return solver == SCENE_SPRAG      ? "Sprag"
           : solver == SCENE_ODE_STEP ? "stock ODE, dWorldStep"
                                      : "stock ODE, dWorldQuickStep";
}

/* A mark's colour, dark enough for text or a line: part 1 is the mark's own. */
static HudColor inked(const float color[4], float part)
{
    const float p = 255 * part;
    return (HudColor){(unsigned char)(p * color[0]), (unsigned char)(p * color[1]), (unsigned char)(p * color[2]), 255};
}

/* ---------------------------------------------------------------- header */

/* As many parts, the first ones first, as fit into the width; parted by three blanks. */
static void textParts(float x, float y, float width, float size, char part[][100], int count)
{
    char text[500] = "";
    size_t n = 0;
    for (int k = 0; k < count; ++k) {
        if (part[k][0] == '\0')
            continue;
        const size_t kept = n;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n > 0 ? "   " : "", part[k]);
        if (hudTextWidth(size, 0, text) > width) {
            text[kept] = '\0';
            break;
        }
    }
    hudText(x, y, size, 0, faint, text);
}

static void textHeader(const View *view, int left, int width, float size)
{
    enum { PARTS = 4 };
    char part[PARTS][100] = {""}, verdict[100];
    const SceneWorld *world = view->world;
    const float x = (float)left + size, end = (float)(left + width) - size, small = fmaxf(TEXT_LEAST, 0.95f * size);
    const float title = hudText(x, 0.7f * size, 1.5f * size, 1, ink, solverTitle(view->solver));
    int n = snprintf(part[0], sizeof part[0], "%s", world->scene->name);
    for (const SceneKey *key = world->scene->keys; key->name != NULL; ++key)
        if (strcmp(key->name, "mu") == 0) /* one for all contacts */
            snprintf(part[0] + n, sizeof part[0] - (size_t)n, "   mu %.3g", world->surface.mu);
    snprintf(part[1], sizeof part[1], "t = %.4f s", world->time);
    if (world->body_count == 1) {
        const double rate = dCalcVectorLength3(dBodyGetAngularVel(world->body[0]));
        snprintf(part[2], sizeof part[2], "|w| %.4g rad/s", rate < 1e-9 ? 0 : rate);
    }
    if (world->sprag != NULL) {
        const spragStepInfo info = spragWorldGetStepInfo(world->sprag);
        wordsSolvers(part[3], sizeof part[3], &info);
    }
    float rest = end - x;
    if (view->residual >= 0 && rest > 25 * size) {
        const int missed = wordsVerdict(verdict, sizeof verdict, view->residual);
        const float w = hudTextWidth(size, 1, verdict), beside = title + 2 * size;
        const int below = beside + w > rest; /* the title leaves it no place */
        if (below)
            rest -= w + 2 * size;
        hudText(end - w, below ? 2.6f * size : size, size, 1, missed ? warning : inked(palette_mode[1], 0.75f),
                verdict);
    }
    textParts(x, 2.6f * size, rest, small, part + (rest < 15 * size), PARTS - (rest < 15 * size));
}

/* ---------------------------------------------------------------- what happened */

/* In words, for somebody who has never heard of Painleve; two lines, the second may be empty. */
static void notableWords(const View *view, char line[2][160])
{
    const spragEvent *e = &view->notable;
    const size_t size = sizeof line[0];
    const double t = e->time;
    switch (e->type) {
    case SPRAG_EVENT_JAM:
        snprintf(line[0], size, "JAM at %.4g s:", t);
        snprintf(line[1], size, "an impulse of %.3g N s stopped a slip of %.3g m/s", dCalcVectorLength3(e->impulse),
                 dCalcVectorLength3(e->slip_before));
        break;
    case SPRAG_EVENT_INCONSISTENT:
        snprintf(line[0], size, "INCONSISTENT at %.4g s:", t);
        snprintf(line[1], size, "no sliding motion exists (p = %.3g, b = %.3g)", e->p, e->b);
        break;
    case SPRAG_EVENT_INDETERMINATE:
        snprintf(line[0], size, "INDETERMINATE at %.4g s:", t);
        if (e->paradox_class == 4)
            snprintf(line[1], size, "several motions can last, history decides");
        else if (view->world->guide_count > 0)
            snprintf(line[1], size, "several motions on paper, one of them can last");
        else
            snprintf(line[1], size, "lift-off or jam, history decides (N* = %.3g N)", e->separatrix);
        break;
    default:
        snprintf(line[0], size, "DETACHED at %.4g s", t);
    }
}

static void textNotable(const View *view, int left, int width, float top, float size)
{
    char line[2][160] = {"", ""}, whole[321];
    notableWords(view, line);
    snprintf(whole, sizeof whole, "%s %s", line[0], line[1]);
    float big = 1.15f * size;
    const float room = (float)width - 4 * size;
    const int two = hudTextWidth(big, 1, whole) > room && line[1][0] != '\0';
    float w = two ? fmaxf(hudTextWidth(big, 1, line[0]), hudTextWidth(big, 1, line[1])) : hudTextWidth(big, 1, whole);
    if (w > room) {
        big *= room / w;
        w = room;
    }
    const float x = (float)left + 0.5f * ((float)width - w), y = top + size;
    hudRectangle((HudBox){x - size, y - 0.5f * size, w + 2 * size, big * (two ? 1 + LINE : 1) + size}, 6,
                 (HudColor){255, 240, 247, 235});
    hudText(x, y, big, 1, warning, two ? line[0] : whole);
    if (two)
        hudText(x, y + LINE * big, big, 1, warning, line[1]);
}

/* ---------------------------------------------------------------- legend, table, events */

/* Of the marks in the picture, above `bottom`; nothing where it does not fit. */
static void textLegend(const View *view, float x, float bottom, float width, float size)
{
    const struct {
        const char *text;
        const float *color;
        int arrow;
    } mark[] = {{"sticks", palette_mode[1], 0},
                {"slips", palette_mode[2], 0},
                {view->world->body_count <= 4 ? "force, in its friction cone" : "force", palette_force, 1},
                {"slip speed", palette_slip, 1}};
    enum { MARKS = sizeof mark / sizeof *mark };
    float w = 0;
    for (int k = 0; k < MARKS; ++k)
        w += (mark[k].arrow ? 2.6f : 1.6f) * size + hudTextWidth(size, 1, mark[k].text);
    if (w > width)
        return;
    const float y = bottom - 1.8f * size;
    hudRectangle((HudBox){x - 0.5f * size, y - 0.3f * size, w + 0.5f * size, 1.7f * size}, 4, paper);
    for (int k = 0; k < MARKS; ++k) {
        const float middle = y + 0.55f * size, long_part = (mark[k].arrow ? 1.4f : 0.7f) * size;
        const HudColor color = inked(mark[k].color, 1);
        if (mark[k].arrow)
            hudArrow(x, middle, long_part, 0.7f * size, color);
        else
            hudRectangle((HudBox){x, middle - 0.35f * size, long_part, 0.7f * size}, 0.35f * size, color);
        x += long_part + 0.4f * size;
        x += hudText(x, y, size, 1, ink, mark[k].text) + (mark[k].arrow ? 0.8f : 0.5f) * size;
    }
}

/* One line each, `rows` at most. */
static void textContacts(const View *view, float x, float y, float size, int columns, int rows)
{
    const spragContact *contact;
    const int count = SceneGetContacts(view->world, &contact);
    const float line = LINE * size;
    char text[200];
    wordsTableHead(text, sizeof text, columns);
    hudText(x, y, size, 0, faint, text);
    int shown = 0;
    for (; shown < count && shown < (count > rows ? rows - 1 : rows); ++shown) {
        const spragContact *c = &contact[shown];
        const float row = y + line * (float)(shown + 1);
        hudText(x, row, size, 0, inked(palette_mode[c->mode], 0.72f), mode_name[c->mode]);
        wordsContact(text, sizeof text, columns, c, SceneContactMu(view->world, c), view->solver == SCENE_SPRAG);
        hudText(x, row, size, 0, ink, text);
    }
    if (count > shown) {
        snprintf(text, sizeof text, "and %d more contact%s", count - shown, count - shown > 1 ? "s" : "");
        hudText(x, y + line * (float)(shown + 1), size, 0, faint, text);
    }
}

/* Sprag's events; what stock ODE complained of. */
static void textEvents(const View *view, float x, float y, float size, int rows)
{
    char text[200];
    if (view->solver != SCENE_SPRAG) {
        hudText(x, y, 0.95f * size, 1, faint, "stock ODE's messages");
        snprintf(text, sizeof text, view->complaints > 0 ? "LCP solver failed: %d" : "none", view->complaints);
        hudText(x, y + LINE * size, size, 0, view->complaints > 0 ? warning : faint, text);
        return;
    }
    hudText(x, y, 0.95f * size, 1, faint, view->event_count > 0 ? "last events" : "no events yet");
    for (int k = 0; k < view->event_count && k < rows; ++k) {
        const spragEvent *e = &view->event[k];
        snprintf(text, sizeof text, "%.4f s %s", e->time, spragEventName(e->type));
        hudText(x, y + LINE * size * (float)(k + 1), size, 0, viewIsNotable(e->type) ? warning : ink, text);
    }
}

/* ---------------------------------------------------------------- plots */

/* What a plot shows: values from 0 to `high`, times from 0 to `end` s. */
typedef struct Quantity {
    const char *title, *unit;
    HudColor color;
    double high, end;
} Quantity;

static void drawPlot(const Plot *plot, HudBox box, const Quantity *shown, float size)
{
    const double high = shown->high, end = shown->end;
    char text[80];
    const float small = fmaxf(TEXT_LEAST - 1, 0.85f * size);
    const float top = box.y + 1.6f * small, bottom = box.y + box.h - 1.5f * small;
    wordsPlot(text, sizeof text, shown->title, shown->unit, plotGreatest(plot));
    if (hudTextWidth(small, 1, text) > box.w)
        snprintf(text, sizeof text, "%s, %s", shown->title, shown->unit);
    hudText(box.x, box.y, small, 1, faint, text);

    const double up = plotTickStep(high, bottom - top > 6 * small ? 3 : 2);
    float margin = 0;
    for (double v = 0; v <= high * (1 + 1e-9); v += up) {
        plotTickText(text, sizeof text, v, up, "");
        margin = fmaxf(margin, hudTextWidth(small, 1, text) + 0.5f * small);
    }
    const float x = box.x + margin, w = box.w - margin;
    for (double v = 0; v <= high * (1 + 1e-9); v += up) {
        const float y = bottom - (bottom - top) * (float)(v / high);
        plotTickText(text, sizeof text, v, up, "");
        hudText(x - 0.3f * small - hudTextWidth(small, 1, text), y - 0.55f * small, small, 1, faint, text);
        hudRectangle((HudBox){x, y, w, 1}, 0, v > 0 ? grid : faint);
    }
    if (!(end > 0))
        return;
    plotTickText(text, sizeof text, end, end / 10, "s");
    const float label = hudTextWidth(small, 1, text) + small;
    const double right = plotTickStep(end, (int)fmaxf(2, w / label));
    for (double t = right; t <= end * (1 + 1e-9); t += right) {
        const float at = x + w * (float)(t / end);
        plotTickText(text, sizeof text, t, right, t + right > end * (1 + 1e-9) ? "s" : "");
        const float half = 0.5f * hudTextWidth(small, 1, text);
        hudRectangle((HudBox){at, top, 1, bottom - top + 0.25f * small}, 0, grid);
        hudText(fminf(at - half, box.x + box.w - 2 * half), bottom + 0.3f * small, small, 1, faint, text);
    }
    const float first = w / (float)plot->count; /* the first value is that of the end of the first step */
    hudCurve((HudBox){x + first, top, w - first, bottom - top}, plot->value, plot->count, (float)high, shown->color);
}

/* The same scale for all views. */
static double commonScale(const View *views, int count, int of_slip)
{
    double high = 0;
    for (int k = 0; k < count; ++k)
        high = fmax(high, 1.05 * plotScale(of_slip ? &views[k].slip : &views[k].normal));
    return high;
}

/* ---------------------------------------------------------------- all of it */

static void textPanel(const View *views, int count, int index, HudBox box, float size)
{
    const View *view = &views[index];
    const int columns =
        box.w > MONO * size * (float)wordsTableWidth(WORDS_COLUMNS) ? WORDS_COLUMNS : WORDS_COLUMNS_NARROW;
    textContacts(view, box.x, box.y + 0.5f * LINE * size, size, columns, 3);
    const float gap = 1.5f * size, events = 21.5f * MONO * size;
    HudBox plots = {box.x, box.y + 5 * LINE * size, box.w, box.h - 5.2f * LINE * size};
    if (plots.w - events - 2 * gap > 2 * PLOT_LEAST) {
        textEvents(view, plots.x, plots.y, size, (int)(plots.h / (LINE * size)) - 1);
        plots.x += events + gap;
        plots.w -= events + gap;
    }
    plots.w = 0.5f * (plots.w - gap);
    if (plots.w < PLOT_LEAST)
        return;
    const Quantity normal = {"normal force", "N", inked(palette_force, 1), commonScale(views, count, 0),
                             view->world->time};
    const Quantity slip = {"slip", "m/s", inked(palette_slip, 1), commonScale(views, count, 1), view->world->time};
    drawPlot(&view->normal, plots, &normal, size);
    plots.x += plots.w + gap;
    drawPlot(&view->slip, plots, &slip, size);
}

static void textHelp(int left, int width, int height, float size)
{
    static const char *const line[] = {"space   pause / run", "N       one step", "R       reset",
                                       "up/down mu x 1.1",    "drag    orbit",    "right   pan",
                                       "wheel   zoom",        "F       follow",   "1 2 3 4 cones forces slip text",
                                       "Esc     quit"};
    const int count = sizeof line / sizeof *line;
    const float w = 22 * size, h = 1.5f * size * (float)(count + 1);
    const float x = (float)left + 0.5f * ((float)width - w), y = 0.5f * ((float)height - h);
    hudRectangle((HudBox){x, y, w, h}, 8, (HudColor){255, 255, 255, 240});
    for (int k = 0; k < count; ++k)
        hudText(x + size, y + 1.5f * size * ((float)k + 0.5f), size, 0, ink, line[k]);
}

void viewText(const View *views, int count, int index, const ViewShow *show, int left, int width, int height)
{
    const View *view = &views[index];
    const float size = fmaxf(TEXT_LEAST, fminf(0.020f * (float)height, 0.0215f * (float)width));
    hudRectangle((HudBox){(float)left, 0, (float)width, HEADER * size}, 0, paper);
    textHeader(view, left, width, size);
    const float lines = height < 500 ? 9.6f : 11; /* of the panel: a small picture has lower plots */
    const HudBox panel = {(float)left + size, (float)height - lines * LINE * size, (float)width - 2 * size,
                          lines * LINE * size};
    if (show->text && panel.w > MONO * size * (float)wordsTableWidth(WORDS_COLUMNS_NARROW)) {
        hudRectangle((HudBox){(float)left, panel.y, (float)width, panel.h}, 0, paper);
        textLegend(view, panel.x, panel.y, panel.w, fmaxf(TEXT_LEAST, 0.9f * size));
        textPanel(views, count, index, panel, size);
    }
    if (view->has_notable)
        textNotable(view, left, width, HEADER * size, size);
    if (view->failure[0] != '\0')
        hudText((float)left + size, 5 * size, size, 1, warning, view->failure);
    if (show->help)
        textHelp(left, width, height, size);
}
