#version 330 core
layout(location = 0) in vec3 position;
uniform mat4 model, light;

void main()
{
    gl_Position = light * model * vec4(position, 1.0);
}
