// SPDX-License-Identifier: MIT
#pragma once

#include "harness/sim/link.hpp"
#include "harness/sim/link_script.hpp"
#include "harness/sim/packet_log.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// How a conditioner is set up.
struct ConditionerOptions {
  std::string listen_host;        ///< address that clients send to; empty: every IPv4 address of the machine
  std::uint16_t listen_port = 0;  ///< UDP port that clients send to; 0: any free one, see port()
  std::string to_host = "127.0.0.1";
  std::uint16_t to_port = 0;       ///< UDP port of the server
  LinkPair links;                  ///< up: clients to server, down: server to clients
  LinkScript script;               ///< changes of the links; its times count from the first step
  std::uint64_t seed = 1;          ///< each client and direction gets a stream of its own
  double idle_s = 30.0;            ///< a client that was silent both ways for so long is forgotten
  std::size_t max_clients = 1024;  ///< further ones are ignored
  bool log_packets = false;        ///< keep what packets() says: memory that grows with every datagram
};

/// What happened to the datagrams of one direction.
struct ConditionerCounters {
  std::uint64_t received = 0;
  std::uint64_t forwarded = 0;    ///< copies sent on
  std::uint64_t lost = 0;         ///< by the link, a full queue of its rate limit included
  std::uint64_t duplicated = 0;   ///< datagrams that got a second copy
  std::uint64_t send_errors = 0;  ///< copies that the socket did not take, or whose client was forgotten
};

struct ConditionerStats {
  ConditionerCounters up;
  ConditionerCounters down;
  std::uint64_t clients = 0;  ///< seen since the start
};

/// A UDP relay between real programs (IPv4) that delays, drops and repeats datagrams as a Link does. Every
/// client address gets a socket of its own towards the server, so that the server sees distinct clients. The
/// link counts a datagram as its payload and 28 bytes of UDP and IPv4 headers. Datagrams leave within about a
/// millisecond of their time on a machine that is not overloaded.
///
/// Reads the monotonic clock. One thread at a time.
class Conditioner {
 public:
  /// Opens the sockets. Fails if the port is in use, a host is unknown, or an option is out of range.
  [[nodiscard]] static Result<Conditioner> open(ConditionerOptions options);

  ~Conditioner();
  Conditioner(Conditioner&&) noexcept;
  Conditioner& operator=(Conditioner&&) noexcept;

  /// The UDP port that clients send to.
  [[nodiscard]] std::uint16_t port() const;

  /// Relays what has arrived and is due, waiting for either at most `timeout_s`.
  void step(double timeout_s);

  /// Relays until `stop` returns true (asked at least every 50 ms) or `seconds` have passed.
  void run(const std::function<bool()>& stop, double seconds = std::numeric_limits<double>::infinity());

  [[nodiscard]] const ConditionerStats& stats() const;

  /// With log_packets, every datagram of ENet's so far, oldest first, on the monotonic clock; the motions in
  /// it are not counted. Valid until the next step.
  [[nodiscard]] std::span<const PacketRecord> packets() const;

 private:
  class Impl;
  explicit Conditioner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner::harness
