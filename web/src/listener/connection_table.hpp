// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include <reckoner/net/socket_address.hpp>

namespace reckoner::web {

/// Numbers connections in the order in which they were accepted, from 1.
using ConnectionId = std::uint64_t;

/// How far an unfinished connection has come.
enum class Progress : std::uint8_t {
  over,     ///< its client has got everything, for example a refusal
  request,  ///< its request is not complete
  answer,   ///< it gets a file, or is a WebSocket
  hello,    ///< its client has said hello; the server is about to decide
};

/// The TCP connections of a WebListener. A connection is unfinished until its client has joined. Unfinished
/// connections have a deadline each and make place for newer ones, so that clients that never finish cannot
/// keep others out. Of a host's connections, those that are over are evicted first, and then the oldest of
/// the largest group with equal progress: whatever an attacker has many of. Reads no clock: times are in
/// seconds on a monotonic clock. A function takes at most time in proportion to the number of connections.
class ConnectionTable {
 public:
  /// `most`: connections in all; `most_per_host`: from one IPv4 address or IPv6 /64.
  ConnectionTable(std::size_t most, std::size_t most_per_host) : most_(most), most_per_host_(most_per_host) {}

  struct Admission {
    ConnectionId id =
        0;  ///< of the new connection; 0: refused, because all others are of clients that joined
    ConnectionId evicted = 0;  ///< connection to close, already removed from the table; 0: none
  };
  /// A connection was accepted. If its host has no place, evicts one of the host's unfinished connections. If
  /// the table has none, evicts one of the host that has most of them. So an address with many connections
  /// loses its own.
  [[nodiscard]] Admission add(const IpAddress& host, double deadline_s);

  // The following functions do nothing for a connection that is not in the table.

  /// The connection has come further.
  void advance(ConnectionId id, Progress to);
  /// The client has joined: the connection has no deadline and is not evicted.
  void finish(ConnectionId id);
  /// The connection must end at this time, or at its deadline if that is earlier. If it had finished, it is
  /// unfinished again.
  void end_by(ConnectionId id, double deadline_s);
  /// Moves the deadline of an unfinished connection.
  void extend(ConnectionId id, double by_s);
  void remove(ConnectionId id);

  /// Removes an unfinished connection of the host that has most of them, to free its descriptor, and returns
  /// it; 0 if all connections have finished. `newcomer`: a host that is about to get one more, which counts.
  [[nodiscard]] ConnectionId evict(const std::optional<IpAddress>& newcomer = std::nullopt);
  /// Removes and returns the connections whose deadline has passed.
  [[nodiscard]] std::vector<ConnectionId> remove_late(double now_s);

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// Hosts that have connections.
  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }

 private:
  struct Connection {
    IpAddress host;  // IpAddress::limited_host()
    double deadline_s = 0.0;
    Progress progress = Progress::request;
    bool finished = false;
  };
  struct Host {
    std::size_t connections = 0;
    std::size_t unfinished = 0;
    std::array<std::size_t, 4> groups{};  // unfinished ones, by their progress
  };

  [[nodiscard]] ConnectionId first_to_evict(const IpAddress& host) const;
  void count_unfinished(const Connection& connection, bool more);

  std::size_t most_;
  std::size_t most_per_host_;
  ConnectionId newest_ = 0;
  std::map<ConnectionId, Connection> all_;  // oldest first
  std::unordered_map<IpAddress, Host, IpAddressHash> hosts_;
};

}  // namespace reckoner::web
