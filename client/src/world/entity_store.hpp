// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/world/field_timeline.hpp"
#include "net/src/codec/motion_codec.hpp"
#include "net/src/link/baselines.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner {

/// What there is to know of an entity that this client owns, besides its sender.
struct OwnershipState {
  Motion go_on;            ///< where the server wants it to go on from
  unsigned unpolled = 0;   ///< times it was given or corrected of which the game does not know yet
  bool moved = false;      ///< the game has said since then how it goes on
  double viewers_s = 0.0;  ///< how long updates take from the server to others
};

/// A remote entity with what the client knows about it.
struct KnownEntity {
  EntityId id;
  EntityInfo info;
  RemoteEntity remote;
  double spawned_s = 0.0;             ///< server time of its first motion
  std::optional<double> despawned_s;  ///< server time at which it is no longer there
  bool visible = false;               ///< was in the last frame
  std::uint8_t teleports_shown = 0;   ///< as of the last frame
  FieldTimeline fields;               ///< shown as of the last frame
  FrameId frame_shown{};              ///< the frame that it was in, as of the last frame
  bool owned = false;                 ///< by this client, whose game says what it does
  OwnershipState ownership_state{};   ///< while it is owned
};

/// All remote entities by slot. A slot that holds nothing costs two pointers only, whatever slots a server
/// names. Remembers what archetype a slot last held and, for a while, what arrived of it, so that a datagram
/// from before a despawn can still be read. Whoever gets an entity that may be changed
/// is taken to change it.
class EntityStore {
 public:
  /// Puts an entity into its slot; whatever was there is gone.
  void put(KnownEntity entity);

  /// Null if the slot holds nothing.
  [[nodiscard]] KnownEntity* at(std::uint32_t slot);
  [[nodiscard]] const KnownEntity* find(EntityId id) const;
  [[nodiscard]] KnownEntity* find(EntityId id);

  void remove(std::uint32_t slot);

  /// What arrived of the entity that the slot holds or has just held; null if that is forgotten.
  [[nodiscard]] References* references(std::uint32_t slot) const {
    return slot < references_.size() ? references_[slot].get() : nullptr;
  }

  /// Nothing if the slot never held an entity.
  [[nodiscard]] std::optional<std::size_t> archetype_of(std::uint32_t slot) const;

  /// Calls `visit(slot, entity or null)` for all slots that have changed since it did so last.
  template <class Visit>
  void visit_changed(Visit visit) {
    for (const std::uint32_t slot : changed_) {
      is_changed_[slot] = false;
      visit(slot, slots_[slot].get());
    }
    changed_.clear();
  }
  /// For who goes through slots() and changes what is there.
  void all_changed() {
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
      note_change(slot);
  }

  /// In order of slot; null where there is no entity.
  [[nodiscard]] std::span<const std::unique_ptr<KnownEntity>> slots() const { return slots_; }

 private:
  void note_change(std::size_t slot) {
    if (is_changed_[slot]) return;
    is_changed_[slot] = true;
    changed_.push_back(static_cast<std::uint32_t>(slot));
  }

  std::vector<std::unique_ptr<KnownEntity>> slots_;
  std::vector<std::unique_ptr<References>> references_;
  std::deque<EntityId> gone_;              // oldest first; their references are still there
  std::vector<bool> is_changed_;           // by slot
  std::vector<std::uint32_t> changed_;     // slots, each once
  std::vector<std::uint16_t> archetypes_;  // by slot: archetype + 1, 0 for none
};

}  // namespace reckoner
