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

/// Received messages that wait until the game polls them. The memory for each sender is limited, so that a
/// hostile sender does not affect the others.
class RECKONER_NET_API MessageInbox {
 public:
  /// Limits for the waiting messages of one sender.
  struct Limits {
    std::size_t messages = 1024;     ///< number of messages
    std::size_t bytes = 256 * 1024;  ///< payload bytes
  };

  /// Creates an empty inbox with these limits for each sender.
  explicit MessageInbox(const Limits& limits) : limits_(limits) {}

  /// Adds a message. If `held` is true and the message has a time stamp, it waits for release(). Returns
  /// false, and drops the message, if the sender's limits are reached.
  bool add(ClientId sender, std::span<const std::byte> payload, std::optional<double> time_s, bool held);

  /// True if this many more messages and bytes of the sender are within the limits.
  [[nodiscard]] bool has_room(ClientId sender, std::size_t messages, std::size_t bytes) const;

  /// Makes held messages with a time stamp up to `time_s` available to poll(), in order of their stamps.
  void release(double time_s);

  /// Removes and returns the next message, oldest first; nullopt if none waits. Its payload is valid until
  /// the next call.
  [[nodiscard]] std::optional<GameMessage> poll();

 private:
  struct Entry {
    ClientId sender;
    std::vector<std::byte> payload;
    std::optional<double> time_s;
  };
  struct Usage {
    std::size_t messages = 0;
    std::size_t bytes = 0;
  };

  Limits limits_;
  std::deque<Entry> ready_;
  std::multimap<double, Entry> held_;  // by time stamp, then in order of arrival
  std::map<ClientId, Usage> usage_;    // of senders with waiting messages
  Entry polled_;
};

}  // namespace reckoner
