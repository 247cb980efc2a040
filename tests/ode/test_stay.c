/* Two slabs at rest on each other and on the ground, whose colliders name other points of their faces in every step:
 * the contacts take the places of their records, unless something has changed. */
#include "support/check.h"

#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#include "linalg/vec3.h"
#include "ode/world/world.h"

enum { SIDE_MOST = 6, FACE = SIDE_MOST * SIDE_MOST, POINTS_MOST = 2 * FACE };
static const double h = 0.01, half = 0.5, thick = 0.1; /* s, m */

typedef struct Slabs {
    dWorldID world;
    dSpaceID space;
    spragWorldID sprag;
    dJointGroupID group;
    dGeomID ground, geom[2];
    dBodyID body[2];
    int side;      /* points along a side of a face */
    dBodyID floor; /* kinematic, of a box that is the ground; or NULL */
} Slabs;

typedef enum Shape { BOX, POINT /* a ball of radius 0 */ } Shape;

/* What a collider says of a face: a grid of points. */
typedef struct Face {
    double reach, shift; /* m, half its width; its middle */
    double depth, tilt;  /* m; rad, of the normal */
    int strange;         /* 1: its contacts name geoms that never were, as those that a program fills by hand */
    int twins;           /* 1: the corners are named twice, the second time on the other slab's face; 2: there alone */
} Face;

static const Face first = {0.45, 0, 1e-6, 0, 0, 0}, other = {0.35, 0.03, 1e-6, 0, 0, 0};

static void makeSlabs(Slabs *slabs, int side, Shape shape)
{
    *slabs = (Slabs){
        .world = dWorldCreate(), .space = dSimpleSpaceCreate(NULL), .group = dJointGroupCreate(0), .side = side};
    dWorldSetGravity(slabs->world, 1, 0.5, -9.81);
    assert_int_equal(spragWorldAttach(slabs->world, NULL, &slabs->sprag), SPRAG_OK);
    slabs->ground = dCreatePlane(slabs->space, 0, 0, 1, 0);
    for (int i = 0; i < 2; ++i) {
        dMass mass;
        dMassSetBoxTotal(&mass, 5 + 3 * i, 2 * half, 2 * half, thick);
        slabs->body[i] = dBodyCreate(slabs->world);
        dBodySetMass(slabs->body[i], &mass);
        dBodySetPosition(slabs->body[i], 0, 0, (i + 0.5) * thick);
        slabs->geom[i] =
            shape == BOX ? dCreateBox(slabs->space, 2 * half, 2 * half, thick) : dCreateSphere(slabs->space, 0);
        dGeomSetBody(slabs->geom[i], slabs->body[i]);
    }
}

/* The ground is a box too, on which other points are named as well. */
static void putOnFloor(Slabs *slabs)
{
    slabs->floor = dBodyCreate(slabs->world);
    dBodySetKinematic(slabs->floor);
    dBodySetPosition(slabs->floor, 0, 0, -0.5 * thick);
    slabs->ground = dCreateBox(slabs->space, 2 * half, 2 * half, thick);
    dGeomSetBody(slabs->ground, slabs->floor);
}

static void freeSlabs(Slabs *slabs)
{
    spragWorldDetach(slabs->sprag);
    dJointGroupDestroy(slabs->group);
    dSpaceDestroy(slabs->space);
    dWorldDestroy(slabs->world);
}

/* Point k under slab i. */
static void place(const Slabs *slabs, const Face *face, int i, int k, double x[3])
{
    const double each = 2.0 / (slabs->side - 1);
    x[0] = face->shift + face->reach * (each * (k % slabs->side) - 1);
    x[1] = face->reach * (each * (k / slabs->side) - 1);
    x[2] = i * thick;
}

