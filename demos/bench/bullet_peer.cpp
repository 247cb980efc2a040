/* Bullet's sequential-impulse solver: two friction directions, Bullet's own warm start, no split impulse, no slop. */
#include "bench/contact_peer.h"

#include <chrono>
#include <deque>
#include <unordered_map>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <btBulletDynamicsCommon.h>
#pragma GCC diagnostic pop

namespace
{

struct Impulse {
    btScalar normal, lateral[2];
};

btScalar scalar(double x)
{
    return static_cast<btScalar>(x);
}

btVector3 vector(const double *x)
{
    return {scalar(x[0]), scalar(x[1]), scalar(x[2])};
}

btMatrix3x3 matrix(const double *m)
{
    return {scalar(m[0]), scalar(m[1]), scalar(m[2]), scalar(m[3]), scalar(m[4]),
            scalar(m[5]), scalar(m[6]), scalar(m[7]), scalar(m[8])};
}

struct BulletPeer : ContactPeer {
    btSequentialImpulseConstraintSolver solver;
    btContactSolverInfo info;
    std::unordered_map<unsigned long long, Impulse> last; /* of the step before, by contact */
    std::deque<btRigidBody> body;                         /* the last one is the world; rigid bodies do not move */
    std::vector<btCollisionObject *> object;
    std::deque<btPersistentManifold> manifold;
    std::vector<btPersistentManifold *> pointer;
    std::vector<btManifoldPoint *> point; /* (contact_count) */

    void takeBodies(const ContactSet *set);
    void takeContacts(const ContactSet *set);
};

void BulletPeer::takeBodies(const ContactSet *set)
{
    body.clear();
    object.clear();
    for (int i = 0; i < set->body_count; ++i) {
        const SetBody *b = &set->body[i];
        btRigidBody &rigid = body.emplace_back(scalar(b->mass), nullptr, nullptr, vector(b->inertia));
        rigid.setFlags(0); /* no gyroscopic term, as in the problem */
        rigid.setWorldTransform(btTransform(matrix(b->rotation), vector(b->position)));
        rigid.updateInertiaTensor();
        rigid.setLinearVelocity(vector(b->velocity));
        rigid.setAngularVelocity(vector(b->velocity + 3));
        rigid.forceActivationState(DISABLE_DEACTIVATION);
        rigid.applyCentralForce(vector(set->gravity) * scalar(b->mass));
    }
    body.emplace_back(btScalar(0), nullptr, nullptr);
    for (btRigidBody &rigid : body)
        object.push_back(&rigid);
}

/* Four points to a manifold at most; contacts of a pair follow one another. */
void BulletPeer::takeContacts(const ContactSet *set)
{
    manifold.clear();
    pointer.clear();
    point.clear();
    for (int k = 0; k < set->contact_count; ++k) {
        const SetContact *c = &set->contact[k];
        btRigidBody *a = &body[static_cast<size_t>(c->body[0] < 0 ? set->body_count : c->body[0])];
        btRigidBody *b = &body[static_cast<size_t>(c->body[1] < 0 ? set->body_count : c->body[1])];
        if (manifold.empty() || manifold.back().getBody0() != a || manifold.back().getBody1() != b ||
            manifold.back().getNumContacts() == MANIFOLD_CACHE_SIZE) {
            manifold.emplace_back(a, b, 0, BT_LARGE_FLOAT, BT_LARGE_FLOAT);
            pointer.push_back(&manifold.back());
        }
        btPersistentManifold &m = manifold.back();
        const int at = m.getNumContacts();
        m.setNumContacts(at + 1);
        btManifoldPoint &p = m.getContactPoint(at);
        p = btManifoldPoint(btVector3(0, 0, 0), btVector3(0, 0, 0), vector(c->frame), scalar(-c->depth));
        p.m_positionWorldOnA = p.m_positionWorldOnB = vector(c->position);
        p.m_combinedFriction = scalar(c->mu);
        const auto found = last.find(c->id);
        if (found != last.end()) {
            p.m_appliedImpulse = found->second.normal;
            p.m_appliedImpulseLateral1 = found->second.lateral[0];
            p.m_appliedImpulseLateral2 = found->second.lateral[1];
        }
        point.push_back(&p);
    }
}

double solveSet(ContactPeer *self, const ContactSet *set, double *r)
{
    BulletPeer *peer = static_cast<BulletPeer *>(self);
    peer->takeBodies(set);
    peer->takeContacts(set);
    peer->info.m_timeStep = scalar(set->step);
    peer->info.m_erp2 = scalar(set->erp);
    const auto begin = std::chrono::steady_clock::now();
    peer->solver.solveGroup(peer->object.data(), static_cast<int>(peer->object.size()), peer->pointer.data(),
                            static_cast<int>(peer->pointer.size()), nullptr, 0, peer->info, nullptr, nullptr);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    peer->last.clear();
    for (int k = 0; k < set->contact_count; ++k) {
        const btManifoldPoint *p = peer->point[static_cast<size_t>(k)];
        peer->last[set->contact[k].id] = {p->m_appliedImpulse,
                                          {p->m_appliedImpulseLateral1, p->m_appliedImpulseLateral2}};
        const btVector3 friction = p->m_lateralFrictionDir1 * p->m_appliedImpulseLateral1 +
                                   p->m_lateralFrictionDir2 * p->m_appliedImpulseLateral2;
        r[3 * k] = p->m_appliedImpulse;
        for (int row = 1; row < 3; ++row)
            r[3 * k + row] = friction.dot(vector(set->contact[k].frame + 3 * row));
    }
    return taken.count();
}

} // namespace

ContactPeer *bulletPeerMake(int iterations)
{
    BulletPeer *peer = new BulletPeer;
    peer->solve = solveSet;
    peer->info.m_numIterations = iterations;
    peer->info.m_splitImpulse = 0;
    peer->info.m_linearSlop = 0;
    peer->info.m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    return peer;
}
