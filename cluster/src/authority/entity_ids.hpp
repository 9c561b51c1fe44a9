// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/bus/requests.hpp"
#include "cluster/src/wire/bus_messages.hpp"
#include "cluster/src/wire/subjects.hpp"

#include <cstdint>
#include <deque>
#include <optional>

#include <reckoner/net/ids.hpp>

namespace reckoner::cluster {

/// The ids that this simulator may give to new entities. Blocks of slots are taken from the world by
/// compare-and-set. The slot of an ended entity stays with the simulator that ended it. A process that dies
/// takes the rest of its block with it.
class EntityIds {
 public:
  static constexpr std::uint32_t kBlock = kSlotsInBlock;
  static constexpr double kQuarantineS = 6.0;  ///< before a slot is used again; see EntityTable

  struct Slot {
    EntityId id;                     ///< the next id of the slot
    std::uint32_t epoch = 0;         ///< last epoch of the slot
    std::uint64_t revision = 0;      ///< of its key in the table of epochs; 0: never written
    std::optional<double> free_s{};  ///< when its quarantine ends; empty: it was never used
  };

  explicit EntityIds(Requests& requests) : requests_(requests) {}

  /// Takes a block when few ids are left.
  void run(double now_s, bool connected) {
    if (!connected || busy_ || free_.size() >= kBlock / 2) return;
    busy_ = true;
    requests_.get(BusTable::world, kIdsKey, [this](const BusAnswer& read) {
      if (read.status == BusAnswer::Status::unavailable) {
        busy_ = false;
        return;
      }
      const auto stored = decode_ids(read.value);
      // A damaged number must not begin again at 0: other processes have those ids.
      if (!stored && read.status == BusAnswer::Status::done) {
        busy_ = false;
        return;
      }
      const std::uint32_t block = stored ? stored->blocks : 0;
      if ((block + 1) * kBlock > kMaxEntities) return;  // the world has no more slots
      requests_.put_if(BusTable::world, kIdsKey, encode_value(IdsValue{block + 1}),
                       read.status == BusAnswer::Status::done ? read.revision : 0,
                       [this, block](const BusAnswer& written) {
                         busy_ = false;
                         if (written.status != BusAnswer::Status::done) return;
                         for (std::uint32_t i = 0; i < kBlock; ++i)
                           free_.push_front({{block * kBlock + i + 1, 1}, 0, 0, {}});
                       });
    });
    (void)now_s;
  }

  [[nodiscard]] std::optional<Slot> take(double now_s) {
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->free_s && *it->free_s > now_s) return std::nullopt;  // the rest was freed later
      const Slot slot = *it;
      free_.erase(it);
      return slot;
    }
    return std::nullopt;
  }
  /// An entity of this simulator has ended.
  void give_back(EntityId id, std::uint32_t epoch, std::uint64_t revision, double now_s) {
    const auto generation = static_cast<std::uint16_t>(id.generation + 1);
    free_.push_back({{id.index1, generation}, epoch, revision, now_s + kQuarantineS});
  }
  [[nodiscard]] bool has_free() const { return !free_.empty() && !free_.front().free_s; }

 private:
  Requests& requests_;
  std::deque<Slot> free_;  // new slots first, then freed ones in the order of time
  bool busy_ = false;
};

}  // namespace reckoner::cluster
