// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// The login of each session, and the sessions that have lost their connection. Decides which sessions end so
/// that one player or one host cannot fill the server with lost sessions.
class SessionLogins {
 public:
  /// A session has begun, or was resumed over a connection of this login.
  void set(ClientId session, const PeerLogin& login);
  /// The session has lost its connection. It counts as lost until set() or remove().
  void lose(ClientId session);
  void remove(ClientId session);
  void clear() { *this = {}; }

  /// The login of a session. Empty if the session is unknown.
  [[nodiscard]] PeerLogin find(ClientId session) const;
  [[nodiscard]] std::size_t lost_count() const { return lost_.size(); }
  /// The session that was lost first, or nullopt.
  [[nodiscard]] std::optional<ClientId> oldest_lost() const;

  /// All sessions of the player with this client id. Empty if client ids do not identify players.
  [[nodiscard]] std::vector<ClientId> of_player(std::uint64_t client_id) const;
  /// The sessions that must end when the session `newest` of this login begins or resumes: others of the same
  /// login, and the player's oldest lost sessions if the player would have too many. `newest` is null if it
  /// has no number yet.
  [[nodiscard]] std::vector<ClientId> replaced_by(const PeerLogin& login, ClientId newest) const;
  /// The lost session to end when the server is full, or nullopt: of the player or host that has most lost
  /// sessions, the one that was lost first.
  [[nodiscard]] std::optional<ClientId> to_evict() const;

 private:
  void forget_client_id(ClientId session, const PeerLogin& login);

  std::map<ClientId, PeerLogin> logins_;
  std::multimap<std::uint64_t, ClientId> by_client_id_;  // only sessions with a client id
  std::deque<ClientId> lost_;                            // oldest loss first
};

}  // namespace reckoner
