/* Drawing of solids and helpers with OpenGL 3.3: Create, Begin, Add..., Flush, Destroy.
 *
 * Colours are sRGB as seen; lengths in m, world axes. */
#ifndef DEMOS_VIEWER_DRAW_H
#define DEMOS_VIEWER_DRAW_H

#include <stddef.h>

#include "scenes/scene.h"
#include "viewer/camera.h"

typedef struct Draw Draw;

/* NULL: error gets one line. */
Draw *drawCreate(int width, int height, char *error, size_t size);
void drawDestroy(Draw *draw);
/* The picture's size, pixels.  1, or 0 if the graphics card refuses. */
int drawResize(Draw *draw, int width, int height);

/* A frame is one or more views; each is begun, filled and flushed into its columns [left, left + width). */
void drawFrame(Draw *draw);
void drawBegin(Draw *draw, const Camera *camera, int left, int width);
void drawShape(Draw *draw, const SceneShape *shape, int is_ground);
void drawArrow(Draw *draw, const double from[3], const double vector[3], double thickness, const float color[4]);
/* Cone with its apex at `apex` opening along `axis` (unit), half angle atan(mu). */
void drawCone(Draw *draw, const double apex[3], const double axis[3], double mu, double height, const float color[4]);
void drawSphere(Draw *draw, const double centre[3], double radius, const float color[4]);
void drawFlush(Draw *draw);

/* Resolves the picture: to the window's framebuffer, or to memory, 3 bytes a pixel, top row first. */
void drawPresent(Draw *draw);
void drawRead(Draw *draw, unsigned char *rgb);

#endif
