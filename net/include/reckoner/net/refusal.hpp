// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace reckoner {

/// Why something that arrived was not taken in. The other end may be broken, hostile, or only late.
enum class Refusal : std::uint8_t {
  malformed,         ///< no Reckoner writes such bytes
  too_large,         ///< larger than what its channel carries
  not_genuine,       ///< sealed by somebody else, changed on the way, or here before
  no_session,        ///< sealed in a session, or of a connection, that there is not
  wrong_cookie,      ///< not what was sent to that address to prove it, or too old
  wrong_token,       ///< forged, expired, or for another server
  token_reused,      ///< it has let somebody else in, or one issued later has
  handshake_limit,   ///< too many of one address, or in all (ServerSecurity)
  peer_limit,        ///< too many datagrams or bytes, or too much waiting, of one peer (TransportLimits)
  address_limit,     ///< the same of all peers at one address
  unexpected,        ///< a message that makes no sense at this point, or from this end
  beyond_limits,     ///< a number that cannot be: no archetype's, too fast, out of the world
  unknown_entity,    ///< of an entity that there is not, or that is another client's
  unknown_baseline,  ///< it refers to a motion that is not known here
  unknown_route,     ///< on a route that is not known here
  unknown_frame,     ///< in a frame that is not known here, goes round or is too deep
  from_future,       ///< stamped later than any clock is off
  too_old,           ///< it was overtaken by what makes it void
  repeated,          ///< it was here before
  never_sent,        ///< it acknowledges what was never sent
  too_many,          ///< more messages or motions than are taken from one client
};

/// In lower case with underscores, for reports.
[[nodiscard]] constexpr std::string_view name_of(Refusal refusal) {
  constexpr std::string_view kNames[] = {
      "malformed",      "too_large",        "not_genuine",   "no_session",    "wrong_cookie", "wrong_token",
      "token_reused",   "handshake_limit",  "peer_limit",    "address_limit", "unexpected",   "beyond_limits",
      "unknown_entity", "unknown_baseline", "unknown_route", "unknown_frame", "from_future",  "too_old",
      "repeated",       "never_sent",       "too_many"};
  return kNames[static_cast<std::size_t>(refusal)];
}

/// How many were refused, by reason.
struct RefusalCounts {
  /// How many reasons there are.
  static constexpr std::size_t kReasons = static_cast<std::size_t>(Refusal::too_many) + 1;

  std::array<std::uint64_t, kReasons> counts{};  ///< by Refusal

  /// How many for this reason.
  [[nodiscard]] std::uint64_t& operator[](Refusal refusal) {
    return counts[static_cast<std::size_t>(refusal)];
  }
  /// How many for this reason.
  [[nodiscard]] std::uint64_t operator[](Refusal refusal) const {
    return counts[static_cast<std::size_t>(refusal)];
  }
  /// For all reasons together.
  [[nodiscard]] std::uint64_t total() const {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
  /// Adds reason by reason.
  RefusalCounts& operator+=(const RefusalCounts& other) {
    for (std::size_t i = 0; i < kReasons; ++i)
      counts[i] += other.counts[i];
    return *this;
  }
};

}  // namespace reckoner
