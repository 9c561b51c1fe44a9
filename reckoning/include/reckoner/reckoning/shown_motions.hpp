// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// The newest known motions of one entity, contiguous and ordered by time stamp. Never empty. A value;
/// allocates nothing.
class RECKONER_RECKONING_API MotionHistory {
 public:
  /// The largest number of motions that it keeps.
  static constexpr std::size_t kMaxMotions = 32;

  /// Begins with one motion.
  explicit MotionHistory(const Motion& first) { motions_.data()[0] = first; }
  /// Begins with the newest kMaxMotions motions of `known`. The caller must pass at least one motion, ordered
  /// by time stamp.
  explicit MotionHistory(std::span<const Motion> known) : count_(std::min(known.size(), kMaxMotions)) {
    std::ranges::copy(known.last(count_), motions_.begin());
  }

  /// All motions, ordered by time stamp. The span is valid until the next change.
  [[nodiscard]] std::span<const Motion> motions() const { return {motions_.data() + first_, count_}; }
  /// The motion with the oldest time stamp.
  [[nodiscard]] const Motion& oldest() const { return motions().front(); }
  /// The motion with the newest time stamp.
  [[nodiscard]] const Motion& newest() const { return motions().back(); }

  /// True if a motion with the time stamp `time_s` can be added. False if a motion with that time stamp is
  /// known, or if the history is full and all its motions are newer.
  [[nodiscard]] bool is_new_motion(double time_s) const;

  /// Adds a motion for which is_new_motion() is true. If the history is full, the oldest motion is removed.
  void add(const Motion& motion);

  /// Removes all motions in `frame`. Then adds `*instead`, unless it is null. At least one motion must
  /// remain.
  void remove_motions_in(FrameId frame, const Motion* instead);

 private:
  [[nodiscard]] Motion* begin() { return motions_.data() + first_; }
  [[nodiscard]] Motion* end() { return begin() + count_; }

  // When a motion is added to a full history, the used part of the array moves forward by one. When it
  // reaches the end of the array, it is copied back to the front. Copying it for every motion would be a
  // large part of a client's cost per motion.
  static constexpr std::size_t kSpare = 8;
  static constexpr std::size_t kRoom = kMaxMotions + kSpare;
  // Room for motions, without initial values: a history of one motion should not cost as much as a full one.
  class Room {
   public:
    Room() {}  // NOLINT(modernize-use-equals-default): a defaulted constructor would be deleted
    [[nodiscard]] static constexpr std::size_t size() { return kRoom; }
    [[nodiscard]] Motion* data() { return room_.data(); }
    [[nodiscard]] const Motion* data() const { return room_.data(); }
    [[nodiscard]] Motion* begin() { return room_.data(); }

   private:
    static_assert(std::is_trivially_copyable_v<Motion>);
    union {
      std::array<Motion, kRoom> room_;
    };
  };
  Room motions_;
  std::size_t first_ = 0;
  std::size_t count_ = 1;
};

/// The corrections that are being blended into the shown pose, and the time until which the newest motion
/// is valid.
struct ShownBlends {
  Blend free;                           ///< blend in space; applied after `along`
  RouteBlend along;                     ///< blend along the route
  std::uint8_t teleports = 0;           ///< teleport counter of the motions to which both blends apply
  double valid_until_s = kAlwaysValid;  ///< time from which the newest motion fades (faded_state()), s
  FrameId frame{};                      ///< frame of the motions to which both blends apply

  /// True if the blends apply while `motion` is shown.
  [[nodiscard]] bool are_valid_for(const Motion& motion) const {
    return motion.teleports == teleports && motion.frame == frame;
  }

  /// Corrections that begin before this time (s of shown time) are blended in over a longer time, so that
  /// viewers notice them less. RemoteEntity uses this after a change of frame.
  double gentle_until_s = -std::numeric_limits<double>::infinity();
  /// Other entities may use this entity as their frame. This is the largest distance of such an entity from
  /// this entity, m; 0 if there is none.
  double lever_m = 0.0;

  /// The blend in space began on the other side of a wall (Motion::walls). It passes through this wall; the
  /// shown pose would jump otherwise.
  bool crosses_wall = false;

  /// The chase replaces the blended position where the blend in space would show the body faster than its top
  /// speed. The orientation still follows the blend.
  Chase chase{};

  /// The catch-up in space (BlendTime::behind_s); applied after `free`. Separate from the other blends, so
  /// that motions that arrive meanwhile neither shorten nor prolong it. No chase begins meanwhile.
  Blend catch_up{};
  /// The catch-up along the route; applied after `along`.
  RouteBlend catch_up_along{};
  /// Until this time (s of shown time), corrections must not take longer than a catch-up
  /// (BlendTime::hurries). Later, a chase may take any time, so that a false motion of a cheat never makes a
  /// body faster than its top speed.
  double hurries_until_s = -std::numeric_limits<double>::infinity();
  /// Number of jumps without a teleport so far, modulo 2^32: the distance to a motion was too large for a
  /// catch-up.
  std::uint32_t jumps = 0;
  double jumped_s = -std::numeric_limits<double>::infinity();  ///< newest of these jumps, s of shown time
};

