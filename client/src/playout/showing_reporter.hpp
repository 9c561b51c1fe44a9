// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/playout/arrival_log.hpp"
#include "net/src/messages/datagram.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace reckoner {

/// Reports to the server what the client shows. A server with lag compensation needs that.
class ShowingReporter {
 public:
  /// The shown instant `shown_s`, at the client's estimate `now_s` of the server time.
  struct Showing {
    double now_s = 0.0;
    double shown_s = 0.0;
  };

  /// `wanted`: the server uses lag compensation.
  void begin(bool wanted) { wanted_ = wanted; }
  [[nodiscard]] bool wanted() const { return wanted_; }

  /// The datagram of the server with this number is applied while the client shows the instant `shown_s`.
  void note_applied(Sequence sequence, double shown_s) {
    if (wanted_) arrivals_.add(sequence, shown_s);
  }
  /// The shown time has jumped, or what is shown depends on more than the reports say. The next report begins
  /// a new era.
  void note_jump() {
    arrivals_.clear();
    jumped_ = true;
  }
  /// The server has received these datagrams of the client.
  void note_acknowledged(const Ack& ack) { arrivals_.acknowledged(ack); }

  /// The report for a datagram without an acknowledgement: it names no arrivals.
  [[nodiscard]] ShowingReport report(const Showing& showing);
  /// The report for the client's datagram `own`, which has an acknowledgement. `all`: it names all arrivals
  /// that the server may not know, instead of the newest ones.
  [[nodiscard]] ShowingReport report(const Showing& showing, Sequence own, bool all);

 private:
  bool wanted_ = false;
  unsigned era_ = 0;
  bool jumped_ = false;  // note_jump() was called since the last report
  ArrivalLog arrivals_;
};

inline ShowingReport ShowingReporter::report(const Showing& showing) {
  ShowingReport report;
  const std::int64_t now = ShowingReport::units(showing.now_s);
  const std::int64_t delay = now - ShowingReport::units(showing.shown_s);
  report.clock = static_cast<std::uint16_t>(now);
  report.delay = static_cast<std::uint32_t>(std::clamp<std::int64_t>(delay, 0, ShowingReport::kMaxDelay));
  if (std::exchange(jumped_, false)) era_ = (era_ + 1u) % ShowingReport::kEras;
  report.era = static_cast<std::uint8_t>(era_);
  return report;
}

inline ShowingReport ShowingReporter::report(const Showing& showing, Sequence own, bool all) {
  ShowingReport with_arrivals = report(showing);
  arrivals_.fill(with_arrivals, own, showing.shown_s, all);
  return with_arrivals;
}

}  // namespace reckoner