/* Names point k under slab i; twin 1: where it is on the lower face. */
static void touch(const Slabs *slabs, const Face *named, int i, int k, int twin, int flip)
{
    const dGeomID lower = i == 0 ? slabs->ground : slabs->geom[0];
    dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.6}};
    double x[3];
    place(slabs, named, i, k, x);
    for (int a = 0; a < 3; ++a)
        contact.geom.pos[a] = x[a];
    contact.geom.pos[2] += twin ? named->depth : 0;
    contact.geom.normal[0] = (flip ? -1 : 1) * sin(named->tilt);
    contact.geom.normal[2] = (flip ? -1 : 1) * cos(named->tilt);
    contact.geom.depth = named->depth;
    contact.geom.g1 = named->strange ? (dGeomID)(void *)slabs : flip ? lower : slabs->geom[i];
    contact.geom.g2 = named->strange ? (dGeomID)(void *)8 : flip ? slabs->geom[i] : lower;
    const dBodyID below = i == 0 ? slabs->floor : slabs->body[0];
    dJointAttach(spragJointCreateContact(slabs->sprag, slabs->group, &contact), flip ? below : slabs->body[i],
                 flip ? slabs->body[i] : below);
}

/* flip 1: each pair in the other order. */
static void step(const Slabs *slabs, const Face *face, int flip)
{
    const int last = slabs->side - 1;
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < slabs->side * slabs->side; ++k) {
            const Face *named =
                i == 0 && slabs->floor == NULL ? &first : face; /* a plane has its points named the same */
            const int corner = k % slabs->side % last == 0 && k / slabs->side % last == 0;
            if (!(corner && named->twins == 2))
                touch(slabs, named, i, k, 0, flip);
            if (corner && named->twins > 0)
                touch(slabs, named, i, k, 1, flip);
        }
    assert_int_equal(spragWorldStep(slabs->sprag, h), SPRAG_OK);
    dJointGroupEmpty(slabs->group);
}

/* How many contacts of the last step, of slab on slab, are where this face has a point. */
static int countAt(const Slabs *slabs, const Face *face)
{
    const spragContact *contact;
    const int count = spragWorldGetContacts(slabs->sprag, &contact);
    int found = 0;
    assert_int_equal(count, 2 * slabs->side * slabs->side);
    for (int j = 0; j < count; ++j)
        for (int k = 0; k < slabs->side * slabs->side; ++k) {
            double x[3];
            place(slabs, face, 1, k, x);
            found += spragDistanceSquared3(contact[j].position, x) <= 1e-24;
        }
    return found;
}

static void otherPointsAreTheSame(void **state)
{
    (void)state;
    Slabs slabs;
    makeSlabs(&slabs, SIDE_MOST, BOX);
    for (int k = 0; k < 10; ++k)
        step(&slabs, &first, 0);
    const spragContact *contact;
    spragContact before[POINTS_MOST];
    assert_int_equal(spragWorldGetContacts(slabs.sprag, &contact), POINTS_MOST);
    memcpy(before, contact, sizeof before);
    for (int k = 0; k < 10; ++k) {
        step(&slabs, k % 2 ? &first : &other, k % 3 == 0);
        const spragStepInfo info = spragWorldGetStepInfo(slabs.sprag);
        assert_int_equal(info.events, 0);
        assert_int_equal(info.iterations, 0);
        assert_int_equal(countAt(&slabs, &first), FACE);
        spragWorldGetContacts(slabs.sprag, &contact);
        for (int j = 0; j < POINTS_MOST; ++j) {
            int i = 0;
            while (i < POINTS_MOST && before[i].id != contact[j].id)
                ++i;
            assert_true(i < POINTS_MOST);
            CHECK_NEAR(contact[j].normal_force, before[i].normal_force, 1e-9);
        }
    }
    freeSlabs(&slabs);
}

/* Of two points of a corner a collider names both, and then the one that has borne nothing: what bears stays. */
static void whatBearsGoesOn(void **state)
{
    (void)state;
    Slabs slabs;
    Face twice = first, below = first;
    twice.twins = 1, below.twins = 2;
    makeSlabs(&slabs, SIDE_MOST, BOX);
    for (int k = 0; k < 10; ++k)
        step(&slabs, &first, 0);
    for (int k = 0; k < 6; ++k) {
        step(&slabs, k % 2 ? &below : &twice, k / 2 % 2);
        const spragStepInfo info = spragWorldGetStepInfo(slabs.sprag);
        assert_int_equal(info.events, 0);
        assert_int_equal(info.iterations, 0);
    }
    assert_in_range(countAt(&slabs, &first), FACE - 1, FACE); /* one corner bears nothing */
    freeSlabs(&slabs);
}

