// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/ring_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

/// Two limits for a set of messages: the number of messages, and their total encoded size in bytes.
struct MessageLimit {
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

  std::size_t messages = kUnlimited;
  std::size_t bytes = kUnlimited;
};

/// Counts the reliable messages between this end and one peer during one session, in both directions. Client
/// and server both use this class. It limits the messages that the peer has not processed yet.
///
/// Sending: the messages are numbered from 1, in the order of the stream (ReliableSender). The peer reports
/// how many it has processed; this count confirms them. A message can have arrived long before it is
/// processed, because the peer may postpone it.
///
/// Receiving: counts the messages of the peer that this end has processed, and decides when to report it.
///
/// Counts wrap at 2^32.
class RECKONER_NET_API MessageCounts {
 public:
  /// The window: how many messages of a client the server has not processed at most. Both ends use this
  /// number. When a connection works again after an interruption, the client has many waiting messages.
  /// Because of the window, it sends them in portions, and the game on the server has time to poll each
  /// portion. The server never has to refuse a message from a client that respects the window.
  static constexpr MessageLimit kClientWindow{512, 128 * 1024};
  /// A server reports its count after it has processed this many messages or payload bytes. Both numbers are
  /// much smaller than the window.
  static constexpr MessageLimit kReportEvery{32, 32 * 1024};

  /// Who wrote a message: the library or the game.
  enum class Origin : std::uint8_t { library, game };

  struct Limits {
    MessageLimit window;  ///< on messages that may be sent and are not confirmed
    MessageLimit game;    ///< on game messages that are not confirmed; they may wait to be sent
  };
  explicit MessageCounts(const Limits& limits) : limits_(limits) {}

  // Functions for sending.

  /// Adds a message of `bytes` bytes. The caller must have checked has_room_for_game() for one of the game.
  void add(std::size_t bytes, Origin origin);
  /// True if one more game message of `bytes` bytes is within Limits::game.
  [[nodiscard]] bool has_room_for_game(std::size_t bytes) const {
    return game_.messages < limits_.game.messages && game_.bytes + bytes <= limits_.game.bytes;
  }
  /// Number of unconfirmed game messages, and their total size.
  [[nodiscard]] const MessageLimit& game() const { return game_; }
  /// Number of the newest message that may be sent within Limits::window.
  [[nodiscard]] std::uint32_t sendable_count() const {
    return confirmed_ + static_cast<std::uint32_t>(sendable_.messages);
  }

  /// True if the peer can have processed `count` messages.
  [[nodiscard]] bool can_confirm(std::uint32_t count) const { return added_ - count <= unconfirmed_count(); }
  /// The peer reports that it has processed `count` messages. Returns false and changes nothing if the count
  /// is impossible: smaller than an earlier count, or greater than the number of added messages.
  [[nodiscard]] bool confirm(std::uint32_t count);

  [[nodiscard]] bool is_confirmed(std::uint32_t number) const {
    return static_cast<std::int32_t>(confirmed_ - number) >= 0;
  }
  [[nodiscard]] std::uint32_t confirmed_count() const { return confirmed_; }
  /// Number of messages that were added in this session. This is also the number of the newest message.
  [[nodiscard]] std::uint32_t added_count() const { return added_; }
  [[nodiscard]] std::uint32_t unconfirmed_count() const { return added_ - confirmed_; }

  // Functions for receiving.

  /// This end has processed a message of the peer. is_report_due() uses the sum of `payload_bytes`.
  void note_processed(std::size_t payload_bytes = 0) {
    ++processed_;
    unreported_bytes_ += payload_bytes;
  }
  /// True if a report to the peer is due. The peer sends further messages after the report, so the caller
  /// should send the report only when it has room for them.
  [[nodiscard]] bool is_report_due() const {
    return processed_ - reported_ >= kReportEvery.messages || unreported_bytes_ >= kReportEvery.bytes;
  }
  /// The number of processed messages, which the caller must send to the peer now.
  [[nodiscard]] std::uint32_t report() {
    reported_ = processed_;
    unreported_bytes_ = 0;
    return processed_;
  }
  [[nodiscard]] std::uint32_t processed_count() const { return processed_; }
  /// What report() returned last.
  [[nodiscard]] std::uint32_t reported_count() const { return reported_; }

 private:
  struct Message {
    std::uint32_t bytes = 0;
    Origin origin = Origin::library;
  };
  void extend_sendable();

  Limits limits_;
  std::uint32_t added_ = 0;
  std::uint32_t confirmed_ = 0;
  RingQueue<Message> unconfirmed_;
  MessageLimit game_{0, 0};      // unconfirmed messages of the game
  MessageLimit sendable_{0, 0};  // the oldest unconfirmed messages, those within the window

  std::uint32_t processed_ = 0;
  std::uint32_t reported_ = 0;
  std::size_t unreported_bytes_ = 0;
};

}  // namespace reckoner
