// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/frame.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// The newest motions that are known of an entity, by time, in one piece. Never empty. A value; no
/// allocation.
class RECKONER_RECKONING_API MotionHistory {
 public:
  /// So many are kept.
  static constexpr std::size_t kMost = 32;

  /// Begins with one.
  explicit MotionHistory(const Motion& first) { motions_[0] = first; }
  /// Of `known` (in order of time, one at least) the newest.
  explicit MotionHistory(std::span<const Motion> known) : count_(std::min(known.size(), kMost)) {
    std::ranges::copy(known.last(count_), motions_.begin());
  }

  /// In order of time; valid until the next change.
  [[nodiscard]] std::span<const Motion> motions() const { return {motions_.data() + first_, count_}; }
  /// By its time stamp; there always is one.
  [[nodiscard]] const Motion& oldest() const { return motions().front(); }
  /// By its time stamp; there always is one.
  [[nodiscard]] const Motion& newest() const { return motions().back(); }

  /// False if add() would not: one of that time is known, or as many as are kept are newer.
  [[nodiscard]] bool is_news(double time_s) const;

  /// Takes in a motion that is_news(); the oldest goes if there are too many.
  void add(const Motion& motion);

  /// Forgets what is in a frame. If `instead` is given, it is then known; otherwise something must be left.
  void forget(FrameId frame, const Motion* instead);

 private:
  [[nodiscard]] Motion* begin() { return motions_.data() + first_; }
  [[nodiscard]] Motion* end() { return begin() + count_; }

  // The window of what is kept moves along, and back to the start only when it is at the end: moving it with
  // every motion is a good part of what a motion costs a client.
  static constexpr std::size_t kSpare = 8;
  std::array<Motion, kMost + kSpare> motions_;
  std::size_t first_ = 0;
  std::size_t count_ = 1;
};

/// How an entity is carried from one known motion to the next.
enum class Path : std::uint8_t {
  predict,      ///< follow the newest motion: for showing the present
  interpolate,  ///< between two motions, the cubic through their true positions and velocities: for the past
};

/// The corrections that are being worked into what is shown, and until when the newest motion holds.
struct ShownBlends {
  Blend free;                            ///< in space, over the other
  RouteBlend along;                      ///< corrects a motion along its route
  std::uint8_t teleports = 0;            ///< both hold on this side of a teleport only,
  double holds_until_s = kHoldsForever;  ///< faded_state() from then on
  FrameId frame{};                       ///< the blends hold in this frame only

  /// True if they are to be applied to what is shown from `motion`.
  [[nodiscard]] bool hold(const Motion& motion) const {
    return motion.teleports == teleports && motion.frame == frame;
  }

  /// Corrections that begin before this time are worked in gently: a change of frame goes on.
  double gentle_until_s = -std::numeric_limits<double>::infinity();
  double lever_m = 0.0;  ///< others live in its frame, as far from its middle

  /// Where the blend in space would be faster than the body can be, this takes its place; not its
  /// orientation's.
  Chase chase{};
};

/// What is shown of an entity, given the motions that are known of it and the corrections under way: a pure
/// function of these and of time. A client shows its entities by it (RemoteEntity), and a server finds out by
/// it what a client showed, so that both come to the same.
///
/// Across a change of frame (Motion::frame) it interpolates to `bridge`: the first motion in the new frame,
/// as it is in the frame before. Without that the earlier motion is carried on until the later's stamp.
///
/// A view: motions, blends and bridge must outlive it. The motions are in order of time, at least one.
class RECKONER_RECKONING_API ShownMotions {
 public:
  /// A view of what the caller keeps.
  ShownMotions(std::span<const Motion> known, Path path, const ShownBlends& blends,
               const Motion* bridge = nullptr)
      : known_(known), path_(path), blends_(&blends), bridge_(bridge) {}

  /// A bridge over a shorter time is not used, s: what both ends are off by rounding would look like speed.
  static constexpr double kShortestBridgeS = 0.08;

  /// What to show for the instant `time_s`. Before the first motion its state stands still; after the last it
  /// is carried on, as long as it holds. Interpolation never crosses a teleport: the earlier motion holds
  /// until the later's stamp.
  [[nodiscard]] State shown(double time_s) const;

  /// The same without the blend in space, and never faster than the body can be as long as it is carried on
  /// from one motion (kept_to_top_speed()).
  [[nodiscard]] State unblended(double time_s) const;

  /// shown(), if no chase were under way.
  [[nodiscard]] State blended(double time_s) const;

  /// The chase that what is shown at `time_s`, from `from`, is part of.
  [[nodiscard]] std::optional<Chase> chase_under_way(const Motion& from, double time_s) const;

  /// What was shown, from `from`, one of the motions and not the last, when the next one's time had come.
  [[nodiscard]] State shown_at_end(const Motion& from, double time_s) const;

  /// What the motion after `from`, which must be one of the motions and not the last, is interpolated to:
  /// itself, or the bridge to it.
  [[nodiscard]] const Motion& end_of(const Motion& from) const;

  /// The motion that `time_s` is shown from.
  [[nodiscard]] const Motion& active(double time_s) const;

  /// Where it is on its route; nothing while it is not shown from a route.
  [[nodiscard]] std::optional<RouteState> along(double time_s) const;
  /// The same, with the blend along the route.
  [[nodiscard]] std::optional<RouteState> shown_along(double time_s) const;

  /// True if it is on `route` at `time_s` and in all that is known to come.
  [[nodiscard]] bool stays_on(const Route* route, double time_s) const;

  /// The route on whose curve the pose lies; null if it is free, or being blended from or to free motion.
  [[nodiscard]] const Route* route(double time_s) const;

 private:
  [[nodiscard]] const Motion& newest() const { return known_.back(); }
  [[nodiscard]] State corrected(const State& base, const Motion& from, double time_s) const;

  std::span<const Motion> known_;
  Path path_;
  const ShownBlends* blends_;
  const Motion* bridge_;
};

}  // namespace reckoner