/* All contacts stay, and some take the place of one record and then of another: there is room for one copy of each. */
static void eachHasOneCopy(void **state)
{
    (void)state;
    Slabs slabs;
    Face twice = first;
    twice.twins = 1;
    makeSlabs(&slabs, SIDE_MOST, BOX);
    putOnFloor(&slabs);
    for (int k = 0; k < 10; ++k)
        step(&slabs, &first, 0);
    for (int k = 0; k < 6; ++k) {
        step(&slabs, k % 2 ? &other : &twice, 0);
        const spragSnapshot *snapshot = &slabs.sprag->snapshot;
        assert_in_range(snapshot->stayed, k % 2, snapshot->joint_count);
        if (k % 2)
            assert_in_range(countAt(&slabs, &first), FACE - 1, FACE);
    }
    freeSlabs(&slabs);
}

/* Small islands are solved as the collider says. */
static void fewAreWhereTheyAreNamed(void **state)
{
    (void)state;
    Slabs slabs;
    makeSlabs(&slabs, 5, BOX);
    for (int k = 0; k < 10; ++k)
        step(&slabs, &first, 0);
    step(&slabs, &other, 0);
    assert_int_equal(countAt(&slabs, &other), 25);
    freeSlabs(&slabs);
}

/* A ball of radius 0 has a corner's curvature, but is no box. */
static void pointsAreNoBoxes(void **state)
{
    (void)state;
    Slabs slabs;
    makeSlabs(&slabs, SIDE_MOST, POINT);
    for (int k = 0; k < 10; ++k)
        step(&slabs, &first, 0);
    step(&slabs, &other, 0);
    assert_int_equal(countAt(&slabs, &other), FACE);
    freeSlabs(&slabs);
}

typedef enum Change { NORMAL, DEPTH, PLACE, SIZE, STRANGE, CHANGES } Change;

static void whatHasChangedIsNew(void **state)
{
    (void)state;
    for (Change change = 0; change < CHANGES; ++change) {
        Slabs slabs;
        Face face = other;
        makeSlabs(&slabs, SIDE_MOST, BOX);
        for (int k = 0; k < 10; ++k)
            step(&slabs, &first, 0);
        face.tilt = change == NORMAL ? 1e-3 : 0;
        face.depth = change == DEPTH ? 1e-4 : first.depth;
        for (int i = 0; i < 2 && change == PLACE; ++i)
            dBodySetPosition(slabs.body[i], 1e-6 * (2 * i - 1), 0, (i + 0.5) * thick);
        for (int i = 0; i < 2 && change == SIZE; ++i)
            dGeomBoxSetLengths(slabs.geom[i], 0.8, 0.8, thick);
        face.strange = change == STRANGE;
        for (int k = 0; k < (change == STRANGE ? 3 : 1); ++k)
            step(&slabs, &face, 0);
        const int found = countAt(&slabs, &face);
        if (change != SIZE && found < FACE)
            fail_msg("change %d: %d contacts are where they were named", (int)change, found);
        const spragContact *contact;
        for (int k = spragWorldGetContacts(slabs.sprag, &contact) - 1; k >= 0 && change == SIZE; --k)
            assert_true(contact[k].position[2] < 0.5 * thick ||
                        fmax(fabs(contact[k].position[0]), fabs(contact[k].position[1])) <= 0.4001);
        freeSlabs(&slabs);
    }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(otherPointsAreTheSame), cmocka_unit_test(whatBearsGoesOn),
        cmocka_unit_test(eachHasOneCopy),        cmocka_unit_test(fewAreWhereTheyAreNamed),
        cmocka_unit_test(pointsAreNoBoxes),      cmocka_unit_test(whatHasChangedIsNew)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
