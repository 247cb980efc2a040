/* Text, bars and plots over the picture, through Dear ImGui's draw lists.  Pixels from the top left. */
#ifndef DEMOS_VIEWER_HUD_H
#define DEMOS_VIEWER_HUD_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HudColor {
    unsigned char r, g, b, a;
} HudColor;

/* 1, or 0 if OpenGL functions cannot be loaded; hudDestroy may be called all the same, and before. */
int hudCreate(void);
void hudDestroy(void);

/* Everything added between Begin and End is drawn into the bound framebuffer at End. */
void hudBegin(int width, int height);
/* size in pixels; wide: the proportional font, else digits and letters of one width.  Returns the text's width. */
float hudText(float x, float y, float size, int wide, HudColor color, const char *text);
float hudTextWidth(float size, int wide, const char *text);
void hudRectangle(float x, float y, float width, float height, float rounding, HudColor color);
/* To the right, from x, length long and as wide as its head. */
void hudArrow(float x, float y, float length, float width, HudColor color);
/* count values in [low, high] from left to right. */
void hudCurve(float x, float y, float width, float height, const float *value, int count, float low, float high,
              float thickness, HudColor color);
void hudEnd(void);

#ifdef __cplusplus
}
#endif
#endif
