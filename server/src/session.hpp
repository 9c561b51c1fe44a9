// SPDX-License-Identifier: MIT
#pragma once

#include "entity_table.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <reckoner/net/ack_window.hpp>
#include <reckoner/net/datagram.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/link_estimate.hpp>
#include <reckoner/net/messages.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// One client as the server knows it: what it was told, what is on its way, what it is owed.
///
/// An update is owed ("due") from the publish until it is put into a datagram, and again when that datagram
/// turns out lost and nothing newer was sent for the entity since. What is then sent is the entity's present
/// motion, never an old one.
class Session {
 public:
  Session(ClientId id, PeerId peer, const ServerConfig& config);

  [[nodiscard]] ClientId id() const { return id_; }
  [[nodiscard]] PeerId peer() const { return peer_; }
  [[nodiscard]] const LinkEstimate& link() const { return link_; }

  /// Tells the client of an entity. No state is sent for it until the client has taken that in.
  void announce(const Entity& entity, Tick tick, std::span<const Archetype> archetypes, Transport& transport);
  void retract(EntityId id, Tick tick, Transport& transport);

  /// The entity has a new motion, which this client is owed.
  void published(const Entity& entity, Tick tick);

  /// Takes in a client's datagram that arrived at `now_s`. False if it cannot be true.
  [[nodiscard]] bool receive(const ClientDatagram& datagram, double now_s, const EntityTable& entities,
                             Tick tick, ServerStats& stats);

  /// Gives up what was not acknowledged in time, and sends what is due, as far as the byte budget allows; a
  /// heartbeat if nothing was sent for long. `repaired` collects the slots of repairs sent.
  void send(const EntityTable& entities, std::span<const Quantisation> quantisation, Tick tick,
            double tick_time_s, double now_s, Transport& transport, ServerStats& stats,
            std::vector<std::uint32_t>& repaired);

 private:
  // What this client knows of the entity in a slot.
  struct Known {
    EntityId id;
    std::uint32_t announcement = 0;  // number of the control message
    bool confirmed = false;          // the client has taken the announcement in
    bool due = false;
    bool repair = false;  // due because a datagram was lost
    Tick due_since = 0;
    Tick sent_tick = 0;  // time stamp of the newest motion sent
  };
  struct Carried {
    EntityId id;
    Tick motion_tick;
  };

  void set_due(Known& known, Tick since, bool repair);
  void confirm(std::uint16_t control_count, const EntityTable& entities, Tick tick);
  void settle(const EntityTable& entities, Tick tick, ServerStats& stats);
  [[nodiscard]] std::uint32_t complete_age(Tick tick) const;
  [[nodiscard]] ServerHeader make_header(Tick tick, double tick_time_s) const;
  bool send_datagram(const EntityTable& entities, std::span<const Quantisation> quantisation, Tick tick,
                     double tick_time_s, double now_s, Transport& transport, ServerStats& stats,
                     std::vector<std::uint32_t>& repaired);

  ClientId id_;
  PeerId peer_;
  double bytes_per_second_;
  double heartbeat_s_;
  double tick_s_;

  std::vector<Known> known_;        // by slot
  std::vector<std::uint32_t> due_;  // slots, unordered; may hold some that are due no more
  std::uint32_t control_sent_ = 0;
  std::uint32_t control_confirmed_ = 0;

  SentWindow sent_;
  ReceivedWindow received_;
  std::array<std::vector<Carried>, SentWindow::kCapacity> in_flight_;  // by sequence modulo capacity
  LinkEstimate link_;

  std::optional<std::uint32_t> stamp_;  // the client's newest, not answered yet
  double stamp_arrival_s_ = 0.0;
  double tokens_ = 0.0;  // bytes that the budget allows now
  double last_send_s_ = -1e9;
  double joined_s_ = -1.0;
};

}  // namespace reckoner
