// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/limits/allowance.hpp"

#include <cstddef>
#include <optional>
#include <unordered_map>

#include <reckoner/net/refusal.hpp>
#include <reckoner/net/socket_address.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// What a peer, or an address, may still send under its limits.
struct TrafficMeter {
  secure::Allowance datagrams;
  secure::Allowance bytes;
};

/// Limits what each peer may send, and what all peers at one address may send together. Call it only for
/// genuine datagrams of peers. Then no stranger can use up a peer's share.
class TrafficLimit {
 public:
  explicit TrafficLimit(const TransportLimits& limits) : limits_(limits) {}

  /// Charges a datagram of `bytes` to the peer and to its address. Returns the reason if a limit refuses it,
  /// or nullopt. `host` is the proven address of the peer; its IpAddress::limited_host() is charged.
  [[nodiscard]] std::optional<Refusal> refuse(TrafficMeter& peer, const IpAddress& host, std::size_t bytes,
                                              double now_s);

  /// Call regularly. Forgets addresses whose full share is available again.
  void tidy(double now_s);

  [[nodiscard]] std::size_t addresses() const { return addresses_.size(); }

 private:
  [[nodiscard]] bool charge(TrafficMeter& meter, std::size_t bytes, double datagrams_per_second,
                            double bytes_per_second, double now_s) const;

  TransportLimits limits_;
  std::unordered_map<IpAddress, TrafficMeter, IpAddressHash> addresses_;
  double tidied_s_ = -1e300;
};

}  // namespace reckoner
