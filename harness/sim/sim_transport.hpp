// SPDX-License-Identifier: MIT
#pragma once

#include "harness/sim/link.hpp"
#include "harness/sim/link_script.hpp"
#include "harness/sim/packet_log.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <reckoner/net/transport.hpp>

namespace reckoner::harness {

/// Options of a simulated network.
struct SimNetworkConfig {
  LinkPair links;
  LinkScript script;  ///< changes of `links`; its times count from start_s
  double start_s = 0.0;
  /// Silence timeout, s. The server or a client closes a connection on which it receives nothing for this
  /// long. A client that gets no answer to its connection request gives up after half of this time. 0 means
  /// never. NetworkTransport uses 10 s.
  double silence_timeout_s = 0.0;
  /// Each direction of each client's link derives its own random streams from this seed.
  std::uint64_t seed = 1;
  bool log_packets = false;
  /// True: the event of a received datagram contains how long it waited for service().
  /// "udp" does this on Linux.
  bool arrival_times = false;
};

/// One server and any number of clients, joined by simulated links. Implements Transport without sockets and
/// without a clock.
///
/// The link loses, delays, reorders and duplicates datagrams. Connecting, disconnecting and send_message()
/// imitate ENet's reliable packets:
/// - Every packet is acknowledged, and messages are delivered in order.
/// - If a packet is not acknowledged, it is sent again after the round-trip time plus four mean deviations,
///   or after 0.5 s while the connection is being established. Each further wait is twice as long as the one
///   before.
/// - The oldest unacknowledged packet delays all later packets, so its waits do not double. Each of them is
///   as long as its first wait, but at least 0.25 s.
/// - If nothing is acknowledged for 30 s, the connection ends.
///
/// A connection opens at the client after one round trip, and at the server after one and a half round trips.
///
/// advance() sets the time. Like ENet, the network ignores the time passed to Transport::service(), so that
/// server and clients may use clocks of their own. The network is deterministic: equal calls give equal
/// events. Belongs to one thread at a time.
class SimNetwork {
 public:
  explicit SimNetwork(SimNetworkConfig config);
  ~SimNetwork();
  SimNetwork(const SimNetwork&) = delete;
  SimNetwork& operator=(const SimNetwork&) = delete;

  [[nodiscard]] Transport& server();
  [[nodiscard]] const Transport& server() const;

  /// Adds a client, which starts to connect at once and sends `reason` with its request, like
  /// NetworkTransport::connect(). The reference is valid until the network is destroyed.
  Transport& add_client(std::uint32_t reason);
  /// Adds a client with its own links. The link script does not change them.
  Transport& add_client(std::uint32_t reason, const LinkPair& links);

  /// The index of the client that was added last. Indices start at 0.
  [[nodiscard]] std::size_t newest_client() const;

  /// Sends a message that always arrives, in the order of sending, between the server and a client; as a
  /// received event. For the baselines, whose protocols have such a channel: Transport has none. Returns
  /// false if the connection is not open at the sender or the message is longer than kMaxMessageBytes.
  bool send_message(std::size_t client, bool to_client, std::span<const std::byte> message);
  static constexpr std::size_t kMaxMessageBytes = 32 * 1024;

  /// Disconnects the client, which no longer sends or answers anything. If `says_goodbye` is true and the
  /// client was connected, one datagram notifies the server of the disconnect. If
  /// SimNetworkConfig::silence_timeout_s is positive, the client's transport is destroyed after that time and
  /// must not be used any more.
  void drop_client(std::size_t client, bool says_goodbye);

  /// False: the server stops, and every datagram to it is lost. True: a new server takes its address. The new
  /// server knows none of the earlier connections.
  void set_server_up(bool up);

  /// Time of the next event on any link. Infinity if there is none. Call advance() with this time, then check
  /// whether the server and the clients have events.
  [[nodiscard]] double next_event_s() const;

  /// Sets the time and delivers everything that has arrived by then. The caller must not decrease the time.
  void advance(double now_s);

  [[nodiscard]] double now_s() const;

  /// True if there are events to poll at the server, or at the client with the index `client`.
  [[nodiscard]] bool server_has_events() const;
  [[nodiscard]] bool client_has_events(std::size_t client) const;

  /// The log of sent datagrams, oldest first. Empty without log_packets. Valid until the next call.
  [[nodiscard]] std::span<const PacketRecord> packets() const;

  /// Divides `entities` motions among the logged state datagrams to clients, from the record with the index
  /// `first` on; see distribute_entities().
  void note_entities(std::size_t first, std::size_t entities);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner::harness
