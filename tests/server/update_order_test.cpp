// SPDX-License-Identifier: MIT
// Which updates go first if the byte budget does not allow all of them.
#include "server/src/session/update_order.hpp"

#include "server/src/publish/publisher.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr double kTickRate = 60.0;

/// One entity with two publishes: at tick 0 at rest at the origin, and at tick 60 wherever the test says.
struct Stale {
  explicit Stale(const State& now, std::uint8_t teleports = 0, double factor = 1.0)
      : config(with_body()), entity(Publisher{config, quantisation, 1}.make_entity(0, "", State{}, 0)) {
    entity.levels[0].factor = factor;
    publish({}, 0, 0);
    publish(now, 60, teleports);
  }
  [[nodiscard]] float priority(double waited_s = 0.5, std::uint32_t bits = 80,
                               std::uint32_t known = 1) const {
    const OrderInputs inputs{routes, 60, 60 / kTickRate, kTickRate, 60 / kTickRate + 0.05};
    return priority_of({entity, config.archetypes[0], quantisation[0], 0, known, waited_s, bits}, inputs);
  }

  ServerConfig config;
  std::vector<Quantisation> quantisation{quantisation_for(Archetype{})};
  RouteTable routes;
  Entity entity;

 private:
  static ServerConfig with_body() {
    ServerConfig config;
    config.archetypes = {Archetype{}};
    return config;
  }
  void publish(const State& state, Tick tick, std::uint8_t teleports) {
    const QuantisedState encoded = quantise(state, teleports, kUnitPrecision, quantisation[0]);
    Motion motion{*dequantise(encoded, quantisation[0]), tick / kTickRate};
    motion.teleports = teleports;
    entity.levels[0].stream.publish(encoded, motion, tick, 1.0);
  }
};

State at(double x, float speed = 0.0f) {
  State state;
  state.position.x = x;
  state.velocity.x = speed;
  return state;
}

State turned(double angle_rad) {
  State state;
  state.orientation = glm::quat{static_cast<float>(std::cos(angle_rad / 2.0)), 0.0f, 0.0f,
                                static_cast<float>(std::sin(angle_rad / 2.0))};
  return state;
}

TEST(UpdateOrder, GrowsWithTheErrorAndTheWait) {
  EXPECT_GT(Stale(at(2.0)).priority(), Stale(at(1.0)).priority());
  EXPECT_GT(Stale(at(1.0, 5.0f)).priority(), Stale(at(1.0)).priority()) << "this error grows";
  EXPECT_LT(Stale(at(1.0, -4.0f)).priority(), Stale(at(1.0)).priority()) << "this error shrinks";
  EXPECT_GT(Stale(turned(0.4)).priority(), Stale(turned(0.2)).priority());
  const Stale stale(at(1.0));
  for (double waited_s = 0.1; waited_s < 3.0; waited_s += 0.1)
    EXPECT_GT(stale.priority(waited_s + 0.1), stale.priority(waited_s));
}

TEST(UpdateOrder, SmallUpdatesAndFineLevelsGoFirst) {
  EXPECT_GT(Stale(at(1.0)).priority(0.5, 60), Stale(at(1.0)).priority(0.5, 120));
  EXPECT_GT(Stale(at(1.0)).priority(), Stale(at(1.0), 0, kLevelFactor).priority());
}

TEST(UpdateOrder, PositionAndOrientationCountInThresholds) {
  const Archetype archetype;
  const float moved = Stale(at(20.0 * archetype.threshold_m)).priority();
  const float turns = Stale(turned(20.0 * archetype.threshold_rad)).priority();
  EXPECT_NEAR(turns / moved, 1.0, 0.05);
}

TEST(UpdateOrder, AnUpdateThatChangesNothingComesLast) {
  EXPECT_LT(Stale(State{}).priority(), 1e-3f * Stale(at(0.05)).priority());
}

// The client's motion is unknown after a change of the level of detail, and after more publishes than are
// stored. Such an update must not starve.
TEST(UpdateOrder, UnknownMotionsCountAsLargeErrors) {
  const Stale unmoved{State{}};
  for (const std::uint32_t known : {0u, 500u}) {
    EXPECT_GT(unmoved.priority(0.5, 80, known), Stale(at(0.1)).priority(0.5, 80));
    EXPECT_TRUE(std::isfinite(unmoved.priority(0.5, 80, known)));
  }
}

TEST(UpdateOrder, ATeleportCountsLikeItsDistance) {
  EXPECT_EQ(Stale(at(50.0), 1).priority(), Stale(at(50.0), 0).priority());
}

}  // namespace
}  // namespace reckoner
