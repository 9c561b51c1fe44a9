// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/guard.hpp"
#include "net/src/transport/event_queue.hpp"
#include "net/src/transport/socket/address_race.hpp"
#include "net/src/transport/socket/host_lookup.hpp"
#include "net/src/transport/socket/socket_library.hpp"
#include "net/src/transport/transport_log.hpp"
#include "net/src/transport/udp/session_upkeep.hpp"
#include "net/src/transport/udp/udp_port.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// The client's end of the transport "udp". It looks the server's name up, tries its addresses one after the
/// other, and keeps the first that admits it.
class UdpClient final : public NetworkTransport {
 public:
  /// The parameters are those of NetworkTransport::connect().
  [[nodiscard]] static Result<std::unique_ptr<UdpClient>> connect(const std::string& host, std::uint16_t port,
                                                                  std::uint16_t version,
                                                                  const OrInsecure<ClientSecurity>& security,
                                                                  const LogSink& log,
                                                                  const ResolveHost& resolve);
  /// Sends the server the end of the connection.
  ~UdpClient() override;
  UdpClient(const UdpClient&) = delete;
  UdpClient& operator=(const UdpClient&) = delete;

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, std::span<const std::byte> datagram) override;
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;
  [[nodiscard]] const TransportStats& stats() const override { return port_.stats; }

  /// Returns nullopt: only a server knows identities.
  [[nodiscard]] std::optional<ClientIdentity> identity(PeerId) const override { return std::nullopt; }
  [[nodiscard]] std::optional<ConnectToken> ticket() const override;
  [[nodiscard]] std::string problem() const override;
  [[nodiscard]] std::uint16_t port() const override { return port_.port(); }
  void wait(double seconds) override;
  void sleep_until_readable(double seconds) override { (void)port_.sleep(seconds); }

 private:
  enum class Phase : std::uint8_t { connecting, connected, ended };

  UdpClient(const std::string& host, std::uint16_t port, UdpSocket&& socket, secure::Guard guard,
            bool has_security, const LogSink& log, const ResolveHost& resolve);

  bool pass();
  [[nodiscard]] bool flush(bool always);
  void find_server();
  void send_handshake();
  void queue_to_server(std::span<const std::byte> datagram);
  void arrive(const DatagramIntake::Datagram& datagram);
  void handle(const secure::Guard::Arrival& arrival, const DatagramIntake::Datagram& datagram);
  void begin();
  void write(secure::Kind kind, std::span<const std::byte> content);
  void write_close();
  void write_last_close();
  void end(std::uint32_t reason);
  void keep_up();
  void give_up();
  [[nodiscard]] SocketAddress server_address() const;
  [[nodiscard]] bool is_full() const;

  SocketLibrary library_;
  TransportLog log_;
  std::string host_;
  bool has_security_;
  TransportLimits limits_{};
  UdpPort port_;
  secure::Guard guard_;
  std::optional<HostLookup> lookup_;         // while the addresses of the server are looked up
  std::optional<AddressRace> race_;          // then
  std::optional<SocketAddress> challenger_;  // the address that has answered a request
  std::vector<std::byte> last_to_server_;    // for the addresses whose turn comes later
  bool server_uses_enet_ = false;            // according to a notice, which anybody may have sent
  Phase phase_ = Phase::connecting;
  double now_s_;  // time of the present or last pass
  SessionUpkeep upkeep_;
  EventQueue events_;
  double service_s_ = 0.0;
  double kept_up_s_ = -1e300;
};

}  // namespace reckoner
