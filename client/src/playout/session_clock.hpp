// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/playout/tick_clock.hpp"
#include "net/src/link/clock_sync.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The ticks and the time of the server of one session, as this client knows them: the newest tick, the
/// server time of each tick, and an estimate of the server time now. Local times are those of the client's
/// clock, s; server times are those of the server's clock, s.
class SessionClock {
 public:
  /// The session begins with this message, whose tick must be valid.
  void begin(const WelcomeMessage& message, double local_s);
  /// The session resumes over another connection; the server's last tick is `tick`. The clock has to settle
  /// again.
  void resume(Tick tick, double local_s);

  // Ticks.

  [[nodiscard]] double tick_rate_hz() const { return ticks_.tick_rate_hz; }
  [[nodiscard]] double time_of(Tick tick) const { return ticks_.time_of(tick); }
  /// Converts ticks to time for the entities that this client owns.
  [[nodiscard]] const TickClock& tick_clock() const { return ticks_; }

  /// True if a server can have reached this tick. Such a tick is well before the wrap of the counter.
  [[nodiscard]] static bool is_valid_tick(Tick tick);
  /// True if the tick is so far after the newest known one that the server cannot have run it yet.
  [[nodiscard]] bool is_far_ahead(Tick tick) const;
  /// True if a datagram of this tick must not be read any more, because the server may have reused slots
  /// since then.
  [[nodiscard]] bool is_too_old(Tick tick) const;
  /// The tick with these low 16 bits that is nearest to the newest known one.
  [[nodiscard]] Tick unwrap(std::uint16_t low_bits) const { return unwrap16(low_bits, newest_tick_); }
  /// The server has run this tick.
  void note_tick(Tick tick) { newest_tick_ = std::max(newest_tick_, tick); }

  // Time stamps.

  /// The stamp of this client's datagrams at local time `local_s`.
  [[nodiscard]] static std::uint32_t stamp_at(double local_s);
  /// A datagram of tick `tick`, perhaps with an echo of a stamp, is received at local time `local_s`. It
  /// arrived in the machine at `arrived_s`.
  void note_datagram(Tick tick, const std::optional<Echo>& echo, double local_s, double arrived_s);
  /// The smallest round trip of late, s; nullopt if it is unknown.
  [[nodiscard]] std::optional<double> round_trip_s() const { return sync_.round_trip_s(); }

  /// Sets whether datagrams are a backlog from now on. Datagrams of a backlog queued while the program slept,
  /// and arrived at an unknown earlier time. They do not change the clock, unless the clock is not known yet.
  void set_backlog(bool backlog) { backlog_ = backlog && sync_.known(); }
  [[nodiscard]] bool is_backlog() const { return backlog_; }
  /// The time for which a datagram of tick `tick` waited unread, s, if it is one of a backlog; otherwise 0.
  [[nodiscard]] double waited_s(Tick tick, double local_s) const;
  /// The server time at which a datagram arrived that is received now. For a backlog this is an estimate, the
  /// time of the newest tick. If the clock was set far ahead, it is limited by that tick, too: otherwise
  /// motions would be valid until the clock is corrected.
  [[nodiscard]] double arrival_s(double local_s) const {
    constexpr double kSlackS = 0.25;
    const double slack_s = backlog_ ? 0.0 : kSlackS + std::min(1.0, sync_.round_trip_s().value_or(1.0));
    return std::min(server_time_s(local_s), time_of(newest_tick_) + slack_s);
  }

  // The estimate.

  /// Call it after the arrivals until local time `local_s`. See ClockSync::review(). If the local clock has
  /// changed, the estimate has to settle again.
  [[nodiscard]] ClockSync::Review review(double local_s, double rate);
  /// Advances the clock. Returns true if it stepped.
  bool advance(double local_s) { return sync_.advance(local_s); }

  [[nodiscard]] bool known() const { return sync_.known(); }
  /// True once the clock is precise enough to show entities.
  [[nodiscard]] bool ready() const { return sync_.known() && exchanges_ >= kExchangesToShow; }
  /// True while the clock needs more exchanges of stamps than usual.
  [[nodiscard]] bool settles(double local_s) const { return local_s - settles_from_s_ < kSettlingS; }
  /// Requires known().
  [[nodiscard]] double server_time_s(double local_s) const { return sync_.server_time_s(local_s); }

 private:
  static constexpr int kExchangesToShow = 3;
  static constexpr double kSettlingS = 1.0;

  ClockSync sync_;
  int exchanges_ = 0;
  double settles_from_s_ = 0.0;  // local time since which the clock has to settle
  bool backlog_ = false;
  TickClock ticks_;
  Tick newest_tick_ = 0;
};

}  // namespace reckoner
