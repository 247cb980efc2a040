#include "viewer/context.h"

#include <stdio.h>

#include <epoxy/egl.h>
#include <epoxy/gl.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

static GLFWwindow *window;
static EGLDisplay egl = NULL;

/* ---------------------------------------------------------------- a window */

static char glfw_message[160];

static void onGlfwError(int code, const char *text)
{
    snprintf(glfw_message, sizeof glfw_message, "%s (GLFW error %#x)", text, (unsigned)code);
}

static GLFWwindow *openWindow(int width, int height, const char *title, int visible, char *error, size_t size)
{
    glfwSetErrorCallback(onGlfwError);
    if (!glfwInit()) {
        snprintf(error, size, "no display: %s; use --headless, or xvfb-run for pictures without one", glfw_message);
        return NULL;
    }
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_VISIBLE, visible);
    window = glfwCreateWindow(width, height, title, NULL, NULL);
    if (window == NULL) {
        snprintf(error, size, "no OpenGL 3.3: %s; LIBGL_ALWAYS_SOFTWARE=1 uses Mesa's software renderer", glfw_message);
        glfwTerminate();
        return NULL;
    }
    glfwMakeContextCurrent(window);
    return window;
}

GLFWwindow *contextWindow(int width, int height, const char *title, char *error, size_t size)
{
    if (openWindow(width, height, title, GLFW_TRUE, error, size) != NULL)
        glfwSwapInterval(1);
    return window;
}

/* ---------------------------------------------------------------- no window */

/* Mesa draws without any display on its surfaceless platform. */
static int openEgl(void)
{
    static const EGLint version[] = {
        EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
        EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
    if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
        return 0;
    egl = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (egl == EGL_NO_DISPLAY || !eglInitialize(egl, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API))
        return 0;
    /* no config: we draw into our own framebuffers only */
    const EGLContext context = eglCreateContext(egl, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, version);
    return context != EGL_NO_CONTEXT && eglMakeCurrent(egl, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
}

int contextOffscreen(int width, int height, char *error, size_t size)
{
    return openEgl() || openWindow(width, height, "sprag-view", GLFW_FALSE, error, size) != NULL;
}

void contextClose(void)
{
    if (window != NULL)
        glfwTerminate();
    if (egl != NULL)
        eglTerminate(egl);
}
