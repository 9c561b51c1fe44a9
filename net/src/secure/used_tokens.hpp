// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/handshake.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace reckoner::secure {

/// Remembers which tokens were presented, because a token is valid once, and which players were kicked.
/// Shared by the gates of one server.
///
/// A token and all tickets derived from it are one login. A login has one entry here and one session at a
/// time. Each session issues tickets of the next generation. When one of them is presented, all others of
/// that generation and of earlier ones become invalid. So an entry stores only the newest generation, and a
/// client that reconnects often needs no second entry.
///
/// When a client has too many logins, those stay that the backend issued last, regardless of the order in
/// which they were presented. Of logins issued at the same time, the one presented last stays.
///
/// A client id that was kicked is remembered with the time. Everything that the backend issued for it before
/// is refused from then on. How long an unused token is valid is known to the backend only, so a kick is
/// remembered until the server ends, or until Limits::most more client ids were kicked.
class UsedTokens {
 public:
  using Tag = std::array<std::byte, 16>;  ///< the last bytes of the sealed grant

  struct Limits {
    std::size_t most = 262'144;  ///< maximum number of remembered logins; no more are accepted then. Also the
                                 ///< maximum number of remembered kicks; the oldest is forgotten then
    std::size_t most_per_client = 256;    ///< maximum number of remembered logins of one client id
    std::size_t sessions_per_client = 1;  ///< concurrent sessions; a later login ends the oldest. 0: no limit
  };

  /// How far the backend's clock may be ahead, ms.
  static constexpr std::uint64_t kMaxAheadMs = 10'000;
  /// The latest credible time of issue. A later one comes from a clock that is ahead.
  [[nodiscard]] static constexpr std::uint64_t latest_ms(std::uint64_t unix_s) {
    return unix_s * 1000 + kMaxAheadMs;
  }

  /// A presented token or ticket whose keys the sender has.
  struct Shown {
    std::uint64_t client_id = 0;
    Login login;
    Tag tag{};
    PublicKey client{};
    /// When the login's token was issued, milliseconds since 1970, but at most latest_ms().
    std::uint64_t issued_ms = 0;
    /// The latest credible time of issue. A login with a later one comes from a clock that was ahead, and
    /// does not block other logins.
    std::uint64_t latest_ms = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t sealed_ms = 0;  ///< the time of issue as the token states it
    double now_s = 0.0;           ///< when it was presented, on a monotonic clock
    /// The entrance (PeerLogin::entrance). The logins of a client id are counted separately for each.
    std::uint8_t entrance = 0;
  };
  /// Makes the record of a token or ticket that was presented now. `client`: the public key of its bearer.
  [[nodiscard]] static Shown shown_of(const OpenedGrant& opened,
                                      const std::array<std::byte, ConnectToken::kSealedBytes>& sealed,
                                      const PublicKey& client, double now_s, std::uint64_t unix_s);

  /// Location of a session. Gates are numbered from 1.
  struct Entry {
    std::uint32_t gate = 0;
    std::uint32_t session = 0;
    bool operator==(const Entry&) const = default;
  };

  /// How long an entry is kept: until it has expired by both clocks. So a wall clock that is set forward and
  /// back makes no token valid again.
  struct Life {
    std::uint64_t expires_s = 0;  ///< when everything of the login has expired, seconds since 1970
    double keep_until_s = 0.0;    ///< on a monotonic clock
  };
  /// How long to keep an entry after a token or ticket that expires at `expires_s` was used. `ticket_s`: how
  /// long tickets are valid.
  [[nodiscard]] static Life life_of(std::uint64_t expires_s, double ticket_s, double now_s,
                                    std::uint64_t unix_s);

  enum class Verdict : std::uint8_t {
    good,      ///< not presented before
    again,     ///< presented by the same client; its session had no connection yet, so the answer may be lost
    repeated,  ///< presented by the same client, but its session had a connection
    used,      ///< presented by another client, or a newer token or ticket was presented
    full,      ///< a limit on remembered logins is reached
  };

  UsedTokens() : UsedTokens(Limits{}) {}
  explicit UsedTokens(const Limits& limits) : limits_(limits) {}

  /// Returns the number for a new gate.
  [[nodiscard]] std::uint32_t add_gate() { return ++gates_; }

  [[nodiscard]] Verdict judge(const Shown& shown) const;
  /// Returns where a login's session is, or nullopt.
  [[nodiscard]] std::optional<Entry> place_of(const LoginId& login) const;
  /// The sessions that begin() would end: that of the same login, and that of the oldest surplus login.
  [[nodiscard]] std::vector<Entry> replaced_by(const Shown& shown) const;

