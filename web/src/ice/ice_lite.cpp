// SPDX-License-Identifier: MIT
#include "web/src/ice/ice_lite.hpp"

#include <utility>

namespace reckoner::web {

bool IceLite::expect(std::uint64_t peer, IceCredentials credentials) {
  const std::string key = credentials.local_ufrag;
  std::string username = key + ':' + credentials.remote_ufrag;
  return peers_.try_emplace(key, Peer{peer, std::move(credentials), std::move(username)}).second;
}

void IceLite::forget(std::string_view local_ufrag) {
  if (const auto found = peers_.find(local_ufrag); found != peers_.end()) peers_.erase(found);
}

std::optional<IceLite::Answer> IceLite::receive(std::span<const std::byte> datagram,
                                                const SocketAddress& from,
                                                std::span<std::byte, kMaxBindingResponseBytes> out) {
  const auto request = read_binding_request(datagram);
  if (!request) return refuse(Refusal::malformed);
  // RFC 8445 section 7.1 demands these of every check. They make a request longer than its answer. A full
  // agent always controls a lite one.
  if (!request->has_priority || !request->is_controlling || request->is_controlled) {
    return refuse(Refusal::unexpected);
  }
  const auto found = peers_.find(request->username.substr(0, request->username.find(':')));
  if (found == peers_.end() || found->second.username != request->username)
    return refuse(Refusal::no_session);
  const Peer& peer = found->second;
  if (!is_genuine(*request, datagram, peer.credentials.local_password)) return refuse(Refusal::not_genuine);
  return Answer{
      .peer = peer.number,
      .is_nominated = request->use_candidate,
      .bytes = write_binding_response(request->transaction, from, peer.credentials.local_password, out)};
}

}  // namespace reckoner::web
