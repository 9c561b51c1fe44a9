// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace reckoner {

/// Measurements of the connection to one client: acknowledgements, losses and bytes of the last two seconds,
/// in slots of 100 ms, and the smallest round trip of the last ten seconds. The object takes 550 bytes,
/// whatever the traffic. Times are in seconds on one monotonic clock.
class LinkWindow {
 public:
  static constexpr double kSlotS = 0.1;
  static constexpr std::size_t kSlots = 20;
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// The sum of several complete slots.
  struct Summary {
    double least_s = kNever;  ///< smallest round trip
    double mean_s = 0.0;      ///< mean round trip
    /// Number of distinct arrival times of acknowledgements. One acknowledgement may confirm several
    /// datagrams; these are not independent measurements.
    std::size_t rounds = 0;
    std::size_t acknowledged = 0;
    std::size_t lost = 0;
    std::size_t slots = 0;

    [[nodiscard]] double loss() const {
      const std::size_t all = acknowledged + lost;
      return all == 0 ? 0.0 : static_cast<double>(lost) / static_cast<double>(all);
    }
  };

  LinkWindow() { base_.fill(std::numeric_limits<float>::infinity()); }

  /// Advances to `now_s`. Returns true if a slot was completed.
  bool advance(double now_s);

  /// Counts bytes that are sent now.
  void sent(std::size_t bytes);

  /// Counts a datagram that is acknowledged now. If `counts` is false, its round trip is ignored and only its
  /// bytes count.
  void acknowledged(double now_s, double round_trip_s, std::size_t bytes, bool counts);

  /// Counts a datagram that is found lost now.
  void lost();
  /// A datagram that was counted as lost has arrived after all.
  void found();

  /// Sums up complete slots, from newest to oldest, but leaves out the newest `skipped` slots. It uses at
  /// least `slots` slots, and more until they contain `rounds` rounds or no slots are left.
  [[nodiscard]] Summary recent(std::size_t slots, std::size_t rounds, std::size_t skipped = 0) const;

  /// Bytes acknowledged per second during the newest `slots` complete slots.
  [[nodiscard]] double delivered_bytes_per_second(std::size_t slots) const;

  /// Bytes sent after `time_s`, within the last two seconds. Interpolates within a slot.
  [[nodiscard]] double sent_since(double time_s) const;

  /// The smallest round trip of the last ten seconds, s. This is the round trip of the path with empty
  /// queues, if the queues were ever empty. Infinite if nothing was measured.
  [[nodiscard]] double base_s() const;

  /// Drops round trips and losses. Keeps the bytes and the smallest round trip.
  void restart();

  /// Replaces the smallest round trip by `round_trip_s`. Call it when the path with empty queues has changed.
  void rebase(double round_trip_s);

 private:
  static constexpr std::size_t kBaseSlots = 10;
  static constexpr std::int64_t kBaseEvery = 10;  // slots
  // Index of the slot that begins at time zero. Times may be negative; indices are not, so that they wrap
  // evenly: this is a multiple of all numbers of slots.
  static constexpr std::int64_t kZero = 20'000'000'000'000'000;

  struct Slot {
    float least_s = std::numeric_limits<float>::infinity();
    float sum_s = 0.0f;
    std::uint32_t bytes = 0;  // acknowledged bytes
    std::uint32_t sent = 0;   // sent bytes
    std::uint16_t rounds = 0, acknowledged = 0, lost = 0;
  };
  [[nodiscard]] Slot& current_slot() { return slots_[static_cast<std::size_t>(index_) % kSlots]; }
  [[nodiscard]] const Slot& back(std::size_t count) const {
    return slots_[(static_cast<std::size_t>(index_) + 2 * kSlots - count) % kSlots];
  }

  std::array<Slot, kSlots> slots_;  // the newest slot is not complete
  std::array<float, kBaseSlots> base_;
  std::int64_t index_ = -1;  // index of the newest slot; negative: not started
  double last_round_s_ = -kNever;
};

