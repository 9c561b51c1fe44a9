// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"
#include "net/src/messages/spawns.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/publish/field_updates.hpp"
#include "server/src/session/byte_budget.hpp"
#include "server/src/session/reliable_section.hpp"
#include "server/src/session/sections.hpp"
#include "server/src/session/spawn_queue.hpp"
#include "server/src/session/subscriptions.hpp"
#include "server/src/session/tick_inputs.hpp"
#include "server/src/world/entity_table.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// The section of spawns and ends: tells one client which entities it follows. Each spawn has the newest
/// motion of its entity, and the values of its fields if they fit. The order and the copies are those of
/// SpawnQueue. Many spawns, as after a join, are bulk.
class SpawnSection {
 public:
  static constexpr bool ServerHeader::*kFlag = &ServerHeader::has_spawns;

  /// What a session shares with its spawns. All must outlive the section.
  struct Shared {
    ClientId client;
    Subscriptions& subscriptions;
    FieldUpdates& fields;
    const ReliableSection& messages;
    const ByteBudget& budget;
  };
  explicit SpawnSection(const Shared& shared) : shared_(shared) {}

  [[nodiscard]] SpawnQueue& queue() { return queue_; }
  [[nodiscard]] const SpawnQueue& queue() const { return queue_; }

  /// The client now follows the entity, and lacks its spawn since `tick`.
  void follow(const Entity& entity, std::uint8_t level, Tick tick);
  /// The entity of this subscription ended in tick `tick` at the latest, or the client no longer follows it.
  /// `as_planned`: a short-lived entity ended at the time that its spawn names.
  void unfollow(const Subscription& subscription, Tick tick, bool as_planned);
  /// Another connection begins, which may be slow.
  void restart() { room_ = kFirstRoom; }

  /// Calls `f(tick)` for ticks since which the client lacks a spawn, an end or a motion of an entity of which
  /// it has only the spawn.
  template <class F>
  void for_each_since(const TickInputs& inputs, F&& f);

  // For Sections.
  void begin(const TickInputs& inputs, ServerStats& stats);
  [[nodiscard]] Urgency urgency(Tick tick) const;
  [[nodiscard]] bool is_crowded_out() const { return queue_.is_crowded_out(); }
  bool write(BitWriter& writer, std::size_t most_bits, const SectionPlace& place);
  void settle(const Settled& datagram);

 private:
  static constexpr double kFirstRoom = 4.0 * ByteBudget::kDatagramBytes;  // bytes
  static constexpr std::size_t kFewEnds = 64;

  [[nodiscard]] bool has_room() const;
  [[nodiscard]] bool knows_frame(const StreamHead& stream) const;
  void forget_ended();
  [[nodiscard]] bool is_slot_free(EntityId id) const;
  [[nodiscard]] bool has_newer(const TickInputs& inputs, const Subscription& subscription) const {
    return !subscription.muted && inputs.head_of(subscription).number != subscription.sent;
  }
  [[nodiscard]] bool make(const TickInputs& inputs, Spawn& spawn, SpawnQueue::Sent& sent) const;
  void note_written(const SpawnQueue::Sent& sent, const SectionPlace& place);
  void confirm(const SpawnQueue::Sent& sent);
  void note_lost(const SpawnQueue::Sent& sent);

  Shared shared_;
  SpawnQueue queue_;
  double room_ = kFirstRoom;  // bytes of many spawns that may be in flight
  // By slot: the client ends the last entity in it after it has processed this message.
  std::unordered_map<std::uint32_t, std::uint32_t> ends_after_;
  std::size_t most_ends_ = kFewEnds;  // with so many, those that wait no longer are forgotten
};

template <class F>
void SpawnSection::for_each_since(const TickInputs& inputs, F&& f) {
  if (const auto since = queue_.oldest_since()) f(*since);
  queue_.for_each_unacknowledged([&](EntityId id, Tick sent) {
    const Subscription* s = shared_.subscriptions.find(id);
    if (!id || (s != nullptr && !s->confirmed && has_newer(inputs, *s))) f(sent + 1);
  });
}

}  // namespace reckoner
