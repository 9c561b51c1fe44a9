// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_stream.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <reckoner/net/game_message.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Unreliable messages that wait for the next datagram. What finds no place in time is dropped: a late one is
/// worth nothing, and a queue of them would delay everything after it.
class RECKONER_NET_API MessageOutbox {
 public:
  /// Waiting at most.
  static constexpr std::size_t kMostMessages = 128;
  static constexpr std::size_t kMostBytes = 16 * 1024;  ///< waiting at most

  /// The bytes are shared by all who send the same message.
  using Payload = std::shared_ptr<const std::vector<std::byte>>;

  /// False, and nothing is queued, if too much waits.
  bool add(Payload payload, std::optional<double> time_s, double now_s);

  /// Drops what was added before `before_s`; how many.
  std::size_t expire(double before_s);

  /// Writes a section of at most `most_bits`, its end included: of what waits, in order, all that fits; and
  /// forgets it. How many: if none, nothing was written.
  std::size_t write(BitWriter& writer, std::size_t most_bits);

  /// Whether nothing waits.
  [[nodiscard]] bool empty() const { return waiting_.empty(); }

 private:
  struct Waiting {
    Payload payload;
    std::optional<double> time_s;
    double added_s = 0.0;
  };

  std::deque<Waiting> waiting_;
  std::size_t bytes_ = 0;
};

}  // namespace reckoner
