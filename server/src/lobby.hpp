// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/messages.hpp"
#include "server/src/mail/game_mail.hpp"
#include "server/src/server_events.hpp"
#include "server/src/server_world.hpp"
#include "server/src/session/closing_links.hpp"
#include "server/src/session/session_logins.hpp"
#include "server/src/session/session_table.hpp"
#include "server/src/test_switches.hpp"
#include "server/src/util/server_time.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <reckoner/net/call_result.hpp>
#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// Decides who is on the server. Each connection either waits to be admitted, or belongs to one session. A
/// session is opened when its client joins, suspended while its connection is lost, resumed over another
/// connection, and closed. The lobby is the only part that opens and closes sessions, and it keeps their
/// number within the limits of the server, of a player and of a host.
class Lobby {
 public:
  /// `welcome` goes to every client that joins; the lobby adds the client's id and the tick. `switches` has
  /// the secret of the session keys. All other arguments must outlive this object.
  Lobby(const ServerConfig& config, const ServerTestSwitches& switches, WelcomeMessage welcome,
        const ServerTime& time, Transport& transport, SessionTable& sessions, ServerWorld& world,
        GameMail& mail, ServerEvents& events, ServerLog& log);

  /// A connection has begun at `now_s`. `version` is the protocol version of the peer; 0 if the transport
  /// does not carry it.
  void connected(PeerId peer, std::uint32_t version, double now_s);
  /// A connection has ended. `code` is what the peer said about it (unpack_end_code()).
  void disconnected(PeerId peer, std::uint32_t code);

  /// A datagram has arrived from a connection without a session. Returns true if the session has ended, and
  /// its last messages are in flight.
  bool receive_closing(PeerId peer, const ClientDatagram& datagram, double now_s);
  /// Call it often: sends the last messages of sessions that have ended.
  void send_last(double now_s);

  /// A connection asks for a session. Does nothing if it is not waiting: the client repeats its request until
  /// it has the answer.
  void join(PeerId peer, const JoinRequest& request);
  /// Ends a session at once, without its last messages.
  void drop(Session& session, const EndCode& code, std::string why);

  /// What Server::kick() and Server::kick_player() do.
  CallResult kick(ClientId client, std::string_view reason);
  std::size_t kick_player(std::uint64_t client_id, std::string_view reason);

  /// Ends the connections that did not join in time, and closes the suspended sessions whose clients did not
  /// resume in time.
  void expire(double now_s);
  /// Ends all connections and sessions, and admits nobody any more.
  void shut_down();

  /// Number of connections that the server has ended or ends as soon as their clients have the last messages,
  /// and that are not closed yet.
  [[nodiscard]] std::size_t closing() const { return closing_.size() + ended_.size(); }
  /// Number of sessions that have a connection.
  [[nodiscard]] std::size_t connected_clients() const { return sessions_.size() - logins_.lost_count(); }

 private:
  [[nodiscard]] std::optional<PeerLogin> login_of(PeerId peer);
  [[nodiscard]] Session* find(const ResumeRequest& request);
  void resume(Session& session, PeerId peer, std::uint32_t received, const PeerLogin& login);
  void open(PeerId peer, const JoinRequest& request, const PeerLogin& login);
  void close_stuck(double now_s);
  void suspend(Session& session);
  void close(Session& session, std::string why = "left");
  void disconnect(PeerId peer, const EndCode& code);
  void end_connection(Session& session, const EndCode& code);
  void replace_sessions(const PeerLogin& login, ClientId newest);
  void kick_session(Session& session, std::string_view reason);
  std::size_t kick_revoked(std::uint64_t client_id, std::string_view reason);
  /// Ends a waiting connection.
  void refuse(PeerId peer, const EndCode& code) { refuse(peer, code, describe(code)); }
  void refuse(PeerId peer, const EndCode& code, const std::string& why);
  /// Ends a waiting connection whose client speaks another version.
  void refuse_version(PeerId peer, std::uint32_t version);

  const ServerConfig& config_;
  SenderParts parts_;
  SecretKey session_secret_;
  WelcomeMessage welcome_;
  const ServerTime& time_;
  Transport& transport_;
  SessionTable& sessions_;
  ServerWorld& world_;
  GameMail& mail_;
  ServerEvents& events_;
  ServerLog& log_;

  std::map<PeerId, double> waiting_;  // connections that have not joined yet, and when each began, s
  SessionLogins logins_;
  ClosingLinks closing_;
  double next_check_s_ = -1e300;  // of close_stuck()
  std::set<PeerId> ended_;        // disconnected, but the transport has not reported the end yet
  std::uint32_t next_client_ = 1;
  bool shut_down_ = false;
};

}  // namespace reckoner
