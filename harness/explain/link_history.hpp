// SPDX-License-Identifier: MIT
#pragma once

#include "harness/explain/session_facts.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace reckoner::harness {

/// What happened on the link of a recorded session: which datagrams are missing, and which came late.
class LinkHistory {
 public:
  /// `datagrams` must outlive this object.
  explicit LinkHistory(std::span<const DatagramFact> datagrams);

  /// How much later than usual something arrived, s: its transit compared with the transits of the datagrams
  /// around it. It was sent at server time `sent_s` and arrived at local time `local_s`. Negative: earlier
  /// than the median.
  [[nodiscard]] double lateness_s(double sent_s, double local_s) const;
  /// Lateness above this does not come from the usual jitter of the session, s.
  [[nodiscard]] double late_limit_s() const { return late_limit_s_; }
  /// The typical difference between the client's estimate of server time and the time of sending, at an
  /// arrival, s.
  [[nodiscard]] double usual_latency_s() const { return usual_latency_s_; }

  /// A datagram that was not there when it was needed.
  struct Missing {
    std::int64_t sequence = 0;
    double sent_s = 0.0;                 ///< when it was sent at the latest, server time
    std::optional<std::size_t> arrived;  ///< index of its late arrival; empty: it was lost
  };
  /// The datagrams sent from `from_s` to `to_s` that had not arrived when the datagram with the index
  /// `arrival` arrived, in order of sequence.
  [[nodiscard]] std::vector<Missing> missing(double from_s, double to_s, std::size_t arrival) const;

  /// The longest time by which the client's data was incomplete, as the datagrams from `from_s` to `to_s`
  /// say, s.
  [[nodiscard]] double backlog_s(double from_s, double to_s) const;

  /// The datagrams before and after a silence around local time `local_s` that lasted at least `least_s`.
  struct Silence {
    std::size_t before = 0;
    std::optional<std::size_t> after;  ///< empty: nothing came any more
    double seconds = 0.0;
  };
  [[nodiscard]] std::optional<Silence> silence(double local_s, double least_s) const;

  [[nodiscard]] std::span<const DatagramFact> datagrams() const { return datagrams_; }

 private:
  [[nodiscard]] std::optional<double> median_transit_s(double from_local_s, double to_local_s,
                                                       bool near_end) const;

  std::span<const DatagramFact> datagrams_;  // in order of arrival
  std::vector<std::size_t> by_sequence_;     // indices, in order of sequence
  double late_limit_s_ = 0.0;
  double usual_latency_s_ = 0.0;
};

}  // namespace reckoner::harness
