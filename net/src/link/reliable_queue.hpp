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

/// A limit for a number of messages and their encoded size together.
struct MessageLimit {
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

  std::size_t messages = kUnlimited;
  std::size_t bytes = kUnlimited;
};

/// The numbered stream of reliable messages between this end and one peer, during one session. Client and
/// server use it for both directions.
///
/// Sending: messages are numbered from 1. The peer confirms them by reporting how many it has received. Until
/// then the queue can retain their bytes, so that a session that resumes over another connection sends them
/// again. Receiving: the queue counts the peer's messages and decides when to report the count.
///
/// The transport delivers messages in order, so one count confirms all messages up to it. Counts wrap at
/// 2^32.
class RECKONER_NET_API ReliableQueue {
 public:
  struct Limits {
    /// Messages sent but not confirmed. It applies only to a sender that asks has_room_in_flight().
    MessageLimit in_flight;
    MessageLimit game;      ///< game messages not confirmed; for a sender that asks has_room_for_game()
    MessageLimit retained;  ///< messages whose bytes are retained; with more than that, all bytes are dropped
  };

  /// How many messages of a client may be in flight. Both ends know this window: after a silence of the link,
  /// the client sends its waiting messages in portions that the server's game has time to poll. The server
  /// never has to refuse a message of a client that keeps to the window.
  static constexpr MessageLimit kClientWindow{512, 128 * 1024};
  /// A server reports its count after this many messages, or bytes of payload. Both are well below the
  /// window.
  static constexpr MessageLimit kReportEvery{32, 32 * 1024};

  /// Who wrote a message: the library, or the game. Only the game's messages count against Limits::game.
  enum class Origin : std::uint8_t { library, game };

  explicit ReliableQueue(const Limits& limits) : limits_(limits) {}

  // Sending.

  /// Retains the bytes of all messages from now on. Call it before the first message.
  void retain() { retains_ = true; }

  /// Adds a message that the caller sends now, or with the next resume. Returns its number.
  std::uint32_t add_sent(std::span<const std::byte> message, Origin origin = Origin::library);
  /// Adds a game message that waits for next(). The queue must retain() messages.
  void add_waiting(std::span<const std::byte> message);

  /// True if one more game message of this size is within Limits::game.
  [[nodiscard]] bool has_room_for_game(std::size_t bytes) const;
  /// True if one more message of this size may be sent within Limits::in_flight.
  [[nodiscard]] bool has_room_in_flight(std::size_t bytes = 0) const;

  /// The oldest retained message that was not sent over this connection, or nullopt. Valid until the queue
  /// changes.
  [[nodiscard]] std::optional<std::span<const std::byte>> next() const;
  /// The message next() was sent.
  void mark_sent();
  /// The session resumes over another connection: next() returns every retained message again.
  void resend_all() { retained_sent_ = retained_sent_bytes_ = 0; }

  /// The peer has received `count` messages in this session. Returns false, and changes nothing, if that is
  /// impossible: fewer than it confirmed before, or more than were added.
  [[nodiscard]] bool confirm(std::uint32_t count);

  [[nodiscard]] bool is_confirmed(std::uint32_t number) const { return !is_before(confirmed_, number); }
  [[nodiscard]] std::uint32_t confirmed_count() const { return confirmed_; }
  /// Number of all messages added in this session. It is also the number of the newest message.
  [[nodiscard]] std::uint32_t added_count() const { return added_; }
  [[nodiscard]] std::uint32_t unconfirmed_count() const { return added_ - confirmed_; }

  /// True if a session can resume with a peer that has received `count` messages: all later ones are
  /// retained.
  [[nodiscard]] bool can_resume_from(std::uint32_t count) const {
    return can_resume() && !is_before(count, confirmed_) && !is_before(added_, count);
  }
  /// True if all unconfirmed messages are retained. After an overflow of Limits::retained this is false until
  /// the peer has confirmed every message.
  [[nodiscard]] bool can_resume() const { return retains_ && !overflowed_; }

  [[nodiscard]] std::size_t retained_messages() const { return sizes_.size(); }
  [[nodiscard]] std::size_t retained_bytes() const { return bytes_.size() - begin_; }

  // Receiving.

  /// A message of the peer was received; `payload_bytes` counts towards the next report.
  void note_received(std::size_t payload_bytes = 0) {
    ++received_;
    unreported_bytes_ += payload_bytes;
  }
  /// True if the peer should get a report, as soon as there is room for the messages that it then sends.
  [[nodiscard]] bool is_report_due() const {
    return received_ - reported_ >= kReportEvery.messages || unreported_bytes_ >= kReportEvery.bytes;
  }
  /// Returns the count to report, and remembers that it was reported.
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

  // Retained messages stand one behind the other in one buffer, whose memory is reused.
  bool retains_ = false;
  bool overflowed_ = false;
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;                // index in bytes_ of the first retained message
  std::deque<std::uint32_t> sizes_;      // of the retained messages, oldest first
  std::size_t retained_sent_ = 0;        // how many of these, from the oldest, were sent over this connection
  std::size_t retained_sent_bytes_ = 0;  // and their bytes

  std::uint32_t received_ = 0;
  std::uint32_t reported_ = 0;
  std::size_t unreported_bytes_ = 0;
};

}  // namespace reckoner
