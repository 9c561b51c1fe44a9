// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/client_log.hpp"
#include "client/src/client_session.hpp"
#include "client/src/connection/client_messages.hpp"
#include "client/src/connection/join_handshake.hpp"
#include "client/src/connection/local_time.hpp"
#include "client/src/connection/reconnect.hpp"
#include "client/src/connection/sent_playout.hpp"
#include "client/src/testing/test_switches.hpp"
#include "net/src/messages/messages.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <reckoner/client/client.hpp>
#include <reckoner/net/dialer.hpp>
#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// The parts of a client, and what binds them. A session contains everything that is shown, and outlives
/// connections.
struct Client::Impl {
  Impl(ClientConfig given, Transport* given_transport, Dialer* given_dialer,
       const ClientTestSwitches& given_switches = {});
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Makes a client over `transport` or `dialer`; the other one is null. `config` must be valid.
  [[nodiscard]] static Client make(ClientConfig config, Transport* transport, Dialer* dialer,
                                   const ClientTestSwitches& switches = {}) {
    return Client{std::make_unique<Impl>(std::move(config), transport, dialer, switches)};
  }

  // The clocks. Local times are those of LocalTime, s.
  void review_clock(double local_s);
  void advance(double local_s);

  /// The session that is shown: the earlier one until the newest one is ready.
  [[nodiscard]] ClientSession& shown_session();
  [[nodiscard]] const ClientSession& shown_session() const { return before ? *before : *session; }
  /// True if the player's inputs reach the server of the session that is shown.
  [[nodiscard]] bool plays() const {
    return status == ClientStatus::joined && !before && !session->shown.paused();
  }
  void collect_events();
  [[nodiscard]] std::optional<ClientEvent> take_event();
  CallResult move(EntityId entity, const State& state, EntityId frame, bool teleports);

  // Connecting, joining and resuming. resume() and apply() return the reason if they refuse a message, else
  // nullopt.
  void run_connection(double local_s);
  void dial(double local_s);
  void receive(const TransportEvent& event, double local_s);
  void begin_connection(double local_s);
  [[nodiscard]] bool take_answer(std::span<const std::byte> payload, double local_s);
  void begin_session();
  [[nodiscard]] std::optional<Refusal> resume(const ResumeAnswer& resumed, double local_s);
  void receive_before_welcome(std::span<const std::byte> payload, double local_s);
  [[nodiscard]] std::optional<Refusal> apply(const WelcomeMessage& message, double local_s);

  // What the server sends in a session.
  void receive_datagram(std::span<const std::byte> payload, double local_s, double arrived_s);
  void apply_ordered(double local_s);
  [[nodiscard]] std::optional<Refusal> apply(const ReliableMessage& message, double local_s);
  void apply_all_ordered();
  void note_kick(const KickMessage& message);

  // What the client sends.
  void send_playout(double local_s);
  void send_due(double local_s);

  // The end of a connection, of a session, or of all.
  void end_connection(const EndCode& code, double local_s);
  void lose(const std::string& why, double local_s);
  [[nodiscard]] bool goes_elsewhere(const std::string& why, double local_s);
  void abandon_session(double local_s);
  void forget_connection();
  void finish(ClientStatus end, ClientEvent::Kind kind);
  void end_if_left(double local_s);
  void send_left();
  [[nodiscard]] bool is_over() const {
    return status == ClientStatus::refused || status == ClientStatus::disconnected;
  }

  ClientConfig config;
  ClientTestSwitches switches;
  ClientStats stats;
  ClientLog log;
  Reconnect connection;
  JoinHandshake handshake;
  SentPlayout sent_playout;
  ClientMessages messages;
  std::unique_ptr<ClientSession> session;
  std::unique_ptr<ClientSession> before;  // an earlier session, shown until `session` is ready; or null
  glm::dvec3 origin{0.0};                 // origin of the game's coordinates, m
  std::deque<ClientEvent> events;
  LocalTime time;
  SleepWatch sleep;
  double last_local_s = -kMaxStamp;  // local time of the last update(), s

  ClientStatus status = ClientStatus::connecting;
  std::string refusal;
  std::string kick_reason;  // the text from a kick, after ": "; empty: no kick, or no text
  bool leaving = false;
  std::optional<double> leave_by_s;  // local time at which a client that leaves waits no longer, s
};

}  // namespace reckoner
