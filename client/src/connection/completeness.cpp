// SPDX-License-Identifier: MIT
#include "client/src/connection/completeness.hpp"

#include <cstdint>
#include <utility>

namespace reckoner {
namespace {

// Returns `a` - `b`. Ticks wrap.
std::int32_t difference(Tick a, Tick b) {
  return static_cast<std::int32_t>(a - b);
}

}  // namespace

void Completeness::note(Sequence sequence, Tick tick, Tick complete, double noticed_ticks) {
  if (any_ && sequence_distance(sequence, oldest_) < 0) return;
  const bool is_newest = !any_ || sequence_distance(sequence, newest_) > 0;
  if (is_newest) {
    if (!std::exchange(any_, true)) oldest_ = sequence;
    const auto count = static_cast<Sequence>(sequence - oldest_);
    if (count >= received_.kMost) oldest_ = static_cast<Sequence>(sequence - received_.kMost + 1);
    received_.cover(oldest_, sequence);
    newest_ = sequence;
    claimed_ = complete;
  }
  received_[sequence] = {sequence, tick, true};
  if (is_newest) forget_noticed(noticed_ticks);
  if (no_recent_loss(noticed_ticks) && (!known_ || difference(claimed_, *known_) > 0)) known_ = claimed_;
}

// Lets the records begin at the newest datagram that is so old that the server has noticed all losses before
// it.
void Completeness::forget_noticed(double noticed_ticks) {
  const Tick now = received_[newest_].tick;
  for (Sequence s = oldest_; s != newest_; ++s) {
    const Datagram& datagram = received_[s];
    if (!datagram.received || datagram.sequence != s) continue;
    if (difference(now, datagram.tick) < noticed_ticks) return;
    oldest_ = s;
  }
}

bool Completeness::no_recent_loss(double noticed_ticks) const {
  const Tick now = received_[newest_].tick;
  Tick later = now;  // of the following datagram; a missing one was sent at that tick or before
  for (Sequence s = newest_; s != oldest_;) {
    --s;
    const Datagram& datagram = received_[s];
    // The server has noticed all losses from here on.
    if (!(difference(now, later) < noticed_ticks)) return true;
    if (!datagram.received || datagram.sequence != s) return false;
    later = datagram.tick;
  }
  return true;
}

}  // namespace reckoner
