// SPDX-License-Identifier: MIT
#include "reckoning/src/motion/portable_math.hpp"
#include "reckoning/src/motion/rotation.hpp"
#include "scenario/builtin/builtin_source.hpp"
#include "scenario/builtin/random.hpp"
#include "scenario/builtin/random_direction.hpp"

#include <glm/geometric.hpp>

namespace reckoner::scenario {
namespace {

constexpr double kTau = 2.0 * std::numbers::pi;

// Bodies on ellipses around fixed centres, at a constant angular rate. Each spins about a fixed axis.
class Orbit final : public BuiltinSource {
 public:
  Orbit(std::size_t count, std::uint64_t seed) : BuiltinSource("orbit", count, seed) {
    const double side = square_side_m(400.0);
    ellipses_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      Random random(seed, i);
      Ellipse ellipse;
      ellipse.centre = {random.uniform(-0.5, 0.5) * side, random.uniform(-0.5, 0.5) * side,
                        random.uniform(5.0, 15.0)};
      const glm::dvec3 normal = random_direction(random);
      const glm::dvec3 along =
          glm::abs(normal.z) > 0.9 ? glm::dvec3{1.0, 0.0, 0.0} : glm::dvec3{0.0, 0.0, 1.0};
      const glm::dvec3 u = glm::normalize(glm::cross(along, normal));
      ellipse.major = u * random.uniform(3.0, 10.0);
      ellipse.minor = glm::cross(normal, u) * random.uniform(2.0, 6.0);
      ellipse.phase = random.uniform(0.0, kTau);
      ellipse.rate = kTau / random.uniform(4.0, 15.0);
      ellipse.spin_axis = random_direction(random);
      ellipse.spin_rate = random.uniform(-2.0, 2.0);
      ellipses_.push_back(ellipse);
    }
  }

  Pose pose(std::size_t index, double time_s) const override {
    const Ellipse& e = ellipses_[index];
    const double angle = e.phase + e.rate * time_s;
    const glm::dvec3 spin = e.spin_axis * std::remainder(e.spin_rate * time_s, kTau);
    return {e.centre + e.major * portable::cos(angle) + e.minor * portable::sin(angle),
            glm::quat(rotation_exp(spin))};
  }

 private:
  struct Ellipse {
    glm::dvec3 centre{0.0};
    glm::dvec3 major{0.0};  // half axes of the ellipse, m
    glm::dvec3 minor{0.0};
    double phase = 0.0;  // position on the ellipse at time 0, rad
    double rate = 0.0;   // rad/s
    glm::dvec3 spin_axis{0.0};
    double spin_rate = 0.0;  // rad/s
  };

  std::vector<Ellipse> ellipses_;
};

}  // namespace

std::unique_ptr<Source> make_orbit(std::size_t count, std::uint64_t seed) {
  return std::make_unique<Orbit>(count, seed);
}

}  // namespace reckoner::scenario
