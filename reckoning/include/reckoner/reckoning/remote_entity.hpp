// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/route_blend.hpp>

namespace reckoner {

/// How an entity is carried from one known motion to the next.
enum class Path : std::uint8_t {
  predict,      ///< follow the newest motion: for showing the present
  interpolate,  ///< between two motions, the cubic through their true positions and velocities: for the past
};

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

  /// Takes in a motion while the instant `shown_time_s` is being shown, and blends it in over `blend_s`
  /// (across a teleport, snaps). False, and nothing changes, if it is known already or older than all known.
  bool receive(const Motion& motion, double shown_time_s, double blend_s);

  /// What to show for the instant `time_s`. Before the first motion its state stands still; after the last it
  /// is carried on. Interpolation never crosses a teleport: the earlier motion holds until the later's stamp.
  [[nodiscard]] State shown(double time_s) const;

  /// Shows `shown` at `time_s` and blends from there onto the motion over `blend_s`.
  void correct(const State& shown, double time_s, double blend_s);

  /// Shown time jumps from `before_s`, where it ran at `rate`, to `now_s`: blends what was shown then into
  /// what is shown now; along the route, if it is on one.
  void jump(double before_s, double now_s, double rate, double blend_s);

  /// Changes the path while `time_s` is being shown; continuous in position and velocity.
  void set_path(Path path, double time_s, double blend_s);

  /// The teleport counter in force at `time_s`: when it changes, what is shown has jumped.
  [[nodiscard]] std::uint8_t teleports(double time_s) const { return active(time_s).teleports; }

  /// The route on whose curve the pose shown for `time_s` lies; null if it is free, or being blended from or
  /// to free motion.
  [[nodiscard]] const Route* route(double time_s) const;

  /// True if shown() is blend().apply() of the newest motion carried on freely, at whatever time.
  [[nodiscard]] bool is_blended_prediction() const {
    return path_ == Path::predict && newest().route == nullptr && newest().teleports == blend_teleports_;
  }

  [[nodiscard]] const Motion& newest() const { return history_[count_ - 1]; }
  [[nodiscard]] const Motion& oldest() const { return history_[0]; }
  [[nodiscard]] const Blend& blend() const { return blend_; }

 private:
  [[nodiscard]] const Motion& active(double time_s) const;  // the motion that `time_s` is shown from
  [[nodiscard]] std::optional<RouteState> along(double time_s) const;
  [[nodiscard]] std::optional<RouteState> shown_along(double time_s) const;
  [[nodiscard]] State unblended(double time_s) const;
  [[nodiscard]] bool stays_on(const Route* route, double time_s) const;
  void start_blend(const Blend& blend, double time_s);
  void blend_along(const RouteState& shown_before, double time_s, double blend_s);

  std::array<Motion, kHistory> history_;  // by time, oldest first
  std::size_t count_ = 1;
  Path path_;
  Blend blend_;
  RouteBlend route_blend_;        // under blend_: corrects the motion along its route
  std::uint8_t blend_teleports_;  // the blends hold on this side of a teleport only
};

}  // namespace reckoner
