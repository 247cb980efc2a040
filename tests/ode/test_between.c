/* Contacts of a face with a mesh: those between others are left out, and what stands or rolls on the rest does so as on
 * a plane. */
#include "support/check.h"

#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#define RADIUS 0.15
enum { SQUARES = 40, MOST = 64, ROUND = 16 };

typedef struct Ground {
    dWorldID world;
    dJointGroupID group;
    dBodyID body;
    dGeomID mesh, geom;
    dTriMeshDataID data;
    spragWorldID sprag;
    dSurfaceParameters surface;
    double mesh_mu, mesh_slip; /* of triangles with an odd number, or 0: as the others */
    dJointFeedback feedback[MOST];
    int listens;
    float vertex[(SQUARES + 1) * (SQUARES + 1)][3];
    dTriIndex index[6 * SQUARES * SQUARES];
} Ground;

static Ground ground;

/* size: m, of a square */
static void makeMesh(double size)
{
    Ground *g = &ground;
    int k = 0;
    for (int i = 0; i <= SQUARES; ++i)
        for (int j = 0; j <= SQUARES; ++j) {
            float *v = g->vertex[i * (SQUARES + 1) + j];
            v[0] = (float)(size * i), v[1] = (float)(size * (j - 0.5 * SQUARES)), v[2] = 0;
        }
    for (int i = 0; i < SQUARES; ++i)
        for (int j = 0; j < SQUARES; ++j, k += 6) {
            const dTriIndex a = (dTriIndex)(i * (SQUARES + 1) + j), b = a + (dTriIndex)SQUARES + 1;
            const dTriIndex corner[6] = {a, b, b + 1, a, b + 1, a + 1};
            memcpy(g->index + k, corner, sizeof corner);
        }
    g->data = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildSingle(g->data, g->vertex, sizeof *g->vertex, (SQUARES + 1) * (SQUARES + 1), g->index, k,
                                3 * sizeof(dTriIndex));
    g->mesh = dCreateTriMesh(NULL, g->data, NULL, NULL, NULL);
}

static void makeGround(int class)
{
    Ground *g = &ground;
    dMass mass;
    memset(g, 0, sizeof *g);
    makeMesh(class == dBoxClass ? 0.1 : 0.05);
    g->world = dWorldCreate();
    g->group = dJointGroupCreate(0);
    g->body = dBodyCreate(g->world);
    if (class == dBoxClass) {
        g->geom = dCreateBox(NULL, 0.3, 0.2, 2 * RADIUS);
        dMassSetBoxTotal(&mass, 2, 0.3, 0.2, 2 * RADIUS);
    } else {
        g->geom = dCreateCylinder(NULL, RADIUS, 0.2);
        dMassSetCylinderTotal(&mass, 2, 3, RADIUS, 0.2);
    }
    dBodySetMass(g->body, &mass);
    dGeomSetBody(g->geom, g->body);
    dWorldSetGravity(g->world, 0, 0, -9.81);
    g->surface.mode = dContactApprox1, g->surface.mu = 0.5;
    assert_int_equal(spragWorldAttach(g->world, NULL, &g->sprag), SPRAG_OK);
}

static void freeGround(void)
{
    spragWorldDetach(ground.sprag);
    dJointGroupDestroy(ground.group);
    dGeomDestroy(ground.geom), dGeomDestroy(ground.mesh);
    dGeomTriMeshDataDestroy(ground.data);
    dWorldDestroy(ground.world);
}

/* At a depth of 0.01 mm, heading 0.3 rad from the x axis; what is round rolls at v. */
static void place(double x, double v)
{
    static const double heading = 0.3;
    dMatrix3 R;
    dBodySetPosition(ground.body, x, 0.013, RADIUS - 1e-5);
    dBodySetLinearVel(ground.body, v * cos(heading), v * sin(heading), 0);
    if (dGeomGetClass(ground.geom) == dBoxClass) {
        dRFromAxisAndAngle(R, 0, 0, 1, heading);
        dBodySetRotation(ground.body, R);
        return;
    }
    dRFromZAxis(R, -sin(heading), cos(heading), 0);
    dBodySetRotation(ground.body, R);
    dBodySetAngularVel(ground.body, -v / RADIUS * sin(heading), v / RADIUS * cos(heading), 0);
}

