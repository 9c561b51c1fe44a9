// SPDX-License-Identifier: MIT
#pragma once

#include "harness/sim/link.hpp"
#include "harness/sim/link_script.hpp"
#include "harness/sim/packet_log.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// Options of a conditioner.
struct ConditionerOptions {
  std::string listen_host;        ///< address that clients send to; empty: all addresses of the machine
  std::uint16_t listen_port = 0;  ///< UDP port that clients send to; 0: any free port, see port()
  std::string to_host = "127.0.0.1";
  std::uint16_t to_port = 0;  ///< UDP port of the server
  LinkPair links;             ///< the link in each direction; up: clients to server; down: server to clients
  LinkScript script;          ///< changes of the links; its times count from the first call of step()
  std::uint64_t seed = 1;     ///< seed of the random streams; each client and direction has its own stream
  /// Forgets a client if no datagram passed in either direction for this time, s.
  double idle_s = 30.0;
  /// Largest number of clients at once; datagrams of further clients are ignored.
  std::size_t max_clients = 1024;
  /// True: record datagrams for packets(); the memory grows with every datagram.
  bool log_packets = false;
};

/// Numbers of datagrams in one direction.
struct ConditionerCounters {
  std::uint64_t received = 0;
  std::uint64_t forwarded = 0;  ///< copies sent
  /// Datagrams dropped by the link, by its rate limit, or because too many datagrams wait.
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;  ///< number of datagrams that the link duplicated
  /// Copies that the socket refused, or whose client was forgotten before they were due.
  std::uint64_t send_errors = 0;
};

struct ConditionerStats {
  ConditionerCounters up;
  ConditionerCounters down;
  std::uint64_t clients = 0;  ///< number of clients so far, including forgotten ones
};

/// A UDP relay between real programs (IPv6 and IPv4) that delays, drops and duplicates datagrams like a Link.
/// Every client address gets its own socket to the server, so that the server sees distinct clients. The link
/// counts a datagram as its payload plus the headers of UDP (8 bytes) and IP (20 or 40). On a machine that is
/// not overloaded, each datagram leaves at most about a millisecond after its due time.
///
/// A conditioner reads the monotonic clock. Only one thread at a time may use it.
class Conditioner {
 public:
  /// Opens the sockets. Fails if the port is in use, a host is unknown, or an option is out of range.
  [[nodiscard]] static Result<Conditioner> open(ConditionerOptions options);

  ~Conditioner();
  Conditioner(Conditioner&&) noexcept;
  Conditioner& operator=(Conditioner&&) noexcept;

  /// The UDP port that clients send to.
  [[nodiscard]] std::uint16_t port() const;

  /// Relays the datagrams that have arrived or are due. If there are none, waits for one for at most
  /// `timeout_s`.
  void step(double timeout_s);

  /// Relays until `stop` returns true or `seconds` have passed. Calls `stop` at least every 50 ms.
  void run(const std::function<bool()>& stop, double seconds = std::numeric_limits<double>::infinity());

  /// Changes the links of all clients for later datagrams. Returns an error and changes nothing if an option
  /// is out of range.
  [[nodiscard]] std::optional<Error> set_links(const LinkPair& links);
  /// The present links of new clients.
  [[nodiscard]] const LinkPair& links() const;

  [[nodiscard]] const ConditionerStats& stats() const;

  /// All ENet datagrams so far, oldest first, with times on the monotonic clock. Empty without
  /// ConditionerOptions::log_packets. PacketRecord::entities is 0 in all records. The span is valid until the
  /// next call of step().
  [[nodiscard]] std::span<const PacketRecord> packets() const;

 private:
  class Impl;
  explicit Conditioner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner::harness
