/* What the user is told: contacts in true lengths and along the user's own normals, loads that carry the weight, events
 * in their order with who took part, and an end for contacts whose body is gone. */
#include "support/twin.h"

#define STEP 1e-3 /* s */

static const spragEvent *eventOf(const Twin *t, spragEventType type, int number)
{
    const spragEvent *event;
    const int count = spragWorldGetEvents(t->sprag, &event);
    for (int k = 0; k < count; ++k)
        if (event[k].type == type && number-- == 0)
            return &event[k];
    return NULL;
}

/* A box that slides along a heading, friction an ellipse: the sum of what contacts say is what the box feels. */
static void contactsCarryWhatTheBodyFeels(void **state)
{
    (void)state;
    for (int other = 0; other < 4; ++other) { /* as it is, as an ellipse, named second, beside a second box */
        Twin t;
        makeTwin(&t, 1);
        dBodyID box = addBox(&t, 0, 0, 0.2);
        dBodySetLinearVel(box, 2, -1, 0);
        double v[3];
        for (int k = 0; k < 3; ++k) {
            for (int i = 0; i < 3; ++i)
                v[i] = dBodyGetLinearVel(box)[i];
            for (int i = 0; i < 4; ++i) {
                dVector3 p;
                dBodyGetRelPointPos(box, i & 1 ? 0.5 : -0.5, i & 2 ? 0.4 : -0.4, -0.2, p);
                dContact contact = planeContact(p[0], p[1], p[2], 0.5);
                if (other == 1)
                    contact.surface.mode |= dContactMu2, contact.surface.mu2 = 0.2;
                if (other == 2)
                    contact.geom.normal[2] = -1;
                addContact(&t, &contact, other == 2 ? 0 : box, other == 2 ? box : 0);
            }
            if (other == 3 && k == 0)
                addBox(&t, 3, 0, 0.2);
            if (other == 3)
                addCorners(&t, t.body[1], 0.5);
            step(&t, STEP);
        }
        const spragContact *contact = lastContacts(&t, other == 3 ? 8 : 4);
        double force[3] = {0, 0, 0};
        for (int k = 0; k < 4; ++k) {
            assert_int_equal(contact[k].mode, SPRAG_MODE_SLIP);
            assert_ptr_equal(contact[k].body[0], box);
            assert_null(contact[k].body[1]);
            CHECK_NEAR(contact[k].normal[2], 1, 0);
            CHECK_NEAR(contact[k].slip[0], dBodyGetLinearVel(box)[0], 1e-3);
            CHECK_NEAR(contact[k].slip[1], dBodyGetLinearVel(box)[1], 1e-3);
            for (int i = 0; i < 3; ++i)
                force[i] += contact[k].normal_force * contact[k].normal[i] + contact[k].friction[i];
        }
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(force[i] + (i == 2 ? -2 * 9.81 : 0), 2 * (dBodyGetLinearVel(box)[i] - v[i]) / STEP, 1e-6);
        freeTwin(&t);
    }
}

static void bodiesInEventsAreNumbered(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    dBodyID low = addBox(&t, 0, 0, 0.2), high = addBox(&t, 0, 0, 0.6);
    int number[2];
    for (int k = 0; k < 3; ++k) {
        dContact contact = planeContact(0, 0, 0.4, 0.5);
        addContact(&t, &contact, high, low);
        addCorners(&t, low, 0.5);
        step(&t, STEP);
        const spragEvent *touch = eventOf(&t, SPRAG_EVENT_TOUCH, 0);
        assert_int_equal(touch != NULL, k == 0);
        if (touch == NULL)
            continue;
        assert_ptr_equal(touch->body[0], high);
        assert_ptr_equal(touch->body[1], low);
        assert_true(touch->body_number[0] >= 0 && touch->body_number[1] >= 0);
        assert_int_not_equal(touch->body_number[0], touch->body_number[1]);
        memcpy(number, touch->body_number, sizeof number);
        const spragEvent *ground = eventOf(&t, SPRAG_EVENT_TOUCH, 1);
        assert_int_equal(ground->body_number[0], number[1]);
        assert_int_equal(ground->body_number[1], -1);
        CHECK_NEAR(touch->time, STEP, 1e-15);
    }
    dBodyDestroy(high); /* the end of its contact names nobody who could be asked */
    addCorners(&t, low, 0.5);
    step(&t, STEP);
    const spragEvent *end = eventOf(&t, SPRAG_EVENT_DETACH, 0);
    assert_non_null(end);
    assert_true(end->body[0] == NULL && end->body[1] == NULL);
    assert_memory_equal(end->body_number, number, sizeof number);
    assert_null(eventOf(&t, SPRAG_EVENT_DETACH, 1));
    freeTwin(&t);
}

