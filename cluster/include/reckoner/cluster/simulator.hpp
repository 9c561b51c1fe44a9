// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/cluster/bus.hpp>
#include <reckoner/cluster/cluster_config.hpp>
#include <reckoner/cluster/export.hpp>
#include <reckoner/cluster/world_entry.hpp>
#include <reckoner/net/call_result.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/state.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// Largest size of the game's own data of an entity (Simulator::set_data()), bytes.
inline constexpr std::size_t kMaxEntityDataBytes = 4096;

/// An event of a simulator.
struct SimulatorEvent {
  /// The kind of event.
  enum class Kind : std::uint8_t {
    /// This simulator holds the entity from now on: the game moves it. `data` is the game's own data.
    acquired,
    released,      ///< another simulator holds the entity from now on; here it is a border ghost
    cells_gained,  ///< this simulator holds more cells than before
    cells_lost,    ///< this simulator holds fewer cells than before
  };
  Kind kind = Kind::acquired;     ///< the kind of event
  EntityId entity{};              ///< the entity concerned
  std::vector<std::byte> data{};  ///< of an acquired entity; the game must check it
  bool adopted = false;           ///< its last holder had died: the state may be up to a second old
};

/// A message from a client to an entity that this simulator holds.
struct EntityMessage {
  ClusterClient sender;            ///< the client; reply with Simulator::send()
  EntityId entity;                 ///< the entity
  std::vector<std::byte> payload;  ///< at least 1 byte; the game must check it
};

/// Runs the game for the entities in the cells that this process holds. Cells are claimed, balanced among the
/// simulators of the world, and taken over when a simulator dies.
///
/// In each tick: receive(), poll all events and messages, move the entities, then tick(). The entities of
/// neighbouring cells are in the server, too, as border ghosts: the game may read them, but the functions
/// that change an entity fail with CallError::owned.
///
/// Times are the clock that all processes of the world share. The bus must outlive the object. One thread at
/// a time may use it.
class RECKONER_CLUSTER_API Simulator {
 public:
  /// `member` comes from WorldEntry with an equal configuration. Fails if a setting is invalid.
  [[nodiscard]] static Result<Simulator> create(const ClusterConfig& config, const WorldMember& member,
                                                Bus& bus, double now_s);
  ~Simulator();
  Simulator(Simulator&& other) noexcept;             ///< afterwards `other` may only be destroyed
  Simulator& operator=(Simulator&& other) noexcept;  ///< afterwards `other` may only be destroyed

  /// Adds an entity in the next tick, also outside of the held cells: it is then handed over. The id is
  /// unique in the world. Fails like Server::spawn(), and with CallError::world_full while no ids are at
  /// hand (ready()).
  [[nodiscard]] SpawnResult spawn(std::size_t archetype, const std::string& name, const State& state,
                                  EntityId frame = {});
  /// Removes a held entity. Fails if this simulator does not hold it, or hands it over at this moment: then
  /// the new holder decides.
  CallResult despawn(EntityId id);
  CallResult move(EntityId id, const State& truth);             ///< as Server::move()
  CallResult teleport(EntityId id, const State& truth);         ///< as Server::teleport()
  CallResult follow(EntityId id, RouteId route);                ///< as Server::follow()
  CallResult leave_route(EntityId id);                          ///< as Server::leave_route()
  CallResult move_along(EntityId id, const RouteState& along);  ///< as Server::move_along()
  /// As Server::enter_frame(). An entity in a moving frame belongs to the simulator that holds the frame.
  CallResult enter_frame(EntityId id, EntityId frame);
  /// As Server::set_field().
  CallResult set_field(EntityId id, std::size_t field, const FieldValue& value);
  CallResult set_relevance(EntityId id, Relevance relevance);  ///< as Server::set_relevance()
  CallResult set_groups(EntityId id, std::uint32_t groups);    ///< as Server::set_groups()
  /// The game's own data, which goes with the entity to its next holder. Fails if the entity is not held or
  /// the data is longer than kMaxEntityDataBytes.
  CallResult set_data(EntityId id, std::span<const std::byte> data);

  /// Sends a reliable message from a held entity to a client. Messages of one entity to one client arrive
  /// once and in order, also when the entity is handed over in between. Fails if the entity is not held, the
  /// message is empty or too long, or 32 messages to the client are not acknowledged yet.
  CallResult send(EntityId from, ClusterClient to, std::span<const std::byte> payload);
  /// The oldest message to a held entity.
  [[nodiscard]] std::optional<EntityMessage> poll_message();
  /// The oldest event.
  [[nodiscard]] std::optional<SimulatorEvent> poll_event();

  /// Processes what has arrived from the bus.
  void receive(double now_s);
  /// Runs the next tick: publishes, hands over, renews.
  void tick(double now_s);
  [[nodiscard]] Tick next_tick() const;  ///< the tick that tick() will run
  /// When a tick is due, s of the common clock. It is 6 ms before the time of the tick, Server::tick_time_s()
  /// of server() plus the epoch: the motions of the tick are then at the gateways in time.
  [[nodiscard]] double tick_time_s(Tick tick) const;

  /// Hands everything over. Continue until finished().
  void leave();
  /// True once nothing is held, or nobody is there to take it.
  [[nodiscard]] bool finished() const;
  /// True if ids for new entities are at hand.
  [[nodiscard]] bool ready() const;

  [[nodiscard]] bool holds(EntityId id) const;              ///< true if the game moves this entity
  [[nodiscard]] std::vector<EntityId> held() const;         ///< all held entities, in order of slot
  [[nodiscard]] std::size_t held_count() const;             ///< number of held entities
  [[nodiscard]] std::string name(EntityId id) const;        ///< the name of spawn(); empty if it is unknown
  [[nodiscard]] bool holds_cell(std::uint32_t cell) const;  ///< true if this simulator holds the cell
  [[nodiscard]] std::size_t cell_count() const;             ///< number of held cells
  /// The newest epoch of a cell that this process knows; 0 if it knows none. For tests and monitoring.
  [[nodiscard]] std::uint32_t cell_epoch(std::uint32_t cell) const;
  /// All entities that this process knows, to read only.
  [[nodiscard]] const Server& server() const;
  /// Counters. Valid as long as the object.
  [[nodiscard]] const ClusterStats& stats() const;
  /// The epoch of an entity, 0 if it is unknown. For tests and monitoring.
  [[nodiscard]] std::uint32_t epoch(EntityId id) const;

 private:
  struct Impl;
  explicit Simulator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner
