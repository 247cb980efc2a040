/* An island that no world has, for what only looks at it: contacts with records, and bodies. */
#ifndef TESTS_SUPPORT_FAKE_ISLAND_H
#define TESTS_SUPPORT_FAKE_ISLAND_H

#include <string.h>

#include "ode/world/world.h"

enum { FAKE_JOINTS = 600, FAKE_BODIES = 160 };

typedef struct Fake {
    struct spragWorld world;
    spragIsland island;
    spragJointState joint[FAKE_JOINTS];
    spragContactMemory memory[FAKE_JOINTS];
    dContact contact;
    int number[FAKE_JOINTS];
    spragBodyState body[FAKE_BODIES];
} Fake;

/* One of contacts that were all in islands of this haste, and of two bodies that fly apart, 1 m/s where gravity gives
 * 0.1 in a step.  It lies flat. */
static inline void setFake(Fake *fake, int haste)
{
    memset(fake, 0, sizeof *fake);
    fake->world.config = spragConfigDefault();
    fake->world.memory = fake->memory;
    fake->world.snapshot.joint = fake->joint;
    fake->world.snapshot.step = 0.01;
    fake->world.snapshot.gravity[2] = -9.81;
    for (int k = 0; k < FAKE_JOINTS; ++k) {
        fake->memory[k].haste = haste;
        fake->joint[k].contact = &fake->contact;
        fake->joint[k].memory = fake->number[k] = k;
    }
    fake->world.snapshot.body = fake->body;
    fake->body[0].velocity[0] = 1;
    fake->island.body = fake->number;
    fake->island.body_count = 2;
    fake->island.joint = fake->number;
    fake->island.joint_count = fake->island.contact_count = FAKE_JOINTS;
    fake->island.pile.flat = 1;
}

/* 300 contacts of 100 bodies that fly apart, a part of a pile that falls in a world of 900. */
static inline void setFall(Fake *fake)
{
    setFake(fake, 0);
    fake->world.snapshot.active_count = 900;
    fake->island.body_count = 100;
    fake->island.pile.flat = 0;
    fake->island.joint_count = fake->island.contact_count = 300;
    for (int k = 0; k < FAKE_BODIES; ++k)
        fake->body[k].velocity[0] = k % 2 ? 0.1 : -0.1;
}

#endif
