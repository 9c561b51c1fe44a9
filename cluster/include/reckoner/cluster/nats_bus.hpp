// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <reckoner/cluster/bus.hpp>
#include <reckoner/cluster/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// How to reach a NATS server with JetStream, 2.9 or newer.
struct NatsConfig {
  std::string url = "nats://127.0.0.1:4222";  ///< several servers of a NATS cluster are separated by commas
  std::string world = "world";     ///< ClusterConfig::world: its tables are the buckets WORLD-leases, ...
  std::string name;                ///< shown by the server's monitoring
  double lease_s = 2.0;            ///< ClusterConfig::lease_s: the TTL of the bucket with the leases, s
  std::string user{};              ///< empty: no user
  std::string password{};          ///< the user's password
  std::string ca_file{};           ///< certificates of trusted authorities; a file makes TLS mandatory
  std::string cert_file{};         ///< this client's certificate, for mutual TLS
  std::string key_file{};          ///< this client's private key
  int replicas = 1;                ///< copies of each bucket in a NATS cluster, when this process creates it
  double connect_timeout_s = 2.0;  ///< how long open() waits for a connection, s
  double request_timeout_s = 1.0;  ///< a request without an answer for this time is `unavailable`, s
  /// A silent connection is tested this often, s, and given up after two tests without an answer.
  double ping_s = 0.5;
  /// Messages that arrived and wait for poll(), at most. More are dropped, counted and later repaired.
  std::size_t max_waiting = 65'536;
};

/// The bus over NATS. Threads of the NATS library receive; everything else happens in the caller's thread.
class RECKONER_CLUSTER_API NatsBus : public Bus {
 public:
  /// Connects, and creates the buckets of the world if they do not exist and the user may do so. Waits for
  /// the network. Fails if no server answers, if it has no JetStream, if a bucket exists with other settings,
  /// or if one is missing and the user may not create it. In an account that imports the buckets from another
  /// one (deploy/nats.conf), settings are not compared.
  [[nodiscard]] static Result<std::unique_ptr<NatsBus>> open(const NatsConfig& config);
  ~NatsBus() override;
  NatsBus(const NatsBus&) = delete;
  NatsBus& operator=(const NatsBus&) = delete;

  void service(double now_s) override;
  [[nodiscard]] bool connected() const override;
  void publish(std::string_view subject, std::span<const std::byte> payload) override;
  void subscribe(std::string_view subject) override;
  void unsubscribe(std::string_view subject) override;
  [[nodiscard]] std::optional<BusMessage> poll() override;
  std::uint64_t get(BusTable table, std::string_view key) override;
  std::uint64_t put_if(BusTable table, std::string_view key, std::span<const std::byte> value,
                       std::uint64_t revision) override;
  void put(BusTable table, std::string_view key, std::span<const std::byte> value) override;
  std::uint64_t list(BusTable table) override;
  [[nodiscard]] std::optional<BusAnswer> poll_answer() override;
  [[nodiscard]] const BusStats& stats() const override;

 private:
  struct Impl;
  explicit NatsBus(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
