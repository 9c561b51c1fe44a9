// SPDX-License-Identifier: MIT
#include "harness/metrics/figures.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace reckoner::harness {
namespace {

TEST(Figures, MatchAKnownSet) {
  std::vector<double> samples;
  for (int i = 100; i >= 0; --i)
    samples.push_back(i);
  const Distribution d = describe(samples);
  EXPECT_EQ(d.count, 101u);
  EXPECT_DOUBLE_EQ(d.mean, 50.0);
  EXPECT_DOUBLE_EQ(d.p50, 50.0);
  EXPECT_DOUBLE_EQ(d.p95, 95.0);
  EXPECT_DOUBLE_EQ(d.p99, 99.0);
  EXPECT_DOUBLE_EQ(d.max, 100.0);
  EXPECT_NEAR(d.rms, std::sqrt(100.0 * 201.0 / 6.0), 1e-9);
}

TEST(Figures, PercentilesInterpolate) {
  EXPECT_DOUBLE_EQ(percentile(std::vector<double>{1.0, 2.0}, 0.25), 1.25);
  EXPECT_DOUBLE_EQ(percentile(std::vector<double>{7.0}, 0.95), 7.0);
  EXPECT_DOUBLE_EQ(percentile({}, 0.95), 0.0);
}

TEST(Figures, JsonHasTheDocumentedNames) {
  Figures figures;
  figures.angle_error_rad = Distribution{};
  figures.shown_angle_error_rad = Distribution{};
  figures.clock_error_ms = Distribution{};
  figures.entity_seconds = 20.0;
  figures.down = Traffic{100, 2000, 4000};
  figures.up = Traffic{10, 200, 400};
  const auto json = nlohmann::json::parse(to_json(figures));
  for (const char* name : {"now_error_m", "shown_error_m", "angle_error_rad", "shown_angle_error_rad",
                           "excess_acceleration_mps2", "velocity_step_mps", "pops_per_s", "missing_s",
                           "ghost_s", "delay_ms", "teleports", "teleport_settle_ms", "clock_error_ms"}) {
    EXPECT_TRUE(json.contains(name)) << name;
  }
  for (const char* name : {"rms", "p50", "p95", "p99", "max"})
    EXPECT_TRUE(json["now_error_m"].contains(name));
  EXPECT_DOUBLE_EQ(json["updates_per_s"], 5.0);
  EXPECT_DOUBLE_EQ(json["payload_bytes_per_s"], 100.0);
  EXPECT_DOUBLE_EQ(json["wire_bytes_per_s"], 200.0);
  EXPECT_DOUBLE_EQ(json["updates_per_s_up"], 0.5);
  EXPECT_DOUBLE_EQ(json["payload_bytes_per_s_up"], 10.0);
  EXPECT_DOUBLE_EQ(json["wire_bytes_per_s_up"], 20.0);
  EXPECT_FALSE(json.contains("payload_bits_per_body_frame")) << "the tick rate is unknown";
}

TEST(Figures, PayloadBitsAreDividedByEntitiesAndTicks) {
  Figures figures;
  EXPECT_EQ(payload_bits_per_body_frame(figures), 0.0);
  figures.entity_seconds = 20.0;
  figures.down = Traffic{100, 2400, 4000};
  EXPECT_EQ(payload_bits_per_body_frame(figures), 0.0) << "the tick rate is unknown";
  figures.tick_rate_hz = 60.0;
  EXPECT_DOUBLE_EQ(payload_bits_per_body_frame(figures), 16.0);
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(to_json(figures))["payload_bits_per_body_frame"], 16.0);
}

}  // namespace
}  // namespace reckoner::harness
