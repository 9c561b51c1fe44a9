// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace reckoner {

/// What one end has sent reliably and the other has not said that it has: kept, in order, so that it can be
/// sent again over another connection. The bytes stand one behind the other in memory that is used again.
///
/// Whoever may not send all at once takes them one by one: next() and let_go().
class ReliableLog {
 public:
  /// `sent`: as if so many had been sent and confirmed.
  explicit ReliableLog(std::uint32_t sent = 0) : sent_(sent) {}

  /// Takes a message that was sent, or is to be when there is a connection again.
  void add(std::span<const std::byte> message) {
    bytes_.insert(bytes_.end(), message.begin(), message.end());
    sizes_.push_back(static_cast<std::uint32_t>(message.size()));
    ++sent_;
  }

  /// The other end has taken in so many since the beginning. False, and no change, if it cannot have.
  bool confirm(std::uint32_t taken) {
    if (sent_ - taken > sizes_.size()) return false;
    while (sent_ - taken < sizes_.size()) {
      begin_ += sizes_.front();
      gone_bytes_ -= gone_ > 0 ? sizes_.front() : 0;
      gone_ -= gone_ > 0 ? 1 : 0;
      sizes_.pop_front();
    }
    if (begin_ < bytes_.size() / 2) return true;  // moves each byte once or twice, and no more
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    if (bytes_.empty() && bytes_.capacity() > kKeptBytes) bytes_.shrink_to_fit();
    return true;
  }

  /// Calls `send(message)` for all that are not confirmed, oldest first.
  template <class Send>
  void for_each(Send send) const {
    std::size_t at = begin_;
    for (const std::uint32_t size : sizes_) {
      send(std::span(bytes_).subspan(at, size));
      at += size;
    }
  }

  /// The oldest that has not gone since hold_all(). Valid until the next call that changes anything.
  [[nodiscard]] std::optional<std::span<const std::byte>> next() const {
    if (gone_ == sizes_.size()) return std::nullopt;
    return std::span(bytes_).subspan(begin_ + gone_bytes_, sizes_[gone_]);
  }
  /// The next() has gone.
  void let_go() { gone_bytes_ += sizes_[gone_++]; }
  /// None has gone: over another connection, each goes again.
  void hold_all() { gone_ = gone_bytes_ = 0; }
  /// How many of those it holds have gone.
  [[nodiscard]] std::size_t gone() const { return gone_; }
  /// How much they are together.
  [[nodiscard]] std::size_t gone_bytes() const { return gone_bytes_; }

  [[nodiscard]] std::uint32_t sent() const { return sent_; }  ///< since the beginning; wraps
  /// How many it holds.
  [[nodiscard]] std::size_t messages() const { return sizes_.size(); }
  /// How much they are together.
  [[nodiscard]] std::size_t bytes() const { return bytes_.size() - begin_; }

 private:
  static constexpr std::size_t kKeptBytes = 16 * 1024;

  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;            // in bytes_, of what is not confirmed
  std::deque<std::uint32_t> sizes_;  // of what is not confirmed
  std::size_t gone_ = 0;             // of these, the first
  std::size_t gone_bytes_ = 0;
  std::uint32_t sent_;
};

}  // namespace reckoner
