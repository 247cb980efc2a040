/* The command line of sprag-view. */
#ifndef DEMOS_VIEWER_OPTIONS_H
#define DEMOS_VIEWER_OPTIONS_H

#include "scenes/scene.h"

typedef struct Options {
    const Scene *scene;
    double value[SCENE_KEY_MAX];
    SceneSolver solver[2]; /* (view_count) left to right */
    int view_count;        /* 1, or 2 for --solver both */
    double step_size;      /* s */
    long steps;            /* 0: the scene's duration (headless), or for ever (window) */
    int headless;
    int width, height;                        /* pixels */
    const char *trace, *events, *png, *video; /* paths or NULL */
} Options;

/* 1: run.  0: done (help, list, version printed).  -1: one line on stderr said what is wrong. */
int optionsParse(int argc, char **argv, Options *out);

#endif
