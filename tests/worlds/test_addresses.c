/* Where the program's memory lies is no matter: worlds with nothing, and with something of any size, between their
 * bodies move with the same bits. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#include "support/uniform.h"

enum { BODIES = 100, CORNERS = 8, STEPS = 60 };

typedef struct Yard {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    spragWorldID sprag;
    dBodyID body[BODIES];
    void *between[BODIES];
    int count;
} Yard;

static void onNear(void *data, dGeomID a, dGeomID b)
{
    Yard *yard = data;
    dContact contact[CORNERS];
    memset(contact, 0, sizeof contact);
    const int count = dCollide(a, b, CORNERS, &contact[0].geom, sizeof contact[0]);
    for (int i = 0; i < count; ++i) {
        contact[i].surface.mu = 0.5;
        dJointAttach(spragJointCreateContact(yard->sprag, yard->group, &contact[i]), dGeomGetBody(a), dGeomGetBody(b));
    }
}

static dBodyID addBody(Yard *yard, dGeomID geom, const dMass *mass, const double x[3])
{
    const dBodyID body = yard->body[yard->count++] = dBodyCreate(yard->world);
    dBodySetMass(body, mass);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, x[0], x[1], x[2]);
    return body;
}

/* A wall of bricks that touch, 10 by 8; or balls and boxes that fall onto each other. */
static void build(Yard *yard, int heap, unsigned long long *seed)
{
    static const double size[3] = {0.2, 0.1, 0.1}; /* m */
    dMass mass;
    for (int k = 0; k < 80; ++k) {
        if (*seed != 0)
            yard->between[k] = malloc(16 + (size_t)(2000 * (1 + uniform(seed))));
        const int row = k / 10, i = k % 10;
        if (heap) {
            const double x[3] = {0.15 * (k % 4), 0.15 * (k / 4 % 4), 0.1 + 0.11 * (k / 16) + 0.01 * (k % 3)};
            dMassSetSphereTotal(&mass, 1, 0.05);
            addBody(yard, k % 2 ? dCreateSphere(yard->space, 0.08) : dCreateBox(yard->space, 0.1, 0.1, 0.1), &mass, x);
        } else {
            const double x[3] = {(i + 0.45 * (row % 2)) * size[0], 0, (row + 0.5) * size[2]};
            dMassSetBoxTotal(&mass, 1, size[0], size[1], size[2]);
            addBody(yard, dCreateBox(yard->space, size[0], size[1], size[2]), &mass, x);
        }
    }
}

/* out: (STEPS, BODIES, 3), the positions, m */
static void runOne(int heap, unsigned long long seed, double (*out)[BODIES][3])
{
    Yard yard;
    memset(&yard, 0, sizeof yard);
    yard.world = dWorldCreate();
    dWorldSetGravity(yard.world, 0, 0, -9.81);
    dWorldSetCFM(yard.world, 0);
    yard.space = dHashSpaceCreate(NULL);
    dCreatePlane(yard.space, 0, 0, 1, 0);
    yard.group = dJointGroupCreate(0);
    assert_int_equal(spragWorldAttach(yard.world, NULL, &yard.sprag), SPRAG_OK);
    build(&yard, heap, &seed);
    for (int k = 0; k < STEPS; ++k) {
        dSpaceCollide(yard.space, &yard, onNear);
        assert_int_equal(spragWorldStep(yard.sprag, 0.005), SPRAG_OK);
        dJointGroupEmpty(yard.group);
        for (int i = 0; i < yard.count; ++i)
            for (int j = 0; j < 3; ++j)
                out[k][i][j] = dBodyGetPosition(yard.body[i])[j];
    }
    spragWorldDetach(yard.sprag);
    dJointGroupDestroy(yard.group);
    dSpaceDestroy(yard.space);
    dWorldDestroy(yard.world);
    for (int i = 0; i < BODIES; ++i)
        free(yard.between[i]);
}

static void addressesAreNoMatter(void **state)
{
    (void)state;
    static double first[STEPS][BODIES][3], other[STEPS][BODIES][3];
    for (int heap = 0; heap < 2; ++heap) {
        runOne(heap, 0, first);
        for (unsigned long long seed = 1; seed <= 3; ++seed) {
            runOne(heap, seed, other);
            for (int k = 0; k < STEPS; ++k)
                if (memcmp(first[k], other[k], sizeof first[k]) != 0)
                    fail_msg("heap %d, seed %llu: step %d is another", heap, seed, k);
        }
    }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(addressesAreNoMatter)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
