// SPDX-License-Identifier: MIT
#include "harness/explain/link_history.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner::harness {
namespace {

// Transits are compared with those of datagrams at most this much earlier or later, s.
constexpr double kNeighboursS = 2.0;
constexpr std::size_t kLeastNeighbours = 8;
constexpr std::ptrdiff_t kMostNeighbours = 256;

// A transit is late if it exceeds the median by this many times the distance from the median to the 90 %
// quantile. With delays |N(0,1)|, one in a million does.
constexpr double kSpreads = 4.5;
constexpr double kLeastLateS = 0.025;

double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return 0.0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

LinkHistory::LinkHistory(std::span<const DatagramFact> datagrams) : datagrams_(datagrams) {
  by_sequence_.resize(datagrams.size());
  for (std::size_t i = 0; i < datagrams.size(); ++i)
    by_sequence_[i] = i;
  std::stable_sort(by_sequence_.begin(), by_sequence_.end(), [&](std::size_t a, std::size_t b) {
    return datagrams_[a].sequence < datagrams_[b].sequence;
  });
  std::vector<double> latencies;
  std::vector<double> spreads;
  for (const DatagramFact& datagram : datagrams) {
    latencies.push_back(datagram.now_s - datagram.sent_s);
    spreads.push_back(lateness_s(datagram.sent_s, datagram.local_s));
  }
  usual_latency_s_ = quantile(latencies, 0.5);
  late_limit_s_ = std::max(kLeastLateS, kSpreads * quantile(spreads, 0.9));
}

// The median of the datagrams in a stretch of local time; if there are very many, of the last or the first
// ones.
std::optional<double> LinkHistory::median_transit_s(double from_local_s, double to_local_s,
                                                    bool near_end) const {
  const auto arrived_before = [](const DatagramFact& d, double at_s) { return d.local_s < at_s; };
  auto first = std::lower_bound(datagrams_.begin(), datagrams_.end(), from_local_s, arrived_before);
  auto last = std::lower_bound(first, datagrams_.end(), to_local_s, arrived_before);
  if (last - first > kMostNeighbours && near_end) first = last - kMostNeighbours;
  if (last - first > kMostNeighbours) last = first + kMostNeighbours;
  std::vector<double> transits;
  for (auto d = first; d != last; ++d)
    transits.push_back(d->local_s - d->sent_s);
  if (transits.size() < kLeastNeighbours) return std::nullopt;
  return quantile(transits, 0.5);
}

// If the clock of either side jumps, or the route changes, then all transits change. What came just before or
// after such a change is not late compared with the other side of it.
double LinkHistory::lateness_s(double sent_s, double local_s) const {
  const auto before = median_transit_s(local_s - kNeighboursS, local_s, true);
  const auto after = median_transit_s(local_s, local_s + kNeighboursS, false);
  if (!before && !after) return 0.0;
  return local_s - sent_s - std::max(before.value_or(*after), after ? *after : *before);
}

std::vector<LinkHistory::Missing> LinkHistory::missing(double from_s, double to_s,
                                                       std::size_t arrival) const {
  std::vector<Missing> found;
  constexpr std::size_t kMost = 4096;
  const auto sent_before = [&](std::size_t index, double at_s) { return datagrams_[index].sent_s < at_s; };
  auto at = std::lower_bound(by_sequence_.begin(), by_sequence_.end(), from_s, sent_before);
  if (at != by_sequence_.begin()) --at;
  for (; at != by_sequence_.end() && datagrams_[*at].sent_s <= to_s; ++at) {
    const DatagramFact& here = datagrams_[*at];
    if (*at > arrival && here.sent_s >= from_s) found.push_back({here.sequence, here.sent_s, *at});
    const auto next = std::next(at);
    if (next == by_sequence_.end()) break;
    // the gap ends with a later datagram, so what is in it was sent by then
    const double latest_s = datagrams_[*next].sent_s;
    if (latest_s < from_s) continue;
    for (std::int64_t s = here.sequence + 1; s < datagrams_[*next].sequence && found.size() < kMost; ++s)
      found.push_back({s, latest_s, std::nullopt});
  }
  return found;
}

double LinkHistory::backlog_s(double from_s, double to_s) const {
  double most_s = 0.0;
  const auto sent_before = [&](std::size_t index, double at_s) { return datagrams_[index].sent_s < at_s; };
  auto at = std::lower_bound(by_sequence_.begin(), by_sequence_.end(), from_s, sent_before);
  for (; at != by_sequence_.end() && datagrams_[*at].sent_s <= to_s; ++at)
    most_s = std::max(most_s, datagrams_[*at].sent_s - datagrams_[*at].complete_s);
  return most_s;
}

std::optional<LinkHistory::Silence> LinkHistory::silence(double local_s, double least_s) const {
  const auto after = std::upper_bound(datagrams_.begin(), datagrams_.end(), local_s,
                                      [](double at_s, const DatagramFact& d) { return at_s < d.local_s; });
  if (after == datagrams_.begin()) return std::nullopt;
  const auto before = std::prev(after);
  Silence silence{static_cast<std::size_t>(before - datagrams_.begin()), {}, local_s - before->local_s};
  if (after != datagrams_.end()) {
    silence.after = static_cast<std::size_t>(after - datagrams_.begin());
    silence.seconds = after->local_s - before->local_s;
  }
  if (silence.seconds < least_s) return std::nullopt;
  return silence;
}

}  // namespace reckoner::harness
