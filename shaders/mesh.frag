#version 330 core
// One sun with a soft shadow, light from the sky above and the ground below, a faint highlight, haze at a distance.
in vec3 world_position, world_normal;
in vec4 light_position;
uniform vec4 color;            // linear; alpha < 1: a translucent helper, unlit by the shadow
uniform vec3 eye, to_light, horizon;
uniform float checker;         // m, edge of the ground's tiles; 0: plain
uniform float haze;            // 1/m
uniform sampler2DShadow shadow;
out vec4 fragment;

float lit()
{
    vec3 p = light_position.xyz / light_position.w * 0.5 + 0.5;
    if (any(lessThan(p, vec3(0.0))) || any(greaterThan(p, vec3(1.0))))
        return 1.0;
    float bias = 0.0012, texel = 1.0 / float(textureSize(shadow, 0).x), sum = 0.0;
    for (int i = -2; i <= 2; ++i)
        for (int j = -2; j <= 2; ++j)
            sum += texture(shadow, vec3(p.xy + vec2(i, j) * texel, p.z - bias));
    return sum / 25.0;
}

// Area of a box filter under which the tile is light: no crawling edges far away.
float tiles(vec2 p)
{
    vec2 w = max(fwidth(p), vec2(1e-4));
    vec2 i = 2.0 * (abs(fract((p - 0.5 * w) * 0.5) - 0.5) - abs(fract((p + 0.5 * w) * 0.5) - 0.5)) / w;
    return 0.5 - 0.5 * i.x * i.y;
}

void main()
{
    vec3 n = normalize(world_normal), to_eye = normalize(eye - world_position);
    if (dot(n, to_eye) < 0.0)
        n = -n;
    vec3 base = color.rgb;
    if (checker > 0.0)
        base *= mix(0.86, 1.0, tiles(world_position.xy / checker));
    float sun = max(dot(n, to_light), 0.0) * (color.a < 1.0 ? 1.0 : lit());
    vec3 sky = mix(vec3(0.30, 0.29, 0.28), vec3(0.52, 0.56, 0.62), 0.5 + 0.5 * n.z);
    float highlight = checker > 0.0 ? 0.0 : 0.25 * pow(max(dot(n, normalize(to_light + to_eye)), 0.0), 48.0) * sun;
    vec3 radiance = base * (sky + 0.72 * sun * vec3(1.0, 0.97, 0.92)) + highlight;
    float distance_haze = checker > 0.0 ? 1.0 - exp(-pow(haze * length(world_position - eye), 2.0)) : 0.0;
    radiance = mix(radiance, horizon, distance_haze);
    fragment = vec4(pow(radiance, vec3(1.0 / 2.2)), color.a);
}
