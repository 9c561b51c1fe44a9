// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/playout/tick_clock.hpp"
#include "net/src/codec/motion_codec.hpp"
#include "net/src/link/baselines.hpp"
#include "reckoning/src/motion/velocity_watch.hpp"
#include "reckoning/src/prediction/motion_fit.hpp"
#include "reckoning/src/prediction/send_policy.hpp"

#include <cstdint>
#include <optional>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/shown_motions.hpp>

namespace reckoner {

/// An entity that this client owns. It contains the states from the game, and the sender that decides which
/// motions the server needs. The sender uses the same fit, threshold, rounding and baselines as the server's
/// publisher.
///
/// The game calls move() when it draws, but the sender works in server ticks. States in between are
/// interpolated with the cubic through the last two states of the game.
class OwnedEntity {
 public:
  OwnedEntity(const Archetype& archetype, const Quantisation& quantisation, const TickClock& clock,
              double updates_per_second, std::uint8_t term, const Motion& start);

  /// Sets the state of the entity at server time `now_s`, relative to `frame`. `delay_s` is the time that
  /// updates take to reach the clients that see the entity, s; 0 means unknown. `now_s` must be later than in
  /// the last call. Returns false and changes nothing if the state is invalid or cannot be encoded. A change
  /// of frame is sent at once. `teleports`: the game has teleported the entity to this state, which is sent
  /// at once, too.
  bool move(const State& state, FrameId frame, double now_s, double delay_s, bool teleports = false);

  /// Call this before a state that does not continue the earlier states, because the game resumes elsewhere.
  void interrupt() { interrupted_ = true; }

  /// Begins a new term with the motion `start`, to which the server has moved the entity.
  void restart(std::uint8_t term, const Motion& start);

  /// Publishes the next tick in full, because the server lacks the newest motion.
  void request_resend() { resend_ = true; }

  [[nodiscard]] std::uint8_t term() const { return term_; }
  [[nodiscard]] std::uint8_t teleports() const { return teleports_; }
  [[nodiscard]] const PublishStream& stream() const { return stream_; }
  [[nodiscard]] const Quantisation& quantisation() const { return *quantisation_; }
  [[nodiscard]] double tick_rate_hz() const { return clock_.tick_rate_hz; }
  /// The last state from the game, with its time.
  [[nodiscard]] const Motion& last() const { return last_; }

  /// What the game has left at zero in the last state, although the entity moves (VelocityWatch::Missing).
  [[nodiscard]] std::uint8_t missing_velocities() const { return watch_.missing(); }

  /// True if a motion waits to be sent, or to be sent again after a loss.
  [[nodiscard]] bool due() const { return due_; }

  /// The number of the publish that is the baseline for writing the newest motion. 0: it must be written in
  /// full.
  [[nodiscard]] std::uint32_t reference() const;
  /// The newest motion was written into a datagram.
  void sent() { due_ = false; }
  /// Call this when the datagram with the publish of this number and term was acknowledged or lost.
  void note_outcome(std::uint8_t term, std::uint32_t number, bool acked);

 private:
  [[nodiscard]] Tick tick_at(double time_s) const;
  void publish_if_due(const State& truth, Tick tick, double ahead_s);
  struct Instant {
    Tick tick;
    double time_s;
  };
  [[nodiscard]] bool is_due(const State& truth, const State& fitted, const Instant& now, double ahead_s);
  void publish(const State& truth, const State& fitted, Tick tick, double ahead_s);

  const Archetype* archetype_;
  const Quantisation* quantisation_;
  TickClock clock_;
  double updates_per_second_;  // 0: the threshold decides
  VelocityWatch watch_;
  MotionFit fit_;
  SendPolicy policy_;
  CodingModeChooser coding_mode_;
  PublishStream stream_;
  std::uint8_t term_ = 0;
  std::uint8_t teleports_ = 0;
  Motion last_;  // the game's last state, with its frame
  Tick last_tick_ = 0;
  bool interrupted_ = false;
  bool due_ = false;
  bool resend_ = false;
  std::uint32_t acknowledged_ = 0;  // newest publish that the server has acknowledged
  unsigned losses_ = 0;             // losses in a row
};

}  // namespace reckoner
