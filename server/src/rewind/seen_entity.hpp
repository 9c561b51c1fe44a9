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

/// The history of one entity as one client showed it: which motions the client knew at which instant, and how
/// it blended from each to the next. The blends are computed by running the client's own RemoteEntity over
/// the motions. Instants are shown time: the server time that the client showed, s.
class SeenEntity {
 public:
  /// Converts a state from one frame to another as the client showed them at `shown_s`; empty if that is
  /// unknown.
  using Carry = std::function<std::optional<State>(const State&, FrameId from, FrameId to, double shown_s)>;

  /// Begins with the first motion that the client knows.
  SeenEntity(EntityId id, const Motion& first, Path path);

  [[nodiscard]] EntityId id() const { return id_; }

  /// The largest number of motions kept: those of 1.5 s at 170 per second.
  static constexpr std::size_t kMostSteps = 256;
  /// The largest number of motions whose blends are recomputed when a late one is inserted: those of half a
  /// second at 128 per second. A motion that belongs before them is inserted just before them.
  static constexpr std::size_t kMostReplayed = 64;

  /// The client applied `motion` while it showed `shown_s`, and blends it in over `blend_s`. Calls may come
  /// in any order; a motion that is already known is ignored. Motions more than `keep_s` before the newest
  /// are dropped. The limits above bound the cost of a call, whatever instants the client claims.
  void add(double shown_s, const Motion& motion, double blend_s, double keep_s, const Carry& carry = {});

  /// Another entity is in this entity's frame, `lever_m` from its origin, m (RemoteEntity::carry()).
  void carry(double lever_m);

  /// The client shows the entity from `shown_s` on.
  void appear(double shown_s);
  [[nodiscard]] bool appeared() const { return appear_s_ < kNever; }

  /// The client's shown time jumped, or the client changed to `path`. How it blended over that is unknown.
  /// From `shown_s` on it shows the motions that it has.
  void restart(Path path, double shown_s);

  /// A state, and the frame that it is in.
  struct InFrame {
    State state;
    FrameId frame;
  };
  /// The state that the client showed at this instant, with its frame. Empty if that is unknown or the client
  /// did not show the entity. How the client interpolated up to a coming change of frame is unknown; the
  /// motion before the change is extrapolated instead.
  [[nodiscard]] std::optional<InFrame> shown(double shown_s) const;

  /// Time stamp of the newest motion that the client is known to have, s.
  [[nodiscard]] double newest_s() const;

  /// Number of motions kept.
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  // One motion applied by the client, at the instant shown_s_ with the same index, and the blends in progress
  // from then on.
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
  double first_s_;               // time stamp of the first motion
  std::vector<double> shown_s_;  // instant at which each step was applied, ascending
  std::vector<Step> steps_;
};

}  // namespace reckoner
