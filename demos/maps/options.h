/* The command line of sprag-map. */
#ifndef DEMOS_MAPS_OPTIONS_H
#define DEMOS_MAPS_OPTIONS_H

#include "scenes/scene.h"

typedef struct MapAxis {
    int key; /* of the scene */
    double from, to;
} MapAxis;

typedef struct MapOptions {
    const Scene *scene;
    double value[SCENE_KEY_MAX];
    MapAxis x, y;
    int width, height; /* of the plot, pixels */
    const char *png, *title;
} MapOptions;

/* One line on stderr; returns 0. */
__attribute__((format(printf, 1, 2))) int mapRefuse(const char *format, ...);
void mapPrintHelp(void);
/* 0: refused, and said why. */
int mapReadOptions(int argc, char **argv, MapOptions *o);

#endif
