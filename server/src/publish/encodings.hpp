// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/util/threads.hpp"
#include "server/src/world/entity_table.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace reckoner {

/// Parts of the sender. The product always uses all parts. Measurements switch single parts off to find out
/// what each part contributes (docs/TUNING.md).
struct SenderParts {
  bool fitted_acceleration = true;  ///< false: the true acceleration is sent
  bool latency_aware = true;        ///< false: an update is due only when the error has reached the threshold
  bool repair = true;               ///< false: lost updates are not sent again
  /// False: if not all updates fit the byte budget, those go first whose publishes were most urgent and have
  /// waited longest.
  bool error_order = true;
};

/// An encoded motion, ready to be appended to a datagram.
struct BitString {
  const std::byte* bytes = nullptr;
  std::size_t bits = 0;
};

/// Encodes the newest publish of each stream for one tick, in full or relative to an earlier publish that the
/// client has. The first session that needs an encoding creates it, and all sessions share it.
///
/// Several workers may call get() at the same time; the result does not depend on which worker asks first.
/// Because motions are encoded on demand, the server visits the memory of each client only once per tick.
/// With a thousand clients, a second pass over that memory would cost more than the encoding.
class Encodings {
 public:
  explicit Encodings(unsigned workers) : stores_(workers) {}

  /// Discards all encodings. Later calls of get() encode from `entities`, which must stay valid and unchanged
  /// until the next begin().
  void begin(const EntityTable& entities, std::span<const Quantisation> quantisation, double tick_rate_hz);

  /// Returns the encoding of a stream's newest publish, valid until begin(). `reference` is the number of an
  /// earlier publish that the stream still has, or 0 to encode in full. `worker` is less than the number
  /// given to the constructor. Two calls that run at the same time have different workers.
  [[nodiscard]] BitString get(unsigned worker, std::uint32_t slot, std::size_t level,
                              std::uint32_t reference);

 private:
  // One encoding.
  struct Made {
    const Made* next = nullptr;  // next encoding of the same stream
    std::uint32_t reference = 0;
    std::uint32_t bits = 0;
    std::byte* bytes = nullptr;
  };
  // Memory that never moves and is reused in the next tick.
  struct Block {
    std::unique_ptr<Made[]> made;
    std::unique_ptr<std::byte[]> bytes;
    std::size_t encoding_count = 0;
    std::size_t byte_count = 0;
  };
  struct alignas(64) Store {
    std::vector<Block> blocks;
    std::size_t block = 0;               // index of the block in use
    std::vector<std::uint32_t> streams;  // streams whose first encoding was made in this store
  };

  static const Made* find(const Made* first, std::uint32_t reference);
  const Made& make(Store& store, std::uint32_t stream, std::uint32_t reference);
  static Block& block_with_room(Store& store);

  const EntityTable* entities_ = nullptr;
  std::span<const Quantisation> quantisation_;
  double tick_rate_hz_ = 0.0;

  std::size_t streams_ = 0;
  std::unique_ptr<std::atomic<const Made*>[]> first_;  // index: slot * kLevels + level
  std::vector<Store> stores_;                          // index: worker
  std::array<Mutex, 64> mutexes_;                      // index: stream modulo the number of mutexes
};

}  // namespace reckoner
