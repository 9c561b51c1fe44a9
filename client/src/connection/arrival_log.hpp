// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/ack_window.hpp"
#include "net/src/messages/datagram.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace reckoner {

/// Which datagrams of the server were applied when, until the server is known to know. Every report repeats
/// the newest of what no acknowledged one has said, so that a lost report matters little; every fourth, and
/// one that travels with something that may make the server look back, tells all of it.
class ArrivalLog {
 public:
  /// A datagram was applied while the instant `shown_s` was being shown.
  void add(Sequence sequence, double shown_s) {
    arrivals_.push_back({sequence, next_number_++, shown_s, false});
    if (arrivals_.size() > ShowingReport::kMostArrivals) arrivals_.pop_front();
  }

  /// What is shown has jumped in time: what was applied before says nothing any more.
  void clear() { arrivals_.clear(); }

  /// Puts into the report what the server may not know, newest first; `all` of it or the newest. The report
  /// goes with the client's datagram `own`, while `shown_s` is being shown.
  void fill(ShowingReport& report, Sequence own, double shown_s, bool all) {
    const std::size_t most = all || own % kAllEvery == 0 ? ShowingReport::kMostArrivals : kUsual;
    std::uint32_t least_ago = 0;
    std::uint64_t first = next_number_;
    for (auto a = arrivals_.rbegin(); a != arrivals_.rend() && report.count < most; ++a) {
      if (a->known) continue;
      const double ago = std::round((shown_s - a->shown_s) / ShowingReport::kArrivalUnitS);
      least_ago = std::max(least_ago, static_cast<std::uint32_t>(std::clamp(ago, 0.0, kMostAgo)));
      report.arrivals[report.count++] = {a->sequence, least_ago};
      first = a->number;
    }
    reports_[own % kReports] = {own, first, next_number_, report.count > 0};
  }

  /// The server has what these datagrams of the client said.
  void acknowledged(const Ack& ack) {
    confirm(ack.newest);
    for (unsigned i = 0; i < 32; ++i) {
      if (((ack.window >> i) & 1u) != 0) confirm(static_cast<Sequence>(ack.newest - i - 1u));
    }
  }

 private:
  static constexpr std::size_t kUsual = 8;  // two or three reports of each arrival at 60 ticks a second
  static constexpr unsigned kAllEvery = 4;  // reports, lest bursts of loss take all that told an arrival
  static constexpr std::size_t kReports = 64;
  static constexpr double kMostAgo = 20'000.0;

  struct Arrival {
    Sequence sequence;
    std::uint64_t number;
    double shown_s;
    bool known;  // to the server
  };
  // What of the numbers `first` to before `end` was not known yet was told.
  struct Report {
    Sequence own = 0;
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    bool open = false;
  };

  void confirm(Sequence own) {
    Report& report = reports_[own % kReports];
    if (!report.open || report.own != own) return;
    report.open = false;
    for (Arrival& a : arrivals_)
      a.known = a.known || (a.number >= report.first && a.number < report.end);
    while (!arrivals_.empty() && arrivals_.front().known)
      arrivals_.pop_front();
  }

  std::deque<Arrival> arrivals_;  // oldest first
  std::uint64_t next_number_ = 0;
  std::array<Report, kReports> reports_{};
};

}  // namespace reckoner
