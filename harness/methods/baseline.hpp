// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::harness {

/// What a baseline is sent about an entity: exact numbers with an exact time stamp.
struct BaselineUpdate {
  State state;  ///< the acceleration is the true one
  double time_s = 0.0;
  std::uint32_t teleports = 0;  ///< declared so far: never blend or interpolate across a change
};

/// What a baseline is told beforehand.
struct BaselineSetup {
  double interval_s = 0.1;  ///< between updates, on average
  double frame_rate_hz = 60.0;
  double latency_s = 0.0;  ///< of the downlink
  double jitter_s = 0.0;
};

struct BaselineShown {
  Pose pose;
  double shown_time_s = 0.0;
};

/// How one entity is shown by a published technique. Times are exact server time. Belongs to one thread.
class Baseline {
 public:
  virtual ~Baseline() = default;

  /// An update arrives at `now_s`. May be late, overtaken or a repetition.
  virtual void receive(const BaselineUpdate& update, double now_s) = 0;

  /// What to draw in the frame at `now_s`, called once a frame; nothing if there is nothing to show yet.
  [[nodiscard]] virtual std::optional<BaselineShown> show(double now_s) = 0;

  /// How long ago it shows entities, s.
  [[nodiscard]] virtual double delay_s() const { return 0.0; }
};

/// A kind of baseline.
struct BaselineKind {
  std::string_view name;
  std::string_view summary;  ///< what it does, for a reader who has never heard of it
  std::unique_ptr<Baseline> (*make)(const BaselineSetup&);
  bool sends_acceleration;  ///< counted in the size of its updates, as is the next
  bool poses_only;          ///< no rates at all, and orientations in 4 bytes
};

/// Every baseline there is. To add one: a file in src/baselines, and a line in its table.
[[nodiscard]] std::span<const BaselineKind> baseline_kinds();

}  // namespace reckoner::harness
