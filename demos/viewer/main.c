/* sprag-view: a scene under Sprag, under stock ODE, or both side by side; in a window, or headless to files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "said.h"
#include "scenes/output.h"
#include "scenes/trace.h"
#include "viewer/context.h"
#include "viewer/hud.h"
#include "viewer/image.h"
#include "viewer/options.h"
#include "viewer/view.h"

enum { EXIT_BAD = 2, MESSAGE = 256 };

typedef struct App {
    Options options;
    View view[2];
    Camera camera;
    ViewShow show;
    Draw *draw; /* NULL: nothing is drawn */
    Trace *trace;
    EventLog *events;
    Output picture;
    Video *video;
    unsigned char *pixels;
    int paused, follow;
    double mouse[2];
    char error[MESSAGE];
} App;

static int refuse(const char *text)
{
    fprintf(stderr, "sprag-view: %s\n", text);
    return EXIT_BAD;
}

/* The view whose trace and events are written: Sprag's where there is one. */
static View *mainView(App *app)
{
    return &app->view[app->options.view_count - 1];
}

static void destroyViews(App *app)
{
    for (int k = 0; k < app->options.view_count; ++k)
        viewDestroy(&app->view[k]);
}

static int createViews(App *app)
{
    for (int k = 0; k < app->options.view_count; ++k)
        if (!viewCreate(&app->view[k], &app->options, k, app->options.value, app->error)) {
            destroyViews(app);
            return 0;
        }
    return 1;
}

static void render(App *app)
{
    const Options *o = &app->options;
    const int width = o->width / o->view_count;
    drawFrame(app->draw);
    for (int k = 0; k < o->view_count; ++k) {
        Camera camera = app->camera;
        if (app->follow)
            viewFollow(&app->view[k], (float)width / (float)o->height, &camera);
        drawBegin(app->draw, &camera, k * width, width);
        viewDraw(&app->view[k], app->draw, &camera, &app->show);
        drawFlush(app->draw);
    }
    hudBegin(o->width, o->height);
    for (int k = 0; k < o->view_count; ++k)
        viewText(app->view, o->view_count, k, &app->show, k * width, width, o->height);
    if (o->view_count == 2)
        hudRectangle((HudBox){(float)width - 1, 0, 2, (float)o->height}, 0, (HudColor){120, 130, 145, 255});
    hudEnd();
}

static int step(App *app)
{
    for (int k = 0; k < app->options.view_count; ++k)
        viewStep(&app->view[k], app->options.step_size);
    SceneWorld *world = mainView(app)->world;
    if (app->trace != NULL && !TraceStep(app->trace, world))
        return snprintf(app->error, MESSAGE, "--trace %s: writing failed", app->options.trace), 0;
    if (app->events != NULL && !EventLogStep(app->events, world))
        return snprintf(app->error, MESSAGE, "--events %s: writing failed, or no memory for a step's events",
                        app->options.events),
               0;
    if (mainView(app)->failure[0] != '\0')
        return snprintf(app->error, MESSAGE, "%s", mainView(app)->failure), 0;
    return 1;
}

/* ---------------------------------------------------------------- outputs */

/* Before the run: what cannot be written is known now, not after an hour. */
static int openOutputs(App *app)
{
    const Options *o = &app->options;
    if (o->png != NULL && !outputOpen(&app->picture, o->png, app->error))
        return 0;
    if (o->trace != NULL && (app->trace = TraceOpen(o->trace, mainView(app)->world, app->error)) == NULL)
        return 0;
    if (o->events != NULL && (app->events = EventLogOpen(o->events, app->error)) == NULL)
        return 0;
    if (o->video != NULL && (app->video = videoOpen(o->video, o->width, o->height, app->error, MESSAGE)) == NULL)
        return 0;
    return 1;
}

