// SPDX-License-Identifier: MIT
#include "net/src/link/reliable_receiver.hpp"

#include "net/src/link/message_length.hpp"
#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <array>
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
  for (const ReliablePart& part : parts)
    keep(part);
  for (auto first = later_.begin(); first != later_.end() && first->first == end_;
       first = later_.erase(first))
    append(first->second);
  behind_gap_.remove_before(end_);
  for (const ReliablePart& part : parts)
    find_unordered(part);
}

// Keeps the bytes that are new: a part may repeat others.
void ReliableReceiver::keep(const ReliablePart& part) {
  std::uint64_t at = std::max(part.offset, end_);
  const std::uint64_t end = part.offset + part.bytes.size();
  if (at >= end) return;
  if (at == end_ && later_.empty())  // nothing is missing, as almost always
    return append(std::span(part.bytes).subspan(static_cast<std::size_t>(at - part.offset)));
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
    if (!fresh.empty()) {
      later_.emplace_hint(next, at, std::vector(fresh.begin(), fresh.end()));
      behind_gap_.add({at, until});
    }
    if (next == later_.end()) break;
    at = next->first + next->second.size();
    ++next;
  }
}

void ReliableReceiver::append(std::span<const std::byte> bytes) {
  if (early_message_.capacity() > kKeptReadyBytes) early_message_ = {};
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

// Finds the unordered messages that begin in the part or lacked bytes of it. All bytes of the part are kept.
void ReliableReceiver::find_unordered(const ReliablePart& part) {
  const std::uint64_t part_end = part.offset + part.bytes.size();
  const auto from = incomplete_.lower_bound({part.offset, 0});
  const auto to = incomplete_.lower_bound({part_end, 0});
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> lacked(from, to);
  incomplete_.erase(from, to);
  for (const auto& one : lacked)
    (void)examine(one.second, one.first);
  if (!part.unordered) return;
  // The messages behind the first one, too, as far as they begin in this part. So their number is in
  // proportion to the bytes, whatever the other end says.
  for (std::optional<std::uint64_t> at = part.offset + *part.unordered; at && *at < part_end;)
    at = examine(*at, *at);
}

// Notes the message that begins at `begin`, behind a gap, if it is unordered. Its bytes before `arrived` have
// arrived. Returns where the next message begins, if that is known.
std::optional<std::uint64_t> ReliableReceiver::examine(std::uint64_t begin, std::uint64_t arrived) {
  if (begin < end_) return std::nullopt;  // its turn comes without a gap
  const auto note_incomplete = [&](std::uint64_t lacking) {
    if (incomplete_.size() < kMostIncomplete) incomplete_.insert({lacking, begin});
  };
  std::array<std::byte, MessageLength::kMaxHead + 1> buffer;  // the length, and the first byte of the message
  arrived = std::max(arrived, first_lacking(begin, begin + buffer.size()));
  const auto head = std::span(buffer).first(
      static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), arrived - begin)));
  read_later(begin, head);
  const auto length = read_message_length(head);
  if (length && (!length->valid || length->bytes > limits_.message)) return std::nullopt;
  if (!length || head.size() == length->head) {
    note_incomplete(arrived);
    return std::nullopt;
  }
  const std::uint64_t end = begin + length->head + length->bytes;
  if (!is_unordered(head.subspan(length->head))) return end;
  const std::uint64_t lacking = first_lacking(std::min(arrived, end), end);
  if (lacking < end) {
    note_incomplete(lacking);
  } else if (!early_.contains(begin) && early_.size() + complete_.size() < limits_.early) {
    complete_.insert(begin);
  }
  return end;
}

// The first offset from `from` on whose byte has not arrived, at most `to`. Both lie behind the first gap.
std::uint64_t ReliableReceiver::first_lacking(std::uint64_t from, std::uint64_t to) const {
  return std::min(behind_gap_.first_missing(from), to);
}

// Copies bytes that have arrived behind the first gap.
void ReliableReceiver::read_later(std::uint64_t from, std::span<std::byte> to) const {
  for (auto piece = std::prev(later_.upper_bound(from)); !to.empty(); ++piece) {
    const auto bytes = std::span(piece->second).subspan(static_cast<std::size_t>(from - piece->first));
    const std::size_t count = std::min(bytes.size(), to.size());
    std::ranges::copy(bytes.first(count), to.begin());
    to = to.subspan(count);
    from += count;
  }
}

std::optional<std::span<const std::byte>> ReliableReceiver::next() {
  const auto left = std::span<const std::byte>(ready_).subspan(taken_);
  const auto length = read_message_length(left);
  if (broken_ || !length) return std::nullopt;
  if (!length->valid || length->bytes > limits_.message) {
    broken_ = true;
    return std::nullopt;
  }
  const std::size_t size = length->head + length->bytes;
  if (left.size() < size) return std::nullopt;
  const std::uint64_t begin = end_ - left.size();
  was_early_ = early_.erase(begin) > 0;
  // A message was returned that the stream does not have.
  if (!early_.empty() && *early_.begin() < begin + size) {
    broken_ = true;
    return std::nullopt;
  }
  taken_ += size;
  ++taken_messages_;
  return left.subspan(length->head, length->bytes);
}

std::optional<std::span<const std::byte>> ReliableReceiver::next_early() {
  while (!complete_.empty() && !broken_) {
    const std::uint64_t begin = *complete_.begin();
    complete_.erase(complete_.begin());
    if (begin < end_) continue;  // its turn came meanwhile
    std::array<std::byte, MessageLength::kMaxHead> buffer;
    const auto head = std::span(buffer).first(
        static_cast<std::size_t>(first_lacking(begin, begin + buffer.size()) - begin));
    read_later(begin, head);
    const auto length = read_message_length(head);
    if (!length) continue;
    early_message_.resize(length->bytes);
    read_later(begin + length->head, early_message_);
    early_.insert(begin);
    return early_message_;
  }
  return std::nullopt;
}

}  // namespace reckoner
