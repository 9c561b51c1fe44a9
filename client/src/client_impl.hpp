// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/client_log.hpp"
#include "client/src/client_world.hpp"
#include "client/src/connection/back_off.hpp"
#include "client/src/connection/client_messages.hpp"
#include "client/src/connection/local_time.hpp"
#include "net/src/messages/messages.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <reckoner/client/client.hpp>
#include <reckoner/net/dialer.hpp>
#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// What a client is made of. client.cpp has what the game calls, connection_life.cpp how connections come and
/// go; what is shown lives in a world, which outlives them.
struct Client::Impl {
  Impl(ClientConfig given, Transport* given_transport, Dialer* given_dialer);

  // connection_life.cpp
  void run_connection(double local_s);
  void dial(double local_s);
  void handle(const TransportEvent& event, double local_s);
  void note_heard(double local_s);
  void handle_connected(PeerId peer);
  void handle_end(const EndCode& code, double local_s);
  void handle_control(std::span<const std::byte> payload, double local_s);
  /// These say why a message makes no sense now, or nothing.
  [[nodiscard]] std::optional<Refusal> handle_message(const ControlMessage& message, double local_s);
  [[nodiscard]] std::optional<Refusal> welcome(const WelcomeMessage& message, double local_s);
  [[nodiscard]] std::optional<Refusal> take(const SessionMessage& message, double local_s);
  void lose(const std::string& why, double local_s);
  [[nodiscard]] std::string no_answer() const;
  [[nodiscard]] bool goes_elsewhere(const std::string& why, double local_s);
  void finish(ClientStatus end, ClientEvent::Kind kind);

  void advance(double local_s);
  void acknowledge(double local_s);
  void send_playout(double local_s);
  /// The world that is shown: the one before until the newest one's clock is known.
  [[nodiscard]] ClientWorld& shown_world();
  [[nodiscard]] const ClientWorld& shown_world() const { return before ? *before : *world; }
  void collect_events();
  [[nodiscard]] bool is_over() const {
    return status == ClientStatus::refused || status == ClientStatus::disconnected;
  }

  ClientConfig config;
  Dialer* dialer;        // null: there is one connection, and no other
  Transport* transport;  // null: none at present
  ClientStats stats;
  ClientLog log;
  ClientMessages messages;
  std::unique_ptr<ClientWorld> world;
  std::unique_ptr<ClientWorld> before;  // of an earlier session, shown until the newest can be
  glm::dvec3 origin{0.0};               // that what is shown counts from
  std::deque<ClientEvent> events;
  LocalTime time;
  SleepWatch sleep;
  double last_local_s = 0.0;  // of the last receive()

  ClientStatus status = ClientStatus::connecting;
  std::string refusal;
  bool leaving = false;

  // Of the connection:
  PeerId server;          // null: it does not stand
  bool admitted = false;  // the server has let the client in over it
  bool resuming = false;  // the client asked to go on with its session
  double heard_s = 0.0;   // something came last, or it began

  // How the server knows that others are shown:
  PlayoutMessage joining_as;                   // of the newest join message
  std::optional<PlayoutMessage> sent_playout;  // nothing: what it was told last may be lost
  std::optional<double> sent_playout_s;  // when that was; nothing: it has its word from the join message

  // Of next_session_key back:
  BackOff back_off;
  std::optional<double> dial_s;  // when the next attempt is due
  std::optional<double> lost_s;  // since when there is none
  ClientId id;
  SessionKey session;  // of the world; null: the server does not take clients back
  SessionKey next_session_key;   // of the one that the next welcome begins
};

}  // namespace reckoner