/* Returns how many contacts the collider has found, up to `most`. */
static int step(double h, int most)
{
    dContact contact[MOST];
    memset(contact, 0xA5, sizeof contact); /* numbers that the mode makes no use of may be anything */
    const int count = dCollide(ground.mesh, ground.geom, most, &contact[0].geom, sizeof contact[0]);
    for (int i = 0; i < count; ++i) {
        dSurfaceParameters *surface = &contact[i].surface;
        surface->mode = ground.surface.mode;
        surface->mu = ground.mesh_mu > 0 && contact[i].geom.side1 % 2 ? ground.mesh_mu : ground.surface.mu;
        surface->soft_cfm = ground.surface.soft_cfm;
        surface->slip1 = ground.mesh_slip > 0 && contact[i].geom.side1 % 2 ? ground.mesh_slip : ground.surface.slip1;
        surface->slip2 = ground.surface.slip2;
        const dJointID joint = spragJointCreateContact(ground.sprag, ground.group, &contact[i]);
        dJointAttach(joint, NULL, ground.body);
        memset(&ground.feedback[i], 0x77, sizeof ground.feedback[i]);
        if (ground.listens)
            dJointSetFeedback(joint, &ground.feedback[i]);
    }
    assert_int_equal(spragWorldStep(ground.sprag, h), SPRAG_OK);
    dJointGroupEmpty(ground.group);
    return count;
}

static int contacts(const spragContact **contact)
{
    return spragWorldGetContacts(ground.sprag, contact);
}

/* On the two ends of its line, which stay the same contacts for as long as it rolls, as fast as on a plane.  (It had up
 * to ten contacts, others in each step.) */
static void wheelsRollOnTwoPoints(void **state)
{
    (void)state;
    const double h = 0.002, v = 0.7;
    const spragContact *contact;
    unsigned long long id = 0;
    int several = 0, events = 0;
    makeGround(dCylinderClass);
    place(0.3, v);
    for (int k = 0; k < 500; ++k) {
        several += step(h, MOST) > 6;
        assert_true(contacts(&contact) == 2);
        const spragEvent *event;
        events += k > 0 ? spragWorldGetEvents(ground.sprag, &event) : 0;
        const unsigned long long sum = contact[0].id + contact[1].id;
        assert_true(k == 0 || sum == id);
        id = sum;
    }
    assert_true(several > 100);
    assert_int_equal(events, 0);
    CHECK_NEAR(dBodyGetPosition(ground.body)[0], 0.3 + v * cos(0.3), 1e-4);
    CHECK_NEAR(dBodyGetPosition(ground.body)[1], 0.013 + v * sin(0.3), 1e-4);
    CHECK_NEAR(dBodyGetPosition(ground.body)[2], RADIUS, 2e-5);
    freeGround();
}

/* Of 60 places those where a wheel that leans, and rolls so fast, has one contact, at its lower end.  m/s */
static int alone(double speed)
{
    const double lean = 5e-4, axis[2] = {-sin(0.3), cos(0.3)};
    const spragContact *contact;
    int found = 0;
    for (int k = 0; k < 60; ++k) {
        dMatrix3 R;
        dVector3 at;
        place(0.3 + 0.0137 * k, 0);
        dRFromZAxis(R, axis[0], axis[1], -lean);
        dBodySetRotation(ground.body, R);
        dBodySetPosition(ground.body, 0.3 + 0.0137 * k, 0.013, RADIUS + 0.1 * lean - 7e-5);
        dBodySetLinearVel(ground.body, speed * axis[1], -speed * axis[0], 0);
        dBodySetAngularVel(ground.body, speed / RADIUS * axis[0], speed / RADIUS * axis[1], 0);
        step(0.002, MOST);
        const int one = contacts(&contact) == 1;
        const double *x = contact->position;
        dBodyGetPosRelPoint(ground.body, x[0], x[1], x[2], at);
        found += one && fabs(at[2] - 0.1) < 1e-4;
    }
    return found;
}

/* Of a wheel that leans one end is below the plane, and it has that contact alone, as on a plane.  (Where its line
 * leaves the plane was another one, and what lies between: none of these places had one contact.  With both ends of an
 * edge's contacts taken for the mesh 16 had; now 34.)  What hardly moves keeps them, else it rocks from end to end; and
 * so does what has friction by a force. */
static void leaningWheelsTouchWithTheirEnd(void **state)
{
    (void)state;
    makeGround(dCylinderClass);
    assert_true(alone(0.3) > 25);
    assert_int_equal(alone(0), 0);
    ground.surface.mode = 0, ground.surface.mu = 5;
    assert_int_equal(alone(0.3), 0);
    freeGround();
}

