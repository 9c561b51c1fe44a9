// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

// ENet as a program would use it that sends datagrams and nothing else: none of Reckoner's code in the way,
// one pass or two a tick, unsequenced packets, no checksum, no compression, the throttle open. The floor that
// Reckoner's server is measured against.

struct PlainCounts {
  std::uint64_t datagrams_sent = 0;  ///< as the network sees them
  std::uint64_t datagrams_received = 0;
  std::uint64_t wire_bytes_sent = 0;  ///< with UDP's and IPv4's headers
  std::uint64_t payload_bytes_sent = 0;
  std::uint64_t payloads_received = 0;
};

/// One thread at a time.
class PlainServer {
 public:
  /// On a free port of 127.0.0.1.
  [[nodiscard]] static Result<std::unique_ptr<PlainServer>> listen(std::size_t max_clients);
  ~PlainServer();

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::size_t client_count() const;  ///< that ever connected

  /// Queues `bytes` bytes (at most 1200) for a client, numbered from 0 in order of connecting.
  void send(std::size_t client, std::size_t bytes);

  /// Sends what is queued and takes in what has arrived.
  void service();

  [[nodiscard]] PlainCounts counts() const;

 private:
  struct Impl;
  explicit PlainServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// One thread at a time.
class PlainClient {
 public:
  [[nodiscard]] static Result<std::unique_ptr<PlainClient>> connect(const std::string& host,
                                                                    std::uint16_t port);
  ~PlainClient();

  [[nodiscard]] bool connected() const;
  [[nodiscard]] bool lost() const;  ///< the connection ended, or never came about

  /// Takes in what has arrived; how many payloads.
  std::size_t service();

  /// Sends `bytes` bytes (at most 1200).
  void send(std::size_t bytes);

 private:
  struct Impl;
  explicit PlainClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner::harness
