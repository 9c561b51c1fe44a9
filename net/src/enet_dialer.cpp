// SPDX-License-Identifier: MIT
#include "enet_wait.hpp"
#include "secure/sodium_bytes.hpp"

#include <algorithm>

#include <reckoner/net/enet_dialer.hpp>

namespace reckoner {
namespace {

void add(TransportStats& sum, const TransportStats& one) {
  sum.datagrams_sent += one.datagrams_sent;
  sum.datagrams_received += one.datagrams_received;
  sum.payload_bytes_sent += one.payload_bytes_sent;
  sum.payload_bytes_received += one.payload_bytes_received;
  sum.wire_bytes_sent += one.wire_bytes_sent;
  sum.wire_bytes_received += one.wire_bytes_received;
  sum.refused += one.refused;
  sum.refusals += one.refusals;
  sum.service_errors += one.service_errors;
}

}  // namespace

EnetDialer::EnetDialer(const std::string& host, std::uint16_t port, std::uint32_t reason,
                       const std::optional<ClientSecurity>& security, const LogSink& log)
    : host_(EnetTransport::numeric_host(host)), port_(port), reason_(reason), log_(log) {
  if (security) set_security(*security);
}

EnetDialer::~EnetDialer() = default;

void EnetDialer::set_security(const ClientSecurity& security) {
  security_ = security;
  if (!security_->secret) security_->secret = SecretKey::make();
  fresh_ = true;
}

// What a session gave out for coming back replaces what it began with, unless the game has something newer.
void EnetDialer::close() {
  if (!transport_) return;
  if (const auto ticket = transport_->ticket(); ticket && !fresh_) {
    security_->token = *ticket;
    security_->secret = SecretKey::make();
  }
  add(before_, transport_->stats());
  transport_.reset();
}

Result<Transport*> EnetDialer::dial() {
  close();
  if (security_ && EnetTransport::is_expired(security_->token))
    return Error{"the token has expired, a new one is needed"};
  auto connecting = EnetTransport::connect(host_, port_, reason_, security_, log_);
  if (!connecting) return Error{connecting.error()};
  fresh_ = false;
  transport_ = std::move(*connecting);
  return transport_.get();
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
  if (transport_) add(sum, transport_->stats());
  return sum;
}

}  // namespace reckoner
