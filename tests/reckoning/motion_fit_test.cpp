// SPDX-License-Identifier: MIT
#include "reckoning/src/prediction/motion_fit.hpp"

#include "uniform.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

using test::Uniform;

constexpr double kTickRateHz = 60.0;

// Feeds a path (a function of time) to the fit as a game would, with velocities from differences.
template <class Path>
State feed(MotionFit& fit, Path path, double from_s, double to_s) {
  State state;
  const auto ticks = static_cast<int>(std::lround((to_s - from_s) * kTickRateHz));
  for (int k = 0; k < ticks; ++k) {
    const double t = from_s + k / kTickRateHz;
    const double dt = 1.0 / kTickRateHz;
    state.position = path(t);
    state.velocity = glm::vec3{(path(t) - path(t - dt)) / dt};
    state.acceleration = glm::vec3{(path(t) - 2.0 * path(t - dt) + path(t - 2.0 * dt)) / (dt * dt)};
    fit.observe(state);
  }
  return state;
}

// Distance (m) between the published quadratic at the horizon and the true position there.
template <class Path>
double miss(const MotionFit& fit, const State& truth, Path path, double now_s) {
  const State ahead = extrapolate(fit.fitted(truth), fit.horizon_s());
  return glm::length(ahead.position - path(now_s + fit.horizon_s()));
}

TEST(MotionFit, PositionAndVelocityStayTrue) {
  MotionFit fit{kTickRateHz};
  const auto path = [](double t) { return glm::dvec3{5.0 * std::sin(t), 3.0 * t, 0.0}; };
  const State truth = feed(fit, path, 0.0, 3.0);
  const State fitted = fit.fitted(truth);
  EXPECT_EQ(fitted.position, truth.position);
  EXPECT_EQ(fitted.velocity, truth.velocity);
  EXPECT_EQ(fitted.orientation, truth.orientation);
}

TEST(MotionFit, FollowsUniformMotionAndFreeFall) {
  const auto straight = [](double t) { return glm::dvec3{4.0 * t, -2.0 * t, 1.0}; };
  const auto fall = [](double t) { return glm::dvec3{4.0 * t, 0.0, 100.0 + 10.0 * t - 4.905 * t * t}; };
  MotionFit first{kTickRateHz};
  EXPECT_LT(miss(first, feed(first, straight, 0.0, 2.0), straight, 2.0 - 1.0 / kTickRateHz), 0.001);
  MotionFit second{kTickRateHz};
  EXPECT_LT(miss(second, feed(second, fall, 0.0, 2.0), fall, 2.0 - 1.0 / kTickRateHz), 0.05);
}

// An oscillating body: constant velocity and constant acceleration both miss, the learned prediction must
// not.
TEST(MotionFit, LearnsAnEntitysOwnPrior) {
  const auto swing = [](double t) { return glm::dvec3{2.0 * std::sin(6.0 * t), 0.0, 0.0}; };
  MotionFit fit{kTickRateHz};
  State truth = feed(fit, swing, 0.0, 30.0);
  double learned = 0.0;
  double by_velocity = 0.0;
  double by_acceleration = 0.0;
  for (int k = 0; k < 60; ++k) {
    const double now = 30.0 + k / kTickRateHz;
    truth = feed(fit, swing, now, now + 1.0 / kTickRateHz);
    learned += miss(fit, truth, swing, now);
    const glm::dvec3 target = swing(now + fit.horizon_s());
    State plain = truth;
    by_acceleration += glm::length(extrapolate(plain, fit.horizon_s()).position - target);
    plain.acceleration = glm::vec3{0.0f};
    by_velocity += glm::length(extrapolate(plain, fit.horizon_s()).position - target);
  }
  EXPECT_LT(learned, 0.1 * by_velocity);
  EXPECT_LT(learned, 0.2 * by_acceleration);
}

TEST(MotionFit, TeleportClearsTheHistoryButNotTheLearnedPrior) {
  const auto swing = [](double t) { return glm::dvec3{2.0 * std::sin(6.0 * t), 0.0, 0.0}; };
  const auto elsewhere = [&](double t) { return swing(t) + glm::dvec3{500.0, 0.0, 0.0}; };
  MotionFit fit{kTickRateHz};
  feed(fit, swing, 0.0, 30.0);
  fit.restart();
  const State truth = feed(fit, elsewhere, 30.0, 30.5);
  EXPECT_LT(miss(fit, truth, elsewhere, 30.5 - 1.0 / kTickRateHz), 0.2);  // the 500 m have no effect
}

