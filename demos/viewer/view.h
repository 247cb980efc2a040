/* One view: a scene under one solver, what it shows and what it remembers. */
#ifndef DEMOS_VIEWER_VIEW_H
#define DEMOS_VIEWER_VIEW_H

#include "scenes/scene.h"
#include "viewer/draw.h"
#include "viewer/options.h"
#include "viewer/plot.h"

enum { VIEW_EVENT_MAX = 6 };

typedef struct View {
    SceneWorld *world;
    SceneSolver solver;
    spragEvent event[VIEW_EVENT_MAX]; /* newest first */
    int event_count;
    spragEvent notable; /* the last jam, detach, inconsistent or indeterminate event */
    int has_notable;
    Plot normal, slip;  /* of all contacts: the sum, N; the greatest, m/s */
    double force_scale; /* N */
    double detail;      /* size of marks and arrows: less where there are many */
    double residual;    /* greatest of all steps, m/s; < 0: no contact yet */
    int complaints;     /* of stock ODE about its LCP solver */
    char failure[200];  /* the step failed: why; the view stands still */
} View;

typedef struct ViewShow {
    int cones, forces, slip, text, help;
} ViewShow;

/* 0: error (>= 160 bytes) gets one line. */
int viewCreate(View *view, const Options *options, int index, const double *value, char *error);
void viewDestroy(View *view);
void viewStep(View *view, double h);
/* Pans until the bodies that the scene names are in the picture, between its texts. */
void viewFollow(const View *view, float aspect, Camera *camera);
/* Solids and helpers of the view into the drawing. */
void viewDraw(const View *view, Draw *draw, const Camera *camera, const ViewShow *show);
/* A jam, or a paradox. */
int viewIsNotable(spragEventType type);

/* view_text.c: text and plots of one of `count` views into its columns [left, left + width) of a picture of the given
 * height, pixels.  Views side by side have the same scales. */
void viewText(const View *views, int count, int index, const ViewShow *show, int left, int width, int height);

#endif
