/* The table of scenes.  Add a name in both places. */
#include "scenes/scene.h"

extern const Scene scene_rod, scene_top, scene_stack, scene_slider, scene_belt, scene_wheel, scene_pile, scene_arch,
    scene_card_house, scene_chain, scene_quadruped, scene_islands, scene_bipod, scene_painleve_klein, scene_wall,
    scene_pyramid, scene_rod_guide, scene_drawer, scene_slot, scene_peg, scene_ragdolls, scene_gripper, scene_logs;

const Scene *const scene_table[] = {
    &scene_rod,     &scene_top,        &scene_stack,  &scene_slider,         &scene_belt,     &scene_wheel,
    &scene_arch,    &scene_card_house, &scene_pile,   &scene_chain,          &scene_ragdolls, &scene_quadruped,
    &scene_gripper, &scene_islands,    &scene_bipod,  &scene_painleve_klein, &scene_wall,     &scene_pyramid,
    &scene_logs,    &scene_rod_guide,  &scene_drawer, &scene_slot,           &scene_peg,      NULL};
