// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/dis_models.hpp"

#include "reckoning/src/motion/rotation.hpp"
#include "tests/reckoning/curves/random_points.hpp"
#include "tests/reckoning/degree.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

using glm::dquat;
using glm::dvec3;
using Model = DeadReckoningModel;

constexpr Model kAll[] = {Model::kStatic, Model::kFpw, Model::kRpw, Model::kRvw, Model::kFvw,
                          Model::kFpb,    Model::kRpb, Model::kRvb, Model::kFvb};

DisState published() {
  DisState s;
  s.position = {-6378137, -5, -10};
  s.velocity = {30, 35, 40};
  s.acceleration = {-80, -85, -90};
  s.orientation = orientation_of(EulerAngles{15 * kDegree, 20 * kDegree, 25 * kDegree});
  s.angular_velocity = dvec3(60, 65, 70) * kDegree;
  return s;
}

DisState random_state(TestRandom& random) {
  DisState s;
  s.position = random.vector<dvec3>(-100, 100);
  s.velocity = random.vector<dvec3>(-30, 30);
  s.acceleration = random.vector<dvec3>(-10, 10);
  s.orientation = rotation_exp(random.vector<dvec3>(-2, 2));
  s.angular_velocity = random.vector<dvec3>(-2, 2);
  return s;
}

double angle_apart(const dquat& a, const dquat& b) {
  return glm::length(rotation_log(glm::conjugate(a) * b));
}

void expect_row(Model model, const dvec3& position, const dvec3& degrees) {
  const DisState s = extrapolate(model, published(), 0.5);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(s.position[i], position[i], 0.01) << name_of(model) << " axis " << i;
  const EulerAngles e = euler_angles_of(s.orientation);
  EXPECT_NEAR(e.psi / kDegree, degrees.x, 0.01) << name_of(model);
  EXPECT_NEAR(e.theta / kDegree, degrees.y, 0.01) << name_of(model);
  EXPECT_NEAR(e.phi / kDegree, degrees.z, 0.01) << name_of(model);
}

TEST(DisModels, MatchThePublishedRows) {
  const dvec3 unchanged{15, 20, 25};
  const dvec3 turned{64.32, 14.84, 72.5};
  expect_row(Model::kStatic, {-6378137, -5, -10}, unchanged);
  expect_row(Model::kFpw, {-6378122, 12.5, 10}, unchanged);
  expect_row(Model::kRpw, {-6378122, 12.5, 10}, turned);
  expect_row(Model::kRvw, {-6378132, 1.88, -1.25}, turned);
  expect_row(Model::kFvw, {-6378132, 1.88, -1.25}, unchanged);
}

TEST(DisModels, MatchThePublishedMatrices) {
  const dvec3 w{0.3, -0.8, 1.1};
  EXPECT_LT(glm::length(dis_r1(w, 0.7, {10, 1, -2}) - dvec3(6.055599863, 3.218130305, 0.688931168)), 2e-9);
  EXPECT_LT(glm::length(dis_r2(w, 0.7, {1, .5, -.25}) - dvec3(0.150236693, 0.225425830, 0.039449687)), 2e-9);
}

TEST(DisModels, MatricesAreTheirIntegralsAtAnyRate) {
  TestRandom random(71);
  for (const double rate : {0.0, 1e-200, 1e-12, 1e-6, 1e-3, 0.1, 0.999999, 1.0, 1.000001, 3.0, 20.0}) {
    const dvec3 w = rate * glm::normalize(random.vector<dvec3>(-1, 1));
    const dvec3 v = random.vector<dvec3>(-10, 10);
    for (const double t : {1.0, -1.0}) {
      dvec3 r1(0.0), r2(0.0);
      const int steps = 2000;
      const double h = t / steps;
      for (int i = 0; i < steps; ++i) {  // Simpson's rule
        for (const auto& [share, weight] : {std::pair{0.0, 1.0}, {0.5, 4.0}, {1.0, 1.0}}) {
          const double s = h * (i + share);
          const dvec3 turned = rotation_exp(w * s) * v;
          r1 += h / 6.0 * weight * turned;
          r2 += h / 6.0 * weight * s * turned;
        }
      }
      EXPECT_LT(glm::length(dis_r1(w, t, v) - r1), 1e-11) << rate;
      EXPECT_LT(glm::length(dis_r2(w, t, v) - r2), 1e-11) << rate;
    }
  }
}

TEST(DisModels, SeriesAndClosedFormAgreeWhereTheyMeet) {
  const dvec3 v{1, 2, 3};
  for (const double gap : {1e-9, 1e-7}) {
    const dvec3 below = dis_r2(dvec3(0, 0, 1 - gap), 1.0, v);
    const dvec3 above = dis_r2(dvec3(0, 0, 1 + gap), 1.0, v);
    EXPECT_LT(glm::length(above - below), 4 * gap + 1e-14);
  }
}

