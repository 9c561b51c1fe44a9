// SPDX-License-Identifier: MIT
#include "net/src/link/reliable_receiver.hpp"

#include "net/src/link/message_length.hpp"

#include <algorithm>
#include <iterator>

namespace reckoner {
namespace {

// A stream whose messages were all taken keeps this memory.
constexpr std::size_t kKeptReadyBytes = 2048;

}  // namespace

bool ReliableReceiver::accepts(std::span<const ReliablePart> parts) const {
  const std::uint64_t taken = end_ - (ready_.size() - taken_);
  // A part that fills the gap is not kept behind it. It must always be accepted, or the stream would stop.
  constexpr std::size_t kMostBesideIt = 64;
  const auto is_next = [&](const ReliablePart& part) {
    return part.offset <= end_ && part.offset + part.bytes.size() > end_;
  };
  const bool fills = std::ranges::any_of(parts, is_next);
  return later_.size() + parts.size() <= limits_.parts + (fills ? 1 + kMostBesideIt : 0) &&
         std::ranges::all_of(parts, [&](const ReliablePart& part) {
           return part.offset + part.bytes.size() <= taken + limits_.bytes;
         });
}

void ReliableReceiver::add(std::span<const ReliablePart> parts) {
  for (const ReliablePart& part : parts) {
    // Only the bytes that are new: a part may repeat others.
    std::uint64_t at = std::max(part.offset, end_);
    const std::uint64_t end = part.offset + part.bytes.size();
    if (at >= end) continue;
    if (at == end_ && later_.empty()) {  // nothing is missing, as almost always
      append(std::span(part.bytes).subspan(static_cast<std::size_t>(at - part.offset)));
      continue;
    }
    auto next = later_.upper_bound(at);
    if (next != later_.begin()) {
      const auto& [begin, bytes] = *std::prev(next);
      at = std::max(at, begin + bytes.size());
    }
    while (at < end) {
      const std::uint64_t until = next == later_.end() ? end : std::min(end, next->first);
      const auto fresh =
          std::span(part.bytes)
              .subspan(static_cast<std::size_t>(at - part.offset), static_cast<std::size_t>(until - at));
      if (!fresh.empty()) later_.emplace_hint(next, at, std::vector(fresh.begin(), fresh.end()));
      if (next == later_.end()) break;
      at = next->first + next->second.size();
      ++next;
    }
  }
  for (auto first = later_.begin(); first != later_.end() && first->first == end_;
       first = later_.erase(first))
    append(first->second);
}

void ReliableReceiver::append(std::span<const std::byte> bytes) {
  if (taken_ == ready_.size() && ready_.capacity() > kKeptReadyBytes) {
    ready_ = {};
    taken_ = 0;
  } else if (taken_ > ready_.size() / 2) {
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
  }
  ready_.insert(ready_.end(), bytes.begin(), bytes.end());
  end_ += bytes.size();
}

std::optional<std::span<const std::byte>> ReliableReceiver::next() {
  const auto left = std::span<const std::byte>(ready_).subspan(taken_);
  const auto length = read_message_length(left);
  if (broken_ || !length) return std::nullopt;
  if (!length->valid || length->bytes > limits_.message) {
    broken_ = true;
    return std::nullopt;
  }
  if (left.size() < length->head + length->bytes) return std::nullopt;
  taken_ += length->head + length->bytes;
  ++taken_messages_;
  return left.subspan(length->head, length->bytes);
}

}  // namespace reckoner
