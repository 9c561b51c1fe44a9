// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/route_codec.hpp"
#include "net/src/link/message_queues.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/interest/interest.hpp"
#include "server/src/ownership/ownership.hpp"
#include "server/src/publish/encodings.hpp"
#include "server/src/publish/publisher.hpp"
#include "server/src/rewind/shared_motions.hpp"
#include "server/src/server_log.hpp"
#include "server/src/session/datagrams.hpp"
#include "server/src/session/delay_survey.hpp"
#include "server/src/session/session_logins.hpp"
#include "server/src/session/session_table.hpp"
#include "server/src/test_switches.hpp"
#include "server/src/util/time_guard.hpp"
#include "server/src/util/worker_pool.hpp"
#include "server/src/world/entity_table.hpp"
#include "server/src/world/field_table.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner {

/// The parts of a server. server.cpp implements it.
struct Server::Impl {
  Impl(ServerConfig given, Transport& given_transport, const ServerTestSwitches& given_switches);

  [[nodiscard]] double time_of(Tick tick) const { return config.epoch_s + tick / config.tick_rate_hz; }

  // Returns the part of `truth` that is published: without orientation and angular velocity if the archetype
  // has no orientation.
  [[nodiscard]] State publishable(const State& truth, std::size_t archetype) const {
    State state = truth;
    if (!config.archetypes[archetype].has_orientation) {
      state.orientation = State{}.orientation;
      state.angular_velocity = glm::vec3{0.0f};
    }
    return state;
  }

  void handle(const TransportEvent& event, double now_s);
  void handle_control(const TransportEvent& event);
  /// Counts a refused payload of a client. Pass true for `wrong` if no correct client sends such a payload.
  /// The payload then also counts as malformed.
  void count_refusal(Refusal why, bool wrong = true) {
    ++stats.refusals[why];
    stats.malformed += wrong ? 1 : 0;
  }
  void handle_state(const TransportEvent& event, double now_s);
  void process(Session& session, const GameDataMessage& message);
  void receive_unreliable(Session& session, std::span<const std::byte> payload, std::optional<double> time_s);
  void deliver(const Session& session, std::span<const std::byte> payload, std::optional<double> time_s);
  void refuse_message();
  void deliver_held();
  void deliver_held(Session& session);
  void note_processed(Session& session, std::size_t payload_bytes);
  std::size_t send_to(std::span<Session* const> clients, std::span<const std::byte> payload,
                      Delivery delivery, std::optional<double> time_s);
  void process(Session& session, const PlayoutMessage& message);
  void apply_playout_changes(double now_s);
  void join(PeerId peer, const JoinMessage& message, const PeerLogin& login);
  void resume(PeerId peer, const ResumeMessage& message, const PeerLogin& login);
  void replace_sessions(const PeerLogin& login, ClientId newest);
  void kick(Session& session, std::string_view reason);
  std::size_t kick_revoked(std::uint64_t client_id, std::string_view reason);
  void lose(Session& session);
  void end(Session& session, std::string_view why = "left");
  void report_received();
  void report_received(Session& session);
  [[nodiscard]] SessionMessage session_message(Session& session) const;
  void refuse(PeerId peer, const EndCode& code, const std::string& why);
  void refuse_version(PeerId peer, std::uint32_t version);
  void refuse(PeerId peer, const EndCode& code) { refuse(peer, code, describe(code)); }
  /// The time to use for a call with the time `now_s`.
  [[nodiscard]] double checked(double now_s);
  void close_idle(double now_s);
  CallResult put_owned(EntityId id, const State& truth);
  void process_owned(std::span<const Ownership::Update> updates, const Session& session, double now_s);
  void note_owned_frames();
  void release_owned(ClientId client);
  void announce_despawns();
  void review_interest(Tick tick);
  void send(Tick tick, double now_s);
  [[nodiscard]] bool hold_back(Tick tick, double now_s);
  void finish_outbox(DatagramBuffer& datagrams);

