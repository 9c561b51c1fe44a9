// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// One remote entity: the motions that are known of it, and the blend that keeps what is shown continuous.
/// A value without outside references; no allocation. Times are server time, s.
class RemoteEntity {
 public:
  /// How many motions are remembered, for interpolation between them and for late ones.
  static constexpr std::size_t kHistory = 32;

  explicit RemoteEntity(const Motion& first);

  /// Takes in a motion. `shown_time_s` is the instant that is being shown now, from which it is blended in
  /// over `blend_s`. False if it is older than all remembered, or known already.
  bool receive(const Motion& motion, double shown_time_s, double blend_s);

  /// What to show for the instant `time_s`: the newest motion carried on to it, plus the blend.
  [[nodiscard]] State predicted(double time_s) const;

  /// What to show for the instant `time_s` in the past: between two motions the cubic through their true
  /// positions and velocities; after the last, as predicted(). Never interpolates across a teleport.
  [[nodiscard]] State interpolated(double time_s) const;

  /// Shows `shown` at `time_s` and blends from there onto the motion over `blend_s`.
  void correct(const State& shown, double time_s, double blend_s);

  [[nodiscard]] const Motion& newest() const;
  [[nodiscard]] const Blend& blend() const { return blend_; }

 private:
  std::array<Motion, kHistory> history_{};  // ring, sorted by time
  std::size_t count_ = 0;
  std::size_t newest_ = 0;
  Blend blend_;
};

}  // namespace reckoner
