// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"
#include "server/src/session/closing_link.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// The closing links of a server. Their number and their messages are limited: the oldest links end early.
class ClosingLinks {
 public:
  /// At most this number of bytes of messages, in all links together.
  static constexpr std::size_t kMostBytes = 64 * 1024 * 1024;

  /// `transport` must outlive the object. At most `most` links.
  ClosingLinks(Transport& transport, std::size_t most) : transport_(transport), most_(most) {}
  ClosingLinks(const ClosingLinks&) = delete;
  ClosingLinks& operator=(const ClosingLinks&) = delete;
  /// Ends all of them: their clients must hear why, whatever they lack.
  ~ClosingLinks();

  [[nodiscard]] std::size_t size() const { return links_.size(); }

  /// A session has ended at `now_s`, with this rest. `ended(peer)` is called for each link that ends early.
  template <class Ended>
  void add(PeerId peer, std::uint32_t end_code, ClosingLink::Rest&& rest, double now_s, Ended&& ended);
  /// The connection is closed.
  void remove(PeerId peer) { links_.erase(peer); }
  /// A datagram has arrived. Returns false if the peer has no closing link.
  bool receive(PeerId peer, const ClientDatagram& datagram, double now_s);
  /// Sends what is due. Calls `ended(peer)` for each link that has ended.
  template <class Ended>
  void service(double now_s, Ended&& ended);

 private:
  [[nodiscard]] std::size_t bytes() const;

  Transport& transport_;
  std::size_t most_;
  std::map<PeerId, ClosingLink> links_;
};

inline ClosingLinks::~ClosingLinks() {
  for (const auto& [peer, link] : links_)
    link.end(transport_);
}

template <class Ended>
void ClosingLinks::add(PeerId peer, std::uint32_t end_code, ClosingLink::Rest&& rest, double now_s,
                       Ended&& ended) {
  std::size_t sum = bytes() + rest.messages.bytes();
  while (!links_.empty() && (links_.size() >= most_ || sum > kMostBytes)) {
    auto oldest = links_.begin();
    for (auto it = links_.begin(); it != links_.end(); ++it)
      oldest = it->second.until_s() < oldest->second.until_s() ? it : oldest;
    sum -= oldest->second.bytes();
    oldest->second.end(transport_);
    ended(oldest->first);
    links_.erase(oldest);
  }
  links_.try_emplace(peer, peer, end_code, std::move(rest), now_s);
}

inline bool ClosingLinks::receive(PeerId peer, const ClientDatagram& datagram, double now_s) {
  const auto found = links_.find(peer);
  if (found == links_.end()) return false;
  found->second.receive(datagram, now_s);
  return true;
}

template <class Ended>
void ClosingLinks::service(double now_s, Ended&& ended) {
  for (auto it = links_.begin(); it != links_.end();) {
    if (!it->second.service(now_s, transport_)) {
      ++it;
      continue;
    }
    ended(it->first);
    it = links_.erase(it);
  }
}

inline std::size_t ClosingLinks::bytes() const {
  std::size_t sum = 0;
  for (const auto& [peer, link] : links_)
    sum += link.bytes();
  return sum;
}

}  // namespace reckoner
