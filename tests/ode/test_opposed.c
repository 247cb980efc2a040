/* Contacts that push against each other take nothing of their own, whoever the walls belong to and in whatever order
 * the bodies of a contact are named, beside a floor too; what overlaps for another reason is pushed out as ever. */
#include "support/twin.h"

#define STEP 1e-3    /* s */
#define OVERLAP 1e-6 /* m, at either wall */
#define HALF_X 0.5   /* m, of the box of addBox */
#define HALF_Y 0.4   /* m */
#define HALF_Z 0.2   /* m */

/* How the contacts with the two walls are made. */
typedef struct Walls {
    int of_a_body; /* 1: of a heavy body, 0: of the world */
    int turned[2]; /* the wall is named first */
    int floor;     /* contacts with the ground as well, made before those of the walls */
    int others;    /* boxes that touch the body of the walls too, with four contacts each */
    int last;      /* 1: they are made before that body */
} Walls;

enum { OTHERS_MOST = 80 };

static void addWallContacts(Twin *t, dBodyID box, dBodyID wall, const Walls *walls)
{
    for (int k = 0; k < 4; ++k) {
        const int side = k / 2, sign = side ? -1 : 1; /* +: pushes the box along y */
        dVector3 p;
        dBodyGetRelPointPos(box, k & 1 ? HALF_X : -HALF_X, -sign * HALF_Y, 0, p);
        dContact contact = planeContact(p[0], p[1], p[2], 0.5);
        const int turned = walls->turned[side];
        contact.geom.normal[2] = 0;
        contact.geom.normal[1] = turned ? -sign : sign;
        contact.geom.depth = HALF_Y - fabs(p[1]) + OVERLAP;
        if (turned)
            addContact(t, &contact, wall, box);
        else
            addContact(t, &contact, box, wall);
    }
}

/* N, the sum over the contacts whose normal is across the walls. */
static double squeeze(const Twin *t)
{
    const spragContact *contact;
    double sum = 0;
    for (int k = spragWorldGetContacts(t->sprag, &contact) - 1; k >= 0; --k)
        sum += fabs(contact[k].normal[1]) > 0.5 ? contact[k].normal_force : 0;
    return sum;
}

static dBodyID makeOther(const Twin *t, int k)
{
    const dBodyID body = dBodyCreate(t->world);
    dBodySetPosition(body, k, 20, HALF_Z);
    return body;
}

/* Points of its lower face on top of the wall's body: they bear nothing. */
static void addOther(Twin *t, dBodyID other, dBodyID wall)
{
    for (int k = 0; k < 4; ++k) {
        dVector3 p;
        dBodyGetRelPointPos(other, k & 1 ? HALF_X : -HALF_X, k & 2 ? HALF_Y : -HALF_Y, -HALF_Z, p);
        const dContact contact = planeContact(p[0], p[1], p[2], 0.5);
        addContact(t, &contact, other, wall);
    }
}

static void slide(const Walls *walls)
{
    Twin t;
    makeTwin(&t, 1);
    dBodyID box = addBox(&t, 0, 0, HALF_Z), wall = NULL, other[OTHERS_MOST];
    for (int k = 0; k < walls->others && walls->last; ++k)
        other[k] = makeOther(&t, k);
    if (walls->of_a_body) {
        wall = addBox(&t, 0, 5, 1);
        dMass mass;
        dMassSetBoxTotal(&mass, 1e3, 1, 1, 1);
        dBodySetMass(wall, &mass);
        dBodySetGravityMode(wall, 0);
    }
    for (int k = 0; k < walls->others && !walls->last; ++k)
        other[k] = makeOther(&t, k);
    if (!walls->floor)
        dWorldSetGravity(t.world, 0, 0, 0);
    dBodySetLinearVel(box, 1, 0, 0);
    for (int k = 0; k < 20; ++k) {
        if (walls->floor)
            addCorners(&t, box, 0);
        for (int other_box = 0; other_box < walls->others; ++other_box)
            addOther(&t, other[other_box], wall);
        addWallContacts(&t, box, wall, walls);
        step(&t, STEP);
        CHECK_NEAR(squeeze(&t), 0, 1e-6);
        assert_int_equal(spragWorldGetStepInfo(t.sprag).declined, 0);
        assert_true(spragWorldGetStepInfo(t.sprag).residual <= 1e-8); /* nothing is asked for that cannot be */
    }
    CHECK_NEAR(dBodyGetLinearVel(box)[0], 1, 1e-9);
    freeTwin(&t);
}

static void wallsOfTheWorld(void **state)
{
    (void)state;
    slide(&(Walls){0});
    slide(&(Walls){.turned = {1, 0}});
    slide(&(Walls){.turned = {1, 1}});
}

static void wallsOfABody(void **state)
{
    (void)state;
    for (int order = 0; order < 4; ++order)
        slide(&(Walls){.of_a_body = 1, .turned = {order & 1, order >> 1}});
}

/* One slot in a large island is found, on a body of few contacts and on one of very many. */
static void amongMany(void **state)
{
    (void)state;
    for (int last = 0; last < 2; ++last)
        slide(&(Walls){.of_a_body = 1, .others = OTHERS_MOST, .last = last});
}

static void besideAFloor(void **state)
{
    (void)state;
    slide(&(Walls){.floor = 1});
    slide(&(Walls){.floor = 1, .of_a_body = 1, .turned = {1, 0}});
}

/* Walls that are 1 % too close are a penetration: the box is pushed at, and told so. */
static void deepOverlapIsPushedOut(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dWorldSetGravity(t.world, 0, 0, 0);
    dBodyID box = addBox(&t, 0, 0, 0);
    for (int k = 0; k < 4; ++k) {
        const int sign = k < 2 ? 1 : -1;
        dContact contact = planeContact(k & 1 ? HALF_X : -HALF_X, -sign * HALF_Y, 0, 0.5);
        contact.geom.normal[2] = 0, contact.geom.normal[1] = sign;
        contact.geom.depth = 0.01;
        addContact(&t, &contact, box, 0);
    }
    step(&t, STEP);
    assert_true(squeeze(&t) > 1e3);
    freeTwin(&t);
}

/* Two floors of one staircase push the same way: both bear. */
static void oneWayIsLeftAlone(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dBodyID box = addBox(&t, 0, 0, HALF_Z);
    for (int k = 0; k < 20; ++k) {
        addCorners(&t, box, 0.5);
        step(&t, STEP);
    }
    const spragContact *contact;
    double sum = 0;
    for (int k = spragWorldGetContacts(t.sprag, &contact) - 1; k >= 0; --k)
        sum += contact[k].normal_force;
    CHECK_NEAR(sum, 2 * 9.81, 1e-6);
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wallsOfTheWorld),        cmocka_unit_test(wallsOfABody),
        cmocka_unit_test(besideAFloor),           cmocka_unit_test(amongMany),
        cmocka_unit_test(deepOverlapIsPushedOut), cmocka_unit_test(oneWayIsLeftAlone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
