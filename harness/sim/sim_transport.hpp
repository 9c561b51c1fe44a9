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

/// A network in virtual time.
struct SimNetworkConfig {
  LinkPair links;
  LinkScript script;  ///< changes of `links`; its times count from start_s
  double start_s = 0.0;
  /// An end that hears nothing for so long takes the connection for lost, as EnetTransport does after 10 s,
  /// and a client that gets no answer for half as long gives up connecting; 0: never.
  double silent_s = 0.0;
  std::uint64_t seed = 1;  ///< every client's link has its own randomness from it
  bool log_packets = false;
};

/// One server and any number of clients, joined by simulated links: Transport without sockets or clock.
///
/// State payloads are lost, delayed, overtaken and repeated as the link has it. The control channel does what
/// EnetTransport does: every piece is acknowledged, sent again when no acknowledgement comes within the round
/// trip and four deviations of it (0.5 s before the connection stands; each wait is twice the one before, but
/// for the oldest piece, which the others wait for: it has 0.25 s at least and the first wait at most),
/// handed over in order; 30 s without any ends the connection. A connection takes one round trip for the
/// client, one and a half for the server.
///
/// The time is set from outside with advance(); what the transports are told in service() is ignored, as
/// ENet does, so that both ends may run on clocks of their own. Deterministic: the same calls give the same
/// events. Belongs to one thread at a time.
class SimNetwork {
 public:
  explicit SimNetwork(SimNetworkConfig config);
  ~SimNetwork();
  SimNetwork(const SimNetwork&) = delete;
  SimNetwork& operator=(const SimNetwork&) = delete;

  [[nodiscard]] Transport& server();
  [[nodiscard]] const Transport& server() const;

  /// Adds a client, which starts to connect at once with `reason` (as EnetTransport::connect()). The
  /// reference stays valid as long as the network.
  Transport& add_client(std::uint32_t reason);
  /// The same over links of its own, which the script does not change.
  Transport& add_client(std::uint32_t reason, const LinkPair& links);

  /// The number of the client added last, from 0.
  [[nodiscard]] std::size_t newest_client() const;

  /// The client of that number is gone: it answers nothing any more. If it `says_goodbye`, one datagram says
  /// so to the server. With silent_s its end is no more when that has passed: it must not be used again.
  void drop_client(std::size_t client, bool says_goodbye);

  /// Down: the server is gone, and whatever is sent to it. Up again: another has its place, which knows
  /// nothing of any connection before.
  void set_server_up(bool up);

  /// When something next happens on a link, or infinity. advance() there, then ask which ends have events.
  [[nodiscard]] double next_event_s() const;

  /// Sets the time, which must not go back, and delivers what has arrived by then.
  void advance(double now_s);

  [[nodiscard]] double now_s() const;

  /// True if the server, or the client of that index, has events to poll.
  [[nodiscard]] bool server_has_events() const;
  [[nodiscard]] bool client_has_events(std::size_t client) const;

  /// What was sent so far, oldest first; empty without log_packets. Valid until the next call.
  [[nodiscard]] std::span<const PacketRecord> packets() const;

  /// Notes in the log that the state datagrams sent to clients since record `first` carry `entities` motions
  /// between them, shared out by size: the network cannot read what it carries.
  void note_entities(std::size_t first, std::size_t entities);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner::harness
