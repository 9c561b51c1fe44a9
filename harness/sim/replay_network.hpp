// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/replay.hpp"
#include "harness/sim/packet_log.hpp"

#include <cstddef>
#include <memory>
#include <span>

#include <reckoner/net/transport.hpp>

namespace reckoner::harness {

/// What a replay runs over: one server and one client, which starts to connect at once, with a link between
/// them; in virtual time (make_sim_network) or over real sockets (EnetNetwork). Times are the replay's, s.
/// Belongs to one thread at a time.
class ReplayNetwork {
 public:
  virtual ~ReplayNetwork() = default;

  [[nodiscard]] virtual Transport& server() = 0;
  [[nodiscard]] virtual Transport& client() = 0;

  /// When something next happens on the link; infinity if nothing does, or if it cannot be foreseen.
  [[nodiscard]] virtual double next_event_s() const = 0;

  /// Sets the time, which must not go back, and delivers what has arrived by then.
  virtual void advance(double now_s) = 0;
  [[nodiscard]] virtual double now_s() const = 0;

  /// False if there is certainly nothing to poll.
  [[nodiscard]] virtual bool server_has_events() const = 0;
  [[nodiscard]] virtual bool client_has_events() const = 0;

  /// Around what the server sends in a tick: the state datagrams in between carry `entities` motions, shared
  /// out by size in the log. The network cannot read what it carries.
  virtual void begin_tick() = 0;
  virtual void end_tick(std::size_t entities) = 0;

  /// What was sent, oldest first, when all is over; empty unless it is to be logged. Over real sockets the
  /// network carries nothing any more after the first call.
  [[nodiscard]] virtual std::span<const PacketRecord> packets() = 0;
};

/// Of these options, the links, their script, the seed and whether to log count. `connect_reason` is what the
/// client says when it connects.
[[nodiscard]] std::unique_ptr<ReplayNetwork> make_sim_network(const ReplayOptions& options, double start_s,
                                                              std::uint32_t connect_reason);

}  // namespace reckoner::harness