// What was learned from turns must not add a drift to straight motion.
TEST(MotionFit, SteadyVelocityIsExpectedToStay) {
  MotionFit fit{kTickRateHz};
  const auto weave = [](double t) {
    State s;
    s.velocity = {static_cast<float>(3.0 * std::sin(3.0 * t)), 2.0f, 0.0f};
    s.position = {1.0 - std::cos(3.0 * t), 2.0 * t, 0.0};
    return s;
  };
  State s;
  for (int tick = 0; tick < 600; ++tick)
    fit.observe(s = weave(tick / kTickRateHz));
  EXPECT_FALSE(fit.is_steady());
  for (int tick = 0; tick < 12; ++tick) {
    s.position += glm::dvec3{s.velocity} / kTickRateHz;
    fit.observe(s);
  }
  EXPECT_TRUE(fit.is_steady());
  EXPECT_EQ(fit.fitted(s).acceleration, glm::vec3{0.0f});
}

TEST(MotionFit, RestIsFittedAsRest) {
  MotionFit fit{kTickRateHz};
  const auto stop = [](double t) { return glm::dvec3{std::min(t, 3.0), 0.0, 0.0}; };
  const State truth = feed(fit, stop, 0.0, 4.0);
  const State fitted = fit.fitted(truth);
  EXPECT_EQ(fitted.velocity, glm::vec3{0.0f});
  EXPECT_EQ(fitted.acceleration, glm::vec3{0.0f});
  EXPECT_EQ(fitted.angular_velocity, glm::vec3{0.0f});
}

// A server that keeps resting entities on a separate list relies on this.
TEST(MotionFit, TicksOfRestMayBeSkippedOnceSettled) {
  const auto swing = [](double t) { return glm::dvec3{2.0 * std::sin(6.0 * t), t < 5.0 ? t : 5.0, 0.0}; };
  const auto stopped = [&](double t) { return swing(std::min(t, 10.0)); };
  MotionFit kept{kTickRateHz};
  feed(kept, stopped, 0.0, 10.0);
  EXPECT_FALSE(kept.settled());
  feed(kept, stopped, 10.0, 12.0);
  EXPECT_TRUE(kept.settled());
  MotionFit skipping = kept;
  feed(kept, stopped, 12.0, 500.0);

  const auto again = [&](double t) { return swing(10.0) + glm::dvec3{1.0 - std::cos(t - 500.0), 0.0, 0.0}; };
  for (int k = 1; k < 300; ++k) {
    const double now = 500.0 + k / kTickRateHz;
    const State a = feed(kept, again, now, now + 1.0 / kTickRateHz);
    feed(skipping, again, now, now + 1.0 / kTickRateHz);
    ASSERT_EQ(kept.fitted(a).acceleration, skipping.fitted(a).acceleration);
    ASSERT_FALSE(kept.settled());
  }
}

// A bounce does not reveal the acceleration, although differences across it reach a hundred m/s^2. Two ticks
// later the fit is as good as velocity alone, and one publish later it is better.
TEST(MotionFit, BounceIsForgottenAtOnce) {
  constexpr double kHeightM = 2.0, kGravity = 9.81;
  const double flight_s = 2.0 * std::sqrt(2.0 * kHeightM / kGravity);
  const auto ball = [&](double t) {
    const double u = std::fmod(t + 0.5 * flight_s, flight_s) - 0.5 * flight_s;
    return glm::dvec3{2.0 * t, 0.0, kHeightM - 0.5 * kGravity * u * u};
  };
  MotionFit fit{kTickRateHz};
  feed(fit, ball, 0.0, 5.0);
  double soon_m = 0.0, soon_by_velocity_m = 0.0, later_m = 0.0, later_by_velocity_m = 0.0;
  for (int k = 0; k < 1200; ++k) {
    const double now = 5.0 + k / kTickRateHz;
    const State truth = feed(fit, ball, now, now + 1.0 / kTickRateHz);
    State steady = truth;
    steady.acceleration = glm::vec3{0.0f};
    const double by_velocity_m =
        glm::length(extrapolate(steady, fit.horizon_s()).position - ball(now + fit.horizon_s()));
    const double since = std::fmod(now - 0.5 * flight_s, flight_s) * kTickRateHz;
    const bool soon = since >= 2.0 && since < 6.0, later = since >= 12.0 && since < 30.0;
    if (soon) soon_m += miss(fit, truth, ball, now), soon_by_velocity_m += by_velocity_m;
    if (later) later_m += miss(fit, truth, ball, now), later_by_velocity_m += by_velocity_m;
  }
  EXPECT_LT(soon_m, 1.15 * soon_by_velocity_m);
  EXPECT_LT(later_m, 0.7 * later_by_velocity_m);
}

