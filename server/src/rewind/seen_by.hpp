// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/ack_window.hpp"
#include "net/src/messages/datagram.hpp"
#include "server/src/rewind/seen_entity.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// Reconstructs what one client showed during the last second, from the motions it was sent, its reports of
/// when it applied them (ShowingReport), and the client's own code.
///
/// The client's reports are limited to plausible values. They cannot reach further back than the limit.
class SeenBy {
 public:
  /// Length of the history, s.
  static constexpr double kHistoryS = 1.0;

  SeenBy(Path path, double blend_s, double limit_s) : path_(path), blend_s_(blend_s), limit_s_(limit_s) {}

  /// The client changes to `path` and `blend_s`, at an unknown time. As after a jump in time, it is then
  /// unknown for a while what the client shows.
  void change(Path path, double blend_s);

  /// The client was sent the announcement of an entity with the motion `first`.
  void announced(EntityId id, const Motion& first);
  /// A newer motion was sent reliably after the announcement, before the client acknowledged it.
  void announced_again(EntityId id, const Motion& newer);
  /// The client acknowledged the announcement; it did so in the report that take_in() gets next, or in the
  /// one before.
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

  /// Processes the report and acknowledgement in a client's datagram that arrived at server time `now_s`.
  /// Returns why the report is refused, or nothing. While the client's clock is far off, it is unknown what
  /// it shows.
  std::optional<Refusal> take_in(const ShowingReport& report, const std::optional<Ack>& ack, double now_s);

  /// Returns the shown time at `time_s`, the client's own estimate of server time. `now_s` is the server's
  /// present time. Empty if it is unknown, or further back than the limit.
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
  // A datagram; `open` until its arrival at the client is known.
  struct Sent {
    Sequence sequence = 0;
    bool open = false;
    double sent_s = 0.0;
    std::vector<SentPublish> carried;
  };
  // When the client's clock was at `now_s`, the client showed `shown_s`.
  struct Instant {
    double now_s = 0.0;
    double shown_s = 0.0;
  };
  static constexpr std::size_t kSent = 256;
  static constexpr std::size_t kMostInstants = 256;

  [[nodiscard]] SeenEntity* find(EntityId id) const;
  [[nodiscard]] std::optional<State> in_world(const SeenEntity& entity, double shown_s, int most) const;
  [[nodiscard]] std::optional<State> frame_at(FrameId frame, double shown_s, int most) const;
  void begin_era(unsigned era, double shown_s);
  void note_instant(const Instant& instant);
  void apply(Sent& datagram, double shown_s);
  void guess_arrivals(const Ack& ack, const Instant& instant, double now_s);

  Path path_;
  double blend_s_;
  double limit_s_;
  bool changed_ = false;                               // path or blend changed since the last report
  std::vector<std::unique_ptr<SeenEntity>> entities_;  // by slot; null: unknown to the client
  std::vector<EntityId> own_;
  std::vector<EntityId> confirmed_;  // acknowledged since the last report
  std::array<Sent, kSent> sent_{};   // by sequence modulo kSent
  std::deque<Instant> instants_;     // of the current era, ascending
  std::optional<unsigned> era_;
  double known_from_s_ = 0.0;  // start of the known history, shown time, s
  double lag_s_ = 0.1;         // typical time from sending a motion to applying it, s
};

}  // namespace reckoner
