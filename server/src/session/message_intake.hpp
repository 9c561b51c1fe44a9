// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/message_counts.hpp"
#include "net/src/link/ring_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <reckoner/net/transport.hpp>

namespace reckoner {

/// Limits how many game messages of one client reach the game: messages per second and bytes per second, with
/// bursts of half a second.
///
/// Reliable messages beyond the rates are postponed. The server confirms a message only when it passes it on.
/// So a client that respects the window (MessageCounts::kClientWindow) never has more than a window postponed
/// here, and keeps its further messages itself. It loses nothing. Only clients with other code have reliable
/// messages refused, and clients that send very many when they leave. Unreliable messages have an allowance
/// of their own, and are refused beyond it.
class MessageIntake {
 public:
  /// The rates are messages per second and payload bytes per second; 0: no limit.
  MessageIntake(double messages_per_second, double bytes_per_second)
      : reliable_{Rate(messages_per_second), Rate(bytes_per_second)}, unreliable_{reliable_} {}

  struct Message {
    std::vector<std::byte> payload;  ///< empty: only turns of messages that were passed on before
    std::optional<double> time_s;
    std::uint32_t turns = 1;  ///< messages to count as processed; 0: this one has not had its turn yet
    std::size_t counted = 0;  ///< their size, bytes
  };

  /// Adds what the client may send in the ticks up to `tick`. `tick_s` is the time of a tick.
  void refill(std::uint32_t tick, double tick_s) {
    const auto ticks = static_cast<std::int32_t>(tick - refilled_.value_or(tick));
    if (ticks < 0) return;
    refilled_ = tick;
    for (Allowance* allowance : {&reliable_, &unreliable_}) {
      allowance->messages.refill(ticks * tick_s);
      allowance->bytes.refill(ticks * tick_s);
    }
  }

  /// Postpones a reliable message until next() returns it. Returns false and drops the message if too many
  /// would be postponed.
  ///
  /// `early`: an unordered message before its turn. The caller must call postpone_turn() when its turn comes.
  [[nodiscard]] bool postpone(std::span<const std::byte> payload, std::optional<double> time_s,
                              bool early = false) {
    if (postponed_messages_ >= kMostPostponed.messages ||
        postponed_bytes_ + payload.size() > kMostPostponed.bytes)
      return false;
    ++postponed_messages_;
    postponed_bytes_ += payload.size();
    postponed_.push_back(
        {{payload.begin(), payload.end()}, time_s, early ? 0u : 1u, early ? 0 : payload.size()});
    return true;
  }
  /// The turn of an early message of `bytes` bytes, behind everything that is postponed, and so behind the
  /// message itself. Turns in a row are one entry, so they cost no memory, however many a client sends.
  void postpone_turn(std::size_t bytes) {
    if (postponed_.empty() || !postponed_.back().payload.empty())
      return postponed_.push_back({{}, std::nullopt, 1, bytes});
    ++postponed_.back().turns;
    postponed_.back().counted += bytes;
  }

  /// Removes and returns the oldest postponed message if the rates allow it now.
  [[nodiscard]] std::optional<Message> next() {
    if (postponed_.empty()) return std::nullopt;
    const std::size_t bytes = postponed_.front().payload.size();
    if (bytes > 0 && !reliable_.charge(bytes)) return std::nullopt;
    return remove_front();
  }
  /// Removes and returns the oldest postponed message, whatever the rates are. For a client that has left.
  [[nodiscard]] std::optional<Message> next_at_the_end() {
    return postponed_.empty() ? std::nullopt : std::optional{remove_front()};
  }
  [[nodiscard]] bool has_postponed() const { return !postponed_.empty(); }

  /// Returns true if the game may get an unreliable message of `bytes` bytes now.
  [[nodiscard]] bool allows_unreliable(std::size_t bytes) { return unreliable_.charge(bytes); }

  /// Drops the postponed messages.
  void drop_postponed() {
    postponed_.clear();
    postponed_messages_ = postponed_bytes_ = 0;
  }

  /// The most that is postponed: two windows.
  static constexpr MessageLimit kMostPostponed{1024, 256 * 1024};

 private:
  [[nodiscard]] Message remove_front() {
    Message message = std::move(postponed_.front());
    postponed_.pop_front();
    postponed_messages_ -= message.payload.empty() ? 0 : 1;
    postponed_bytes_ -= message.payload.size();
    return message;
  }

  struct Rate {
    explicit Rate(double rate) : per_second(rate), left(kBurstS * rate) {}

    // A single message may exceed a burst.
    [[nodiscard]] bool is_used_up() const { return per_second > 0.0 && left <= 0.0; }
    void refill(double seconds) { left = std::min(kBurstS * per_second, left + seconds * per_second); }

    double per_second;
    double left;
  };
  struct Allowance {
    Rate messages;
    Rate bytes;

    [[nodiscard]] bool charge(std::size_t size) {
      if (messages.is_used_up() || bytes.is_used_up()) return false;
      messages.left -= 1.0;
      bytes.left -= static_cast<double>(size);
      return true;
    }
  };
  static constexpr double kBurstS = 0.5;

  Allowance reliable_;
  Allowance unreliable_;
  std::optional<std::uint32_t> refilled_;  // tick of the last refill
  RingQueue<Message> postponed_;
  std::size_t postponed_messages_ = 0;  // without turns
  std::size_t postponed_bytes_ = 0;
};

}  // namespace reckoner
