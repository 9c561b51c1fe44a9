// SPDX-License-Identifier: MIT
#include "net/src/link/reliable_sender.hpp"

#include "net/src/link/message_length.hpp"
#include "net/src/link/peer_link.hpp"
#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace reckoner {
namespace {

// A second copy follows while at most this number of bytes waits or is in flight.
constexpr std::size_t kFewBytes = 2500;
// A datagram that another one of this much later has overtaken is probably lost. On a connection with random
// delays, it is this number of their mean deviations, if that is more.
constexpr double kOvertakenS = 0.05, kOvertakenDeviations = 1.0;
// A stream without bytes to send keeps this memory.
constexpr std::size_t kKeptBytes = 2048;
// While nothing arrives, this number of bytes is sent again, at intervals that grow up to the longest.
constexpr std::uint64_t kProbeBytes = 256;
constexpr double kFirstIntervalS = 0.25, kLongestIntervalS = 1.0;

}  // namespace

std::uint32_t ReliableSender::add(std::span<const std::byte> message) {
  assert(!message.empty());
  Message added{++added_, stream_end(), 0, is_unordered(message)};
  append_message_length(bytes_, message.size());
  bytes_.insert(bytes_.end(), message.begin(), message.end());
  added.end = stream_end();
  unordered_ += added.is_unordered ? 1 : 0;
  messages_.push_back(added);
  return added_;
}

void ReliableSender::limit_to(std::uint32_t message) {
  const std::uint32_t lacking = message - received_;
  const bool lacks = lacking > 0 && lacking <= messages_.size();
  limit_ = std::max(next_, lacks ? messages_[lacking - 1].end : first_);
}

std::size_t ReliableSender::write(BitWriter& writer, std::size_t most_bits, Sequence sequence, double now_s,
                                  bool loses) {
  const std::size_t limit = writer.bits_written() + most_bits;
  const bool are_few = bytes_in_flight() + lost_.size() + unsent() <= kFewBytes;
  ByteRanges chosen;
  std::uint64_t left = ReliablePartsWriter::room(most_bits);
  if (is_cut_off()) left = std::min(left, kProbeBytes);
  const auto choose = [&](ByteRange range) {
    range.end =
        std::min(range.end, range.begin + std::min<std::uint64_t>(left, ReliablePartsWriter::kMaxPartBytes));
    const std::uint64_t heads = 1 + ReliablePartsWriter::kMaxHeadBits / 8;
    left -= std::min(left, range.size() + heads);
    chosen.add(range);
    return range;
  };
  while (!lost_.empty() && left > 0)
    lost_.remove(choose(lost_.first()));
  for (; !copies_.empty() && copies_.front().due_s <= now_s && left > 0; copies_.pop_front()) {
    ByteRanges lacking;
    add_lacking(lacking, copies_.front().range);
    for (const ByteRange& range : lacking.ranges()) {
      if (left > 0) choose(range);
    }
  }
  if (unsent() > 0 && left > 0) {
    const ByteRange fresh = choose({next_, sendable_end()});
    next_ = fresh.end;
    if (loses && are_few) copies_.push_back({fresh, now_s + PeerLink::kCopyGapS});
  }
  ReliablePartsWriter section;
  std::size_t written = 0;
  for (const ByteRange& all : chosen.ranges()) {
    for (ByteRange range = all; range.begin < all.end; range = {range.end, all.end}) {
      range.end = std::min(all.end, range.begin + ReliablePartsWriter::kMaxPartBytes);
      section.add(writer, range.begin, bytes_of(range), find_unordered(range));
      in_flight_.add(sequence, {range});
      written += static_cast<std::size_t>(range.size());
    }
  }
  section.finish(writer);
  assert(writer.bits_written() <= limit);
  (void)limit;
  if (written > 0) sent_.push_back({sequence, now_s});
  if (written > 0 && is_cut_off())
    not_before_s_ = now_s + std::min(kLongestIntervalS, kFirstIntervalS * (lost_in_a_row_ - 1));
  in_flight_bytes_ += written;
  return written;
}