/* In the order of the islands, whatever the number of threads; and no contact is told twice or not at all. */
static void orderIsThatOfTheContacts(void **state)
{
    (void)state;
    unsigned long long id[2][40];
    for (int threads = 1; threads <= 2; ++threads) {
        Twin t;
        makeTwin(&t, 1);
        spragConfig config = spragConfigDefault();
        config.thread_count = threads;
        assert_int_equal(spragWorldSetConfig(t.sprag, &config), SPRAG_OK);
        for (int i = 0; i < BODY_MAX; ++i)
            addBox(&t, 3 * i, 0, 0.2);
        for (int i = BODY_MAX - 1; i >= 0; --i)
            addCorners(&t, t.body[i], 0.5);
        step(&t, STEP);
        const spragContact *contact = lastContacts(&t, 4 * BODY_MAX);
        for (int k = 0; k < 4 * BODY_MAX; ++k) {
            assert_ptr_equal(contact[k].body[0], t.body[k / 4]);
            id[threads - 1][k] = contact[k].id;
            assert_true(k == 0 || contact[k].id > contact[k - 1].id);
            assert_int_equal(eventOf(&t, SPRAG_EVENT_TOUCH, k)->contact, contact[k].id);
        }
        freeTwin(&t);
    }
    assert_memory_equal(id[0], id[1], 4 * BODY_MAX * sizeof id[0][0]);
}

/* More events than are kept are counted. */
static void eventsBeyondTheLimitAreCounted(void **state)
{
    (void)state;
    Twin t;
    makeTwin(&t, 1);
    spragConfig config = spragConfigDefault();
    config.event_capacity = 3;
    assert_int_equal(spragWorldSetConfig(t.sprag, &config), SPRAG_OK);
    for (int i = 0; i < 2; ++i) {
        dBodyID box = addBox(&t, 3 * i, 0, 0.2);
        addCorners(&t, box, 0.5);
    }
    step(&t, STEP);
    const spragEvent *event;
    assert_int_equal(spragWorldGetEvents(t.sprag, &event), 3);
    assert_int_equal(spragWorldGetStepInfo(t.sprag).events, 3);
    assert_int_equal(spragWorldGetStepInfo(t.sprag).events_lost, 5);
    freeTwin(&t);
}

/* Grains of a milligram slide at a millimetre a second: forces of 1e-9 N s, known to 1e-8 m/s, are not known to nine
 * digits. Who slides is not told to stick, and static friction does not hold it. */
static void whatSlidesDoesNotStick(void **state)
{
    (void)state;
    for (int heading = 0; heading < 40; ++heading) {
        Twin t;
        makeTwin(&t, 1);
        dWorldSetGravity(t.world, 0, 0, -9.81e-3);
        const dBodyID grain = addBox(&t, 0, 0, 2e-4), other = addBox(&t, 1, 0, 0); /* two bodies: no lone one */
        dMass mass;
        dMassSetBoxTotal(&mass, 1e-6, 1e-3, 8e-4, 4e-4);
        dBodySetMass(grain, &mass);
        dBodySetMass(other, &mass);
        dBodySetGravityMode(other, 0);
        dJointAttach(dJointCreateNull(t.world, 0), grain, other);
        dBodySetLinearVel(grain, 1e-3 * cos(heading), 1e-3 * sin(heading), 0);
        dBodySetAngularVel(grain, 0, 0, 0.3 * sin(3 * heading));
        for (int k = 0; k < 4; ++k) {
            for (int i = 0; i < 4; ++i) {
                dVector3 p;
                dBodyGetRelPointPos(grain, i & 1 ? 5e-4 : -5e-4, i & 2 ? 4e-4 : -4e-4, -2e-4, p);
                dContact contact = planeContact(p[0], p[1], p[2], 0.1 + 0.1 * i);
                spragSurface surface = spragSurfaceDefault();
                surface.mu_static = 2;
                dJointAttach(spragJointCreateContactSurface(t.sprag, t.group, &contact, &surface), grain, 0);
            }
            step(&t, 5e-3);
            const spragContact *contact = lastContacts(&t, 4);
            for (int i = 0; i < 4; ++i) {
                const double *s = contact[i].slip, speed = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
                assert_true(contact[i].mode != SPRAG_MODE_STICK || speed < 1e-6);
            }
        }
        freeTwin(&t);
    }
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatSlidesDoesNotStick), cmocka_unit_test(contactsCarryWhatTheBodyFeels),
        cmocka_unit_test(bodiesInEventsAreNumbered), cmocka_unit_test(orderIsThatOfTheContacts),
        cmocka_unit_test(eventsBeyondTheLimitAreCounted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
