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
  too_large,         ///< larger than its channel allows
  not_genuine,       ///< authentication failed: sealed by somebody else, changed on the way, or a replay
  no_session,        ///< belongs to an unknown session or connection
  wrong_cookie,      ///< cookie is too old or not the one sent to that address
  wrong_token,       ///< token is forged, expired or for another server
  token_reused,      ///< token was used by somebody else, or a newer one was presented
  handshake_limit,   ///< too many handshakes from one address or in total (ServerSecurity)
  peer_limit,        ///< one peer exceeds a limit on datagrams, bytes or queued data (TransportLimits)
  address_limit,     ///< all peers at one address together exceed a limit (TransportLimits)
  unexpected,        ///< message not valid in this state or from this end
  beyond_limits,     ///< number outside the allowed range: bad archetype, too fast or outside the world
  unknown_entity,    ///< entity does not exist or belongs to another client
  unknown_baseline,  ///< refers to a motion that the receiver does not have
  unknown_route,     ///< refers to a route that the receiver does not have
  unknown_frame,     ///< unknown frame, or frames that form a cycle or are nested too deeply
  from_future,       ///< time stamp later than any clock error explains
  too_old,           ///< superseded by newer data
  repeated,          ///< received before
  never_sent,        ///< acknowledges something that was never sent
  too_many,          ///< more messages or motions than one client may send
};

/// Returns the reason in lower case with underscores, for logs and metrics.
[[nodiscard]] constexpr std::string_view name_of(Refusal refusal) {
  constexpr std::string_view kNames[] = {
      "malformed",      "too_large",        "not_genuine",   "no_session",    "wrong_cookie", "wrong_token",
      "token_reused",   "handshake_limit",  "peer_limit",    "address_limit", "unexpected",   "beyond_limits",
      "unknown_entity", "unknown_baseline", "unknown_route", "unknown_frame", "from_future",  "too_old",
      "repeated",       "never_sent",       "too_many"};
  return kNames[static_cast<std::size_t>(refusal)];
}

/// Number of refusals for each reason.
struct RefusalCounts {
  /// Number of reasons.
  static constexpr std::size_t kReasons = static_cast<std::size_t>(Refusal::too_many) + 1;

  std::array<std::uint64_t, kReasons> counts{};  ///< indexed by Refusal

  /// The count for one reason.
  [[nodiscard]] std::uint64_t& operator[](Refusal refusal) {
    return counts[static_cast<std::size_t>(refusal)];
  }
  /// The count for one reason.
  [[nodiscard]] std::uint64_t operator[](Refusal refusal) const {
    return counts[static_cast<std::size_t>(refusal)];
  }
  /// The sum over all reasons.
  [[nodiscard]] std::uint64_t total() const {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
  /// Adds the counts of each reason.
  RefusalCounts& operator+=(const RefusalCounts& other) {
    for (std::size_t i = 0; i < kReasons; ++i)
      counts[i] += other.counts[i];
    return *this;
  }
};

}  // namespace reckoner
