// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/shown_motions.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// The history of one entity as one client showed it: which motions the client knew at which instant, and how
/// it blended from each to the next. The blends are computed by running the client's own RemoteEntity over
/// the motions. Instants are shown time: the server time that the client showed, s.
class ShownEntityHistory {
 public:
  /// Converts a state from one frame to another as the client showed them at `shown_s`; empty if that is
  /// unknown.
  using FrameConverter =
      std::function<std::optional<State>(const State&, FrameId from, FrameId to, double shown_s)>;

  /// Begins with the first motion that the client knows.
  ShownEntityHistory(EntityId id, const Motion& first, MotionPath path);

  [[nodiscard]] EntityId id() const { return id_; }

  /// The largest number of motions kept: those of 1.5 s at 170 per second.
  static constexpr std::size_t kMaxSteps = 256;
  /// The largest number of motions whose blends are recomputed when a late one is inserted: those of half a
  /// second at 128 per second. A motion that belongs before them is inserted just before them.
  static constexpr std::size_t kMaxReplayed = 64;

  /// The client applied `motion` while it showed `shown_s`, and blends it in over `blend_s`. Calls may come
  /// in any order; a motion that is already known is ignored. Motions more than `keep_s` before the newest
  /// are dropped. The limits above bound the cost of a call, whatever instants the client claims.
  void add(double shown_s, const Motion& motion, double blend_s, double keep_s,
           const FrameConverter& carry = {});

  /// The client may have applied a motion with this time stamp, but it is unknown when, and the motion itself
  /// is lost here. What the client shows is unknown until it applies a motion that is at least as new.
  void lose(double motion_s);

  /// The client applied a motion somewhere between these shown instants. What it shows is unknown from
  /// `from_s` until its blend after `until_s` has ended. A blend that begins meanwhile begins at an unknown
  /// pose, so the doubt lasts until that blend has ended, too, for at most half a second.
  void doubt(double from_s, double until_s, double blend_s);

  /// Another entity is in this entity's frame, `lever_m` from its origin, m (RemoteEntity::carry()).
  void carry(double lever_m);

  /// The client shows the entity from `shown_s` on.
  void appear(double shown_s);
  [[nodiscard]] bool appeared() const { return appear_s_ < kNever; }

  /// The client's shown time jumped, or the client changed to `path`. How it blended over that is unknown.
  /// From `shown_s` on it shows the motions that it has.
  void restart(MotionPath path, double shown_s);

  /// A state, and the frame that it is in.
  struct FramedState {
    State state;
    FrameId frame;
  };
  /// The state that the client showed at this instant, with its frame. Empty if that is unknown or the client
  /// did not show the entity. How the client interpolated up to a coming change of frame is unknown; the
  /// motion before the change is extrapolated instead.
  [[nodiscard]] std::optional<FramedState> shown(double shown_s) const;

  /// Time stamp of the newest motion that the client is known to have, s.
  [[nodiscard]] double newest_s() const;

  /// Number of motions kept.
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kMaxDoubts = 16;

  // What the client showed between these instants is unknown.
  struct Doubt {
    double from_s;
    double until_s;
    double latest_s;  // later blends prolong it no further
  };

  // One motion applied by the client, at the instant shown_s_ with the same index, and the blends in progress
  // from then on.
  struct Step {
    Motion motion;
    ShownBlends blends;
    double blend_s = 0.0;
  };

  [[nodiscard]] std::size_t step_at(double shown_s) const;
  [[nodiscard]] std::vector<Motion> known_before(std::size_t step) const;
  void replay_from(std::size_t step, const FrameConverter& carry);
  void prolong_doubts();
  void forget_before(double shown_s);
  void forget_oldest();

  EntityId id_;
  MotionPath path_;
  double appear_s_ = kNever;
  double first_s_;               // time stamp of the first motion
  std::vector<double> shown_s_;  // instant at which each step was applied, ascending
  std::vector<Step> steps_;
  double lost_s_ = -kNever;  // time stamp of the newest motion that lose() reported and nothing replaced
  std::vector<Doubt> doubts_;
};

/// Reconstructs what one client showed during the last second, from the motions it was sent, its reports of
/// when it applied them (ShowingReport), and the client's own code.
///
/// The client's reports are limited to plausible values. They cannot reach further back than the limit.
class ShownHistory {
 public:
  /// Length of the history, s.
  static constexpr double kHistoryS = 1.0;

