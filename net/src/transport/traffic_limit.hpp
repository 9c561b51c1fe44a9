// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/allowance.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// What a peer has left of what it may send.
struct TrafficMeter {
  secure::Allowance datagrams;
  secure::Allowance bytes;
};

/// Holds each peer, and all peers at one address together, to what they may send. Ask it of datagrams of
/// peers only, once it is known that they are genuine: nobody else can then use up a peer's share.
class TrafficLimit {
 public:
  explicit TrafficLimit(const TransportLimits& limits) : limits_(limits) {}

  /// Why a datagram of `bytes` is not to be taken in, or nothing. `host`: where the peer has proven to be.
  [[nodiscard]] std::optional<Refusal> refuse(TrafficMeter& peer, std::uint32_t host, std::size_t bytes,
                                              double now_s);

  /// Now and then: forgets addresses that have been quiet.
  void tidy(double now_s);

  [[nodiscard]] std::size_t addresses() const { return addresses_.size(); }

 private:
  [[nodiscard]] bool take(TrafficMeter& meter, std::size_t bytes, double datagrams_per_second,
                          double bytes_per_second, double now_s) const;

  TransportLimits limits_;
  std::unordered_map<std::uint32_t, TrafficMeter> addresses_;
  double tidied_s_ = 0.0;
};

}  // namespace reckoner
