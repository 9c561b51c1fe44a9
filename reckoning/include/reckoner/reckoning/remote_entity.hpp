// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/shown_motions.hpp>

namespace reckoner {

/// One remote entity as a client shows it: its known motions, and the blend that keeps the shown position and
/// velocity continuous when updates arrive. A value; allocates nothing. The only pointers that it keeps are
/// the routes of its motions and BlendPolicy::shape, which must outlive it. Times are server time, s.
///
/// Between two motions on the same route the shown entity moves along the curve and never leaves it, for both
/// values of MotionPath.
///
/// Motions may be relative to other entities (Motion::frame). This class does not know how those entities
/// move. The shown state at a time is relative to frame() at that time. When the frame changes, the caller
/// must convert the shown state.
///
/// A time that is not finite, or beyond +-1e13 s, changes nothing. For such a time, shown() returns the state
/// at the time stamp of the newest motion.
class RECKONER_RECKONING_API RemoteEntity {
 public:
  /// The number of motions that are kept, to interpolate between them and to recognise late motions.
  static constexpr std::size_t kHistory = MotionHistory::kMaxMotions;

  /// Begins with the first motion, which is shown without a blend. `policy` defines how the entity blends
  /// onto later motions. BlendPolicy::shape must outlive the entity.
  explicit RemoteEntity(const Motion& first, MotionPath path = MotionPath::predict,
                        const BlendPolicy& policy = {});

  /// Restores an entity with the known motions `known`, the current corrections `blends` and the
  /// last_bridge() `bridge`, or null. The caller must pass at least one motion, and the motions must be
  /// ordered by time stamp. Only the newest kHistory motions are kept.
  RemoteEntity(std::span<const Motion> known, MotionPath path, const ShownBlends& blends,
               const BlendPolicy& policy = {}, const Motion* bridge = nullptr);

  /// Adds a received motion while `shown_time_s` is the shown time, and blends it in as `blend` says. At a
  /// teleport the shown pose jumps. From now on the newest motion is known to be valid until
  /// `valid_until_s`, s.
  ///
  /// If the motion changes the frame of the shown state, `shown` must be the currently shown state,
  /// converted to the motion's frame. If `shown` is empty, the shown pose jumps.
  ///
  /// Returns false and changes nothing in three cases: a motion with this time stamp is already known, the
  /// history is full and all its motions are newer, or one of the times is not valid.
  bool receive(const Motion& motion, double shown_time_s, BlendTime blend,
               double valid_until_s = kAlwaysValid, const std::optional<State>& shown = std::nullopt);

  /// Sets the time until which the newest motion is known to be valid. From that time on the shown entity
  /// fades to rest (faded_state()). If this moves the pose shown at `time_s`, the difference is blended in as
  /// `blend` says.
  void set_valid_until(double valid_until_s, double time_s, BlendTime blend);
  /// The time until which the newest motion is known to be valid, s; kAlwaysValid means without limit.
  [[nodiscard]] double valid_until_s() const { return blends_.valid_until_s; }

  /// The state to show at `time_s` (ShownMotions::shown()).
  [[nodiscard]] State shown(double time_s) const {
    return view().shown(is_time(time_s) ? time_s : newest().time_s);
  }

  /// Sets the shown state at `time_s` to `shown`, and blends from there onto the motion as `blend` says. A
  /// catch-up in progress keeps its end.
  void correct(const State& shown, double time_s, BlendTime blend);

  /// As correct(), but later corrections do not change when the blend ends. A correction that takes longer
  /// than the ordinary ones needs this: the next motion would otherwise cover the rest of the distance in the
  /// time of an ordinary blend. If the entity would be faster than its top speed, does what correct() does.
  void correct_slowly(const State& shown, double time_s, double duration_s);

  /// Shows the motion that begins with `shown` at `time_s` instead of the known motions, until release(). For
  /// a hit that the caller anticipates: the known motions do not contain it. is_anticipation_over() tells
  /// when they do. Motions with a time stamp above `sure_s` certainly contain the hit. The anticipation lasts
  /// until `until_s` at most. Times are in s.
  void anticipate(const State& shown, double time_s, double sure_s, double until_s);
  /// Blends that begin later have this shape (BlendPolicy::shape). Those in progress keep theirs.
  void set_blend_shape(const BlendShape* shape) { policy_.shape = shape; }

