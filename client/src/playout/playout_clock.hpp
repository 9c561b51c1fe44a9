// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include <reckoner/client/playout.hpp>

namespace reckoner {

/// Computes which instant of server time the client shows. That is the present, or the present minus a delay.
/// In adaptive mode the delay follows the lateness of updates. It grows as fast as the limit on the time
/// scale allows and shrinks slowly, so what is shown never stops or runs backwards.
class PlayoutClock {
 public:
  /// Delays outside their range are clamped.
  explicit PlayoutClock(const PlayoutConfig& config);

  /// Changes the configuration. Shown time does not jump: it runs up to a quarter slower or faster until
  /// settled().
  void change(const PlayoutConfig& config);

  /// True if the delay has reached the configured one since the last change().
  [[nodiscard]] bool settled() const { return settled_; }

  /// Sets the longest gap between two updates, s, while the earlier motion does not hold. The delay must
  /// bridge such gaps.
  void expect_gaps(double longest_s);

  /// Call this when an update arrived `lateness_s` after its time stamp. That time stamp is `gap_s` after the
  /// time stamp of the previous motion.
  void note_update(double lateness_s, double gap_s);

  /// Advances to server time `now_s`. `stepped` says that the estimate of server time has jumped. Returns
  /// true if the shown time jumps, so that the caller must blend over the jump. That happens in the first
  /// call and after a step. A frame that is drawn late is no jump, because motion continues meanwhile.
  bool advance(double now_s, bool stepped);

  /// Server time of the last advance(), s.
  [[nodiscard]] double now_s() const { return now_s_; }

  /// The instant that is shown now, server time, s.
  [[nodiscard]] double shown_s() const { return shown_s_; }

  /// Seconds of shown time per second; 1 unless the delay changes.
  [[nodiscard]] double rate() const { return rate_; }

  [[nodiscard]] double delay_s() const { return delay_s_; }

 private:
  // The latest measurements of one kind, and their quantiles.
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
  void approach_target(double elapsed_s);

  PlayoutConfig config_;
  bool settled_ = true;
  bool started_ = false;
  double now_s_ = 0.0;
  double shown_s_ = 0.0;
  double rate_ = 1.0;
  double delay_s_ = 0.0;
  double drift_ = 0.0;  // rate of change of the delay, s/s
  double longest_gap_s_;
  double wanted_s_ = 0.0;  // adaptive mode: target as of the last update
  Recent lateness_;
  Recent gaps_;
};

}  // namespace reckoner
