// SPDX-License-Identifier: MIT
#pragma once

#include "entity_table.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/ack_window.hpp>
#include <reckoner/net/bit_stream.hpp>
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
  /// The tick that is sent, and what it is sent from.
  struct Step {
    const EntityTable& entities;
    std::span<const Quantisation> quantisation;  ///< by archetype
    Tick tick = 0;
    double tick_time_s = 0.0;
    double now_s = 0.0;
    Transport& transport;
    ServerStats& stats;
    std::vector<std::uint32_t>& repaired;  ///< collects the slots of repairs sent
  };

  Session(ClientId id, PeerId peer, const ServerConfig& config);

  [[nodiscard]] ClientId id() const { return id_; }
  [[nodiscard]] PeerId peer() const { return peer_; }
  [[nodiscard]] const LinkEstimate& link() const { return link_; }

  /// Tells the client of the next route. Nothing that is on it is sent until the client has taken that in.
  void tell_route(const RouteMessage& message, Transport& transport);

  /// The client is to be told of an entity; send() does. No state is sent for it until the client has taken
  /// that in.
  void announce(const Entity& entity);
  void retract(EntityId id, Tick tick, Transport& transport);

  /// The entity has a new motion, which this client is owed.
  void published(const Entity& entity, Tick tick);

  /// Takes in a client's datagram that arrived at `now_s`. False if it cannot be true.
  [[nodiscard]] bool receive(const ClientDatagram& datagram, double now_s, const EntityTable& entities,
                             ServerStats& stats);

  /// Gives up what was not acknowledged in time, and sends what is due, as far as the byte budget allows; a
  /// heartbeat if nothing was sent for long.
  void send(const Step& step);

 private:
  // What this client knows of the entity in a slot.
  struct Known {
    EntityId id;
    bool told = false;       // the announcement was sent
    bool confirmed = false;  // the client has taken it in
    bool due = false;
    bool repair = false;  // due because a datagram was lost, and for no other reason
    Tick due_since = 0;   // the client lacks what was published from this tick on
    Tick sent_tick = 0;   // time stamp of the newest motion sent
  };
  // A message of the control channel, sent or to be sent, that the client has not confirmed.
  struct Unconfirmed {
    EntityId id;
    Tick since = 0;            // the client lacks something of this tick until it has the message
    std::uint32_t number = 0;  // counts the messages sent
  };
  struct Carried {
    EntityId id;
    Tick motion_tick;
  };

  void tell(const Step& step);
  void tell_of(const Entity& entity, const Step& step);
  void set_due(Known& known, Tick since, bool repair);
  [[nodiscard]] bool knows_route(RouteId route) const;
  void confirm(std::uint32_t control_count, const EntityTable& entities);
  void settle(const EntityTable& entities, ServerStats& stats);
  [[nodiscard]] std::uint32_t complete_age(Tick tick) const;
  [[nodiscard]] ServerHeader make_header(const Step& step) const;
  [[nodiscard]] std::size_t choose(const Step& step, std::size_t room) const;
  std::size_t send_datagram(const Step& step, bool with_updates);
  static void note_update(const Entity& entity, std::size_t bits, ServerStats& stats);
  void write_updates(const Step& step, std::size_t count, std::vector<Carried>& carried, BitWriter& writer);

  ClientId id_;
  PeerId peer_;
  double bytes_per_second_;
  double heartbeat_s_;
  double tick_s_;

  std::vector<Known> known_;             // by slot
  std::vector<std::uint32_t> due_;       // slots, each once; may hold some that are due no more
  std::vector<std::uint32_t> held_;      // due too, on routes that the client does not know yet
  std::vector<std::uint32_t> routes_;    // by route: number of the message
  std::deque<Unconfirmed> untold_;       // announcements that wait for the ones before to be confirmed
  std::deque<Unconfirmed> unconfirmed_;  // by number
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
