// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <reckoner/net/pipe_path.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// A client's transport over an ordered and reliable stream of messages that the game owns, such as a
/// WebSocket in a browser. A game's own server accepts such streams with a PipeServer, reckoner-server with
/// --watch-port. On a real network, each lost packet delays everything behind it, so use UDP where it is
/// possible (docs/playground.md has figures).
///
/// The game opens the stream and calls opened(), received() and closed(); the transport passes each message
/// to `send`. Nothing is encrypted here: use a stream with TLS. Reads no clock: the times are of the clock
/// that the game passes to Client::update(). Belongs to one thread at a time. Malformed messages from the
/// server are refused and counted.
class RECKONER_NET_API PipeTransport final : public Transport {
 public:
  /// Sends one message over the stream. Returns false if it cannot be sent; the message is then lost.
  using Send = std::function<bool(std::span<const std::byte> message)>;

  /// `token` is the content of a token file, or empty for a server that admits everybody.
  /// The token is copied.
  explicit PipeTransport(Send send, std::span<const std::byte> token = {});
  ~PipeTransport() override;
  PipeTransport(const PipeTransport&) = delete;
  PipeTransport& operator=(const PipeTransport&) = delete;

  /// The stream is open. Sends the request to join with the token.
  void opened();
  /// A whole message has arrived at local time `now_s`. Its bytes are copied.
  void received(std::span<const std::byte> message, double now_s);
  /// From now on, datagrams travel in another way, as PipeServer::set_path() says.
  void set_path(const PipePath& path);
  /// The stream has ended or could not be opened.
  void closed();

  /// The newest status text of the server, or an empty text before the first one. reckoner-server sends JSON
  /// with the connections of all clients. Valid until the next received().
  [[nodiscard]] const std::string& status() const;

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, std::span<const std::byte> datagram) override;
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override;
  [[nodiscard]] bool is_ordered(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;
  [[nodiscard]] const TransportStats& stats() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
