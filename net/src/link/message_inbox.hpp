// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/game_message.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Messages that arrived and wait for the game to poll them. What one sender can make it keep is bounded, so
/// that a hostile one costs the others nothing.
class RECKONER_NET_API MessageInbox {
 public:
  /// Kept at most of one sender.
  struct Limits {
    std::size_t messages = 1024;     ///< of one sender, that wait
    std::size_t bytes = 256 * 1024;  ///< of one sender, that wait
  };

  /// With limits for each sender.
  explicit MessageInbox(const Limits& limits) : limits_(limits) {}

  /// Queues a message; one with a stamp waits, if `held`, for release(). False, and it is gone, if the sender
  /// has too much here.
  bool add(ClientId sender, std::span<const std::byte> payload, std::optional<double> time_s, bool held);

  /// True if so much more of the sender's finds room here.
  [[nodiscard]] bool has_room(ClientId sender, std::size_t messages, std::size_t bytes) const;

  /// Lets go what is stamped with `time_s` or earlier, by stamp.
  void release(double time_s);

  /// The next message, oldest first. Its payload is valid until the next call.
  [[nodiscard]] std::optional<GameMessage> poll();

 private:
  struct Entry {
    ClientId sender;
    std::vector<std::byte> payload;
    std::optional<double> time_s;
  };
  struct Kept {
    std::size_t messages = 0;
    std::size_t bytes = 0;
  };

  Limits limits_;
  std::deque<Entry> ready_;
  std::multimap<double, Entry> held_;  // by stamp, then in order of arrival
  std::map<ClientId, Kept> kept_;      // of those who have any
  Entry polled_;
};

}  // namespace reckoner
