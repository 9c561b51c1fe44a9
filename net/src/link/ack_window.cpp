// SPDX-License-Identifier: MIT
#include "net/src/link/ack_window.hpp"

#include <algorithm>

namespace reckoner {
namespace {

constexpr int kWindowBits = 32;

}  // namespace

bool ReceivedWindow::note(Sequence sequence) {
  if (!any_) {
    any_ = true;
    newest_ = sequence;
    return true;
  }
  const int ahead = sequence_distance(sequence, newest_);
  if (ahead > 0) {
    // The former newest becomes bit ahead - 1. All bits before it move up by `ahead`.
    const std::uint32_t moved = ahead >= kWindowBits ? 0u : window_ << ahead;
    window_ = ahead > kWindowBits ? 0u : moved | (1u << (ahead - 1));
    newest_ = sequence;
    return true;
  }
  if (ahead == 0 || -ahead > kWindowBits) return false;
  const std::uint32_t bit = 1u << (-ahead - 1);
  if ((window_ & bit) != 0) return false;
  window_ |= bit;
  return true;
}

Sequence SentWindow::send(double now_s) {
  if (static_cast<Sequence>(next_ - oldest_) >= kCapacity) settle(oldest_, false);
  Sent& sent = sent_[next_ % kCapacity];
  if (sent.given_up) --given_up_;
  sent = {now_s, next_, true, false};
  return next_++;
}

bool SentWindow::acknowledge(const Ack& ack) {
  const int ahead = sequence_distance(ack.newest, oldest_);
  if (ahead >= static_cast<Sequence>(next_ - oldest_)) return false;
  note_late(ack);
  // settle() changes oldest_, so iterate over a copy.
  for (Sequence s = oldest_; sequence_distance(ack.newest, s) >= 0; ++s) {
    const int behind = sequence_distance(ack.newest, s);
    const bool acked = behind == 0 || (behind <= kWindowBits && ((ack.window >> (behind - 1)) & 1u) != 0);
    if (acked) {
      settle(s, true);
    } else if (behind > kWindowBits) {
      settle(s, false);
    }
  }
  return true;
}

void SentWindow::note_late(const Ack& ack) {
  if (given_up_ == 0) return;
  for (int behind = 0; behind <= kWindowBits; ++behind) {
    if (behind > 0 && ((ack.window >> (behind - 1)) & 1u) == 0) continue;
    const auto sequence = static_cast<Sequence>(ack.newest - behind);
    Sent& sent = sent_[sequence % kCapacity];
    if (!sent.given_up || sent.sequence != sequence) continue;
    sent.given_up = false;
    --given_up_;
    late_.push_back({sequence, true, sent.sent_s});
  }
}

void SentWindow::expire(double now_s, double timeout_s) {
  // They were sent in order, so the first recent one ends the search.
  for (Sequence s = oldest_; s != next_; ++s) {
    const Sent& sent = sent_[s % kCapacity];
    if (!(sent.sent_s < now_s - timeout_s)) return;
    settle(s, false);
  }
}

std::size_t SentWindow::in_flight() const {
  return static_cast<std::size_t>(
      std::count_if(sent_.begin(), sent_.end(), [](const Sent& s) { return s.open; }));
}

void SentWindow::settle(Sequence sequence, bool acked) {
  Sent& sent = sent_[sequence % kCapacity];
  if (sent.open) {
    sent.open = false;
    sent.given_up = !acked;
    given_up_ += acked ? 0 : 1;
    outcomes_.push_back({sequence, acked, sent.sent_s});
  }
  while (oldest_ != next_ && !sent_[oldest_ % kCapacity].open)
    ++oldest_;
}

}  // namespace reckoner
