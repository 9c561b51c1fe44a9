// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/world/entity_table.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace reckoner {

/// A motion as it stands in a datagram, ready to be appended.
struct BitString {
  const std::byte* bytes = nullptr;
  std::size_t bits = 0;
};

/// The bit strings of one tick: every publish stream that some client is owed, in full or against a motion
/// that the client holds, each made when it is first asked for and shared by all who need it.
///
/// Several workers may ask at the same time; what is made does not depend on who asked first. Clients are
/// looked at once a tick this way, while their memory is at hand: with a thousand of them, fetching it again
/// after a round of encoding costs more than the encoding.
class Encodings {
 public:
  explicit Encodings(unsigned workers) : stores_(workers) {}

  /// Forgets all; what is asked for from now on is encoded from these. The caller keeps them.
  void begin(const EntityTable& entities, std::span<const Quantisation> quantisation, double tick_rate_hz);

  /// The newest publish of a stream. `reference` is the number of one that the stream still has, or 0: in
  /// full. Valid until begin(). `worker` is below the number given, and no two calls at a time have the same.
  [[nodiscard]] BitString get(unsigned worker, std::uint32_t slot, std::size_t level,
                              std::uint32_t reference);

 private:
  struct Made {
    const Made* next = nullptr;  // of the same stream
    std::uint32_t reference = 0;
    std::uint32_t bits = 0;
    std::byte* bytes = nullptr;
  };
  // Memory that stays where it is, and is used again in the next tick.
  struct Block {
    std::unique_ptr<Made[]> made;
    std::unique_ptr<std::byte[]> bytes;
    std::size_t made_count = 0;
    std::size_t byte_count = 0;
  };
  struct alignas(64) Store {
    std::vector<Block> blocks;
    std::size_t block = 0;               // in use
    std::vector<std::uint32_t> streams;  // that it was the first to make something of
  };

  static const Made* find(const Made* first, std::uint32_t reference);
  const Made& make(Store& store, std::uint32_t stream, std::uint32_t reference);
  static Block& room_in(Store& store);

  const EntityTable* entities_ = nullptr;
  std::span<const Quantisation> quantisation_;
  double tick_rate_hz_ = 0.0;

  std::size_t streams_ = 0;
  std::unique_ptr<std::atomic<const Made*>[]> first_;  // by stream: slot x kLevels + level
  std::vector<Store> stores_;                          // by worker
  std::array<std::mutex, 64> making_;                  // by stream modulo their number
};

}  // namespace reckoner
