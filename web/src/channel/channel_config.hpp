// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/net/pipe_server.hpp>
#include <reckoner/net/socket_address.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::web {

/// Settings of the data channels of a server.
struct ChannelConfig {
  /// Where browsers reach the UDP port: one specific address, which the answer to an offer contains. Port 0:
  /// the port of the socket.
  SocketAddress address;
  /// Maximum number of browsers at once, from 1 to 65 535. Those whose channel is not open yet count, too.
  std::size_t max_peers = 64;
  /// Maximum number of browsers from one address, from 1 to 65 535 (IPv6: from one /64 network).
  std::size_t max_peers_per_host = 16;
  /// Maximum number of browsers whose channel is not open yet, from 1 to 65 535.
  std::size_t max_half_open = 64;
  /// Maximum rate of offers from one address, 1/s, above 0. A burst may contain as many as the rate allows in
  /// ten seconds, and at least one.
  double offers_per_second = 2.0;
  double open_s = 10.0;    ///< an offer whose channel is not open after this time ends, from 0.1 to 60 s
  double silence_s = 5.0;  ///< a browser from which nothing arrives for this time is gone, from 0.1 to 60 s
  std::string label = "reckoner";  ///< of the channel that a browser opens, 1 to 64 bytes
  TransportLimits limits{};        ///< limits on the traffic of browsers; silence_s of it is not used
};

/// Returns an error for the first invalid setting, or nullopt.
[[nodiscard]] std::optional<Error> find_invalid_setting(const ChannelConfig& config);

/// What has happened to the channel of a stream.
struct ChannelEvent {
  enum class Kind : std::uint8_t {
    opened,   ///< messages can be sent from now on
    message,  ///< a message has arrived
    closed,   ///< an open channel has ended; its stream continues
  };

  Kind kind = Kind::message;
  StreamId stream = 0;
  std::vector<std::byte> payload{};  ///< of a message: from 1 to kMaxChannelMessageBytes bytes
  double waited_s = 0.0;             ///< how long a message waited in this machine, s; 0: unknown
};

}  // namespace reckoner::web
