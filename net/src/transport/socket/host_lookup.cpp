// SPDX-License-Identifier: MIT
#include "net/src/transport/socket/host_lookup.hpp"

#include "net/src/transport/socket/nat64.hpp"
#include "net/src/transport/socket/system_address.hpp"
#include "net/src/transport/socket/udp_socket.hpp"

#include <algorithm>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#ifndef _WIN32
#include <netdb.h>
#endif

namespace reckoner {

struct HostLookup::Shared {
  std::mutex mutex;
  std::optional<std::vector<SocketAddress>> found;

  void set(std::vector<SocketAddress> addresses) {
    const std::lock_guard lock(mutex);
    found = std::move(addresses);
  }
};

std::vector<SocketAddress> resolve_host(const std::string& host) {
  if (const auto literal = parse_host(host)) return {*literal};
  std::vector<SocketAddress> addresses;
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (host.empty() || getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    SystemAddress system{};
    if (one->ai_addrlen > sizeof system) continue;
    std::copy_n(reinterpret_cast<const char*>(one->ai_addr), one->ai_addrlen,
                reinterpret_cast<char*>(&system));
    SocketAddress address = from_system(system);
    address.port = 0;
    if (!address.host.is_any() && std::ranges::count(addresses, address) == 0) addresses.push_back(address);
  }
  freeaddrinfo(found);
  return addresses;
}

std::vector<SocketAddress> find_addresses(const std::string& host, std::uint16_t port,
                                          const ResolveHost& resolve,
                                          bool (*has_route)(const SocketAddress& address)) {
  const auto look_up = [&](const std::string& name) { return resolve ? resolve(name) : resolve_host(name); };
  const auto literal = parse_host(host);
  std::vector<SocketAddress> addresses = literal ? std::vector{*literal} : look_up(host);
  for (SocketAddress& address : addresses)
    address.port = port;
  const auto is_ipv4 = [](const SocketAddress& address) { return address.host.is_ipv4(); };
  if (addresses.empty() || !std::ranges::all_of(addresses, is_ipv4) ||
      std::ranges::any_of(addresses, has_route))
    return addresses;
  const auto prefix = find_nat64_prefix(look_up(kNat64TestName));
  if (!prefix) return addresses;
  for (std::size_t i = 0, count = addresses.size(); i < count; ++i)
    addresses.push_back({prefix->address_of(addresses[i].host), port});
  return addresses;
}

HostLookup::HostLookup(const std::string& host, std::uint16_t port, const ResolveHost& resolve)
    : shared_(std::make_shared<Shared>()) {
  const auto literal = parse_host(host);
  if (literal && (!literal->host.is_ipv4() || has_route({literal->host, port}))) {
    shared_->found = {{literal->host, port, literal->scope}};
    return;
  }
  try {
    // Detached: a look-up cannot be interrupted, and its result belongs to both sides.
    std::thread([shared = shared_, host, port, resolve] {
      shared->set(find_addresses(host, port, resolve, &has_route));
    }).detach();
  } catch (const std::system_error&) {  // the system gives no thread
    shared_->set({});
  }
}

std::optional<std::vector<SocketAddress>> HostLookup::poll() {
  const std::lock_guard lock(shared_->mutex);
  return shared_->found;
}

}  // namespace reckoner
