#include "viewer/draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

extern const char embedded_mesh_vert[], embedded_mesh_frag[], embedded_shadow_vert[], embedded_shadow_frag[];

enum { SHADOW_SIZE = 2048, SAMPLES_WANTED = 8, AROUND = 48, VERTEX_MAX = 20000 };

/* BOX .. CONE are SceneShapeKind; a capsule is a tube and two half spheres. */
enum { MESH_BOX, MESH_SPHERE, MESH_TUBE, MESH_CYLINDER, MESH_CONE, MESH_COUNT };

typedef struct Mesh {
    GLuint vao, vbo;
    GLsizei count;
} Mesh;

typedef struct Item {
    int mesh;
    mat4 model;
    float color[4]; /* sRGB */
    float checker;  /* m */
    int casts;      /* a shadow */
    int shines;     /* faintly, through what is in front of it */
} Item;

struct Draw {
    Mesh mesh[MESH_COUNT];
    GLuint program, shadow_program, shadow_texture, shadow_buffer;
    GLuint samples, colour, depth; /* multisampled frame */
    GLuint resolved, resolved_colour;
    int width, height, left, view_width;
    Camera camera;
    Item *item;
    size_t count, capacity;
};

/* ---------------------------------------------------------------- programs */

static GLuint compile(GLenum type, const char *source, char *error, size_t size)
{
    const GLuint shader = glCreateShader(type);
    GLint ok;
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (!ok)
        glGetShaderInfoLog(shader, (GLsizei)size, NULL, error);
    return ok ? shader : 0;
}

static GLuint link(const char *vertex, const char *fragment, char *error, size_t size)
{
    const GLuint v = compile(GL_VERTEX_SHADER, vertex, error, size);
    const GLuint f = v != 0 ? compile(GL_FRAGMENT_SHADER, fragment, error, size) : 0;
    if (f == 0)
        return 0;
    const GLuint program = glCreateProgram();
    GLint ok;
    glAttachShader(program, v);
    glAttachShader(program, f);
    glLinkProgram(program);
    glDeleteShader(v);
    glDeleteShader(f);
    glGetProgramiv(program, GL_LINK_STATUS, &ok);
    if (!ok)
        glGetProgramInfoLog(program, (GLsizei)size, NULL, error);
    return ok ? program : 0;
}

/* ---------------------------------------------------------------- meshes: triangles, position and normal */

typedef struct Builder {
    float data[VERTEX_MAX * 6];
    int count;
} Builder;

static void vertex(Builder *b, const float p[3], const float n[3])
{
    memcpy(b->data + 6 * b->count, p, 3 * sizeof(float));
    memcpy(b->data + 6 * b->count + 3, n, 3 * sizeof(float));
    ++b->count;
}

static void quad(Builder *b, float p[4][3], float n[4][3])
{
    static const int corner[6] = {0, 1, 2, 0, 2, 3};
    for (int i = 0; i < 6; ++i)
        vertex(b, p[corner[i]], n[corner[i]]);
}

