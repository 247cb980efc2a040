#include "viewer/camera.h"

Camera cameraLookAt(const double eye_target[6])
{
    Camera c;
    vec3 offset;
    for (int i = 0; i < 3; ++i) {
        c.target[i] = (float)eye_target[3 + i];
        offset[i] = (float)(eye_target[i] - eye_target[3 + i]);
    }
    c.distance = glm_vec3_norm(offset);
    c.azimuth = atan2f(offset[1], offset[0]);
    c.elevation = asinf(glm_clamp(offset[2] / c.distance, -1, 1));
    return c;
}

void cameraOrbit(Camera *camera, float dx, float dy)
{
    camera->azimuth -= 4 * dx;
    camera->elevation = glm_clamp(camera->elevation + 3 * dy, -0.05f, 1.55f);
}

void cameraPan(Camera *camera, float dx, float dy)
{
    const float s = sinf(camera->azimuth), c = cosf(camera->azimuth);
    camera->target[0] += camera->distance * dx * s;
    camera->target[1] -= camera->distance * dx * c;
    camera->target[2] += camera->distance * dy;
}

void cameraZoom(Camera *camera, float notches)
{
    camera->distance *= powf(0.9f, notches);
}

void cameraEye(const Camera *camera, vec3 eye)
{
    const float horizontal = camera->distance * cosf(camera->elevation);
    eye[0] = camera->target[0] + horizontal * cosf(camera->azimuth);
    eye[1] = camera->target[1] + horizontal * sinf(camera->azimuth);
    eye[2] = camera->target[2] + camera->distance * sinf(camera->elevation);
}

static float fieldOfView(float aspect)
{
    return glm_rad(aspect < 1 ? 46 : 38);
}

static const float shift = 0.14f; /* the lens is shifted up: the text stands below the scene, not on it */

void cameraViewProjection(const Camera *camera, float aspect, mat4 out)
{
    mat4 view, projection;
    vec3 eye;
    cameraEye(camera, eye);
    glm_lookat(eye, (float *)camera->target, (vec3){0, 0, 1}, view);
    glm_perspective(fieldOfView(aspect), aspect, 0.02f * camera->distance, 60 * camera->distance, projection);
    projection[2][1] = -shift;
    glm_mat4_mul(projection, view, out);
}

void cameraFrame(const Camera *camera, float aspect, CameraFrame *out)
{
    vec3 away, right, up;
    cameraEye(camera, out->eye);
    glm_vec3_sub((float *)camera->target, out->eye, away);
    glm_vec3_normalize(away);
    glm_vec3_crossn(away, (vec3){0, 0, 1}, right);
    glm_vec3_cross(right, away, up);
    for (int i = 0; i < 3; ++i)
        out->axis[0][i] = right[i], out->axis[1][i] = up[i], out->axis[2][i] = away[i];
    out->half_height = tanf(0.5f * fieldOfView(aspect));
    out->half_width = aspect * out->half_height;
    out->above = 0.82f - shift, out->below = -0.40f - shift; /* between the texts */
}