  ShownHistory(MotionPath path, double blend_s, double limit_s)
      : path_(path), blend_s_(blend_s), limit_s_(limit_s) {}

  /// The client changes to `path` and `blend_s`, at an unknown time. As after a jump in time, it is then
  /// unknown for a while what the client shows.
  void change(MotionPath path, double blend_s);

  /// The client was sent the announcement of an entity with the motion `first`.
  void announced(EntityId id, const Motion& first);
  /// A newer motion was sent reliably after the announcement, before the client acknowledged it.
  void announcement_updated(EntityId id, const Motion& newer);
  /// The client acknowledged the announcement, together with its next report or the one before. The next
  /// process() makes the entity appear.
  void confirmed(EntityId id);
  /// The entity ended, or the client no longer follows it.
  void forget(EntityId id);

  /// The client owns the entity. Until it is sent a motion of the entity again, it is unknown what it shows
  /// of it.
  void own(EntityId id);

  /// A motion was written into the datagram `sequence`.
  void sent(Sequence sequence, EntityId id, const Motion& motion, double now_s);

  /// The client has this motion. If it is in another entity's frame, notes that the frame contains an entity.
  void note_frame(const Motion& motion) const;

  /// The client has received these datagrams. Call it before process() with the report of the same datagram.
  void acknowledged(const Ack& ack);

  /// Processes the report in a client's datagram that arrived at server time `now_s`. Returns why the report
  /// is refused, or nothing. While the client's clock is far off, it is unknown what it shows.
  std::optional<Refusal> process(const ShowingReport& report, double now_s);

  /// Tells whether it is known what the client showed at `time_s`, the client's own estimate of server time.
  /// `now_s` is the server's present time.
  [[nodiscard]] RewindStatus status(double time_s, double now_s) const;

  /// Returns the shown time at `time_s`, or nothing unless status() is `known`.
  [[nodiscard]] std::optional<double> shown_at(double time_s, double now_s) const;

  /// Returns the state of the entity that the client showed, in the world frame; `shown_s` is from
  /// shown_at(). Empty if that is unknown.
  [[nodiscard]] std::optional<State> shown(EntityId id, double shown_s) const;

  /// Appends the poses of all entities that the client showed, in order of slot.
  void shown(double shown_s, std::vector<SeenPose>& poses) const;

 private:
  // A motion in a datagram.
  struct SentPublish {
    EntityId id;
    Motion motion;
  };
  // A datagram; `open` until it is known when the client applied it.
  struct Sent {
    Sequence sequence = 0;
    bool open = false;
    bool acked = false;  // the client has received it
    double sent_s = 0.0;
    double applied_by_s = 0.0;  // shown time of the first report after the acknowledgement; only in unreported_
    std::vector<SentPublish> content;
  };
  // When the client's clock was at `now_s`, the client showed `shown_s`.
  struct Instant {
    double now_s = 0.0;
    double shown_s = 0.0;
  };
  static constexpr std::size_t kSent = 256;
  static constexpr double kUnreported = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kMaxInstants = 256;

  [[nodiscard]] ShownEntityHistory* find(EntityId id) const;
  [[nodiscard]] std::optional<State> in_world(const ShownEntityHistory& entity, double shown_s,
                                              int most) const;
  [[nodiscard]] std::optional<State> frame_at(FrameId frame, double shown_s, int most) const;
  void begin_era(unsigned era, double shown_s);
  void note_instant(const Instant& instant);
  void apply(Sent& datagram, double shown_s);
  void guess_arrivals(const Instant& instant, double now_s);
  void lose(Sent& datagram);
  // The shown time at `time_s`; nullopt before the first instant. Requires an instant.
  [[nodiscard]] std::optional<double> interpolated_shown_time(double time_s) const;

  MotionPath path_;
  double blend_s_;
  double limit_s_;
  bool changed_ = false;                                       // path or blend changed since the last report
  std::vector<std::unique_ptr<ShownEntityHistory>> entities_;  // by slot; null: unknown to the client
  std::vector<EntityId> own_;
  std::vector<EntityId> confirmed_;  // acknowledged since the last report
  std::array<Sent, kSent> sent_{};   // by sequence modulo kSent
  std::vector<Sequence> unreported_;  // acknowledged, but no report says when the client applied them
  std::deque<Instant> instants_;     // of the current era, ascending
  std::optional<unsigned> era_;
  double known_from_s_ = 0.0;  // start of the known history, shown time, s
  double lag_s_ = 0.1;         // typical time from sending a motion to applying it, s
};

}  // namespace reckoner
