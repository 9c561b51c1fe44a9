// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"

#include <algorithm>
#include <cstdint>

namespace reckoner {

/// Counts the server's datagrams that have not arrived, by their numbers.
class LostDatagrams {
 public:
  /// A datagram has arrived that is newer than all others.
  void note_newest(Sequence sequence) {
    sent_ += sent_ == 0 ? 1 : sequence_distance(sequence, newest_);
    newest_ = sequence;
  }
  /// The number of datagrams that have not arrived when `received` have.
  [[nodiscard]] std::uint64_t count(std::uint64_t received) const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, sent_ - static_cast<std::int64_t>(received)));
  }

 private:
  Sequence newest_ = 0;
  std::int64_t sent_ = 0;  // from the first to the newest
};

}  // namespace reckoner
