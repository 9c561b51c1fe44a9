// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/sequence.hpp"

#include <array>
#include <cstddef>
#include <optional>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// Up to which tick nothing is missing here. Every datagram says what the server believes of that; but what
/// was lost shortly before, the server does not know of yet. So a datagram is believed only if every earlier
/// one has arrived, or is so old that the server had noticed, and sent again what is missing, or said that it
/// still owes it.
///
/// A value; fed with every datagram that is applied, in whatever order they arrive.
class Completeness {
 public:
  /// A datagram of `tick` says that all is there up to `complete`. The server has noticed losses that are
  /// `noticed_ticks` old.
  void note(Sequence sequence, Tick tick, Tick complete, double noticed_ticks);

  /// The latest tick up to which all is known to be here.
  [[nodiscard]] std::optional<Tick> tick() const { return known_; }

 private:
  static constexpr std::size_t kWindow = 64;  // losses further back have left the window of acknowledgements

  [[nodiscard]] bool nothing_lost_lately(double noticed_ticks) const;

  struct Datagram {
    Sequence sequence = 0;
    Tick tick = 0;
    bool there = false;
  };
  std::array<Datagram, kWindow> received_{};  // by sequence
  bool any_ = false;
  std::size_t before_ = 0;  // datagrams before the newest that there can have been; at most the window
  Sequence newest_ = 0;
  Tick said_ = 0;  // by the newest
  std::optional<Tick> known_;
};

}  // namespace reckoner
