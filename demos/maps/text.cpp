// C++ because ImGui has no C interface in Debian.
#include "maps/text.h"

#include <cstdio>

#include <imgui.h>

namespace
{

ImFont *font[2]; // small, large
unsigned char *atlas;
int atlas_width, atlas_height;

void blend(unsigned char *pixel, const unsigned char color[3], int alpha)
{
    for (int i = 0; i < 3; ++i)
        pixel[i] = static_cast<unsigned char>((color[i] * alpha + pixel[i] * (255 - alpha)) / 255);
}

void drawGlyph(Picture *picture, float x, float y, const ImFontGlyph *glyph, const unsigned char color[3])
{
    const int u0 = static_cast<int>(glyph->U0 * static_cast<float>(atlas_width) + 0.5f);
    const int v0 = static_cast<int>(glyph->V0 * static_cast<float>(atlas_height) + 0.5f);
    const int width = static_cast<int>(glyph->X1 - glyph->X0 + 0.5f), left = static_cast<int>(x + glyph->X0 + 0.5f);
    const int height = static_cast<int>(glyph->Y1 - glyph->Y0 + 0.5f), top = static_cast<int>(y + glyph->Y0 + 0.5f);
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column) {
            const int px = left + column, py = top + row;
            if (px >= 0 && px < picture->width && py >= 0 && py < picture->height)
                blend(picture->rgb + 3 * (py * picture->width + px), color,
                      atlas[(v0 + row) * atlas_width + u0 + column]);
        }
}

} // namespace

int textOpen(void)
{
    static const char *const path = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
    ImGui::CreateContext();
    ImFontAtlas *fonts = ImGui::GetIO().Fonts;
    FILE *file = std::fopen(path, "rb");
    for (int large = 0; large < 2; ++large) {
        ImFontConfig config;
        config.SizePixels = large ? 20 : 14;
        config.OversampleH = config.OversampleV = 1; // one texel a pixel
        config.PixelSnapH = true;
        font[large] = file != nullptr ? fonts->AddFontFromFileTTF(path, config.SizePixels, &config)
                                      : fonts->AddFontDefault(&config);
    }
    if (file != nullptr)
        std::fclose(file);
    fonts->GetTexDataAsAlpha8(&atlas, &atlas_width, &atlas_height);
    return atlas != nullptr;
}

void textClose(void)
{
    ImGui::DestroyContext();
}

int textDraw(Picture *picture, int x, int y, int large, const unsigned char color[3], const char *text)
{
    float at = static_cast<float>(x);
    for (const char *c = text; *c != 0; ++c) {
        const ImFontGlyph *glyph = font[large]->FindGlyph(static_cast<ImWchar>(static_cast<unsigned char>(*c)));
        drawGlyph(picture, at, static_cast<float>(y), glyph, color);
        at += glyph->AdvanceX;
    }
    return static_cast<int>(at) - x;
}

int textWidth(int large, const char *text)
{
    float width = 0;
    for (const char *c = text; *c != 0; ++c)
        width += font[large]->FindGlyph(static_cast<ImWchar>(static_cast<unsigned char>(*c)))->AdvanceX;
    return static_cast<int>(width);
}