static void buildBox(Builder *b)
{
    for (int axis = 0; axis < 3; ++axis)
        for (int side = -1; side <= 1; side += 2) {
            float p[4][3], n[4][3] = {{0}};
            static const float sign[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
            for (int i = 0; i < 4; ++i) {
                p[i][axis] = (float)side;
                p[i][(axis + 1) % 3] = sign[i][0] * (float)side;
                p[i][(axis + 2) % 3] = sign[i][1];
                n[i][axis] = (float)side;
            }
            quad(b, p, n);
        }
}

/* Surface of revolution between two rings (radius, height, slope of the normal). */
static void buildBand(Builder *b, const float low[4], const float high[4])
{
    for (int k = 0; k < AROUND; ++k) {
        float p[4][3], n[4][3];
        for (int i = 0; i < 4; ++i) {
            const float angle = (float)(2 * M_PI) * (float)(k + (i == 1 || i == 2)) / AROUND;
            const float *ring = i < 2 ? low : high;
            const float c = cosf(angle), s = sinf(angle);
            const float point[3] = {ring[0] * c, ring[0] * s, ring[1]}, normal[3] = {ring[2] * c, ring[2] * s, ring[3]};
            memcpy(p[i], point, sizeof point);
            memcpy(n[i], normal, sizeof normal);
        }
        quad(b, p, n);
    }
}

static void buildSphere(Builder *b)
{
    for (int k = 0; k < AROUND / 2; ++k) {
        float ring[2][4];
        for (int i = 0; i < 2; ++i) {
            const float t = (float)M_PI * ((float)(k + i) / (AROUND / 2) - 0.5f);
            const float values[4] = {cosf(t), sinf(t), cosf(t), sinf(t)};
            memcpy(ring[i], values, sizeof values);
        }
        buildBand(b, ring[0], ring[1]);
    }
}

static void buildTube(Builder *b)
{
    buildBand(b, (const float[]){1, -1, 1, 0}, (const float[]){1, 1, 1, 0});
}

static void buildCylinder(Builder *b)
{
    buildTube(b);
    buildBand(b, (const float[]){1, 1, 0, 1}, (const float[]){0, 1, 0, 1});
    buildBand(b, (const float[]){0, -1, 0, -1}, (const float[]){1, -1, 0, -1});
}

/* Tip at -z. */
static void buildCone(Builder *b)
{
    const float s = sqrtf(0.8f), c = -sqrtf(0.2f); /* normal of the unit cone of radius 1, height 2 */
    buildBand(b, (const float[]){0, -1, s, c}, (const float[]){1, 1, s, c});
    buildBand(b, (const float[]){1, 1, 0, 1}, (const float[]){0, 1, 0, 1});
}

static Mesh upload(const Builder *b)
{
    Mesh mesh = {.count = b->count};
    glGenVertexArrays(1, &mesh.vao);
    glBindVertexArray(mesh.vao);
    glGenBuffers(1, &mesh.vbo);
    glBindBuffer(GL_ARRAY_BUFFER, mesh.vbo);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(6 * sizeof(float)) * b->count, b->data, GL_STATIC_DRAW);
    for (GLuint i = 0; i < 2; ++i) {
        glEnableVertexAttribArray(i);
        glVertexAttribPointer(i, 3, GL_FLOAT, GL_FALSE, 6 * sizeof(float), (const void *)(i * 3 * sizeof(float)));
    }
    return mesh;
}

/* ---------------------------------------------------------------- create */

static void createShadow(Draw *d)
{
    glGenTextures(1, &d->shadow_texture);
    glBindTexture(GL_TEXTURE_2D, d->shadow_texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT24, SHADOW_SIZE, SHADOW_SIZE, 0, GL_DEPTH_COMPONENT, GL_FLOAT,
                 NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glGenFramebuffers(1, &d->shadow_buffer);
    glBindFramebuffer(GL_FRAMEBUFFER, d->shadow_buffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, d->shadow_texture, 0);
    glDrawBuffer(GL_NONE);
    glReadBuffer(GL_NONE);
}

int drawResize(Draw *d, int width, int height)
{
    GLint most = 0;
    glGetIntegerv(GL_MAX_SAMPLES, &most);
    const GLsizei samples = most < SAMPLES_WANTED ? most : SAMPLES_WANTED;
    d->width = width;
    d->height = height;
    glBindRenderbuffer(GL_RENDERBUFFER, d->colour);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_RGBA8, width, height);
    glBindRenderbuffer(GL_RENDERBUFFER, d->depth);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_DEPTH_COMPONENT24, width, height);
    glBindRenderbuffer(GL_RENDERBUFFER, d->resolved_colour);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    glBindFramebuffer(GL_FRAMEBUFFER, d->samples);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, d->colour);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, d->depth);
    const int complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    glBindFramebuffer(GL_FRAMEBUFFER, d->resolved);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, d->resolved_colour);
    return complete && glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

