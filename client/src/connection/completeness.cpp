// SPDX-License-Identifier: MIT
#include "client/src/connection/completeness.hpp"

#include <algorithm>
#include <cstdint>

namespace reckoner {
namespace {

// How much later one tick is than another; they wrap.
std::int32_t later_by(Tick tick, Tick than) {
  return static_cast<std::int32_t>(tick - than);
}

}  // namespace

void Completeness::note(Sequence sequence, Tick tick, Tick complete, double noticed_ticks) {
  received_[sequence % kWindow] = {sequence, tick, true};
  const int ahead = any_ ? sequence_distance(sequence, newest_) : 1;
  if (ahead > 0) {
    if (any_) before_ = std::min(kWindow - 1, before_ + static_cast<std::size_t>(ahead));
    any_ = true;
    newest_ = sequence;
    said_ = complete;
  }
  if (nothing_lost_lately(noticed_ticks) && (!known_ || later_by(said_, *known_) > 0)) known_ = said_;
}

bool Completeness::nothing_lost_lately(double noticed_ticks) const {
  const Tick now = received_[newest_ % kWindow].tick;
  Tick later = now;  // of the datagram that follows: what is missing was sent no later
  for (std::size_t back = 1; back <= before_; ++back) {
    const auto sequence = static_cast<Sequence>(newest_ - back);
    const Datagram& datagram = received_[sequence % kWindow];
    if (datagram.there && datagram.sequence == sequence) {
      later = datagram.tick;
    } else if (later_by(now, later) < noticed_ticks) {
      return false;
    }
  }
  return true;
}

}  // namespace reckoner