/* Keeps what was written if all went well, else nothing. */
static int closeOutputs(App *app, int keep)
{
    int good = app->video == NULL || videoClose(app->video, keep, app->error, MESSAGE);
    if (app->picture.file != NULL && !outputClose(&app->picture, keep && good) && keep && good) {
        snprintf(app->error, MESSAGE, "--png %s: cannot be written", app->options.png);
        good = 0;
    }
    if (app->trace != NULL && !TraceClose(app->trace, keep && good) && keep && good) {
        snprintf(app->error, MESSAGE, "--trace %s: cannot be written", app->options.trace);
        good = 0;
    }
    if (app->events != NULL && !EventLogClose(app->events, keep && good) && keep && good) {
        snprintf(app->error, MESSAGE, "--events %s: cannot be written", app->options.events);
        good = 0;
    }
    return good;
}

/* ---------------------------------------------------------------- headless */

/* In the context that is open. */
static int openDrawing(App *app)
{
    app->draw = drawCreate(app->options.width, app->options.height, app->error, MESSAGE);
    if (app->draw == NULL)
        return 0;
    if (!hudCreate())
        return snprintf(app->error, MESSAGE, "OpenGL's functions cannot be loaded (libGL.so.1)"), 0;
    return 1;
}

static void closeDrawing(App *app)
{
    if (app->draw != NULL) {
        hudDestroy();
        drawDestroy(app->draw);
    }
    contextClose();
}

static int openOffscreen(App *app)
{
    const Options *o = &app->options;
    if (!contextOffscreen(o->width, o->height, app->error, MESSAGE) || !openDrawing(app))
        return 0;
    app->pixels = malloc(3 * (size_t)o->width * (size_t)o->height);
    if (app->pixels == NULL)
        return snprintf(app->error, MESSAGE, "out of memory for %d x %d pixels", o->width, o->height), 0;
    return 1;
}

static void renderToMemory(App *app)
{
    render(app);
    drawRead(app->draw, app->pixels);
}

static int runSteps(App *app)
{
    const Options *o = &app->options;
    const long steps = o->steps > 0 ? o->steps : lround(o->scene->duration / o->step_size);
    double next_frame = 0;
    for (long k = 0; k < steps; ++k) {
        if (app->video != NULL && mainView(app)->world->time >= next_frame - 1e-9) {
            next_frame += 1.0 / 60;
            renderToMemory(app);
            if (!videoFrame(app->video, app->pixels))
                return snprintf(app->error, MESSAGE, "--video %s: ffmpeg stopped", o->video), 0;
        }
        if (!step(app))
            return 0;
    }
    if (o->png != NULL) {
        renderToMemory(app);
        return imageWritePng(app->picture.file, o->width, o->height, app->pixels, app->error, MESSAGE);
    }
    return 1;
}

static int runHeadless(App *app)
{
    const int pictures = app->options.png != NULL || app->options.video != NULL;
    const int good = (!pictures || openOffscreen(app)) && runSteps(app);
    closeDrawing(app);
    free(app->pixels);
    return good;
}

/* ---------------------------------------------------------------- window */

static App *appOf(GLFWwindow *window)
{
    return glfwGetWindowUserPointer(window);
}

static void reset(App *app)
{
    destroyViews(app);
    if (!createViews(app)) {
        refuse(app->error);
        exit(EXIT_BAD);
    }
}

/* mu is a key of most scenes: a change starts the scene anew, so that both sides have the same start. */
static void scaleMu(App *app, double factor)
{
    const SceneKey *key = app->options.scene->keys;
    for (int k = 0; key[k].name != NULL; ++k)
        if (strcmp(key[k].name, "mu") == 0) {
            app->options.value[k] = fmin(key[k].max, fmax(key[k].min, app->options.value[k] * factor));
            reset(app);
        }
}

