// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/gap_fit.hpp"

#include "reckoning/src/blend/interpolate.hpp"
#include "reckoning/src/motion/rotation.hpp"
#include "scenario/builtin/random.hpp"

#include <cmath>
#include <functional>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr double kTickRateHz = 60.0;
constexpr double kTickS = 1.0 / kTickRateHz;
constexpr double kLongestGapS = 0.5;
using Path = std::function<glm::dvec3(double)>;

// A body on a path. The GapFit receives the body's positions. As in many games, the velocities are
// differences to the last tick.
class Body {
 public:
  explicit Body(Path path, double longest_gap_s = kLongestGapS)
      : fit(kTickRateHz), longest_gap_s_(longest_gap_s), path_(std::move(path)) {}

  State step() {
    ++tick_;
    State state;
    state.position = path_(now_s());
    state.velocity = glm::vec3{(state.position - path_(now_s() - kTickS)) * kTickRateHz};
    fit.observe(state);
    return truth = state;
  }

  // Runs for `ticks` ticks, publishes every `gap` ticks, and keeps the last publish in `published`.
  void run(int ticks, int gap) {
    for (int i = 1; i <= ticks; ++i) {
      step();
      if (i % gap != 0) continue;
      fit.learn(gap * kTickS);
      published = {fit.smoothed(truth), now_s()};
    }
  }

  [[nodiscard]] double now_s() const { return tick_ * kTickS; }
  [[nodiscard]] GapFit::GapError worst_error() const {
    return fit.worst_error(published, truth, now_s(), longest_gap_s_);
  }

  GapFit fit;
  State truth;
  Motion published;

 private:
  double longest_gap_s_;
  Path path_;
  int tick_ = 0;
};

glm::dvec3 curve(double t) {
  return {10.0 * std::sin(2.0 * t), 4.0 * std::cos(3.0 * t), 0.5 * t};
}

TEST(GapFit, EstimatesTheInterpolationError) {
  Body body(curve);
  body.run(240, 6);
  for (int i = 0; i < 28; ++i)
    body.step();
  Motion now{body.fit.smoothed(body.truth), body.now_s()};
  now.state.acceleration = *body.fit.bend(body.published, body.truth, body.now_s());
  now.transition.bends = true;
  double worst = 0.0;
  for (int j = 1; j < 28; ++j) {
    const double then_s = body.now_s() - j * kTickS;
    worst = std::max(worst, glm::distance(interpolate_position(body.published, now, then_s), curve(then_s)));
  }
  EXPECT_GT(worst, 0.001);
  EXPECT_NEAR(body.worst_error().m, worst, 0.1 * worst);
}

TEST(GapFit, BendingRemovesMostOfTheError) {
  Body body(curve);
  body.run(240, 6);
  for (int i = 0; i < 18; ++i)
    body.step();
  const Motion cubic{body.fit.smoothed(body.truth), body.now_s()};
  double worst = 0.0;
  for (int j = 1; j < 18; ++j) {
    const double then_s = body.now_s() - j * kTickS;
    worst =
        std::max(worst, glm::distance(interpolate_position(body.published, cubic, then_s), curve(then_s)));
  }
  EXPECT_LT(body.worst_error().m, 0.4 * worst);
}

// A body that flies to the right until it is hit, and then to the left.
Body hit_body(double hit_s) {
  return Body([hit_s](double t) { return glm::dvec3{5.0 * (t < hit_s ? t : 2.0 * hit_s - t), 0.0, 0.0}; });
}

TEST(GapFit, FindsSuddenChangesAfterAPublish) {
  constexpr GapFit::GapError kAllowed{0.01, 0.01};
  const auto is_sudden = [&](const Body& body) {
    return body.fit.is_sudden(body.published, body.truth, body.now_s(), 0.15, kAllowed);
  };
  Body body = hit_body(120.0 * kTickS);  // at the last publish of run()
  body.run(120, 6);
  for (int i = 0; i < 4; ++i)
    body.step();
  EXPECT_TRUE(is_sudden(body));
  Motion now{body.fit.smoothed(body.truth), body.now_s()};
  now.transition.sudden = true;
  for (int j = 1; j < 4; ++j) {
    const glm::dvec3 shown = interpolate_position(body.published, now, body.now_s() - j * kTickS);
    EXPECT_NEAR(shown.x, 5.0 * (116.0 + j) * kTickS, 1e-3);
  }
  for (int i = 0; i < 8; ++i)
    body.step();
  EXPECT_FALSE(is_sudden(body)) << "clients may have extrapolated";

  Body late = hit_body(122.5 * kTickS);
  late.run(120, 6);
  for (int i = 0; i < 4; ++i)
    late.step();
  EXPECT_FALSE(is_sudden(late)) << "the velocity of the last publish was right for half of the gap";
  Body smooth(curve);
  smooth.run(240, 6);
  for (int i = 0; i < 6; ++i) {
    smooth.step();
    EXPECT_FALSE(is_sudden(smooth));
  }
}

