// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/server/traffic.hpp>

namespace reckoner {

/// Counts what one worker writes into datagrams. While the worker writes a datagram, the other functions note
/// its contents; datagram() then counts the rest of the datagram as SentContent::header.
///
/// The counts are never merged while the server runs, so a tick pays only for a few additions per update.
class alignas(64) TrafficShare {
 public:
  /// A motion of the entity in `slot` was written.
  void motion(std::uint32_t slot, SentContent content, std::uint64_t bits) {
    entity_content(slot, content, 1, bits);
    EntityCost& entity = entities_[slot];
    ++entity.updates;
    entity.motion_bits += bits;
  }
  /// A spawn of the entity in `slot` was written.
  void spawn(std::uint32_t slot, std::uint64_t bits) {
    entity_content(slot, SentContent::spawn, 1, bits);
    entities_[slot].spawn_bits += bits;
  }
  /// Changes of fields of the entity in `slot` were written, `bits` together. `fields`: bit i is set if the
  /// value of field i was written. `value_bits`: index: field; the size of each written value.
  void fields(std::uint32_t slot, std::uint32_t fields, std::span<const std::uint32_t> value_bits,
              std::uint64_t bits);
  /// SentContent that belongs to no entity was written.
  void other(SentContent content, std::uint64_t count, std::uint64_t bits) {
    contents_[static_cast<std::size_t>(content)].add(count, bits);
    noted_bits_ += bits;
  }
  /// The datagram with the contents noted since the last call is complete, `bytes` long.
  void datagram(std::size_t bytes) {
    assert(8 * bytes >= noted_bits_);
    contents_[static_cast<std::size_t>(SentContent::header)].add(1, 8 * bytes - noted_bits_);
    noted_bits_ = 0;
  }

 private:
  friend class TrafficCounter;

  // The numbers of EntityTraffic. There are many: one for each slot and worker.
  struct EntityCost {
    std::uint64_t updates = 0;
    std::uint64_t motion_bits = 0;
    std::uint64_t spawn_bits = 0;
    std::uint64_t field_bits = 0;
  };

  void entity_content(std::uint32_t slot, SentContent content, std::uint64_t count, std::uint64_t bits) {
    archetypes_[archetype_of_[slot]].by_content[static_cast<std::size_t>(content)].add(count, bits);
    noted_bits_ += bits;
  }

  const std::uint8_t* archetype_of_ = nullptr;  // index: slot
  std::vector<EntityCost> entities_;            // index: slot; since the spawn of the entity in it
  std::vector<ArchetypeTraffic> archetypes_;    // index: archetype
  std::array<SentAmount, kContents> contents_{};
  std::uint64_t noted_bits_ = 0;  // contents of the datagram that is being written
};

/// Counts what a server sends: by content, by archetype and field, and by entity (Server::traffic()). Each
/// worker counts in a share of its own, and only a question adds the shares up.
class TrafficCounter {
 public:
  /// `workers` is at least 1. Allocates for entities in add_entity() only.
  TrafficCounter(std::span<const Archetype> archetypes, unsigned workers);
  TrafficCounter(const TrafficCounter&) = delete;  // the shares point into it
  TrafficCounter& operator=(const TrafficCounter&) = delete;

  /// An entity begins in this slot. No worker may count meanwhile.
  void add_entity(std::uint32_t slot, std::size_t archetype);

  /// Where a worker counts. Two workers that run at the same time have different shares.
  [[nodiscard]] TrafficShare& share(unsigned worker) { return shares_[worker]; }

  /// The sum of all shares.
  [[nodiscard]] SentTraffic total() const;
  /// The sum of all shares for the entity in this slot, to which add_entity() was applied.
  [[nodiscard]] EntityTraffic of(std::uint32_t slot) const;

 private:
  std::vector<std::uint8_t> archetype_of_;  // index: slot
  std::vector<TrafficShare> shares_;        // index: worker
};

}  // namespace reckoner
