// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>

#include <reckoner/net/export.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// What peers may make a server take in. What exceeds it is dropped, and counted (TransportStats::refusals);
/// others do not notice. What a game's clients send at 60 frames a second with motions of their own and
/// messages stays below a tenth of the defaults. Rates count datagrams as they arrive, with ENet's and our
/// own headers; 0: no limit.
struct TransportLimits {
  double datagrams_per_second = 2000.0;   ///< of one peer
  double bytes_per_second = 1'000'000.0;  ///< of one peer
  /// Of all peers at one IPv4 address together: a household, a school behind a NAT.
  double address_datagrams_per_second = 8000.0;
  double address_bytes_per_second = 4'000'000.0;  ///< the same in bytes
  double burst_s = 2.0;  ///< so many seconds' worth may come at once, after a link stood still
  /// The largest control message that is taken in, bytes, and with it the number of fragments; at most
  /// kMaxControlBytes.
  std::size_t message_bytes = kMaxControlBytes;
  /// Of one peer: what arrived and waits for something that was lost, bytes; then it is given up, as what is
  /// missing could not be taken in any more. A peer of Reckoner's has sent
  /// no more than 128 KiB beyond what is missing.
  std::size_t waiting_bytes = 512 * 1024;
  /// Of one peer: control messages that it does not acknowledge, bytes; then it is given up.
  std::size_t backlog_bytes = 8 * 1024 * 1024;
  /// Events that wait to be polled; then nothing more is read from the socket.
  std::size_t waiting_events = 64 * 1024;
  /// The same by what they carry, bytes; one more may come, as long as a message. A second's worth of 32
  /// peers that send all they may.
  std::size_t waiting_event_bytes = 32 * 1024 * 1024;
  /// A peer that sent nothing for so long is gone, s, from 1 to 3600. Clients of Reckoner's speak four times
  /// a second.
  double silence_s = 10.0;
};

/// What of them makes no sense: not finite, negative, or no room for anything. Nothing: all is well.
[[nodiscard]] RECKONER_NET_API std::optional<Error> fault_in(const TransportLimits& limits);

}  // namespace reckoner
