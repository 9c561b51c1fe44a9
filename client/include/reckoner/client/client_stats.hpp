// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// Counters of a client since its creation.
struct ClientStats {
  std::uint64_t datagrams_received = 0;     ///< state datagrams that arrived
  std::uint64_t datagrams_lost = 0;         ///< gaps in the sequence numbers that were never filled
  std::uint64_t updates_applied = 0;        ///< motions that were applied
  std::uint64_t updates_stale = 0;          ///< motions older than a known one, or of a despawned entity
  std::uint64_t datagrams_stale = 0;        ///< state datagrams not read: duplicates, or much too late
  std::uint64_t malformed = 0;              ///< refused payloads and messages that no honest server sends
  std::uint64_t unknown_references = 0;     ///< datagrams refused because they refer to unknown motions
  std::uint64_t state_bytes_received = 0;   ///< payload bytes of state datagrams, without headers
  std::uint64_t field_changes_applied = 0;  ///< values of user fields that were applied
  std::uint64_t field_changes_stale = 0;  ///< field values known already, outdated, or of a despawned entity
  std::uint64_t mispredictions = 0;       ///< corrections of predicted entities (Client::poll_correction())
  double input_lead_s = 0.0;              ///< how far the player's inputs are ahead of the server's time, s
  std::uint64_t corrections = 0;          ///< corrections of entities that this client owns
  std::uint64_t messages_received = 0;    ///< game messages, queued for poll_message()
  std::uint64_t messages_refused = 0;     ///< game messages discarded because too many waited
  std::uint64_t messages_sent = 0;        ///< game messages passed to the transport
  std::uint64_t messages_dropped = 0;     ///< game messages not sent
  std::uint64_t messages_abandoned = 0;   ///< reliable messages not confirmed when their session ended
  std::uint64_t events_discarded = 0;     ///< events discarded because too many waited for poll_event()
  std::uint64_t connections_lost = 0;     ///< lost connections
  /// Entities of the server that the client does not keep: beyond ClientConfig::max_entities, or in the frame
  /// of such an entity.
  std::uint64_t entities_refused = 0;
  /// Times that the client ignored: they were not finite, beyond +-1e12 s, or far from the time before and
  /// not confirmed by the next one. A clock that is set back by more than 0.25 s counts once.
  std::uint64_t times_refused = 0;
  /// Refused payloads and messages, by reason. Some are only late.
  RefusalCounts refusals;
  /// Seconds of the server's clock per second of the game's clock: 1 unless the game's clock is clearly slow
  /// or fast, for example because the game limits its frame times. The client then corrects it.
  double clock_rate = 1.0;
  double round_trip_s = 0.0;  ///< smallest recent round-trip time, s
  double delay_s = 0.0;       ///< present server time minus the shown time, s
};

}  // namespace reckoner
