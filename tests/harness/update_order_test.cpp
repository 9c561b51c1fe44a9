// SPDX-License-Identifier: MIT
// The order of updates under a byte budget: by visible error, and without it.
#include "harness/replay/replay.hpp"
#include "harness/sim/link.hpp"
#include "scenario/builtin/builtin.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

ReplayOptions under_budget(const char* network, double seconds, double bytes_per_second) {
  ReplayOptions options;
  options.links = {*find_network(network), *find_network(network)};
  options.seconds = seconds;
  options.budget.bytes_per_second = bytes_per_second;
  return options;
}

// 32 kbit/s are far too few for 100 walkers. The order by visible error must pay for itself, with the same
// bytes.
TEST(UpdateOrder, ByErrorShowsSmallerErrorsForTheSameBytes) {
  constexpr double kBytesPerSecond = 4000.0;
  const auto source = scenario::make_builtin("crowd", 100, 1);
  ASSERT_TRUE(source);
  double error_m = 0.0, other_error_m = 0.0;
  for (const std::uint64_t seed : {1u, 2u}) {
    for (double* const total_m : {&error_m, &other_error_m}) {
      ReplayOptions options = under_budget("intercity", 30.0, kBytesPerSecond);
      options.seed = seed;
      if (total_m == &other_error_m) options.method = "without-error-order";
      const auto result = replay(**source, options);
      ASSERT_TRUE(result) << result.error();
      *total_m += result->run.now_error_m.p95;
      const double bytes_per_s = static_cast<double>(result->run.down->wire_bytes) / result->run.run_s;
      EXPECT_GT(bytes_per_s, 0.9 * kBytesPerSecond);
      EXPECT_LT(bytes_per_s, 1.05 * kBytesPerSecond);
    }
  }
  EXPECT_LT(error_m, 0.85 * other_error_m);
}

// With enough bytes for everything, no order is needed, and both runs are equal to the last bit.
TEST(UpdateOrder, DoesNotMatterIfAllUpdatesFit) {
  const auto source = scenario::make_builtin("crowd", 20, 1);
  ASSERT_TRUE(source);
  ReplayOptions options = under_budget("wifi", 10.0, 1e6);
  const auto ours = replay(**source, options);
  options.method = "without-error-order";
  const auto other = replay(**source, options);
  ASSERT_TRUE(ours && other);
  EXPECT_EQ(ours->run.now_error_m.p95, other->run.now_error_m.p95);
  EXPECT_EQ(ours->run.down->wire_bytes, other->run.down->wire_bytes);
}

// Nothing waits for ever. A car without updates would soon be tens of metres off, and stay so.
TEST(UpdateOrder, StarvesNoEntity) {
  const auto source = scenario::make_builtin("traffic", 200, 1);
  ASSERT_TRUE(source);
  const auto result = replay(**source, under_budget("lan", 40.0, 4000.0));
  ASSERT_TRUE(result) << result.error();
  for (std::size_t i = 0; i < result->entities.size(); ++i)
    EXPECT_LT(result->entities[i].now_error_m.p50, 1.0) << i;
}

}  // namespace
}  // namespace reckoner::harness
