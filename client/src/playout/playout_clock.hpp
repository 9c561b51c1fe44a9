// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include <reckoner/client/playout.hpp>

namespace reckoner {

/// Which instant of server time is shown at which server time: now, or a delay ago. In adaptive mode the
/// delay follows how late updates arrive: it grows as fast as the time scale allows and shrinks slowly, so
/// that what is shown never stands still or runs back.
class PlayoutClock {
 public:
  /// Delays out of their range are taken as the nearest in it.
  explicit PlayoutClock(const PlayoutConfig& config);

  /// Shows by another configuration from now on. What is shown goes over to it without a jump: until it is
  /// settled(), time runs as much as a quarter slower or faster.
  void change(const PlayoutConfig& config);

  /// The delay is what the configuration wants, or was since it changed.
  [[nodiscard]] bool settled() const { return settled_; }

  /// Gaps between updates last up to so long while the motion before them does not hold: to be bridged.
  void expect_gaps(double longest_s);

  /// An update arrived `lateness_s` after its time stamp; the motion before it was `gap_s` older.
  void note_update(double lateness_s, double gap_s);

  /// Moves on to server time `now_s`; `stepped` if the clock that it comes from has jumped. True if what is
  /// shown jumps in time and must be blended over the jump: the first call, a stepped clock. Frames that come
  /// late are no jump: time has passed, and motion goes with it.
  bool advance(double now_s, bool stepped);

  /// As of the last advance().
  [[nodiscard]] double now_s() const { return now_s_; }

  /// The instant shown now.
  [[nodiscard]] double shown_s() const { return shown_s_; }

  /// Seconds of shown time per second: 1 unless the delay is changing.
  [[nodiscard]] double rate() const { return rate_; }

  [[nodiscard]] double delay_s() const { return delay_s_; }

 private:
  // The last measurements of one kind, and a quantile of them.
  class Recent {
   public:
    void add(double value);
    [[nodiscard]] double quantile(double q) const;
    [[nodiscard]] bool empty() const { return count_ == 0; }

   private:
    static constexpr std::size_t kCapacity = 64;
    std::array<double, kCapacity> values_{};
    std::size_t count_ = 0;
    std::size_t next_ = 0;
  };

  [[nodiscard]] double wanted_delay_s() const;
  void measure();
  void go_over(double elapsed_s);

  PlayoutConfig config_;
  bool settled_ = true;
  bool started_ = false;
  double now_s_ = 0.0;
  double shown_s_ = 0.0;
  double rate_ = 1.0;
  double delay_s_ = 0.0;
  double drift_ = 0.0;  // of the delay, seconds a second
  double longest_gap_s_;
  double wanted_s_ = 0.0;  // adaptive mode, as of the last update
  Recent lateness_;
  Recent gaps_;
};

}  // namespace reckoner
