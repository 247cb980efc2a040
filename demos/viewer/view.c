#include "viewer/view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "viewer/palette.h"

/* The weight of up to four bodies is an arrow of a quarter of the scene.  Where there are more, each contact bears a
 * small part of the weight: arrows are longer for their force, and marks smaller. */
static void setScales(View *view)
{
    const int bodies = view->world->body_count;
    double weight = 0;
    dVector3 g;
    dWorldGetGravity(view->world->world, g);
    const double gravity = dCalcVectorLength3(g);
    for (int k = 0; k < bodies; ++k) {
        dMass m;
        dBodyGetMass(view->world->body[k], &m);
        weight += m.mass * (gravity > 0 ? gravity : 9.81); /* without gravity as on earth */
    }
    view->detail = bodies <= 4 ? 1 : pow(4.0 / bodies, 0.25);
    view->force_scale = weight * pow(view->detail, 3);
}

enum { DENSE_MOST = 30 }; /* bodies beside Sprag: dWorldStep takes seconds a step where more of them touch */

int viewCreate(View *view, const Options *options, int index, const double *value, char *error)
{
    *view = (View){.solver = options->solver[index], .residual = -1};
    spragConfig config = spragConfigDefault();
    config.event_capacity = 1 << 24; /* none is to be lost: the first step of a large pile has some per contact */
    config.analysis = SPRAG_ANALYSIS_JUDGE; /* of stock ODE's answers too */
    view->world = SceneCreate(options->scene, value, view->solver, &config, error);
    if (view->world != NULL && options->view_count == 2 && view->solver == SCENE_ODE_STEP &&
        view->world->body_count > DENSE_MOST) {
        SceneDestroy(view->world);
        view->solver = SCENE_ODE_QUICK;
        view->world = SceneCreate(options->scene, value, view->solver, &config, error);
    }
    const int plots = plotCreate(&view->normal) & plotCreate(&view->slip);
    if (view->world == NULL || !plots) {
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
    plotDestroy(&view->normal);
    plotDestroy(&view->slip);
    *view = (View){0};
}

/* ---------------------------------------------------------------- step */

int viewIsNotable(spragEventType type)
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
    if (viewIsNotable(event->type) ||
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
        slip = fmax(slip, dCalcVectorLength3(contact[k].slip));
    }
    const spragWorldID judge = view->world->sprag != NULL ? view->world->sprag : view->world->judge;
    if (count > 0)
        view->residual = fmax(view->residual, spragWorldGetStepInfo(judge).residual);
    plotAdd(&view->normal, normal);
    plotAdd(&view->slip, slip);
}

/* ---------------------------------------------------------------- picture */

/* Between two bodies forces are shown as they act on the upper one, which the other bears: -1 if that is body[1]. */
static int shownSide(const spragContact *c)
{
    return c->body[1] != NULL && c->normal[2] < -1e-9 ? -1 : 1;
}

/* An arrow is cut where it is longer than `most`. */
static void shorten(double arrow[3], double most)
{
    const double length = dCalcVectorLength3(arrow), cut = length > most ? most / length : 1;
    for (int i = 0; i < 3; ++i)
        arrow[i] *= cut;
}

static void drawContact(const View *view, Draw *draw, double scale, const spragContact *c, const ViewShow *show)
{
    const float *color = palette_mode[c->mode];
    const int side = shownSide(c);
    const double mu = SceneContactMu(view->world, c), sign = c->normal_force < 0 ? -side : side; /* a guide pulls too */
    drawSphere(draw, c->position, 0.012 * view->detail * scale, color);
    if (show->cones && c->mode != SPRAG_MODE_OPEN && mu > 0 && view->world->body_count <= 4) {
        const float glass[4] = {color[0], color[1], color[2], 0.22f};
        const double axis[3] = {sign * c->normal[0], sign * c->normal[1], sign * c->normal[2]};
        drawCone(draw, c->position, axis, mu, 0.28 * scale, glass);
    }
    if (show->forces && view->force_scale > 0 && c->normal_force != 0) {
        double force[3];
        for (int i = 0; i < 3; ++i)
            force[i] = side * (c->normal_force * c->normal[i] + c->friction[i]) / view->force_scale * 0.25 * scale;
        shorten(force, 0.6 * scale);
        drawArrow(draw, c->position, force, 0.008 * view->detail * scale, palette_force);
    }
    if (show->slip && c->mode == SPRAG_MODE_SLIP) {
        double slip[3], above[3];
        for (int i = 0; i < 3; ++i) {
            slip[i] = 0.12 * scale * c->slip[i];
            above[i] = c->position[i] + 0.012 * scale * c->normal[i];
        }
        shorten(slip, 0.4 * scale);
        drawArrow(draw, above, slip, 0.008 * view->detail * scale, palette_slip);
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
        const double r = round ? s->size[0] : dCalcVectorLength3(s->size);
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
        const float mark[4] = {palette_notable[0], palette_notable[1], palette_notable[2], 0.35f};
        drawSphere(draw, view->notable.position, 0.06 * scale, mark);
    }
}
