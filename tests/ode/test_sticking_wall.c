/* A wall of thirty bricks with mu = infinity that settles: few steps of Newton's method in each step of the world, and
 * what presses sticks. */
#include <math.h>
#include <string.h>

#include <sprag/sprag_ode.h>

#include "support/check.h"

#define STEP (1 / 60.0) /* s */

enum { ROWS = 6, COLUMNS = 5, BRICKS = ROWS * COLUMNS, POINTS = 8, STEPS = 40 };

typedef struct Wall {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    spragWorldID sprag;
} Wall;

static void makeWall(Wall *wall)
{
    *wall = (Wall){.world = dWorldCreate(), .space = dSimpleSpaceCreate(NULL), .group = dJointGroupCreate(0)};
    dWorldSetGravity(wall->world, 0, 0, -9.81);
    assert_int_equal(spragWorldAttach(wall->world, NULL, &wall->sprag), SPRAG_OK);
    dCreatePlane(wall->space, 0, 0, 1, 0);
    for (int i = 0; i < BRICKS; ++i) {
        const int row = i / COLUMNS, column = i % COLUMNS;
        const dBodyID body = dBodyCreate(wall->world);
        const dGeomID box = dCreateBox(wall->space, 0.4, 0.2, 0.2);
        dMass mass;
        dMassSetBoxTotal(&mass, 1, 0.4, 0.2, 0.2);
        dBodySetMass(body, &mass);
        dGeomSetBody(box, body);
        dBodySetPosition(body, (column + 0.5 * (row % 2)) * 0.41, 0.002 * sin(7 * i), 0.1 + 0.2 * row + 0.001 * row);
    }
}

static void touch(void *data, dGeomID a, dGeomID b)
{
    const Wall *wall = data;
    dContact contact[POINTS];
    const int count = dCollide(a, b, POINTS, &contact[0].geom, sizeof *contact);
    for (int k = 0; k < count; ++k) {
        memset(&contact[k].surface, 0, sizeof contact[k].surface);
        contact[k].surface.mode = dContactApprox1;
        contact[k].surface.mu = dInfinity;
        dJointAttach(spragJointCreateContact(wall->sprag, wall->group, &contact[k]), dGeomGetBody(a), dGeomGetBody(b));
    }
}

/* Contacts that press, and those of them that slide. */
static void count(const Wall *wall, int *press, int *slide)
{
    const spragContact *contact;
    const int n = spragWorldGetContacts(wall->sprag, &contact);
    for (int k = 0; k < n; ++k)
        if (contact[k].normal_force > 0) {
            const double *slip = contact[k].slip;
            ++*press;
            *slide += sqrt(slip[0] * slip[0] + slip[1] * slip[1] + slip[2] * slip[2]) > 1e-5;
        }
}

static void itSettles(void **state)
{
    (void)state;
    Wall wall;
    int most = 0, total = 0, missed = 0, press = 0, slide = 0;
    makeWall(&wall);
    for (int step = 0; step < STEPS; ++step) {
        dSpaceCollide(wall.space, &wall, touch);
        assert_int_equal(spragWorldStep(wall.sprag, STEP), SPRAG_OK);
        const spragStepInfo info = spragWorldGetStepInfo(wall.sprag);
        count(&wall, &press, &slide);
        most = info.iterations > most ? info.iterations : most;
        total += info.iterations;
        missed += info.residual > 1e-8;
        dJointGroupEmpty(wall.group);
    }
    print_message("%d steps of Newton's method, %d at most; %d missed; %d of %d that press slide\n", total, most,
                  missed, slide, press);
    assert_true(total <= 1000 * STEPS && missed <= STEPS / 5);
    assert_true(press > 50 * STEPS && slide <= press / 4);
    spragWorldDetach(wall.sprag);
    dJointGroupDestroy(wall.group);
    dSpaceDestroy(wall.space);
    dWorldDestroy(wall.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(itSettles)};
    dInitODE();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