  /// Records that a session has begun with a token that judge() called `good` or `again`. The sessions in
  /// replaced_by() must end; their gates get them from take_ended(). The surplus login is closed permanently.
  void begin(const Shown& shown, const Entry& place, const Life& life);
  /// Binds a connection to the session. Returns true once, and only if the session was not replaced.
  [[nodiscard]] bool stand(const LoginId& login, const Entry& place);
  /// The server refuses the session's client because it speaks another protocol version. Its token or ticket
  /// may begin one more session, also with other keys of the client: the player may start another program.
  void give_back(const LoginId& login, const Entry& place);
  /// Refuses everything of this login from now on. Its session goes on if it has had a connection.
  void revoke(const LoginId& login);
  /// Refuses everything that was issued for this client id until now. Its sessions go on if they have had a
  /// connection. Only for a limited number of sessions per client: without a limit, a client id may belong to
  /// many players. `unix_ms`: now, milliseconds since 1970.
  void kick(std::uint64_t client_id, double now_s, std::uint64_t unix_ms);
  /// True if revoke() or kick() has made this login invalid.
  [[nodiscard]] bool is_revoked(const LoginId& login) const;
  [[nodiscard]] std::uint32_t sessions_per_client() const {
    return static_cast<std::uint32_t>(limits_.sessions_per_client);
  }
  /// Records that the session goes on and has issued another ticket.
  void keep(const LoginId& login, const Entry& place, const Life& life);

  /// Calls `end(session, by_another_login)` for the sessions of a gate that must end.
  template <class End>
  void take_ended(std::uint32_t gate, End end) {
    for (std::size_t i = 0; i < ended_.size();) {
      if (ended_[i].place.gate != gate) {
        ++i;
        continue;
      }
      const Ended one = ended_[i];
      ended_.erase(ended_.begin() + static_cast<std::ptrdiff_t>(i));
      end(one.place.session, one.by_another_login);
    }
  }

  /// Removes at most `most` expired entries, so that no call takes long: a twentieth of a millisecond with
  /// the default.
  void tidy(double now_s, std::uint64_t unix_s, int most = 16);
  [[nodiscard]] std::size_t size() const { return uses_.size(); }
  [[nodiscard]] std::size_t kicked() const { return kicks_.size(); }

 private:
  using ClientKey = std::pair<std::uint64_t, std::uint8_t>;  // client id, entrance
  struct Use {
    ClientKey client_key;
    std::uint32_t generation = 0;  ///< the newest one that was presented; `tag` and `client` belong to it
    Tag tag{};
    PublicKey client{};
    Entry place;              ///< of the session that began with it; empty: the session has ended
    bool used_up = false;     ///< the session has had a connection
    bool given_back = false;  ///< see give_back()
    bool closed = false;      ///< replaced by other logins, or revoked
    bool revoked = false;
    Life life;
  };
  /// A login that may have a session. Closed logins are not listed.
  struct Open {
    LoginId login{};
    std::uint64_t issued_ms = 0;
    double begun_s = 0.0;  ///< when its first session began, on a monotonic clock
  };
  struct Client {
    std::size_t logins = 0;  ///< number of remembered logins
    /// The open logins, the last begun at the end. Empty if their number is not limited.
    std::vector<Open> open;
  };
  struct Kick {
    std::uint64_t unix_ms = 0;    ///< by the wall clock of that moment, milliseconds since 1970
    double at_s = 0.0;            ///< by a monotonic clock
    std::uint64_t newest_ms = 0;  ///< issue time of the newest login that it ended
    /// What the backend's clock showed at least, as the issue times of the logins show that it ended.
    std::uint64_t backend_ms = 0;
  };
  struct Ended {
    Entry place;
    bool by_another_login = false;
  };
  using Uses = std::map<LoginId, Use>;

  [[nodiscard]] static ClientKey key_of(const Shown& shown) { return {shown.client_id, shown.entrance}; }
  [[nodiscard]] bool is_older_than_all(const Client& client, const Shown& shown) const;
  [[nodiscard]] bool is_from_before_a_kick(const Shown& shown) const;
  [[nodiscard]] std::optional<LoginId> too_many(const Shown& shown) const;
  void close(const LoginId& login, Client& client, const Life& life);
  void extend(Uses::value_type& entry, const Life& life);
  void end(Use& use, bool by_another_login);
  void forget_front(double now_s, std::uint64_t unix_s);

  Limits limits_;
  Uses uses_;                                 // a tree, because a hash table would pause to grow
  std::set<std::pair<double, LoginId>> due_;  // by keep_until_s
  std::map<ClientKey, Client> clients_;
  std::map<std::uint64_t, Kick> kicks_;                       // by client id
  std::set<std::pair<double, std::uint64_t>> kicks_by_time_;  // Kick::at_s, client id
  std::vector<Ended> ended_;
  std::uint32_t gates_ = 0;
};

}  // namespace reckoner::secure