// The longer clients use an update, the longer the horizon becomes. The learned prior follows.
TEST(MotionFit, HorizonFollowsTheAgeOfUpdates) {
  double before_s = 0.0;
  for (const double updates_per_second : {60.0, 10.0, 6.0, 4.0, 1.0}) {
    const double horizon_s = MotionFit::horizon_for(updates_per_second, 0.03);
    EXPECT_GE(horizon_s, before_s);
    before_s = horizon_s;
    const auto swing = [](double t) { return glm::dvec3{2.0 * std::sin(4.0 * t), 0.0, 0.0}; };
    MotionFit fit{kTickRateHz, horizon_s};
    EXPECT_NEAR(fit.horizon_s(), horizon_s, 0.5 / kTickRateHz);
    const State truth = feed(fit, swing, 0.0, 30.0);
    EXPECT_LT(miss(fit, truth, swing, 30.0 - 1.0 / kTickRateHz), 0.05);
  }
  EXPECT_GT(before_s, 1.5 * MotionFit::horizon_for(60.0, 0.03));
  before_s = 0.0;
  for (const double delay_s : {0.001, 0.03, 0.06, 0.1, 0.2, 3.0}) {
    const double horizon_s = MotionFit::horizon_for(10.0, delay_s);
    EXPECT_GE(horizon_s, before_s);
    before_s = horizon_s;
  }
  EXPECT_GT(before_s, 1.5 * MotionFit::horizon_for(10.0, 0.001));
  EXPECT_EQ(MotionFit::horizon_for(0.0, 0.0), MotionFit::kTypicalHorizonS)
      << "unknown values use the typical horizon";
}

// After a prior was learned, the link turns out to be faster or slower than assumed. The prior is still much
// better than velocity alone, and adapts in time.
TEST(MotionFit, LearnedPriorCarriesOverToAnotherHorizon) {
  const auto swing = [](double t) {
    return glm::dvec3{2.0 * std::sin(4.0 * t), std::cos(5.0 * t), 0.3 * std::sin(9.0 * t)};
  };
  struct FitErrors {
    double by_fit_m = 0.0, by_velocity_m = 0.0;
  };
  const auto off = [&](MotionFit& fit, double from_s, double to_s) {
    FitErrors sum;
    for (double t = from_s; t < to_s; t += 1.0 / kTickRateHz) {
      const State truth = feed(fit, swing, t, t + 1.0 / kTickRateHz);
      State steady = truth;
      steady.acceleration = glm::vec3{0.0f};
      const double later_s = t + fit.horizon_s();
      sum.by_fit_m += miss(fit, truth, swing, t);
      sum.by_velocity_m += glm::length(extrapolate(steady, fit.horizon_s()).position - swing(later_s));
    }
    return sum;
  };
  for (const double to_s : {0.12, 0.15, 0.22, 0.27}) {
    MotionFit aimed{kTickRateHz};
    feed(aimed, swing, 0.0, 20.0);
    aimed.change_horizon(to_s);
    EXPECT_NEAR(aimed.horizon_s(), to_s, 0.5 / kTickRateHz);
    const FitErrors at_once = off(aimed, 20.0, 21.0);
    EXPECT_LT(at_once.by_fit_m, 0.25 * at_once.by_velocity_m) << to_s;
    feed(aimed, swing, 21.0, 80.0);
    const FitErrors later = off(aimed, 80.0, 100.0);
    EXPECT_LT(later.by_fit_m, 0.01 * later.by_velocity_m) << to_s;
  }
}

