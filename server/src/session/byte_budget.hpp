// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/session/link_window.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace reckoner {

/// How many bytes one client may be sent: the configured rate, lowered to what its link carries.
///
/// A token bucket whose rate follows the link. Two things lower the rate:
/// - Delay: the least round trip of the last half second against the least of ten seconds. Least against
///   least, because jitter raises single round trips but leaves the least nearly where it is, while a queue
///   raises them all (the idea of LEDBAT, RFC 6817, and BBR, N. Cardwell et al. 2016).
/// - Heavy loss (30 % and more), for links that drop instead of queueing.
/// Either way the rate becomes a little less than what was delivered of late, and what the queue holds is
/// paid back before anything more is sent, so that it runs empty. Then comes the proof: if neither delay nor
/// loss has fallen, this client's bytes were not the reason - a longer route, somebody else's download, radio
/// noise - and the rate is as before. Otherwise it rises slowly, and faster once it is past what the link
/// could carry before.
///
/// A delay that comes between one datagram and the next, while what follows arrives as fast as before, is a
/// longer route at once: no queue grows by more than what was sent in between.
///
/// What is under way is bounded, too, so that a queue which grows faster than it can be measured stays short.
/// It starts at 8 kB/s at most and doubles every quarter second while most of it is used and no queue grows.
///
/// Bytes are those on the wire, headers included; times are seconds on one clock that never goes back. What
/// clients claim is not trusted: the rate never exceeds the configured one, and one that acknowledges late,
/// never or what it did not get slows down, or fills, its own link only.
class ByteBudget {
 public:
  /// The rate never falls below this, bytes/s, unless the configured one is lower: room for heartbeats.
  static constexpr double kLeastBytesPerSecond = 1000.0;

  /// `most_bytes_per_second`: the configured rate; 0: none, only the link limits. `tick_s`: how often
  /// advance() is called, s. Unless it is to `follow_link`, the rate is the configured one from the start.
  ByteBudget(double most_bytes_per_second, double tick_s, bool follow_link = true);

  /// Once a tick, after its acknowledgements. Refills the bucket: at most a quarter second's worth, or one
  /// datagram if that is more.
  void advance(double now_s);

  /// Whether another datagram is worth its headers now: for one of normal size, or for 40 ms' worth.
  [[nodiscard]] bool affordable() const { return available() >= quantum(); }

  /// A datagram of fewer bytes is not worth its headers, unless there is no more to say.
  [[nodiscard]] double quantum() const;

  /// What is in the bucket, bytes, or less if much is under way that nobody answers for; negative: overdrawn.
  /// Datagrams should not be larger, so that none of them blocks a slow link for long.
  [[nodiscard]] double available() const { return std::min(tokens_, room_); }

  /// A datagram, or something on the reliable channel, was sent, whether there was enough in the bucket or
  /// not.
  void spend(std::size_t wire_bytes, double now_s);

  /// How many bytes may be under way on the reliable channel, sent and not known to have arrived: what the
  /// link takes up in a round trip and a little more. With more of them a slow link's queue fills, all
  /// time-outs run out, and everything is sent again.
  [[nodiscard]] double reliable_room() const;

  /// So much of what went by the reliable channel is known, now, to have arrived.
  void reliable_arrived(std::size_t wire_bytes, double now_s);

  /// The client acknowledged, now, a datagram sent at `sent_s`, and says that it waited `ack_delay_s` first.
  /// Must be called too for one that was given up as lost: when a queue grows fast, all are late, and only
  /// their acknowledgements tell that it is a queue.
  void acknowledged(double sent_s, double now_s, double ack_delay_s, std::size_t wire_bytes);

  /// A datagram sent at `sent_s` turned out lost now.
  void lost(double sent_s, double now_s, std::size_t wire_bytes);

  /// It was not: it is about to be acknowledged().
  void found(double sent_s);

  /// The rate in force, bytes/s.
  [[nodiscard]] double bytes_per_second() const { return rate_; }

 private:
  /// What was lowered and has to prove that it helped.
  enum class Trial : std::uint8_t { none, delay, loss };

  [[nodiscard]] double most() const;
  [[nodiscard]] double threshold_s() const;
  [[nodiscard]] double most_under_way() const;
  [[nodiscard]] double capacity_now(double queue_s, std::size_t slots, double now_s) const;
  void set_rate(double bytes_per_second);
  void judge(double now_s);
  void judge_silence(double now_s);
  void note_step(double sent_s, double round_trip_s, double bytes, double now_s);
  bool judge_step(const LinkWindow::Summary& quick, double now_s);
  bool judge_trial(const LinkWindow::Summary& slow, const LinkWindow::Summary& quick, double now_s);
  bool judge_loss(double now_s);
  void begin(Trial trial);
  void drain(double bytes_per_second, double queue_s, double now_s);
  void lower(double bytes_per_second, double pause_s, double now_s);
  void grow(bool calm, double now_s);
  [[nodiscard]] double growth();

  double most_bytes_per_second_;
  double tick_s_;
  bool follow_link_;
  double rate_;
  double tokens_;
  double room_;  // bytes that may be under way besides those that are
  double now_s_ = -1.0;
  LinkWindow window_;
  // A small datagram among larger ones is faster on a slow line, and says nothing of them.
  double usual_bytes_ = 0.0;
  double noise_s_ = 0.0;  // smoothed distance of the mean round trip from the least

  double since_s_ = 0.0;   // datagrams sent before tell nothing of the rate in force
  double capacity_ = 0.0;  // what the link could carry when it was last full, bytes/s; 0: never was
  double growth_step_ = 0.0;
  double next_growth_s_ = 0.0;
  double last_growth_s_ = 0.0;
  double spent_ = 0.0;  // since the last growth, bytes

  Trial trial_ = Trial::none;
  int failures_ = 0;          // trials in a row that did not help
  double rate_before_ = 0.0;  // the trial
  double trial_queue_s_ = 0.0;
  double trial_loss_ = 0.0;
  double trial_capacity_ = 0.0;
  double ambient_loss_ = 0.0;  // that the rate has nothing to do with

  // A step of the delay, from one datagram to the next:
  double step_s_ = -1.0;         // when it was seen; negative: none
  double step_capacity_ = 0.0;   // that the link would have, were it a queue of ours, bytes/s
  double step_delivered_ = 0.0;  // bytes since
  double stepped_from_s_ = 0.0;  // round trip of the newest datagram acknowledged

  double last_ack_s_ = -1.0;
  double newest_sent_s_ = -1.0;  // of what was acknowledged
  double spent_since_ack_ = 0.0;
};

}  // namespace reckoner
