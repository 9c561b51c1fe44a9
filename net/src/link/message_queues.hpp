// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/ring_queue.hpp"
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
/// hostile sender does not affect other senders.
class RECKONER_NET_API MessageInbox {
 public:
  /// Limits for the waiting messages of one sender.
  struct Limits {
    std::size_t messages = 1024;     ///< maximum number of messages
    std::size_t bytes = 256 * 1024;  ///< maximum total size of the payloads, bytes
  };

  /// Creates an empty inbox with these limits for each sender.
  explicit MessageInbox(const Limits& limits) : limits_(limits) {}

  /// Adds a message. If `is_postponed` is true and the message has a time stamp, poll() does not return the
  /// message before release() makes it available. Returns false and drops the message if it would exceed the
  /// limits for its sender.
  bool add(ClientId sender, std::span<const std::byte> payload, std::optional<double> time_s,
           bool is_postponed);

  /// Returns true if the sender can add `messages` messages with `bytes` bytes in total within the limits.
  [[nodiscard]] bool has_room(ClientId sender, std::size_t messages, std::size_t bytes) const;

  /// Makes all postponed messages whose time stamp is at most `time_s` available to poll(), in the order of
  /// the time stamps.
  void release(double time_s);

  /// Removes and returns the message that has been available for the longest time. Returns nullopt if no
  /// message is available. The payload is valid until the next call of poll().
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
  std::multimap<double, Entry> postponed_;  // ordered by time stamp, then by arrival
  std::map<ClientId, Usage> usage_;         // contains only senders with waiting messages
  Entry polled_;
};

/// Unreliable messages that wait for the next datagram. The caller uses expire() to drop messages that were
/// not sent in time. A late message is useless, and it would delay all later messages.
class RECKONER_NET_API MessageOutbox {
 public:
  static constexpr std::size_t kMaxMessages = 128;     ///< maximum number of waiting messages
  static constexpr std::size_t kMaxBytes = 16 * 1024;  ///< maximum total size of the waiting payloads, bytes

  /// The bytes of a message. If a message goes to several clients, their outboxes share the bytes.
  using Payload = std::shared_ptr<const std::vector<std::byte>>;

  /// Adds a message at time `now_s`. Returns false and adds nothing if the message would exceed kMaxMessages
  /// or kMaxBytes.
  bool add(Payload payload, std::optional<double> time_s, double now_s);

  /// Drops all messages that were added before time `before_s`. Returns the number of dropped messages.
  std::size_t expire(double before_s);

  /// Writes a section of at most `most_bits` bits. It contains all waiting messages that fit, in order, and
  /// an end mark. Removes the written messages and returns their number. Writes nothing if no message fits.
  std::size_t write(BitWriter& writer, std::size_t most_bits);

  /// Returns how many bytes the next datagram may have on a path whose datagrams have at most `path_bytes`.
  /// It is `path_bytes`, unless a message waits that needs more: then it is kMaxDatagramBytes, because the
  /// game may send messages up to kMaxUnreliableBytes on every path. 0, for no path, stays 0.
  [[nodiscard]] std::size_t datagram_bytes(std::size_t path_bytes) const;

  /// Returns true if no message waits.
  [[nodiscard]] bool empty() const { return waiting_.empty(); }

 private:
  struct Waiting {
    Payload payload;
    std::optional<double> time_s;
    double added_s = 0.0;
  };

  RingQueue<Waiting> waiting_;
  std::size_t bytes_ = 0;
};

}  // namespace reckoner
