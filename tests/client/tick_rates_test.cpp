// SPDX-License-Identifier: MIT
// The delay of adaptive mode at every tick rate of the server, over every named network.
#include "tests/support/paths.hpp"
#include "tests/support/percentile.hpp"
#include "tests/support/sanitizer.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kFrameHz = 60.0;

ClientConfig adaptive() {
  ClientConfig config;
  config.playout.mode = PlayoutMode::adaptive;
  return config;
}

WorldConfig at_rate(double tick_rate_hz, const harness::LinkPair& links) {
  WorldConfig config{.links = links};
  config.server.tick_rate_hz = tick_rate_hz;
  return config;
}

// What a client showed of a body, after the first seconds.
struct Shown {
  double delay_s = 0.0;  // largest
  double extrapolated =
      0.0;               // share of the frames in which the newest motion was older than the instant shown
  double worst_m = 0.0;  // distance to the truth at the instant shown
  double p95_m = 0.0;
  double step_mps = 0.0;  // largest change of the shown velocity from one picture to the next
};

Shown watch(const WorldConfig& config, const Circle& path, double from_s, double to_s) {
  World world(config);
  const EntityId id = world.add_body(path);
  world.add_client(adaptive());
  Shown result;
  std::vector<double> errors_m;
  std::optional<glm::dvec3> velocity;
  double frames = 0.0;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity>) {
    const ShownEntity* shown = world.shown(0, id);
    if (time_s < from_s || shown == nullptr) return;
    const double delay_s = world.client(0).stats().delay_s;
    result.delay_s = std::max(result.delay_s, delay_s);
    result.extrapolated += shown->age_s > delay_s ? 1.0 : 0.0;
    errors_m.push_back(glm::distance(shown->shown.position, path(shown->shown_time_s).position));
    const glm::dvec3 now{shown->shown.velocity};
    if (velocity) result.step_mps = std::max(result.step_mps, glm::distance(now, *velocity));
    velocity = now;
    ++frames;
  };
  world.run_to(to_s);
  EXPECT_GT(frames, 0.95 * kFrameHz * (to_s - from_s));
  result.extrapolated /= std::max(1.0, frames);
  if (!errors_m.empty()) result.worst_m = std::ranges::max(errors_m);
  result.p95_m = p95(errors_m);
  return result;
}

// So fast that no motion is valid for longer than the gap between two updates.
Circle fast() {
  return {.radius_m = 4.0, .turn_rps = 2.0};
}

// Up to this tick rate, clients wait for every tick. With shorter ticks, a motion is not followed by another
// one as long as its extrapolation is good enough.
constexpr double kWholeGapHz = 9.5;

// Between two ticks nobody knows the path. The cubic between two states of a circle is off by r angle^4 /
// 384.
double largest_error_m(double tick_rate_hz) {
  const double angle = fast().turn_rps / tick_rate_hz;
  return 0.06 + fast().radius_m * angle * angle * angle * angle / 384.0;
}

std::vector<double> rates() {
  std::vector<double> all;
  for (int hz = 1; hz <= 60; hz += kSanitized ? 7 : 1)
    all.push_back(hz);
  for (const double hz : {1.5, 2.4, 3.3, 7.5, 12.5, 29.97, 59.94})
    all.push_back(hz);
  std::ranges::sort(all);
  return all;
}

double length_s(double tick_rate_hz) {
  return std::max(20.0, 40.0 / tick_rate_hz);
}

// Without loss, entities are interpolated at every tick rate, and their velocity is continuous.
TEST(TickRates, EntitiesAreInterpolatedAtEveryRate) {
  const Circle path = fast();
  const double change_mps = path.acceleration() / kFrameHz;
  std::optional<Shown> before;
  for (const double rate_hz : rates()) {
    const double from_s = std::max(4.0, 8.0 / rate_hz);
    const Shown shown = watch(at_rate(rate_hz, network("lan")), path, from_s, from_s + length_s(rate_hz));
    SCOPED_TRACE("at " + std::to_string(rate_hz) + " Hz the delay is " + std::to_string(shown.delay_s));
    if (rate_hz < kWholeGapHz) {
      EXPECT_LT(shown.extrapolated, 0.01);
    }
    EXPECT_LT(shown.step_mps, 3.0 * change_mps);
    EXPECT_LT(shown.worst_m, largest_error_m(rate_hz));
    EXPECT_GT(shown.delay_s, 1.0 / rate_hz);
    EXPECT_LT(shown.delay_s, std::max(0.25, 1.0 / rate_hz + 0.03));
    // One tick more or less in the gap between two updates is the least step that the delay can make.
    const double last_s = before ? before->delay_s : shown.delay_s;
    const bool are_near = !kSanitized;  // the rates are far apart there
    if (are_near) {
      EXPECT_NEAR(shown.delay_s, last_s, std::max(0.1, 1.0 / rate_hz));
    }
    before = shown;
  }
}

