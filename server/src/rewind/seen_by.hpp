// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/ack_window.hpp"
#include "net/src/wire/datagram.hpp"
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

/// What one client has been showing for the last second: put together from what it was sent, what it says of
/// when it applied that (ShowingReport), and its own code.
///
/// Nothing that the client says is trusted further than it can be true, and nothing of it reaches further
/// back than the limit.
class SeenBy {
 public:
  /// So far back is remembered, s.
  static constexpr double kHistoryS = 1.0;

  SeenBy(Path path, double blend_s, double limit_s) : path_(path), blend_s_(blend_s), limit_s_(limit_s) {}

  /// The client interpolates or predicts from now on, and corrects in another time; when exactly, it does not
  /// say. As after a jump, what it shows is not known for a while.
  void change(Path path, double blend_s);

  /// The client is told that an entity begins, with this motion.
  void announced(EntityId id, const Motion& first);
  /// A newer motion was sent behind that, before the client was known to have it.
  void announced_again(EntityId id, const Motion& newer);
  /// It has taken that in: with the report that is taken in next, or the one before.
  void confirmed(EntityId id);
  /// The entity ended, or concerns the client no more.
  void forget(EntityId id);

  /// The entity is the client's own, until it is sent a motion of it again: what it shows of it is not known.
  void own(EntityId id);

  /// A motion goes with a datagram.
  void sent(Sequence sequence, EntityId id, const Motion& motion, double now_s);

  /// The client shows something with this motion: perhaps in the frame of another, which carries it.
  void note_frame(const Motion& motion) const;

  /// Takes in what came with a client's datagram at server time `now_s`. While the client's clock is far off,
  /// nothing is known of what it shows.
  std::optional<Refusal> take_in(const ShowingReport& report, const std::optional<Ack>& ack, double now_s);

  /// The instant that the client showed at `time_s` by its own estimate of server time; nothing if that is
  /// not known or beyond the limit, at the server's present `now_s`.
  [[nodiscard]] std::optional<double> shown_at(double time_s, double now_s) const;

  /// What it showed of the entity then, in the world; `shown_s` as shown_at() has it.
  [[nodiscard]] std::optional<State> shown(EntityId id, double shown_s) const;

  /// Everything that it showed then, in order of slot.
  void shown(double shown_s, std::vector<SeenPose>& poses) const;

 private:
  struct SentPublish {
    EntityId id;
    Motion motion;
  };
  // A datagram whose arrival was not told yet.
  struct Sent {
    Sequence sequence = 0;
    bool open = false;
    double sent_s = 0.0;
    std::vector<SentPublish> carried;
  };
  // At `now_s` by its clock, the client showed `shown_s`.
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
  bool changed_ = false;                               // path or blend, since the last report
  std::vector<std::unique_ptr<SeenEntity>> entities_;  // by slot
  std::vector<EntityId> own_;
  std::vector<EntityId> confirmed_;  // since the last report
  std::array<Sent, kSent> sent_{};   // by sequence
  std::deque<Instant> instants_;     // of this era, in order
  std::optional<unsigned> era_;
  double known_from_s_ = 0.0;  // shown time: what was before is not known
  double lag_s_ = 0.1;         // from sending to applying, typically
};

}  // namespace reckoner
