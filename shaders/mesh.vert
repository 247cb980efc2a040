#version 330 core
// Solids: world position and normal for the light, position in the light's clip space for its shadow.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
uniform mat4 model, view_projection, light;
out vec3 world_position, world_normal;
out vec4 light_position;

void main()
{
    vec4 p = model * vec4(position, 1.0);
    world_position = p.xyz;
    world_normal = mat3(transpose(inverse(model))) * normal;
    light_position = light * p;
    gl_Position = view_projection * p;
}