// The equations of motion, integrated by Runge-Kutta: q' = q w/2, and V_b' = A_b or V' = A.
DisState integrated(Model model, DisState s, double dt, int steps) {
  const dvec3 w = uses_angular_velocity(model) ? s.angular_velocity : dvec3(0.0);
  const dvec3 a = uses_acceleration(model) ? s.acceleration : dvec3(0.0);
  const dvec3 v0 = uses_velocity(model) ? s.velocity : dvec3(0.0);
  const double h = dt / steps;
  dquat q = s.orientation;
  dvec3 p = s.position;
  const auto q_rate = [&](const dquat& x) { return 0.5 * (x * dquat(0.0, w)); };
  const auto p_rate = [&](const dquat& x, double t) {
    return in_body_axes(model) ? x * (v0 + a * t) : v0 + a * t;
  };
  for (int i = 0; i < steps; ++i) {
    const double t = i * h;
    const dquat k1 = q_rate(q), k2 = q_rate(q + k1 * (0.5 * h)), k3 = q_rate(q + k2 * (0.5 * h)),
                k4 = q_rate(q + k3 * h);
    const dquat middle = glm::normalize(q + k2 * (0.5 * h));
    const dquat next = glm::normalize(q + (k1 + 2.0 * k2 + 2.0 * k3 + k4) * (h / 6.0));
    p += h / 6.0 * (p_rate(q, t) + 4.0 * p_rate(middle, t + 0.5 * h) + p_rate(next, t + h));
    q = next;
  }
  s.position = p;
  s.orientation = q;
  return s;
}

TEST(DisModels, AllNineMatchNumericalIntegration) {
  TestRandom random(73);
  for (const Model model : kAll) {
    for (int round = 0; round < 5; ++round) {
      const DisState s = random_state(random);
      const double dt = random.between(0.2, 3.0);
      const DisState expected = integrated(model, s, dt, 4000);
      const DisState got = extrapolate(model, s, dt);
      EXPECT_LT(glm::length(got.position - expected.position), 1e-5) << name_of(model);
      EXPECT_LT(angle_apart(got.orientation, expected.orientation), 1e-9) << name_of(model);
    }
  }
}

TEST(DisModels, IgnoresTheFieldsItDoesNotUse) {
  TestRandom random(79);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Model model : kAll) {
    DisState s = random_state(random);
    const State expected = dead_reckon(model, s, 1.3);
    if (!uses_velocity(model)) s.velocity = dvec3(nan);
    if (!uses_acceleration(model)) s.acceleration = dvec3(nan);
    if (!uses_angular_velocity(model)) s.angular_velocity = dvec3(nan);
    const State got = dead_reckon(model, s, 1.3);
    EXPECT_EQ(got.position, expected.position) << name_of(model);
    EXPECT_EQ(got.velocity, expected.velocity) << name_of(model);
    EXPECT_EQ(got.orientation, expected.orientation) << name_of(model);
    EXPECT_TRUE(is_sane(got)) << name_of(model);
  }
  EXPECT_TRUE(uses_acceleration(Model::kFvb) && !uses_angular_velocity(Model::kFvb) &&
              in_body_axes(Model::kFvb));
  EXPECT_TRUE(!uses_acceleration(Model::kRpw) && uses_angular_velocity(Model::kRpw) &&
              !in_body_axes(Model::kRpw));
}

TEST(DisModels, StateContainsTheDerivativesOfThePose) {
  TestRandom random(83);
  const double h = 1e-4;
  for (const Model model : kAll) {
    const DisState s = random_state(random);
    const State at = dead_reckon(model, s, 0.8);
    const DisState before = extrapolate(model, s, 0.8 - h);
    const DisState here = extrapolate(model, s, 0.8);
    const DisState after = extrapolate(model, s, 0.8 + h);
    const dvec3 v = (after.position - before.position) / (2 * h);
    const dvec3 a = (after.position - 2.0 * here.position + before.position) / (h * h);
    const dvec3 w = rotation_log(after.orientation * glm::conjugate(before.orientation)) / (2 * h);
    EXPECT_LT(glm::length(v - dvec3(at.velocity)), 1e-4) << name_of(model);
    EXPECT_LT(glm::length(a - dvec3(at.acceleration)), 1e-3) << name_of(model);
    EXPECT_LT(glm::length(w - dvec3(at.angular_velocity)), 1e-5) << name_of(model);
  }
}

