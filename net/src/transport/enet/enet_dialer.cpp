// SPDX-License-Identifier: MIT
#include "net/src/secure/keys.hpp"
#include "net/src/transport/platform.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <reckoner/net/enet_dialer.hpp>

namespace reckoner {

EnetDialer::EnetDialer(const std::string& host, std::uint16_t port, std::uint32_t reason,
                       const OrInsecure<ClientSecurity>& security, const LogSink& log)
    : servers_{{EnetTransport::numeric_host(host), port}},
      named_(true),
      round_(1),
      reason_(reason),
      log_(log),
      security_(security) {
  if (const ClientSecurity* const given = security.get()) set_security(*given);
}

EnetDialer::EnetDialer(std::uint32_t reason, const ClientSecurity& security, const LogSink& log)
    : named_(false), round_(0), reason_(reason), log_(log), security_(security) {
  set_security(security);
}

EnetDialer::~EnetDialer() = default;

void EnetDialer::set_security(const ClientSecurity& security) {
  if (security_.get() == nullptr) return;
  ClientSecurity& shown = *security_.get();
  shown = security;
  if (!shown.secret) shown.secret = SecretKey::make();
  fresh_ = true;
  if (!named_) take_servers(shown.token);
}

// A ticket that the game has stored names no servers. Then the list of servers stays.
void EnetDialer::take_servers(const ConnectToken& token) {
  if (token.servers.empty()) return;
  servers_.clear();
  for (const ServerAddress& server : token.servers)
    servers_.push_back({host_text(server), server.port});
  round_ = ServerRound(servers_.size());
}

// The session's ticket replaces the token that began the session, unless the game has set a newer token.
void EnetDialer::close() {
  if (!transport_) return;
  if (const auto ticket = transport_->ticket(); ticket && !fresh_) {
    ClientSecurity& next = *security_.get();  // a ticket exists only with security
    next.token = *ticket;
    next.secret = SecretKey::make();
  }
  before_ += transport_->stats();
  transport_.reset();
}

Result<Transport*> EnetDialer::dial() {
  close();
  if (servers_.empty()) return Error{"the token names no server"};
  const Server& server = servers_[round_.dial()];
  auto connecting = EnetTransport::connect(server.host, server.port, reason_, security_, log_);
  if (!connecting) return Error{connecting.error()};
  fresh_ = false;
  transport_ = std::move(*connecting);
  return transport_.get();
}

// Players' clocks are wrong by hours. The server decides by its own clock whether a token is valid.
std::string EnetDialer::doubt() const {
  const ClientSecurity* const shown = security_.get();
  if (shown == nullptr || !EnetTransport::is_expired(shown->token)) return {};
  if (transport_ && transport_->ticket()) return {};
  return "by this machine's clock the token has expired, and a new one is needed";
}

double EnetDialer::chance() {
  return secure::random_number() / 4294967296.0;
}

void EnetDialer::wait(double seconds) {
  constexpr double kLongestNapS = 0.1;
  if (transport_) return transport_->wait(seconds);
  nap(std::min(seconds, kLongestNapS));
}

TransportStats EnetDialer::stats() const {
  TransportStats sum = before_;
  if (transport_) sum += transport_->stats();
  return sum;
}

}  // namespace reckoner
