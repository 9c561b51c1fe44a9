// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/client_log.hpp"
#include "client/src/client_world.hpp"
#include "client/src/connection/back_off.hpp"
#include "client/src/connection/client_messages.hpp"
#include "client/src/connection/early_datagrams.hpp"
#include "client/src/connection/local_time.hpp"
#include "client/src/connection/ordered_messages.hpp"
#include "client/src/test_switches.hpp"
#include "net/src/messages/messages.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <reckoner/client/client.hpp>
#include <reckoner/net/dialer.hpp>
#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// The parts of a client. The world holds everything that is shown, and outlives
/// connections.
struct Client::Impl {
  Impl(ClientConfig given, Transport* given_transport, Dialer* given_dialer,
       const ClientTestSwitches& given_switches = {});
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Connections:
  void run_connection(double local_s);
  void dial(double local_s);
  void receive(const TransportEvent& event, double local_s);
  void note_heard(double local_s);
  void begin_connection(PeerId peer, double local_s);
  void end_connection(const EndCode& code, double local_s);
  void forget_connection();
  void receive_datagram(std::span<const std::byte> payload, double local_s, double arrived_s);
  void receive_before_welcome(std::span<const std::byte> payload, double local_s);
  [[nodiscard]] bool take_answer(std::span<const std::byte> payload, double local_s);
  void begin_session();
  void take_reliable();
  [[nodiscard]] bool take_message();
  void abandon_session(double local_s);
  void apply_ordered(double local_s);
  void apply_all_ordered();
  void note_kick(const KickMessage& message);
  void apply_or_refuse(const OrderedMessages::Message& message, double local_s);
  /// These functions return the reason if they refuse a message, else nullopt.
  [[nodiscard]] std::optional<Refusal> apply(const ReliableMessage& message, double local_s);
  [[nodiscard]] std::optional<Refusal> apply(const WelcomeMessage& message, double local_s);
  [[nodiscard]] std::optional<Refusal> resume(const ResumeAnswer& resumed, double local_s);
  void refuse(Refusal why);
  void lose(const std::string& why, double local_s);
  [[nodiscard]] std::string no_answer() const;
  [[nodiscard]] bool goes_elsewhere(const std::string& why, double local_s);
  void finish(ClientStatus end, ClientEvent::Kind kind);

  CallResult move(EntityId entity, const State& state, EntityId frame, bool teleports);
  void review_clock(double local_s);
  void advance(double local_s);
  void send_due(double local_s);
  void send_request(double local_s);
  void send_playout(double local_s);
  [[nodiscard]] bool blend_is_unknown() const;
  void end_if_left(double local_s);
  void send_left();
  /// The world that is shown: the world of the earlier session until the clock of the newest world is ready.
  [[nodiscard]] ClientWorld& shown_world();
  [[nodiscard]] const ClientWorld& shown_world() const { return before ? *before : *world; }
  void collect_events();
  [[nodiscard]] bool is_over() const {
    return status == ClientStatus::refused || status == ClientStatus::disconnected;
  }

  ClientConfig config;
  ClientTestSwitches switches;
  Dialer* dialer;        // null: the client has one fixed connection and cannot reconnect
  Transport* transport;  // null: no connection at present
  ClientStats stats;
  ClientLog log;
  ClientMessages messages;
  OrderedMessages ordered;  // reliable messages of the server; some wait for spawns
  std::unique_ptr<ClientWorld> world;
  std::unique_ptr<ClientWorld> before;  // world of an earlier session, shown until `world` is ready; or null
  glm::dvec3 origin{0.0};               // origin of the game's coordinates, m
  std::deque<ClientEvent> events;
  LocalTime time;
  SleepWatch sleep;
  double last_local_s = -kMaxStamp;  // local time of the last update(), s

  ClientStatus status = ClientStatus::connecting;
  std::string refusal;
  std::string kick_reason;  // the text from a kick, after ": "; empty: no kick, or no text
  bool leaving = false;
  std::optional<double> leave_by_s;  // local time at which a client that leaves waits no longer, s

  // State of the connection:
  PeerId server;                       // null: not connected
  std::optional<JoinRequest> request;  // the server has not answered this yet
  std::optional<double> requested_s;   // local time at which it was sent last, s; empty: it was not
  bool admitted = false;               // the session can be used: the client has its welcome, or it goes on
  EarlyDatagrams early;                // that have overtaken the welcome message
  double received_s = 0.0;             // local time of the last arrival, or of the connection attempt, s

  // Playout settings as the server knows them:
  PlayoutMessage joining_as;                   // what the newest request to join contained
  std::optional<PlayoutMessage> sent_playout;  // what was sent last; empty: the last message may be lost
  std::uint32_t blend_message = 0;             // number of the message with the newest blend; 0: none
  std::optional<double> sent_playout_s;        // local time of that, s; empty: only the request was sent

  // Reconnection:
  BackOff back_off;
  std::optional<double> dial_s;  // local time of the next attempt, s; empty: none planned
  std::optional<double> lost_s;  // local time of the loss, s; empty: the connection is not lost
  ClientId id;
  SessionKey session;  // session key of `world`; null: the server does not offer to resume
};

}  // namespace reckoner
