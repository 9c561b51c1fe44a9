// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/baselines.hpp"
#include "reckoning/src/util/prefetch.hpp"
#include "server/src/world/slot_set.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// What one client knows about one entity that it follows. Half a cache line in size.
struct alignas(32) Subscription {
  EntityId id;
  /// Number of the spawn (Spawn::number); 0: none was written yet. It distinguishes this subscription from
  /// all others that this client ever had.
  std::uint32_t spawn_number = 0;
  /// Tick of the oldest publish that the client lacks; valid only while the entity is due.
  Tick due_since = 0;
  /// Number of the publish sent last; 0: no publish of this level was sent.
  std::uint32_t sent = 0;
  /// Number of the newest publish that the client has acknowledged; 0: it has none of this level.
  std::uint32_t acknowledged = 0;
  Tick acknowledged_tick = 0;  ///< time stamp of the publish `acknowledged`
  std::uint8_t level = 0;
  std::uint8_t losses = 0;       ///< updates lost since the last acknowledged update
  bool confirmed : 1 = false;    ///< the client acknowledged the spawn
  bool repair : 1 = false;       ///< the entity is due only because a datagram was lost
  bool in_full : 1 = false;      ///< the next update must be encoded in full
  bool short_lived : 1 = false;  ///< the entity is short-lived
  bool muted : 1 = false;        ///< the client owns or predicts the entity, and gets no motions of it
};
static_assert(sizeof(Subscription) == 32);

/// All entities that one client follows, by slot. Also stores which of these entities are due to be sent to
/// the client.
///
/// An entity is due from its publish until an update is written into a datagram. It is due again when that
/// datagram is lost and no newer motion of the entity was sent since. Every update contains the newest motion
/// at the time of writing. The cost of a tick depends on the number of publishes, not on the number of
/// followed entities.
class Subscriptions {
 public:
  /// Adds a subscription; the client must not follow the slot yet. References stay valid until the next
  /// add().
  Subscription& add(EntityId id, std::uint8_t level);
  void remove(std::uint32_t slot);

  /// Null if the client does not follow the slot.
  [[nodiscard]] Subscription* find(std::uint32_t slot);
  [[nodiscard]] const Subscription* find(std::uint32_t slot) const;
  /// Null if the client does not follow this entity.
  [[nodiscard]] Subscription* find(EntityId id);

  /// The index of a subscription, constant during its life; faster than a search by slot. After the
  /// subscription has ended, another one may get its index, so compare the spawn numbers.
  using Index = std::uint32_t;
  [[nodiscard]] Subscription& at(Index index) { return entries_[index]; }

  /// Call it when the client has acknowledged the spawn. The spawn contained the publish with the
  /// number `publish`, the level `level` and the time stamp `motion_tick`. From now on the server sends
  /// updates of the entity to the client.
  void confirm(Subscription& subscription, std::uint32_t publish, std::uint8_t level, Tick motion_tick);
  /// Call it when the client has acknowledged an update that contained this publish.
  static void note_acknowledged(Subscription& subscription, std::uint32_t publish, std::uint8_t level,
                                Tick motion_tick);

  /// If `muted`, stops sending motions of the entity to the client. Otherwise starts again with the newest
  /// motion in full.
  void set_muted(Subscription& subscription, bool muted, Tick tick);

  /// Changes the level of detail. The next update of the new level is sent in full.
  void set_level(Subscription& subscription, std::uint8_t level, Tick tick);

  /// Makes the entity due since tick `since`. `repair` is true if the only reason is a lost datagram.
  void set_due(Subscription& subscription, Tick since, bool repair);
  void clear_due(std::uint32_t slot) { due_.erase(slot); }
  [[nodiscard]] bool is_due(std::uint32_t slot) const { return due_.contains(slot); }
  [[nodiscard]] const SparseSlotSet& due() const { return due_; }

  /// Makes every confirmed entity due that was published in this tick. `scratch` may contain anything.
  void note_published(const Published& published, Tick tick, std::vector<std::uint32_t>& scratch);
  /// Prefetches the memory that note_published() and for_each_due() read first.
  void fetch(const Published& published) const;

  /// Calls `f(slot, index, subscription)` for every due entity in order of slot. `f` may call clear_due() for
  /// the slot.
  template <class F>
  void for_each_due(F&& f);

  /// The slots of all followed entities.
  [[nodiscard]] const SlotSet& slots() const { return followed_; }
  /// The slots of the confirmed, unmuted entities of one level of detail.
  [[nodiscard]] const SlotSet& listening(std::size_t level) const { return listening_[level]; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  void listen(const Subscription& subscription);
  void stop_listening(const Subscription& subscription);

  std::vector<Subscription> entries_;
  std::vector<std::uint32_t> free_;   // indices of free entries
  std::vector<std::uint32_t> index_;  // index: slot; value: index into entries_, or kNone
  SlotSet followed_;
  std::array<SlotSet, kLevels> listening_;
  // Number of slots in each set of listening_; most sets are empty.
  std::array<std::size_t, kLevels> listeners_{};
  SparseSlotSet due_;
};

template <class F>
void Subscriptions::for_each_due(F&& f) {
  due_.for_each([&](std::uint32_t slot) {
    const Index index = index_[slot];
    f(slot, index, entries_[index]);
  });
}

}  // namespace reckoner
