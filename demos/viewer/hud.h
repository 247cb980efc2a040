/* Text, bars and plots over the picture, through Dear ImGui's draw lists.  Lengths are pixels. */
#ifndef DEMOS_VIEWER_HUD_H
#define DEMOS_VIEWER_HUD_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HudColor {
    unsigned char r, g, b, a;
} HudColor;

/* Pixels from the top left corner. */
typedef struct HudBox {
    float x, y, w, h;
} HudBox;

/* 1, or 0 if OpenGL functions cannot be loaded; hudDestroy may be called all the same, and before. */
int hudCreate(void);
void hudDestroy(void);

/* Everything added between Begin and End is drawn into the bound framebuffer at End. */
void hudBegin(int width, int height);
/* size in pixels; wide: the proportional font, else digits and letters of one width.  Returns the text's width. */
float hudText(float x, float y, float size, int wide, HudColor color, const char *text);
float hudTextWidth(float size, int wide, const char *text);
void hudRectangle(HudBox box, float rounding, HudColor color);
/* To the right, from x, length long and as wide as its head. */
void hudArrow(float x, float y, float length, float width, HudColor color);
/* value (count) from left to right: 0 is the lower edge of the box, `high` the upper one, which cuts greater values. */
void hudCurve(HudBox box, const float *value, int count, float high, HudColor color);
void hudEnd(void);

#ifdef __cplusplus
}
#endif
#endif
