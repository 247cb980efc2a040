#include "viewer/image.h"

#include <errno.h>
#include <png.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenes/output.h"

int imageWritePng(FILE *file, int width, int height, const unsigned char *rgb, char *error, size_t size)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB};
    if (png_image_write_to_stdio(&image, file, 0, rgb, 0, NULL) && fflush(file) == 0)
        return 1;
    snprintf(error, size, "the picture cannot be written: %s", image.message[0] ? image.message : strerror(errno));
    return 0;
}

struct Video {
    FILE *pipe;
    pid_t child;
    size_t frame_bytes;
    Output output; /* ffmpeg writes its part */
};

/* ffmpeg reads raw frames from its standard input; no shell, so that any file name is safe. */
static void runFfmpeg(int input, const Video *v, int width, int height)
{
    char frame[32];
    snprintf(frame, sizeof frame, "%dx%d", width, height);
    dup2(input, STDIN_FILENO);
    execlp("ffmpeg", "ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", frame, "-r",
           "60", "-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-crf",
           "18", "-f", "mp4", v->output.part, (char *)NULL);
    _exit(127);
}

static int inPath(const char *program)
{
    const char *path = getenv("PATH");
    char copy[8192], full[8448];
    snprintf(copy, sizeof copy, "%s", path != NULL ? path : "");
    char *rest = copy, *directory;
    while ((directory = strtok_r(rest, ":", &rest)) != NULL) {
        snprintf(full, sizeof full, "%s/%s", directory, program);
        if (access(full, X_OK) == 0)
            return 1;
    }
    return 0;
}

Video *videoOpen(const char *path, int width, int height, char *error, size_t size)
{
    Video *v = calloc(1, sizeof *v);
    int ends[2];
    if (v == NULL)
        snprintf(error, size, "out of memory");
    else if (!inPath("ffmpeg"))
        snprintf(error, size, "--video needs ffmpeg; install it (apt-get install ffmpeg) or use --png");
    else if (outputOpen(&v->output, path, error)) {
        if (v->output.through) {
            snprintf(error, size, "--video %s: an MP4 needs an ordinary file", path);
        } else if (pipe(ends) != 0) {
            snprintf(error, size, "--video %s: %s", path, strerror(errno));
        } else {
            signal(SIGPIPE, SIG_IGN); /* a dead ffmpeg is a failed write, not the end of the viewer */
            v->frame_bytes = 3 * (size_t)width * (size_t)height;
            v->child = fork();
            if (v->child == 0) {
                close(ends[1]);
                runFfmpeg(ends[0], v, width, height);
            }
            close(ends[0]);
            v->pipe = fdopen(ends[1], "wb");
            return v;
        }
        outputClose(&v->output, 0);
    }
    free(v);
    return NULL;
}

int videoFrame(Video *video, const unsigned char *rgb)
{
    return fwrite(rgb, 1, video->frame_bytes, video->pipe) == video->frame_bytes;
}

int videoClose(Video *v, int keep, char *error, size_t size)
{
    int status = 0;
    fclose(v->pipe);
    waitpid(v->child, &status, 0);
    const int good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const int closed = outputClose(&v->output, keep && good) && (good || !keep);
    if (keep && !closed)
        snprintf(error, size, "--video %s: ffmpeg failed", v->output.path);
    free(v);
    return closed || !keep;
}