// Delays that are measured every second vary slightly.
TEST(MotionFit, SmallChangesOfTheHorizonHaveNoEffect) {
  const auto swing = [](double t) { return glm::dvec3{2.0 * std::sin(4.0 * t), 0.0, 0.0}; };
  MotionFit fit{kTickRateHz}, other{kTickRateHz};
  State truth;
  for (int i = 0; i < 100; ++i) {
    truth = feed(fit, swing, 0.1 * i, 0.1 * i + 0.1);
    feed(other, swing, 0.1 * i, 0.1 * i + 0.1);
    other.change_horizon(MotionFit::kTypicalHorizonS + 0.02 * std::sin(i));
  }
  EXPECT_EQ(fit.fitted(truth).acceleration, other.fitted(truth).acceleration);
}

// Over any link, at rest or moving, at any time: the result is finite, and an entity at rest stays at rest.
TEST(MotionFit, HorizonMayChangeAtAnyTime) {
  const auto hop = [](double t) {
    const double since = std::fmod(t, 3.0);  // moves for a second, rests for two
    return glm::dvec3{since < 1.0 ? std::sin(3.14159265 * since) : 0.0, 0.0, 0.0};
  };
  MotionFit fit{kTickRateHz};
  for (int i = 0; i < 600; ++i) {
    const State truth = feed(fit, hop, 0.1 * i, 0.1 * i + 0.1);
    fit.change_horizon(0.12 + 0.15 * std::fmod(0.618034 * i, 1.0));
    const State given = fit.fitted(truth);
    ASSERT_TRUE(std::isfinite(glm::length(given.acceleration)));
    ASSERT_LT(glm::length(given.acceleration), 200.0f);
    if (fit.settled()) {
      ASSERT_EQ(glm::length(given.acceleration), 0.0f);
    }
  }
}

TEST(MotionFit, IsSmall) {
  EXPECT_LE(sizeof(MotionFit), 2048u);
}

// Checks that a prior is learned at any tick rate.
TEST(MotionFit, LearnsAtAnyTickRate) {
  for (const double rate_hz : {10.0, 20.0, 30.0, 128.0, 1000.0}) {
    MotionFit fit{rate_hz};
    EXPECT_NEAR(fit.horizon_s(), 0.18, 0.03);
    const auto swing = [](double t) { return glm::dvec3{2.0 * std::sin(6.0 * t), 0.0, 0.0}; };
    double off = 0.0;
    double by_velocity = 0.0;
    for (int k = 1; k < 60.0 * rate_hz; ++k) {
      const double t = k / rate_hz;
      State truth;
      truth.position = swing(t);
      truth.velocity = glm::vec3{(swing(t) - swing(t - 1.0 / rate_hz)) * rate_hz};
      fit.observe(truth);
      if (t < 55.0) continue;
      const glm::dvec3 target = swing(t + fit.horizon_s());
      off += glm::length(extrapolate(fit.fitted(truth), fit.horizon_s()).position - target);
      by_velocity += glm::length(extrapolate(truth, fit.horizon_s()).position - target);
    }
    EXPECT_LT(off, 0.2 * by_velocity) << rate_hz;
  }
}

// A body spawns at any speed on any of these paths, and the game gives no velocities. In the first second,
// the fit misses by no more than the worse of the two simple predictors.
TEST(MotionFit, NewEntityIsNeverPredictedWorseThanByBothSimplePredictors) {
  constexpr double kShare = 1.05;
  constexpr double kMinM = 0.01;
  Uniform next;
  for (int round = 0; round < 300; ++round) {
    const double rate_hz = round % 3 == 0 ? 20.0 : round % 3 == 1 ? 60.0 : 128.0;
    const double radius = 2.0 + 60.0 * std::abs(next()), speed = 80.0 * std::abs(next());
    const double phase = 3.0 * next(), up = 10.0 * next();
    // The body turns no faster than once in two seconds, so that a quadratic can represent its motion.
    const double turn = std::min(speed / radius, 3.14);
    const auto circle = [&](double t) {
      return radius * glm::dvec3{std::cos(turn * t + phase), std::sin(turn * t + phase), 0.0};
    };
    const auto thrown = [&](double t) {
      return glm::dvec3{speed * t, -0.5 * speed * t, up * t - 4.905 * t * t};
    };
    const auto resting = [&](double) { return glm::dvec3{radius, speed, up}; };
    const std::function<glm::dvec3(double)> paths[]{circle, thrown, resting};
    for (const auto& path : paths) {
      MotionFit fit{rate_hz};
      for (int k = 0; k < rate_hz; ++k) {
        const double t = k / rate_hz, dt = 1.0 / rate_hz;
        State truth;
        truth.position = path(t);
        if (k >= 1) truth.velocity = glm::vec3{(path(t) - path(t - dt)) / dt};
        if (k >= 4)
          truth.acceleration =
              glm::vec3{(path(t) - path(t - dt) - path(t - 3.0 * dt) + path(t - 4.0 * dt)) / (3.0 * dt * dt)};
        fit.observe(truth);
        State steady = truth;
        steady.acceleration = glm::vec3{0.0f};
        const auto off = [&](const State& s) {
          return glm::length(extrapolate(s, fit.horizon_s()).position - path(t + fit.horizon_s()));
        };
        ASSERT_LE(off(fit.fitted(truth)), kShare * std::max(off(truth), off(steady)) + kMinM)
            << "after " << t << " s at " << rate_hz << " Hz, " << speed << " m/s, radius " << radius;
      }
    }
  }
}

