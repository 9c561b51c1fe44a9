// SPDX-License-Identifier: MIT
#include "net/src/link/ack_window.hpp"

#include <algorithm>

namespace reckoner {
namespace {

// A client that receives nothing sends acknowledgements all the same, more often than this.
constexpr double kAckPauseS = 1.0;

}  // namespace

bool ReceivedWindow::note(Sequence sequence) {
  if (!any_) {
    any_ = true;
    newest_ = sequence;
    set(sequence);
    return true;
  }
  const int ahead = sequence_distance(sequence, newest_);
  if (ahead > 0) {
    advance(ahead);
  } else if (-ahead > Ack::kMaxDatagrams || bit(sequence)) {
    return false;
  }
  before_ = std::max(before_, -ahead);
  set(sequence);
  return true;
}

bool ReceivedWindow::has(Sequence sequence) const {
  const int behind = sequence_distance(newest_, sequence);
  return any_ && behind >= 0 && behind <= Ack::kMaxDatagrams && bit(sequence);
}

// Makes the datagram `ahead` numbers later the newest.
void ReceivedWindow::advance(int ahead) {
  for (std::size_t i = 0; i < intervals_; ++i) {
    if (sequence_distance(newest_, wanted_[i]) + ahead > Ack::kMaxDatagrams)
      wanted_[i] = static_cast<Sequence>(newest_ + ahead - Ack::kMaxDatagrams);
  }
  if (ahead >= int{kBits}) {
    bits_.fill(0);
  } else {
    // Clears the places of the new numbers. Numbers half a ring ago had them.
    for (int i = 1; i <= ahead; ++i) {
      const std::size_t at = place(static_cast<Sequence>(newest_ + i));
      bits_[at / 32] &= ~(1u << (at % 32));
    }
  }
  newest_ = static_cast<Sequence>(newest_ + ahead);
  before_ = std::min(before_ + ahead, Ack::kMaxDatagrams);
  // The numbers that are missing from now on. The news reach back to the oldest of them.
  for (int behind = std::min(before_, kReorderedDatagrams + ahead - 1); behind >= kReorderedDatagrams;
       --behind) {
    const auto sequence = static_cast<Sequence>(newest_ - behind);
    if (!bit(sequence)) return want(sequence);
  }
}

void ReceivedWindow::want(Sequence sequence) {
  if (!news_ || intervals_ == 0) {
    std::shift_right(wanted_.begin(), wanted_.end(), 1);
    intervals_ = std::min(intervals_ + 1, kRepeats);
    wanted_[0] = sequence;
    news_ = true;
  } else if (sequence_distance(sequence, wanted_[0]) < 0) {
    wanted_[0] = sequence;
  }
}

Ack ReceivedWindow::acknowledge() {
  news_ = false;
  int reach = 1;
  for (std::size_t i = 0; i < intervals_; ++i)
    reach = std::max(reach, sequence_distance(newest_, wanted_[i]));
  Ack ack{.newest = newest_};
  ack.words = std::min(static_cast<std::size_t>(reach + Ack::kWordBits - 1) / Ack::kWordBits, Ack::kMaxWords);
  for (std::size_t w = 0; w < ack.words; ++w)
    ack.window[w] = word_behind(static_cast<int>(w) * Ack::kWordBits + 1);
  return ack;
}

// The bits of 32 datagrams. Bit 0 belongs to the one `behind` numbers before the newest.
std::uint32_t ReceivedWindow::word_behind(int behind) const {
  const std::size_t at = place(static_cast<Sequence>(newest_ - behind));
  const std::uint64_t both = bits_[at / 32] | (std::uint64_t{bits_[(at / 32 + 1) % bits_.size()]} << 32);
  return static_cast<std::uint32_t>(both >> (at % 32));
}

Sequence SentWindow::send(double now_s) {
  if (full()) settle(oldest_, false);
  sent_.cover(oldest_needed(now_s), next_);
  Sent& sent = sent_[next_];
  if (sent.state == State::given_up) --given_up_;
  sent = {.sent_s = now_s, .sequence = next_, .state = State::open};
  sent_count_ = std::min(sent_count_ + 1, kHalf + static_cast<std::uint32_t>(kCapacity));
  return next_++;
}

// The oldest datagram that the ring must contain together with the next one.
Sequence SentWindow::oldest_needed(double now_s) const {
  // If acknowledgements arrive, but none of them names a newer datagram, the round trip may have become
  // longer than the time-out. Late acknowledgements will show it.
  if (!(now_s - acked_s_ < kAckPauseS)) return oldest_;
  const auto unacked = static_cast<Sequence>(next_ - newest_acked_ - 1u);
  const auto kept = static_cast<Sequence>(std::min<std::size_t>(unacked, kCapacity - 1));
  const auto first = static_cast<Sequence>(next_ - kept);
  return sequence_distance(oldest_, first) > 0 ? first : oldest_;
}

bool SentWindow::acknowledge(const Ack& ack, double now_s, double overtaking_s) {
  if (!was_sent(ack)) return false;
  acked_s_ = now_s;
  if (sequence_distance(ack.newest, newest_acked_) > 0) newest_acked_ = ack.newest;
  note_late(ack);
  const double newest_s = sent_[ack.newest].sent_s;
  // settle() changes oldest_, so iterate over a copy.
  for (Sequence s = oldest_; sequence_distance(ack.newest, s) >= 0; ++s) {
    Sent& sent = sent_[s];
    if (!sent.is_open()) continue;
    const int behind = sequence_distance(ack.newest, s);
    if (ack.names(behind)) {
      settle(s, true);
      continue;
    }
    if (behind < kReorderedDatagrams) continue;
    if (sent.state == State::open && behind <= ack.covered()) sent.state = State::missing;
    // An acknowledgement that covers less says nothing new. If the datagram had arrived since, an
    // acknowledgement would name it.
    if (sent.state != State::missing || !(sent.sent_s < newest_s - overtaking_s)) continue;
    sent.state = State::doubted;
    sent.doubted_after_s = static_cast<float>(now_s - sent.sent_s);
    ++doubted_;
  }
  return true;
}

// Returns false if the acknowledgement names a datagram that was never sent.
bool SentWindow::was_sent(const Ack& ack) const {
  const auto age = static_cast<Sequence>(next_ - 1 - ack.newest);
  if (age >= std::min(sent_count_, kHalf)) return false;
  std::size_t words = ack.words;
  while (words > 0 && ack.window[words - 1] == 0)
    --words;
  if (words == 0) return true;
  const auto width = static_cast<std::size_t>(std::bit_width(ack.window[words - 1]));
  return age + Ack::kWordBits * (words - 1) + width < sent_count_;
}

void SentWindow::note_late(const Ack& ack) {
  if (given_up_ == 0) return;
  ack.for_each([this](Sequence sequence) {
    Sent& sent = sent_[sequence];
    if (sent.state != State::given_up || sent.sequence != sequence) return;
    sent.state = State::acked;
    --given_up_;
    late_.push_back({sequence, true, sent.sent_s});
  });
}

void SentWindow::expire(double now_s, double timeout_s, double overtaking_s) {
  // They were sent in order, so the first recent one ends the search for those that timed out.
  for (Sequence s = oldest_; s != next_; ++s) {
    const Sent& sent = sent_[s];
    const bool timed_out = sent.sent_s < now_s - timeout_s;
    if (!timed_out && doubted_ == 0) return;
    const bool is_missing =
        sent.state == State::doubted && sent.sent_s + double{sent.doubted_after_s} < now_s - overtaking_s;
    if (timed_out || is_missing) settle(s, false);
  }
}

std::size_t SentWindow::in_flight() const {
  std::size_t open = 0;
  for (Sequence s = oldest_; s != next_; ++s)
    open += sent_[s].is_open() ? 1 : 0;
  return open;
}

void SentWindow::settle(Sequence sequence, bool acked) {
  Sent& sent = sent_[sequence];
  if (sent.is_open()) {
    doubted_ -= sent.state == State::doubted ? 1 : 0;
    sent.state = acked ? State::acked : State::given_up;
    given_up_ += acked ? 0 : 1;
    outcomes_.push_back({sequence, acked, sent.sent_s});
  }
  while (oldest_ != next_ && !sent_[oldest_].is_open())
    ++oldest_;
}

}  // namespace reckoner
