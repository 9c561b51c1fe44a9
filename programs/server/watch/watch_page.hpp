// SPDX-License-Identifier: MIT
#pragma once

#include "programs/server/watch/watch_origin.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/net/token_gate.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::program {

/// Settings of the live view.
struct WatchConfig {
  std::string host = "127.0.0.1";    ///< address to listen on
  std::uint16_t port = 0;            ///< TCP port; 0: any free one
  std::string folder;                ///< folder with the page; empty: no page, only the WebSocket
  std::string certificate;           ///< file with certificate and key, PEM; empty: no TLS
  std::vector<std::string> origins;  ///< further origins of pages that may connect: "https://game.example"
  std::size_t max_watchers = 16;     ///< WebSockets at once
  std::size_t max_watchers_per_host = 8;  ///< WebSockets at once from one IPv4 address or IPv6 /64
};

/// Serves the page and its WebSocket, on a thread of its own. So neither a TLS handshake nor a slow disk
/// delays a tick. libwebsockets does TLS and waits for the sockets. It does not read requests and frames: it
/// reports no ping, and cannot bound the time of a whole request. CivetWeb, which serves the metrics, is
/// unfit, too: it allocates up to 2 GiB for one frame that a client announces, and a half-open connection
/// occupies one of its threads for ever.
///
/// The caller uses all functions from one thread.
class WatchPage {
 public:
  /// Starts to listen. `gate` decides who may watch. Fails if the address cannot be bound or the certificate
  /// cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<WatchPage>> open(const WatchConfig& config,
                                                               const TokenGate& gate);
  /// Sends what waits, for at most a second, and closes all connections.
  ~WatchPage();
  WatchPage(const WatchPage&) = delete;
  WatchPage& operator=(const WatchPage&) = delete;

  /// The transport of the watchers. It is valid as long as this object.
  [[nodiscard]] Transport& transport();
  /// Sends a text to every watcher, at most PipeServer::kMaxStatusBytes. A new watcher gets the newest text
  /// at once.
  void send_status(std::string_view text);
  [[nodiscard]] std::size_t watchers() const;
  [[nodiscard]] std::uint16_t port() const;

 private:
  struct Impl;
  explicit WatchPage(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner::program
