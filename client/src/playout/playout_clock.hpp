// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>

#include <reckoner/client/playout.hpp>
#include <reckoner/reckoning/shown_motions.hpp>

namespace reckoner {

/// Computes which instant of server time the client shows. That is the present, the present minus a delay, or
/// in ahead mode the time of the player's inputs. In adaptive mode the delay follows the lateness of updates
/// and the gaps between them. It grows as fast as the limit on the time scale allows and shrinks slowly, so
/// what is shown never stops or runs backwards.
///
/// A quantile of the latest updates says how late updates are. Updates older than 10 s do not count. If few
/// are left, because little in the world changes, all datagrams of the same time count instead. Of the
/// arrivals in a tenth of a second only the first counts: after a hitch of the connection or of the server,
/// many late updates arrive together.
class PlayoutClock {
 public:
  /// Delays outside their range are clamped.
  explicit PlayoutClock(const PlayoutConfig& config);

  /// The clock of the player's inputs (InputClock), which ahead mode follows.
  struct InputTime {
    double time_s = 0.0;  ///< server time
    double rate = 1.0;    ///< seconds of it per second
    bool jumped = false;  ///< since the advance() before
  };

  /// Changes the configuration. Shown time does not jump: it runs up to a quarter slower or faster until
  /// settled().
  void change(const PlayoutConfig& config);

  /// True if the delay has reached the configured one since the last change().
  [[nodiscard]] bool settled() const { return settled_; }

  /// How motions are shown at the instant: extrapolated, or interpolated.
  [[nodiscard]] MotionPath path() const { return path_; }
  /// Lets path() follow the mode after a change(). Returns true if it has changed. It changes to
  /// interpolation at once, while the past is not shown yet, and back to prediction only when the past is not
  /// shown any more. From the present on, both show the pose from the newest motion.
  [[nodiscard]] bool review_path();
  /// True if the delay and path() are those that the mode needs, and the past is shown.
  [[nodiscard]] bool shows_past() const {
    return path_ == MotionPath::interpolate && wanted_path() == path_ && settled_;
  }
  /// Duration of an ordinary blend, s.
  [[nodiscard]] double blend_s() const { return config_.blend_s; }
  /// Curve and duration of an ordinary blend.
  [[nodiscard]] BlendSettings blend() const { return {config_.blend_curve, config_.blend_s}; }

  /// Sets the longest gap between two updates, s, while the earlier motion is not valid, and the time
  /// between two ticks of the server, s. The delay must bridge such gaps, and at least one tick.
  void expect_gaps(double longest_s, double tick_s);

  /// Call this when a datagram arrived `lateness_s` after the tick in which it was sent.
  void note_datagram(double lateness_s);

  /// Call this when an update arrived `lateness_s` after its time stamp. That time stamp is `gap_s` after the
  /// time stamp of the previous motion. `was_valid`: the previous motion was valid during the gap, if that is
  /// a longer one than expected. False: motions in between were lost.
  void note_update(double lateness_s, double gap_s, bool was_valid = true);

  /// True if a gap is longer than expect_gaps() allows. Then the earlier motion was valid in it, or motions
  /// in between were lost.
  [[nodiscard]] bool is_quiet(double gap_s) const { return gap_s > quiet_gap_s_; }

  /// Advances to server time `now_s`. `stepped` says that the estimate of server time has jumped. Returns
  /// true if the shown time jumps, so that the caller must blend over the jump. That happens in the first
  /// call and after a step. A picture that is drawn late is no jump, because motion continues meanwhile.
  ///
  /// `inputs`: the clock of the inputs, if it runs. In ahead mode the shown time is this time. After its
  /// jump, and when it begins, the shown time approaches it as after a change().
  bool advance(double now_s, bool stepped, const std::optional<InputTime>& inputs = {});

  /// True after the first advance(). The following times mean nothing before.
  [[nodiscard]] bool started() const { return started_; }

  /// Server time of the last advance(), s.
  [[nodiscard]] double now_s() const { return now_s_; }

  /// The instant that is shown now, server time, s.
  [[nodiscard]] double shown_s() const { return shown_s_; }

  /// Seconds of shown time per second; 1 unless the delay changes.
  [[nodiscard]] double rate() const { return rate_; }

  /// now_s() minus shown_s(), s; below 0 in ahead mode.
  [[nodiscard]] double delay_s() const { return follows_ ? now_s_ - shown_s_ : delay_s_; }

  /// The stamp of the picture, server time, s: what the client declares to the server, and the time of a shot
  /// at what is shown. It is the present in the buffered modes, and otherwise the shown instant.
  [[nodiscard]] double seen_s() const {
    return path_ == MotionPath::predict ? shown_s_ : std::max(now_s_, shown_s_);
  }
  /// True if the shown time depends on the clock of the inputs.
  [[nodiscard]] bool follows_inputs() const { return follows_; }

 private:
  // The latest measurements of one kind, and when each was made, server time, s.
  class Recent {
   public:
    static constexpr std::size_t kCapacity = 64;

    void add(double value, double now_s);
    // When the newest value was measured; long ago if there is none.
    [[nodiscard]] double newest_s() const {
      return count_ > 0 ? times_s_[(next_ + kCapacity - 1) % kCapacity]
                        : -std::numeric_limits<double>::infinity();
    }
    // Copies the values that were measured at `since_s` or later. Lowers `oldest_s` to the time of the oldest
    // of them. Returns their number.
    std::size_t copy_since(double since_s, std::span<double> to, double& oldest_s) const;
    // The clock was set forward by `by_s`.
    void clock_stepped(double by_s);
    [[nodiscard]] bool empty() const { return count_ == 0; }

   private:
    std::array<double, kCapacity> values_{};
    std::array<double, kCapacity> times_s_{};
    std::size_t count_ = 0;
    std::size_t next_ = 0;
  };

  [[nodiscard]] MotionPath wanted_path() const {
    return is_buffered(config_.mode) ? MotionPath::interpolate : MotionPath::predict;
  }
  [[nodiscard]] double wanted_delay_s() const;
  void note_lateness(Recent& recent, double lateness_s);
  void measure();
  void approach_target(double elapsed_s);

  PlayoutConfig config_;
  MotionPath path_ = MotionPath::predict;
  bool settled_ = true;
  bool started_ = false;
  double now_s_ = 0.0;
  double shown_s_ = 0.0;
  double rate_ = 1.0;
  bool follows_ = false;  // the base is the time of the inputs; otherwise it is now_s_
  double base_s_ = 0.0;
  double delay_s_ = 0.0;                  // base minus shown time; below 0 only after ahead mode
  double drift_ = 0.0;                    // rate of change of the delay, s/s
  std::optional<double> expected_gap_s_;  // longest gap while the earlier motion is not valid
  double quiet_gap_s_;                    // in a longer gap the earlier motion is valid
  double tick_s_ = 0.0;
  Recent lateness_;
  Recent datagram_lateness_;
  Recent gaps_;
  double lost_share_ = 0.0;  // moving mean of the share of gaps in which motions were lost
  // Adaptive mode. The results of measure():
  double late_s_ = 0.0;
  double gap_to_bridge_s_ = 0.0;
  bool is_measured_ = false;  // false: there are new measurements
  double expires_s_ =
      std::numeric_limits<double>::infinity();  // when the oldest measurement does not count any more
};

}  // namespace reckoner
