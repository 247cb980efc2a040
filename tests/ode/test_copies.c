/* Heaps of chains whose limits break: an island that begins again copies what holds (ode/kept.h).  Whatever is told by
 * its place in the island is told by its new place: the block whose r_n bounds rolling friction, the rows of a joint
 * with friction. */
#include "support/check.h"

#include <string.h>

#include <ode/ode.h>
#include <sprag/sprag_ode.h>

#include "ode/bearing.h"
#include "ode/world.h"

enum { CHAINS = 3, LINKS = 7, CONTACTS = 6, STEPS = 60 };
#define STEP (1.0 / 60)

typedef struct Heap {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    spragWorldID sprag;
    unsigned long long random;
} Heap;

static double between(Heap *heap, double low, double high)
{
    heap->random = heap->random * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(heap->random >> 11) / 9007199254740992.0;
}

static void touch(void *data, dGeomID a, dGeomID b)
{
    Heap *heap = data;
    const dBodyID x = dGeomGetBody(a), y = dGeomGetBody(b);
    dContact contact[CONTACTS];
    if (x != NULL && y != NULL && dAreConnectedExcluding(x, y, dJointTypeContact))
        return;
    memset(contact, 0, sizeof contact);
    const int count = dCollide(a, b, CONTACTS, &contact[0].geom, sizeof *contact);
    for (int k = 0; k < count; ++k) {
        dSurfaceParameters *s = &contact[k].surface;
        s->mode = dContactApprox1 | dContactRolling;
        s->mu = 0.7, s->rho = s->rho2 = 0.02, s->rhoN = 0.01;
        dJointAttach(spragJointCreateContact(heap->sprag, heap->contacts, &contact[k]), x, y);
    }
}

static dJointID hang(Heap *heap, dBodyID a, dBodyID b, double x, double y, double z)
{
    const double kind = between(heap, 0, 1);
    dJointID joint;
    if (kind < 0.5) {
        joint = dJointCreateHinge(heap->world, NULL);
        dJointAttach(joint, a, b);
        dJointSetHingeAnchor(joint, x, y, z);
        dJointSetHingeAxis(joint, 0, 1, between(heap, -0.3, 0.3));
        dJointSetHingeParam(joint, dParamLoStop, between(heap, -0.8, -0.02));
        dJointSetHingeParam(joint, dParamHiStop, between(heap, 0.02, 0.8));
        dJointSetHingeParam(joint, dParamVel, between(heap, -3, 3));
        dJointSetHingeParam(joint, dParamFMax, between(heap, 1, 30));
    } else if (kind < 0.8) {
        joint = dJointCreateUniversal(heap->world, NULL);
        dJointAttach(joint, a, b);
        dJointSetUniversalAnchor(joint, x, y, z);
        dJointSetUniversalAxis2(joint, 0, 0, 1);
        dJointSetUniversalAxis1(joint, 0, 1, 0);
        dJointSetUniversalParam(joint, dParamFMax, between(heap, 0.5, 5));
        dJointSetUniversalParam(joint, dParamFMax2, between(heap, 0.5, 5));
    } else {
        joint = dJointCreateBall(heap->world, NULL);
        dJointAttach(joint, a, b);
        dJointSetBallAnchor(joint, x, y, z);
    }
    return joint;
}

static void build(Heap *heap, unsigned seed)
{
    *heap = (Heap){
        .world = dWorldCreate(), .space = dSimpleSpaceCreate(NULL), .contacts = dJointGroupCreate(0), .random = seed};
    dWorldSetGravity(heap->world, 0, 0, -9.81);
    dCreatePlane(heap->space, 0, 0, 1, 0);
    assert_int_equal(spragWorldAttach(heap->world, NULL, &heap->sprag), SPRAG_OK);
    for (int c = 0; c < CHAINS; ++c) {
        const double x = between(heap, -0.2, 0.2), y = between(heap, -0.2, 0.2), z = 0.6 + 0.35 * c;
        dBodyID last = NULL;
        for (int i = 0; i < LINKS; ++i) {
            dMass mass;
            dQuaternion along;
            const dBodyID body = dBodyCreate(heap->world);
            dMassSetCapsuleTotal(&mass, between(heap, 1, 4), 1, 0.06, 0.2);
            dBodySetMass(body, &mass);
            dBodySetPosition(body, x + 0.3 * i, y, z);
            dQFromAxisAndAngle(along, 0, 1, 0, 1.5707963267948966);
            dBodySetQuaternion(body, along);
            dGeomSetBody(dCreateCapsule(heap->space, 0.06, 0.2), body);
            if (last != NULL) {
                spragJointFriction friction = spragJointFrictionDefault();
                const dJointID joint = hang(heap, last, body, x + 0.3 * i - 0.15, y, z);
                friction.mu = 0.5, friction.mu_static = 0.6, friction.radius = 0.03;
                if (between(heap, 0, 1) < 0.5)
                    assert_int_equal(spragJointSetFriction(heap->sprag, joint, &friction), SPRAG_OK);
            }
            last = body;
        }
    }
}

/* Islands that began again with copies leave no trace but fewer rows, which hold, and blocks in their place. */
static void checkPlaces(const spragSnapshot *s, const spragIsland *island, int *parents, int *bearings)
{
    for (int k = 0; k < island->block_count; ++k) {
        const spragBlock *block = &island->block[k];
        if (block->parent < 0)
            continue;
        assert_true(block->parent < island->block_count);
        assert_int_equal(island->block[block->parent].joint, block->joint);
        ++*parents;
    }
    for (int i = 0; i < island->joint_count; ++i) {
        const int j = island->joint[i];
        const struct spragBearing *bearing = s->joint[j].bearing;
        if (bearing == NULL)
            continue;
        assert_true(bearing->first_row >= 0 && bearing->first_row + bearing->row_count <= island->row_count);
        for (int e = bearing->first_row; e < bearing->first_row + bearing->row_count; ++e)
            assert_int_equal(island->row[e].joint, j);
        ++*bearings;
    }
}

static void placesAreTold(void **state)
{
    (void)state;
    int parents = 0, bearings = 0;
    for (unsigned seed = 1; seed <= 2; ++seed) {
        Heap heap;
        build(&heap, seed);
        for (int step = 0; step < STEPS; ++step) {
            dSpaceCollide(heap.space, &heap, touch);
            assert_int_equal(spragWorldStep(heap.sprag, STEP), SPRAG_OK);
            const spragSnapshot *s = &heap.sprag->snapshot;
            for (int k = 0; k < s->island_count; ++k)
                if (s->island[k].declined == NULL && s->island[k].lone == NULL && s->island[k].bare == NULL)
                    checkPlaces(s, &s->island[k], &parents, &bearings);
            dJointGroupEmpty(heap.contacts);
        }
        spragWorldDetach(heap.sprag);
        dJointGroupDestroy(heap.contacts);
        dSpaceDestroy(heap.space);
        dWorldDestroy(heap.world);
    }
    assert_true(parents > 0 && bearings > 0);
}

int main(void)
{
    dInitODE2(0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(placesAreTold)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
