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

int imageWritePng(const char *path, int width, int height, const unsigned char *rgb, char *error, size_t size)
{
    char part[4096];
    const int through = !outputIsReplaceable(path);
    if (snprintf(part, sizeof part, "%s%s", path, through ? "" : ".part") >= (int)sizeof part) {
        snprintf(error, size, "--png: the path is too long");
        return 0;
    }
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB};
    FILE *file = fopen(part, "wb");
    int good = file != NULL && png_image_write_to_stdio(&image, file, 0, rgb, 0, NULL);
    good = file != NULL && fclose(file) == 0 && good;
    if (!good || (!through && rename(part, path) != 0)) {
        snprintf(error, size, "--png %s: cannot be written: %s", path,
                 image.message[0] ? image.message : strerror(errno));
        if (!through)
            remove(part);
        return 0;
    }
    return 1;
}

struct Video {
    FILE *pipe;
    pid_t child;
    size_t frame_bytes;
    char path[2048], part[2064];
};

/* ffmpeg reads raw frames from its standard input; no shell, so that any file name is safe. */
static void runFfmpeg(int input, const Video *v, int width, int height)
{
    char frame[32];
    snprintf(frame, sizeof frame, "%dx%d", width, height);
    dup2(input, STDIN_FILENO);
    execlp("ffmpeg", "ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", frame, "-r",
           "60", "-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-crf",
           "18", "-f", "mp4", v->part, (char *)NULL);
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
    if (!outputIsReplaceable(path))
        snprintf(error, size, "--video %s: an MP4 needs an ordinary file", path);
    else if (!inPath("ffmpeg"))
        snprintf(error, size, "--video needs ffmpeg; install it (apt-get install ffmpeg) or use --png");
    else if (v == NULL || strlen(path) >= sizeof v->path)
        snprintf(error, size, "--video: out of memory or the path is too long");
    else {
        snprintf(v->path, sizeof v->path, "%s", path);
        snprintf(v->part, sizeof v->part, "%s.part", path);
        FILE *probe = fopen(v->part, "wb");
        if (probe == NULL || fclose(probe) != 0 || pipe(ends) != 0) {
            snprintf(error, size, "--video %s: cannot be written: %s", path, strerror(errno));
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
    const int kept = keep && good && rename(v->part, v->path) == 0;
    if (!kept)
        remove(v->part);
    if (keep && !kept)
        snprintf(error, size, "--video %s: ffmpeg failed", v->path);
    free(v);
    return kept || !keep;
}
