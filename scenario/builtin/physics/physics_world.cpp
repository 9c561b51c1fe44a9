// SPDX-License-Identifier: MIT
#include "scenario/builtin/physics/physics_world.hpp"

#include <cassert>
#include <utility>

#include <btBulletDynamicsCommon.h>

namespace reckoner::scenario {
namespace {

constexpr int kGroundIndex = -1;

btVector3 to_bullet(const glm::dvec3& v) {
  return {static_cast<btScalar>(v.x), static_cast<btScalar>(v.y), static_cast<btScalar>(v.z)};
}

glm::dvec3 from_bullet(const btVector3& v) {
  return {v.x(), v.y(), v.z()};
}

}  // namespace

struct PhysicsWorld::Impl {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  std::unique_ptr<btRigidBody> ground;
  bool sleeps = false;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    for (const auto& body : bodies)
      world.removeRigidBody(body.get());
    if (ground) world.removeRigidBody(ground.get());
  }

  std::size_t add(std::unique_ptr<btCollisionShape> shape, const BodyStart& start) {
    const auto mass = static_cast<btScalar>(start.mass);
    btVector3 inertia(0, 0, 0);
    if (start.mass > 0.0) shape->calculateLocalInertia(mass, inertia);
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape.get(), inertia);
    const glm::quat& q = start.pose.orientation;
    info.m_startWorldTransform =
        btTransform(btQuaternion(q.x, q.y, q.z, q.w), to_bullet(start.pose.position));
    info.m_friction = static_cast<btScalar>(start.friction);
    info.m_linearDamping = info.m_angularDamping = static_cast<btScalar>(start.damping);
    auto body = std::make_unique<btRigidBody>(info);
    // Game engines leave out the gyroscopic torque, so that a free body keeps its angular velocity.
    body->setFlags(0);
    body->setUserIndex(static_cast<int>(bodies.size()));
    body->setLinearVelocity(to_bullet(start.velocity));
    body->setAngularVelocity(to_bullet(start.angular_velocity));
    if (start.asleep) body->setActivationState(ISLAND_SLEEPING);
    world.addRigidBody(body.get());
    shapes.push_back(std::move(shape));
    bodies.push_back(std::move(body));
    return bodies.size() - 1;
  }
};

PhysicsWorld::PhysicsWorld(const glm::dvec3& gravity) : impl_(std::make_unique<Impl>()) {
  impl_->world.setGravity(to_bullet(gravity));
}

PhysicsWorld::~PhysicsWorld() = default;

std::size_t PhysicsWorld::add_hull(std::span<const glm::dvec3> points, const BodyStart& start) {
  assert(points.size() >= 4);
  auto hull = std::make_unique<btConvexHullShape>();
  for (const glm::dvec3& point : points)
    hull->addPoint(to_bullet(point), false);
  hull->recalcLocalAabb();
  return impl_->add(std::move(hull), start);
}

std::size_t PhysicsWorld::add_sphere(double radius_m, const BodyStart& start) {
  return impl_->add(std::make_unique<btSphereShape>(static_cast<btScalar>(radius_m)), start);
}

std::size_t PhysicsWorld::add_cube(double edge_m, const BodyStart& start) {
  const auto half = static_cast<btScalar>(0.5 * edge_m);
  return impl_->add(std::make_unique<btBoxShape>(btVector3(half, half, half)), start);
}

void PhysicsWorld::add_ground(double friction) {
  auto plane = std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), btScalar{0});
  btRigidBody::btRigidBodyConstructionInfo info(0, nullptr, plane.get());
  info.m_friction = static_cast<btScalar>(friction);
  impl_->ground = std::make_unique<btRigidBody>(info);
  impl_->ground->setUserIndex(kGroundIndex);
  impl_->world.addRigidBody(impl_->ground.get());
  impl_->shapes.push_back(std::move(plane));
}

void PhysicsWorld::set_sleep_rule(const SleepRule& rule) {
  impl_->sleeps = true;
  gDeactivationTime = static_cast<btScalar>(rule.after_s);
  for (const auto& body : impl_->bodies) {
    body->setSleepingThresholds(static_cast<btScalar>(rule.speed_mps),
                                static_cast<btScalar>(rule.angular_speed_radps));
  }
}

std::size_t PhysicsWorld::size() const {
  return impl_->bodies.size();
}

Pose PhysicsWorld::pose(std::size_t body) const {
  const btTransform& at = impl_->bodies[body]->getWorldTransform();
  const btQuaternion turn = at.getRotation();
  return {from_bullet(at.getOrigin()), glm::quat(turn.w(), turn.x(), turn.y(), turn.z())};
}

glm::dvec3 PhysicsWorld::velocity(std::size_t body) const {
  return from_bullet(impl_->bodies[body]->getLinearVelocity());
}

glm::dvec3 PhysicsWorld::angular_velocity(std::size_t body) const {
  return from_bullet(impl_->bodies[body]->getAngularVelocity());
}

bool PhysicsWorld::asleep(std::size_t body) const {
  return !impl_->bodies[body]->isActive();
}

void PhysicsWorld::set_velocity(std::size_t body, const glm::dvec3& velocity) {
  impl_->bodies[body]->setLinearVelocity(to_bullet(velocity));
}

void PhysicsWorld::set_angular_velocity(std::size_t body, const glm::dvec3& angular_velocity) {
  impl_->bodies[body]->setAngularVelocity(to_bullet(angular_velocity));
}

void PhysicsWorld::push(std::size_t body, const glm::dvec3& force) {
  impl_->bodies[body]->activate();
  impl_->bodies[body]->applyCentralForce(to_bullet(force));
}

void PhysicsWorld::step() {
  if (!impl_->sleeps) {
    for (const auto& body : impl_->bodies)
      body->activate();
  }
  impl_->world.stepSimulation(static_cast<btScalar>(kStepS), 0);
}

std::vector<bool> PhysicsWorld::touched_by(std::size_t body) const {
  std::vector<bool> touched(size(), false);
  touched[body] = true;
  // Spreads over the contacts until nothing changes. Chains are short, so that a few passes suffice.
  const int contacts = impl_->dispatcher.getNumManifolds();
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < contacts; ++i) {
      const btPersistentManifold* const contact = impl_->dispatcher.getInternalManifoldPointer()[i];
      const int a = contact->getBody0()->getUserIndex();
      const int b = contact->getBody1()->getUserIndex();
      if (a == kGroundIndex || b == kGroundIndex || contact->getNumContacts() == 0) continue;
      const auto first = static_cast<std::size_t>(a), second = static_cast<std::size_t>(b);
      if (touched[first] == touched[second]) continue;
      touched[first] = touched[second] = true;
      changed = true;
    }
  }
  return touched;
}

}  // namespace reckoner::scenario