TEST(DisModels, StepsAddUp) {
  TestRandom random(89);
  for (const Model model : kAll) {
    const DisState s = random_state(random);
    const DisState once = extrapolate(model, s, 2.5);
    const DisState twice = extrapolate(model, extrapolate(model, s, 0.7), 1.8);
    EXPECT_LT(glm::length(once.position - twice.position), 1e-10) << name_of(model);
    EXPECT_LT(glm::length(once.velocity - twice.velocity), 1e-12) << name_of(model);
    EXPECT_LT(angle_apart(once.orientation, twice.orientation), 1e-12) << name_of(model);
    const DisState back = extrapolate(model, once, -2.5);
    EXPECT_LT(glm::length(back.position - s.position), 1e-10) << name_of(model);
    EXPECT_LT(angle_apart(back.orientation, s.orientation), 1e-12) << name_of(model);
  }
}

TEST(DisModels, ExtrapolationOverAnHourEqualsManySteps) {
  TestRandom random(97);
  for (const Model model : kAll) {
    DisState s = random_state(random);
    s.acceleration *= 1e-3;
    const DisState once = extrapolate(model, s, 3600.0);
    EXPECT_NEAR(glm::length(once.orientation), 1.0, 1e-15);
    DisState stepped = s;
    for (int i = 0; i < 3600 * 60; ++i)
      stepped = extrapolate(model, stepped, 1.0 / 60.0);
    EXPECT_NEAR(glm::length(stepped.orientation), 1.0, 1e-15);
    EXPECT_LT(angle_apart(stepped.orientation, once.orientation), 1e-9) << name_of(model);
    EXPECT_LT(glm::length(stepped.position - once.position), 1e-5) << name_of(model);
  }
  // A steady turn follows a circle, and is still on it after an hour.
  DisState car;
  car.velocity = {20, 0, 0};
  car.angular_velocity = {0, 0, 0.5};
  const dvec3 centre{0, 40, 0};
  EXPECT_NEAR(glm::length(extrapolate(Model::kRpb, car, 3600.0).position - centre), 40.0, 1e-9);
}

TEST(DisModels, FixedBodyModelsMoveStraightHoweverTheBodySpins) {
  DisState s = published();
  s.position = dvec3(0.0);
  EXPECT_LT(glm::length(extrapolate(Model::kFpb, s, 2.0).position - s.orientation * (2.0 * s.velocity)),
            1e-12);
  EXPECT_LT(glm::length(extrapolate(Model::kFvb, s, 2.0).position -
                        s.orientation * (2.0 * s.velocity + 2.0 * s.acceleration)),
            1e-12);
}

TEST(DisModels, UnusualOrientations) {
  DisState s;
  s.velocity = {1, 0, 0};
  s.orientation = dquat(0, 0, 0, 0);
  EXPECT_EQ(extrapolate(Model::kFpb, s, 2.0).position, dvec3(2, 0, 0));
  s.orientation = 3.0 * rotation_exp({0, 0, 1});
  EXPECT_NEAR(glm::length(extrapolate(Model::kStatic, s, 2.0).orientation), 1.0, 1e-15);
}

TEST(DisModels, EulerAnglesRoundTrip) {
  for (double psi = -175; psi <= 175; psi += 35) {
    for (double theta = -89; theta <= 89; theta += 17.8) {
      for (double phi = -170; phi <= 170; phi += 34) {
        const EulerAngles e =
            euler_angles_of(orientation_of(EulerAngles{psi * kDegree, theta * kDegree, phi * kDegree}));
        EXPECT_NEAR(e.psi / kDegree, psi, 1e-9);
        EXPECT_NEAR(e.theta / kDegree, theta, 1e-9);
        EXPECT_NEAR(e.phi / kDegree, phi, 1e-9);
      }
    }
  }
  for (const double theta : {90.0, -90.0}) {
    const dquat q = orientation_of(EulerAngles{30 * kDegree, theta * kDegree, 50 * kDegree});
    const EulerAngles e = euler_angles_of(q);
    EXPECT_NEAR(e.theta / kDegree, theta, 1e-6);
    EXPECT_EQ(e.phi, 0.0);
    EXPECT_LT(angle_apart(orientation_of(e), q), 1e-7);
  }
}

TEST(DisModels, NamesRoundTrip) {
  for (const Model model : kAll)
    EXPECT_EQ(dead_reckoning_model(name_of(model)), model);
  EXPECT_EQ(name_of(Model::kRvb), "rvb");
  EXPECT_FALSE(dead_reckoning_model("quadratic"));
  EXPECT_FALSE(dead_reckoning_model(""));
  EXPECT_EQ(name_of(static_cast<Model>(0)), "unknown");
}

}  // namespace
}  // namespace reckoner