// Mean error (m) of the fit in the first second of a thrown body. The game provides its velocity from the
// second tick on.
double first_second(const glm::dvec3& speed, const MotionFit::Priors& priors, MotionFit::Priors* after) {
  const auto thrown = [&](double t) { return speed * t - glm::dvec3{0.0, 0.0, 4.905 * t * t}; };
  MotionFit fit{kTickRateHz};
  fit.begin_with(priors);
  double sum = 0.0;
  for (int k = 2; k < 60; ++k) {
    const double now = k / kTickRateHz;
    const State truth = feed(fit, thrown, now, now + 1.0 / kTickRateHz);
    sum += miss(fit, truth, thrown, now) / 58.0;
  }
  if (after != nullptr) *after = fit.priors();
  return sum;
}

TEST(MotionFit, PriorsOfItsArchetypeImproveANewEntity) {
  EXPECT_FALSE(MotionFit{kTickRateHz}.priors().linear);
  MotionFit::Priors of_one;
  const double cold_m = first_second({3.0, -1.0, 4.0}, {}, &of_one);
  ASSERT_TRUE(of_one.linear);
  EXPECT_FALSE(of_one.angular);  // it never turned
  EXPECT_LT(first_second({3.0, -1.0, 4.0}, of_one, nullptr), 0.5 * cold_m);
  // A body that is thrown in another direction.
  EXPECT_LT(first_second({-6.0, 2.0, 1.0}, of_one, nullptr),
            0.5 * first_second({-6.0, 2.0, 1.0}, {}, nullptr));
}

// Priors learned over one link delay are useful over another.
TEST(MotionFit, PriorsHoldForOtherHorizons) {
  const auto thrown = [](double t) { return glm::dvec3{3.0 * t, -t, 4.0 * t - 4.905 * t * t}; };
  MotionFit far{kTickRateHz, 0.27};
  feed(far, thrown, 0.0, 1.0);
  ASSERT_TRUE(far.priors().linear);
  const auto first_second = [&](const MotionFit::Priors& priors) {
    MotionFit fit{kTickRateHz, 0.12};
    fit.begin_with(priors);
    double sum = 0.0;
    for (int k = 2; k < 60; ++k) {
      const double now = k / kTickRateHz;
      const State truth = feed(fit, thrown, now, now + 1.0 / kTickRateHz);
      sum += miss(fit, truth, thrown, now);
    }
    return sum;
  };
  EXPECT_LT(first_second(far.priors()), 0.8 * first_second({}));
}

TEST(MotionFit, NonFinitePriorsAreIgnored) {
  RateFit::Prior spoilt{};
  spoilt.fill(std::numeric_limits<float>::quiet_NaN());
  const glm::dvec3 speed{3.0, -1.0, 4.0};
  EXPECT_EQ(first_second(speed, {spoilt, spoilt}, nullptr), first_second(speed, {}, nullptr));
}

// A path with turns of several lengths.
glm::dvec3 winding(double t) {
  return {20.0 * std::sin(0.7 * t) + 1.5 * std::sin(2.6 * t), 14.0 * std::cos(0.5 * t), std::sin(t)};
}

