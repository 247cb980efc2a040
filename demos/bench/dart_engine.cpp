/* DART's world as it is made by default, but with ODE's colliders: of those it has its own know no planes. */
#include "bench/engine_peer.h"

#include <string>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <dart/collision/ode/OdeCollisionDetector.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/CapsuleShape.hpp>
#include <dart/dynamics/CylinderShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PlaneShape.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>
#pragma GCC diagnostic pop

namespace
{

Eigen::Vector3d vector(const double *x)
{
    return {x[0], x[1], x[2]};
}

dart::dynamics::ShapePtr shapeOf(const Solid &solid)
{
    const double *size = solid.size;
    switch (solid.kind) {
    case SOLID_BOX:
        return std::make_shared<dart::dynamics::BoxShape>(2 * vector(size));
    case SOLID_SPHERE:
        return std::make_shared<dart::dynamics::SphereShape>(size[0]);
    case SOLID_CAPSULE:
        return std::make_shared<dart::dynamics::CapsuleShape>(size[0], 2 * size[1]);
    case SOLID_CYLINDER:
        return std::make_shared<dart::dynamics::CylinderShape>(size[0], 2 * size[1]);
    default:
        return std::make_shared<dart::dynamics::PlaneShape>(vector(size), size[3]);
    }
}

Eigen::Isometry3d placeOf(const Solid &solid)
{
    const double *q = solid.quaternion;
    Eigen::Isometry3d place = Eigen::Isometry3d::Identity();
    place.translation() = vector(solid.position);
    place.linear() = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix();
    return place;
}

struct DartEngine : EnginePeer {
    dart::simulation::WorldPtr world = dart::simulation::World::create();
    std::vector<dart::dynamics::BodyNode *> body; /* those of the scene */

    void add(const Solid &solid, double mu);
};

void DartEngine::add(const Solid &solid, double mu)
{
    const dart::dynamics::SkeletonPtr skeleton =
        dart::dynamics::Skeleton::create(std::to_string(world->getNumSkeletons()));
    dart::dynamics::BodyNode *node = nullptr;
    if (solid.mass > 0) {
        const auto made = skeleton->createJointAndBodyNodePair<dart::dynamics::FreeJoint>();
        node = made.second;
        node->setInertia(dart::dynamics::Inertia(solid.mass, Eigen::Vector3d::Zero(),
                                                 vector(solid.inertia).asDiagonal().toDenseMatrix()));
        made.first->setTransform(placeOf(solid));
        made.first->setLinearVelocity(vector(solid.velocity));
        made.first->setAngularVelocity(vector(solid.velocity + 3));
        body.push_back(node);
    } else {
        const auto made = skeleton->createJointAndBodyNodePair<dart::dynamics::WeldJoint>();
        node = made.second;
        made.first->setTransformFromParentBodyNode(placeOf(solid));
    }
    dart::dynamics::ShapeNode *shape =
        node->createShapeNodeWith<dart::dynamics::CollisionAspect, dart::dynamics::DynamicsAspect>(shapeOf(solid));
    shape->getDynamicsAspect()->setFrictionCoeff(mu);
    world->addSkeleton(skeleton);
}

void step(EnginePeer *self)
{
    static_cast<DartEngine *>(self)->world->step();
}

void position(const EnginePeer *self, int body, double x[3])
{
    const Eigen::Vector3d at =
        static_cast<const DartEngine *>(self)->body[static_cast<size_t>(body)]->getTransform().translation();
    for (int i = 0; i < 3; ++i)
        x[i] = at[i];
}

} // namespace

EnginePeer *dartEngineMake(const Solids *solids, double step)
{
    DartEngine *engine = new DartEngine;
    engine->step = ::step;
    engine->position = ::position;
    engine->world->setTimeStep(step);
    engine->world->getConstraintSolver()->setCollisionDetector(dart::collision::OdeCollisionDetector::create());
    engine->world->setGravity(vector(solids->gravity));
    for (int i = 0; i < solids->count; ++i)
        engine->add(solids->solid[i], solids->mu);
    return engine;
}
