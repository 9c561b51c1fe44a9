// SPDX-License-Identifier: MIT
#include "net/src/link/reliable_queue.hpp"

#include <cassert>

namespace reckoner {
namespace {

// If an empty buffer is larger than this, the queue releases its memory.
constexpr std::size_t kReusedBytes = 16 * 1024;

}  // namespace

void ReliableQueue::add(std::span<const std::byte> message, Origin origin) {
  ++added_;
  if (origin == Origin::game) {
    game_.push_back({added_, static_cast<std::uint32_t>(message.size())});
    game_bytes_ += message.size();
  }
  if (!retains_ || overflowed_) return;
  if (sizes_.size() >= limits_.retained.messages ||
      retained_bytes() + message.size() > limits_.retained.bytes) {
    // A resume needs all unconfirmed messages. Without the new message, the retained ones are useless.
    overflowed_ = true;
    bytes_ = {};
    sizes_.clear();
    begin_ = retained_sent_ = retained_sent_bytes_ = 0;
    return;
  }
  bytes_.insert(bytes_.end(), message.begin(), message.end());
  sizes_.push_back(static_cast<std::uint32_t>(message.size()));
}

std::uint32_t ReliableQueue::add_sent(std::span<const std::byte> message, Origin origin) {
  const bool none_waits = retained_sent_ == sizes_.size();
  const std::size_t retained = sizes_.size();
  add(message, origin);
  if (none_waits && sizes_.size() > retained) mark_sent();
  return added_;
}

void ReliableQueue::add_waiting(std::span<const std::byte> message) {
  assert(retains_);
  add(message, Origin::game);
}

bool ReliableQueue::has_room_for_game(std::size_t bytes, const MessageLimit& waiting) const {
  return game_.size() + waiting.messages < limits_.game.messages &&
         game_bytes_ + waiting.bytes + bytes <= limits_.game.bytes;
}

bool ReliableQueue::has_room_in_flight(std::size_t bytes) const {
  const std::size_t in_flight = unconfirmed_count() - (sizes_.size() - retained_sent_);
  return in_flight < limits_.in_flight.messages && retained_sent_bytes_ + bytes <= limits_.in_flight.bytes;
}

std::optional<std::span<const std::byte>> ReliableQueue::next() const {
  if (retained_sent_ == sizes_.size()) return std::nullopt;
  return std::span(bytes_).subspan(begin_ + retained_sent_bytes_, sizes_[retained_sent_]);
}

void ReliableQueue::mark_sent() {
  retained_sent_bytes_ += sizes_[retained_sent_++];
}

bool ReliableQueue::confirm(std::uint32_t count) {
  if (added_ - count > unconfirmed_count()) return false;
  const std::uint32_t newly_confirmed = count - confirmed_;
  confirmed_ = count;
  while (!game_.empty() && is_confirmed(game_.front().number)) {
    game_bytes_ -= game_.front().bytes;
    game_.pop_front();
  }
  if (overflowed_) {
    overflowed_ = count != added_;
  } else if (retains_) {
    drop_retained(newly_confirmed);
  }
  return true;
}

void ReliableQueue::drop_retained(std::uint32_t count) {
  for (; count > 0; --count) {
    begin_ += sizes_.front();
    if (retained_sent_ > 0) {
      retained_sent_bytes_ -= sizes_.front();
      --retained_sent_;
    }
    sizes_.pop_front();
  }
  // Moves the bytes only when at least half of the buffer is unused. So for each dropped byte, the queue
  // moves about one byte at most.
  if (begin_ < bytes_.size() / 2) return;
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
  if (bytes_.empty() && bytes_.capacity() > kReusedBytes) bytes_.shrink_to_fit();
}

}  // namespace reckoner