TEST(GapFit, DoesNotBendOverShortOrUnknownGaps) {
  Body body(curve);
  body.run(240, 6);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(body.fit.bend(body.published, body.truth, body.now_s()));
    body.step();
  }
  EXPECT_TRUE(body.fit.bend(body.published, body.truth, body.now_s()));
  body.fit.restart();
  EXPECT_FALSE(body.fit.bend(body.published, body.truth, body.now_s()));
}

TEST(GapFit, ErrorStartsAtZeroAndGrowsWithTheGap) {
  Body body(curve);
  body.run(240, 6);
  EXPECT_LT(body.worst_error().m, 1e-6);
  body.step();
  EXPECT_LT(body.worst_error().m, 1e-3);
  double last = 0.0;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 5; ++j)
      body.step();
    EXPECT_GT(body.worst_error().m, last);
    last = body.worst_error().m;
  }
}

TEST(GapFit, DetourCountsEvenIfThePredictionIsRightAgain) {
  // A detour to both sides and back within the gap: afterwards the old prediction is right again, but
  // interpolation is not.
  const auto detour = [](double t) {
    const double u = std::clamp((t - 4.0) / 0.25, 0.0, 1.0);
    const double side = std::sin(12.566370614359172 * u);
    return glm::dvec3{5.0 * t, 2.0 * std::pow(4.0 * u * (1.0 - u), 3.0) * side, 0.0};
  };
  Body body(detour);
  body.run(240, 6);
  for (int i = 0; i < 15; ++i)
    body.step();
  EXPECT_LT(glm::distance(state_at(body.published, body.now_s()).position, body.truth.position), 0.1);
  EXPECT_GT(body.worst_error().m, 1.0);
}

TEST(GapFit, PredictionCountsBeyondTheLongestGap) {
  // The body has a steady acceleration, which a cubic follows exactly. But the published motion has no
  // acceleration.
  Body body([](double t) { return glm::dvec3{2.0 * t * t, 0.0, 0.0}; }, 0.15);
  body.run(240, 6);
  for (int i = 0; i < 8; ++i)
    body.step();
  EXPECT_LT(body.worst_error().m, 0.01);
  body.step();  // the ninth tick: 0.15 s
  EXPECT_NEAR(body.worst_error().m, 2.0 * 0.15 * 0.15, 0.02);
}

TEST(GapFit, RotationCountsToo) {
  GapFit fit(kTickRateHz);
  Motion published;
  State truth;
  for (int i = 1; i <= 10; ++i) {
    truth.orientation = glm::quat{rotation_exp({0.0, 0.0, i < 5 ? 0.1 * i : 0.1 * (10 - i)})};
    fit.observe(truth);
  }
  EXPECT_GT(fit.worst_error(published, truth, 10 * kTickS, kLongestGapS).rad, 0.4);
}

TEST(GapFit, LearnsToCorrectTheLagOfDifferencedVelocities) {
  Body body(curve);
  body.run(600, 6);
  const double t = body.now_s();
  const glm::dvec3 exact = (curve(t + 1e-5) - curve(t - 1e-5)) / 2e-5;
  const double given = glm::distance(glm::dvec3{body.truth.velocity}, exact);
  const State smoothed = body.fit.smoothed(body.truth);
  EXPECT_LT(glm::distance(glm::dvec3{smoothed.velocity}, exact), 0.3 * given);
  EXPECT_LT(glm::distance(smoothed.position, body.truth.position), 1e-9);  // there is nothing to smooth
}

