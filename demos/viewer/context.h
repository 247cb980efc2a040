/* An OpenGL 3.3 context, with a window or without. */
#ifndef DEMOS_VIEWER_CONTEXT_H
#define DEMOS_VIEWER_CONTEXT_H

#include <stddef.h>

struct GLFWwindow;

/* A window.  NULL: error gets one line. */
struct GLFWwindow *contextWindow(int width, int height, const char *title, char *error, size_t size);

/* Without a window: EGL first (needs no display), then a hidden window.  0: error gets one line. */
int contextOffscreen(int width, int height, char *error, size_t size);

void contextClose(void);

#endif
