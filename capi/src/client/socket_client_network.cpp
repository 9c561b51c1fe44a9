// SPDX-License-Identifier: MIT
// Clients over the sockets of this machine.
#include "capi/src/client/client_network.hpp"
#include "capi/src/log.hpp"

#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <reckoner/net/network_dialer.hpp>
#include <reckoner/net/network_transport.hpp>

namespace reckoner::capi {
namespace {

reckoner_result write_ticket(const NetworkTransport* network, std::uint8_t token[1024]) {
  const auto ticket = network != nullptr ? network->ticket() : std::nullopt;
  if (!ticket) return RECKONER_NOTHING;
  const auto bytes = write_token(*ticket);
  if (!bytes) return RECKONER_ERROR_INTERNAL;
  std::memcpy(token, bytes->data(), bytes->size());
  return RECKONER_OK;
}

/// One connection, for a client without reconnects.
class OneConnection final : public ClientNetwork {
 public:
  explicit OneConnection(std::unique_ptr<NetworkTransport> transport) : transport_(std::move(transport)) {}

  Result<Client> create_client(ClientConfig config) override {
    return Client::create(std::move(config), *transport_);
  }
  void wait(double seconds) override { transport_->wait(seconds); }
  reckoner_result set_token(const std::uint8_t[1024]) override { return RECKONER_ERROR_REFUSED; }
  reckoner_result ticket(std::uint8_t token[1024]) const override {
    return write_ticket(transport_.get(), token);
  }
  TransportStats stats() const override { return transport_->stats(); }

 private:
  std::unique_ptr<NetworkTransport> transport_;
};

/// The connections of a client that reconnects.
class Reconnecting final : public ClientNetwork {
 public:
  explicit Reconnecting(const ConnectConfig& config, std::uint64_t game)
      : dialer_(config), secure_(config.security.get() != nullptr), game_(game) {}

  Result<Client> create_client(ClientConfig config) override {
    return Client::create(std::move(config), dialer_);
  }
  void wait(double seconds) override { dialer_.wait(seconds); }
  reckoner_result set_token(const std::uint8_t token[1024]) override {
    if (!secure_) return RECKONER_ERROR_REFUSED;
    auto read = read_token(std::as_bytes(std::span(token, ConnectToken::kBytes)));
    if (!read) return RECKONER_ERROR_ARGUMENT;
    dialer_.set_security({.token = std::move(*read), .game = game_});
    return RECKONER_OK;
  }
  reckoner_result ticket(std::uint8_t token[1024]) const override {
    return write_ticket(dialer_.transport(), token);
  }
  TransportStats stats() const override { return dialer_.stats(); }

 private:
  NetworkDialer dialer_;
  bool secure_;
  std::uint64_t game_;
};

}  // namespace

std::string_view network_fault(const reckoner_client_config& c) {
  if (c.insecure == 0 && c.token == nullptr) return "a token must be given, or insecure must be 1";
  if (c.insecure != 0 && c.token != nullptr) return "insecure is 1 and a token is given; only one is allowed";
  if (c.host == nullptr && (c.token == nullptr || c.reconnects == 0))
    return "host is null; that requires a token and reconnects";
  if (c.host != nullptr && *c.host == 0) return "the server's host name is empty";
  if (c.token != nullptr && !read_token(std::as_bytes(std::span(c.token, ConnectToken::kBytes))))
    return "the token is malformed";
  return {};
}

std::unique_ptr<ClientNetwork> open_network(const reckoner_client_config& c, NetworkFailure& failure) {
  OrInsecure<ClientSecurity> security = Insecure{};
  if (c.token != nullptr) {
    auto token = read_token(std::as_bytes(std::span(c.token, ConnectToken::kBytes)));
    if (!token) return nullptr;  // network_fault() has read it
    security = ClientSecurity{.token = std::move(*token), .game = c.game};
  }
  const ConnectConfig connection{.host = c.host != nullptr ? c.host : "",
                                 .port = c.port,
                                 .security = security,
                                 .log = log_sink(c.log, c.log_user, c.log_least),
                                 .transport = c.transport != nullptr ? c.transport : "",
                                 .receive_thread = c.receive_thread != 0};
  if (c.reconnects != 0) return std::make_unique<Reconnecting>(connection, c.game);
  auto transport = NetworkTransport::connect(connection);
  if (!transport) {
    failure = {RECKONER_ERROR_NETWORK, transport.error()};
    return nullptr;
  }
  return std::make_unique<OneConnection>(std::move(*transport));
}

}  // namespace reckoner::capi
