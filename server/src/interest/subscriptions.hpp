// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/baselines.hpp"
#include "server/src/prefetch.hpp"
#include "server/src/publish/published.hpp"
#include "server/src/tick_order.hpp"
#include "server/src/world/slot_set.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// What one client knows of one entity that it follows. Half a line of a processor's memory.
struct alignas(32) Subscription {
  EntityId id;
  std::uint32_t serial = 0;  ///< of all that this client ever had: tells one from the next in the same slot
  Tick due_since = 0;        ///< while due: the client lacks what was published from this tick on
  std::uint32_t sent = 0;    ///< number of the publish sent last; 0: none of this level
  std::uint32_t held = 0;    ///< newest publish that the client is known to hold; 0: none of this level
  Tick held_tick = 0;        ///< its time stamp
  std::uint8_t level = 0;
  std::uint8_t losses = 0;     ///< of updates since one was acknowledged
  bool told : 1 = false;       ///< the announcement was sent
  bool confirmed : 1 = false;  ///< the client has taken it in
  bool repair : 1 = false;     ///< due because a datagram was lost, and for no other reason
  bool in_full : 1 = false;    ///< the next update must refer to nothing
  bool muted : 1 = false;      ///< the client itself says what the entity does: it is sent no motions
};
static_assert(sizeof(Subscription) == 32);

/// All entities that a client follows, by slot, and which of them it is owed.
///
/// An update is owed ("due") from the publish until it is put into a datagram, and again when that datagram
/// turns out lost and nothing newer was sent for the entity since. What is then sent is the entity's motion
/// of that time, never an old one. Taking in a tick costs what was published in it, not what is followed.
class Subscriptions {
 public:
  /// The slot must not be followed yet. References are valid until the next add().
  Subscription& add(EntityId id, std::uint8_t level);
  void remove(std::uint32_t slot);

  /// Null if the slot is not followed.
  [[nodiscard]] Subscription* find(std::uint32_t slot);
  [[nodiscard]] const Subscription* find(std::uint32_t slot) const;
  /// The same, if it is this entity.
  [[nodiscard]] Subscription* find(EntityId id);

  /// Where a subscription is kept, as long as it lasts: saves looking for its slot. Checked by its serial.
  using Place = std::uint32_t;
  [[nodiscard]] Subscription& at(Place place) { return entries_[place]; }

  /// The client has taken in that the entity exists, with this publish of that level and time stamp: from now
  /// on it is sent state.
  void confirm(Subscription& subscription, std::uint32_t publish, std::uint8_t level, Tick motion_tick);
  /// It has taken in a later one, too.
  static void note_held(Subscription& subscription, std::uint32_t publish, std::uint8_t level,
                        Tick motion_tick);

  /// The client is sent no motions of the entity any more, or again, beginning with the newest.
  void set_muted(Subscription& subscription, bool muted, Tick tick);

  /// The client gets another level, beginning with that one's motion in full.
  void set_level(Subscription& subscription, std::uint8_t level, Tick tick);

  void set_due(Subscription& subscription, Tick since, bool repair);
  void clear_due(std::uint32_t slot) { due_.erase(slot); }
  [[nodiscard]] bool is_due(std::uint32_t slot) const { return due_.contains(slot); }
  [[nodiscard]] const SparseSlotSet& due() const { return due_; }

  /// What is confirmed and was published in this tick becomes due. `scratch` may hold anything.
  void note_published(const Published& published, Tick tick, std::vector<std::uint32_t>& scratch);
  /// Asks for the memory that it begins with.
  void fetch(const Published& published) const;

  /// Calls `f(slot, place, subscription)` for all that is due, in order of slot; `f` may clear_due() it.
  template <class F>
  void for_each_due(F&& f);

  /// All slots that are followed.
  [[nodiscard]] const SlotSet& slots() const { return followed_; }
  /// Those of one level that are confirmed.
  [[nodiscard]] const SlotSet& listening(std::size_t level) const { return listening_[level]; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  void listen(const Subscription& subscription);
  void stop_listening(const Subscription& subscription);

  std::vector<Subscription> entries_;
  std::vector<std::uint32_t> free_;   // entries that hold nothing
  std::vector<std::uint32_t> index_;  // by slot, into entries_; kNone
  std::uint32_t next_serial_ = 1;
  SlotSet followed_;
  std::array<SlotSet, kLevels> listening_;
  std::array<std::size_t, kLevels> listeners_{};  // how many are in each: most levels are empty
  SparseSlotSet due_;
};

template <class F>
void Subscriptions::for_each_due(F&& f) {
  due_.for_each([&](std::uint32_t slot) {
    const Place place = index_[slot];
    f(slot, place, entries_[place]);
  });
}

}  // namespace reckoner
