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

/// Unreliable messages that wait for the next datagram. A message that is not sent in time is dropped: a late
/// message is useless, and a queue of them would delay all later messages.
class RECKONER_NET_API MessageOutbox {
 public:
  static constexpr std::size_t kMostMessages = 128;     ///< largest number of waiting messages
  static constexpr std::size_t kMostBytes = 16 * 1024;  ///< largest size of their payloads together

  /// All clients that are sent one message share its bytes.
  using Payload = std::shared_ptr<const std::vector<std::byte>>;

  /// Adds a message at time `now_s`. Returns false, and adds nothing, if too many messages wait.
  bool add(Payload payload, std::optional<double> time_s, double now_s);

  /// Drops the messages that were added before `before_s`. Returns their number.
  std::size_t expire(double before_s);

  /// Writes a section of at most `most_bits`, including its end mark: all waiting messages that fit, in
  /// order. Removes them and returns their number. Writes nothing if no message fits.
  std::size_t write(BitWriter& writer, std::size_t most_bits);

  /// True if no message waits.
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
