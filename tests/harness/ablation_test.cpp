// SPDX-License-Identifier: MIT
#include "harness/replay/ablation.hpp"

#include "harness/replay/method.hpp"
#include "harness/sim/link.hpp"
#include "scenario/builtin/builtin.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

ReplayOptions options() {
  ReplayOptions o;
  o.links = {*find_network("stress"), *find_network("stress")};
  o.budget.updates_per_second = 10.0;
  o.seconds = 12.0;
  return o;
}

TEST(Ablation, NamesDifferFromAllMethods) {
  std::set<std::string> names;
  for (const std::string& name : method_names()) {
    EXPECT_FALSE(is_ablation(name));
    names.insert(name);
  }
  for (const Ablation& ablation : ablations())
    EXPECT_TRUE(names.insert(std::string{ablation.name}).second);
}

TEST(Ablation, EachSwitchesOffExactlyOnePart) {
  for (const Ablation& ablation : ablations()) {
    ReplayOptions o = options();
    o.method = ablation.name;
    const auto ablated = ablate(o);
    ASSERT_TRUE(ablated) << ablation.name;
    EXPECT_EQ(ablated->method, "reckoner");
    const int off = int{!ablated->viewing.uses_stamps} + int{!ablated->uses_frames} +
                    int{!ablated->parts.fitted_acceleration} + int{!ablated->parts.latency_aware} +
                    int{!ablated->parts.repair} + int{!ablated->parts.error_order} +
                    int{ablated->blend_frames == std::optional(0.0)} +
                    int{ablated->viewing.blend.shape != nullptr} + int{ablated->budget.fixed_rate_hz > 0.0};
    EXPECT_EQ(off, 1) << ablation.name;
  }
}

TEST(Ablation, WithoutThresholdNeedsABudget) {
  ReplayOptions o = options();
  o.method = "without-threshold";
  o.budget = {};
  EXPECT_FALSE(ablate(o));
}

TEST(Ablation, EveryPartChangesTheShownPoses) {
  for (const Ablation& ablation : ablations()) {
    const bool frames = ablation.name == "without-frames";
    const auto source = scenario::make_builtin(frames ? "ship" : "crowd", 12);
    ASSERT_TRUE(source) << source.error();
    ReplayOptions o = options();
    if (ablation.name == "without-error-order") o.budget.bytes_per_second = 800.0;  // too few for 12 entities
    const auto whole = replay(**source, o);
    ASSERT_TRUE(whole);
    o.method = ablation.name;
    const auto without = replay(**source, o);
    ASSERT_TRUE(without) << ablation.name;
    EXPECT_NE(without->run.now_error_m.rms, whole->run.now_error_m.rms) << ablation.name;
  }
}

}  // namespace
}  // namespace reckoner::harness
