// SPDX-License-Identifier: MIT
#include "client/src/connection/completeness.hpp"

#include <algorithm>
#include <cstdint>

namespace reckoner {
namespace {

// Returns `a` - `b`. Ticks wrap.
std::int32_t difference(Tick a, Tick b) {
  return static_cast<std::int32_t>(a - b);
}

}  // namespace

void Completeness::note(Sequence sequence, Tick tick, Tick complete, double noticed_ticks) {
  received_[sequence % kWindow] = {sequence, tick, true};
  const int ahead = any_ ? sequence_distance(sequence, newest_) : 1;
  if (ahead > 0) {
    if (any_) before_ = std::min(kWindow - 1, before_ + static_cast<std::size_t>(ahead));
    any_ = true;
    newest_ = sequence;
    claimed_ = complete;
  }
  if (no_recent_loss(noticed_ticks) && (!known_ || difference(claimed_, *known_) > 0)) known_ = claimed_;
}

bool Completeness::no_recent_loss(double noticed_ticks) const {
  const Tick now = received_[newest_ % kWindow].tick;
  Tick later = now;  // of the following datagram; a missing one was sent at that tick or before
  for (std::size_t back = 1; back <= before_; ++back) {
    const auto sequence = static_cast<Sequence>(newest_ - back);
    const Datagram& datagram = received_[sequence % kWindow];
    // The server has noticed all losses from here on.
    if (!(difference(now, later) < noticed_ticks)) return true;
    if (!datagram.received || datagram.sequence != sequence) return false;
    later = datagram.tick;
  }
  return true;
}

}  // namespace reckoner
