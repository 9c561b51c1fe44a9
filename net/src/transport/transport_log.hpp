// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/refusal_log.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// Writes the log records of a UDP transport. Builds no record if there is no sink.
class TransportLog {
 public:
  explicit TransportLog(LogSink sink) : sink_(std::move(sink)) {}

  /// Warns if anybody may join, or if the server accepts tokens for any server. `security` is null if there
  /// is no security.
  void opened(const ServerSecurity* security, std::uint16_t port) const {
    const std::string_view event = security == nullptr ? "insecure: anyone can join, and nothing is encrypted"
                                   : security->any_server ? "tokens for any server are accepted"
                                                          : "";
    if (!event.empty()) reckoner::say(sink_, LogLevel::warning, event, {{"port", std::uint64_t{port}}});
  }
  void connected(PeerId peer, const SocketAddress& address) const {
    say(LogLevel::debug, "peer connected", peer, address);
  }
  void disconnected(PeerId peer, const SocketAddress& address) const {
    say(LogLevel::debug, "peer disconnected", peer, address);
  }
  /// The peer has proven a new address. A null `peer` means that its connection is not established yet.
  void moved(PeerId peer, const SocketAddress& address) const {
    say(LogLevel::debug, "peer has a new address", peer, address);
  }
  /// The peer was silent for too long. If `closing`: it did not confirm its disconnect.
  void timed_out(PeerId peer, const SocketAddress& address, bool closing) const {
    say(closing ? LogLevel::debug : LogLevel::warning,
        closing ? "peer did not confirm the disconnect" : "peer timed out", peer, address);
  }
  void no_answer(PeerId peer, const SocketAddress& address) const {
    say(LogLevel::warning, "no answer", peer, address);
  }
  /// The server has answered that it uses the transport `its`, which is another one.
  void wrong_transport(PeerId peer, const SocketAddress& address, std::string_view its) const {
    if (!sink_) return;
    const std::string where = reckoner::text_of(address);
    reckoner::say(
        sink_, LogLevel::warning, "the server uses another transport",
        {{"peer", std::uint64_t{peer.value}}, {"address", std::string_view(where)}, {"transport", its}});
  }
  /// The look-up of the server's name found no address that this machine can reach.
  void no_address(PeerId peer, const std::string& host) const {
    if (sink_)
      reckoner::say(sink_, LogLevel::warning, "no usable address of the server",
                    {{"peer", std::uint64_t{peer.value}}, {"host", std::string_view(host)}});
  }
  /// The server does not accept the client's token.
  void token_refused(PeerId peer, const SocketAddress& address) const {
    say(LogLevel::warning, "token refused", peer, address);
  }
  /// The server answers, but neither accepts nor refuses the client's token.
  void token_ignored(PeerId peer, const SocketAddress& address) const {
    say(LogLevel::warning, "token ignored: the server has another key, or no room", peer, address);
  }
  /// The same client has a newer connection, either with a ticket or with another token for its client id.
  void replaced(PeerId peer, const SocketAddress& address) const {
    say(LogLevel::info, "peer replaced by a newer login", peer, address);
  }
  /// A limit refused a client that has proven its address. Logs this at most once a second.
  void turned_away(const SocketAddress& address, double now_s) {
    if (!sink_ || !turned_away_.due(now_s)) return;
    const std::string where = reckoner::text_of(address);
    reckoner::say(sink_, LogLevel::warning, "client refused: too many from its address, or in total",
                  {{"address", std::string_view(where)}});
  }

  /// A client uses the transport `its`, which is another one. Logs this at most once a second.
  void other_transport(const SocketAddress& address, std::string_view its, double now_s) {
    if (!sink_ || !other_transports_.due(now_s)) return;
    const std::string where = reckoner::text_of(address);
    reckoner::say(sink_, LogLevel::warning, "client refused: it uses another transport",
                  {{"transport", its}, {"address", std::string_view(where)}});
  }
  /// A client of a wire version that this server no longer understands. Logs this at most once a second.
  void old_version(const SocketAddress& address, double now_s) {
    if (!sink_ || !old_versions_.due(now_s)) return;
    const std::string where = reckoner::text_of(address);
    reckoner::say(sink_, LogLevel::warning, "client refused: its program is older than this server",
                  {{"address", std::string_view(where)}});
  }

  /// Logs, at most once a second, the refusals and socket errors since the last record.
  void review(const TransportStats& stats, double now_s) {
    if (!sink_ || !refusals_.due(now_s)) return;
    refusals_.say(sink_, "datagrams refused", stats.refusals);
    if (const std::uint64_t more = stats.service_errors - std::exchange(errors_, stats.service_errors))
      reckoner::say(sink_, LogLevel::warning, "socket errors", {{"count", more}});
  }

 private:
  void say(LogLevel level, std::string_view event, PeerId peer, const SocketAddress& address) const {
    if (!sink_) return;
    const std::string where = reckoner::text_of(address);
    reckoner::say(sink_, level, event,
                  {{"peer", std::uint64_t{peer.value}}, {"address", std::string_view(where)}});
  }

  LogSink sink_;
  RefusalLog refusals_;
  // Only their intervals are used. Anybody can cause the last two, and must not hide the first.
  RefusalLog turned_away_, other_transports_, old_versions_;
  std::uint64_t errors_ = 0;
};

}  // namespace reckoner
