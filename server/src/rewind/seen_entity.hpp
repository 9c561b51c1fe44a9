// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/shown_motions.hpp>

namespace reckoner {

/// One entity as one client has been showing it: which motions it knew at which instant, and how it blended
/// from one to the next, found out by running the client's own RemoteEntity over them. Instants are shown
/// time: what the client meant to show, server time, s.
class SeenEntity {
 public:
  /// A state in one frame as it was shown in another at an instant; nothing if that is not known.
  using Carry = std::function<std::optional<State>(const State&, FrameId from, FrameId to, double shown_s)>;

  /// The client knows the entity by this motion.
  SeenEntity(EntityId id, const Motion& first, Path path);

  [[nodiscard]] EntityId id() const { return id_; }

  /// Motions that are remembered at most: those of a second and a half at 170 a second.
  static constexpr std::size_t kMostSteps = 256;
  /// A motion that is told of late counts from behind so many at most: so many are blended anew. Half a
  /// second at 128 a second.
  static constexpr std::size_t kMostReplayed = 64;

  /// The client applied a motion while it showed `shown_s`, and takes `blend_s` to work it in. They may come
  /// in any order; what is known already is ignored. What is more than `keep_s` before the newest is
  /// forgotten. Whatever a client says of its instants, a call costs no more than the limits above allow.
  void add(double shown_s, const Motion& motion, double blend_s, double keep_s, const Carry& carry = {});

  /// Another lives in its frame, so far from its middle (RemoteEntity::carry()).
  void carry(double lever_m);

  /// The client shows the entity from this instant on.
  void appear(double shown_s);
  [[nodiscard]] bool appeared() const { return appear_s_ < kNever; }

  /// What is shown has jumped in time, or follows another path: how is not known. From `shown_s` on it shows
  /// the motions that it has.
  void restart(Path path, double shown_s);

  /// What the client showed for this instant, in the frame that it was in then; nothing if that is not known,
  /// or it did not show the entity. How a change of frame ahead was interpolated to is not known: the motion
  /// before it is carried on.
  struct InFrame {
    State state;
    FrameId frame;
  };
  [[nodiscard]] std::optional<InFrame> shown(double shown_s) const;

  /// Time stamp of the newest motion that the client is known to have, s.
  [[nodiscard]] double newest_s() const;

  /// Motions that are remembered.
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  // From shown_s_ of the same place on: a motion more is known, and these blends are under way.
  struct Step {
    Motion motion;
    ShownBlends blends;
    double blend_s = 0.0;
  };

  [[nodiscard]] std::size_t step_at(double shown_s) const;
  [[nodiscard]] std::vector<Motion> known_before(std::size_t step) const;
  void replay_from(std::size_t step, const Carry& carry);
  void forget_before(double shown_s);
  void forget_oldest();

  EntityId id_;
  Path path_;
  double appear_s_ = kNever;
  double first_s_;               // time stamp of the motion it began with
  std::vector<double> shown_s_;  // in order
  std::vector<Step> steps_;
};

}  // namespace reckoner
