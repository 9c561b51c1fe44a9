// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/settled_numbers.hpp"
#include "net/src/messages/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <variant>

namespace reckoner {

/// The server's reliable messages, in order. A message that the server sent after a spawn waits until the
/// client has the spawn (AfterSpawnsMessage). An unordered message waits for spawns, too, but not for a
/// message that waits.
class OrderedMessages {
 public:
  /// A message, or nullopt for one that was malformed: the server has numbered it, too.
  using Message = std::optional<ReliableMessage>;

  /// Adds the newest message, which was `bytes` long.
  void add(Message message, std::size_t bytes) {
    waiting_.push_back({std::move(message), bytes, std::nullopt});
    bytes_ += bytes;
  }

  /// Adds an unordered message of `bytes` bytes, before its turn. When its turn comes, call add_turn().
  void add_early(UnorderedMessage message, std::size_t bytes) {
    (void)add_unordered(std::move(message), bytes);
  }
  /// The turn of a message that add_early() has added: messages behind it wait for what it waits for.
  void add_turn(const UnorderedMessage& message) { waiting_.push_back({turn_of(message), 0, std::nullopt}); }
  /// Adds the newest message, which is an unordered one of `bytes` bytes.
  void add_in_turn(UnorderedMessage message, std::size_t bytes) {
    Message turn = turn_of(message);
    const Key key = add_unordered(std::move(message), bytes);
    waiting_.push_back({std::move(turn), 0, key});
  }

  /// Removes and returns the oldest message. If it waits for spawns, or there is none: an unordered message
  /// that waits for none, or nullopt. `spawns` are those that the client has. After an unordered message in
  /// its turn comes an AfterSpawnsMessage, which stands for the turn.
  [[nodiscard]] std::optional<Message> next(const SettledNumbers& spawns) {
    const bool all = is_too_long();
    if (!waiting_.empty() && (all || !waits(waiting_.front().message, spawns))) return next_at_the_end();
    if (unordered_.empty()) return std::nullopt;
    const auto first = unordered_.begin();
    const std::uint32_t after = first->first.first;
    return all || spawns.all_up_to(after) ? take_unordered(first) : std::nullopt;
  }
  /// Removes and returns the oldest message, whatever it waits for. For a session that has ended.
  [[nodiscard]] std::optional<Message> next_at_the_end() {
    if (waiting_.empty()) {
      return unordered_.empty() ? std::nullopt : take_unordered(unordered_.begin());
    }
    if (const auto key = std::exchange(waiting_.front().unordered, std::nullopt)) {
      const auto one = unordered_.find(*key);
      if (one != unordered_.end()) return take_unordered(one);
    }
    return std::optional<Message>{std::in_place, take()};
  }

 private:
  // The spawns that an unordered message waits for, 0 for none, and its number.
  using Key = std::pair<std::uint32_t, std::uint64_t>;
  struct Waiting {
    Message message;
    std::size_t bytes = 0;
    std::optional<Key> unordered;  // the message whose turn this is, if it was not returned before
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
  [[nodiscard]] static Message turn_of(const UnorderedMessage& message) {
    return AfterSpawnsMessage{message.after_spawns.value_or(0)};
  }
  [[nodiscard]] static bool waits(const Message& message, const SettledNumbers& spawns) {
    const auto* mark = message ? std::get_if<AfterSpawnsMessage>(&*message) : nullptr;
    return mark != nullptr && !spawns.all_up_to(mark->number);
  }
  Key add_unordered(UnorderedMessage message, std::size_t bytes) {
    const Key key{message.after_spawns.value_or(0), ++added_};
    unordered_.emplace(key, Unordered{std::move(message), bytes});
    bytes_ += bytes;
    return key;
  }
  [[nodiscard]] std::optional<Message> take_unordered(std::map<Key, Unordered>::iterator one) {
    Unordered taken = std::move(one->second);
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
  std::map<Key, Unordered> unordered_;  // those that wait for the oldest spawns first
  std::uint64_t added_ = 0;             // number of unordered messages
  std::size_t bytes_ = 0;
};

}  // namespace reckoner
