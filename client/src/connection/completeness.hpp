// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/sequence_ring.hpp"
#include "net/src/messages/datagram.hpp"

#include <optional>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// Computes the tick up to which the client's data is complete.
///
/// Every datagram claims such a tick. But the server may not have noticed recent losses when it wrote the
/// datagram. So a claim counts only if every earlier datagram has arrived or is old enough. If it is old
/// enough, the server had noticed the loss, and had either sent the missing updates again or lowered its
/// claim.
class Completeness {
 public:
  /// A datagram of `tick` was applied, and claims that the data is complete up to `complete`. Datagrams may
  /// come in any order. The server notices a loss within `noticed_ticks`.
  void note(Sequence sequence, Tick tick, Tick complete, double noticed_ticks);

  /// The latest tick up to which the data is known to be complete; nullopt if none is known.
  [[nodiscard]] std::optional<Tick> tick() const { return known_; }

 private:
  void forget_noticed(double noticed_ticks);
  [[nodiscard]] bool no_recent_loss(double noticed_ticks) const;

  struct Datagram {
    Sequence sequence = 0;
    Tick tick = 0;
    bool received = false;
  };
  SequenceRing<Datagram> received_;
  bool any_ = false;
  Sequence oldest_ = 0;  // the server has noticed the losses before it
  Sequence newest_ = 0;
  Tick claimed_ = 0;  // the tick that the newest datagram claims
  std::optional<Tick> known_;
};

}  // namespace reckoner
