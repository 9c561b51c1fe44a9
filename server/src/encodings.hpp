// SPDX-License-Identifier: MIT
#pragma once

#include "entity_table.hpp"
#include "worker_pool.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <reckoner/net/bit_stream.hpp>
#include <reckoner/net/motion_codec.hpp>

namespace reckoner {

/// A motion as it stands in a datagram, ready to be appended.
struct BitString {
  std::span<const std::byte> bytes;
  std::size_t bits = 0;
};

/// The bit strings of one tick: every publish stream that some client is owed, in full or against a motion
/// that the client holds, each made once and shared by all who need it.
///
/// In three steps, each complete before the next begins: want() what is needed (any worker), make() it,
/// find() it (any worker). What is made does not depend on who asked first.
class Encodings {
 public:
  explicit Encodings(unsigned workers) : wanted_by_(workers), made_by_(workers) {}

  /// Forgets all and makes room for so many slots.
  void clear(std::size_t slots);

  /// `reference` is the number of a publish that the stream still has, or 0: in full.
  void want(unsigned worker, std::uint32_t slot, std::size_t level, std::uint32_t reference);

  void make(WorkerPool& pool, const EntityTable& entities, std::span<const Quantisation> quantisation,
            double tick_rate_hz);

  /// What was wanted. Valid until clear().
  [[nodiscard]] BitString find(std::uint32_t slot, std::size_t level, std::uint32_t reference) const;

 private:
  // Which encodings of a stream are wanted: a bit for each publish by its number modulo kHistory, and one
  // more for the full encoding.
  using Wanted = std::uint64_t;
  struct Made {
    std::uint32_t worker = 0;
    std::uint32_t offset = 0;  // bytes
    std::uint32_t bits = 0;
  };

  static unsigned bit_of(std::uint32_t reference) {
    return reference == 0 ? PublishStream::kHistory : reference % PublishStream::kHistory;
  }
  void encode(unsigned worker, std::uint32_t stream, const EntityTable& entities,
              std::span<const Quantisation> quantisation, double tick_rate_hz);

  std::size_t slots_ = 0;
  std::unique_ptr<std::atomic<Wanted>[]> wanted_;      // by stream: slot x kLevels + level
  std::vector<std::uint32_t> first_;                   // by stream: where its strings begin in made_
  std::vector<std::vector<std::uint32_t>> wanted_by_;  // by worker: streams that it was the first to want
  std::vector<std::uint32_t> streams_;                 // all of them
  std::vector<Made> made_;
  std::vector<std::vector<std::byte>> made_by_;  // by worker
};

}  // namespace reckoner
