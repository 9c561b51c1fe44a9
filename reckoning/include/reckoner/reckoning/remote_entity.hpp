// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/shown_motions.hpp>

namespace reckoner {

/// One remote entity: the motions that are known of it, and the blend that keeps what is shown continuous in
/// position and velocity whatever arrives. A value without outside references but the routes that its motions
/// are on; no allocation. Times are server time, s.
///
/// From one motion to the next on the same route, what is shown moves along the curve and never leaves it,
/// blended or interpolated.
///
/// Motions may be in the frames of other entities (Motion::frame), which this one knows nothing about: what
/// it shows at an instant is in the frame(), of that instant, and whoever knows the frames carries it over
/// from one to the next.
class RECKONER_RECKONING_API RemoteEntity {
 public:
  /// How many motions are remembered, to interpolate between them and to recognise late ones.
  static constexpr std::size_t kHistory = MotionHistory::kMost;

  /// Begins with its first motion, which is shown without a blend.
  explicit RemoteEntity(const Motion& first, Path path = Path::predict);

  /// As it was when it knew `known` (in order of time, one at least; of more than kHistory the newest) and
  /// `blends` were under way.
  RemoteEntity(std::span<const Motion> known, Path path, const ShownBlends& blends);

  /// Takes in a motion while the instant `shown_time_s` is being shown, and blends it in over `blend_s`
  /// (across a teleport, snaps). The newest motion is known to hold until `holds_until_s` from then on.
  /// False, and nothing changes, if it is known already or older than all known. If the frame of what is
  /// shown changes with it, `shown` must be what is shown, in the motion's frame; without it, snaps.
  bool receive(const Motion& motion, double shown_time_s, double blend_s,
               double holds_until_s = kHoldsForever, const std::optional<State>& shown = std::nullopt);

  /// The newest motion is known to hold until then only: from there on it is shown to fade to rest
  /// (faded_state()). Continuous at `time_s`, which is being shown, whatever was known before: over `blend_s`
  /// if it makes a difference there.
  void hold_until(double holds_until_s, double time_s, double blend_s);
  /// Until when its motion is known to hold, s; kHoldsForever: no limit.
  [[nodiscard]] double holds_until_s() const { return blends_.holds_until_s; }

  /// What to show for the instant `time_s`. Before the first motion its state stands still; after the last it
  /// is carried on. Interpolation never crosses a teleport: the earlier motion holds until the later's stamp.
  [[nodiscard]] State shown(double time_s) const { return view().shown(time_s); }

  /// Shows `shown` at `time_s` and blends from there onto the motion over `blend_s`.
  void correct(const State& shown, double time_s, double blend_s);

  /// Shown time jumps from `before_s`, where it ran at `rate`, to `now_s`: blends what was shown then into
  /// what is shown now; along the route, if it is on one.
  void jump(double before_s, double now_s, double rate, double blend_s);

  /// Changes the path while `time_s` is being shown; continuous in position and velocity, but for a teleport
  /// or a change of frame that lies between the newest motion and what is shown: there it snaps.
  void set_path(Path path, double time_s, double blend_s);

  /// The frame that shown() is in at `time_s`.
  [[nodiscard]] FrameId frame(double time_s) const { return view().active(time_s).frame; }

  /// A change of frame without a teleport, from one motion to the next, between which it interpolates.
  struct FrameChange {
    FrameId from;  ///< the frame before
    Motion to;     ///< the first in the new frame, and when
  };
  /// The one that the motion shown at `time_s` leads to, as long as nobody has bridged it. Nothing if it
  /// comes so soon after the motion that this may be carried on until then.
  [[nodiscard]] std::optional<FrameChange> next_frame(double time_s) const;

  /// Says where the motion beyond a change that next_frame() found is in the frame before it, so that it can
  /// be interpolated to. Blends, from `time_s` on, what that changes.
  void bridge(const FrameChange& change, const State& end, double time_s, double blend_s);

