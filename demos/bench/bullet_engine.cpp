/* Bullet's discrete world as it is made by default; two friction directions, as one has none across. */
#include "bench/engine_peer.h"

#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <btBulletDynamicsCommon.h>
#pragma GCC diagnostic pop

namespace
{

btScalar scalar(double x)
{
    return static_cast<btScalar>(x);
}

btVector3 vector(const double *x)
{
    return {scalar(x[0]), scalar(x[1]), scalar(x[2])};
}

/* Bullet's capsules and cylinders have their axis along z here, too. */
btCollisionShape *shapeOf(const Solid &solid)
{
    const double *size = solid.size;
    switch (solid.kind) {
    case SOLID_BOX:
        return new btBoxShape(vector(size));
    case SOLID_SPHERE:
        return new btSphereShape(scalar(size[0]));
    case SOLID_CAPSULE:
        return new btCapsuleShapeZ(scalar(size[0]), scalar(2 * size[1]));
    case SOLID_CYLINDER:
        return new btCylinderShapeZ(btVector3(scalar(size[0]), scalar(size[0]), scalar(size[1])));
    default:
        return new btStaticPlaneShape(vector(size), scalar(size[3]));
    }
}

struct BulletEngine : EnginePeer {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<btRigidBody *> body; /* those of the scene */
    btScalar size;                   /* s, of a step */

    void add(const Solid &solid, double mu);
};

void BulletEngine::add(const Solid &solid, double mu)
{
    btRigidBody::btRigidBodyConstructionInfo info(scalar(solid.mass), nullptr, shapeOf(solid), vector(solid.inertia));
    const double *q = solid.quaternion;
    info.m_startWorldTransform =
        btTransform(btQuaternion(scalar(q[1]), scalar(q[2]), scalar(q[3]), scalar(q[0])), vector(solid.position));
    info.m_friction = scalar(std::sqrt(mu)); /* that of a contact is the product of both */
    btRigidBody *rigid = new btRigidBody(info);
    rigid->setLinearVelocity(vector(solid.velocity));
    rigid->setAngularVelocity(vector(solid.velocity + 3));
    rigid->setActivationState(DISABLE_DEACTIVATION); /* what creeps is not to be put to sleep */
    world.addRigidBody(rigid);
    if (solid.mass > 0)
        body.push_back(rigid);
}

void step(EnginePeer *self)
{
    BulletEngine *engine = static_cast<BulletEngine *>(self);
    engine->world.stepSimulation(engine->size, 0);
}

void position(const EnginePeer *self, int body, double x[3])
{
    const btVector3 &at =
        static_cast<const BulletEngine *>(self)->body[static_cast<size_t>(body)]->getCenterOfMassPosition();
    for (int i = 0; i < 3; ++i)
        x[i] = at[i];
}

} // namespace

EnginePeer *bulletEngineMake(const Solids *solids, double step)
{
    BulletEngine *engine = new BulletEngine;
    engine->step = ::step;
    engine->position = ::position;
    engine->size = scalar(step);
    engine->world.setGravity(vector(solids->gravity));
    engine->world.getSolverInfo().m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    for (int i = 0; i < solids->count; ++i)
        engine->add(solids->solid[i], solids->mu);
    return engine;
}
