// SPDX-License-Identifier: MIT
#include "random_points.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <reckoner/reckoning/curves.hpp>

namespace reckoner {
namespace {

using glm::dvec2;
using Key = TcbKey<dvec2>;

TcbSpline<dvec2> spline(const std::vector<Key>& keys, TcbOptions options = {}) {
  auto made = TcbSpline<dvec2>::make(keys, options);
  EXPECT_TRUE(made) << made.error();
  return *made;
}

std::vector<Key> keys_at(const std::vector<double>& times, const std::vector<dvec2>& values) {
  std::vector<Key> keys;
  for (std::size_t i = 0; i < times.size(); ++i)
    keys.push_back({times[i], values[i]});
  return keys;
}

TEST(Tcb, WeightsMatchThePaper) {
  const TcbWeights w = tcb_weights({0.2, 0.3, -0.4}, 1.0, 1.0);
  EXPECT_NEAR(w.in_before, 0.8 * 0.7 * 0.6 / 2, 1e-15);
  EXPECT_NEAR(w.in_after, 0.8 * 1.3 * 1.4 / 2, 1e-15);
  EXPECT_NEAR(w.out_before, 0.8 * 1.3 * 0.6 / 2, 1e-15);
  EXPECT_NEAR(w.out_after, 0.8 * 0.7 * 1.4 / 2, 1e-15);
  // The opposite sign of continuity, common in tutorials, swaps the incoming and the outgoing tangent.
  const TcbWeights other = tcb_weights({0.2, -0.3, -0.4}, 1.0, 1.0);
  EXPECT_DOUBLE_EQ(other.in_before, w.out_before);
  EXPECT_DOUBLE_EQ(other.in_after, w.out_after);
}

TEST(Tcb, ContinuityMinusOneGivesABoxCornerAndPlusOneAnInvertedOne) {
  // Paper, figure on continuity: at -1 the curve arrives and leaves along the chords.
  const TcbWeights box = tcb_weights({0.0, -1.0, 0.0}, 1.0, 1.0);
  EXPECT_EQ(box.in_before, 1.0);
  EXPECT_EQ(box.in_after, 0.0);
  EXPECT_EQ(box.out_before, 0.0);
  EXPECT_EQ(box.out_after, 1.0);
  const TcbWeights inverted = tcb_weights({0.0, 1.0, 0.0}, 1.0, 1.0);
  EXPECT_EQ(inverted.in_after, 1.0);
  EXPECT_EQ(inverted.out_before, 1.0);
}

TEST(Tcb, DefaultKeysEqualCatmullRomInside) {
  const std::vector<dvec2> p{{0, 0}, {1, 4}, {5, 4}, {6, -1}, {9, 0}};
  const auto tcb = spline(keys_at({0, 1, 2, 3, 4}, p));
  const auto catmull = CatmullRom<dvec2>::make(p);
  for (double t = 1.0; t <= 3.0; t += 0.05) {
    EXPECT_LT(glm::length(tcb.position(t) - catmull->position(t)), 1e-14);
    EXPECT_LT(glm::length(tcb.velocity(t) - catmull->derivative(t)), 1e-13);
  }
  const auto ring = spline(keys_at({0, 1, 2, 3, 4}, p), {1.0});
  const auto closed = CatmullRom<dvec2>::make(p, {CatmullRomKnots::uniform, CatmullRomEnds::closed});
  for (double t = 0.0; t <= 5.0; t += 0.05) {
    EXPECT_LT(glm::length(ring.position(t) - closed->position(t)), 1e-14);
  }
}

TEST(Tcb, UnevenTimesKeepTheVelocityContinuous) {
  TestRandom random(21);
  std::vector<Key> keys = keys_at({0, 0.1, 3, 3.5, 8}, random.points<dvec2>(5));
  for (Key& key : keys)
    key.shape = {random.between(-1, 1), 0.0, random.between(-1, 1)};
  const auto s = spline(keys);
  for (const double t : {0.1, 3.0, 3.5}) {
    EXPECT_LT(glm::length(s.velocity(std::nextafter(t, -1.0)) - s.velocity(t)), 1e-10);
  }
  // Shape zero: the mean velocity over both segments.
  const auto plain = spline(keys_at({0, 1, 4}, {{0, 0}, {3, 0}, {6, 8}}));
  EXPECT_LT(glm::length(plain.velocity(1.0) - dvec2(6, 8) / 4.0), 1e-14);
  // Continuity other than zero makes a corner.
  keys[2].shape.continuity = 0.5;
  const auto corner = spline(keys);
  EXPECT_GT(glm::length(corner.velocity(std::nextafter(3.0, 0.0)) - corner.velocity(3.0)), 0.1);
}

TEST(Tcb, EndRules) {
  std::vector<Key> keys = keys_at({0, 2, 4}, {{0, 0}, {3, 1}, {4, 6}});
  keys[0].shape.tension = 0.25;
  keys[2].shape.tension = -0.5;
  const auto s = spline(keys);
  const dvec2 m1 = s.velocity(2.0) * 2.0;  // per segment
  EXPECT_LT(glm::length(s.velocity(0.0) * 2.0 - 0.75 * (1.5 * dvec2(3, 1) - 0.5 * m1)), 1e-14);
  EXPECT_LT(glm::length(s.velocity(4.0) * 2.0 - 1.5 * (1.5 * dvec2(1, 5) - 0.5 * m1)), 1e-14);

  const auto two = spline({{1.0, {0, 0}, {0.5, 0, 0}}, {3.0, {8, 0}}});
  EXPECT_DOUBLE_EQ(two.velocity(1.0).x, 0.5 * 8 / 2.0);
  EXPECT_DOUBLE_EQ(two.velocity(3.0).x, 8 / 2.0);

  const auto one = spline({{5.0, {7, 8}, {0, 0, 0}, 0.5, 0.5}});
  for (const double t : {-1.0, 5.0, 9.0}) {
    EXPECT_EQ(one.position(t), dvec2(7, 8));
    EXPECT_EQ(one.velocity(t), dvec2(0.0));
    EXPECT_EQ(one.acceleration(t), dvec2(0.0));
    EXPECT_EQ(one.time_at(t), 5.0);
  }
}

TEST(Tcb, PassesThroughKeysExactlyWithEasing) {
  TestRandom random(4);
  std::vector<Key> keys = keys_at({-3, 0.1, 0.7, 5, 5.5}, random.points<dvec2>(5));
  for (Key& key : keys) {
    key.shape = {random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)};
    key.ease_to = random.between(0, 1);
    key.ease_from = random.between(0, 1);
  }
  for (const TcbOptions& options : {TcbOptions{}, TcbOptions{1.7}}) {
    const auto s = spline(keys, options);
    for (const Key& key : keys)
      EXPECT_EQ(s.position(key.time), key.value);
    EXPECT_EQ(s.position(-100), keys[0].value);
    EXPECT_EQ(s.position(std::numeric_limits<double>::quiet_NaN()), keys[0].value);
    EXPECT_EQ(s.position(100), options.closing_time ? keys[0].value : keys[4].value);
    EXPECT_EQ(s.end_time(), options.closing_time ? 5.5 + 1.7 : 5.5);
    const double h = 1e-6;
    for (double t = -2.99; t < s.end_time() - 0.01; t += 0.0373) {
      EXPECT_LT(glm::length((s.position(t + h) - s.position(t - h)) / (2 * h) - s.velocity(t)), 2e-3) << t;
      EXPECT_NEAR(s.time_at(s.path_parameter(t)), t, 1e-6);
      EXPECT_EQ(s.position(t), s.path().position(s.path_parameter(t)));
    }
  }
}

TEST(Tcb, AccelerationIsTheVelocitysDerivative) {
  std::vector<Key> keys = keys_at({0, 1, 3}, {{0, 0}, {2, 5}, {9, 1}});
  keys[1].ease_to = 0.4;
  keys[0].ease_from = 0.2;
  const auto s = spline(keys);
  const double h = 1e-6;
  for (const double t : {0.1, 0.5, 0.9, 1.5, 2.5}) {
    EXPECT_LT(glm::length((s.velocity(t + h) - s.velocity(t - h)) / (2 * h) - s.acceleration(t)), 1e-5) << t;
  }
}

TEST(Tcb, EasingStopsAtTheKeyAndKeepsTheShape) {
  std::vector<Key> keys = keys_at({0, 1, 2, 3}, {{0, 0}, {1, 3}, {5, 3}, {7, 0}});
  const auto plain = spline(keys);
  keys[1].ease_to = keys[1].ease_from = 0.5;
  const auto eased = spline(keys);
  EXPECT_EQ(eased.velocity(1.0), dvec2(0.0));
  EXPECT_LT(glm::length(eased.velocity(1.0 - 1e-9)), 1e-6);
  EXPECT_EQ(plain.path().position(1.37), eased.path().position(1.37));
  EXPECT_GT(glm::length(plain.position(1.1) - eased.position(1.1)), 0.1);
}

TEST(Tcb, RefusesBadKeys) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [](const std::vector<Key>& keys, TcbOptions options = {}) {
    return !TcbSpline<dvec2>::make(keys, options);
  };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({{0, {0, 0}}, {0, {1, 1}}}));
  EXPECT_TRUE(refused({{1, {0, 0}}, {0, {1, 1}}}));
  EXPECT_TRUE(refused({{nan, {0, 0}}}));
  EXPECT_TRUE(refused({{0, {0, nan}}}));
  EXPECT_TRUE(refused({{0, {0, 0}, {nan, 0, 0}}}));
  EXPECT_TRUE(refused({{0, {0, 0}, {}, 1.5, 0.0}}));
  EXPECT_TRUE(refused({{0, {0, 0}, {}, 0.0, nan}}));
  EXPECT_TRUE(refused({{0, {0, 0}}, {1, {1, 1}}}, {1.0}));
  EXPECT_TRUE(refused(keys_at({0, 1, 2}, {{0, 0}, {1, 1}, {2, 0}}), {0.0}));
  EXPECT_TRUE(refused(keys_at({0, 1, 2}, {{0, 0}, {1, 1}, {2, 0}}), {nan}));
}

}  // namespace
}  // namespace reckoner