/// Computes the shown pose of an entity from its known motions, its current corrections and the time. Clients
/// use it to show entities (RemoteEntity). The server uses it to compute what a client showed, and gets the
/// same result.
///
/// `bridge` is used for interpolation across a change of frame (Motion::frame): it is the first motion in the
/// new frame, converted to the old frame. Without a bridge the earlier motion is extrapolated until the time
/// stamp of the later one.
///
/// A view: motions, blends and bridge must outlive it. The caller must pass at least one motion, and the
/// motions must be ordered by time stamp.
class RECKONER_RECKONING_API ShownMotions {
 public:
  /// A view of the caller's data. `bridge` may be null.
  ShownMotions(std::span<const Motion> known, MotionPath path, const ShownBlends& blends,
               const Motion* bridge = nullptr)
      : known_(known), path_(path), blends_(&blends), bridge_(bridge) {}

  /// A bridge is not used if it spans less than this time, s. Over such a short time, rounding errors at both
  /// ends would look like a high speed.
  static constexpr double kShortestBridgeS = 0.08;

  /// The state to show at `time_s`. MotionPath::interpolate: before the first motion it is the state of that
  /// motion at rest, and after the last motion it is the extrapolation, which fades when the motion is no
  /// longer valid. Interpolation never crosses a teleport: the earlier motion is extrapolated until the time
  /// stamp of the later one. MotionPath::predict: it is the extrapolation of the last motion, which also ends
  /// a short time before its time stamp (faded_state()).
  [[nodiscard]] State shown(double time_s) const;

  /// The state at `time_s` without the blend and the catch-up in space, and without a chase. While a motion
  /// is extrapolated, it is limited to the body's top speed (limited_to_top_speed()).
  [[nodiscard]] State unblended(double time_s) const;
  /// shown(), computed from `base`, which must be the result of unblended() for `time_s`. Saves time if the
  /// caller needs both.
  [[nodiscard]] State shown_from(const State& base, double time_s) const {
    return corrected(base, active(time_s), time_s);
  }
  /// As shown_from(), but without the catch-up in space.
  [[nodiscard]] State caught_up_from(const State& base, double time_s) const {
    return corrected(base, active(time_s), time_s, false);
  }

  /// The state at `time_s` with the blend in space, but without a catch-up or a chase.
  [[nodiscard]] State blended(double time_s) const;

  /// The chase that applies at `time_s`, when the motion `from` is shown; nullopt if there is none. `from`
  /// must be one of the motions.
  [[nodiscard]] std::optional<Chase> chase_under_way(const Motion& from, double time_s) const;

  /// The state that was shown at the moment when the motion `from` ended and the next motion began. `from`
  /// must be one of the motions, but not the last. `time_s` is the next motion's time stamp.
  [[nodiscard]] State shown_at_end(const Motion& from, double time_s) const;

  /// The end of the interpolation that begins at `from`: the next motion, or the bridge to it. `from` must be
  /// one of the motions, but not the last.
  [[nodiscard]] const Motion& end_of(const Motion& from) const;

  /// The motion that is shown at `time_s`.
  [[nodiscard]] const Motion& active(double time_s) const;

  /// The position on the route at `time_s`, without blends; nullopt if the entity is not on a route at that
  /// time.
  [[nodiscard]] std::optional<RouteState> along(double time_s) const;
  /// The position on the route at `time_s`, with the blend along the route; nullopt if the entity is not on a
  /// route.
  [[nodiscard]] std::optional<RouteState> shown_along(double time_s) const;
  /// As shown_along(), but without the catch-up along the route.
  [[nodiscard]] std::optional<RouteState> caught_up_along(double time_s) const;

  /// True if the entity is on `route` at `time_s` and stays on it in all later known motions, without a
  /// teleport or a change of frame.
  [[nodiscard]] bool stays_on(const Route* route, double time_s) const;

  /// The route on which the shown pose lies at `time_s`. Null if the entity moves freely, and also during a
  /// blend from or to free motion.
  [[nodiscard]] const Route* route(double time_s) const;

 private:
  [[nodiscard]] const Motion& newest() const { return known_.back(); }
  [[nodiscard]] State corrected(const State& base, const Motion& from, double time_s,
                                bool catches_up = true) const;
  [[nodiscard]] State in_front_of_walls(const State& state, const Walls& walls, const State& base,
                                        const Motion& from, double time_s) const;

  std::span<const Motion> known_;
  MotionPath path_;
  const ShownBlends* blends_;
  const Motion* bridge_;
};

}  // namespace reckoner
