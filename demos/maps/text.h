/* Text into a picture in memory, with Dear ImGui's rasterised fonts; no window, no GL. */
#ifndef DEMOS_MAPS_TEXT_H
#define DEMOS_MAPS_TEXT_H

#ifdef __cplusplus
extern "C" {
#endif

/* rgb (height x width x 3), top row first. */
typedef struct Picture {
    int width, height;
    unsigned char *rgb;
} Picture;

/* 0: no font. */
int textOpen(void);
void textClose(void);
/* Upper left corner at (x, y), pixels; large: 20 px, else 14.  Returns the width. */
int textDraw(Picture *picture, int x, int y, int large, const unsigned char color[3], const char *text);
int textWidth(int large, const char *text);

#ifdef __cplusplus
}
#endif
#endif
