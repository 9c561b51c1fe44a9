// SPDX-License-Identifier: MIT
#include "../reckoning/random_states.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include <reckoner/net/manner_chooser.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

constexpr double kTickS = 1.0 / 60.0;

// A thing on a circle, with what a sender knows of it.
State on_circle(double time_s, double radius_m, double rate_rps) {
  const double a = rate_rps * time_s;
  State s;
  s.position = {radius_m * std::cos(a), radius_m * std::sin(a), 1.0};
  s.velocity = glm::vec3{radius_m * rate_rps * glm::dvec3{-std::sin(a), std::cos(a), 0.0}};
  s.acceleration = glm::vec3{radius_m * rate_rps * rate_rps * glm::dvec3{-std::cos(a), -std::sin(a), 0.0}};
  s.orientation =
      glm::quat{static_cast<float>(std::cos(0.5 * a)), 0.0f, 0.0f, static_cast<float>(std::sin(0.5 * a))};
  s.angular_velocity = {0.0f, 0.0f, static_cast<float>(rate_rps)};
  return s;
}

std::size_t bits_of(const State& now, const State& then, const Manner& manner, double dt_s,
                    const Quantisation& q) {
  std::array<std::byte, 256> buffer;
  BitWriter writer{buffer};
  write_residual(writer, quantise(now, 0, manner, q), quantise(then, 0, manner, q), dt_s, q);
  return writer.bits_written();
}

TEST(MannerChooser, FindsWhatCostsLess) {
  const Quantisation q = quantisation_for(Archetype{});
  for (const double radius_m : {2.0, 30.0}) {
    MannerChooser chooser;
    const Manner start = chooser.choose(kUnitPrecision, 0.1, 0.0);
    Manner manner = start;
    constexpr double kBackS = 12 * kTickS;
    double before = 0.0;
    double after = 0.0;
    for (int tick = 0; tick < 600; ++tick) {
      const double t = tick * 4 * kTickS;
      const State now = on_circle(t, radius_m, 3.0);
      const State then = on_circle(t - kBackS, radius_m, 3.0);
      chooser.observe(quantise(now, 0, manner, q), quantise(then, 0, manner, q), kBackS, q);
      manner = chooser.choose(kUnitPrecision, 0.1, 4 * kTickS);
      if (tick < 300) continue;
      Manner fixed = start;
      fixed.reach = manner.reach;
      before += static_cast<double>(bits_of(now, then, fixed, kBackS, q));
      after += static_cast<double>(bits_of(now, then, manner, kBackS, q));
    }
    EXPECT_LT(after, before);
    EXPECT_EQ(manner.reach, reach_for(0.1 + 4 * kTickS));
  }
}

TEST(MannerChooser, ReachFollowsTheGapAndDoesNotFlutter) {
  MannerChooser chooser;
  test::RandomStates random{41};
  Manner manner = chooser.choose(kUnitPrecision, 0.1, 0.0);
  int changes = 0;
  for (int i = 0; i < 1000; ++i) {
    const Manner next = chooser.choose(kUnitPrecision, 0.1, 0.05 + random.number(-0.04, 0.04));
    changes += next == manner ? 0 : 1;
    manner = next;
  }
  EXPECT_LE(changes, 20);
  for (int i = 0; i < 200; ++i)
    manner = chooser.choose(kUnitPrecision, 0.1, 0.4);
  EXPECT_EQ(manner.reach, reach_for(0.5));
  for (int i = 0; i < 200; ++i)
    manner = chooser.choose(kUnitPrecision, 0.02, 1.0 / 60);
  EXPECT_EQ(manner.reach, 0);
}

TEST(MannerChooser, SurvivesAnything) {
  const Quantisation q = quantisation_for(Archetype{});
  test::RandomStates random{42};
  MannerChooser chooser;
  for (int i = 0; i < 2000; ++i) {
    const Manner manner = chooser.choose(kUnitPrecision, random.number(0.0, 1.0), random.number(0.0, 1e6));
    ASSERT_LE(manner.reach, kMostReach);
    ASSERT_LT(manner.habit, kHabits);
    ASSERT_LE(manner.wander, kMostWander);
    ASSERT_LE(manner.twist, kMostTwist);
    chooser.observe(quantise(random.state(), 0, manner, q), quantise(random.state(), 0, manner, q),
                    i % 5 == 0 ? 0.0 : random.number(0.0, 1e3), q);
  }
}

}  // namespace
}  // namespace reckoner
