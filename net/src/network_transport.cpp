// SPDX-License-Identifier: MIT
// The transports over a network that this library contains. A new one is its own files and a row in
// kImplementations.
#include "net/src/secure/server_security.hpp"
#include "net/src/transport/enet/enet_transport.hpp"
#include "net/src/transport/limits/limit_settings.hpp"
#include "net/src/transport/platform.hpp"
#include "net/src/transport/threaded_transport.hpp"
#include "net/src/transport/udp/udp_client.hpp"
#include "net/src/transport/udp/udp_server.hpp"

#include <algorithm>
#include <utility>

#include <reckoner/net/network_transport.hpp>

namespace reckoner {
namespace {

using Opened = Result<std::unique_ptr<NetworkTransport>>;

struct Implementation {
  std::string_view name;
  Opened (*listen)(const ListenConfig& config);
  Opened (*connect)(const std::string& host, std::uint16_t port, std::uint16_t version,
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
  return as_network(EnetTransport::listen(config));
}

Opened connect_enet(const std::string& host, std::uint16_t port, std::uint16_t version,
                    const OrInsecure<ClientSecurity>& security, const LogSink& log,
                    const ResolveHost& resolve) {
  if (security.get() != nullptr) return EnetTransport::no_security();
  return as_network(EnetTransport::connect(host, port, version, log, resolve));
}

Opened listen_udp(const ListenConfig& config) {
  return as_network(UdpServer::listen(config));
}

Opened connect_udp(const std::string& host, std::uint16_t port, std::uint16_t version,
                   const OrInsecure<ClientSecurity>& security, const LogSink& log,
                   const ResolveHost& resolve) {
  return as_network(UdpClient::connect(host, port, version, security, log, resolve));
}

constexpr Implementation kImplementations[] = {
    {"enet", listen_enet, connect_enet, &EnetTransport::set_allocator},
    {"udp", listen_udp, connect_udp, [](const NetworkAllocator&) { return true; }},
};

const Implementation* find(std::string_view name, bool has_security) {
  if (name.empty()) name = has_security ? "udp" : "enet";
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

std::optional<Error> find_invalid_setting(const ListenConfig& config) {
  if (auto fault = find_invalid<ListenConfig>(kListenSettings, config)) return fault;
  if (auto fault = find_invalid_setting(config.limits)) return fault;
  if (find(config.transport, config.security.get() != nullptr) == nullptr) return unknown(config.transport);
  const ServerSecurity* const security = config.security.get();
  if (security == nullptr) return std::nullopt;
  return find_invalid_setting(*security, config.host.empty());
}

Opened NetworkTransport::listen(const ListenConfig& config) {
  const Implementation* const found = find(config.transport, config.security.get() != nullptr);
  if (found == nullptr) return unknown(config.transport);
  const auto open = [&](const LogSink& log) {
    ListenConfig with_log = config;
    with_log.log = log;
    return found->listen(with_log);
  };
  return config.receive_thread ? ThreadedTransport::start(open, config.limits, config.log) : open(config.log);
}

Opened NetworkTransport::connect(const ConnectConfig& config) {
  const ClientSecurity* const shown = config.security.get();
  const Implementation* const found = find(config.transport, shown != nullptr);
  if (found == nullptr) return unknown(config.transport);
  if (config.host.empty()) return Error{"the server's host name is empty"};
  if (config.port == 0) return Error{"the server's UDP port is missing"};
  if (config.version == 0) return Error{"the client's wire version is missing"};
  if (shown != nullptr && !shown->token.to_server) return Error{"the token is empty"};
  const auto open = [&](const LogSink& sink) {
    return found->connect(config.host, config.port, config.version, config.security, sink, config.resolve);
  };
  return config.receive_thread ? ThreadedTransport::start(open, {}, config.log) : open(config.log);
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