/* One that just touches leans by rounding alone, and rolls on level.  (With its lower end alone the other one fell by
 * g h^2 in the first step, and the wheel rocked.) */
static void touchingWheelsStayLevel(void **state)
{
    (void)state;
    dMatrix3 R;
    makeGround(dCylinderClass);
    dRFromAxisAndAngle(R, 1, 0, 0, M_PI / 2); /* whose cosine is 6e-17 */
    dBodySetRotation(ground.body, R);
    dBodySetPosition(ground.body, 0.363, 0.013, RADIUS);
    dBodySetLinearVel(ground.body, 1, 0, 0);
    dBodySetAngularVel(ground.body, 0, 1 / RADIUS, 0);
    for (int i = 0; i < 20; ++i) {
        step(1 / 60.0, MOST);
        CHECK_NEAR(dBodyGetPosition(ground.body)[2], RADIUS, 1e-6);
    }
    freeGround();
}

/* On its four corners, and they bear it. */
static void boxesStandOnCorners(void **state)
{
    (void)state;
    const spragContact *contact;
    makeGround(dBoxClass);
    place(1, 0);
    for (int k = 0; k < 50; ++k) {
        assert_true(step(0.01, MOST) > 16);
        assert_int_equal(contacts(&contact), 4);
        double load = 0;
        for (int i = 0; i < 4; ++i) {
            load += contact[i].normal_force;
            dVector3 at;
            dBodyGetPosRelPoint(ground.body, contact[i].position[0], contact[i].position[1], contact[i].position[2],
                                at);
            CHECK_NEAR(fabs(at[0]), 0.15, 1e-5);
            CHECK_NEAR(fabs(at[1]), 0.1, 1e-5);
        }
        if (k > 10)
            CHECK_NEAR(load, 2 * 9.81, 1e-3);
    }
    freeGround();
}

/* The feedback of those that are left out is 0, and that of all is the weight. */
static void feedbackIsTheWeight(void **state)
{
    (void)state;
    makeGround(dBoxClass);
    ground.listens = 1;
    place(1, 0);
    for (int k = 0; k < 20; ++k) {
        const int found = step(0.01, MOST);
        double load = 0;
        int bears = 0;
        for (int i = 0; i < found; ++i) {
            load += ground.feedback[i].f1[2];
            bears += ground.feedback[i].f1[2] != 0;
        }
        assert_true(bears <= 4);
        if (k > 10)
            CHECK_NEAR(fabs(load), 2 * 9.81, 1e-3);
    }
    freeGround();
}

/* Where friction is a force each contact has its own; and other triangles may be of another law: each law has its
 * corners. */
static void lawsAreTheirOwn(void **state)
{
    (void)state;
    const spragContact *contact;
    makeGround(dBoxClass);
    ground.surface.mode = 0;
    place(1, 0);
    int found = step(0.01, MOST);
    assert_true(found > 16);
    assert_int_equal(contacts(&contact), found);
    ground.surface.mode = dContactApprox1 | dContactSoftCFM;
    ground.surface.soft_cfm = 1e-4;
    place(1, 0);
    step(0.01, MOST);
    assert_int_equal(contacts(&contact), 4);
    ground.mesh_mu = 0.1;
    place(1, 0);
    found = step(0.01, MOST);
    assert_true(contacts(&contact) > 4 && contacts(&contact) < found);
    freeGround();
}

/* What gives by its force does so as on a plane, by a quarter of the slip of one corner: tyres do not get stiffer with
 * the number of triangles below them.  Other slips are other laws. */
static void slipsAsOnAPlane(void **state)
{
    (void)state;
    const spragContact *contact;
    const double slip = 0.02, force = 4;
    makeGround(dBoxClass);
    ground.surface.mode = dContactApprox1 | dContactSlip1 | dContactSlip2;
    ground.surface.slip1 = ground.surface.slip2 = slip;
    place(1, 0);
    for (int k = 0; k < 100; ++k) {
        dBodyAddForce(ground.body, force, 0, 0);
        dBodySetTorque(ground.body, 0, force * RADIUS, 0); /* all corners bear alike */
        assert_true(step(0.005, MOST) > 16);
        assert_int_equal(contacts(&contact), 4);
    }
    CHECK_NEAR(dBodyGetLinearVel(ground.body)[0], 0.25 * slip * force, 1e-3 * slip * force);
    ground.mesh_slip = 2 * slip;
    step(0.005, MOST);
    assert_true(contacts(&contact) > 4);
    freeGround();
}

