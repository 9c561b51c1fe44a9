// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <limits>

namespace reckoner {

/// Decides until when the client extrapolates the motions that it has. If no update of an entity arrives over
/// a working connection, its last motion is still valid. That conclusion fails when the connection itself is
/// silent, or when the server reports that it could not send everything yet. Times are server time, s.
class ValidityLimit {
 public:
  /// Motions fade to rest when the connection has been silent for `silence_s`, or when nothing of an entity
  /// has been confirmed for `unconfirmed_s`.
  ValidityLimit(double silence_s, double unconfirmed_s)
      : silence_s_(silence_s), unconfirmed_s_(unconfirmed_s) {}

  /// Call this when anything arrived from the server, at `now_s`.
  void note_arrival(double now_s) {
    if (!started_) complete_s_ = now_s;
    if (started_ && now_s - arrival_s_ > silence_s_) {
      silence_from_s_ = arrival_s_;
      silence_to_s_ = now_s;
    }
    if (started_ && now_s - arrival_s_ > kStallS) hurries_until_s_ = now_s + kHurryS;
    started_ = true;
    arrival_s_ = now_s;
  }

  /// Call this when everything published up to `time_s` has arrived.
  void note_complete(double time_s) { complete_s_ = std::max(complete_s_, time_s); }

  /// The clock was set forward by `by_s`. The step does not count as silence.
  void clock_stepped(double by_s) { arrival_s_ += by_s; }

  /// True if the connection has just stalled, or was silent for longer. Errors are then larger than usual.
  [[nodiscard]] bool has_stalled(double now_s) const { return now_s <= hurries_until_s_; }

  /// True if some motion may no longer be valid at `time_s`.
  [[nodiscard]] bool passed(double time_s) const {
    return started_ && time_s > of(-std::numeric_limits<double>::infinity());
  }

  /// The time until which a motion with time stamp `motion_s` is valid.
  [[nodiscard]] double of(double motion_s) const { return std::min(silent_s(), until_s(motion_s)); }

  /// The time until which a motion with time stamp `motion_s` is valid if the entity was never shown. Such a
  /// motion arrived late. The client extrapolates it only as long as it would during a silence.
  [[nodiscard]] double of_unseen(double motion_s) const {
    return std::min(silent_s(), confirmed_s(motion_s) + silence_s_ + kNotConfirmedS);
  }

  /// True if a motion with time stamp `motion_s`, which was limited to `limit_s`, is valid at `time_s`
  /// after all. This is so if arrivals have resumed and if they cover the silence.
  [[nodiscard]] bool is_valid_again(double motion_s, double limit_s, double time_s) const {
    return time_s <= of(motion_s) && confirmed_s(motion_s) >= limit_s - silence_s_ + kNotConfirmedS;
  }

 private:
  // Keeps is_valid_again() false until something newer is confirmed.
  static constexpr double kNotConfirmedS = 1e-6;
  // A server sends at least every quarter of a second.
  static constexpr double kStallS = 0.4;
  static constexpr double kHurryS = 0.5;

  // Until when a motion is valid while datagrams arrive. A datagram that arrives after a silence does not
  // prove that a motion from before the silence is still valid. Neither does a report that everything up to a
  // time in the silence has arrived: a later motion is still missing, and it may have replaced others from
  // the silence.
  [[nodiscard]] double until_s(double motion_s) const {
    const double until_s = confirmed_s(motion_s) + unconfirmed_s_;
    const bool is_doubtful = motion_s <= silence_from_s_ && complete_s_ <= silence_to_s_;
    return is_doubtful ? std::min(until_s, silence_from_s_ + silence_s_) : until_s;
  }
  [[nodiscard]] double silent_s() const { return arrival_s_ + silence_s_; }
  [[nodiscard]] double confirmed_s(double motion_s) const { return std::max(complete_s_, motion_s); }

  double silence_s_;
  double unconfirmed_s_;
  bool started_ = false;
  double arrival_s_ = 0.0;
  double complete_s_ = 0.0;
  double hurries_until_s_ = -std::numeric_limits<double>::infinity();
  // The last arrival before the last silence, and the arrival that ended it.
  double silence_from_s_ = -std::numeric_limits<double>::infinity();
  double silence_to_s_ = -std::numeric_limits<double>::infinity();
};

}  // namespace reckoner
