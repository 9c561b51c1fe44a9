// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <reckoner/cluster/bus.hpp>
#include <reckoner/cluster/cluster_config.hpp>
#include <reckoner/cluster/export.hpp>
#include <reckoner/cluster/world_entry.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// Settings of a gateway.
struct GatewayConfig {
  /// As for a single server. Tick rate, archetypes and epoch come from the world. With an interest radius of
  /// 0, the gateway subscribes to all cells.
  ServerConfig server;
  double silence_s = 1.0;  ///< entities of a silent simulator come to rest after this time, s
  /// Game messages of one sender, bytes per second, 16384 to 1e9: of a client to all entities, and of an
  /// entity to a client. As many may come at once. Beyond that, send() refuses a client's message, and an
  /// entity's message waits at its simulator.
  double message_bytes_per_s = 32.0 * 1024.0;
};

/// Shows the world to clients. Clients join its Server and do not notice that others simulate the entities.
/// The gateway subscribes to the cells around the eyes of its clients (Server::set_view()).
///
/// In each tick: receive(), the game's own work with server(), then tick(). Times are the clock that all
/// processes of the world share. Bus and transport must outlive the object. One thread at a time may use it.
class RECKONER_CLUSTER_API Gateway {
 public:
  /// `member` comes from WorldEntry with an equal configuration. Fails if a setting is invalid.
  [[nodiscard]] static Result<Gateway> create(const ClusterConfig& config, const GatewayConfig& gateway,
                                              const WorldMember& member, Bus& bus, Transport& transport,
                                              double now_s);
  ~Gateway();
  Gateway(Gateway&& other) noexcept;             ///< afterwards `other` may only be destroyed
  Gateway& operator=(Gateway&& other) noexcept;  ///< afterwards `other` may only be destroyed

  /// The server that clients join. The game polls its events and messages, and sets views and groups of
  /// clients. It must not spawn, move or despawn entities. Its times are seconds since tick 0 of the world.
  [[nodiscard]] Server& server();
  /// The server that clients join, to read only.
  [[nodiscard]] const Server& server() const;

  /// Sends a reliable message from a client to the simulator that holds an entity. Messages of one client to
  /// one entity arrive once and in order. False if the client is unknown, the message is empty or too large,
  /// the client has sent more than GatewayConfig::message_bytes_per_s, 1024 messages or 256 KiB of the client
  /// wait, or the client has written to 1024 entities.
  bool send(ClientId from, EntityId to, std::span<const std::byte> payload);
  /// How the simulators name a client of this gateway.
  [[nodiscard]] ClusterClient address(ClientId client) const;

  /// Processes what has arrived from the bus and from clients.
  void receive(double now_s);
  /// Runs the next tick. Call it when the tick is due. The motions of this tick have arrived by then, because
  /// simulators run their ticks a few milliseconds earlier.
  void tick(double now_s);
  [[nodiscard]] Tick next_tick() const;               ///< the tick that tick() will run
  [[nodiscard]] double tick_time_s(Tick tick) const;  ///< when it is due, s of the common clock
  /// The common clock at a server time of server(), s.
  [[nodiscard]] double epoch_s() const;

  [[nodiscard]] std::size_t cell_count() const;  ///< number of cells that it subscribes to
  /// Counters. Valid as long as the object.
  [[nodiscard]] const ClusterStats& stats() const;
  /// The epoch of an entity, 0 if it is unknown. For tests and monitoring.
  [[nodiscard]] std::uint32_t epoch(EntityId id) const;

 private:
  struct Impl;
  explicit Gateway(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
