// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/world/entity_store.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Returns `state` with its rates scaled to a time that runs at `rate` seconds per second.
[[nodiscard]] State at_rate(State state, float rate);

/// Computes the shown poses of entities in the frames of other entities. It combines their own motion within
/// the frame with the shown pose of the frame at the same instant. It also keeps the pose continuous in the
/// world when an entity changes its frame.
///
/// A correct server sends no circles of frames, but circles can arrive for a moment or from a malicious
/// server. A frame is invalid if it is unknown, part of a circle, or inside more than kMaxFrameDepth others.
/// Nothing can be shown in an invalid frame.
class Frames {
 public:
  explicit Frames(EntityStore& entities) : entities_(entities) {}

  /// Call for each motion of the entity in this slot; notes whether it is in a frame.
  void note(std::uint32_t slot, const Motion& motion);
  /// Call for each new entity: others may be in its frame, which was unknown until now.
  void note_arrival(KnownEntity& entity) const;
  /// True if some entity may be in a frame.
  [[nodiscard]] bool any() const { return !slots_.empty(); }

  /// The state of `frame` in the world as shown for the instant `time_s`; empty if the frame is invalid.
  [[nodiscard]] std::optional<State> in_world(FrameId frame, double time_s) const;

  /// True if the entity may enter `frame`: the frame is valid at `time_s` and not inside the entity itself.
  [[nodiscard]] bool can_enter(FrameId frame, EntityId id, double time_s) const;

  /// Starts an instant: at() then caches the states of frames for `time_s`.
  void begin(double time_s);
  /// As in_world() for the instant of begin(), computed once per frame. Null if the frame is invalid. Valid
  /// until the next call of begin() or at().
  [[nodiscard]] const State* at(FrameId frame);

  /// Converts a state from one frame to another, both as shown for `time_s`. Empty if either frame is
  /// invalid.
  [[nodiscard]] std::optional<State> converted(const State& state, FrameId from, FrameId to,
                                               double time_s) const;

  /// In buffered modes, converts and blends every entity that changes its frame up to `shown_s`.
  void settle(double shown_s, double blend_s);
  void settle(KnownEntity& entity, double shown_s, double blend_s) const;

  /// As RemoteEntity::receive(), but also works if the motion is in another frame than the entity.
  bool receive(KnownEntity& entity, const Motion& motion, double shown_s, BlendTime blend,
               double valid_until_s);

  /// Shown time jumps from `before_s`, where it ran at `rate`, to `now_s`. Blends all visible entities over
  /// the jump, as RemoteEntity::jump() does, even across changes of frame.
  void jump(double before_s, double now_s, double rate, BlendTime blend) const;

  /// Blends an entity from a state in the world onto its motion, while `shown_s` is shown and shown time runs
  /// at `rate`. Returns false if the entity's frame is invalid.
  bool correct(KnownEntity& entity, const State& in_world, double shown_s, double rate,
               BlendTime blend) const;

  /// As correct(), but the correction takes `duration_s` (RemoteEntity::correct_slowly()).
  bool correct_slowly(KnownEntity& entity, const State& in_world, double shown_s, double rate,
                      double duration_s) const;

  /// Changes the path of all entities that the client does not own while `shown_s` is shown. As
  /// RemoteEntity::set_path(), but also works across changes of frame.
  void set_path(MotionPath path, double shown_s, double blend_s);

  /// The entity `gone` ended just after `ended_s` and is about to be removed. Moves the entities in its frame
  /// to the frame outside it: they continue as they moved at `ended_s`, blended from what is shown at
  /// `shown_s`.
  void release(const KnownEntity& gone, double ended_s, double shown_s, double blend_s);

 private:
  struct Memo {
    FrameId frame;
    std::optional<State> state;
  };
  [[nodiscard]] std::optional<State> in_world(FrameId frame, double time_s, int most) const;
  [[nodiscard]] std::optional<State> in_shown_frame(const KnownEntity& entity, const State& in_world,
                                                    double shown_s, double rate) const;

  EntityStore& entities_;
  std::vector<std::uint32_t> slots_;  // entities that have a motion in a frame, ascending
  std::vector<Memo> memos_;           // of this instant
  // By slot of the frame's entity: one more than the index in memos_, 0: none. A server may use any slot, so
  // that only a few bytes for each are affordable.
  std::vector<std::uint32_t> memo_of_;
  double time_s_ = 0.0;
};

}  // namespace reckoner