TEST(TickRates, EntitiesAreInterpolatedOverEveryNetwork) {
  const Circle path = fast();
  for (const harness::NamedNetwork& named : harness::named_networks()) {
    for (const double rate_hz : rates()) {
      const double from_s = std::max(6.0, 8.0 / rate_hz);
      const Shown shown =
          watch(at_rate(rate_hz, both_ways(named.options)), path, from_s, from_s + length_s(rate_hz));
      SCOPED_TRACE(std::string(named.name) + " at " + std::to_string(rate_hz) + " Hz");
      // An update that is lost comes again after a round trip or a tick. The delay need not cover that.
      const double lost = 0.01 * named.options.loss_percent;
      if (rate_hz < kWholeGapHz) {
        EXPECT_LT(shown.extrapolated, 0.02 + 2.5 * lost);
      }
      if (rate_hz > 4.5 && lost < 0.05) {
        EXPECT_LT(shown.p95_m, lost < 0.01 ? 0.05 : 0.08);
      }
      const double latency_s = 0.001 * named.options.latency_ms;
      const double late_s = latency_s + 0.0035 * named.options.jitter_ms;
      const double gap_s = std::max(0.21, 1.0 / rate_hz);
      EXPECT_GT(shown.delay_s, latency_s + std::max(0.08, 1.0 / rate_hz));
      EXPECT_LT(shown.delay_s, std::min(2.001, late_s + 0.06 + (lost > 0.05 ? 2.1 : 1.0) * gap_s));
    }
  }
}

// A body that flies straight on and turns back every `every_s`. Its updates are rare.
Truth zigzag(double every_s) {
  return [every_s](double t) {
    constexpr double kSpeedMps = 4.0;
    const double at_s = std::fmod(t, 2.0 * every_s);
    const bool back = at_s >= every_s;
    State s;
    s.position = {kSpeedMps * (back ? 2.0 * every_s - at_s : at_s), 0.0, 0.0};
    s.velocity = {static_cast<float>(back ? -kSpeedMps : kSpeedMps), 0.0f, 0.0f};
    return s;
  };
}

// Moves until `until_s` and then stands still.
Truth until(const Truth& path, double until_s) {
  return [path, until_s](double t) {
    State s = path(std::min(t, until_s));
    if (t > until_s) s.velocity = s.acceleration = s.angular_velocity = glm::vec3{0.0f};
    return s;
  };
}

constexpr double kHitchS = 20.0;
constexpr double kHitchLastsS = 1.0;

// The delay shortly before a hitch, and how long after its end the delay is back to that. It varies by 40 ms
// anyway, because gaps are whole ticks.
struct Recovery {
  double before_s = 0.0;
  double largest_s = 0.0;
  double takes_s = 0.0;
};

Recovery recover(const std::string& link, const std::vector<Truth>& bodies, bool server_hangs) {
  constexpr double kWatchS = 60.0;
  WorldConfig config{.links = network(link)};
  const auto latency = [](double latency_ms) { return " latency-ms=" + std::to_string(latency_ms); };
  const double usual_ms = config.links.down.latency_ms;
  if (!server_hangs) {
    config.script = std::to_string(kHitchS) + latency(1000.0 * kHitchLastsS + usual_ms) + "\n" +
                    std::to_string(kHitchS + kHitchLastsS) + latency(usual_ms) + "\n";
  }
  World world(config);
  for (const Truth& body : bodies)
    world.add_body(body);
  world.add_client(adaptive());
  world.run_to(kHitchS);
  Recovery result{.before_s = world.client(0).stats().delay_s};
  if (server_hangs) world.suspend_server(kHitchS + kHitchLastsS);
  const double end_s = kHitchS + kHitchLastsS;
  world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity>) {
    const double delay_s = world.client(0).stats().delay_s;
    result.largest_s = std::max(result.largest_s, delay_s);
    if (time_s > end_s && delay_s > result.before_s + 0.04) result.takes_s = time_s - end_s;
  };
  world.run_to(end_s + kWatchS);
  return result;
}

// One hitch of a second raises the delay for seconds, and not until enough later updates have arrived: in a
// world in which little changes, that would be minutes.
TEST(TickRates, DelayReturnsWithinSecondsAfterAHitch) {
  const Truth circle = Circle{};
  const std::vector<std::vector<Truth>> worlds{
      {circle},
      {until(circle, kHitchS + kHitchLastsS)},
      {until(circle, kHitchS + kHitchLastsS), zigzag(4.0)},
      {zigzag(4.0)},
      {zigzag(0.7)},
      {circle, zigzag(0.3), Swing{}},
  };
  for (const std::string link : {"lan", "broadband"}) {
    for (std::size_t i = 0; i < worlds.size(); ++i) {
      for (const bool server_hangs : {true, false}) {
        const Recovery found = recover(link, worlds[i], server_hangs);
        SCOPED_TRACE(link + ", world " + std::to_string(i) +
                     (server_hangs ? ", the server hangs" : ", the link hangs"));
        EXPECT_LT(found.takes_s, 15.0);
        EXPECT_LT(found.largest_s, found.before_s + 0.15);
      }
    }
  }
}

}  // namespace
}  // namespace reckoner::test
