// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/replay.hpp"
#include "harness/sim/packet_log.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// The network of a replay: one server, one client and a link between them. The network runs in virtual time
/// (make_sim_network()) or over real sockets (RealTimeNetwork). The client starts to connect at once. Times
/// are seconds of the replay. Belongs to one thread at a time.
class ReplayNetwork {
 public:
  virtual ~ReplayNetwork() = default;

  [[nodiscard]] virtual Transport& server() = 0;
  [[nodiscard]] virtual Transport& client() = 0;

  /// Sends a message of at most kMaxDatagramBytes from the server to the client. It always arrives, as a
  /// received event, perhaps more than once. For the baselines, whose protocols have such messages: Transport
  /// has none. The client must be connected.
  virtual void send_message(std::span<const std::byte> message) = 0;

  /// Time of the next event on the link. Infinity if there is no event or if its time cannot be known in
  /// advance.
  [[nodiscard]] virtual double next_event_s() const = 0;

  /// Sets the time and delivers everything that has arrived by then. The caller must not decrease the time.
  virtual void advance(double now_s) = 0;
  [[nodiscard]] virtual double now_s() const = 0;

  /// False if there is certainly no event to poll at the server. May be true although there is none.
  [[nodiscard]] virtual bool server_has_events() const = 0;
  [[nodiscard]] virtual bool client_has_events() const = 0;

  /// The caller must call begin_tick() before the server sends the datagrams of a tick, and end_tick()
  /// afterwards. `entities` is the number of motions that these datagrams carry. The packet log divides this
  /// number among the state datagrams by their sizes, because the network does not decode them.
  virtual void begin_tick() = 0;
  virtual void end_tick(std::size_t entities) = 0;

  /// The log of sent datagrams, oldest first. Empty if the options do not ask for a log. Call it only at the
  /// end of the run, because over real sockets the network carries no datagrams after the first call.
  [[nodiscard]] virtual std::span<const PacketRecord> packets() = 0;
};

/// A ReplayNetwork in real time. The time of the replay follows the machine's monotonic clock.
class RealTimeNetwork : public ReplayNetwork {
 public:
  /// The present time of the replay.
  [[nodiscard]] virtual double clock_s() const = 0;

  /// Sends pending datagrams, then sleeps until something arrives or clock_s() reaches `time_s`, but at most
  /// 20 ms.
  virtual void wait_until(double time_s) = 0;
};

/// Opens a network in real time: a transport over the loopback interface. Uses only the links, the link
/// script, the seed and `log_packets` of `options`. Fails if a socket cannot be opened, and always in a build
/// without sockets.
[[nodiscard]] Result<std::unique_ptr<RealTimeNetwork>> open_real_time_network(const ReplayOptions& options,
                                                                              double start_s);

/// Creates a network in virtual time. Uses only the links, the link script, the seed and `log_packets` of
/// `options`.
[[nodiscard]] std::unique_ptr<ReplayNetwork> make_sim_network(const ReplayOptions& options, double start_s);

}  // namespace reckoner::harness
