// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/shown_motions.hpp>

namespace reckoner {

/// One remote entity: the motions that are known of it, and the blend that keeps what is shown continuous in
/// position and velocity whatever arrives. A value without outside references but the routes that its motions
/// are on; no allocation. Times are server time, s.
///
/// From one motion to the next on the same route, what is shown moves along the curve and never leaves it,
/// blended or interpolated.
class RemoteEntity {
 public:
  /// How many motions are remembered, to interpolate between them and to recognise late ones.
  static constexpr std::size_t kHistory = 32;

  explicit RemoteEntity(const Motion& first, Path path = Path::predict);

  /// As it was when it knew `known` (in order of time, one at least; of more than kHistory the newest) and
  /// `blends` were under way.
  RemoteEntity(std::span<const Motion> known, Path path, const ShownBlends& blends);

  /// Takes in a motion while the instant `shown_time_s` is being shown, and blends it in over `blend_s`
  /// (across a teleport, snaps). The newest motion is known to hold until `holds_until_s` from then on.
  /// False, and nothing changes, if it is known already or older than all known.
  bool receive(const Motion& motion, double shown_time_s, double blend_s,
               double holds_until_s = kHoldsForever);

  /// The newest motion is known to hold until then only: from there on it is shown to fade to rest
  /// (faded_state()). Continuous at `time_s`, which is being shown, whatever was known before: over `blend_s`
  /// if it makes a difference there.
  void hold_until(double holds_until_s, double time_s, double blend_s);
  [[nodiscard]] double holds_until_s() const { return blends_.holds_until_s; }

  /// What to show for the instant `time_s`. Before the first motion its state stands still; after the last it
  /// is carried on. Interpolation never crosses a teleport: the earlier motion holds until the later's stamp.
  [[nodiscard]] State shown(double time_s) const { return view().shown(time_s); }

  /// Shows `shown` at `time_s` and blends from there onto the motion over `blend_s`.
  void correct(const State& shown, double time_s, double blend_s);

  /// Shown time jumps from `before_s`, where it ran at `rate`, to `now_s`: blends what was shown then into
  /// what is shown now; along the route, if it is on one.
  void jump(double before_s, double now_s, double rate, double blend_s);

  /// Changes the path while `time_s` is being shown; continuous in position and velocity.
  void set_path(Path path, double time_s, double blend_s);

  /// The teleport counter in force at `time_s`: when it changes, what is shown has jumped.
  [[nodiscard]] std::uint8_t teleports(double time_s) const { return view().active(time_s).teleports; }

  /// The route on whose curve the pose shown for `time_s` lies; null if it is free, or being blended from or
  /// to free motion.
  [[nodiscard]] const Route* route(double time_s) const { return view().route(time_s); }

  /// True if shown() is blend().apply() of the newest motion's extrapolate(), at whatever time.
  [[nodiscard]] bool is_blended_prediction() const {
    return path_ == Path::predict && newest().route == nullptr && newest().teleports == blends_.teleports &&
           blends_.holds_until_s == kHoldsForever && !(newest().never_reverses && is_braking(newest().state));
  }

  [[nodiscard]] const Motion& newest() const { return history_[count_ - 1]; }
  [[nodiscard]] const Motion& oldest() const { return history_[0]; }
  [[nodiscard]] const Blend& blend() const { return blends_.free; }
  [[nodiscard]] const ShownBlends& blends() const { return blends_; }

 private:
  [[nodiscard]] ShownMotions view() const { return {{history_.data(), count_}, path_, blends_}; }
  void start_blend(const Blend& blend, double time_s);
  void blend_along(const RouteState& shown_before, double time_s, double blend_s);

  std::array<Motion, kHistory> history_;  // by time, oldest first
  std::size_t count_ = 1;
  Path path_;
  ShownBlends blends_;
};

}  // namespace reckoner
