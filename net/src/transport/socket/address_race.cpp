// SPDX-License-Identifier: MIT
#include "net/src/transport/socket/address_race.hpp"

#include <algorithm>

namespace reckoner {

AddressRace::AddressRace(std::span<const SocketAddress> addresses) {
  std::vector<SocketAddress> first, other;
  for (const SocketAddress& address : addresses) {
    if (std::ranges::count(first, address) + std::ranges::count(other, address) > 0) continue;
    (address.host.is_ipv4() == addresses.front().host.is_ipv4() ? first : other).push_back(address);
  }
  for (std::size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
    if (i < first.size()) addresses_.push_back(first[i]);
    if (i < other.size()) addresses_.push_back(other[i]);
  }
  if (addresses_.size() > kMost) addresses_.resize(kMost);
}

bool AddressRace::runs(const SocketAddress& address) const {
  return std::ranges::count(started(), address) > 0;
}

void AddressRace::decide(const SocketAddress& address) {
  if (!winner_ && runs(address)) winner_ = address;
}

}  // namespace reckoner
