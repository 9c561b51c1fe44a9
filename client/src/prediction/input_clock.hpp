// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/correction.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace reckoner {

/// The time for which the player's inputs are made: ahead of the server by the lead, so that they arrive just
/// before their ticks. The clock runs up to 2 % slower or faster to follow the lead that is needed. It jumps
/// only after a stall.
///
/// The server reports how early inputs arrive. Each report says which lead that input would have needed; the
/// lead is a high quantile of those. A game steps a tick in the first picture after it is due, which is up to
/// one picture later. A lead that is right for one wait would be too short when the pictures have drifted, so
/// every report counts as if the wait had been a whole picture.
class InputClock {
 public:
  /// The largest difference between the rates of this clock and of the local clock.
  static constexpr double kMostRate = 0.02;
  /// The largest change of the rate, 1/s: what is shown at this time must not change its velocity suddenly.
  static constexpr double kMostRateChange = 0.1;

  /// Advances to local time `local_s`, at which the server's time is `server_s`. `guess_s` is the lead to use
  /// while there are few reports, s. Returns true if the clock has jumped.
  bool advance(double local_s, double server_s, double guess_s, double tick_s);
  /// The clock starts again at the next advance().
  void stop() {
    started_ = false;
    asked_s_.reset();
  }
  [[nodiscard]] bool started() const { return started_; }

  /// The time of the inputs that are made now, server time, s.
  [[nodiscard]] double time_s() const { return time_s_; }
  /// How far the clock is ahead of the server, s.
  [[nodiscard]] double lead_s() const { return lead_s_; }
  /// Seconds of this clock per second of the local clock.
  [[nodiscard]] double rate() const { return 1.0 + drift_; }
  /// True if the clock has jumped or begun in the last advance().
  [[nodiscard]] bool has_jumped() const { return jumped_; }

  /// The game asks whether a tick is due. It does so once for a picture, while advance() is also called when
  /// datagrams arrive.
  void note_picture();
  /// An input arrived `early_s` before its tick; negative: after it. It was sent with the lead `lead_s`, and
  /// the game had stepped it `waited_s` after it was due.
  void note_early(double lead_s, double waited_s, double early_s);
  /// Forgets the reports, because the network path is another one.
  void forget_reports() {
    needed_s_.clear();
    next_ = 0;
  }

 private:
  // About 10 s at 60 ticks a second.
  static constexpr std::size_t kReports = 600;
  static constexpr std::size_t kEnoughReports = 30;

  [[nodiscard]] double wanted_lead_s(double guess_s, double tick_s);

  bool started_ = false;
  bool jumped_ = false;
  double drift_ = 0.0;  // rate() - 1
  double local_s_ = 0.0;
  double time_s_ = 0.0;
  double lead_s_ = 0.0;
  std::optional<double> asked_s_;  // local time of the last note_picture(), s
  double picture_s_ = 0.0;         // usual time between two pictures, s
  std::vector<double> needed_s_;   // leads that inputs have needed, s; a ring
  std::size_t next_ = 0;           // the oldest of a full ring
  std::size_t since_sort_ = 0;     // reports since wanted_s_ was computed
  double wanted_s_ = 0.0;
  std::vector<double> sorted_;  // scratch
};

}  // namespace reckoner