  /// True between anticipate() and release().
  [[nodiscard]] bool is_anticipated() const { return anticipation_.has_value(); }
  /// True if the anticipation should end at `time_s`: it has lasted long enough, or a known motion contains
  /// the hit. A motion that arrived after anticipate() contains the hit if its velocity resembles the
  /// velocity after the hit more than the velocity before it. If the entity is interpolated, shown time must
  /// also have reached the time stamp of that motion.
  [[nodiscard]] bool is_anticipation_over(double time_s) const;
  /// Ends the anticipation while `time_s` is shown. The shown pose jumps; call correct() or correct_slowly()
  /// afterwards to continue from the pose shown before.
  void release(double time_s);

  /// Call this when shown time jumps from `before_s` to `now_s`, s. Blends from the pose shown before onto
  /// the pose at `now_s` as `blend` says; on a route, it blends along the route. `rate` is the speed of shown
  /// time before the jump, in seconds of shown time per second.
  void jump(double before_s, double now_s, double rate, BlendTime blend);

  /// Changes the path while `time_s` is shown, and blends as `blend` says. The shown pose jumps if a teleport
  /// or a change of frame lies between the shown time and the newest motion.
  void set_path(MotionPath path, double time_s, BlendTime blend);

  /// The frame of shown() at `time_s`.
  [[nodiscard]] FrameId frame(double time_s) const { return view().active(time_s).frame; }

  /// A change of frame without a teleport, from one motion to the next.
  struct FrameChange {
    FrameId from;         ///< the frame before the change
    double from_s = 0.0;  ///< time stamp of the motion before the change, s
    Motion to;            ///< the first motion in the new frame; its time stamp is the time of the change
  };
  /// The change of frame at the end of the motion that is shown at `time_s`. Nullopt if there is no such
  /// change, or if bridge() was already called for it. Also nullopt if the motion lasts less than
  /// ShownMotions::kShortestBridgeS; extrapolation until the change is then good enough.
  [[nodiscard]] std::optional<FrameChange> next_frame(double time_s) const;

  /// Sets the end of the interpolation across `change`, which next_frame() returned. `end` is the state of
  /// `change.to`, converted to the frame before the change. If this moves the pose shown at `time_s`, the
  /// difference is blended in as `blend` says. It never moves the pose at the time stamp of the motion
  /// before the change, where the interpolation begins.
  void bridge(const FrameChange& change, const State& end, double time_s, BlendTime blend);
  /// The end that was set last, with the time of the change. Null if there is none.
  [[nodiscard]] const Motion* last_bridge() const { return bridge_ ? &*bridge_ : nullptr; }

  /// A change of frame that shown time has already passed.
  struct FrameCrossing {
    double time_s = 0.0;  ///< when the frame changed, s of shown time
    State shown;          ///< the shown state at that time, in the old frame
  };
  /// The change of frame by which the entity left the frame `before` and came into its frame at `time_s`.
  /// Nullopt if the entity came from another frame, if it came by a teleport, or if the change is no longer
  /// in the history.
  [[nodiscard]] std::optional<FrameCrossing> crossing(FrameId before, double time_s) const;

  /// Call this after a change of frame. Blends from `shown` onto the motion as `blend` says. The blend
  /// counts from `crossed_s`, the time at which the frame changed. `shown` is the state that was shown at
  /// `crossed_s`, converted to the new frame; if it is empty, the pose jumps.
  void continue_in_new_frame(const std::optional<State>& shown, double crossed_s, BlendTime blend);

  /// Call this when shown time has come to `time_s`, before anything else happens at that time, and again
  /// after receive() at that time. Keeps the shown pose continuous where motions in different frames follow
  /// each other without a teleport: interpolates to the first motion in the new frame as seen from the old
  /// one (the bridge), and blends in the new frame from the pose that was shown in the old one.
  ///
  /// `before` is the frame that was shown at `last_s`, the time of the last call. `converted(state, from, to,
  /// time_s)` converts a state from one frame to another as they are at `time_s`; it returns an empty
  /// std::optional<State> if that is impossible, and then the pose jumps. Blends take `blend_s` seconds; 0:
  /// the entity was not shown yet. What this function does depends on the known motions and on `converted`,
  /// but not on how often it is called. So a server can compute what a client showed, although it does not
  /// know the times of the client's pictures.
  template <class Converted>
  void settle_frames(FrameId before, double last_s, double time_s, double blend_s, Converted&& converted) {
    if (blend_s > 0.0) {
      if (const auto crossed = crossing(before, time_s)) {
        // This needs the bridge to the change that has passed, so it comes before the bridge to the next one.
        continue_in_new_frame(converted(crossed->shown, before, frame(time_s), crossed->time_s),
                              crossed->time_s, blend_s);
      }
    }
    if (const auto change = next_frame(time_s)) {
      if (const auto end = converted(change->to.state, change->to.frame, change->from, change->to.time_s))
        bridge(*change, *end, change->from_s > last_s ? change->from_s : time_s, blend_s);
    }
  }