// Where the first unordered message begins in these bytes, from their begin.
std::optional<std::uint32_t> ReliableSender::find_unordered(const ByteRange& range) const {
  if (unordered_ == 0) return std::nullopt;
  std::size_t from = 0;
  for (std::size_t to = messages_.size(); from < to;) {
    const std::size_t middle = from + (to - from) / 2;
    messages_[middle].begin < range.begin ? from = middle + 1 : to = middle;
  }
  for (; from < messages_.size() && messages_[from].begin < range.end; ++from) {
    if (messages_[from].is_unordered) return static_cast<std::uint32_t>(messages_[from].begin - range.begin);
  }
  return std::nullopt;
}

void ReliableSender::settle(Sequence sequence, double sent_s, bool acked) {
  if (acked) {
    arrived_sent_s_ = std::max(arrived_sent_s_, sent_s);
    lost_in_a_row_ = 0;
    not_before_s_ = -1e300;
  }
  bool had_parts = false;
  in_flight_.settle(sequence, [&](const InFlight& part) {
    had_parts = true;
    in_flight_bytes_ -= static_cast<std::size_t>(part.range.size());
    if (acked) {
      note_received(part.range);
    } else if (!part.waits_again) {
      add_lacking(lost_, part.range);
    }
  });
  if (!acked && had_parts && sent_s > arrived_sent_s_) ++lost_in_a_row_;
}

void ReliableSender::review(double deviation_s) {
  const double overtaken_s = std::max(kOvertakenS, kOvertakenDeviations * deviation_s);
  for (; !sent_.empty() && sent_.front().sent_s + overtaken_s < arrived_sent_s_; sent_.pop_front()) {
    in_flight_.for_each(sent_.front().sequence, [&](InFlight& part) {
      if (!std::exchange(part.waits_again, true)) add_lacking(lost_, part.range);
    });
  }
}

// Adds the bytes of the range that the other end lacks.
void ReliableSender::add_lacking(ByteRanges& to, const ByteRange& range) const {
  ByteRanges lacking;
  lacking.add({std::max(range.begin, first_), range.end});
  for (const ByteRange& has : arrived_.ranges())
    lacking.remove(has);
  for (const ByteRange& one : lacking.ranges())
    to.add(one);
}

void ReliableSender::note_received(const ByteRange& range) {
  lost_.remove(range);
  arrived_.add({std::max(range.begin, first_), range.end});
  if (!arrived_.empty() && arrived_.first().begin == first_) advance_to(arrived_.first().end);
}

// The other end has everything before the offset `first`.
void ReliableSender::advance_to(std::uint64_t first) {
  first_ = first;
  next_ = std::max(next_, first_);
  arrived_.remove_before(first_);
  lost_.remove_before(first_);
  while (!copies_.empty() && copies_.front().range.end <= first_)
    copies_.pop_front();
  for (; !messages_.empty() && messages_.front().end <= first_; messages_.pop_front()) {
    received_ = messages_.front().number;
    unordered_ -= messages_.front().is_unordered ? 1 : 0;
  }
  // Each byte is moved once on average.
  const auto before = static_cast<std::size_t>(first_ - base_);
  if (before == bytes_.size() && bytes_.capacity() > kKeptBytes) {
    bytes_ = {};
    base_ = first_;
    return;
  }
  if (before < bytes_.size() - before) return;
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(before));
  base_ = first_;
}

void ReliableSender::note_received_up_to(std::uint32_t messages) {
  const std::uint32_t newly = messages - received_;
  if (newly > 0 && newly <= messages_.size()) advance_to(messages_[newly - 1].end);
}

void ReliableSender::restart(std::uint32_t messages) {
  note_received_up_to(messages);
  in_flight_ = {};
  in_flight_bytes_ = 0;
  sent_.clear();
  copies_.clear();
  lost_.clear();
  add_lacking(lost_, {first_, next_});
  arrived_sent_s_ = not_before_s_ = -1e300;
  lost_in_a_row_ = 0;
}

}  // namespace reckoner