/* Triangles of a slope are uneven by the rounding of their coordinates, and what stands on it rests.  (It hopped by g
 * h^2 for ever.) */
static void slopesAreUneven(void **state)
{
    (void)state;
    const double n[3] = {-0.2 / sqrt(1.05), -0.1 / sqrt(1.05), 1 / sqrt(1.05)}, h = 1.0 / 60;
    makeGround(dCylinderClass);
    dGeomDestroy(ground.mesh);
    dGeomTriMeshDataDestroy(ground.data);
    for (int i = 0; i <= SQUARES; ++i)
        for (int j = 0; j <= SQUARES; ++j) {
            float *v = ground.vertex[i * (SQUARES + 1) + j];
            v[0] = (float)(0.3 * i), v[1] = (float)(0.3 * j), v[2] = (float)(0.06 * i + 0.03 * j);
        }
    ground.data = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildSingle(ground.data, ground.vertex, sizeof *ground.vertex, (SQUARES + 1) * (SQUARES + 1),
                                ground.index, 6 * SQUARES * SQUARES, 3 * sizeof(dTriIndex));
    ground.mesh = dCreateTriMesh(NULL, ground.data, NULL, NULL, NULL);
    dMatrix3 R;
    dRFromZAxis(R, n[0], n[1], n[2]);
    double fastest = 0;
    for (int place = 0; place < 12; ++place) {
        const double x = 5.13 + 0.37 * place, y = 6.07 + 0.29 * place;
        dBodySetRotation(ground.body, R);
        dBodySetPosition(ground.body, x + 0.1 * n[0], y + 0.1 * n[1], 0.2 * x + 0.1 * y + 0.1 * n[2] - 1e-5);
        dBodySetLinearVel(ground.body, 0, 0, 0);
        dBodySetAngularVel(ground.body, 0, 0, 0);
        for (int k = 0; k < 240; ++k) {
            step(h, MOST);
            const dReal *v = dBodyGetLinearVel(ground.body);
            if (k > 120)
                fastest = fmax(fastest, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        }
    }
    assert_true(fastest < 1e-4);
    freeGround();
}

/* n contacts of the box with the mesh, of points in a circle about its middle, and one at the middle. */
static void stepOnCircle(int n, double middle, int twice)
{
    dContact contact[ROUND + 2];
    memset(contact, 0, sizeof contact);
    place(1, 0);
    const int count = n + 1 + twice;
    for (int k = 0; k < count; ++k) {
        dContactGeom *geom = &contact[k].geom;
        const double angle = 2 * M_PI * (k % n) / n, r = k == n ? 0 : 0.1;
        geom->g1 = ground.geom, geom->g2 = ground.mesh, geom->side1 = -1, geom->side2 = k;
        geom->pos[0] = 1 + r * cos(angle), geom->pos[1] = 0.013 + r * sin(angle);
        geom->normal[2] = 1;
        geom->depth = k == n ? middle : 1e-3;
        contact[k].surface = ground.surface;
        dJointAttach(spragJointCreateContact(ground.sprag, ground.group, &contact[k]), ground.body, NULL);
    }
    assert_int_equal(spragWorldStep(ground.sprag, 0.01), SPRAG_OK);
    dJointGroupEmpty(ground.group);
}

/* What is deeper than its corners is kept; of the same point named twice one is. */
static void deeperOnesAreKept(void **state)
{
    (void)state;
    const spragContact *contact;
    makeGround(dBoxClass);
    for (int n = 3; n <= ROUND; ++n) {
        stepOnCircle(n, 1e-3, 0);
        assert_int_equal(contacts(&contact), n);
        stepOnCircle(n, 1.5e-3, 0);
        assert_int_equal(contacts(&contact), n + 1);
        stepOnCircle(n, 0, 1);
        assert_int_equal(contacts(&contact), n);
    }
    freeGround();
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wheelsRollOnTwoPoints),  cmocka_unit_test(leaningWheelsTouchWithTheirEnd),
        cmocka_unit_test(boxesStandOnCorners),    cmocka_unit_test(feedbackIsTheWeight),
        cmocka_unit_test(lawsAreTheirOwn),        cmocka_unit_test(deeperOnesAreKept),
        cmocka_unit_test(slopesAreUneven),        cmocka_unit_test(slipsAsOnAPlane),
        cmocka_unit_test(touchingWheelsStayLevel)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
