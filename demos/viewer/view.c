#include "viewer/view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/hud.h"
#include "viewer/words.h"

static const float mode_color[3][4] = {
    {0.55f, 0.58f, 0.62f, 1}, /* open */
    {0.10f, 0.55f, 0.30f, 1}, /* stick */
    {0.90f, 0.42f, 0.08f, 1}, /* slip */
};
static const char *const mode_name[3] = {"open", "stick", "slip"};

static double length3(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* One to four bodies: an arrow as long as their weight is a quarter of the scene.  Of many each bears a part of it. */
static void setScales(View *view)
{
    const int bodies = view->world->body_count;
    double weight = 0;
    dVector3 g;
    dWorldGetGravity(view->world->world, g);
    const double gravity = length3(g);
    for (int k = 0; k < bodies; ++k) {
        dMass m;
        dBodyGetMass(view->world->body[k], &m);
        weight += m.mass * (gravity > 0 ? gravity : 9.81); /* without gravity arrows have the scale of weight, too */
    }
    view->detail = bodies <= 4 ? 1 : pow(4.0 / bodies, 0.25);
    view->force_scale = weight * pow(view->detail, 3);
}

enum { DENSE_MOST = 30 }; /* bodies beside Sprag: dWorldStep takes seconds a step where more of them touch */

int viewCreate(View *view, const Options *options, int index, const double *value, char *error)
{
    *view = (View){.solver = options->solver[index]};
    spragConfig config = spragConfigDefault();
    config.event_capacity = 1 << 24; /* none is to be lost: the first step of a large pile has some per contact */
    view->world = SceneCreate(options->scene, value, view->solver, &config, error);
    if (view->world != NULL && options->view_count == 2 && view->solver == SCENE_ODE_STEP &&
        view->world->body_count > DENSE_MOST) {
        SceneDestroy(view->world);
        view->solver = SCENE_ODE_QUICK;
        view->world = SceneCreate(options->scene, value, view->solver, &config, error);
    }
    view->normal = malloc(VIEW_PLOT_MAX * sizeof *view->normal);
    view->slip = malloc(VIEW_PLOT_MAX * sizeof *view->slip);
    if (view->world == NULL || view->normal == NULL || view->slip == NULL) {
        if (view->world != NULL)
            snprintf(error, 160, "out of memory");
        viewDestroy(view);
        return 0;
    }
    setScales(view);
    return 1;
}

void viewDestroy(View *view)
{
    if (view->world != NULL)
        SceneDestroy(view->world);
    free(view->normal);
    free(view->slip);
    *view = (View){0};
}

/* ---------------------------------------------------------------- step */

static int isNotable(spragEventType type)
{
    return type == SPRAG_EVENT_JAM || type == SPRAG_EVENT_INDETERMINATE || type == SPRAG_EVENT_INCONSISTENT;
}

static void remember(View *view, const spragEvent *event)
{
    memmove(view->event + 1, view->event, (VIEW_EVENT_MAX - 1) * sizeof *view->event);
    view->event[0] = *event;
    if (view->event_count < VIEW_EVENT_MAX)
        ++view->event_count;
    const int alone = view->world->body_count == 1; /* in a crowd contacts come and go all the time */
    if (isNotable(event->type) ||
        (event->type == SPRAG_EVENT_DETACH && event->step > 0 && alone && !view->has_notable)) {
        view->notable = *event;
        view->has_notable = 1;
    }
}

static int complaint_count;

/* Stock ODE writes a line for every failure of its LCP solver; they are counted and shown instead. */
static void onComplaint(int number, const char *text, va_list arguments)
{
    (void)number;
    (void)text;
    (void)arguments;
    ++complaint_count;
}

void viewStep(View *view, double h)
{
    if (view->failure[0] != '\0')
        return;
    dSetMessageHandler(onComplaint);
    complaint_count = 0;
    const spragStatus status = SceneStep(view->world, h);
    view->complaints += complaint_count;
    if (status != SPRAG_OK) {
        snprintf(view->failure, sizeof view->failure, "the step failed: %s: %s", spragStatusText(status),
                 SceneDetail(view->world));
        return;
    }
    if (view->world->sprag != NULL) {
        const spragEvent *event;
        const int count = spragWorldGetEvents(view->world->sprag, &event);
        for (int k = 0; k < count; ++k)
            remember(view, &event[k]);
    }
    const spragContact *contact;
    const int count = SceneGetContacts(view->world, &contact);
    double normal = 0, slip = 0;
    for (int k = 0; k < count; ++k) {
        normal += fabs(contact[k].normal_force);
        slip = fmax(slip, length3(contact[k].slip));
    }
    if (view->plot_count == VIEW_PLOT_MAX) { /* halve the resolution of what is past */
        for (int k = 0; k < VIEW_PLOT_MAX / 2; ++k) {
            view->normal[k] = view->normal[2 * k];
            view->slip[k] = view->slip[2 * k];
        }
        view->plot_count /= 2;
    }
    view->normal[view->plot_count] = (float)normal;
    view->slip[view->plot_count++] = (float)slip;
}

/* ---------------------------------------------------------------- picture */

static void drawContact(const View *view, Draw *draw, double scale, const spragContact *c, const ViewShow *show)
{
    static const float force_color[4] = {0.75f, 0.12f, 0.15f, 1}, slip_color[4] = {0.15f, 0.35f, 0.85f, 1};
    const float *color = mode_color[c->mode];
    const double mu = SceneContactMu(view->world, c), sign = c->normal_force < 0 ? -1 : 1; /* a guide pulls too */
    drawSphere(draw, c->position, 0.012 * view->detail * scale, color);
    if (show->cones && c->mode != SPRAG_MODE_OPEN && mu > 0 && view->world->body_count <= 4) {
        const float glass[4] = {color[0], color[1], color[2], 0.22f};
        const double axis[3] = {sign * c->normal[0], sign * c->normal[1], sign * c->normal[2]};
        drawCone(draw, c->position, axis, mu, 0.28 * scale, glass);
    }
    if (show->forces && view->force_scale > 0 && c->normal_force != 0) {
        double force[3], length = 0;
        for (int i = 0; i < 3; ++i) {
            force[i] = (c->normal_force * c->normal[i] + c->friction[i]) / view->force_scale * 0.25 * scale;
            length += force[i] * force[i];
        }
        length = sqrt(length);
        const double cut = length > 0.6 * scale ? 0.6 * scale / length : 1;
        for (int i = 0; i < 3; ++i)
            force[i] *= cut;
        drawArrow(draw, c->position, force, 0.008 * view->detail * scale, force_color);
    }
    if (show->slip && c->mode == SPRAG_MODE_SLIP) {
        double slip[3], above[3], length = 0;
        for (int i = 0; i < 3; ++i) {
            slip[i] = 0.12 * scale * c->slip[i];
            length += slip[i] * slip[i];
            above[i] = c->position[i] + 0.012 * scale * c->normal[i];
        }
        const double cut = sqrt(length) > 0.4 * scale ? 0.4 * scale / sqrt(length) : 1;
        for (int i = 0; i < 3; ++i)
            slip[i] *= cut;
        drawArrow(draw, above, slip, 0.008 * view->detail * scale, slip_color);
    }
}

/* A fixed box whose top is the plane z = 0. */
static int isGround(const SceneShape *shape)
{
    return shape->body == NULL && shape->kind == SCENE_BOX && fabs(shape->position[2] + shape->size[2]) < 1e-9;
}

/* Bounds of a pan that brings [x - r, x + r] between low and high times `depth`, m. */
static void bound(double x, double r, double low, double high, double depth, double range[2])
{
    range[0] = fmax(range[0], x + r - high * depth);
    range[1] = fmin(range[1], x - r - low * depth);
}

/* As little as brings everything in; what does not fit is centred. */
static double panWithin(const double range[2])
{
    return range[0] > range[1] ? 0.5 * (range[0] + range[1]) : fmin(fmax(0, range[0]), range[1]);
}

void viewFollow(const View *view, float aspect, Camera *camera)
{
    CameraFrame f;
    cameraFrame(camera, aspect, &f);
    double across[2] = {-INFINITY, INFINITY}, up[2] = {-INFINITY, INFINITY};
    for (int k = 0; k < view->world->shape_count; ++k) {
        const SceneShape *s = &view->world->shape[k];
        int followed = 0;
        for (int b = 0; b < view->world->scene->followed; ++b)
            followed |= s->body != NULL && s->body == view->world->body[b];
        if (!followed)
            continue;
        const int round = s->kind == SCENE_SPHERE;
        const double r = round ? s->size[0] : length3(s->size);
        dVector3 p;
        dBodyGetRelPointPos(s->body, s->position[0], s->position[1], s->position[2], p);
        double x[3] = {0, 0, 0}; /* right, up, away */
        for (int i = 0; i < 3; ++i)
            for (int a = 0; a < 3; ++a)
                x[a] += f.axis[a][i] * (p[i] - f.eye[i]);
        const double depth = fmax(x[2], 0.2 * camera->distance);
        bound(x[0], r, -0.75 * f.half_width, 0.75 * f.half_width, depth, across);
        bound(x[1], r, f.below * f.half_height, f.above * f.half_height, depth, up);
    }
    if (isinf(across[0]))
        return;
    const double pan[2] = {panWithin(across), panWithin(up)};
    for (int i = 0; i < 3; ++i)
        camera->target[i] += (float)(pan[0] * f.axis[0][i] + pan[1] * f.axis[1][i]);
}

void viewDraw(const View *view, Draw *draw, const Camera *camera, const ViewShow *show)
{
    const SceneWorld *world = view->world;
    for (int k = 0; k < world->shape_count; ++k)
        drawShape(draw, &world->shape[k], isGround(&world->shape[k]));
    const double scale = 0.35 * camera->distance;
    const spragContact *contact;
    const int count = SceneGetContacts(view->world, &contact);
    for (int k = 0; k < count; ++k)
        drawContact(view, draw, scale, &contact[k], show);
    if (view->has_notable) {
        static const float mark[4] = {0.80f, 0.10f, 0.45f, 0.35f};
        drawSphere(draw, view->notable.position, 0.06 * scale, mark);
    }
}

/* ---------------------------------------------------------------- text */

static const HudColor ink = {28, 34, 44, 255}, faint = {88, 98, 112, 255}, paper = {255, 255, 255, 205};
static const HudColor warning = {176, 16, 92, 255};

static const char *solverTitle(SceneSolver solver)
{
    return solver == SCENE_SPRAG      ? "Sprag"
           : solver == SCENE_ODE_STEP ? "stock ODE, dWorldStep"
                                      : "stock ODE, dWorldQuickStep";
}

static HudColor modeInk(spragMode mode)
{
    const float *c = mode_color[mode];
    return (HudColor){(unsigned char)(220 * c[0]), (unsigned char)(220 * c[1]), (unsigned char)(220 * c[2]), 255};
}

/* The contacts' table: one line each, `rows` at most. */
static void textContacts(const View *view, float x, float y, float size, int rows)
{
    const spragContact *contact;
    const int count = SceneGetContacts(view->world, &contact);
    const float line = 1.4f * size;
    char text[200];
    wordsTableHead(text, sizeof text);
    hudText(x, y, size, 0, faint, text);
    int shown = 0;
    for (; shown < count && shown < (count > rows ? rows - 1 : rows); ++shown) {
        const spragContact *c = &contact[shown];
        const float row = y + line * (float)(shown + 1);
        hudText(x, row, size, 0, modeInk(c->mode), mode_name[c->mode]);
        wordsContact(text, sizeof text, c, SceneContactMu(view->world, c), view->solver == SCENE_SPRAG);
        hudText(x, row, size, 0, ink, text);
    }
    if (count > shown) {
        snprintf(text, sizeof text, "and %d more contacts", count - shown);
        hudText(x, y + line * (float)(shown + 1), size, 0, faint, text);
    }
}

static void textEvents(const View *view, float x, float y, float size, int rows)
{
    char text[200];
    hudText(x, y, 0.95f * size, 1, faint, view->event_count > 0 ? "last events" : "no events yet");
    for (int k = 0; k < view->event_count && k < rows; ++k) {
        const spragEvent *e = &view->event[k];
        snprintf(text, sizeof text, "%8.4f s  %-13s%8.3g N s", e->time, spragEventName(e->type), length3(e->impulse));
        hudText(x, y + 1.4f * size * (float)(k + 1), size, 0, isNotable(e->type) ? warning : ink, text);
    }
}

static void textComplaints(const View *view, float x, float y, float size)
{
    char text[80] = "stock ODE reports nothing";
    if (view->complaints > 0)
        snprintf(text, sizeof text, "stock ODE: its LCP solver failed %d time%s", view->complaints,
                 view->complaints > 1 ? "s" : "");
    hudText(x, y, 0.95f * size, 1, faint, text);
}

/* What happened, in words, for somebody who has never heard of Painleve. */
static void textNotable(const View *view, int left, int width, int height, float size)
{
    const spragEvent *e = &view->notable;
    char text[240];
    switch (e->type) {
    case SPRAG_EVENT_JAM:
        snprintf(text, sizeof text, "JAM at %.4g s: an impulse of %.3g N s stopped a slip of %.3g m/s", e->time,
                 length3(e->impulse), length3(e->slip_before));
        break;
    case SPRAG_EVENT_INCONSISTENT:
        snprintf(text, sizeof text, "INCONSISTENT at %.4g s: no sliding motion exists (p = %.3g, b = %.3g)", e->time,
                 e->p, e->b);
        break;
    case SPRAG_EVENT_INDETERMINATE:
        if (e->paradox_class == 4)
            snprintf(text, sizeof text, "INDETERMINATE at %.4g s: several motions can last, history decides", e->time);
        else if (view->world->guide_count > 0)
            snprintf(text, sizeof text, "INDETERMINATE at %.4g s: several motions on paper, one of them can last",
                     e->time);
        else
            snprintf(text, sizeof text, "INDETERMINATE at %.4g s: lift-off or jam, history decides (N* = %.3g N)",
                     e->time, e->separatrix);
        break;
    default:
        snprintf(text, sizeof text, "DETACHED at %.4g s", e->time);
    }
    float big = 1.15f * size;
    float w = hudTextWidth(big, 1, text);
    if (w > (float)width - 4 * size) {
        big *= ((float)width - 4 * size) / w;
        w = hudTextWidth(big, 1, text);
    }
    const float x = (float)left + 0.5f * ((float)width - w), y = 0.115f * (float)height;
    hudRectangle(x - size, y - 0.5f * size, w + 2 * size, big + size, 6, (HudColor){255, 240, 247, 235});
    hudText(x, y, big, 1, warning, text);
}

static void plot(const View *view, const float *value, const char *title, const char *unit, float x, float y, float w,
                 float h, float size, HudColor color)
{
    float greatest = 0, sum = 0;
    for (int k = 0; k < view->plot_count; ++k) {
        greatest = fmaxf(greatest, value[k]);
        sum += value[k];
    }
    /* a single impulse must not flatten the rest */
    const float rounding = (float)WORDS_ROUNDING, mean = view->plot_count > 0 ? sum / (float)view->plot_count : 0;
    const int cut = greatest > 8 * mean && mean > rounding;
    const float high = cut ? 4 * mean : fmaxf(greatest, rounding), small = 0.85f * size;
    char text[80];
    wordsPlot(text, sizeof text, title, unit, (double)greatest);
    hudText(x, y, small * fminf(1, w / hudTextWidth(small, 1, text)), 1, faint, text);
    float top = 1.6f * size;
    if (cut) {
        snprintf(text, sizeof text, "cut at %.3g %s", (double)high, unit);
        hudText(x, y + 1.2f * small, small, 1, faint, text);
        top += 1.2f * small;
    }
    hudRectangle(x, y + h - 1, w, 1, 0, faint);
    hudCurve(x, y + top, w, h - top, value, view->plot_count, 0, 1.05f * high, 1.8f, color);
}

static void textHeader(const View *view, int left, int width, float size)
{
    char text[240];
    const SceneWorld *world = view->world;
    hudText((float)left + size, 0.7f * size, 1.5f * size, 1, ink, solverTitle(view->solver));
    int n = snprintf(text, sizeof text, "%s", world->scene->name);
    for (const SceneKey *key = world->scene->keys; key->name != NULL; ++key)
        if (strcmp(key->name, "mu") == 0) /* one for all contacts */
            n += snprintf(text + n, sizeof text - (size_t)n, "   mu %.3g", world->surface.mu);
    n += snprintf(text + n, sizeof text - (size_t)n, "   t = %.4f s", world->time);
    if (world->body_count == 1) {
        const dReal *w = dBodyGetAngularVel(world->body[0]);
        const double rate = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
        n += snprintf(text + n, sizeof text - (size_t)n, "   |w| %.4g rad/s", rate < 1e-9 ? 0 : rate);
    }
    if (world->sprag != NULL) {
        const spragStepInfo info = spragWorldGetStepInfo(world->sprag);
        n += snprintf(text + n, sizeof text - (size_t)n, "   residual %.1e m/s", info.residual);
        wordsSolvers(text + n, sizeof text - (size_t)n, &info);
    }
    const float fit = fminf(0.95f, 0.95f * ((float)width - 2 * size) / hudTextWidth(0.95f * size, 0, text));
    hudText((float)left + size, 2.6f * size, fit * size, 0, faint, text);
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
    hudRectangle(x, y, w, h, 8, (HudColor){255, 255, 255, 240});
    for (int k = 0; k < count; ++k)
        hudText(x + size, y + 1.5f * size * ((float)k + 0.5f), size, 0, ink, line[k]);
}

void viewText(const View *view, const ViewShow *show, int left, int width, int height)
{
    const float size = fmaxf(10, fminf(0.020f * (float)height, 0.0215f * (float)width));
    hudRectangle((float)left, 0, (float)width, 4.3f * size, 0, paper);
    textHeader(view, left, width, size);
    if (show->text) {
        /* the table across the whole width, below it events and two plots */
        const float small = fminf(1.05f * size, ((float)width - 2 * size) / (0.61f * WORDS_TABLE_WIDTH));
        const float line = 1.4f * small;
        const float panel = 10.3f * line, x = (float)left + size, y = (float)height - panel;
        const float below = y + 5 * line, column = 24 * small, gap = 1.5f * size;
        const float plot_width = 0.5f * ((float)width - 2 * size - column - 2 * gap);
        const HudColor red = {191, 31, 38, 255}, blue = {38, 89, 217, 255};
        hudRectangle((float)left, y, (float)width, panel, 0, paper);
        textContacts(view, x, y + 0.5f * line, small, 3);
        if (view->solver == SCENE_SPRAG)
            textEvents(view, x, below, small, 4);
        else
            textComplaints(view, x, below, small);
        plot(view, view->normal, "total N", "N", x + column + gap, below, plot_width, 4.6f * line, small, red);
        plot(view, view->slip, "slip", "m/s", x + column + 2 * gap + plot_width, below, plot_width, 4.6f * line, small,
             blue);
    }
    if (view->has_notable)
        textNotable(view, left, width, height, size);
    if (view->failure[0] != '\0')
        hudText((float)left + size, 5 * size, size, 1, warning, view->failure);
    if (show->help)
        textHelp(left, width, height, size);
}
