// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/sequence_ring.hpp"
#include "net/src/messages/datagram.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace reckoner {

/// Stores the shown instant at which the client applied each datagram from the server. An entry stays until
/// the server has acknowledged a report with it. The server needs this for lag compensation.
///
/// Every report repeats the newest arrivals that no acknowledged report contains, so a lost report does
/// little harm. Two kinds of report contain all such arrivals: every fourth report, and the report in a
/// datagram with a game message, because the message may be about a shot.
class ArrivalLog {
 public:
  /// A datagram was applied while the client showed the instant `shown_s`.
  void add(Sequence sequence, double shown_s) {
    arrivals_.push_back({sequence, next_number_++, ShowingReport::units(shown_s), false});
    if (arrivals_.size() > ShowingReport::kMaxArrivals) arrivals_.pop_front();
  }

  /// Call this when the shown time has jumped. Earlier arrivals then mean nothing any more.
  void clear() { arrivals_.clear(); }

  /// Writes arrivals that the server may not know into the report, newest first. Writes all of them if `all`
  /// is true, otherwise only the newest. The client sends the report in its datagram `own` while it shows
  /// `shown_s`.
  void fill(ShowingReport& report, Sequence own, double shown_s, bool all) {
    const std::size_t most = all || own % kAllEvery == 0 ? ShowingReport::kMaxArrivals : kUsual;
    std::uint32_t least_ago = 0;
    std::uint64_t first = next_number_;
    for (auto a = arrivals_.rbegin(); a != arrivals_.rend() && report.count < most; ++a) {
      if (a->known) continue;
      const std::int64_t ago = ShowingReport::units(shown_s) - a->shown;
      least_ago = std::max(least_ago, static_cast<std::uint32_t>(std::clamp<std::int64_t>(ago, 0, kMaxAgo)));
      report.arrivals[report.count++] = {a->sequence, least_ago};
      first = a->number;
    }
    make_room(own);
    reports_[own] = {own, first, next_number_, report.count > 0};
  }

  /// Call this when the server has acknowledged these datagrams of the client. It then has their reports.
  void acknowledged(const Ack& ack) {
    if (reports_.size() == 0) return;
    ack.for_each([this](Sequence own) { confirm(own); }, reports_.size() / Ack::kWordBits);
  }

 private:
  static constexpr std::size_t kUsual = 8;  // at 60 ticks/s, two or three reports contain each arrival
  static constexpr unsigned kAllEvery =
      4;  // number of reports; a burst of losses may hit all short reports that contain an arrival
  static constexpr std::int64_t kMaxAgo = 100'000;

  struct Arrival {
    Sequence sequence;
    std::uint64_t number;
    std::int64_t shown;  // ShowingReport::units() of the shown instant
    bool known;          // true if the server knows it
  };
  // A sent report. It contains the arrivals with numbers from `first` to `end` - 1 that the server did not
  // know.
  struct Report {
    Sequence own = 0;
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    bool open = false;
  };

  // True if an acknowledgement of the report would say something new.
  [[nodiscard]] bool is_awaited(const Report& report) const {
    return report.open && !arrivals_.empty() && report.end > arrivals_.front().number;
  }
  void make_room(Sequence own) {
    const std::size_t size = reports_.size();
    const bool grows = size > 0 && size < reports_.kMost && is_awaited(reports_[own]);
    reports_.cover(static_cast<Sequence>(own - (grows ? size : 0)), own);
  }

  void confirm(Sequence own) {
    Report& report = reports_[own];
    if (!report.open || report.own != own) return;
    report.open = false;
    for (Arrival& a : arrivals_)
      a.known = a.known || (a.number >= report.first && a.number < report.end);
    while (!arrivals_.empty() && arrivals_.front().known)
      arrivals_.pop_front();
  }

  std::deque<Arrival> arrivals_;  // oldest first
  std::uint64_t next_number_ = 0;
  SequenceRing<Report> reports_;
};

}  // namespace reckoner
