// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_stream.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
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

/// Unreliable messages that wait for the next datagram. A message that is not sent in time is dropped: a late
/// message is useless, and a queue of them would delay all later messages.
class RECKONER_NET_API MessageOutbox {
 public:
  static constexpr std::size_t kMaxMessages = 128;     ///< largest number of waiting messages
  static constexpr std::size_t kMaxBytes = 16 * 1024;  ///< largest size of their payloads together

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
