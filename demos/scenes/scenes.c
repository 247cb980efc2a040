/* The table of scenes.  Add a line in both places. */
#include "scenes/scene.h"

extern const Scene scene_rod, scene_top, scene_stack;

const Scene *const scene_table[] = {&scene_rod, &scene_top, &scene_stack, NULL};
