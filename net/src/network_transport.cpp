// SPDX-License-Identifier: MIT
// The transports over a network that this library contains. A new one is its own files and a row in
// kImplementations.
#include "net/src/transport/platform.hpp"
#include "net/src/transport/threaded_transport.hpp"

#include <algorithm>
#include <utility>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/sharded_transport.hpp>

namespace reckoner {
namespace {

using Opened = Result<std::unique_ptr<NetworkTransport>>;

struct Implementation {
  std::string_view name;
  Opened (*listen)(const ListenConfig& config);
  Opened (*connect)(const std::string& host, std::uint16_t port, std::uint32_t reason,
                    const OrInsecure<ClientSecurity>& security, const LogSink& log,
                    const ResolveHost& resolve);
  bool (*set_allocator)(const NetworkAllocator& allocator);
};

// Converts the result of a class's own factory.
template <class T>
Opened as_network(Result<std::unique_ptr<T>> opened) {
  if (!opened) return Error{opened.error()};
  return std::unique_ptr<NetworkTransport>(std::move(*opened));
}

Opened listen_enet(const ListenConfig& config) {
  return as_network(ShardedTransport::listen(config));
}

Opened connect_enet(const std::string& host, std::uint16_t port, std::uint32_t reason,
                    const OrInsecure<ClientSecurity>& security, const LogSink& log,
                    const ResolveHost& resolve) {
  return as_network(EnetTransport::connect(host, port, reason, security, log, resolve));
}

// The first row is the default.
constexpr Implementation kImplementations[] = {
    {"enet", listen_enet, connect_enet, set_enet_allocator},
};

const Implementation* find(std::string_view name) {
  if (name.empty()) return &kImplementations[0];
  for (const Implementation& one : kImplementations) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

Error unknown(std::string_view name) {
  std::string text = "unknown transport '" + std::string(name) + "'; known:";
  for (const Implementation& one : kImplementations)
    text += ' ' + std::string(one.name);
  return Error{text};
}

}  // namespace

Opened NetworkTransport::listen(const ListenConfig& config) {
  const Implementation* const found = find(config.transport);
  if (found == nullptr) return unknown(config.transport);
  const auto open = [&](const LogSink& log) {
    ListenConfig with_log = config;
    with_log.log = log;
    return found->listen(with_log);
  };
  return config.receive_thread ? ThreadedTransport::start(open, config.limits, config.log) : open(config.log);
}

Opened NetworkTransport::connect(const std::string& host, std::uint16_t port, std::uint32_t reason,
                                 const OrInsecure<ClientSecurity>& security, const LogSink& log,
                                 std::string_view transport, bool receive_thread,
                                 const ResolveHost& resolve) {
  const Implementation* const found = find(transport);
  if (found == nullptr) return unknown(transport);
  const auto open = [&](const LogSink& sink) {
    return found->connect(host, port, reason, security, sink, resolve);
  };
  return receive_thread ? ThreadedTransport::start(open, {}, log) : open(log);
}

std::shared_ptr<secure::UsedTokens> NetworkTransport::used_tokens() const {
  return nullptr;
}

void NetworkTransport::sleep_until_readable(double seconds) {
  constexpr double kLongestS = 0.001;
  nap(std::min(seconds, kLongestS));
}

bool NetworkTransport::is_expired(const ConnectToken& token) {
  return token.expires_s <= unix_seconds();
}

bool set_network_allocator(const NetworkAllocator& allocator) {
  bool all = true;
  for (const Implementation& one : kImplementations)
    all = one.set_allocator(allocator) && all;
  return all;
}

}  // namespace reckoner
