/* Stands in for ODE's drawstuff: runs a demo program's steps without a window and looks at what it would draw.
 *
 * DEMO_STEPS (default 200) steps; keys are pressed now and then, so that things fall and machines drive.  Ends with 3
 * if something not finite, or further away than 1e6 m, is drawn; the last line on stdout says how much was drawn. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <drawstuff/drawstuff.h>

static long drawn;
static int stopped;

static void look(double x)
{
    ++drawn;
    if (!(fabs(x) < 1e6)) {
        printf("drawn: %g\n", x);
        fflush(stdout);
        _Exit(3);
    }
}

static void lookF(const float *pos, const float *R)
{
    for (int i = 0; i < 3; ++i)
        look(pos[i]);
    for (int i = 0; R != NULL && i < 3; ++i)
        look(R[i]);
}

static void lookD(const double *pos, const double *R)
{
    for (int i = 0; i < 3; ++i)
        look(pos[i]);
    for (int i = 0; R != NULL && i < 3; ++i)
        look(R[i]);
}

void dsSimulationLoop(int argc, char **argv, int width, int height, dsFunctions *demo)
{
    static const char keys[] = "bscxyvma z+-,.;'[]dwonp";
    const char *text = getenv("DEMO_STEPS");
    const int steps = text != NULL ? atoi(text) : 200;
    (void)argc, (void)argv, (void)width, (void)height;
    if (demo->start != NULL)
        demo->start();
    for (int n = 0, key = 0; n < steps && !stopped; ++n) {
        if (demo->command != NULL && n % 8 == 4) {
            demo->command(keys[key]);
            key = keys[key + 1] != '\0' ? key + 1 : 0;
        }
        demo->step(0);
    }
    if (demo->stop != NULL)
        demo->stop();
    printf("drawn %ld numbers\n", drawn);
}

void dsStop(void)
{
    stopped = 1;
}

static void say(const char *kind, const char *message, va_list args)
{
    fprintf(stderr, "%s: ", kind);
    vfprintf(stderr, message, args);
    fputc('\n', stderr);
}

void dsError(const char *message, ...)
{
    va_list args;
    va_start(args, message);
    say("error", message, args);
    exit(1);
}

void dsDebug(const char *message, ...)
{
    va_list args;
    va_start(args, message);
    say("debug", message, args);
    abort();
}

void dsPrint(const char *message, ...)
{
    va_list args;
    va_start(args, message);
    vprintf(message, args);
    va_end(args);
}

double dsElapsedTime(void)
{
    return 1.0 / 60;
}

/* Not the origin: demo_tracks looks at its contacts from here, across the way to them, and normalises. */
static float viewpoint[2][3] = {{2, -3, 4}, {130, -20, 0}};

void dsSetViewpoint(float xyz[3], float hpr[3])
{
    memcpy(viewpoint[0], xyz, sizeof viewpoint[0]);
    memcpy(viewpoint[1], hpr, sizeof viewpoint[1]);
}
void dsGetViewpoint(float xyz[3], float hpr[3])
{
    memcpy(xyz, viewpoint[0], sizeof viewpoint[0]);
    memcpy(hpr, viewpoint[1], sizeof viewpoint[1]);
}

/* What is only seen. */
void dsSetTexture(int number)
{
    (void)number;
}
void dsSetColor(float red, float green, float blue)
{
    (void)red, (void)green, (void)blue;
}
void dsSetColorAlpha(float red, float green, float blue, float alpha)
{
    (void)red, (void)green, (void)blue, (void)alpha;
}
void dsSetSphereQuality(int n)
{
    (void)n;
}
void dsSetCapsuleQuality(int n)
{
    (void)n;
}
void dsSetDrawMode(int mode)
{
    (void)mode;
}

/* What has a place: for float, and for double with a D in the name. */
#define DRAW_LIST(real, look, D)                                                                                       \
    void dsDrawBox##D(const real pos[3], const real R[12], const real sides[3])                                        \
    {                                                                                                                  \
        (void)sides;                                                                                                   \
        look(pos, R);                                                                                                  \
    }                                                                                                                  \
    void dsDrawSphere##D(const real pos[3], const real R[12], const float radius)                                      \
    {                                                                                                                  \
        (void)radius;                                                                                                  \
        look(pos, R);                                                                                                  \
    }                                                                                                                  \
    void dsDrawTriangle##D(const real pos[3], const real R[12], const real *v0, const real *v1, const real *v2,        \
                           int solid)                                                                                  \
    {                                                                                                                  \
        (void)v0, (void)v1, (void)v2, (void)solid;                                                                     \
        look(pos, R);                                                                                                  \
    }                                                                                                                  \
    void dsDrawTriangles##D(const real pos[3], const real R[12], const real *v, const int n, int solid)                \
    {                                                                                                                  \
        (void)v, (void)n, (void)solid;                                                                                 \
        look(pos, R);                                                                                                  \
    }                                                                                                                  \
    void dsDrawCylinder##D(const real pos[3], const real R[12], float length, float radius)                            \
    {                                                                                                                  \
        (void)length, (void)radius;                                                                                    \
        look(pos, R);                                                                                                  \
    }                                                                                                                  \
    void dsDrawCapsule##D(const real pos[3], const real R[12], float length, float radius)                             \
    {                                                                                                                  \
        (void)length, (void)radius;                                                                                    \
        look(pos, R);                                                                                                  \
    }                                                                                                                  \
    void dsDrawLine##D(const real pos1[3], const real pos2[3])                                                         \
    {                                                                                                                  \
        look(pos1, NULL);                                                                                              \
        look(pos2, NULL);                                                                                              \
    }                                                                                                                  \
    void dsDrawConvex##D(const real pos[3], const real R[12], const real *planes, unsigned plane_count,                \
                         const real *points, unsigned point_count, const unsigned *polygons)                           \
    {                                                                                                                  \
        (void)planes, (void)plane_count, (void)points, (void)point_count, (void)polygons;                              \
        look(pos, R);                                                                                                  \
    }
DRAW_LIST(float, lookF, )
DRAW_LIST(double, lookD, D)
