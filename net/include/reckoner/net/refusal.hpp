// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace reckoner {

/// Why received data was refused. The sender may be faulty, hostile or only late.
enum class Refusal : std::uint8_t {
  malformed,         ///< not a valid Reckoner encoding
  too_large,         ///< larger than a datagram may be
  not_genuine,       ///< authentication failed: another sender encrypted it, or it was modified or replayed
  no_session,        ///< session or connection is unknown
  wrong_cookie,      ///< cookie is too old, or was sent to another address
  wrong_token,       ///< token is forged, expired or for another server
  token_reused,      ///< token was used, is older than one presented before, or was issued before a kick
  handshake_limit,   ///< too many handshakes from one address or in total (ServerSecurity)
  peer_limit,        ///< one peer exceeds a limit on datagrams, bytes or queued data (TransportLimits)
  address_limit,     ///< the peers at one address exceed a common limit (TransportLimits)
  unexpected,        ///< message is not valid in this state, or this end must not send it
  beyond_limits,     ///< number is out of range, for example a speed, a position or an archetype
  unknown_entity,    ///< entity does not exist or belongs to another client
  unknown_baseline,  ///< refers to a motion that the receiver does not have
  unknown_route,     ///< refers to a route that the receiver does not have
  unknown_frame,     ///< frame is unknown, part of a cycle, or nested too deeply
  from_future,       ///< time stamp is further in the future than a clock error explains
  too_old,           ///< too old to be used, usually because newer data was received
  repeated,          ///< this data was received before
  never_sent,        ///< acknowledges something that was never sent
  too_many,          ///< more messages or motions of a client, or more entities of a server, than allowed
  wrong_game,        ///< handshake of another game (ServerSecurity::game)
  wrong_origin,      ///< WebSocket of a page from a web site that is not allowed (reckoner-server)
  other_transport,   ///< first datagram of a client that uses another transport (ListenConfig::transport)
  old_version,       ///< request of a client whose wire version is before 13
};

/// Returns the name of a reason, in lower case with underscores, for logs and metrics.
[[nodiscard]] constexpr std::string_view name_of(Refusal refusal) {
  constexpr std::string_view kNames[] = {
      "malformed",     "too_large",     "not_genuine",     "no_session",       "wrong_cookie",
      "wrong_token",   "token_reused",  "handshake_limit", "peer_limit",       "address_limit",
      "unexpected",    "beyond_limits", "unknown_entity",  "unknown_baseline", "unknown_route",
      "unknown_frame", "from_future",   "too_old",         "repeated",         "never_sent",
      "too_many",      "wrong_game",    "wrong_origin",    "other_transport",  "old_version"};
  return kNames[static_cast<std::size_t>(refusal)];
}

/// Number of refusals for each reason.
struct RefusalCounts {
  /// Number of reasons.
  static constexpr std::size_t kReasons = static_cast<std::size_t>(Refusal::old_version) + 1;

  std::array<std::uint64_t, kReasons> counts{};  ///< indexed by Refusal

  /// Returns the count for one reason.
  [[nodiscard]] std::uint64_t& operator[](Refusal refusal) {
    return counts[static_cast<std::size_t>(refusal)];
  }
  /// Returns the count for one reason.
  [[nodiscard]] std::uint64_t operator[](Refusal refusal) const {
    return counts[static_cast<std::size_t>(refusal)];
  }
  /// Returns the sum of the counts of all reasons.
  [[nodiscard]] std::uint64_t total() const {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
  /// Adds the count of each reason in `other`.
  RefusalCounts& operator+=(const RefusalCounts& other) {
    for (std::size_t i = 0; i < kReasons; ++i)
      counts[i] += other.counts[i];
    return *this;
  }
};

}  // namespace reckoner
