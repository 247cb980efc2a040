#include "ode/layout.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

/* Words searched: a world, a body and a joint are all longer than this in every 0.16 build. */
enum { WORLD_WORDS = 16, OBJECT_WORDS = 8, CONTACT_BYTES = 320 };

static struct {
    size_t first_body, first_joint, next, contact; /* bytes */
    int known;
} layout;

static void *word(const void *object, size_t offset)
{
    void *value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

dBodyID spragLayoutFirstBody(dWorldID world)
{
    return word(world, layout.first_body);
}

dBodyID spragLayoutNextBody(dBodyID body)
{
    return word(body, layout.next);
}

dJointID spragLayoutFirstJoint(dWorldID world)
{
    return word(world, layout.first_joint);
}

dJointID spragLayoutNextJoint(dJointID joint)
{
    return word(joint, layout.next);
}

const dContact *spragLayoutContact(dJointID joint)
{
    return (const dContact *)(const void *)((const char *)joint + layout.contact);
}

/* Offset of the only word of the object that holds the value. */
static int findWord(const void *object, int words, const void *value, size_t *offset)
{
    int found = 0;
    for (int i = 0; i < words; ++i)
        if (word(object, (size_t)i * sizeof value) == value) {
            *offset = (size_t)i * sizeof value;
            ++found;
        }
    return found == 1;
}

/* The link: newest -> middle -> oldest -> NULL. */
static int isChain(void *const object[3], size_t link)
{
    return word(object[2], link) == object[1] && word(object[1], link) == object[0] && word(object[0], link) == NULL;
}

static int findContact(dJointID joint, const dContact *contact, size_t *offset)
{
    for (*offset = 0; *offset < CONTACT_BYTES; *offset += sizeof(dReal))
        if (memcmp((const char *)joint + *offset, contact, sizeof *contact) == 0)
            return 1;
    return 0;
}

static void findLayout(void)
{
    dWorldID world = dWorldCreate();
    dJointGroupID group = dJointGroupCreate(0); /* its blocks are longer than what is searched */
    dContact contact;
    unsigned char pattern[sizeof contact];
    for (size_t i = 0; i < sizeof pattern; ++i)
        pattern[i] = (unsigned char)(1 + i % 63); /* no NaN among them */
    memcpy(&contact, pattern, sizeof contact);
    void *body[3], *joint[3];
    for (int i = 0; i < 3; ++i) {
        body[i] = dBodyCreate(world);
        joint[i] = dJointCreateContact(world, group, &contact);
    }
    size_t joint_next = 0;
    layout.known = findWord(world, WORLD_WORDS, body[2], &layout.first_body) &&
                   findWord(world, WORLD_WORDS, joint[2], &layout.first_joint) &&
                   findWord(body[2], OBJECT_WORDS, body[1], &layout.next) && isChain(body, layout.next) &&
                   findWord(joint[2], OBJECT_WORDS, joint[1], &joint_next) && isChain(joint, joint_next) &&
                   joint_next == layout.next && findContact(joint[2], &contact, &layout.contact);
    dJointGroupDestroy(group);
    dWorldDestroy(world);
}

int spragLayoutKnown(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, findLayout);
    return layout.known;
}
