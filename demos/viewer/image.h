/* Pictures and videos on disk. */
#ifndef DEMOS_VIEWER_IMAGE_H
#define DEMOS_VIEWER_IMAGE_H

#include <stdio.h>

/* rgb (height x width x 3), top row first.  0: error gets one line. */
int imageWritePng(FILE *file, int width, int height, const unsigned char *rgb, char *error, size_t size);

typedef struct Video Video;
/* Whole or absent; 60 frames a second through a pipe to ffmpeg.  NULL: error gets one line. */
Video *videoOpen(const char *path, int width, int height, char *error, size_t size);
int videoFrame(Video *video, const unsigned char *rgb);
/* keep 0: throws it away.  0: error gets one line and no file is left. */
int videoClose(Video *video, int keep, char *error, size_t size);

#endif