/// The byte budget of one client: the configured rate, lowered to the capacity of the client's connection.
///
/// This is a token bucket whose rate follows the connection. Two measurements lower the rate.
///
/// The first is the delay: the smallest round trip of the last half second is compared with the smallest
/// round trip of the last ten seconds. Jitter raises single round trips but hardly the smallest one, while a
/// queue raises all round trips. LEDBAT (RFC 6817) and BBR (N. Cardwell et al. 2016) use this idea. The
/// second is heavy loss (30 % or more), for connections that drop packets instead of queueing them.
///
/// In both cases the rate becomes a little less than the recently delivered rate. Sending pauses until the
/// queue has drained. Then a trial follows. If neither delay nor loss has decreased, the bytes to this client
/// were not the cause, and the old rate returns. The cause was then a longer route, another download or radio
/// noise. If delay or loss has decreased, the rate rises again from the lower value. It rises slowly at
/// first, and faster once it exceeds the measured capacity.
///
/// The delay may jump from one datagram to the next while the following datagrams arrive as fast as before.
/// The route has then become longer, because a queue cannot grow by more than the bytes sent in between.
///
/// The bytes in flight are limited, too, so that a queue stays short even if it grows faster than it can be
/// measured. The rate starts at 8 kB/s at most. It doubles every quarter second while most of it is used and
/// no queue grows.
///
/// Bytes are counted on the wire, with headers. Times are in seconds on one monotonic clock. The
/// acknowledgements of clients are not trusted. The rate never exceeds the configured rate. A client may
/// acknowledge late, never, or datagrams that it did not get; this can only slow down or fill its own
/// connection.
class ByteBudget {
 public:
  /// The rate never falls below this value, bytes/s, unless the configured rate is lower. The value leaves
  /// room for heartbeats.
  static constexpr double kMinBytesPerSecond = 1000.0;
  /// Size of a full datagram with its headers, bytes.
  static constexpr double kDatagramBytes = 1240.0;

  /// `max_bytes_per_second` is the configured rate; 0: only the connection limits the rate. `tick_s` is the
  /// interval between calls of advance(), s. If `follow_link` is false, the rate is always the configured
  /// rate.
  ByteBudget(double max_bytes_per_second, double tick_s, bool follow_link = true);

  /// Refills the bucket. Call it once per tick, after the acknowledgements of the tick. The bucket contains
  /// at most the bytes of a quarter second, or one datagram if that is more.
  void advance(double now_s);

  /// True if the budget follows the capacity of the connection.
  [[nodiscard]] bool follows_link() const { return follow_link_; }
  /// True if another datagram is worth its headers now: the budget allows a full datagram, or the bytes of 40
  /// ms.
  [[nodiscard]] bool affordable() const { return available() >= quantum(); }

  /// True if motions do not use all of the rate, so that something else can be sent that would not delay
  /// them.
  [[nodiscard]] bool has_reserve() const { return available() >= 0.5 * kDatagramBytes; }

  /// True if a full datagram can be sent besides, and motions still have their reserve.
  [[nodiscard]] bool has_spare() const { return available() >= 1.5 * kDatagramBytes + quantum(); }

  /// The smallest size of a datagram that is worth its headers, bytes. A smaller datagram is sent only if it
  /// contains everything that waits.
  [[nodiscard]] double quantum() const;

  /// The bytes in the bucket, or fewer if too many bytes are in flight. Negative: the budget is overdrawn.
  /// The next datagram should not be larger than this, so that it does not block a slow connection for long.
  [[nodiscard]] double available() const { return std::min(tokens_, flight_room_); }

  /// Call it when a datagram was sent. This may overdraw the budget.
  void spend(std::size_t wire_bytes, double now_s);

  /// As spend(), in two steps, for a burst of messages. send_on_credit() counts the bytes on the connection
  /// when they are sent. charge() is called later, perhaps in several parts.
  void send_on_credit(std::size_t wire_bytes);
  void charge(std::size_t wire_bytes) {
    tokens_ -= static_cast<double>(wire_bytes);
    spent_ += static_cast<double>(wire_bytes);
  }