Draw *drawCreate(int width, int height, char *error, size_t size)
{
    static void (*const build[MESH_COUNT])(Builder *) = {buildBox, buildSphere, buildTube, buildCylinder, buildCone};
    Draw *d = calloc(1, sizeof *d);
    Builder *builder = malloc(sizeof *builder);
    if (d == NULL || builder == NULL) {
        snprintf(error, size, "out of memory");
        free(d);
        free(builder);
        return NULL;
    }
    if (epoxy_gl_version() < 33) {
        snprintf(error, size, "OpenGL %d.%d found, 3.3 needed; LIBGL_ALWAYS_SOFTWARE=1 uses Mesa's software renderer",
                 epoxy_gl_version() / 10, epoxy_gl_version() % 10);
        free(builder);
        free(d);
        return NULL;
    }
    for (int k = 0; k < MESH_COUNT; ++k) {
        builder->count = 0;
        build[k](builder);
        d->mesh[k] = upload(builder);
    }
    free(builder);
    createShadow(d);
    glGenFramebuffers(1, &d->samples);
    glGenFramebuffers(1, &d->resolved);
    glGenRenderbuffers(1, &d->colour);
    glGenRenderbuffers(1, &d->depth);
    glGenRenderbuffers(1, &d->resolved_colour);
    d->program = link(embedded_mesh_vert, embedded_mesh_frag, error, size);
    d->shadow_program = d->program != 0 ? link(embedded_shadow_vert, embedded_shadow_frag, error, size) : 0;
    if (d->shadow_program == 0 || !drawResize(d, width, height)) {
        if (d->shadow_program != 0)
            snprintf(error, size, "the graphics card cannot draw %d x %d pixels", width, height);
        drawDestroy(d);
        return NULL;
    }
    return d;
}

void drawDestroy(Draw *d)
{
    if (d == NULL)
        return;
    for (int k = 0; k < MESH_COUNT; ++k) {
        glDeleteVertexArrays(1, &d->mesh[k].vao);
        glDeleteBuffers(1, &d->mesh[k].vbo);
    }
    const GLuint renderbuffer[] = {d->colour, d->depth, d->resolved_colour};
    const GLuint framebuffer[] = {d->samples, d->resolved, d->shadow_buffer};
    glDeleteRenderbuffers(3, renderbuffer);
    glDeleteFramebuffers(3, framebuffer);
    glDeleteTextures(1, &d->shadow_texture);
    glDeleteProgram(d->program);
    glDeleteProgram(d->shadow_program);
    free(d->item);
    free(d);
}

/* ---------------------------------------------------------------- add */

static Item *addItem(Draw *d, int mesh, const float color[4])
{
    if (d->count == d->capacity) {
        const size_t capacity = d->capacity == 0 ? 256 : 2 * d->capacity;
        Item *bigger = realloc(d->item, capacity * sizeof *bigger);
        if (bigger == NULL)
            return NULL;
        d->item = bigger;
        d->capacity = capacity;
    }
    Item *item = &d->item[d->count++];
    *item = (Item){.mesh = mesh, .casts = color[3] >= 1};
    memcpy(item->color, color, sizeof item->color);
    glm_mat4_identity(item->model);
    return item;
}

static void addScaled(Draw *d, int mesh, mat4 frame, vec3 offset, vec3 scale, const float color[4])
{
    Item *item = addItem(d, mesh, color);
    if (item == NULL)
        return;
    glm_translate_to(frame, offset, item->model);
    glm_scale(item->model, scale);
}

/* Columns of the frame: rotation (row-major 3x3) and position. */
static void frameFrom(const double R[9], const double p[3], mat4 out)
{
    glm_mat4_identity(out);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j)
            out[j][i] = (float)R[3 * i + j];
        out[3][i] = (float)p[i];
    }
}

void drawShape(Draw *d, const SceneShape *s, int is_ground)
{
    const float color[4] = {s->color[0], s->color[1], s->color[2], 1};
    const float a = (float)s->size[0], b = (float)s->size[1], c = (float)s->size[2];
    mat4 local, frame;
    frameFrom(s->rotation, s->position, local);
    glm_mat4_copy(local, frame);
    if (s->body != NULL) {
        const dReal *p = dBodyGetPosition(s->body), *R = dBodyGetRotation(s->body);
        const double rotation[9] = {R[0], R[1], R[2], R[4], R[5], R[6], R[8], R[9], R[10]};
        const double position[3] = {p[0], p[1], p[2]};
        mat4 body;
        frameFrom(rotation, position, body);
        glm_mat4_mul(body, local, frame);
    }
    vec3 none = {0, 0, 0};
    switch (s->kind) {
    case SCENE_BOX:
        addScaled(d, MESH_BOX, frame, none, (vec3){a, b, c}, color);
        break;
    case SCENE_SPHERE:
        addScaled(d, MESH_SPHERE, frame, none, (vec3){a, a, a}, color);
        break;
    case SCENE_CAPSULE:
        addScaled(d, MESH_TUBE, frame, none, (vec3){a, a, b}, color);
        addScaled(d, MESH_SPHERE, frame, (vec3){0, 0, b}, (vec3){a, a, a}, color);
        addScaled(d, MESH_SPHERE, frame, (vec3){0, 0, -b}, (vec3){a, a, a}, color);
        break;
    case SCENE_CYLINDER:
        addScaled(d, MESH_CYLINDER, frame, none, (vec3){a, a, b}, color);
        break;
    case SCENE_CONE:
        addScaled(d, MESH_CONE, frame, none, (vec3){a, a, b}, color);
        break;
    }
    if (is_ground && d->count > 0) {
        static const float light[4] = {0.84f, 0.855f, 0.87f, 1};
        memcpy(d->item[d->count - 1].color, light, sizeof light);
        d->item[d->count - 1].checker = 0.1f * d->camera.distance;
        d->item[d->count - 1].casts = 0;
    }
}

