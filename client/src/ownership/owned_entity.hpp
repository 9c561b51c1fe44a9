// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/coding_mode_chooser.hpp"
#include "net/src/codec/motion_codec.hpp"
#include "net/src/link/baselines.hpp"
#include "reckoning/src/prediction/motion_fit.hpp"
#include "reckoning/src/prediction/send_policy.hpp"

#include <cstdint>
#include <optional>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/shown_motions.hpp>

namespace reckoner {

/// An entity that this client owns: what its game says of it, and the sender that decides what of that the
/// server must be told: the same fit, threshold, rounding and references as the server's own.
///
/// The game speaks when it draws, the sender thinks in server ticks: what lies between is the cubic through
/// what the game said last and now.
class OwnedEntity {
 public:
  struct Clock {
    double epoch_s = 0.0;
    double tick_rate_hz = 60.0;
  };

  OwnedEntity(const Archetype& archetype, const Quantisation& quantisation, const Clock& clock,
              double updates_per_second, std::uint8_t term, const Motion& start);

  /// What the entity is doing at server time `now_s`, in `frame`, of which updates take `delay_s` to reach
  /// those who see it (0: it is not known). Later than the time before. False, and no change, if it is insane
  /// or cannot travel. A new frame is told at once.
  bool move(const State& state, FrameId frame, double now_s, double delay_s);

  /// The server put it elsewhere: from now on a new term.
  void restart(std::uint8_t term, const Motion& start);

  /// The server lacks what was published last: the next tick is published, in full.
  void say_again() { again_ = true; }

  [[nodiscard]] std::uint8_t term() const { return term_; }
  [[nodiscard]] std::uint8_t teleports() const { return teleports_; }
  [[nodiscard]] const PublishStream& stream() const { return stream_; }
  [[nodiscard]] const Quantisation& quantisation() const { return *quantisation_; }
  /// What the game said last, and when.
  [[nodiscard]] const Motion& last() const { return last_; }

  /// True if a motion waits to be sent, or was lost and is to be sent again.
  [[nodiscard]] bool due() const { return due_; }

  /// The newest motion is put into a datagram. Against which publish it may refer: 0 for none.
  [[nodiscard]] std::uint32_t reference() const;
  void sent() { due_ = false; }
  /// What became of the publish of this number and term.
  void settled(std::uint8_t term, std::uint32_t number, bool acked);

 private:
  [[nodiscard]] Tick tick_at(double time_s) const;
  void look_at(const State& truth, Tick tick, double ahead_s);
  struct Instant {
    Tick tick;
    double time_s;
  };
  [[nodiscard]] bool is_due(const State& truth, const State& fitted, const Instant& now, double ahead_s);
  void publish(const State& truth, const State& fitted, Tick tick, double ahead_s);

  const Archetype* archetype_;
  const Quantisation* quantisation_;
  Clock clock_;
  double updates_per_second_;  // 0: by threshold
  MotionFit fit_;
  SendPolicy policy_;
  CodingModeChooser coding_mode_;
  PublishStream stream_;
  std::uint8_t term_ = 0;
  std::uint8_t teleports_ = 0;
  Motion last_;  // what the game said last, and in which frame
  Tick last_tick_ = 0;
  bool due_ = false;
  bool again_ = false;
  std::uint32_t held_ = 0;  // newest publish that the server is known to have
  unsigned losses_ = 0;     // in a row
};

}  // namespace reckoner
