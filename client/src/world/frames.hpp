// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/world/entity_store.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <reckoner/reckoning/frame.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {

/// A state whose time runs at `rate` seconds a second, and with it all motion.
[[nodiscard]] State at_rate(State state, float rate);

/// Puts together what is shown of things that live in the frames of others: their own motion, in the frame,
/// and what is shown of the frame at the same instant. Carries them over from frame to frame, continuous in
/// the world.
///
/// What the server sends makes no circles; what arrives may, for a moment or on purpose. A frame that is not
/// known, goes round, or lies in more than kMostFrames others is no frame, and nothing can be shown in it.
class Frames {
 public:
  explicit Frames(EntityStore& entities) : entities_(entities) {}

  /// The entity in this slot has a motion, perhaps in a frame.
  void note(std::uint32_t slot, const Motion& motion);
  [[nodiscard]] bool any() const { return !slots_.empty(); }

  /// The frame itself in the world, as it is shown for the instant `time_s`; nothing if it is none.
  [[nodiscard]] std::optional<State> in_world(FrameId frame, double time_s) const;

  /// True if the entity may live in `frame`: which is one, at `time_s`, and not in the entity itself.
  [[nodiscard]] bool can_hold(FrameId frame, EntityId id, double time_s) const;

  /// The same for the instant of begin(), reckoned once for all who live in it. Null if it is none. Valid
  /// until the next call of either.
  void begin(double time_s);
  [[nodiscard]] const State* at(FrameId frame);

  /// A state in one frame as it is in another, both as they are shown for `time_s`; nothing if either is
  /// none.
  [[nodiscard]] std::optional<State> carried(const State& state, FrameId from, FrameId to,
                                             double time_s) const;

  /// What is shown has come to `shown_s`, in buffered mode: carries over whatever crosses from one frame to
  /// another.
  void settle(double shown_s, double blend_s);
  void settle(KnownEntity& entity, double shown_s, double blend_s) const;

  /// Takes in a motion as RemoteEntity::receive() does, from whatever frame to whatever.
  bool receive(KnownEntity& entity, const Motion& motion, double shown_s, double blend_s,
               double holds_until_s);

  /// Shown time jumps from `before_s`, where it ran at `rate`, to `now_s`: all that is visible is blended
  /// over it, as RemoteEntity::jump() does, whatever frames lie between.
  void jump(double before_s, double now_s, double rate, double blend_s) const;

  /// Changes the path of all but what the client owns, as RemoteEntity::set_path() does, while `shown_s` is
  /// shown; whatever frames lie between.
  void set_path(Path path, double shown_s, double blend_s);

  /// An entity is about to vanish, having ended just after `ended_s`: what lives in it goes on as it moved
  /// then, in the frame that this was in itself, from what is shown at `shown_s`.
  void release(const KnownEntity& gone, double ended_s, double shown_s, double blend_s);

 private:
  struct Memo {
    std::uint64_t stamp = 0;
    FrameId frame;
    std::optional<State> state;
  };
  [[nodiscard]] std::optional<State> in_world(FrameId frame, double time_s, int most) const;

  EntityStore& entities_;
  std::vector<std::uint32_t> slots_;  // of all that have a motion in a frame, in order
  std::vector<Memo> memos_;           // by slot of the frame
  std::uint64_t stamp_ = 0;
  double time_s_ = 0.0;
};

}  // namespace reckoner