  /// Removes all motions in the frame `gone`. If the entity was in that frame at the time stamp of `instead`,
  /// adds `instead` in their place. If the pose was shown in that frame, it jumps; call correct() afterwards
  /// to continue from the pose shown before.
  void leave_frame(FrameId gone, const Motion& instead);

  /// Call this when another entity uses this entity as its frame. `lever_m` is the distance between the two
  /// entities, m; values above 100 count as 100. Every correction of this entity also moves the other entity.
  /// So from now on corrections of position and orientation are blended in more gently.
  void set_lever(double lever_m) {
    constexpr double kLongestLeverM = 100.0;
    blends_.gentle_until_s = std::numeric_limits<double>::infinity();
    blends_.lever_m = std::max(blends_.lever_m, std::min(lever_m, kLongestLeverM));
  }

  /// True if any known motion is in `frame`.
  [[nodiscard]] bool has_motion_in(FrameId frame) const;

  /// The state at `time_s`, for use as a frame of other entities. Equal to shown(), except before the first
  /// motion. There the first motion is extrapolated backwards.
  [[nodiscard]] State as_frame(double time_s) const {
    constexpr double kLongestS = 2.0;  // more than the delay of any buffered mode: a clock stood still
    const bool before = path_ == MotionPath::interpolate && time_s < oldest().time_s;
    return before ? state_at(oldest(), std::max(time_s, oldest().time_s - kLongestS)) : shown(time_s);
  }

  /// True if a catch-up has ended by `time_s`. drop_ended_catch_up() then lets the entity be sampled in a
  /// batch again.
  [[nodiscard]] bool has_ended_catch_up(double time_s) const {
    return blends_.catch_up.duration_s() > 0.0 && blends_.catch_up.over(time_s);
  }
  /// Removes the catch-ups that have ended by `time_s`. Do not ask for earlier times afterwards.
  void drop_ended_catch_up(double time_s);

  /// Number of jumps so far, modulo 2^32, that no teleport caused: the distance to a motion was too large for
  /// a catch-up (BlendTime).
  [[nodiscard]] std::uint32_t jumps() const { return blends_.jumps; }
  /// The time of the newest of these jumps, s of shown time. It may be later than the shown time.
  [[nodiscard]] double jumped_s() const { return blends_.jumped_s; }

  /// The state at `time_s` without the blend and the catch-up in space, and without a chase.
  [[nodiscard]] State unblended(double time_s) const { return view().unblended(time_s); }

  /// The state at `time_s` without any correction: interpolated between the known motions, extrapolated after
  /// the newest one, for both values of MotionPath. Fades like shown(). `time_s` must not be before the time
  /// stamp of oldest(). Relative to motion_frame() at that time.
  [[nodiscard]] State motion_at(double time_s) const;
  /// The frame of motion_at().
  [[nodiscard]] FrameId motion_frame(double time_s) const;

  /// The teleport counter (Motion::teleports) at `time_s`. When the counter changes, the shown pose has
  /// jumped.
  [[nodiscard]] std::uint8_t teleports(double time_s) const { return view().active(time_s).teleports; }

  /// The route on which the pose shown at `time_s` lies. Null if the entity moves freely, and also during a
  /// blend from or to free motion.
  [[nodiscard]] const Route* route(double time_s) const { return view().route(time_s); }

  /// True if shown() is equal to extrapolate() of the newest motion with blend() applied to it, at any time
  /// from kExtrapolateBackS before the motion's time stamp on. Such an entity can be sampled in a batch
  /// (MotionBatch).
  [[nodiscard]] bool is_blended_prediction() const {
    return !anticipation_ && path_ == MotionPath::predict && newest().route == nullptr &&
           floor_of(newest()) == nullptr && walls_of(newest()) == nullptr &&
           blends_.are_valid_for(newest()) && blends_.valid_until_s == kAlwaysValid &&
           !(newest().never_reverses && is_braking(newest().state)) && is_unlimited() &&
           blends_.catch_up.duration_s() <= 0.0;
  }

  /// The motions that are kept, ordered by time stamp. Valid until the next change.
  [[nodiscard]] std::span<const Motion> known() const { return history_.motions(); }
  /// The motion with the newest time stamp.
  [[nodiscard]] const Motion& newest() const { return history_.newest(); }
  /// The oldest motion that is still kept.
  [[nodiscard]] const Motion& oldest() const { return history_.oldest(); }
  /// The blend in space.
  [[nodiscard]] const Blend& blend() const { return blends_.free; }
  /// All current corrections.
  [[nodiscard]] const ShownBlends& blends() const { return blends_; }

