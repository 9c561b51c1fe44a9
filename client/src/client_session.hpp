// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/client_messages.hpp"
#include "client/src/connection/ordered_messages.hpp"
#include "client/src/connection/server_link.hpp"
#include "client/src/owned_entities.hpp"
#include "client/src/playout/playout_clock.hpp"
#include "client/src/playout/steps_in_a_row.hpp"
#include "client/src/prediction/predicted_entities.hpp"
#include "client/src/shown/shown_world.hpp"
#include "client/src/testing/test_switches.hpp"
#include "client/src/world/decoded_datagram.hpp"
#include "client/src/world/world.hpp"
#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include <reckoner/client/client.hpp>
#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// One session of the server, as this client has it. receive() passes the data on: a datagram is decoded,
/// the link accepts it, the world applies it, the playout decides which instant is shown, and ShownWorld
/// shows it. A session outlives connections. If the client joins a server that does not know the session, a
/// new one replaces it.
struct ClientSession {
  /// `given_messages` and `given_stats` belong to the client and must outlive the session.
  ClientSession(const ClientConfig& given, const ClientTestSwitches& given_switches,
                ClientMessages& given_messages, ClientStats& given_stats)
      : config(given),
        switches(given_switches),
        messages(given_messages),
        stats(given_stats),
        playout(given.playout) {
    link.inputs().configure(given.input_delay_ticks, given.inputs_per_datagram);
  }

  /// Begins with the server's welcome, at local time `local_s`. False if the message is invalid.
  [[nodiscard]] bool begin(const WelcomeMessage& message, double local_s);
  /// Decodes and applies, at local time `local_s`, a datagram that arrived in the machine at `arrived_s`.
  void receive(std::span<const std::byte> payload, double local_s, double arrived_s);
  /// Notes that anything arrived from the server.
  void note_arrival(double local_s);
  /// Applies a reliable message. Returns the reason if it is refused, else nullopt.
  [[nodiscard]] std::optional<Refusal> apply(const ReliableMessage& message);
  /// Ends the entities whose end waited for a message that is processed now.
  void end_waiting() { world.end_waiting(messages.counts().processed_count()); }

  /// Takes the reliable messages that have arrived completely. Before the session has begun, no message is
  /// taken before its turn: the first one begins the session.
  void take_reliable() {
    while (take_message()) {
    }
    while (link.has_begun() && take_early_message()) {
    }
  }
  /// Takes the next reliable message that has arrived completely. Returns false if there is none.
  [[nodiscard]] bool take_message();
  /// Removes and returns the oldest message that does not wait for spawns any more. The caller processes it,
  /// also one that it refuses: the server numbers all that it sends, and both sides must agree.
  [[nodiscard]] std::optional<OrderedMessages::Message> next_message();
  /// Removes and returns the oldest message, even if it still waits for spawns. For a session that has ended.
  [[nodiscard]] std::optional<OrderedMessages::Message> next_message_at_the_end();
  /// Counts something that no honest server sends.
  void refuse(Refusal why);

  /// Advances the server's clock and the playout to local time `local_s`.
  void advance(double local_s);
  /// The server time at which the playout shows the present, at local time `local_s`. Requires a ready clock.
  [[nodiscard]] double show_s(double local_s) const {
    return link.clock().server_time_s(local_s) + config.show_ahead_s;
  }

  /// These implement the functions of Client with the same name. Call advance() first.
  [[nodiscard]] std::optional<State> motion_at(EntityId id, double time_s) const;
  [[nodiscard]] SpawnResult predict_spawn(std::size_t archetype, const State& counted, std::uint32_t key,
                                          double patience_s);
  [[nodiscard]] CallResult correct(EntityId id, const State& in_world, double anticipated_s);
  void set_playout(const PlayoutConfig& to);
  /// Queues the events of everything that has changed up to the instant shown.
  void report_changes() {
    if (link.clock().ready()) shown.report_changes();
  }

  /// How the server must expect this client to blend.
  [[nodiscard]] BlendSettings declared_blend() const {
    return {playout.blend().curve, std::clamp(playout.blend_s(), 0.0, kMaxBlendS)};
  }
  /// The playout settings that the server must know.
  [[nodiscard]] PlayoutMessage playout_message() const {
    return {playout.path() == MotionPath::interpolate, playout.shows_past(), declared_blend()};
  }
  /// True if the server cannot reconstruct what is shown: the client is paused, or motions fade to rest.
  [[nodiscard]] bool shows_unreported() const { return shown.paused() || world.fades.any(); }

  /// True if the session can replace an earlier one: the clock is ready, and the entities have arrived that
  /// existed at the join. If they are very many, the client does not wait for all.
  [[nodiscard]] bool can_replace(double local_s);
  /// Call this when the session is over. The client still shows it until the next one is ready.
  void retire() { retired_ = true; }

  ClientConfig config;  // the archetypes as the server has set them
  ClientTestSwitches switches;
  ClientMessages& messages;
  ClientStats& stats;
  ServerLink link{messages, stats};
  PlayoutClock playout;
  World world{config, switches, link.clock(), playout, link.showing(), link.owned(), stats};
  OwnedEntities owned{{config, switches, link, playout, world, stats}};
  PredictedEntities predicted{link.inputs(), stats};
  ShownWorld shown{world, playout, link.showing(), predicted};

 private:
  [[nodiscard]] bool take_early_message();
  [[nodiscard]] std::optional<OrderedMessages::Message> count(
      std::optional<OrderedMessages::Message> message);
  void note_datagram(double local_s);
  [[nodiscard]] std::optional<Refusal> apply(const OwnershipMessage& message);
  void review_path();
  std::optional<PlayoutClock::InputTime> advance_inputs(double local_s);

  OrderedMessages ordered_;              // reliable messages of the server; some wait for spawns
  DecodedDatagram datagram_;             // the newest one; kept so that its memory is used again
  std::optional<Tick> newest_datagram_;  // tick of the newest datagram; empty: none has arrived
  double joined_s_ = 0.0;                // server time of the join, s
  std::optional<double> clock_ready_s_;  // local time since which the clock is ready, s
  bool retired_ = false;
  StepsInARow steps_in_a_row_;
};

}  // namespace reckoner