  /// Call it before advance() if data waits although it may use only a part of the rate. The rate then grows
  /// as if all of it were used.
  void note_waiting() { waiting_ = true; }

  /// True if a queue seems to grow on the connection. It is noticed earlier, and less surely, than the queue
  /// that lowers the rate.
  [[nodiscard]] bool may_have_queue() const;

  /// Limit of the unconfirmed bytes in flight, of all kinds.
  [[nodiscard]] double max_in_flight() const;

  /// How many unconfirmed bytes of many spawns may be in flight: the bytes that the connection carries
  /// during a round trip, and a little more. If more bytes were in flight, they would fill the queue of a
  /// slow connection, time out and be sent again.
  [[nodiscard]] double spawn_room() const;

  /// Call it when the client acknowledges, at `now_s`, a datagram sent at `sent_s`. The client reports that
  /// it waited `ack_delay_s` before it acknowledged. Call it also for a datagram that was already counted as
  /// lost. When a queue grows fast, all acknowledgements are late, and only these late ones show the queue.
  void acknowledged(double sent_s, double now_s, double ack_delay_s, std::size_t wire_bytes);

  /// Call it when a datagram sent at `sent_s` is found lost.
  void lost(double sent_s, double now_s, std::size_t wire_bytes);

  /// Call it when a datagram sent at `sent_s` is acknowledged after it was found lost. Call it before
  /// acknowledged().
  void found(double sent_s);

  /// The rate that applies now, bytes/s.
  [[nodiscard]] double bytes_per_second() const { return rate_; }
  /// What was sent in the last second, bytes/s.
  [[nodiscard]] double sent_bytes_per_second() const { return window_.sent_since(now_s_ - 1.0); }

 private:
  /// Why the rate was lowered. Set until it is known whether the lower rate helps.
  enum class Trial : std::uint8_t { none, delay, loss };

  static constexpr double kLongAgo = -LinkWindow::kNever;

  /// True after the first call of advance().
  [[nodiscard]] bool started() const { return now_s_ > kLongAgo; }
  [[nodiscard]] double max_rate() const;
  [[nodiscard]] double threshold_s() const;
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

  double max_bytes_per_second_;
  double tick_s_;
  bool follow_link_;
  double rate_;
  double tokens_;
  double flight_room_;  // how many more bytes may be in flight
  double now_s_ = kLongAgo;
  LinkWindow window_;
  // Smoothed size of the datagrams. Much smaller datagrams are faster on a slow line, so their round trips do
  // not count.
  double usual_bytes_ = 0.0;
  double noise_s_ = 0.0;  // smoothed difference between the mean and the smallest round trip

  double since_s_ = kLongAgo;  // datagrams sent before this time do not measure the current rate
  double capacity_ = 0.0;      // bytes/s when the connection was last full; 0: it was never full
  double growth_step_ = 0.0;
  double next_growth_s_ = 0.0;
  double last_growth_s_ = 0.0;
  double spent_ = 0.0;    // bytes sent since the rate last grew
  bool waiting_ = false;  // note_waiting() was called since then

  Trial trial_ = Trial::none;
  int failures_ = 0;          // trials in a row that did not help
  double rate_before_ = 0.0;  // rate before the trial, bytes/s
  double trial_queue_s_ = 0.0;
  double trial_loss_ = 0.0;
  double trial_capacity_ = 0.0;
  double ambient_loss_ = 0.0;  // loss that does not depend on the rate

  // The last jump of the delay from one datagram to the next:
  std::optional<double> step_s_;  // time when the jump was measured
  double step_capacity_ = 0.0;    // bytes/s that the connection carries if the cause of the jump is a queue
  double step_delivered_ = 0.0;   // bytes delivered since the jump
  double stepped_from_s_ = 0.0;   // round trip of the newest acknowledged datagram

  double last_ack_s_ = kLongAgo;
  double newest_sent_s_ = kLongAgo;  // newest sending time among the acknowledged datagrams
  double spent_since_ack_ = 0.0;
};

}  // namespace reckoner
