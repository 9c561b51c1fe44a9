// SPDX-License-Identifier: MIT
// A recording gives the same figures at any time, also below zero.
#include "harness/replay/method.hpp"
#include "harness/replay/replay.hpp"
#include "harness/sim/link.hpp"
#include "scenario/trace/trace.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

// Two walkers, and one that lives for a while, with a teleport. Their recording begins at `begin_s`.
std::unique_ptr<scenario::Source> recording(double begin_s) {
  std::string text = "id,t,x,y,z\n";
  const auto add = [&](double t, const char* id, double x, double y) {
    text += fmt::format("{},{:.4f},{:.5f},{:.5f},0\n", id, begin_s + t, x, y);
  };
  for (int i = 0; i <= 32 * 16; ++i) {
    const double t = i / 32.0;
    add(t, "a", 4.0 * std::cos(1.3 * t), 4.0 * std::sin(1.3 * t));
    add(t, "b", 6.0 * std::sin(0.9 * t) + (t > 9.0 ? 60.0 : 0.0), 3.0 * std::sin(2.1 * t));
    if (t >= 4.0 && t <= 12.0) add(t, "c", 2.0 * t, std::sin(3.0 * t));
  }
  auto source = scenario::parse_trace(text, "recording", {});
  EXPECT_TRUE(source) << source.error();
  return std::move(*source);
}

ReplayOptions over(const char* network, const std::string& method, PlayoutMode mode) {
  ReplayOptions options;
  options.links = {*find_network(network), *find_network(network)};
  options.method = method;
  options.playout.mode = mode;
  return options;
}

Figures figures_of(double begin_s, const ReplayOptions& options) {
  const auto result = replay(*recording(begin_s), options);
  EXPECT_TRUE(result) << result.error();
  if (!result) return {};
  const auto unshown = find_unshown(*result);
  EXPECT_FALSE(unshown) << unshown->message;
  return result->run;
}

// Rounding decides whether some updates come a tick earlier or later.
void expect_same(const Figures& now, const Figures& expected) {
  const auto near = [](double a, double b, double share, double slack, const char* what) {
    EXPECT_NEAR(a, b, share * std::abs(b) + slack) << what;
  };
  near(now.now_error_m.p95, expected.now_error_m.p95, 0.2, 1e-3, "now_error_m");
  near(now.shown_error_m.p95, expected.shown_error_m.p95, 0.2, 1e-3, "shown_error_m");
  near(now.shown_error_m.max, expected.shown_error_m.max, 0.5, 0.1, "largest shown_error_m");
  near(now.delay_ms.mean, expected.delay_ms.mean, 0.15, 1.0, "delay_ms");
  near(now.missing_s, expected.missing_s, 0.1, 0.05, "missing_s");
  near(now.ghost_s, expected.ghost_s, 0.1, 0.05, "ghost_s");
  near(now.entity_seconds, expected.entity_seconds, 0.01, 0.0, "entity_seconds");
  near(updates_per_s(now), updates_per_s(expected), 0.05, 0.0, "updates");
  near(static_cast<double>(now.down->wire_bytes), static_cast<double>(expected.down->wire_bytes), 0.05, 0.0,
       "bytes");
  // An update that comes a tick later may need its own answer. After a loss, messages of the client have
  // second copies for a while.
  constexpr double kFewDatagrams = 200.0;  // bytes
  near(static_cast<double>(now.up->wire_bytes), static_cast<double>(expected.up->wire_bytes), 0.1,
       kFewDatagrams, "bytes up");
  EXPECT_EQ(now.teleports, expected.teleports);
  near(static_cast<double>(now.frames.counted), static_cast<double>(expected.frames.counted), 0.01, 3.0,
       "frames");
  if (expected.clock_error_ms)
    near(now.clock_error_ms->p95, expected.clock_error_ms->p95, 0.2, 0.5, "clock_error_ms");
  if (expected.seen) {
    near(now.seen->seen_late_error_m.p95, expected.seen->seen_late_error_m.p95, 0.2, 2e-3,
         "seen_late_error_m");
    near(static_cast<double>(now.seen->unknown), static_cast<double>(expected.seen->unknown), 0.2, 30.0,
         "unknown");
  }
  if (expected.owned)
    near(static_cast<double>(now.owned->server.accepted),
         static_cast<double>(expected.owned->server.accepted), 0.1, 0.0, "accepted");
}

void expect_no_dependence(const ReplayOptions& options) {
  const Figures expected = figures_of(0.0, options);
  for (const double begin_s : {-100.0, -8.0, -1e6, 1e6}) {
    SCOPED_TRACE(options.method + " from " + std::to_string(begin_s) + " s");
    expect_same(figures_of(begin_s, options), expected);
  }
}

TEST(EpochReplay, FiguresOfEveryMethodDoNotDependOnIt) {
  for (const std::string& method : method_names()) {
    ReplayOptions options = over("broadband", method, PlayoutMode::present);
    if (method != "reckoner") options.budget.fixed_rate_hz = 10.0;
    expect_no_dependence(options);
  }
}

TEST(EpochReplay, FiguresOfReckonerDoNotDependOnIt) {
  for (const char* network : {"lan", "intercity"}) {
    for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive, PlayoutMode::delayed})
      expect_no_dependence(over(network, "reckoner", mode));
  }
  ReplayOptions shots = over("wifi", "reckoner", PlayoutMode::adaptive);
  shots.shots_per_second = 5.0;
  expect_no_dependence(shots);
  ReplayOptions narrow = over("lan", "reckoner", PlayoutMode::present);
  narrow.links.down.rate_kbps = 40.0;
  narrow.links.down.queue_ms = 500.0;
  expect_no_dependence(narrow);
  ReplayOptions budget = over("lan", "reckoner", PlayoutMode::adaptive);
  budget.budget.updates_per_second = 5.0;
  expect_no_dependence(budget);
  ReplayOptions owned = over("lan", "reckoner", PlayoutMode::present);
  owned.owner_links = {*find_network("broadband"), *find_network("broadband")};
  owned.cheat = "none";
  expect_no_dependence(owned);
}

}  // namespace
}  // namespace reckoner::harness