/* A frame with z along the unit vector. */
static void frameAlong(const double z[3], const double p[3], mat4 out)
{
    const double helper[3] = {fabs(z[0]) < 0.9, fabs(z[0]) >= 0.9, 0};
    double x[3] = {helper[1] * z[2] - helper[2] * z[1], helper[2] * z[0] - helper[0] * z[2],
                   helper[0] * z[1] - helper[1] * z[0]};
    const double length = dCalcVectorLength3(x);
    for (int i = 0; i < 3; ++i)
        x[i] /= length;
    const double y[3] = {z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]};
    frameFrom((const double[]){x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]}, p, out);
}

void drawArrow(Draw *d, const double from[3], const double vector[3], double thickness, const float color[4])
{
    const double length = dCalcVectorLength3(vector);
    if (!(length > 1e-6 * d->camera.distance))
        return;
    const double axis[3] = {vector[0] / length, vector[1] / length, vector[2] / length};
    const float head = (float)fmin(4 * thickness, 0.6 * length), shaft = (float)length - head;
    const float r = (float)thickness;
    const size_t first = d->count;
    mat4 frame;
    frameAlong(axis, from, frame);
    addScaled(d, MESH_CYLINDER, frame, (vec3){0, 0, 0.5f * shaft}, (vec3){r, r, 0.5f * shaft}, color);
    addScaled(d, MESH_CONE, frame, (vec3){0, 0, shaft + 0.5f * head}, (vec3){2.2f * r, 2.2f * r, -0.5f * head}, color);
    for (size_t k = first; k < d->count; ++k)
        d->item[k].shines = 1;
}

void drawCone(Draw *d, const double apex[3], const double axis[3], double mu, double height, const float color[4])
{
    mat4 frame;
    frameAlong(axis, apex, frame);
    /* wide cones are shortened, so that the rim stays in view */
    const double h = height / sqrt(1 + mu * mu);
    addScaled(d, MESH_CONE, frame, (vec3){0, 0, (float)(0.5 * h)},
              (vec3){(float)(mu * h), (float)(mu * h), (float)(0.5 * h)}, color);
}

void drawSphere(Draw *d, const double centre[3], double radius, const float color[4])
{
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const float r = (float)radius;
    mat4 frame;
    frameFrom(identity, centre, frame);
    addScaled(d, MESH_SPHERE, frame, (vec3){0, 0, 0}, (vec3){r, r, r}, color);
}

/* ---------------------------------------------------------------- flush */

static float linear(float srgb)
{
    return powf(srgb, 2.2f);
}

static const float horizon_srgb[3] = {0.90f, 0.925f, 0.95f};

