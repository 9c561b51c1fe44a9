// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <reckoner/net/refusal.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Why motions were published. Each motion counts once, for the first cause that applied.
struct PublishCauses {
  /// The first motion of an entity, or of a level of detail with a new subscriber.
  std::uint64_t first = 0;
  std::uint64_t owner = 0;     ///< the client that owns the entity sent the motion
  std::uint64_t teleport = 0;  ///< the game declared a teleport
  std::uint64_t frame = 0;     ///< the entity entered or left another entity's frame
  std::uint64_t route = 0;     ///< the entity entered or left a route
  std::uint64_t due = 0;       ///< the error would have reached the threshold, or the budget or rate was due
};

/// Counters of a server since its creation.
struct ServerStats {
  std::uint64_t ticks = 0;               ///< ticks
  std::uint64_t publishes = 0;           ///< published motions; each may go to many clients
  PublishCauses published_for;           ///< the counter `publishes` split by cause
  std::uint64_t updates_sent = 0;        ///< motions passed to the transport, counted for each client
  std::uint64_t full_updates_sent = 0;   ///< part of updates_sent: updates that do not refer to a baseline
  std::uint64_t repairs_sent = 0;        ///< part of updates_sent: updates that replace lost ones
  std::uint64_t datagrams_sent = 0;      ///< state datagrams passed to the transport, to all clients
  std::uint64_t state_bytes_sent = 0;    ///< payload bytes of state datagrams, without headers
  std::uint64_t update_bits_sent = 0;    ///< bits of updates in state datagrams, without datagram headers
  std::uint64_t route_updates_sent = 0;  ///< part of updates_sent: motions on a route
  std::uint64_t route_bits_sent = 0;     ///< part of update_bits_sent: motions on a route
  /// Sum over all ticks. Each tick adds the number of entities that are published on a route in that tick.
  std::uint64_t route_entity_ticks = 0;
  std::uint64_t field_changes_sent = 0;  ///< field values passed to the transport, counted for each client
  std::uint64_t field_repairs_sent = 0;  ///< part of field_changes_sent: values that replace lost ones
  std::uint64_t field_bits_sent = 0;     ///< bits of user fields in state datagrams
  std::uint64_t messages_sent = 0;       ///< game messages accepted by send(), counted for each client
  std::uint64_t messages_dropped = 0;    ///< game messages not sent: no room, or too many in flight
  std::uint64_t messages_received = 0;   ///< game messages from clients, queued for poll_message()
  std::uint64_t messages_refused = 0;    ///< game messages discarded because their client sent too many
  std::uint64_t events_discarded = 0;    ///< events discarded because too many waited for poll_event()
  std::uint64_t datagrams_lost = 0;      ///< datagrams that count as lost, by acknowledgements or time-out
  std::uint64_t malformed = 0;           ///< refused payloads that no honest client sends
  /// Times that receive() or tick() ignored: they were not finite, beyond +-2e12 s, or more than a day from
  /// the time before and not confirmed by the next one.
  std::uint64_t times_refused = 0;
  /// Numbers of refused payloads, and of refused motions and reports in payloads, by reason. Some of them
  /// were only late.
  RefusalCounts refusals;
};
/// Adds every counter of `part` to `total`, for example to sum up several servers in one process.
RECKONER_SERVER_API PublishCauses& operator+=(PublishCauses& total, const PublishCauses& part);
RECKONER_SERVER_API ServerStats& operator+=(ServerStats& total, const ServerStats& part);

/// Counts of motions of entities that clients own, since the server was created.
struct OwnershipStats {
  std::uint64_t accepted = 0;   ///< accepted motions
  std::uint64_t corrected = 0;  ///< motions beyond the limits that were replaced
  std::uint64_t refused = 0;    ///< motions beyond the limits that were ignored
  /// Motions more than a second late, or older than an accepted motion; harmless.
  std::uint64_t late = 0;
  std::uint64_t ahead = 0;       ///< motions with a time stamp in the future
  std::uint64_t too_many = 0;    ///< motions above max_updates_per_s
  std::uint64_t void_terms = 0;  ///< motions of entities that the client does not own, or no longer owns
  std::uint64_t teleports = 0;   ///< teleports that owners declared and the server accepted
};

}  // namespace reckoner