TEST(GapFit, LearnsToAverageNoise) {
  scenario::Random random(7);
  std::vector<glm::dvec3> noise(3000);
  for (glm::dvec3& n : noise)
    n = 0.01 * glm::dvec3{random.normal(), random.normal(), random.normal()};
  const auto noisy = [&](double t) {
    return curve(0.2 * t) + noise[static_cast<std::size_t>(std::lround(t * kTickRateHz)) % noise.size()];
  };
  Body body(noisy);
  body.run(600, 6);
  double given = 0.0;
  double smoothed = 0.0;
  for (int i = 0; i < 600; ++i) {
    body.run(6, 6);
    const double t = body.now_s();
    const glm::dvec3 exact = (curve(0.2 * (t + 1e-5)) - curve(0.2 * (t - 1e-5))) / 2e-5;
    given += glm::distance(glm::dvec3{body.truth.velocity}, exact);
    smoothed += glm::distance(glm::dvec3{body.published.state.velocity}, exact);
  }
  EXPECT_LT(smoothed, 0.5 * given);
}

TEST(GapFit, KnowsSteadyMotion) {
  const GapFit::GapError slack{.m = 0.001, .rad = 0.001};
  Body straight{[](double t) { return glm::dvec3{3.0 * t, -t, 0.5}; }};
  EXPECT_FALSE(straight.fit.is_steady(0.13, slack));  // knows nothing yet
  straight.run(30, 10);
  EXPECT_TRUE(straight.fit.is_steady(0.13, slack));
  Body falling{[](double t) { return glm::dvec3{3.0 * t, 0.0, -5.0 * t * t}; }};
  falling.run(30, 10);
  EXPECT_FALSE(falling.fit.is_steady(0.13, slack));
}

TEST(GapFit, LeavesAnEntityAtRestUnchanged) {
  scenario::Random random(3);
  Body body([&](double t) {
    return t < 3.0 ? glm::dvec3{0.02 * random.normal(), 0.0, 0.0} : glm::dvec3{1.0, 2.0, 3.0};
  });
  body.run(200, 4);
  const State rest = body.fit.smoothed(body.truth);
  EXPECT_EQ(rest.position, (glm::dvec3{1.0, 2.0, 3.0}));
  EXPECT_EQ(rest.velocity, glm::vec3{0.0f});
}

TEST(GapFit, ForgetsThePathAtATeleport) {
  Body body([](double t) { return t < 3.99 ? curve(t) : curve(t) + glm::dvec3{500.0, 0.0, 0.0}; });
  body.run(239, 6);
  body.fit.restart();
  const glm::vec3 velocity = body.truth.velocity;  // continues as before, at another position
  body.published = {body.step(), body.now_s(), 1};
  body.published.state.velocity = velocity;
  for (int i = 0; i < 6; ++i)
    body.step();
  EXPECT_LT(body.worst_error().m, 0.2);
  EXPECT_LT(glm::length(body.fit.smoothed(body.truth).velocity), 40.0f);
}

// A turning head with a noisy tracker. The angular velocity over the last tick is as noisy.
class Head {
 public:
  Head(std::uint64_t seed, double noise_rad) : fit(kTickRateHz), random_(seed), noise_rad_(noise_rad) {}

  static glm::dquat really(double t) {
    return rotation_exp({0.6 * std::sin(1.7 * t), 0.3 * std::sin(2.3 * t + 1.0), 0.9 * std::sin(1.1 * t)});
  }

  State step() {
    ++tick_;
    const auto noise = [&] { return noise_rad_ * random_.normal(); };
    State state;
    state.orientation = glm::quat{rotation_exp({noise(), noise(), noise()}) * really(now_s())};
    const glm::dquat step =
        glm::normalize(glm::dquat{state.orientation} * glm::conjugate(glm::dquat{truth.orientation}));
    state.angular_velocity = glm::vec3{rotation_log(step) * kTickRateHz};
    fit.observe(state);
    return truth = state;
  }
  [[nodiscard]] double now_s() const { return tick_ * kTickS; }

  GapFit fit;
  State truth;

 private:
  scenario::Random random_;
  double noise_rad_;
  int tick_ = 0;
};

