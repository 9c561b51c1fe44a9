// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/refusal_log.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/enet_transport.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// What a transport over UDP has to say. Nothing is put together if nobody listens.
class TransportLog {
 public:
  explicit TransportLog(LogSink sink) : sink_(std::move(sink)) {}

  /// A server that anybody may join, or with any server's token, says so. `security`: null if there is none.
  void opened(const ServerSecurity* security, std::uint16_t port) const {
    const std::string_view event = security == nullptr ? "insecure: anyone can join, and nothing is encrypted"
                                   : security->any_server ? "tokens for any server are taken"
                                                          : "";
    if (!event.empty()) reckoner::say(sink_, LogLevel::warning, event, {{"port", std::uint64_t{port}}});
  }
  void connected(PeerId peer, const ServerAddress& address) const {
    say(LogLevel::debug, "peer connected", peer, address);
  }
  void disconnected(PeerId peer, const ServerAddress& address) const {
    say(LogLevel::debug, "peer disconnected", peer, address);
  }
  /// It has proven that it is at another address now; null: its connection is not made yet.
  void moved(PeerId peer, const ServerAddress& address) const {
    say(LogLevel::debug, "peer has another address", peer, address);
  }
  /// It sent nothing for so long; or it was asked to go, and did not confirm it.
  void timed_out(PeerId peer, const ServerAddress& address, bool closing) const {
    say(closing ? LogLevel::debug : LogLevel::warning,
        closing ? "peer did not confirm the goodbye" : "peer timed out", peer, address);
  }
  void no_answer(PeerId peer, const ServerAddress& address) const {
    say(LogLevel::warning, "no answer", peer, address);
  }
  /// The same client is connected anew, or somebody with another token of its.
  void replaced(PeerId peer, const ServerAddress& address) const {
    say(LogLevel::info, "peer replaced by a newer login", peer, address);
  }
  void takes_nothing_in(PeerId peer, const ServerAddress& address) const {
    say(LogLevel::warning, "peer takes no control messages in", peer, address);
  }
  /// What it sent waits for something that never came, and is as much as may wait (TransportLimits).
  void waits_too_long(PeerId peer, const ServerAddress& address) const {
    say(LogLevel::warning, "peer has too much waiting for what is missing", peer, address);
  }
  /// Somebody who has proven his address, once a second at most.
  void turned_away(const ServerAddress& address, double now_s) {
    if (!sink_ || !turned_away_.due(now_s)) return;
    const std::string where = host_text(address) + ':' + std::to_string(address.port);
    reckoner::say(sink_, LogLevel::warning, "client turned away: too many from its address, or in all",
                  {{"address", std::string_view(where)}});
  }

  /// Once a second, what was refused, and which errors there were, since the last time.
  void review(const TransportStats& stats, double now_s) {
    if (!sink_ || !refusals_.due(now_s)) return;
    refusals_.say(sink_, "datagrams refused", stats.refusals);
    if (const std::uint64_t more = stats.service_errors - std::exchange(errors_, stats.service_errors))
      reckoner::say(sink_, LogLevel::warning, "socket errors", {{"count", more}});
  }

 private:
  void say(LogLevel level, std::string_view event, PeerId peer, const ServerAddress& address) const {
    if (!sink_) return;
    const std::string where = host_text(address) + ':' + std::to_string(address.port);
    reckoner::say(sink_, level, event,
                  {{"peer", std::uint64_t{peer.value}}, {"address", std::string_view(where)}});
  }

  LogSink sink_;
  RefusalLog refusals_;
  RefusalLog turned_away_;  // only for how often
  std::uint64_t errors_ = 0;
};

}  // namespace reckoner
