// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::harness {

/// An update of one entity as a baseline method receives it. Its numbers and its time stamp are exact.
struct BaselineUpdate {
  State state;  ///< the true state, including the acceleration
  double time_s = 0.0;
  /// Number of teleports so far; if it changes, do not blend or interpolate between the two updates.
  std::uint32_t teleports = 0;
};

/// What a baseline method knows before the run.
struct BaselineSetup {
  double interval_s = 0.1;  ///< mean interval between updates
  double frame_rate_hz = 60.0;
  double latency_s = 0.0;  ///< latency of the link to the client
  double jitter_s = 0.0;
};

struct BaselineShown {
  Pose pose;
  double shown_time_s = 0.0;
};

/// A baseline method: it shows one entity by a published technique, for comparison with Reckoner. All times
/// are exact server time, s. Belongs to one thread.
class Baseline {
 public:
  virtual ~Baseline() = default;

  /// Handles an update that arrives at `now_s`. It may be late, out of order or a duplicate.
  virtual void receive(const BaselineUpdate& update, double now_s) = 0;

  /// The pose to draw in the picture at `now_s`. Called once per picture. Returns nullopt while there is
  /// nothing to show.
  [[nodiscard]] virtual std::optional<BaselineShown> show(double now_s) = 0;

  /// The playout delay, s. Entities are shown in the state that they had this long ago.
  [[nodiscard]] virtual double delay_s() const { return 0.0; }
};

/// A kind of baseline method and the function that creates it.
struct BaselineKind {
  std::string_view name;
  std::string_view summary;  ///< a description of the technique for readers who do not know it
  std::unique_ptr<Baseline> (*make)(const BaselineSetup&);
  bool sends_acceleration;  ///< true: updates contain the acceleration, and their size includes it
  bool poses_only;          ///< true: updates contain no velocities, and an orientation takes 4 bytes
};

/// All baselines. To add one, write a file in methods/baselines/ and add a line to the table in its
/// kinds.cpp.
[[nodiscard]] std::span<const BaselineKind> baseline_kinds();

}  // namespace reckoner::harness
