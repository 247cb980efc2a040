/* Orbit camera: z is up. */
#ifndef DEMOS_VIEWER_CAMERA_H
#define DEMOS_VIEWER_CAMERA_H

#include <cglm/cglm.h>

typedef struct Camera {
    vec3 target;              /* m */
    float distance;           /* m */
    float azimuth, elevation; /* rad */
} Camera;

Camera cameraLookAt(const double eye_target[6]);
void cameraOrbit(Camera *camera, float dx, float dy); /* fractions of the window */
void cameraPan(Camera *camera, float dx, float dy);
void cameraZoom(Camera *camera, float notches);
void cameraEye(const Camera *camera, vec3 eye);
void cameraViewProjection(const Camera *camera, float aspect, mat4 out);

/* What is seen of it. */
typedef struct CameraFrame {
    vec3 eye;                      /* m */
    vec3 axis[3];                  /* right, up, away */
    float half_width, half_height; /* of the picture at distance 1 */
    float below, above;            /* parts of half_height between which there is no text */
} CameraFrame;

void cameraFrame(const Camera *camera, float aspect, CameraFrame *out);

#endif
