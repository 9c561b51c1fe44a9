// SPDX-License-Identifier: MIT
#include "net/src/transport/limits/traffic_limit.hpp"

#include <algorithm>

namespace reckoner {
namespace {

constexpr double kTidyEveryS = 1.0;
constexpr double kLargestDatagram =
    1500.0;  // bytes; one datagram of this size fits, even if the limit is smaller

}  // namespace

bool TrafficLimit::charge(TrafficMeter& meter, std::size_t bytes, double datagrams_per_second,
                          double bytes_per_second, double now_s) const {
  const double depth = std::max(1.0, limits_.burst_s * datagrams_per_second);
  const double byte_depth = std::max(kLargestDatagram, limits_.burst_s * bytes_per_second);
  return (datagrams_per_second <= 0.0 || meter.datagrams.spend(1.0, datagrams_per_second, depth, now_s)) &&
         (bytes_per_second <= 0.0 ||
          meter.bytes.spend(static_cast<double>(bytes), bytes_per_second, byte_depth, now_s));
}

std::optional<Refusal> TrafficLimit::refuse(TrafficMeter& peer, const IpAddress& host, std::size_t bytes,
                                            double now_s) {
  const TransportLimits& l = limits_;
  // The peer's own limit comes first: datagrams beyond it must not use up the share of other peers at its
  // address.
  if (!charge(peer, bytes, l.datagrams_per_second, l.bytes_per_second, now_s)) return Refusal::peer_limit;
  if (l.address_datagrams_per_second <= 0.0 && l.address_bytes_per_second <= 0.0) return std::nullopt;
  if (!charge(addresses_[host.limited_host()], bytes, l.address_datagrams_per_second,
              l.address_bytes_per_second, now_s))
    return Refusal::address_limit;
  return std::nullopt;
}

void TrafficLimit::tidy(double now_s) {
  if (now_s - tidied_s_ < kTidyEveryS) return;
  tidied_s_ = now_s;
  const double datagrams = limits_.address_datagrams_per_second;
  const double bytes = limits_.address_bytes_per_second;
  std::erase_if(addresses_, [&](const auto& entry) {
    const TrafficMeter& m = entry.second;
    return m.datagrams.full(datagrams, std::max(1.0, limits_.burst_s * datagrams), now_s) &&
           m.bytes.full(bytes, std::max(kLargestDatagram, limits_.burst_s * bytes), now_s);
  });
}

}  // namespace reckoner
