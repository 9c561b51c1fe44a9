// SPDX-License-Identifier: MIT
#include "net/src/link/ack_window.hpp"

#include <algorithm>
#include <bit>

namespace reckoner {
namespace {

// A client that receives nothing sends acknowledgements all the same, more often than this.
constexpr double kAckPauseS = 1.0;

}  // namespace

bool ReceivedWindow::note(Sequence sequence) {
  if (!any_) {
    any_ = true;
    newest_ = sequence;
    arrived_.set(sequence);
    return true;
  }
  const int ahead = sequence_distance(sequence, newest_);
  if (ahead > 0) {
    advance(ahead);
  } else if (-ahead > Ack::kMaxDatagrams || arrived_[sequence]) {
    return false;
  }
  before_ = std::max(before_, -ahead);
  arrived_.set(sequence);
  return true;
}

bool ReceivedWindow::has(Sequence sequence) const {
  const int behind = sequence_distance(newest_, sequence);
  return any_ && behind >= 0 && behind <= Ack::kMaxDatagrams && arrived_[sequence];
}

// Makes the datagram `ahead` numbers later the newest.
void ReceivedWindow::advance(int ahead) {
  for (std::size_t i = 0; i < intervals_; ++i) {
    if (sequence_distance(newest_, wanted_[i]) + ahead > Ack::kMaxDatagrams)
      wanted_[i] = static_cast<Sequence>(newest_ + ahead - Ack::kMaxDatagrams);
  }
  if (ahead >= int{SequenceBits::kSize}) {
    arrived_.reset_all();
  } else {
    // Clears the bits of the new numbers. Numbers long ago had them.
    for (int i = 1; i <= ahead; ++i)
      arrived_.reset(static_cast<Sequence>(newest_ + i));
  }
  newest_ = static_cast<Sequence>(newest_ + ahead);
  before_ = std::min(before_ + ahead, Ack::kMaxDatagrams);
  // The numbers that are missing from now on. The news reach back to the oldest of them.
  for (int behind = std::min(before_, kReorderedDatagrams + ahead - 1); behind >= kReorderedDatagrams;
       --behind) {
    const auto sequence = static_cast<Sequence>(newest_ - behind);
    if (!arrived_[sequence]) return want(sequence);
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
    ack.window[w] = arrived_.word(static_cast<Sequence>(newest_ - w * Ack::kWordBits - 1));
  return ack;
}

Sequence SentWindow::send(double now_s) {
  if (full()) {
    settle(oldest_, false);
    advance();
  }
  const auto replaced = static_cast<Sequence>(next_ - sent_.size());
  if (sent_.size() > 0 && !open_[replaced] && !given_up_[replaced]) {
    sent_.cover(next_, next_);
  } else {
    sent_.cover(oldest_needed(now_s), next_);
    given_up_.reset(static_cast<Sequence>(next_ - sent_.size()));
  }
  open_.set(next_);
  sent_[next_] = {.sent_s = now_s};
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
  const auto age = static_cast<Sequence>(next_ - 1u - ack.newest);
  if (age >= kCapacity) return true;  // nothing of this is remembered
  for (std::size_t w = ack.words; w-- > 0;) {
    const auto newest = static_cast<Sequence>(ack.newest - w * Ack::kWordBits - 1u);
    note_arrived(newest, ack.window[w]);
    static_assert(kReorderedDatagrams == Ack::kWordBits + 1);
    // On an ordered path, nothing can be overtaken.
    if (w > 0 || overtaking_s <= 0.0) note_missing(newest);
  }
  note_arrived(ack.newest, 1u);
  advance();
  doubt(ack.newest, now_s, overtaking_s);
  return true;
}

// Bit i of `named`: the datagram `newest` - i has arrived.
void SentWindow::note_arrived(Sequence newest, std::uint32_t named) {
  for (std::uint32_t left = named & open_.word(newest); left != 0;) {  // the oldest first
    const auto bit = static_cast<unsigned>(std::bit_width(left) - 1);
    settle(static_cast<Sequence>(newest - bit), true);
    left ^= 1u << bit;
  }
  for (std::uint32_t left = named & given_up_.word(newest); left != 0;) {
    const auto bit = static_cast<unsigned>(std::bit_width(left) - 1);
    const auto sequence = static_cast<Sequence>(newest - bit);
    given_up_.reset(sequence);
    late_.push_back({sequence, true, sent_[sequence].sent_s});
    left ^= 1u << bit;
  }
}

// An acknowledgement covers 32 datagrams up to `newest`. Those that are still open were not named.
void SentWindow::note_missing(Sequence newest) {
  const std::uint32_t open = open_.word(newest) & ~missing_.word(newest) & ~doubted_.word(newest);
  suspects_ += static_cast<std::size_t>(std::popcount(open));
  for (std::uint32_t left = open; left != 0; left &= left - 1)
    missing_.set(static_cast<Sequence>(newest - static_cast<unsigned>(std::countr_zero(left))));
}

// The datagram `newest` has arrived. Missing datagrams that were sent so much earlier that it has hardly
// overtaken them are probably lost.
void SentWindow::doubt(Sequence newest, double now_s, double overtaking_s) {
  if (suspects_ == 0) return;
  const double before_s = sent_[newest].sent_s - overtaking_s;
  const auto end = overtaking_s <= 0.0 ? newest : static_cast<Sequence>(newest - kReorderedDatagrams + 1);
  for (Sequence s = missing_.find(oldest_, end); s != end; s = missing_.find(s, end)) {
    Sent& sent = sent_[s];
    if (!(sent.sent_s < before_s)) return;  // later ones were sent later
    missing_.reset(s);
    doubted_.set(s);
    sent.doubted_after_s = static_cast<float>(now_s - sent.sent_s);
  }
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

void SentWindow::expire(double now_s, double timeout_s, double overtaking_s) {
  while (oldest_ != next_ && sent_[oldest_].sent_s < now_s - timeout_s) {
    settle(oldest_, false);
    advance();
  }
  if (suspects_ == 0) return;
  // An acknowledgement that the doubting one has overtaken may still name it.
  for (Sequence s = doubted_.find(oldest_, next_); s != next_;
       s = doubted_.find(static_cast<Sequence>(s + 1u), next_)) {
    if (sent_[s].sent_s + double{sent_[s].doubted_after_s} < now_s - overtaking_s) settle(s, false);
  }
  advance();
}

std::size_t SentWindow::in_flight() const {
  std::size_t open = 0;
  for (Sequence s = oldest_; s != next_; ++s)
    open += open_[s] ? 1 : 0;
  return open;
}

// The caller must call advance() afterwards.
void SentWindow::settle(Sequence sequence, bool acked) {
  open_.reset(sequence);
  if (suspects_ > 0 && (missing_[sequence] || doubted_[sequence])) {
    --suspects_;
    missing_.reset(sequence);
    doubted_.reset(sequence);
  }
  if (!acked) given_up_.set(sequence);
  outcomes_.push_back({sequence, acked, sent_[sequence].sent_s});
}

}  // namespace reckoner