  CallResult move(Entity& entity, const State& truth);
  CallResult move_to(Entity& entity, const State& truth);
  [[nodiscard]] bool spend_way(Entity& entity, const glm::dvec3& to) const;
  // Converts a state from the game's coordinates, which are relative to `origin`, to the server's
  // coordinates. Only positions in the world frame change.
  [[nodiscard]] State to_server_coordinates(const State& given, EntityId frame) const {
    State state = given;
    if (!frame) state.position += origin;
    return state;
  }
  [[nodiscard]] State state_in_frame(EntityId frame, const Entity& entity) const;
  void put_into(Entity& entity, EntityId frame, const State& truth);
  void note_frame(const Entity& entity, EntityId before);
  void note_relevance_change(EntityId id);
  void release(const Entity& ending);
  bool end(EntityId id, bool as_planned = false);
  void end_as_planned(double now_s);
  void fly(double now_s);
  /// A null `as` lets the server choose the id.
  SpawnResult spawn(std::size_t archetype, const std::string& name, const State& state, EntityId frame,
                    std::unique_ptr<ShortLivedInfo> short_lived, EntityId as = {});
  [[nodiscard]] double lever_m(std::uint32_t slot) const;
  void measure_levers();

  ServerConfig config;
  Transport& transport;
  std::vector<Quantisation> quantisation;  // index: archetype
  ServerTestSwitches switches;
  WorkerPool pool;
  EntityTable entities;
  RouteTable routes;      // published motions point to routes in this table
  SharedMotions motions;  // of the clients' histories; empty without rewind
  Publisher publisher;
  FieldTable fields;
  Encodings encodings;
  std::vector<Snapshot> snapshots;                // scratch, one per worker
  std::vector<std::vector<std::uint32_t>> fresh;  // scratch, one per worker
  std::vector<DatagramBuffer> datagrams;          // scratch, one per group of sessions
  Interest interest;
  DelaySurvey delays;
  SessionTable sessions;
  Ownership ownership;
  std::map<PeerId, double> waiting;  // connections that have not joined yet, and when each began, s
  SessionLogins logins;
  std::vector<ClientId> changing_playout;   // clients whose new playout settings are not in effect yet
  std::vector<ClientId> holding;            // clients with reliable messages beyond their rates
  std::vector<ClientId> unreported;         // clients whose reliable messages the server must confirm
  std::vector<EntityId> relevance_changed;  // entities whose relevance the next tick must check
  // Entities that ended since the last tick.
  struct Despawned {
    EntityId id;
    Tick tick = 0;
    bool as_planned = false;  // a short-lived entity reached the end that its spawn names
  };
  std::vector<Despawned> despawned;
  std::vector<EntityId> flying;                  // short-lived entities that the game has not moved
  std::multimap<double, EntityId> planned_ends;  // of short-lived entities, by server time, s
  std::deque<ServerEvent> events;
  ServerLog log;
  MessageInbox inbox{{}};
  MessageBatch batch;               // scratch: the messages of one datagram
  std::vector<Session*> receivers;  // scratch
  std::vector<std::size_t>
      // Scratch; for each session, the size of the largest datagram that can be sent, bytes.
      max_datagram_bytes;
  std::vector<SeenPose> seen;  // result of rewind()
  double present_s = 0.0;      // server time of the last receive() or tick(), s
  TimeGuard time_guard;
  // Slots of the entities whose frame contains, or contained, entities.
  std::vector<std::uint32_t> frames_with_lever;
  glm::dvec3 origin{0.0};       // origin of the game's coordinates, m, in the server's world
  std::vector<EntityId> found;  // result of Server::entities() and entities_near()
  SlotSet near_slots;           // scratch of entities_near()
  std::vector<EntityId> ended;  // scratch
  // One-way delay to the clients of other servers that show these entities, s (WorldAccess).
  std::optional<double> distant_delay_s;
  bool closing = false;
  Tick next_tick = 0;
  int held_back = 0;  // number of ticks in a row, up to now, that sent no datagrams
  std::uint32_t next_client = 1;
  ServerStats stats;
};

}  // namespace reckoner
