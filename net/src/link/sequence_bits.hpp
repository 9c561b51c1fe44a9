// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace reckoner {

/// One bit for each of the last datagrams, found by the datagram's number. Reads 32 of them at a time in the
/// form of a word of an acknowledgement, so that the work for an acknowledgement depends on its words and on
/// what it changes.
class SequenceBits {
 public:
  /// A bit belongs to all datagrams that are a multiple of this away. An acknowledgement may name a datagram
  /// of the last Ack::kMaxDatagrams as the newest, and cover as many before it.
  static constexpr std::size_t kSize = 2 * Ack::kMaxDatagrams;

  [[nodiscard]] bool operator[](Sequence sequence) const {
    const std::size_t at = place(sequence);
    return ((words_[at / 32] >> (at % 32)) & 1u) != 0;
  }
  void set(Sequence sequence) {
    const std::size_t at = place(sequence);
    words_[at / 32] |= 1u << (at % 32);
  }
  void reset(Sequence sequence) {
    const std::size_t at = place(sequence);
    words_[at / 32] &= ~(1u << (at % 32));
  }
  void reset_all() { words_.fill(0); }

  /// The bits of 32 datagrams: bit i is that of the datagram `newest` - i.
  [[nodiscard]] std::uint32_t word(Sequence newest) const {
    const std::size_t at = place(newest);
    const std::uint64_t both = words_[at / 32] | (std::uint64_t{words_[(at / 32 + 1) % words_.size()]} << 32);
    return static_cast<std::uint32_t>(both >> (at % 32));
  }

  /// The first datagram from `from` on and before `end` whose bit is set; `end` if there is none.
  [[nodiscard]] Sequence find(Sequence from, Sequence end) const {
    while (sequence_distance(end, from) > 0) {
      const std::size_t at = place(from);
      const std::uint32_t rest = words_[at / 32] << (31 - at % 32);  // the highest bit is that of `from`
      const auto steps = rest != 0 ? static_cast<std::size_t>(std::countl_zero(rest)) : at % 32 + 1;
      if (static_cast<int>(steps) >= sequence_distance(end, from)) return end;
      from = static_cast<Sequence>(from + steps);
      if (rest != 0) return from;
    }
    return end;
  }

 private:
  // The bits of older datagrams follow those of newer ones, as in an acknowledgement.
  [[nodiscard]] static std::size_t place(Sequence sequence) {
    return static_cast<Sequence>(0u - sequence) % kSize;
  }

  std::array<std::uint32_t, kSize / 32> words_{};
};

}  // namespace reckoner
