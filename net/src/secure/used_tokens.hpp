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

/// Remembers which tokens were presented, because a token is valid once. Shared by the gates of one server.
///
/// A token and all tickets derived from it are one login. A login has one entry here and one session at a
/// time. Each session issues tickets of the next generation. When one of them is presented, all others of
/// that generation and of earlier ones become invalid. So an entry stores only the newest generation, and a
/// client that reconnects often needs no second entry.
///
/// When a client has too many logins, those stay that the backend issued last, regardless of the order in
/// which they were presented. Of logins issued at the same time, the one presented last stays.
class UsedTokens {
 public:
  using Tag = std::array<std::byte, 16>;  ///< the last bytes of the sealed grant

  struct Limits {
    std::size_t most = 262'144;           ///< maximum number of remembered logins; no more are accepted then
    std::size_t most_per_client = 256;    ///< maximum number of remembered logins of one client id
    std::size_t sessions_per_client = 1;  ///< concurrent sessions; a later login ends the oldest. 0: no limit
  };

  /// A presented token or ticket whose keys the sender has.
  struct Shown {
    std::uint64_t client_id = 0;
    Login login;
    Tag tag{};
    PublicKey client{};
    std::uint64_t issued_ms = 0;  ///< when the login's token was issued, milliseconds since 1970
    /// The latest credible time of issue. A login with a later one comes from a clock that was ahead, and
    /// does not block other logins.
    std::uint64_t latest_ms = std::numeric_limits<std::uint64_t>::max();
  };

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
  /// Refuses everything of this login from now on. Its session, if it has one, goes on.
  void revoke(const LoginId& login);
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

 private:
  struct Use {
    std::uint64_t client_id = 0;
    std::uint32_t generation = 0;  ///< the newest one that was presented; `tag` and `client` belong to it
    Tag tag{};
    PublicKey client{};
    Entry place;           ///< of the session that began with it; empty: the session has ended
    bool used_up = false;  ///< the session has had a connection
    bool closed = false;   ///< replaced by other logins, or revoked
    Life life;
  };
  /// A login that may have a session. Closed logins are not listed.
  struct Open {
    LoginId login{};
    std::uint64_t issued_ms = 0;
  };
  struct Client {
    std::size_t logins = 0;  ///< number of remembered logins
    /// The open logins, the last begun at the end. Empty if their number is not limited.
    std::vector<Open> open;
  };
  struct Ended {
    Entry place;
    bool by_another_login = false;
  };
  using Uses = std::map<LoginId, Use>;

  [[nodiscard]] bool is_older_than_all(const Client& client, const Shown& shown) const;
  [[nodiscard]] std::optional<LoginId> too_many(const Shown& shown) const;
  void close(const LoginId& login, Client& client, const Life& life);
  void extend(Uses::value_type& entry, const Life& life);
  void end(Use& use, bool by_another_login);
  void forget_front(double now_s, std::uint64_t unix_s);

  Limits limits_;
  Uses uses_;                                 // a tree, because a hash table would pause to grow
  std::set<std::pair<double, LoginId>> due_;  // by keep_until_s
  std::map<std::uint64_t, Client> clients_;   // by client id
  std::vector<Ended> ended_;
  std::uint32_t gates_ = 0;
};

}  // namespace reckoner::secure
