// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

// Minimal use of ENet, the baseline for the cost of Reckoner's server. It only sends datagrams: no code of
// Reckoner, one or two ENet passes a tick, unsequenced packets, no checksum, no compression, and no throttle.

struct PlainCounts {
  std::uint64_t datagrams_sent = 0;  ///< UDP datagrams
  std::uint64_t datagrams_received = 0;
  std::uint64_t wire_bytes_sent = 0;  ///< including the headers of UDP and IPv4
  std::uint64_t payload_bytes_sent = 0;
  std::uint64_t payloads_received = 0;
};

/// A server that sends payloads of given sizes. Belongs to one thread at a time.
class PlainServer {
 public:
  /// Opens a socket on a free port of 127.0.0.1. `max_clients` is the number of peers.
  [[nodiscard]] static Result<std::unique_ptr<PlainServer>> listen(std::size_t max_clients);
  ~PlainServer();

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::size_t client_count() const;  ///< since the start, disconnected ones included

  /// Queues `bytes` bytes (at most 1200) for a client. Clients are numbered from 0 in the order of
  /// connecting.
  void send(std::size_t client, std::size_t bytes);

  /// Sends what is queued and handles what has arrived.
  void service();

  [[nodiscard]] PlainCounts counts() const;

 private:
  struct Impl;
  explicit PlainServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A client that acknowledges with payloads of given sizes. Belongs to one thread at a time.
class PlainClient {
 public:
  [[nodiscard]] static Result<std::unique_ptr<PlainClient>> connect(const std::string& host,
                                                                    std::uint16_t port);
  ~PlainClient();

  [[nodiscard]] bool connected() const;
  [[nodiscard]] bool lost() const;  ///< the connection ended or was never established

  /// Handles what has arrived. Returns the number of payloads.
  std::size_t service();

  /// Sends `bytes` bytes (at most 1200). Does nothing while not connected.
  void send(std::size_t bytes);

 private:
  struct Impl;
  explicit PlainClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner::harness
