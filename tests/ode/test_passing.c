/* Slips that end: for good, or to turn round.  Bodies on a slope that is a little too steep to hold, or not, thrown up
 * it: by one contact, four, with static friction; two of them that hang together. */
#include "support/twin.h"

#include "ode/world/world.h"

static const double step_size = 1e-3, g = 9.81;

typedef struct Course {
    int count;              /* of those kept */
    spragEventType type[4]; /* of the contact with id 1, but for touch */
    double time[4];         /* s */
    double speed;           /* m/s, at the end */
} Course;

/* A box of four contacts, or a point of one, thrown up with v along x where gravity has the slope m. */
static Course throwUp(double slope, double mu, double mu_static, double v, int contacts, int hitched)
{
    Twin t;
    makeTwin(&t, 1);
    const double a = atan(slope);
    dWorldSetGravity(t.world, -g * sin(a), 0, -g * cos(a));
    dBodyID box = addBox(&t, 0, 0, contacts == 1 ? 0 : 0.2);
    if (hitched) { /* a second one rides along, on no ground of its own */
        dBodyID rider = addBox(&t, 0, 0, contacts == 1 ? 0 : 0.2);
        dJointID joint = dJointCreateFixed(t.world, 0);
        dJointAttach(joint, box, rider);
        dJointSetFixed(joint);
        dBodySetLinearVel(rider, v, 0, 0);
    }
    dBodySetLinearVel(box, v, 0, 0);
    spragSurface surface = spragSurfaceDefault();
    surface.mu_static = mu_static;
    Course course = {0};
    for (int i = 0; i < 200; ++i) {
        const dReal *p = dBodyGetPosition(box);
        for (int k = 0; k < contacts; ++k) {
            const double x = contacts == 1 ? 0 : k & 1 ? 0.5 : -0.5, y = contacts == 1 ? 0 : k & 2 ? 0.4 : -0.4;
            dContact contact = planeContact(p[0] + x, p[1] + y, 0, mu);
            dJointAttach(spragJointCreateContactSurface(t.sprag, t.group, &contact, &surface), box, 0);
        }
        step(&t, step_size);
        const spragEvent *event;
        const int events = spragWorldGetEvents(t.sprag, &event);
        for (int e = 0; e < events; ++e)
            if (event[e].contact == 1 && event[e].type != SPRAG_EVENT_TOUCH) {
                assert_in_range(course.count, 0, 3);
                course.time[course.count] = event[e].time;
                course.type[course.count++] = event[e].type;
            }
    }
    course.speed = dBodyGetLinearVel(box)[0];
    freeTwin(&t);
    return course;
}

/* What turns is told once, when it does, wherever in its step that falls; what stays, as what sticks. */
static void turnsOrStays(void **state)
{
    (void)state;
    int passed = 0;
    for (int contacts = 1; contacts <= 4; contacts += 3)
        for (int hitched = 0; hitched < 2; ++hitched)
            for (int k = 0; k < 20; ++k) {
                const double mu = 0.4, v = 0.3 + 0.00037 * k;
                const double up = g * (sin(atan(0.45)) + mu * cos(atan(0.45)));
                Course c = throwUp(0.45, mu, -1, v, contacts, hitched);
                assert_int_equal(c.count, 1);
                assert_int_equal(c.type[0], SPRAG_EVENT_REVERSE);
                assert_true(fabs(c.time[0] - v / up) <= 2 * step_size);
                assert_true(c.speed < -1e-3);
                const double left = v - floor(v / up / step_size) * step_size * up; /* at the step's beginning, m/s */
                passed += left > step_size * g * (sin(atan(0.45)) - mu * cos(atan(0.45)));
                c = throwUp(0.39, mu, -1, v, contacts, hitched);
                assert_int_equal(c.count, 1);
                assert_int_equal(c.type[0], SPRAG_EVENT_STICK);
                CHECK_NEAR(c.speed, 0, 1e-9);
            }
    assert_true(passed >= 40); /* so often it stood still for a step */
}

/* Static friction holds what the kinetic one would not. */
static void staysByStaticFriction(void **state)
{
    (void)state;
    for (int k = 0; k < 20; ++k) {
        Course c = throwUp(0.49, 0.3, 0.5, 0.3 + 0.00037 * k, k % 2 ? 4 : 1, 0);
        assert_int_equal(c.count, 1);
        assert_int_equal(c.type[0], SPRAG_EVENT_STICK);
        CHECK_NEAR(c.speed, 0, 1e-9);
        c = throwUp(0.51, 0.3, 0.5, 0.3 + 0.00037 * k, k % 2 ? 4 : 1, 0);
        assert_int_equal(c.count, 1);
        assert_int_equal(c.type[0], SPRAG_EVENT_REVERSE);
    }
}

/* A box that comes to rest on a slope, beside one that is wedged between walls: whether its slip will turn round is not
 * asked of a problem that has no solution, all of the chain in vain. */
static void isNotAskedOfAWedge(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dWorldSetCFM(t.world, 0);
    const double a = atan(0.39);
    dWorldSetGravity(t.world, -9.81 * sin(a), 0, -9.81 * cos(a));
    const dBodyID box = addBox(&t, 0, 0, 0.2), held = addBox(&t, -2, 0, 0.2);
    dBodySetLinearVel(box, 0.03, 0, 0);
    int stops = 0, before = 0;
    for (int i = 0; i < 20; ++i) {
        for (int k = 0; k < 4; ++k) {
            const dReal *p = dBodyGetPosition(box);
            dContact ground = planeContact(p[0] + (k & 1 ? 0.5 : -0.5), k & 2 ? 0.4 : -0.4, 0, 0.4);
            addContact(&t, &ground, box, 0);
            dContact wall = planeContact(-2, k & 1 ? 0.4 : -0.4, k & 2 ? 0.3 : 0.1, 1);
            wall.geom.normal[1] = k & 1 ? -1 : 1;
            wall.geom.normal[2] = 0;
            wall.geom.depth = 0.01;
            addContact(&t, &wall, held, 0);
        }
        dContact between = planeContact(-1, 0, 0.2, 0);
        between.geom.normal[0] = 1;
        between.geom.normal[2] = 0;
        addContact(&t, &between, box, held);
        step(&t, step_size);
        const spragStepInfo info = spragWorldGetStepInfo(t.sprag);
        assert_int_equal(info.wedged, 1);
        if (countEvents(&t, SPRAG_EVENT_STICK) > 0) {
            ++stops;
            assert_true(info.iterations <= 2 * before + 20);
        }
        before = info.iterations;
    }
    assert_true(stops > 0);
    freeTwin(&t);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(turnsOrStays), cmocka_unit_test(staysByStaticFriction),
                                       cmocka_unit_test(isNotAskedOfAWedge)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