void drawFrame(Draw *d)
{
    glBindFramebuffer(GL_FRAMEBUFFER, d->samples);
    glDisable(GL_SCISSOR_TEST);
    glClearColor(horizon_srgb[0], horizon_srgb[1], horizon_srgb[2], 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

void drawBegin(Draw *d, const Camera *camera, int left, int width)
{
    d->camera = *camera;
    d->left = left;
    d->view_width = width;
    d->count = 0;
}

static void drawItem(const Draw *d, GLuint program, const Item *item)
{
    glUniformMatrix4fv(glGetUniformLocation(program, "model"), 1, GL_FALSE, item->model[0]);
    glBindVertexArray(d->mesh[item->mesh].vao);
    glDrawArrays(GL_TRIANGLES, 0, d->mesh[item->mesh].count);
}

static void drawShadows(const Draw *d, mat4 light)
{
    glBindFramebuffer(GL_FRAMEBUFFER, d->shadow_buffer);
    glViewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
    glClear(GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(2, 4);
    glUseProgram(d->shadow_program);
    glUniformMatrix4fv(glGetUniformLocation(d->shadow_program, "light"), 1, GL_FALSE, light[0]);
    for (size_t k = 0; k < d->count; ++k)
        if (d->item[k].casts)
            drawItem(d, d->shadow_program, &d->item[k]);
    glDisable(GL_POLYGON_OFFSET_FILL);
}

typedef enum Pass { SOLID, HIDDEN, GLASS } Pass;

static void drawItems(const Draw *d, Pass pass)
{
    for (size_t k = 0; k < d->count; ++k) {
        const Item *item = &d->item[k];
        if (pass == HIDDEN ? !item->shines : (item->color[3] < 1) != (pass == GLASS))
            continue;
        glUniform4f(glGetUniformLocation(d->program, "color"), linear(item->color[0]), linear(item->color[1]),
                    linear(item->color[2]), pass == HIDDEN ? 0.3f : item->color[3]);
        glUniform1f(glGetUniformLocation(d->program, "checker"), item->checker);
        drawItem(d, d->program, item);
    }
}

void drawFlush(Draw *d)
{
    vec3 eye, to_light = {-0.35f, -0.45f, 0.82f}, sun;
    mat4 view_projection, light_view, light_projection, light;
    const float reach = 1.1f * d->camera.distance;
    glm_vec3_normalize(to_light);
    cameraEye(&d->camera, eye);
    cameraViewProjection(&d->camera, (float)d->view_width / (float)d->height, view_projection);
    glm_vec3_copy(d->camera.target, sun);
    glm_vec3_muladds(to_light, 2 * reach, sun);
    glm_lookat(sun, d->camera.target, (vec3){0, 1, 0}, light_view);
    glm_ortho(-reach, reach, -reach, reach, 0.1f * reach, 4 * reach, light_projection);
    glm_mat4_mul(light_projection, light_view, light);
    drawShadows(d, light);

    glBindFramebuffer(GL_FRAMEBUFFER, d->samples);
    glViewport(d->left, 0, d->view_width, d->height);
    glEnable(GL_SCISSOR_TEST);
    glScissor(d->left, 0, d->view_width, d->height);
    glEnable(GL_MULTISAMPLE);
    glUseProgram(d->program);
    glUniformMatrix4fv(glGetUniformLocation(d->program, "view_projection"), 1, GL_FALSE, view_projection[0]);
    glUniformMatrix4fv(glGetUniformLocation(d->program, "light"), 1, GL_FALSE, light[0]);
    glUniform3fv(glGetUniformLocation(d->program, "eye"), 1, eye);
    glUniform3fv(glGetUniformLocation(d->program, "to_light"), 1, to_light);
    glUniform3f(glGetUniformLocation(d->program, "horizon"), linear(horizon_srgb[0]), linear(horizon_srgb[1]),
                linear(horizon_srgb[2]));
    glUniform1f(glGetUniformLocation(d->program, "haze"), 0.22f / d->camera.distance);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, d->shadow_texture);
    glUniform1i(glGetUniformLocation(d->program, "shadow"), 0);
    drawItems(d, SOLID);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glDepthMask(GL_FALSE);
    glDepthFunc(GL_GREATER);
    drawItems(d, HIDDEN);
    glDepthFunc(GL_LESS);
    drawItems(d, GLASS);
    glDepthMask(GL_TRUE);
    glDisable(GL_BLEND);
    glDisable(GL_SCISSOR_TEST);
}

static void resolve(const Draw *d, GLuint target)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, d->samples);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, target);
    glBlitFramebuffer(0, 0, d->width, d->height, 0, 0, d->width, d->height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

void drawPresent(Draw *d)
{
    resolve(d, 0);
}

void drawRead(Draw *d, unsigned char *rgb)
{
    resolve(d, d->resolved);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, d->resolved);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    for (int y = 0; y < d->height; ++y) /* GL's rows go up */
        glReadPixels(0, d->height - 1 - y, d->width, 1, GL_RGB, GL_UNSIGNED_BYTE,
                     rgb + 3 * (size_t)y * (size_t)d->width);
}
