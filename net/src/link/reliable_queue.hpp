// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Two limits for a set of messages: the number of messages, and their total encoded size in bytes.
struct MessageLimit {
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

  std::size_t messages = kUnlimited;
  std::size_t bytes = kUnlimited;
};

/// Numbers and counts the reliable messages between this end and one peer during one session. Client and
/// server both use this class, for both directions.
///
/// Sending: the queue numbers the messages from 1. The peer reports how many messages it has received, and
/// this count confirms them. The queue can retain the bytes of each unconfirmed message. If the session
/// resumes over another connection, the retained messages are sent again.
///
/// Receiving: the queue counts the messages from the peer and decides when to report the count.
///
/// The transport delivers messages in order, so one count confirms all messages up to it. Counts wrap at
/// 2^32.
class RECKONER_NET_API ReliableQueue {
 public:
  struct Limits {
    /// Limit on messages that were sent but are not confirmed. The sender must check has_room_in_flight().
    MessageLimit in_flight;
    /// Limit on game messages that are not confirmed. The sender must check has_room_for_game().
    MessageLimit game;
    /// Limit on messages whose bytes are retained. If a message exceeds it, the queue drops all bytes.
    MessageLimit retained;
  };

  /// The window: how many messages a client may have in flight. Both ends use this number. When a link works
  /// again after an interruption, the client has many waiting messages. Because of the window, it sends them
  /// in portions, and the game on the server has time to poll each portion. The server never has to refuse a
  /// message from a client that respects the window.
  static constexpr MessageLimit kClientWindow{512, 128 * 1024};
  /// A server reports its count after it has received this many messages or payload bytes. Both numbers are
  /// much smaller than the window.
  static constexpr MessageLimit kReportEvery{32, 32 * 1024};

  /// Who wrote a message: the library or the game. Only messages from the game count for Limits::game.
  enum class Origin : std::uint8_t { library, game };

  explicit ReliableQueue(const Limits& limits) : limits_(limits) {}

  // Functions for sending.

  /// Makes the queue retain the bytes of all messages. The caller must call it before it adds a message.
  void retain() { retains_ = true; }

  /// Adds a message and returns its number. The caller must send the message now, or later when the session
  /// resumes.
  std::uint32_t add_sent(std::span<const std::byte> message, Origin origin = Origin::library);
  /// Adds a game message that the caller sends later, when next() returns it. The caller must have called
  /// retain().
  void add_waiting(std::span<const std::byte> message);

  /// Returns true if one more game message of `bytes` bytes is within Limits::game. `waiting` are messages
  /// that the caller keeps and will add; they count, too.
  [[nodiscard]] bool has_room_for_game(std::size_t bytes, const MessageLimit& waiting = {0, 0}) const;
  /// Returns the number of unconfirmed game messages, and their total size in bytes.
  [[nodiscard]] std::size_t game_messages() const { return game_.size(); }
  [[nodiscard]] std::size_t game_bytes() const { return game_bytes_; }
  /// Returns true if one more message of `bytes` bytes can be sent within Limits::in_flight.
  [[nodiscard]] bool has_room_in_flight(std::size_t bytes = 0) const;

  /// Returns the oldest retained message that was not sent over the current connection. Returns nullopt if
  /// there is none. The bytes are valid until the queue changes.
  [[nodiscard]] std::optional<std::span<const std::byte>> next() const;
  /// The caller reports that it has sent the message that next() returns.
  void mark_sent();
  /// The caller reports that the session resumes over another connection. From then on, next() returns all
  /// retained messages again.
  void resend_all() { retained_sent_ = retained_sent_bytes_ = 0; }

  /// The peer reports that it has received `count` messages in this session. Returns false and changes
  /// nothing if the count is impossible: smaller than an earlier count, or greater than the number of added
  /// messages.
  [[nodiscard]] bool confirm(std::uint32_t count);

  [[nodiscard]] bool is_confirmed(std::uint32_t number) const { return !is_before(confirmed_, number); }
  [[nodiscard]] std::uint32_t confirmed_count() const { return confirmed_; }
  /// Returns how many messages were added in this session. This is also the number of the newest message.
  [[nodiscard]] std::uint32_t added_count() const { return added_; }
  [[nodiscard]] std::uint32_t unconfirmed_count() const { return added_ - confirmed_; }

  /// Returns true if the session can resume with a peer that has received `count` messages. The queue must
  /// still retain all later messages.
  [[nodiscard]] bool can_resume_from(std::uint32_t count) const {
    return can_resume() && !is_before(count, confirmed_) && !is_before(added_, count);
  }
  /// Returns true if all unconfirmed messages are retained. After Limits::retained was exceeded, the result
  /// is false until the peer has confirmed every message.
  [[nodiscard]] bool can_resume() const { return retains_ && !overflowed_; }

  [[nodiscard]] std::size_t retained_messages() const { return sizes_.size(); }
  [[nodiscard]] std::size_t retained_bytes() const { return bytes_.size() - begin_; }

  // Functions for receiving.

  /// The caller reports that a message from the peer has arrived. is_report_due() uses the sum of
  /// `payload_bytes`.
  void note_received(std::size_t payload_bytes = 0) {
    ++received_;
    unreported_bytes_ += payload_bytes;
  }
  /// Returns true if a report to the peer is due. The peer sends further messages after the report, so the
  /// caller should send the report only when it has room for them.
  [[nodiscard]] bool is_report_due() const {
    return received_ - reported_ >= kReportEvery.messages || unreported_bytes_ >= kReportEvery.bytes;
  }
  /// Returns the number of received messages, which the caller must send to the peer now.
  [[nodiscard]] std::uint32_t report() {
    reported_ = received_;
    unreported_bytes_ = 0;
    return received_;
  }
  [[nodiscard]] std::uint32_t received_count() const { return received_; }

 private:
  struct GameMessageSize {
    std::uint32_t number = 0;
    std::uint32_t bytes = 0;
  };

  [[nodiscard]] static bool is_before(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a - b) < 0;
  }
  void add(std::span<const std::byte> message, Origin origin);
  void drop_retained(std::uint32_t count);

  Limits limits_;
  std::uint32_t added_ = 0;
  std::uint32_t confirmed_ = 0;
  std::deque<GameMessageSize> game_;  // unconfirmed game messages
  std::size_t game_bytes_ = 0;

  // One buffer contains the retained messages, one after the other. Its memory is reused.
  bool retains_ = false;
  bool overflowed_ = false;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;                // where the oldest retained message begins in bytes_
  std::deque<std::uint32_t> sizes_;      // sizes of the retained messages, bytes, oldest first
  std::size_t retained_sent_ = 0;        // number of retained messages that were sent over this connection
  std::size_t retained_sent_bytes_ = 0;  // total size of these sent messages

  std::uint32_t received_ = 0;
  std::uint32_t reported_ = 0;
  std::size_t unreported_bytes_ = 0;
};

}  // namespace reckoner
