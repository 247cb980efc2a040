// The only C++ of the viewer: ImGui has no C interface in Debian.
#include "viewer/hud.h"

#include <cmath>
#include <cstdio>

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

namespace
{

ImFont *proportional, *monospaced;
const float font_size = 36; // pixels of the glyphs' texture; drawn smaller

ImFont *load(const char *path)
{
    FILE *file = std::fopen(path, "rb");
    if (file == nullptr)
        return nullptr;
    std::fclose(file);
    return ImGui::GetIO().Fonts->AddFontFromFileTTF(path, font_size);
}

ImU32 packed(HudColor c)
{
    return IM_COL32(c.r, c.g, c.b, c.a);
}

ImFont *font(int wide)
{
    return wide ? proportional : monospaced;
}

} // namespace

int hudCreate(void)
{
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    proportional = load("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf");
    monospaced = load("/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf");
    ImFontConfig plain;
    plain.SizePixels = 26;
    if (proportional == nullptr)
        proportional = ImGui::GetIO().Fonts->AddFontDefault(&plain);
    if (monospaced == nullptr)
        monospaced = proportional;
    return ImGui_ImplOpenGL3_Init("#version 330 core");
}

void hudDestroy(void)
{
    if (ImGui::GetCurrentContext() == nullptr)
        return;
    if (ImGui::GetIO().BackendRendererUserData != nullptr)
        ImGui_ImplOpenGL3_Shutdown();
    ImGui::DestroyContext();
}

void hudBegin(int width, int height)
{
    ImGui::GetIO().DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
    ImGui::GetIO().DeltaTime = 1.0f / 60;
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
}

float hudTextWidth(float size, int wide, const char *text)
{
    return font(wide)->CalcTextSizeA(size, 1e6f, 0, text).x;
}

float hudText(float x, float y, float size, int wide, HudColor color, const char *text)
{
    ImGui::GetForegroundDrawList()->AddText(font(wide), size, ImVec2(std::floor(x), std::floor(y)), packed(color),
                                            text);
    return hudTextWidth(size, wide, text);
}

void hudRectangle(HudBox box, float rounding, HudColor color)
{
    ImGui::GetForegroundDrawList()->AddRectFilled(ImVec2(box.x, box.y), ImVec2(box.x + box.w, box.y + box.h),
                                                  packed(color), rounding);
}

void hudArrow(float x, float y, float length, float width, HudColor color)
{
    const float neck = x + length - width;
    hudRectangle({x, y - 0.12f * width, neck - x, 0.24f * width}, 0, color);
    ImGui::GetForegroundDrawList()->AddTriangleFilled(ImVec2(neck, y - 0.5f * width), ImVec2(neck, y + 0.5f * width),
                                                      ImVec2(x + length, y), packed(color));
}

// Two points a pixel column, its least and its greatest value: no spike is missed, and none is added by a mitre.
void hudCurve(HudBox box, const float *value, int count, float high, HudColor color)
{
    const float thickness = 1.8f;
    const int columns = count < static_cast<int>(box.w) ? count : static_cast<int>(box.w);
    ImVec2 last;
    for (int i = 0; i < columns; ++i) {
        const long first = static_cast<long>(i) * count / columns, end = static_cast<long>(i + 1) * count / columns;
        float least = value[first], greatest = value[first];
        for (long k = first; k < end; ++k) {
            least = std::fmin(least, value[k]);
            greatest = std::fmax(greatest, value[k]);
        }
        const float both[2] = {least, greatest};
        const int falling = i > 0 && value[first] > 0.5f * (least + greatest);
        for (int k = 0; k < 2; ++k) {
            const float part = std::fmin(std::fmax(both[k ^ falling] / high, 0.0f), 1.0f);
            const ImVec2 point(box.x + box.w * static_cast<float>(i) / std::fmax(static_cast<float>(columns - 1), 1.0f),
                               box.y + box.h * (1 - part));
            if (i + k > 0)
                ImGui::GetForegroundDrawList()->AddLine(last, point, packed(color), thickness);
            last = point;
        }
    }
}

void hudEnd(void)
{
    ImGui::Render();
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}
