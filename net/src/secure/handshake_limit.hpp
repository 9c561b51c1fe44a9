// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/limits/allowance.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include <reckoner/net/socket_address.hpp>

namespace reckoner::secure {

/// Limits how many sessions begin per second, from one host and from all hosts. Call it only for clients that
/// are about to get a session: they have proven their address and, at a server with security, have a valid
/// token. Then strangers cannot use up any allowance. Counts by host (IpAddress::limited_host()), because new
/// ports cost an attacker nothing.
class HandshakeLimit {
 public:
  /// Rates in 1/s; 0: no limit. A burst has ten seconds' worth from one host, and one second's worth in all.
  HandshakeLimit(double per_host, double in_all) : per_host_(per_host), in_all_(in_all) {}

  /// Charges one session to the host, and to all hosts together. Returns false if one of them has begun too
  /// many.
  [[nodiscard]] bool allows(const IpAddress& host, double now_s) {
    return allows_host(host.limited_host(), now_s) &&
           (in_all_ <= 0.0 || all_.spend(1.0, in_all_, std::max(1.0, in_all_), now_s));
  }

 private:
  [[nodiscard]] bool allows_host(const IpAddress& host, double now_s) {
    if (per_host_ <= 0.0) return true;
    if (hosts_.size() >= kMaxHosts && !hosts_.contains(host)) hosts_.clear();
    return hosts_[host].spend(1.0, per_host_, std::max(1.0, kSavedS * per_host_), now_s);
  }

  static constexpr double kSavedS = 10.0;
  static constexpr std::size_t kMaxHosts = 65'536;  // maximum number of hosts that are counted

  double per_host_;
  double in_all_;
  std::unordered_map<IpAddress, Allowance, IpAddressHash> hosts_;  // by limited_host()
  Allowance all_;
};

}  // namespace reckoner::secure