// Root mean square error (rad) of the interpolated orientation between publishes: with the learned angular
// velocity, and with the given one.
struct RotationErrors {
  double learned_rad = 0.0;
  double given_rad = 0.0;
};
RotationErrors turned(std::uint64_t seed, double noise_rad, int gap) {
  Head head(seed, noise_rad);
  Motion learned, said;
  RotationErrors sum;
  int count = 0;
  for (int i = 1; i <= 1200; ++i) {
    head.step();
    if (i % gap != 0) continue;
    head.fit.learn(gap * kTickS);
    const Motion learned_now{head.fit.smoothed(head.truth), head.now_s()};
    const Motion said_now{head.truth, head.now_s()};
    for (int j = 1; i > 600 && j < gap; ++j, ++count) {
      const double then_s = head.now_s() - j * kTickS;
      const glm::quat really{Head::really(then_s)};
      const auto square = [](double x) { return x * x; };
      sum.learned_rad += square(angle_between(interpolate(learned, learned_now, then_s).orientation, really));
      sum.given_rad += square(angle_between(interpolate(said, said_now, then_s).orientation, really));
    }
    learned = learned_now;
    said = said_now;
  }
  return {std::sqrt(sum.learned_rad / count), std::sqrt(sum.given_rad / count)};
}

TEST(GapFit, LearnsTheBestOrientationForInterpolation) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const int gap : {4, 6, 9}) {
      const RotationErrors noisy = turned(seed, 0.004, gap);
      EXPECT_LT(noisy.learned_rad, 0.8 * noisy.given_rad) << seed << " " << gap;
      EXPECT_LT(noisy.learned_rad, 0.01);
      const RotationErrors exact = turned(seed, 0.0, gap);
      EXPECT_LT(exact.learned_rad, exact.given_rad) << seed << " " << gap;  // an average over the last tick
    }
  }
}

// If the wheel turns by half a turn or more within a gap, the direction is ambiguous. The game's angular
// velocity decides.
TEST(GapFit, FastWheelKeepsTheGamesAngularVelocity) {
  for (const double rate_rps : {5.0, 20.0, 25.0, 30.0, 60.0, 400.0}) {
    GapFit fit(kTickRateHz);
    State wheel;
    wheel.angular_velocity = {0.0f, static_cast<float>(rate_rps), 0.0f};
    for (int i = 1; i <= 600; ++i) {
      wheel.orientation = glm::quat{rotation_exp({0.0, rate_rps * i * kTickS, 0.0})};
      fit.observe(wheel);
      if (i % 8 == 0) fit.learn(8 * kTickS);
    }
    const State given = fit.smoothed(wheel);
    EXPECT_LT(glm::distance(given.angular_velocity, wheel.angular_velocity), 0.01 * rate_rps) << rate_rps;
    EXPECT_LT(angle_between(given.orientation, wheel.orientation), 0.01) << rate_rps;
  }
}

TEST(GapFit, LeavesAnEntityWithoutRotationUnchanged) {
  Head head(1, 0.004);
  for (int i = 1; i <= 600; ++i) {
    head.step();
    if (i % 6 == 0) head.fit.learn(6 * kTickS);
  }
  State still = head.truth;
  still.angular_velocity = glm::vec3{0.0f};
  head.fit.observe(still);
  EXPECT_EQ(head.fit.smoothed(still).orientation, still.orientation);
  EXPECT_EQ(head.fit.smoothed(still).angular_velocity, still.angular_velocity);
}

TEST(GapFit, OtherTickRatesAndLongGapsAreSafe) {
  for (const double rate_hz : {1.0, 10.0, 20.0, 128.0, 1000.0}) {
    GapFit fit(rate_hz);
    Motion published;
    for (int i = 1; i <= 300; ++i) {
      const double t = i / rate_hz;
      State truth;
      truth.position = curve(t);
      truth.velocity = glm::vec3{(curve(t) - curve(t - 1.0 / rate_hz)) * rate_hz};
      truth.orientation = glm::quat{rotation_exp({0.0, 3.0 * t, 0.0})};
      truth.angular_velocity = {0.0f, 3.0f, 0.0f};
      fit.observe(truth);
      const GapFit::GapError worst_error = fit.worst_error(published, truth, t, 0.15);
      EXPECT_TRUE(std::isfinite(worst_error.m) && std::isfinite(worst_error.rad));
      if (i % 70 == 0) {
        fit.learn(t - published.time_s);
        published = {fit.smoothed(truth), t};
        EXPECT_TRUE(is_sane(published.state));
      }
    }
  }
}

}  // namespace
}  // namespace reckoner
