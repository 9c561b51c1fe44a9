// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/byte_ranges.hpp"
#include "net/src/messages/reliable_part.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// The other end of ReliableSender: puts the parts of the stream together, and returns the messages in order.
/// Its memory is limited by what the other end has sent, and by Limits.
class RECKONER_NET_API ReliableReceiver {
 public:
  struct Limits {
    /// From the first byte that is not taken to the last: the sender's window, which begins in a message that
    /// is not complete, and that message.
    std::size_t bytes = (512 + 33) * 1024;
    std::size_t parts = 1024;         ///< that lie behind a gap
    std::size_t message = 33 * 1024;  ///< of one message
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
  /// Number of messages that next() has returned.
  [[nodiscard]] std::uint32_t taken() const { return taken_messages_; }
  /// True if the stream contains a length that no sender writes: nothing more will come out of it.
  [[nodiscard]] bool is_broken() const { return broken_; }

 private:
  void append(std::span<const std::byte> bytes);

  Limits limits_;
  std::vector<std::byte> ready_;                           // bytes without a gap
  std::size_t taken_ = 0;                                  // of ready_: those before were returned
  std::uint64_t end_ = 0;                                  // offset after ready_
  std::map<std::uint64_t, std::vector<std::byte>> later_;  // by offset; they do not overlap
  std::uint32_t taken_messages_ = 0;
  bool broken_ = false;
};

}  // namespace reckoner