// Another process continues the fit of an entity: at once with the same prediction, and later with as small
// an error. A prior alone does not say in which direction the entity was turning.
TEST(MotionFit, ContinuesWithTheMemoryOfAnotherProcess) {
  MotionFit old{kTickRateHz, 0.2};
  feed(old, winding, 0.0, 20.0);
  const MotionFit::Memory memory = old.memory();
  ASSERT_TRUE(memory.linear);
  EXPECT_FALSE(memory.angular);  // it never turned
  MotionFit next{kTickRateHz, 0.12};
  next.resume(memory);
  EXPECT_EQ(next.horizon_s(), old.horizon_s());
  MotionFit with_prior{kTickRateHz, old.horizon_s()};
  with_prior.begin_with(old.priors());
  double old_sum = 0.0, next_sum = 0.0, prior_sum = 0.0;
  for (int k = 0; k < 60; ++k) {
    const double now_s = 20.0 + k / kTickRateHz;
    const State truth = feed(old, winding, now_s, now_s + 1.0 / kTickRateHz);
    feed(next, winding, now_s, now_s + 1.0 / kTickRateHz);
    feed(with_prior, winding, now_s, now_s + 1.0 / kTickRateHz);
    if (k == 0) {
      EXPECT_LT(glm::distance(next.fitted(truth).acceleration, old.fitted(truth).acceleration), 0.02f);
    }
    old_sum += miss(old, truth, winding, now_s);
    next_sum += miss(next, truth, winding, now_s);
    prior_sum += miss(with_prior, truth, winding, now_s);
  }
  EXPECT_LT(next_sum, 1.25 * old_sum);  // it learns nothing until a horizon has passed
  EXPECT_GT(prior_sum, 1.5 * old_sum);
  ASSERT_TRUE(next.memory().linear);  // it can be passed on at once
}

TEST(MotionFit, HasNoMemoryBeforeItHasLearned) {
  MotionFit fit{kTickRateHz};
  feed(fit, winding, 0.0, 0.1);
  EXPECT_FALSE(fit.memory().linear);
}

// A memory comes from the network.
TEST(MotionFit, InvalidMemoriesAreIgnoredOrDoNoHarm) {
  MotionFit old{kTickRateHz};
  feed(old, winding, 0.0, 20.0);
  const RateFit::Memory sound = *old.memory().linear;
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -1e5f, 1e5f, 0.0f}) {
    for (std::size_t i = 0; i < sound.size(); ++i) {
      RateFit::Memory spoilt = sound;
      spoilt[i] = bad;
      MotionFit fit{kTickRateHz};
      fit.resume({spoilt, spoilt});
      const State truth = feed(fit, winding, 20.0, 32.0);
      EXPECT_TRUE(std::isfinite(fit.fitted(truth).acceleration.x)) << i << ' ' << bad;
      EXPECT_LE(fit.horizon_s(), 1.01);
    }
  }
  RateFit::Memory nothing{};
  nothing.fill(std::numeric_limits<float>::quiet_NaN());
  MotionFit fresh{kTickRateHz}, spoilt{kTickRateHz};
  spoilt.resume({nothing, nothing});
  EXPECT_EQ(fresh.horizon_s(), spoilt.horizon_s());
}

TEST(MotionFit, RecoversFromAnyInput) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  MotionFit fit{kTickRateHz};
  const auto straight = [](double t) { return glm::dvec3{4.0 * t, -2.0 * t, 1.0}; };
  feed(fit, straight, 0.0, 2.0);
  for (const float bad : {kNaN, kInfinity, -kInfinity, 3e38f, 1e6f}) {
    State state;
    state.position = glm::dvec3{static_cast<double>(bad)};
    state.velocity = glm::vec3{bad};
    state.acceleration = glm::vec3{bad};
    state.angular_velocity = glm::vec3{bad};
    fit.observe(state);
    const State truth = feed(fit, straight, 2.0, 4.0);
    ASSERT_TRUE(is_sane(fit.fitted(truth))) << bad;
  }
}

TEST(MotionFit, WithoutHistoryItKeepsTheVelocity) {
  MotionFit fit{kTickRateHz};
  State state;
  state.velocity = {3.0f, 0.0f, 0.0f};
  fit.observe(state);
  EXPECT_LT(glm::length(fit.fitted(state).acceleration), 1e4f);
  EXPECT_TRUE(is_sane(fit.fitted(state)));
}

}  // namespace
}  // namespace reckoner
