// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/settled_numbers.hpp"
#include "net/src/messages/messages.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <variant>

namespace reckoner {

/// The server's reliable messages, in order. A message that the server sent after a spawn waits until the
/// client has the spawn (AfterSpawnsMessage). Unordered messages wait only for spawns, and for no other
/// message.
class OrderedMessages {
 public:
  /// A message, or nullopt for one that was malformed: the server has numbered it, too.
  using Message = std::optional<ReliableMessage>;

  /// Adds the newest message, which was `bytes` long.
  void add(Message message, std::size_t bytes) {
    waiting_.push_back({std::move(message), bytes});
    bytes_ += bytes;
  }

  /// Adds an unordered message of `bytes` bytes, maybe before its turn. When its turn comes, add
  /// turn_of(message): then messages behind it wait for what it waits for.
  void add_unordered(UnorderedMessage message, std::size_t bytes) {
    unordered_.push_back({std::move(message), bytes});
    bytes_ += bytes;
  }
  [[nodiscard]] static Message turn_of(const UnorderedMessage& message) {
    return AfterSpawnsMessage{message.after_spawns.value_or(0)};
  }

  /// Removes and returns an unordered message that waits for no spawn, else the oldest message unless it
  /// waits for spawns. `spawns` are those that the client has.
  [[nodiscard]] std::optional<Message> next(const SettledNumbers& spawns) {
    for (auto one = unordered_.begin(); one != unordered_.end(); ++one) {
      if (!one->message.after_spawns || spawns.all_up_to(*one->message.after_spawns) || is_too_long())
        return take_unordered(one);
    }
    if (waiting_.empty()) return std::nullopt;
    const Message& oldest = waiting_.front().message;
    const auto* mark = oldest ? std::get_if<AfterSpawnsMessage>(&*oldest) : nullptr;
    if (mark != nullptr && !spawns.all_up_to(mark->number) && !is_too_long()) return std::nullopt;
    return std::optional<Message>{std::in_place, take()};
  }
  /// Removes and returns the oldest message, whatever it waits for. For a session that has ended.
  [[nodiscard]] std::optional<Message> next_at_the_end() {
    if (!unordered_.empty()) return take_unordered(unordered_.begin());
    if (waiting_.empty()) return std::nullopt;
    return std::optional<Message>{std::in_place, take()};
  }

 private:
  struct Waiting {
    Message message;
    std::size_t bytes = 0;
  };
  struct Unordered {
    UnorderedMessage message;
    std::size_t bytes = 0;
  };
  // A server has fewer messages in flight. Another one must not fill the client's memory.
  static constexpr std::size_t kMostMessages = 8192;
  static constexpr std::size_t kMostBytes = 2 * 1024 * 1024;

  [[nodiscard]] bool is_too_long() const {
    return waiting_.size() + unordered_.size() > kMostMessages || bytes_ > kMostBytes;
  }
  [[nodiscard]] std::optional<Message> take_unordered(std::deque<Unordered>::iterator one) {
    Unordered taken = std::move(*one);
    unordered_.erase(one);
    bytes_ -= taken.bytes;
    return std::optional<Message>{std::in_place, std::move(taken.message)};
  }
  [[nodiscard]] Message take() {
    Waiting oldest = std::move(waiting_.front());
    waiting_.pop_front();
    bytes_ -= oldest.bytes;
    return std::move(oldest.message);
  }

  std::deque<Waiting> waiting_;
  std::deque<Unordered> unordered_;
  std::size_t bytes_ = 0;
};

}  // namespace reckoner