  /// The change by which it came into the frame that it is in at `time_s`, if it was in `before` until then;
  /// and what was shown at that very instant, in `before`.
  struct FrameCrossing {
    double time_s = 0.0;  ///< when, s of the time that is shown
    State shown;          ///< at that instant, in the frame before
  };
  /// Nothing if it did not come from there, or by a teleport.
  [[nodiscard]] std::optional<FrameCrossing> crossing(FrameId before, double time_s) const;

  /// Goes on from `shown`, what was shown when it crossed over, at `crossed_s`, but in the frame of `time_s`.
  void cross(const State& shown, double crossed_s, double time_s, double blend_s);

  /// Forgets every motion in the frame `gone`. If it was in it at the time of `instead`, that takes their
  /// place. What is shown jumps; correct() goes on from what it was.
  void leave(FrameId gone, const Motion& instead);

  /// Another lives in its frame, this far from its middle, m, and moves with every correction of its motion:
  /// from now on they are worked in gently, turns as well.
  void carry(double lever_m) {
    constexpr double kLongestLeverM = 100.0;
    blends_.gentle_until_s = std::numeric_limits<double>::infinity();
    blends_.lever_m = std::max(blends_.lever_m, std::min(lever_m, kLongestLeverM));
  }

  /// True if some motion is in `frame`.
  [[nodiscard]] bool lives_in(FrameId frame) const;

  /// The state of its motions at `time_s`, as a frame for others to live in: shown(), but before the first
  /// motion that is carried back.
  [[nodiscard]] State as_frame(double time_s) const {
    const bool before = path_ == Path::interpolate && time_s < oldest().time_s;
    return before ? state_at(oldest(), time_s) : shown(time_s);
  }

  /// Where its motions have it at `time_s`, whatever is being blended in space.
  [[nodiscard]] State unblended(double time_s) const { return view().unblended(time_s); }

  /// The teleport counter in force at `time_s`: when it changes, what is shown has jumped.
  [[nodiscard]] std::uint8_t teleports(double time_s) const { return view().active(time_s).teleports; }

  /// The route on whose curve the pose shown for `time_s` lies; null if it is free, or being blended from or
  /// to free motion.
  [[nodiscard]] const Route* route(double time_s) const { return view().route(time_s); }

  /// True if shown() is blend().apply() of the newest motion's extrapolate(), at whatever time.
  [[nodiscard]] bool is_blended_prediction() const {
    return path_ == Path::predict && newest().route == nullptr && blends_.hold(newest()) &&
           blends_.holds_until_s == kHoldsForever &&
           !(newest().never_reverses && is_braking(newest().state)) && is_unlimited();
  }

  /// The newest motion, by its time stamp.
  [[nodiscard]] const Motion& newest() const { return history_.newest(); }
  /// The oldest that is still kept.
  [[nodiscard]] const Motion& oldest() const { return history_.oldest(); }
  /// The one of free motion.
  [[nodiscard]] const Blend& blend() const { return blends_.free; }
  /// All corrections under way.
  [[nodiscard]] const ShownBlends& blends() const { return blends_; }

 private:
  [[nodiscard]] ShownMotions view() const {
    return {history_.motions(), path_, blends_, bridge_ ? &*bridge_ : nullptr};
  }
  // Neither its top speed nor its world will be felt before it is told anew, or taken to be lost.
  [[nodiscard]] bool is_unlimited() const {
    constexpr double kLongestS = 6.0;
    return blends_.chase.start_s == Chase{}.start_s && keeps_to_limits(newest(), kLongestS);
  }
  [[nodiscard]] bool is_chasing(double time_s) const {
    return view().chase_under_way(view().active(time_s), time_s).has_value();
  }
  void go_on_from(const State& shown, bool moved, double time_s, double blend_s);
  [[nodiscard]] bool is_surely_within(double time_s, double most_mps) const;
  void guard(double time_s);
  void blend_from(const State& shown, double time_s, double blend_s);
  void change_frame(const std::optional<State>& shown, double from_s, double time_s, double blend_s);
  void start_blend(const Blend& blend, double time_s);
  void blend_along(const RouteState& shown_before, double time_s, double blend_s);

  MotionHistory history_;
  Path path_;
  ShownBlends blends_;
  std::optional<Motion> bridge_;  // across the next change of frame
};

}  // namespace reckoner
