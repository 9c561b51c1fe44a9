// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

namespace reckoner {

/// Until when the motions that a client has are taken to hold. Silence about an entity means that its motion
/// holds; a connection that is silent itself means nothing, and neither does the silence of a server that
/// says it has not told everything. Times are server time, s.
class HoldLimit {
 public:
  /// A connection that is silent for `silence_s`, or an entity of which nothing was confirmed for
  /// `unconfirmed_s`, is to come to rest.
  HoldLimit(double silence_s, double unconfirmed_s) : silence_s_(silence_s), unconfirmed_s_(unconfirmed_s) {}

  /// Something arrived from the server.
  void note_arrival(double now_s) {
    if (!started_) complete_s_ = now_s;
    started_ = true;
    arrival_s_ = now_s;
  }

  /// All that was published by then is known here.
  void note_complete(double time_s) { complete_s_ = std::max(complete_s_, time_s); }

  /// The clock was set forward by so much. That says nothing about how long the connection was silent.
  void clock_stepped(double by_s) { arrival_s_ += by_s; }

  /// True if by `time_s` some motion may no longer hold.
  [[nodiscard]] bool passed(double time_s) const {
    return started_ && time_s > std::min(silent_s(), complete_s_ + unconfirmed_s_);
  }

  /// Until when a motion from `motion_s` holds.
  [[nodiscard]] double of(double motion_s) const {
    return std::min(silent_s(), confirmed_s(motion_s) + unconfirmed_s_);
  }

  /// The same of one that came late, and was never shown: it is carried no further than through a silence.
  [[nodiscard]] double of_unseen(double motion_s) const {
    constexpr double kNotConfirmedS = 1e-6;  // so that it does not hold again before something is
    return std::min(silent_s(), confirmed_s(motion_s) + silence_s_ + kNotConfirmedS);
  }

  /// True if a motion from `motion_s`, which was taken to hold until `limit_s`, does so at `time_s` after
  /// all: something arrives again, and has told of what was missed.
  [[nodiscard]] bool holds_again(double motion_s, double limit_s, double time_s) const {
    return time_s <= of(motion_s) && confirmed_s(motion_s) >= limit_s - silence_s_;
  }

 private:
  [[nodiscard]] double silent_s() const { return arrival_s_ + silence_s_; }
  [[nodiscard]] double confirmed_s(double motion_s) const { return std::max(complete_s_, motion_s); }

  double silence_s_;
  double unconfirmed_s_;
  bool started_ = false;
  double arrival_s_ = 0.0;
  double complete_s_ = 0.0;
};

}  // namespace reckoner
