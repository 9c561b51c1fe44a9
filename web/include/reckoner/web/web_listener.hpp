// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/web/export.hpp>

namespace reckoner {

/// Settings of a WebListener.
struct WebConfig {
  /// Address or name to listen on. Empty: all addresses of the machine, IPv6 and IPv4 on one port.
  std::string host{};
  std::uint16_t port = 0;  ///< TCP port; 0: any free one, see WebListener::port()
  /// Defines the clients that the listener admits. Tokens are the same as for native clients. Insecure{}: it
  /// admits everybody. An empty ServerSecurity::addresses means `host`, as in ListenConfig; port 0 there
  /// means the port of `beside`, or without it the listener's port.
  OrInsecure<ServerSecurity> security;
  /// The transport of the same Server for native clients. Both then remember used tokens and kicked players
  /// together (TokenGateConfig::transport). Only WebListener::open() uses it. Null: there is none.
  const NetworkTransport* beside = nullptr;
  /// PeerLogin::entrance of the clients (TokenGateConfig::entrance). 0: a client id has its sessions here and
  /// over `beside` in all.
  std::uint8_t entrance = 0;

  /// File with the certificate and the certificates of its issuers, PEM. Empty: no TLS. open() reads the
  /// file; a renewed certificate needs a new listener.
  std::string certificate{};
  std::string key{};  ///< file with the private key, PEM; empty: it is in the file of the certificate
  /// True: a proxy on a trusted network ends TLS, so that tokens may arrive here unencrypted. False: with
  /// security and without a certificate, open() fails unless `host` is a loopback address.
  bool tls_ends_at_proxy = false;

  /// Folder with files to serve, for example the game's page. It is trusted, links in it too. Empty: none,
  /// only the WebSocket. Larger files than 64 MiB, and files whose names begin with '.', are not served.
  std::string folder{};
  std::string front_page = "index.html";  ///< the file in `folder` that "/" is
  /// Header Content-Security-Policy of the files. A page that loads scripts from elsewhere needs another one.
  std::string content_policy =
      "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
      "img-src 'self' data:; connect-src 'self' ws: wss:; frame-ancestors 'none'; base-uri 'none'; "
      "form-action 'none'";
  /// Further origins of pages that may connect: "https://game.example", "http://localhost:5173". Browsers may
  /// reach the listener under the host names in them, under addresses and as "localhost". A page of any other
  /// origin, except the listener's own, is refused.
  std::vector<std::string> origins{};
  /// True: clients that name no origin may connect, too. They are no browsers, for example Node.
  bool without_origin = false;

  /// True: the listener also has a UDP port for data channels (WebRTC). A page that has joined over its
  /// WebSocket can move to one, so that lost packets delay nothing behind them. If UDP does not reach the
  /// server, the page stays on the WebSocket. False: no UDP port is opened.
  bool data_channels = true;
  /// UDP port of all data channels, at `host`; 0: any free one. On a machine with several addresses in one
  /// network, set `host`: without it, answers may leave from another address than the page asked.
  std::uint16_t channel_port = 0;
  /// UDP port that browsers use, if a NAT in front of the server has another one. 0: the port in use.
  std::uint16_t channel_public_port = 0;
  /// IP address under which browsers reach this port, as text: behind a NAT, or with a proxy in front of the
  /// listener. Empty: the one under which they reach the listener.
  std::string channel_address{};

