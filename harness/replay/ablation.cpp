// SPDX-License-Identifier: MIT
#include "harness/replay/ablation.hpp"

#include <algorithm>
#include <array>

namespace reckoner::harness {
namespace {

constexpr std::array<Ablation, 10> kAblations{{
    {"without-stamps", "time stamps: a motion starts when it arrives"},
    {"without-threshold", "the threshold: updates are sent at even intervals, at an equal mean rate"},
    {"without-fit", "the fitted acceleration: the true one is sent"},
    {"without-latency",
     "latency awareness: an update is sent only when the error has exceeded the threshold"},
    {"without-error-order",
     "the order by visible error: under a byte budget, updates wait in the order of their publishes"},
    {"without-repair", "repair: lost updates are not sent again"},
    {"without-blend", "the blend: T = 0, corrections jump"},
    {"with-quintic-blend",
     "the curve of the blend: corrections follow the quintic, without steps in acceleration"},
    {"with-cubic-blend", "the curve of the blend: corrections follow the cubic"},
    {"without-frames", "moving frames: all motions are sent in world coordinates"},
}};

}  // namespace

std::span<const Ablation> ablations() {
  return kAblations;
}

bool is_ablation(std::string_view method) {
  return std::any_of(kAblations.begin(), kAblations.end(),
                     [&](const Ablation& ablation) { return ablation.name == method; });
}

Result<ReplayOptions> ablate(const ReplayOptions& options) {
  ReplayOptions ablated = options;
  ablated.method = "reckoner";
  if (options.method == "without-stamps") ablated.viewing.uses_stamps = false;
  if (options.method == "without-fit") ablated.parts.fitted_acceleration = false;
  if (options.method == "without-latency") ablated.parts.latency_aware = false;
  if (options.method == "without-error-order") ablated.parts.error_order = false;
  if (options.method == "without-repair") ablated.parts.repair = false;
  if (options.method == "without-frames") ablated.uses_frames = false;
  if (options.method == "without-blend") ablated.blend_frames = 0.0;
  if (options.method == "with-quintic-blend") ablated.viewing.blend.shape = &quintic_blend();
  if (options.method == "with-cubic-blend") ablated.viewing.blend.shape = &cubic_blend();
  if (options.method == "without-threshold") {
    if (options.budget.updates_per_second <= 0.0) {
      return Error{"without-threshold requires a budget (--updates-per-second)"};
    }
    ablated.budget.fixed_rate_hz = options.budget.updates_per_second;
    ablated.budget.updates_per_second = 0.0;
  }
  return ablated;
}

}  // namespace reckoner::harness