static void onKey(GLFWwindow *window, int key, int scancode, int action, int mods)
{
    App *app = appOf(window);
    (void)scancode;
    (void)mods;
    if (action == GLFW_RELEASE)
        return;
    switch (key) {
    case GLFW_KEY_ESCAPE:
        glfwSetWindowShouldClose(window, GLFW_TRUE);
        break;
    case GLFW_KEY_SPACE:
        app->paused = !app->paused;
        break;
    case GLFW_KEY_N:
        app->paused = 1;
        step(app);
        break;
    case GLFW_KEY_R:
        reset(app);
        break;
    case GLFW_KEY_UP:
        scaleMu(app, 1.1);
        break;
    case GLFW_KEY_DOWN:
        scaleMu(app, 1 / 1.1);
        break;
    case GLFW_KEY_F:
        app->follow = !app->follow;
        break;
    case GLFW_KEY_H:
        app->show.help = !app->show.help;
        break;
    case GLFW_KEY_1:
        app->show.cones = !app->show.cones;
        break;
    case GLFW_KEY_2:
        app->show.forces = !app->show.forces;
        break;
    case GLFW_KEY_3:
        app->show.slip = !app->show.slip;
        break;
    case GLFW_KEY_4:
        app->show.text = !app->show.text;
        break;
    default:
        break;
    }
}

static void onMouse(GLFWwindow *window, double x, double y)
{
    App *app = appOf(window);
    const float dx = (float)((x - app->mouse[0]) / app->options.width);
    const float dy = (float)((y - app->mouse[1]) / app->options.height);
    app->mouse[0] = x;
    app->mouse[1] = y;
    if (glfwGetMouseButton(window, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS)
        cameraOrbit(&app->camera, dx, dy);
    else if (glfwGetMouseButton(window, GLFW_MOUSE_BUTTON_RIGHT) == GLFW_PRESS)
        cameraPan(&app->camera, dx, dy), app->follow = 0;
}

static void onWheel(GLFWwindow *window, double x, double y)
{
    (void)x;
    cameraZoom(&appOf(window)->camera, (float)y);
}

/* As many steps as real time asks for, at most a thirtieth of a second's worth: a slow machine slows the scene. */
static void advance(App *app, double *owed)
{
    const double h = app->options.step_size;
    *owed = fmin(*owed, 1.0 / 30);
    for (; *owed >= h && !app->paused; *owed -= h)
        if ((app->options.steps > 0 && mainView(app)->world->step >= app->options.steps) || !step(app))
            app->paused = 1;
}

static void runLoop(App *app, GLFWwindow *window)
{
    Options *o = &app->options;
    double owed = 0, before = glfwGetTime();
    while (!glfwWindowShouldClose(window)) {
        int width, height;
        glfwPollEvents();
        glfwGetFramebufferSize(window, &width, &height);
        if (width > 0 && height > 0 && (width != o->width || height != o->height)) {
            o->width = width;
            o->height = height;
            drawResize(app->draw, width, height);
        }
        const double now = glfwGetTime();
        owed = app->paused ? 0 : owed + now - before;
        before = now;
        advance(app, &owed);
        render(app);
        drawPresent(app->draw);
        glfwSwapBuffers(window);
    }
}

static int runWindow(App *app)
{
    char title[100];
    snprintf(title, sizeof title, "Sprag - %s", app->options.scene->name);
    GLFWwindow *window = contextWindow(app->options.width, app->options.height, title, app->error, MESSAGE);
    const int good = window != NULL && openDrawing(app);
    if (good) {
        glfwSetWindowUserPointer(window, app);
        glfwSetKeyCallback(window, onKey);
        glfwSetCursorPosCallback(window, onMouse);
        glfwSetScrollCallback(window, onWheel);
        runLoop(app, window);
    }
    closeDrawing(app);
    return good;
}

static int run(App *app)
{
    const int good = openOutputs(app) && (app->options.headless ? runHeadless(app) : runWindow(app));
    return closeOutputs(app, good) && good;
}

int main(int argc, char **argv)
{
    static App app;
    const int parsed = optionsParse(argc, argv, &app.options);
    if (parsed <= 0)
        return parsed < 0 ? EXIT_BAD : saidAll("sprag-view", 0);
    dInitODE2(0);
    app.camera = cameraLookAt(app.options.scene->camera);
    app.follow = 1;
    app.show = (ViewShow){.cones = 1, .forces = 1, .slip = 1, .text = 1};
    if (!createViews(&app))
        return refuse(app.error);
    const int good = run(&app);
    destroyViews(&app);
    dCloseODE();
    return good ? 0 : refuse(app.error);
}
