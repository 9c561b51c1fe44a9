// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "reckoning/src/prediction/motion_fit.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/state.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// What the library of clusters needs of a server and no game does: ids from elsewhere, entities that another
/// server holds, and publishes in their wire encoding. The server must outlive the object.
class RECKONER_SERVER_API WorldAccess {
 public:
  explicit WorldAccess(Server& server) : server_(&server) {}

  /// Makes `tick` the next tick. Call it before the first tick only.
  void start_at(Tick tick);

  /// Like Server::spawn(), under a given id. All entities of the server must be spawned like this.
  [[nodiscard]] SpawnResult spawn_as(EntityId id, std::size_t archetype, const std::string& name,
                                     const State& state, EntityId frame = {});

  /// Shows an entity with a motion that another server has published with the time stamp `tick`. The entity
  /// is fed from then on, as if a trusted client owned it: Server::move() refuses it. After `silence_s`
  /// without feed() or note_feed() it fades to rest. Returns false and does nothing if the entity or its
  /// frame is unknown, or if the motion is late, ahead of the present, or not encodable.
  bool feed(EntityId id, const QuantisedState& encoded, Tick tick, double now_s, double silence_s);
  /// The other server has confirmed that the motion of a fed entity is valid.
  void note_feed(EntityId id, double now_s);
  /// True if another server holds the entity.
  [[nodiscard]] bool is_fed(EntityId id) const;

  /// Takes over a fed entity: it continues from `state`, with what the other server has learned about its
  /// motion, and is published in the next tick.
  void hold(EntityId id, const State& state, const MotionFit::Priors& priors,
            const MotionFit::Memory& memory = {});
  /// What this server has learned about how the entity moves. Empty parts: not yet reliable.
  [[nodiscard]] MotionFit::Priors priors(EntityId id) const;
  /// The fit of its motion, with which another server can continue. Empty parts: not yet reliable.
  [[nodiscard]] MotionFit::Memory memory(EntityId id) const;

  /// Publishes the entity in the next tick, even if its motion is still valid.
  void publish_in_next_tick(EntityId id);

  /// A motion in its wire encoding and its time stamp.
  struct EncodedMotion {
    QuantisedState encoded;
    Tick tick = 0;
  };
  /// The newest publish at the finest level of detail. Nullopt before the first tick of the entity.
  [[nodiscard]] std::optional<EncodedMotion> published(EntityId id) const;
  /// Appends the entities that the last tick has published, in order of slot.
  void append_published(std::vector<EntityId>& ids) const;

  /// The clients that show these entities are on other servers; a motion needs `delay_s` seconds to reach
  /// most of them. The server publishes earlier by this time.
  void set_distant_delay(double delay_s);

  /// The state that a motion with the time stamp `tick` has at server time `time_s`, relative to its frame.
  /// Nullopt if the motion is beyond the limits of its archetype.
  [[nodiscard]] std::optional<State> state_of(const QuantisedState& encoded, std::size_t archetype, Tick tick,
                                              double time_s) const;
  /// The route that the entity follows; null if it follows none.
  [[nodiscard]] RouteId route(EntityId id) const;
  [[nodiscard]] const Quantisation& quantisation(std::size_t archetype) const;
  [[nodiscard]] std::optional<std::size_t> archetype(EntityId id) const;
  [[nodiscard]] const std::string* name(EntityId id) const;  ///< null if the id is unknown
  [[nodiscard]] std::uint8_t teleports(EntityId id) const;
  [[nodiscard]] std::uint32_t groups(EntityId id) const;
  [[nodiscard]] Relevance relevance(EntityId id) const;
  /// The one-way delay to a client, s; nullopt if it is not known yet.
  [[nodiscard]] std::optional<double> one_way_s(ClientId client) const;
  /// The position of a client's eye, m; nullopt if it has none.
  [[nodiscard]] std::optional<glm::dvec3> eye(ClientId client) const;
  [[nodiscard]] const ServerConfig& config() const;

 private:
  Server* server_;
};

}  // namespace reckoner
