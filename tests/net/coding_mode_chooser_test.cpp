// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"
#include "tests/reckoning/random_states.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

constexpr double kTickS = 1.0 / 60.0;

// State of a body on a circle.
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

std::size_t bits_of(const State& now, const State& then, const CodingMode& coding_mode, double dt_s,
                    const Quantisation& q) {
  std::array<std::byte, 256> buffer;
  BitWriter writer{buffer};
  write_residual(writer, quantise(now, 0, coding_mode, q), quantise(then, 0, coding_mode, q), dt_s, q);
  return writer.bits_written();
}

TEST(CodingModeChooser, LearnsACheaperCodingMode) {
  const Quantisation q = quantisation_for(Archetype{});
  for (const double radius_m : {2.0, 30.0}) {
    CodingModeChooser chooser;
    const CodingMode start = chooser.choose(kUnitPrecision, 0.1, 0.0);
    CodingMode coding_mode = start;
    constexpr double kBackS = 12 * kTickS;
    double before = 0.0;
    double after = 0.0;
    for (int tick = 0; tick < 600; ++tick) {
      const double t = tick * 4 * kTickS;
      const State now = on_circle(t, radius_m, 3.0);
      const State then = on_circle(t - kBackS, radius_m, 3.0);
      chooser.observe(quantise(now, 0, coding_mode, q), quantise(then, 0, coding_mode, q), kBackS, q);
      coding_mode = chooser.choose(kUnitPrecision, 0.1, 4 * kTickS);
      if (tick < 300) continue;
      CodingMode fixed = start;
      fixed.reach = coding_mode.reach;
      before += static_cast<double>(bits_of(now, then, fixed, kBackS, q));
      after += static_cast<double>(bits_of(now, then, coding_mode, kBackS, q));
    }
    EXPECT_LT(after, before);
    EXPECT_EQ(coding_mode.reach, reach_for(0.1 + 4 * kTickS));
  }
}

TEST(CodingModeChooser, ReachFollowsTheGapWithoutOscillating) {
  CodingModeChooser chooser;
  test::RandomStates random{41};
  CodingMode coding_mode = chooser.choose(kUnitPrecision, 0.1, 0.0);
  int changes = 0;
  for (int i = 0; i < 1000; ++i) {
    const CodingMode next = chooser.choose(kUnitPrecision, 0.1, 0.05 + random.number(-0.04, 0.04));
    changes += next == coding_mode ? 0 : 1;
    coding_mode = next;
  }
  EXPECT_LE(changes, 20);
  for (int i = 0; i < 200; ++i)
    coding_mode = chooser.choose(kUnitPrecision, 0.1, 0.4);
  EXPECT_EQ(coding_mode.reach, reach_for(0.5));
  for (int i = 0; i < 200; ++i)
    coding_mode = chooser.choose(kUnitPrecision, 0.02, 1.0 / 60);
  EXPECT_EQ(coding_mode.reach, 0);
}

TEST(CodingModeChooser, StaysInRangeForAnyInput) {
  const Quantisation q = quantisation_for(Archetype{});
  test::RandomStates random{42};
  CodingModeChooser chooser;
  for (int i = 0; i < 2000; ++i) {
    const CodingMode coding_mode =
        chooser.choose(kUnitPrecision, random.number(0.0, 1.0), random.number(0.0, 1e6));
    ASSERT_LE(coding_mode.reach, kMaxReach);
    ASSERT_LT(coding_mode.prior, kPriorCount);
    ASSERT_LE(coding_mode.wander, kMaxWander);
    ASSERT_LE(coding_mode.twist, kMaxTwist);
    chooser.observe(quantise(random.state(), 0, coding_mode, q), quantise(random.state(), 0, coding_mode, q),
                    i % 5 == 0 ? 0.0 : random.number(0.0, 1e3), q);
  }
}

}  // namespace
}  // namespace reckoner