 private:
  // What is shown instead of the known motions (anticipate()).
  struct Anticipation {
    Motion motion;
    double known_s = 0.0;  // time stamp of the newest motion at the time of anticipate(), s
    double sure_s = 0.0;
    double until_s = 0.0;
  };
  [[nodiscard]] bool contains_hit(const Motion& motion) const;

  // False for NaN. A time stamp of 1e300 would make all later motions look old.
  [[nodiscard]] static constexpr bool is_time(double time_s) {
    constexpr double kLargestS = 1e13;
    return time_s >= -kLargestS && time_s <= kLargestS;
  }
  [[nodiscard]] static constexpr bool is_valid(BlendTime blend) {
    return is_time(blend.blend_s) && is_time(blend.behind_s);
  }
  [[nodiscard]] ShownMotions view() const {
    if (anticipation_) return {{&anticipation_->motion, 1}, MotionPath::predict, blends_};
    return {history_.motions(), path_, blends_, bridge_ ? &*bridge_ : nullptr};
  }
  // True if there is no chase, and the newest motion reaches neither its top speed nor the edge of its world
  // within kLongestS. Within that time the next update arrives, or the entity counts as lost.
  [[nodiscard]] bool is_unlimited() const {
    constexpr double kLongestS = 6.0;
    return blends_.chase.start_s == Chase{}.start_s && stays_within_limits(newest(), kLongestS);
  }
  [[nodiscard]] bool is_chasing(double time_s) const {
    return view().chase_under_way(view().active(time_s), time_s).has_value();
  }
  // The state that was shown before a change, that state without the catch-up in progress, and the speed of
  // the motion, m/s.
  struct Before {
    State shown;
    State caught_up;
    double moves_mps = 0.0;
  };
  [[nodiscard]] Before before_change(const State& base, double time_s) const {
    const State shown = view().shown_from(base, time_s);
    return {shown, blends_.catch_up.over(time_s) ? shown : view().caught_up_from(base, time_s),
            glm::length(glm::dvec3{base.velocity})};
  }
  // As Before, for a motion on a route.
  struct BeforeAlong {
    RouteState shown;
    RouteState caught_up;
  };
  [[nodiscard]] std::optional<BeforeAlong> before_change_along(double time_s) const;
  [[nodiscard]] double catch_up_left_s(double time_s) const;
  [[nodiscard]] bool has_faded(const Motion& motion, double time_s) const;
  void end_faded(const Motion& motion, const State& base, double time_s);
  void drop_catch_up();
  void hurry(double time_s);
  void leave_route(double time_s, BlendTime& blend);
  // In the following functions, `base` is view().unblended(time_s). Their callers often have it already.
  void continue_from(const Before& before, const State& base, bool moved, double time_s, BlendTime blend);
  [[nodiscard]] bool is_clearly_within(const State& base, double time_s, double max_mps) const;
  [[nodiscard]] std::optional<double> too_fast_from_s(const State& base, double time_s, double max_mps) const;
  void start_chase_if_too_fast(const State& base, double time_s);
  void chase_instead_of_catch_up(double time_s);
  [[nodiscard]] double distance_at_end_m(const Chase& chase);
  [[nodiscard]] bool are_motions_slow(const State& base, double time_s);
  void give_up_chase(Chase chase, const State& base, double time_s);
  void blend_from(const Before& before, const State& base, double time_s, BlendTime blend);
  void blend_or_catch_up(const State& shown, double time_s, double left_s, BlendTime blend);
  void start_catch_up(const Before& before, const State& base, double time_s, double wanted_s);
  void begin_catch_up(const Blend& catch_up, double time_s);
  void note_wall(const State& shown, const State& base, double time_s);
  [[nodiscard]] double turn_share(double time_s) const;
  void jump_to_motion(double time_s);
  void correct_gently_from(double time_s);
  void note_new_frame(const Motion& motion, double time_s);
  void change_frame(const std::optional<State>& shown, double time_s, BlendTime blend);
  void apply_to_motion_at(double time_s);
  void start_blend(const Blend& blend, const State& base, double time_s);
  void end_blend(double time_s);
  void blend_along(const BeforeAlong& before, double time_s, BlendTime blend);

  MotionHistory history_;
  MotionPath path_;
  BlendPolicy policy_;
  ShownBlends blends_;
  std::optional<Motion> bridge_;  // end of the interpolation across the next change of frame
  std::optional<Anticipation> anticipation_;
  std::optional<FrameId> left_frame_;  // by leave_frame(); empty after the next motion
};

}  // namespace reckoner
