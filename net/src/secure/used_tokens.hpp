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

/// Which tokens were shown. Shared by the gates of one server: a token is good once.
///
/// A token, and all tickets that spring from it one after the other, are one login, with one entry here and
/// one session at a time. Each session gives out tickets of the next generation; once one of them was shown,
/// all others of it and of those before are used. So an entry keeps the newest generation only, and a client
/// that comes and goes never needs a second one.
///
/// Of a client's logins those stay that the backend has issued last, in whatever order they are shown; of
/// those issued at the same time, the one shown last.
class UsedTokens {
 public:
  using Tag = std::array<std::byte, 16>;  ///< the last bytes of the sealed grant

  struct Limits {
    std::size_t most = 262'144;           ///< logins that are remembered; then no new ones are taken
    std::size_t most_per_client = 256;    ///< of one client id
    std::size_t sessions_per_client = 1;  ///< at once; one issued later ends the oldest. 0: no limit
  };

  /// A token or ticket, by somebody who has its keys.
  struct Shown {
    std::uint64_t client_id = 0;
    Login login;
    Tag tag{};
    PublicKey client{};
    std::uint64_t issued_ms = 0;  ///< the login's first token, milliseconds since 1970
    /// Nothing can have been issued later than this. What says so comes from while a clock was ahead, and
    /// stands in nobody's way.
    std::uint64_t latest_ms = std::numeric_limits<std::uint64_t>::max();
  };

  /// Where a session is. Gates are numbered from 1.
  struct Entry {
    std::uint32_t gate = 0;
    std::uint32_t session = 0;
    bool operator==(const Entry&) const = default;
  };

  /// How long an entry is kept: until both clocks say so. A wall clock that is set ahead and back makes
  /// nothing good again, and one that is set back keeps what would be good for longer.
  struct Life {
    std::uint64_t expires_s = 0;  ///< nothing of the login is good any more, seconds since 1970
    double keep_until_s = 0.0;    ///< on the clock that never goes back
  };

  enum class Verdict : std::uint8_t {
    good,      ///< not shown before
    again,     ///< by the same client, whose answer may have got lost: no connection stood on its session yet
    repeated,  ///< by the same client, but one did
    used,      ///< by somebody else, or something newer was shown, of this login or another
    full,      ///< there is no room to remember it
  };

  UsedTokens() : UsedTokens(Limits{}) {}
  explicit UsedTokens(const Limits& limits) : limits_(limits) {}

  /// The number of another gate.
  [[nodiscard]] std::uint32_t add_gate() { return ++gates_; }

  [[nodiscard]] Verdict judge(const Shown& shown) const;
  /// The session of a login, if there may be one.
  [[nodiscard]] std::optional<Entry> place_of(const LoginId& login) const;
  /// The sessions that begin() would end: of the same login, and of the oldest that is one too many.
  [[nodiscard]] std::vector<Entry> replaced_by(const Shown& shown) const;

  /// A session has begun with what judge() called good, or shown again. What replaced_by() says is to end:
  /// their gates hear of it from take_ended(), and the login that is one too many is closed for good.
  void begin(const Shown& shown, const Entry& place, const Life& life);
  /// A connection wants to stand on the session. True once, and if nothing took the session's place.
  [[nodiscard]] bool stand(const LoginId& login, const Entry& place);
  /// The session goes on and gave out another ticket.
  void keep(const LoginId& login, const Entry& place, const Life& life);

  /// Calls `end(session, by_another_login)` for the sessions of a gate that are to end.
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

  /// Forgets so many of those that are over at most, so that no call takes long: a twentieth of a millisecond
  /// at the default.
  void tidy(double now_s, std::uint64_t unix_s, int most = 16);
  [[nodiscard]] std::size_t size() const { return uses_.size(); }

 private:
  struct Use {
    std::uint64_t client_id = 0;
    std::uint32_t generation = 0;  ///< the newest that was shown, and what of it
    Tag tag{};
    PublicKey client{};
    Entry place;           ///< of the session that began with it; none: it was ended
    bool used_up = false;  ///< a connection stood on that
    bool closed = false;   ///< other logins have taken its place
    Life life;
  };
  /// What may have a session; closed logins are not here.
  struct Open {
    LoginId login{};
    std::uint64_t issued_ms = 0;
  };
  struct Client {
    std::size_t logins = 0;  ///< that are remembered
    /// At most as many as it may have at once, those begun last behind; none are listed if there is no limit.
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
  Uses uses_;                                 // a tree: a table would pause to grow
  std::set<std::pair<double, LoginId>> due_;  // by keep_until_s
  std::map<std::uint64_t, Client> clients_;   // by client id
  std::vector<Ended> ended_;
  std::uint32_t gates_ = 0;
};

}  // namespace reckoner::secure
