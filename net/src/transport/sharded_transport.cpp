// SPDX-License-Identifier: MIT
#include "net/src/transport/platform.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include <reckoner/net/sharded_transport.hpp>

namespace reckoner {
namespace {

// Five standard deviations. A host gets more peers than that with a probability of 1 in 3.5 million.
constexpr double kSpareDeviations = 5.0;

}  // namespace

std::uint32_t ShardedTransport::hosts_for(std::uint32_t max_peers, std::uint32_t peers_per_host) {
  if (max_peers <= peers_per_host) return 1;
  // A host gets n +- sqrt(n) peers at random. This finds the largest n with n + 5 sqrt(n) <= room.
  const double room = peers_per_host;
  const double root = 0.5 * (std::sqrt(kSpareDeviations * kSpareDeviations + 4.0 * room) - kSpareDeviations);
  return std::max(2u, static_cast<std::uint32_t>(std::ceil(max_peers / (root * root))));
}

Result<std::unique_ptr<ShardedTransport>> ShardedTransport::listen(const ListenConfig& config,
                                                                   std::uint32_t peers_per_host) {
  if (peers_per_host == 0 || peers_per_host > kMaxPeersPerHost) {
    return Error{"the number of connections of one host must be between 1 and " +
                 std::to_string(kMaxPeersPerHost)};
  }
  const std::uint32_t count = hosts_for(config.max_peers, peers_per_host);
  if (count > kMaxHosts) return Error{std::to_string(config.max_peers) + " connections are too many"};
  const int bits = std::bit_width(count - 1);
  std::unique_ptr<ShardedTransport> all(new ShardedTransport(bits));
  ListenConfig each = config;
  if (count > 1) each.max_peers = peers_per_host;
  const ServerSecurity* const security = config.security.get();
  const auto used = security != nullptr ? EnetTransport::make_used_tokens(*security) : nullptr;
  for (std::uint32_t number = 0; number < count; ++number) {
    auto host = EnetTransport::listen(each, {number, bits, used});
    if (!host) {
      const std::string which = std::to_string(number + 1) + " of " + std::to_string(count);
      return Error{number == 0 ? host.error() : "host " + which + ": " + host.error()};
    }
    all->hosts_.push_back(std::move(*host));
    each.port = all->port();  // if the system chose the port, the other hosts use the same one
  }
  return all;
}

EnetTransport* ShardedTransport::find(PeerId peer) const {
  const std::size_t number = host_of(peer);
  return number < hosts_.size() ? hosts_[number].get() : nullptr;
}

void ShardedTransport::service(double now_s) {
  for (const auto& host : hosts_)
    host->service(now_s);
}

// Polls one event from each host in turn, so that a busy host does not delay the others.
std::optional<TransportEvent> ShardedTransport::poll() {
  for (std::size_t tried = 0; tried < hosts_.size(); ++tried) {
    EnetTransport& host = *hosts_[next_];
    next_ = next_ + 1 == hosts_.size() ? 0 : next_ + 1;
    if (auto event = host.poll()) return event;
  }
  return std::nullopt;
}

bool ShardedTransport::send(PeerId peer, Channel channel, std::span<const std::byte> payload) {
  EnetTransport* const host = find(peer);
  return host != nullptr && host->send(peer, channel, payload);
}

std::size_t ShardedTransport::max_state_bytes(PeerId peer) const {
  const EnetTransport* const host = find(peer);
  return host == nullptr ? 0 : host->max_state_bytes(peer);
}

void ShardedTransport::disconnect(PeerId peer, std::uint32_t reason) {
  if (EnetTransport* const host = find(peer)) host->disconnect(peer, reason);
}

PeerLogin ShardedTransport::login(PeerId peer) const {
  const EnetTransport* const host = find(peer);
  return host == nullptr ? PeerLogin{} : host->login(peer);
}

// All hosts share the used tokens.
void ShardedTransport::revoke_login(const PeerLogin& login) {
  hosts_.front()->revoke_login(login);
}

std::shared_ptr<secure::UsedTokens> ShardedTransport::used_tokens() const {
  return hosts_.front()->used_tokens();
}

std::optional<ClientIdentity> ShardedTransport::identity(PeerId peer) const {
  const EnetTransport* const host = find(peer);
  return host == nullptr ? std::nullopt : host->identity(peer);
}

const TransportStats& ShardedTransport::stats() const {
  stats_ = {};
  for (const auto& host : hosts_)
    stats_ += host->stats();
  return stats_;
}

bool ShardedTransport::flush(bool always) {
  bool busy = false;
  for (const auto& host : hosts_)
    busy = host->flush(always) || busy;
  return busy;
}

std::vector<std::intptr_t> ShardedTransport::sockets() const {
  std::vector<std::intptr_t> all;
  for (const auto& host : hosts_)
    all.push_back(host->socket());
  return all;
}

void ShardedTransport::wait(double seconds) {
  if (hosts_.size() == 1) return hosts_.front()->wait(seconds);
  wait_in_slices(
      seconds, [this](bool always) { return flush(always); },
      [watched = sockets()](double slice_s) { return wait_for_sockets(watched, slice_s); });
}

void ShardedTransport::sleep_until_readable(double seconds) {
  if (hosts_.size() == 1) return hosts_.front()->sleep_until_readable(seconds);
  (void)wait_for_sockets(sockets(), seconds);
}

}  // namespace reckoner