  /// Maximum number of clients at once, from 1 to 65 535. A Server needs kSpareConnections more than clients.
  std::size_t max_peers = 64;
  /// Maximum number of clients at once from one IPv4 address or IPv6 /64, from 1 to 65 535. Behind a proxy,
  /// all clients have the proxy's address.
  std::size_t max_peers_per_host = 16;
  /// Maximum number of TCP connections at once, also those that load files, from 4 to 65 535. At the limit, a
  /// new connection takes the place of one whose client has not joined. Half of the descriptors that the
  /// process may open are a limit, too.
  std::size_t max_connections = 512;
  std::size_t max_connections_per_host = 48;  ///< of them, from one IPv4 address or IPv6 /64; 1 to 65 535
  /// A connection whose client has not joined, or does not have its file, after this time is closed, from 0.1
  /// to 60 s. TLS handshake and request count.
  double join_s = 5.0;
  TransportLimits limits{};  ///< limits on the traffic of clients that joined
};

/// Returns an error for the first invalid setting, or nullopt. It opens no file and no socket.
[[nodiscard]] RECKONER_WEB_API std::optional<Error> find_invalid_setting(const WebConfig& config);

/// Counters of a WebListener beside TransportStats.
struct WebStats {
  std::size_t peers = 0;     ///< WebSockets whose clients joined or said hello
  std::size_t channels = 0;  ///< of them, those with an open data channel
  /// TCP connections, also those that load files or have sent nothing
  std::size_t connections = 0;
  std::size_t channels_half = 0;  ///< offers whose channel is not open yet
  /// Messages that were not sent over a channel, because a newer one came while they waited.
  std::uint64_t replaced = 0;
};

namespace web {
struct ListenerAccess;
}

/// A server's transport for browsers: listens for HTTP and WebSockets on one TCP port, with TLS if it has a
/// certificate, and serves the files of a folder. To serve native clients, too, join it to their transport
/// with a JoinedTransport.
///
/// libwebsockets does TLS and waits for the sockets on a thread of the listener, so that neither a handshake
/// nor a slow disk delays a tick. Nothing that a stranger sends is trusted: it is refused, counted in
/// stats(), and ends the connection where it goes on.
///
/// The object belongs to one thread at a time. That thread must be the one of `WebConfig::beside`.
class RECKONER_WEB_API WebListener final : public Transport {
 public:
  /// Starts to listen. Fails if a setting is invalid, if the address is in use or not of this machine, if the
  /// certificate cannot be read, or if tokens would travel unencrypted.
  [[nodiscard]] static Result<std::unique_ptr<WebListener>> open(const WebConfig& config);
  /// Sends what waits, for at most a second, and closes all connections.
  ~WebListener() override;
  WebListener(const WebListener&) = delete;
  WebListener& operator=(const WebListener&) = delete;

  /// Returns the TCP port in use.
  [[nodiscard]] std::uint16_t port() const;
  /// Returns the UDP port of the data channels. 0: there are none.
  [[nodiscard]] std::uint16_t channel_port() const;
  /// Returns the URL of the WebSocket for a page that reaches the listener as `host`; empty: WebConfig::host,
  /// or "localhost" if that is empty.
  [[nodiscard]] std::string url(std::string_view host = {}) const;
  /// Returns what the token of a peer says. Nullopt if the peer needed no token or is no longer connected.
  [[nodiscard]] std::optional<ClientIdentity> identity(PeerId peer) const;
  /// Returns the present numbers of peers and connections.
  [[nodiscard]] WebStats web_stats() const;
  /// Returns the counters of the UDP port of the data channels. Its messages and refusals count in stats(),
  /// too.
  [[nodiscard]] const TransportStats& channel_stats() const;
  /// Sends a text (UTF-8) to every client, for PipeTransport::status(). A client that joins later gets the
  /// newest text at once. Without effect above PipeServer::kMaxStatusBytes.
  void send_status(std::string_view text);
  /// Sleeps until a client has sent something or `seconds` have passed, at most one hour. Call service()
  /// afterwards.
  void wait(double seconds);

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, std::span<const std::byte> datagram) override;
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override;
  [[nodiscard]] bool is_ordered(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;
  [[nodiscard]] PeerLogin login(PeerId peer) const override;
  void revoke_login(const PeerLogin& login) override;
  [[nodiscard]] const TransportStats& stats() const override;

 private:
  friend struct web::ListenerAccess;
  struct Impl;
  explicit WebListener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
