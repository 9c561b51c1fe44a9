// SPDX-License-Identifier: MIT
#include "net/src/secure/keys.hpp"
#include "net/src/transport/platform.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <reckoner/net/network_dialer.hpp>

namespace reckoner {

NetworkDialer::NetworkDialer(ConnectConfig config)
    : config_(std::move(config)), has_named_server_(!config_.host.empty()), round_(0) {
  if (has_named_server_) {
    servers_.push_back({config_.host, config_.port});
    round_ = ServerRotation(1);
  }
  if (const ClientSecurity* const given = config_.security.get()) set_security(ClientSecurity{*given});
}

NetworkDialer::~NetworkDialer() = default;

void NetworkDialer::set_security(const ClientSecurity& security) {
  if (config_.security.get() == nullptr) return;
  ClientSecurity& shown = *config_.security.get();
  shown = security;
  if (!shown.secret) shown.secret = SecretKey::make();
  token_is_new_ = true;
  if (!has_named_server_) use_token_servers(shown.token);
}

// A ticket that the game has stored names no servers. Then the list of servers stays.
void NetworkDialer::use_token_servers(const ConnectToken& token) {
  if (token.servers.empty()) return;
  servers_.clear();
  for (const SocketAddress& server : token.servers)
    servers_.push_back({host_text(server), server.port});
  round_ = ServerRotation(servers_.size());
}

// The session's ticket replaces the token that began the session, unless the game has set a newer token.
void NetworkDialer::close() {
  if (!transport_) return;
  if (const auto ticket = transport_->ticket(); ticket && !token_is_new_) {
    ClientSecurity& next = *config_.security.get();  // a ticket exists only with security
    next.token = *ticket;
    next.secret = SecretKey::make();
  }
  earlier_stats_ += transport_->stats();
  transport_.reset();
}

Result<Transport*> NetworkDialer::dial() {
  close();
  if (servers_.empty()) {
    const bool secure = config_.security.get() != nullptr;
    return Error{secure ? "the token names no server" : "the server's host name is empty"};
  }
  const Server& server = servers_[round_.dial()];
  config_.host = server.host;
  config_.port = server.port;
  auto connecting = NetworkTransport::connect(config_);
  if (!connecting) return Error{connecting.error()};
  token_is_new_ = false;
  transport_ = std::move(*connecting);
  return transport_.get();
}

// Players' clocks are wrong by hours. The server decides by its own clock whether a token is valid.
std::string NetworkDialer::failure_hint() const {
  if (transport_) {
    if (std::string problem = transport_->problem(); !problem.empty()) return problem;
  }
  const ClientSecurity* const shown = config_.security.get();
  if (shown == nullptr || !shown->token.to_server) return {};
  if (!NetworkTransport::is_expired(shown->token)) return {};
  if (transport_ && transport_->ticket()) return {};
  return "by this machine's clock the token has expired, and a new one is needed";
}

double NetworkDialer::random_fraction() {
  return secure::random_number() / 4294967296.0;
}

void NetworkDialer::wait(double seconds) {
  constexpr double kLongestNapS = 0.1;
  if (transport_) return transport_->wait(seconds);
  nap(std::min(seconds, kLongestNapS));
}

TransportStats NetworkDialer::stats() const {
  TransportStats sum = earlier_stats_;
  if (transport_) sum += transport_->stats();
  return sum;
}

}  // namespace reckoner
