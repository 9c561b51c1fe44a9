// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/early_datagrams.hpp"
#include "client/src/connection/reconnect.hpp"
#include "net/src/messages/join.hpp"
#include "net/src/messages/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// How a client gets its session over a new connection. It asks until the server answers. Either the session
/// from before resumes, or a new one begins with the welcome message. Datagrams that overtake the welcome
/// message wait here.
class JoinHandshake {
 public:
  /// Asks for a session over a new connection. If the client had one, `request.resume` is set.
  void begin(JoinRequest request, std::uint32_t received_messages);
  /// The connection has ended. The session may resume over the next one.
  void forget();
  /// The session cannot resume: the next handshake asks for a new one.
  void drop_session() { key_ = {}; }

  /// True until the server has answered.
  [[nodiscard]] bool awaits_answer() const { return request_.has_value(); }
  /// True if the session can be used over this connection: the client has its welcome, or it has resumed.
  [[nodiscard]] bool is_admitted() const { return admitted_; }
  /// The id of the client in its session.
  [[nodiscard]] ClientId id() const { return id_; }

  /// Sends the request, and again until the server answers. An ordered path hardly loses it.
  void send_request(const Reconnect& connection, double local_s);

  /// Nothing if the datagram does not contain the answer. The reason if it is malformed. Else the answer.
  using Answer = std::variant<std::monostate, Refusal, JoinAnswer>;
  /// Reads the answer in the head of a datagram. Every datagram of the server has it until this client has
  /// acknowledged one.
  [[nodiscard]] static Answer read_answer(std::span<const std::byte> datagram);

  /// Returns why the session cannot resume like this, or nullopt. Requires awaits_answer().
  [[nodiscard]] std::optional<Refusal> find_impossible(const ResumeAnswer& answer) const;
  /// The answer says that the session resumes.
  void note_resumed();
  /// The answer says that a new session begins. Its welcome message follows.
  void note_new_session();
  /// The welcome message has arrived.
  void note_welcome(const WelcomeMessage& message);

  /// Keeps a datagram that has overtaken the welcome message.
  void keep(std::span<const std::byte> datagram) { early_.add(datagram); }
  /// Removes and returns the kept datagrams in the order of their arrival.
  [[nodiscard]] std::vector<EarlyDatagrams::Datagram> take_kept() { return early_.take(); }

 private:
  std::optional<JoinRequest> request_;  // the server has not answered this yet
  std::optional<double> requested_s_;   // local time at which it was sent last, s; empty: it was not
  bool admitted_ = false;
  EarlyDatagrams early_;
  ClientId id_;
  SessionKey key_;  // null: the server does not offer to resume
};

}  // namespace reckoner
