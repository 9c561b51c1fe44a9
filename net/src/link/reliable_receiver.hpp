// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/byte_ranges.hpp"
#include "net/src/messages/reliable_part.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// The other end of ReliableSender: puts the parts of the stream together, and returns the messages in order.
/// An unordered message that is complete before its turn is returned at once. It keeps its turn, so both ends
/// count the messages in one order. The memory is limited by what the other end has sent, and by Limits.
class RECKONER_NET_API ReliableReceiver {
 public:
  struct Limits {
    /// From the first byte that is not taken to the last: the sender's window, which begins in a message that
    /// is not complete, and that message.
    std::size_t bytes = (512 + 33) * 1024;
    std::size_t parts = 1024;         ///< that lie behind a gap
    std::size_t message = 33 * 1024;  ///< of one message
    /// Unordered messages that were returned before their turn. Further ones are returned in their turn.
    std::size_t early = 1024;
  };

  explicit ReliableReceiver(const Limits& limits) : limits_(limits) {}

  /// An offset near those that can arrive, for read_reliable_parts().
  [[nodiscard]] std::uint64_t near() const { return end_; }
  /// False if a sender that keeps to the limits cannot have sent these parts. They must then not be added,
  /// and their datagram not be acknowledged.
  [[nodiscard]] bool accepts(std::span<const ReliablePart> parts) const;
  /// Adds parts that were accepted.
  void add(std::span<const ReliablePart> parts);

  /// Removes and returns the next message; nullopt if it is not complete. Valid until the next call of any
  /// member.
  [[nodiscard]] std::optional<std::span<const std::byte>> next();
  /// True if next_early() had returned the message that next() has returned last. The message then only takes
  /// its turn.
  [[nodiscard]] bool was_early() const { return was_early_; }
  /// Removes and returns an unordered message that is complete before its turn; nullopt if there is none.
  /// Call it when next() returns nothing more. Valid until the next call of any member.
  [[nodiscard]] std::optional<std::span<const std::byte>> next_early();
  /// Number of messages that next() has returned.
  [[nodiscard]] std::uint32_t taken() const { return taken_messages_; }
  /// True if the stream contains what no sender writes: a wrong length, or a message inside of another one.
  /// Nothing more will come out of it.
  [[nodiscard]] bool is_broken() const { return broken_; }

 private:
  // At most this number of unordered messages wait for the rest of their bytes. Further ones are returned in
  // their turn. An honest sender has few: one for each gap.
  static constexpr std::size_t kMostIncomplete = 64;

  void keep(const ReliablePart& part);
  void append(std::span<const std::byte> bytes);
  void find_unordered(const ReliablePart& part);
  std::optional<std::uint64_t> examine(std::uint64_t begin, std::uint64_t arrived);
  [[nodiscard]] std::uint64_t first_lacking(std::uint64_t from, std::uint64_t to) const;
  void read_later(std::uint64_t from, std::span<std::byte> to) const;

  Limits limits_;
  std::vector<std::byte> ready_;                           // bytes without a gap
  std::size_t taken_ = 0;                                  // of ready_: those before were returned
  std::uint64_t end_ = 0;                                  // offset after ready_
  std::map<std::uint64_t, std::vector<std::byte>> later_;  // by offset; they do not overlap
  ByteRanges behind_gap_;                                  // the bytes of later_, whose pieces may touch
  // Unordered messages behind a gap, by the offset at which they begin. Those that lack bytes have the offset
  // of the first of these before it.
  std::set<std::pair<std::uint64_t, std::uint64_t>> incomplete_;
  std::set<std::uint64_t> complete_;
  std::set<std::uint64_t> early_;         // those that were returned, until their turn
  std::vector<std::byte> early_message_;  // the newest of them
  std::uint32_t taken_messages_ = 0;
  bool was_early_ = false;
  bool broken_ = false;
};

}  // namespace reckoner
